// The frame of every page: palette, shortcuts, help, menu, notifications. Pages work without it.
import { $, element, icon, request, toast } from "/static/app.js";
import { savedViews } from "/static/views.js";

const body = document.body;
for (const e of document.querySelectorAll("[data-js]")) e.hidden = false;

// On a phone the inbox is the first page of a visit.

if (!sessionStorage.getItem("visited")) {
  sessionStorage.setItem("visited", "1");
  if (matchMedia("(max-width: 700px)").matches && location.pathname === "/" && !location.search && body.dataset.csrf) location.replace("/inbox");
}

// The link to the board keeps the filter that was used last in this tab.

if (location.pathname === "/") {
  const q = new URLSearchParams(location.search);
  for (const name of ["at", "said", "full"]) q.delete(name);
  sessionStorage.setItem("board", q.toString());
} else if (sessionStorage.getItem("board")) {
  for (const a of document.querySelectorAll('.pages a[href="/"], .brand')) a.href = "/?" + sessionStorage.getItem("board");
}

// A menu closes when a person leaves it.

document.addEventListener("click", (e) => { for (const m of document.querySelectorAll(".menu[open]")) if (!m.contains(e.target)) m.open = false; });
document.addEventListener("keydown", (e) => {
  const menu = e.key === "Escape" && document.querySelector(".menu[open]");
  if (menu) { menu.open = false; menu.querySelector("summary").focus(); }
});

// The palette finds tasks, pages and actions.

const pages = [...document.querySelectorAll(".pages a")].map((a) => ({ name: a.querySelector("span").textContent, href: a.getAttribute("href"), sign: "arrow-right" }));
const actions = [
  { name: "New task", href: $("new-task")?.getAttribute("href"), sign: "plus" },
  { name: "Add a project", href: "/projects/new", sign: "folder" },
  { name: "Pause or resume everything", run: () => $("hold").requestSubmit(), sign: "pause" },
  { name: "Theme: light", run: () => theme("light"), sign: "theme" },
  { name: "Theme: dark", run: () => theme("dark"), sign: "theme" },
  { name: "Theme: system", run: () => theme("system"), sign: "theme" },
  { name: "Keyboard shortcuts", run: help, sign: "key" },
];
function theme(name) {
  const form = $("theme");
  form.requestSubmit(form.querySelector(`button[value=${name}]`));
}
function fillsWords(text, words) {
  const low = text.toLowerCase();
  return words.every((w) => low.includes(w));
}
function palette() {
  if (document.querySelector("dialog.palette") || !body.dataset.csrf) return;
  const box = element("dialog", { className: "palette" }), list = element("ul", { id: "palette-list" });
  const input = element("input", { type: "text", placeholder: "Find a task, page or action", autocomplete: "off", spellcheck: false });
  let found = [], shown = [], at = 0, turn = 0;
  box.setAttribute("aria-label", "Find");
  for (const [name, value] of [["role", "combobox"], ["aria-expanded", "true"], ["aria-controls", "palette-list"], ["aria-label", "Find a task, page or action"], ["aria-autocomplete", "list"]]) input.setAttribute(name, value);
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Results");
  const draw = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const views = savedViews().map((v) => ({ name: "View: " + v.name, href: "/?" + v.query, sign: "board" }));
    shown = [...found, ...[...pages, ...views].filter((p) => fillsWords(p.name, words)), ...actions.filter((a) => fillsWords(a.name, words))];
    at = Math.min(at, Math.max(0, shown.length - 1));
    list.replaceChildren(...shown.map((one, i) => {
      const li = element("li", { id: "found-" + i, onclick: () => choose(i) }, icon(one.sign), element("span", { textContent: one.name }), element("span", { className: "soft", textContent: one.hint || "" }));
      li.setAttribute("role", "option");
      li.setAttribute("aria-selected", String(i === at));
      return li;
    }));
    if (shown.length) input.setAttribute("aria-activedescendant", "found-" + at); else input.removeAttribute("aria-activedescendant");
    list.children[at]?.scrollIntoView({ block: "nearest" });
  };
  const choose = (i) => {
    const one = shown[i];
    box.close();
    if (one?.run) one.run(); else if (one?.href) location.assign(one.href);
  };
  const ask = async () => {
    const mine = ++turn;
    try {
      const res = await request("/find?q=" + encodeURIComponent(input.value), { headers: { Accept: "application/json" } });
      const tasks = res.ok ? await res.json() : [];
      if (mine !== turn) return;
      found = tasks.map((t) => ({ name: t.title, hint: `${t.where} · ${t.state}`, href: "/tasks/" + t.id, sign: "file" }));
    } catch { if (mine !== turn) return; found = []; }
    draw();
  };
  input.addEventListener("input", () => { at = 0; draw(); ask(); });
  input.addEventListener("keydown", (e) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (step && shown.length) { e.preventDefault(); at = (at + step + shown.length) % shown.length; draw(); }
    if (e.key === "Enter") { e.preventDefault(); choose(at); }
  });
  box.addEventListener("close", () => box.remove());
  box.addEventListener("click", (e) => { if (e.target === box) box.close(); });
  box.append(input, list);
  body.append(box);
  box.showModal();
  draw();
  ask();
}
$("find")?.addEventListener("click", palette);

// Shortcuts work where no text is typed.

const places = { i: "/inbox", b: "/", f: "/fleet", w: "/workflows", s: "/stats" };
const keys = [
  ["Ctrl K", "find a task, page or action"], ["/", "search on the board"], ["c", "create a task"], ["g i", "go to the inbox (b board, f fleet, w workflows, s stats)"], ["?", "show this help"],
  ["arrows", "on the board: go from card to card"], ["m", "move the task of the card or item"], ["j k", "in the inbox: next and previous item"], ["e", "in the inbox: write the answer"],
  ["s", "in the inbox: snooze the item"], ["o", "in the inbox: open the task"], ["Ctrl Enter", "send the form"], ["Esc", "close what is open"],
];
function help() {
  if (document.querySelector("dialog.help")) return;
  const box = element("dialog", { className: "help" }), list = element("dl", { className: "keys" });
  for (const [key, what] of keys) list.append(element("dt", {}, ...key.split(" ").flatMap((k, i) => [i ? " " : "", element("kbd", { textContent: k })])), element("dd", { textContent: what }));
  box.setAttribute("aria-labelledby", "help-title");
  box.append(element("h2", { id: "help-title", textContent: "Keyboard shortcuts" }), list, element("button", { className: "shut quiet", textContent: "Close", onclick: () => box.close() }));
  box.addEventListener("close", () => box.remove());
  body.append(box);
  box.showModal();
}
$("help")?.addEventListener("click", () => { $("app-menu").open = false; help(); });
export const typing = (e) => e.target.closest?.("input:not([type=checkbox]):not([type=range]), textarea, select, [contenteditable], dialog") || e.ctrlKey || e.metaKey || e.altKey;
let went = 0;
document.addEventListener("keydown", (e) => {
  if ((e.ctrlKey || e.metaKey) && e.key === "k") { e.preventDefault(); palette(); return; }
  if (typing(e) || e.defaultPrevented) return;
  if (went && Date.now() - went < 1500 && places[e.key]) { e.preventDefault(); went = 0; location.assign(places[e.key]); return; }
  went = e.key === "g" ? Date.now() : 0;
  if (e.key === "?") { e.preventDefault(); help(); }
  if (e.key === "c" && $("new-task")) { e.preventDefault(); location.assign($("new-task").href); }
  if (e.key === "/") {
    e.preventDefault();
    if ($("q")?.checkVisibility()) $("q").focus(); else palette();
  }
}, false);

// Notifications, while a page of Orange is open. A person turns them on; the browser asks.

const notifies = () => "Notification" in window && Notification.permission === "granted" && localStorage.getItem("notify") === "1";
function showNotify() {
  const on = notifies();
  if (on) body.dataset.notify = "1"; else delete body.dataset.notify;
  if ($("notify")) {
    $("notify").querySelector("span").textContent = on ? "Stop notifying me" : "Notify me in this browser";
    $("notify").hidden = !("Notification" in window);
  }
}
$("notify")?.addEventListener("click", async () => {
  $("app-menu").open = false;
  if (notifies()) localStorage.removeItem("notify");
  else if (await Notification.requestPermission() === "granted") {
    localStorage.setItem("notify", "1");
    toast("You are notified while a page of Orange is open in this browser.");
  } else toast("The browser does not allow notifications for this page: allow them in its settings.", true);
  showNotify();
});
document.addEventListener("orange:wants", ({ detail }) => {
  if (!notifies() || document.hasFocus()) return;
  const note = new Notification("Orange", { body: detail === 1 ? "1 task needs you" : `${detail} tasks need you`, tag: "orange" });
  note.onclick = () => { window.focus(); location.assign("/inbox"); };
});
showNotify();
