// Remarks about lines, the history of a task, and the terminal of its agent. The pages work without
// it; app.js keeps them up to date.
"use strict";
(() => {
const $ = (id) => document.getElementById(id);
const make = (tag, props, ...children) => {
  const n = Object.assign(document.createElement(tag), props);
  n.append(...children);
  return n;
};

// Remarks: every line of a diff accepts one, in a field below it. The arrow keys select a line and
// Enter opens its field.

const review = document.querySelector("form[data-review]");
let sent = false;
const written = () => [...review.querySelectorAll("textarea")].filter((t) => t.value.trim());
function count() {
  const n = written().length;
  $("review-count").textContent = n ? `${n} ${n === 1 ? "remark goes" : "remarks go"} to the agent together.` : "All remarks go to the agent together.";
}
function hidden(name, value) { return make("input", { type: "hidden", name, value }); }
function remark(row) {
  const next = row.nextElementSibling;
  if (next?.classList.contains("remark-row")) { next.querySelector("textarea").focus(); return; }
  const { path, line, side } = row.dataset;
  const text = make("textarea", { name: "remark", rows: 3 });
  const label = make("label", {}, `${side === "old" ? "Removed line" : "Line"} ${line} of ${path}`, text);
  const drop = make("button", { type: "button", className: "quiet", textContent: "Remove" });
  const box = make("div", { className: "remark" }, label, hidden("path", path), hidden("line", line), hidden("side", side), drop);
  const cell = make("td", { colSpan: 3 }, box);
  const made = make("tr", { className: "remark-row" }, cell);
  drop.onclick = () => { made.remove(); count(); row.focus(); };
  text.onkeydown = (e) => { if (e.key === "Escape" && !text.value.trim()) drop.click(); };
  row.after(made);
  text.focus();
}
if (review) {
  for (const table of review.querySelectorAll("table.lines")) {
    const rows = [...table.querySelectorAll("tr[data-line]")];
    rows.forEach((row, i) => {
      row.tabIndex = i ? -1 : 0;
      const add = make("button", { type: "button", className: "comment", textContent: "+", tabIndex: -1, title: "Comment" });
      add.setAttribute("aria-label", `Comment on line ${row.dataset.line} of ${row.dataset.path}`);
      row.lastElementChild.prepend(add);
    });
  }
  review.addEventListener("click", (e) => {
    if (e.target.closest("button.comment, td.no")) remark(e.target.closest("tr[data-line]"));
  });
  review.addEventListener("keydown", (e) => {
    const row = e.target;
    if (!row.matches?.("tr[data-line]") || e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "Enter" || e.key === "c") { e.preventDefault(); remark(row); return; }
    const step = { ArrowUp: "previousElementSibling", ArrowDown: "nextElementSibling" }[e.key];
    if (!step) return;
    let to = row[step];
    while (to && !to.matches("tr[data-line]")) to = to[step];
    if (!to) return;
    e.preventDefault();
    row.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  });
  review.addEventListener("input", count);
  review.addEventListener("submit", () => { sent = true; });
  addEventListener("beforeunload", (e) => { if (!sent && written().some((t) => t.value !== t.defaultValue)) e.preventDefault(); });
  count();
}

// The diff stays as it is while a person writes remarks about it; a note says when it is out of date.

const work = () => $("task-facts")?.dataset.work, shown = work();
document.addEventListener("orange:put", () => {
  if ($("diff-stale") && shown && work() && work() !== shown) $("diff-stale").hidden = false;
});

// In a drawing that is wider than the page, scroll the current state into view.

function center() {
  for (const box of document.querySelectorAll(".scroll.graph")) {
    const here = box.querySelector(".wf-here");
    if (!here || box.scrollWidth <= box.clientWidth) continue;
    const a = here.getBoundingClientRect(), b = box.getBoundingClientRect();
    box.scrollLeft += a.left + a.width / 2 - b.left - b.width / 2;
  }
}
center();
document.addEventListener("orange:put", center);

// The history: fetch the page of the chosen moment and replace the parts that differ.

let under = null, last = "";
async function show(address) {
  under?.abort();
  under = new AbortController();
  try {
    const res = await fetch(address, { headers: { Accept: "text/html" }, signal: under.signal });
    if (!res.ok) return;
    const doc = new DOMParser().parseFromString(await res.text(), "text/html");
    history.replaceState(null, "", address);
    document.body.dataset.past = "";
    for (const to of doc.querySelectorAll("[data-live][id]")) {
      const from = $(to.id);
      if (!from || from.outerHTML === to.outerHTML) continue;
      if (to.id === "task-scrub") { scrub(from, to); continue; }
      from.replaceWith(document.importNode(to, true));
    }
    const diff = $("task-diff");
    if (diff) diff.hidden = true;
    center();
  } catch { /* a newer request replaced this one, or the next move of the slider tries again */ }
}
// The slider itself is not replaced, because the person is holding it.
function scrub(from, to) {
  const at = from.querySelector("input[type=range]"), next = to.querySelector("input[type=range]");
  at.max = next.max;
  const made = document.importNode(to, true), focused = document.activeElement === at;
  made.querySelector("input[type=range]").replaceWith(at);
  from.replaceWith(made);
  if (focused) at.focus({ preventScroll: true });
}
document.addEventListener("input", (e) => {
  const form = e.target.closest?.("form[data-scrub]");
  if (!form) return;
  form.querySelector("output").textContent = `${e.target.value} of ${e.target.max}`;
  const address = `${form.getAttribute("action")}?at=${e.target.value}`;
  if (address === last) return;
  last = address;
  show(address);
});

// A refresh that began before the slider moved may arrive after it: fetch the chosen moment again.
document.addEventListener("orange:put", () => {
  if (last && $("task-head")?.dataset.at !== new URL(last, location).searchParams.get("at")) show(last);
});

// The terminal.

const box = document.querySelector("[data-terminal]");
if (box) {
  const screen = $("screen");
  const below = () => box.scrollHeight - box.scrollTop - box.clientHeight < 40;
  const draw = (lines) => {
    const follows = below();
    screen.replaceChildren(...lines.map((line) => make("span", { className: "row" },
      ...line.map((run) => run.c ? make("span", { className: run.c, textContent: run.t }) : document.createTextNode(run.t)), "\n")));
    if (follows) box.scrollTop = box.scrollHeight;
  };
  const note = (text) => { $("terminal-note").textContent = text; $("terminal-note").hidden = !text; };
  box.scrollTop = box.scrollHeight;
  let stream = null, again = 0, sleep = 0;
  const leave = () => { clearTimeout(again); stream?.close(); stream = null; };
  const watch = () => {
    leave();
    if (document.hidden) return;
    stream = new EventSource(box.dataset.terminal);
    stream.addEventListener("screen", (e) => {
      const now = JSON.parse(e.data);
      $("terminal-who").textContent = now.attempt ? `${now.role}, attempt ${now.attempt}` : "no agent";
      $("terminal-alive").textContent = now.alive ? "alive" : "not alive";
      note(now.note);
      draw(now.lines || []);
      box.dataset.live = "";
    });
    stream.addEventListener("gone", (e) => {
      const news = JSON.parse(e.data);
      leave();
      over = !news.again;
      note(over ? news.why : "The connection is lost; the page reconnects by itself.");
      if (!over) again = setTimeout(watch, 2000);
    });
  };
  let over = false; // there is nothing left to watch
  document.addEventListener("visibilitychange", () => { // a browser has six connections for all pages of a site
    clearTimeout(sleep);
    if (document.hidden) sleep = setTimeout(leave, 2000);
    else if (!stream && !over) watch();
  });
  addEventListener("pagehide", leave);
  watch();
}

// A slow form says that it is working until its result is shown.

document.addEventListener("submit", (e) => {
  const text = e.target.dataset?.long, said = e.target.querySelector(".long"), answer = e.target.querySelector(".answer");
  if (!text || !said) return;
  const before = said.textContent, put = new AbortController();
  const end = () => { said.textContent = before; put.abort(); };
  said.textContent = text;
  if (answer) answer.textContent = "";
  document.addEventListener("orange:put", end, { signal: put.signal });
  const seen = new MutationObserver(() => { if (answer.textContent) { seen.disconnect(); end(); } });
  if (answer) seen.observe(answer, { childList: true });
}, true);
})();
