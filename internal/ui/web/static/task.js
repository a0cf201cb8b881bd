// The page of a task: files of the diff are fetched when they are needed, lines take remarks, drafts are kept, the
// history can be gone through, and the terminal is shown as it changes. The page works without it; app.js keeps it up
// to date.
"use strict";
(() => {
const $ = (id) => document.getElementById(id);
const make = (tag, props, ...children) => {
  const n = Object.assign(document.createElement(tag), props);
  n.append(...children);
  return n;
};
const article = document.querySelector("article.task");
const taskID = article?.dataset.task || "";
const store = {
  read(key) { try { return localStorage.getItem(key); } catch { return null; } },
  write(key, text) { try { if (text) localStorage.setItem(key, text); else localStorage.removeItem(key); } catch { /* it is full or forbidden: then nothing is kept */ } },
};

// The address names the tab, so that a refresh asks for the same one after the task moved.
if (article && !new URL(location).searchParams.has("tab")) {
  const to = new URL(location);
  to.searchParams.set("tab", article.dataset.tab);
  history.replaceState(history.state, "", to);
}

// The reading position: whatever is replaced above it, the line that a person reads stays where it is.
let reading = null;
function remember() {
  const at = document.elementFromPoint(innerWidth / 2, Math.min(innerHeight / 3, 240))?.closest(".task tr, .task .file, .task section, .task li, .task p");
  reading = at && scrollY > 0 ? { at, top: at.getBoundingClientRect().top } : null;
}
let remembering = 0;
addEventListener("scroll", () => {
  remembering = remembering || requestAnimationFrame(() => { remembering = 0; remember(); });
}, { passive: true });
document.addEventListener("orange:put", () => {
  if (reading?.at.isConnected) {
    const moved = reading.at.getBoundingClientRect().top - reading.top;
    if (Math.abs(moved) > 1) scrollBy(0, moved);
  }
  remember();
});

// Drafts: what was typed and not sent is there again when the page is opened again.
const draftKey = (field) => `orange:draft:${taskID}:${field.id}`;
function restoreDrafts(root) {
  for (const f of root.querySelectorAll("textarea[data-draft]")) {
    if (!f.value && store.read(draftKey(f))) f.value = store.read(draftKey(f));
  }
}
document.addEventListener("input", (e) => { if (e.target.matches?.("textarea[data-draft]")) store.write(draftKey(e.target), e.target.value); });
document.addEventListener("reset", (e) => { for (const f of e.target.querySelectorAll("textarea[data-draft]")) store.write(draftKey(f), ""); });
restoreDrafts(document);

// Options of a question fill the answer.
function showOptions() {
  for (const p of document.querySelectorAll(".options")) p.hidden = false;
  for (const b of document.querySelectorAll("[data-copy]")) b.hidden = !navigator.clipboard;
}
document.addEventListener("click", (e) => {
  const option = e.target.closest?.("[data-fill]"), copy = e.target.closest?.("[data-copy]");
  if (option) {
    const field = option.form.querySelector("textarea");
    field.value = field.value.trim() ? `${field.value.trimEnd()}\n${option.textContent}` : option.textContent;
    store.write(draftKey(field), field.value);
    field.focus();
  }
  if (copy) navigator.clipboard.writeText(copy.dataset.copy).then(() => { $("news").textContent = `Copied: ${copy.dataset.copy}`; }, () => {});
  for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(e.target)) menu.open = false;
});
document.addEventListener("keydown", (e) => {
  const menu = e.key === "Escape" && document.querySelector("details.menu[open]");
  if (menu) { menu.open = false; menu.querySelector("summary").focus(); }
});
showOptions();
document.addEventListener("orange:put", () => { restoreDrafts(document); showOptions(); });

// Files of the diff: a file is fetched when it is opened, or when it is about to be scrolled to.
const files = [...document.querySelectorAll("details.file")];
async function load(file) {
  const address = file.dataset.part;
  if (!address) return;
  delete file.dataset.part;
  const body = file.querySelector(".file-body");
  try {
    const res = await fetch(address, { headers: { Accept: "text/html" } });
    if (!res.ok) throw new Error(String(res.status));
    body.replaceChildren(document.importNode(new DOMParser().parseFromString(await res.text(), "text/html").body, true));
    body.replaceChildren(...body.firstChild.childNodes);
    keepRemarks(file);
    focusable(file);
    file.dispatchEvent(new CustomEvent("orange:file", { bubbles: true }));
  } catch { file.dataset.part = address; }
}
if (files.length) {
  const near = new IntersectionObserver((list) => {
    for (const { target, isIntersecting } of list) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      if (!("large" in target.dataset) && !isViewed(target)) load(target).then(() => { target.open = true; });
    }
  }, { rootMargin: "200px 0px 500px" });
  for (const f of files) {
    f.addEventListener("toggle", () => { if (f.open) load(f); });
    if (f.dataset.part) near.observe(f);
  }
}
if (innerWidth < 992 && $("task-tree")) $("task-tree").open = false;
const open = () => { const f = location.hash && document.querySelector(`details.file${CSS.escape ? "#" + CSS.escape(location.hash.slice(1)) : location.hash}`); if (f) f.open = true; };
addEventListener("hashchange", open);

// "Viewed" is kept by the changes of a file: it is gone when they are others.
const viewedKey = (file) => `orange:viewed:${taskID}:${file.dataset.key}`;
const isViewed = (file) => store.read(viewedKey(file)) === "1";
function showViewed() {
  const done = files.filter(isViewed).length;
  if ($("viewed-count")) $("viewed-count").textContent = done ? `${done} of ${files.length} viewed` : "";
  files.forEach((f) => document.querySelector(`.tree a[href="#${f.id}"]`)?.classList.toggle("seen", isViewed(f)));
}
for (const f of files) {
  const label = f.parentElement.querySelector(".viewed"), box = label.querySelector("input");
  label.hidden = false;
  box.checked = isViewed(f);
  if (box.checked) f.open = false;
  box.addEventListener("change", () => { store.write(viewedKey(f), box.checked ? "1" : ""); f.open = !box.checked; showViewed(); });
}
showViewed();

// Long lines wrap, if the person wants that.
const wrap = $("wrap");
if (wrap) {
  const show = (on) => { $("task-diff").classList.toggle("wrapped", on); wrap.setAttribute("aria-pressed", String(on)); };
  wrap.hidden = false;
  show(store.read("orange:wrap") === "1");
  wrap.onclick = () => { const on = wrap.getAttribute("aria-pressed") !== "true"; store.write("orange:wrap", on ? "1" : ""); show(on); };
}

// Lines that the diff leaves out.
document.addEventListener("click", async (e) => {
  const link = e.target.closest?.("a.more-lines");
  if (!link || e.ctrlKey || e.metaKey || e.shiftKey) return;
  e.preventDefault();
  try {
    const res = await fetch(link.dataset.lines, { headers: { Accept: "text/html" } });
    if (!res.ok) throw new Error(String(res.status));
    const doc = new DOMParser().parseFromString(`<table><tbody>${await res.text()}</tbody></table>`, "text/html");
    const row = link.closest("tr"), rows = [...doc.querySelectorAll("tr")].map((r) => document.importNode(r, true));
    row.replaceWith(...rows);
    focusable(rows[0]?.closest(".file"));
  } catch { location.assign(link.href); }
});

// Remarks: every line of a diff accepts one, in a field below it. The arrow keys select a line and Enter opens its
// field. Remarks that were not sent are kept.
const review = document.querySelector("form[data-review]");
const remarksKey = `orange:remarks:${taskID}`;
let sent = false;
const written = () => [...review.querySelectorAll("textarea")].filter((t) => t.value.trim());
function count() {
  const n = written().length;
  $("review-count").textContent = n ? `${n} ${n === 1 ? "remark goes" : "remarks go"} to the agent together.` : "All remarks go to the agent together.";
}
let kept = [];
try { kept = JSON.parse(store.read(remarksKey) || "[]"); } catch { /* it is not ours */ }
if (!Array.isArray(kept)) kept = [];
function saveRemarks() {
  const shown = new Set();
  const list = [...review.querySelectorAll(".remark-row .remark")].map((box) => {
    const value = (name) => box.querySelector(`[name=${name}]`).value;
    shown.add(value("path"));
    return { path: value("path"), line: value("line"), side: value("side"), text: value("remark") };
  }).filter((r) => r.text.trim());
  const loaded = new Set(files.filter((f) => !f.dataset.part).map((f) => f.dataset.path));
  kept = [...list, ...kept.filter((r) => !loaded.has(r.path))];
  store.write(remarksKey, kept.length ? JSON.stringify(kept) : "");
}
function hidden(name, value) { return make("input", { type: "hidden", name, value }); }
function remark(cell, text = "") {
  const row = cell.closest("tr"), { line, side } = cell.dataset, path = cell.closest(".file").dataset.path;
  let last = row;
  for (let next = row.nextElementSibling; next?.classList.contains("remark-row"); next = next.nextElementSibling) {
    if (next.querySelector("[name=line]").value === line && next.querySelector("[name=side]").value === side) { if (!text) next.querySelector("textarea").focus(); return; }
    last = next;
  }
  const field = make("textarea", { name: "remark", rows: 3, value: text });
  const label = make("label", {}, `${side === "old" ? "Removed line" : "Line"} ${line} of ${path}`, field);
  const drop = make("button", { type: "button", className: "quiet small", textContent: "Remove" });
  const box = make("div", { className: "remark" }, label, hidden("path", path), hidden("line", line), hidden("side", side), drop);
  const made = make("tr", { className: "remark-row" }, make("td", { colSpan: row.cells.length }, box));
  drop.onclick = () => { made.remove(); count(); saveRemarks(); cell.focus(); };
  field.onkeydown = (e) => { if (e.key === "Escape" && !field.value.trim()) drop.click(); };
  last.after(made);
  if (!text) field.focus();
}
function keepRemarks(file) {
  if (!review) return;
  for (const r of kept.filter((one) => one.path === file.dataset.path)) {
    const cell = [...file.querySelectorAll("td[data-line]")].find((c) => c.dataset.line === r.line && c.dataset.side === r.side);
    if (cell) remark(cell, r.text);
  }
  count();
}
// focusable makes the first line of a file reachable with Tab.
function focusable(file) {
  const first = file?.querySelector("td[data-line]");
  if (review && first && !file.querySelector("td[data-line][tabindex='0']")) first.tabIndex = 0;
}
if (review) {
  const add = make("button", { type: "button", className: "comment", textContent: "+", tabIndex: -1, title: "Comment" });
  const offer = (cell) => { if (cell && add.parentElement !== cell) { add.setAttribute("aria-label", `Comment on line ${cell.dataset.line}`); cell.prepend(add); } };
  review.addEventListener("pointerover", (e) => offer(e.target.closest?.("tr")?.querySelector(e.target.closest("td[data-line]") ? ":scope > td:hover" : "td[data-line]:last-of-type") || e.target.closest?.("td[data-line]")));
  review.addEventListener("focusin", (e) => { if (e.target.matches("td[data-line]")) offer(e.target); });
  review.addEventListener("click", (e) => {
    const number = e.target.closest("td.no"), cell = e.target.closest("button.comment")?.closest("td[data-line]")
      || number && (number.nextElementSibling?.matches("td[data-line]") ? number.nextElementSibling : !number.closest("table.split") && number.parentElement.querySelector("td[data-line]"));
    if (cell) remark(cell);
  });
  review.addEventListener("keydown", (e) => {
    const cell = e.target;
    if (!cell.matches?.("td[data-line]") || e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "Enter" || e.key === "c") { e.preventDefault(); remark(cell); return; }
    const step = { ArrowUp: "previousElementSibling", ArrowDown: "nextElementSibling" }[e.key];
    let to = null;
    if (step) {
      for (let row = cell.parentElement[step]; row && !to; row = row[step]) to = row.querySelector(`td[data-line][data-side="${cell.dataset.side}"]`) || row.querySelector("td[data-line]");
    } else if (e.key === "ArrowLeft" || e.key === "ArrowRight") to = [...cell.parentElement.querySelectorAll("td[data-line]")].find((c) => c !== cell);
    if (!to) return;
    e.preventDefault();
    cell.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  });
  review.addEventListener("input", () => { count(); saveRemarks(); });
  review.addEventListener("submit", () => { sent = true; store.write(remarksKey, ""); for (const f of review.querySelectorAll("textarea[data-draft]")) store.write(draftKey(f), ""); });
  addEventListener("beforeunload", (e) => { if (!sent && [...review.querySelectorAll("textarea:not([data-draft])")].some((t) => t.value.trim() && t.value !== t.defaultValue && !t.closest(".remark-row"))) e.preventDefault(); });
  for (const f of files.filter((one) => !one.dataset.part)) { keepRemarks(f); focusable(f); }
  for (const f of files.filter((one) => one.dataset.part && kept.some((r) => r.path === one.dataset.path))) f.open = true;
  count();
}
open();

// The diff stays as it is while a person reads it; a note says when it is out of date.
const work = () => $("task-head")?.dataset.work, shown = work();
document.addEventListener("orange:put", () => {
  if ($("diff-stale") && shown && work() && work() !== shown) $("diff-stale").hidden = false;
});

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
    document.dispatchEvent(new Event("orange:put"));
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
  const address = `${form.getAttribute("action")}?tab=${form.elements.tab.value}&at=${e.target.value}`;
  if (address === last) return;
  last = address;
  show(address);
});

// A refresh that began before the slider moved may arrive after it: fetch the chosen moment again.
document.addEventListener("orange:put", () => {
  if (last && $("task-head")?.dataset.at !== new URL(last, location).searchParams.get("at")) show(last);
});

// The terminal, the answers of its dialog, and keys. A key names the screen that the person saw.

const box = document.querySelector("[data-terminal]");
if (box) {
  const screen = $("screen"), keys = $("terminal-keys");
  const below = () => box.scrollHeight - box.scrollTop - box.clientHeight < 40;
  const draw = (lines) => {
    const follows = below();
    screen.replaceChildren(...lines.map((line) => make("span", { className: "row" },
      ...line.map((run) => run.c ? make("span", { className: run.c, textContent: run.t }) : document.createTextNode(run.t)), "\n")));
    if (follows) box.scrollTop = box.scrollHeight;
  };
  const offer = (now) => {
    if ($("terminal-seen").value === now.seen && keys.dataset.shown) return;
    keys.dataset.shown = "1";
    $("terminal-seen").value = now.seen;
    $("terminal-choices").replaceChildren(...now.choices.map((c) => make("button", { name: "key", value: c.key, className: c.class },
      ...(c.verb ? [make("b", { textContent: c.verb }), " "] : []), c.label)));
    $("terminal-choices").hidden = !now.choices.length;
    $("terminal-special").hidden = !now.seen || !(now.dialog || keys.dataset.input);
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
      $("terminal-alive").classList.toggle("alive", now.alive);
      note(now.note);
      draw(now.lines || []);
      offer(now);
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
