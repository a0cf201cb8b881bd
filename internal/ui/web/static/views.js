// Saved views of the board: filters under a name. They are kept in this browser, like the theme and the drafts.
import { $, element, icon, toast } from "/static/app.js";

const most = 20;

export function savedViews() {
  try {
    return JSON.parse(localStorage.getItem("views")).filter((v) => typeof v.name === "string" && typeof v.query === "string");
  } catch {
    return []; // there are none, or something else wrote them
  }
}
function keep(views) {
  localStorage.setItem("views", JSON.stringify(views));
  show();
}

// filter returns the filter of the page as a query, always in the same order, without what is no filter.
function filter() {
  const q = new URLSearchParams(location.search);
  for (const name of ["at", "said", "full"]) q.delete(name);
  for (const [name, value] of [...q]) if (!value || name === "scope" && value === "current") q.delete(name);
  q.sort();
  return q.toString();
}

function show() {
  const bar = $("views"), views = savedViews(), now = filter();
  if (!bar) return;
  const link = (name, query) => {
    const a = element("a", { href: query ? "/?" + query : "/", textContent: name });
    if (query === now) a.setAttribute("aria-current", "true");
    return a;
  };
  const drop = (view) => {
    const b = element("button", { type: "button", className: "quiet small", onclick: () => { keep(savedViews().filter((v) => v.name !== view.name)); ($("views").querySelector("a") || $("q")).focus(); } }, icon("close"));
    b.setAttribute("aria-label", "Delete the view " + view.name);
    return b;
  };
  bar.hidden = !views.length;
  bar.replaceChildren(...views.length ? [link("All", ""), ...views.map((v) => element("span", { className: "view" }, link(v.name, v.query), drop(v)))] : []);
  $("save-view").hidden = !now || views.some((v) => v.query === now) || views.length >= most;
}

$("save-view")?.addEventListener("click", () => {
  const box = element("dialog", {}), name = element("input", { type: "text", id: "view-name", maxLength: 40, required: true, pattern: ".*\\S.*", autocomplete: "off" });
  const form = element("form", { method: "dialog", className: "stack" },
    element("label", { htmlFor: "view-name", textContent: "Name of the view" }), name,
    element("p", { className: "soft", textContent: "It is kept in this browser. A view of the same name is replaced." }),
    element("p", { className: "ways" }, element("button", { className: "go", textContent: "Save" }), element("button", { type: "button", textContent: "Cancel", onclick: () => box.close() })));
  box.setAttribute("aria-label", "Save the view");
  form.addEventListener("submit", () => {
    const called = name.value.trim();
    if (!called) return;
    keep([...savedViews().filter((v) => v.name !== called), { name: called, query: filter() }]);
    toast(`Saved the view ${called}.`);
  });
  box.addEventListener("close", () => box.remove());
  if ($("filters").matches(":popover-open")) $("filters").hidePopover();
  box.append(form);
  document.body.append(box);
  box.showModal();
});
addEventListener("storage", (e) => { if (e.key === "views") show(); });
show();
