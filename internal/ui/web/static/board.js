// The board: updating, moving and dragging cards, and showing the past.
import { $, announce, askCode, disconnect, element, past, pressing, refresh, released, request, seeTask, send, toast } from "/static/app.js";
import { typing } from "/static/shell.js";

const body = document.body;
const board = () => $("board");

// Changed cards are replaced once per frame, a limited number at a time.

const perFrame = 150;
const waiting = new Map();
let frame = 0, dragged = null;
function take(news) {
  for (const c of news.cards || []) waiting.set(c.id, c);
  for (const id of news.gone || []) waiting.set(id, { id, html: "" });
  if (news.sum) $("sum").innerHTML = news.sum;
  scrubTo(news);
  if (news.counts) counts = news.counts;
  frame = frame || requestAnimationFrame(flush);
}
let counts = null; // of cards, by column: the newest that were received
function flush() {
  if (pressing() && !dragged) { released().then(() => requestAnimationFrame(flush)); return; }
  frame = 0;
  let n = 0;
  for (const [id, c] of waiting) {
    if (dragged && dragged.id === "t-" + id) continue;
    waiting.delete(id);
    place(c);
    if (++n >= perFrame) break;
  }
  for (const col of counts ? board().querySelectorAll(".col") : []) {
    const n = Object.hasOwn(counts, col.dataset.col) ? counts[col.dataset.col] : 0;
    col.querySelector(".n").textContent = n;
    col.classList.toggle("empty", !n);
    const tab = document.querySelector(`#columns a[href="#${col.id}"] .n`);
    if (tab) tab.textContent = n;
  }
  counts = null;
  if (waiting.size && n) frame = requestAnimationFrame(flush);
}
const columnOf = (name) => [...board().querySelectorAll(".col")].find((c) => c.dataset.col === name);
function place(c) {
  const old = $("t-" + c.id);
  if (!c.html) { if (old) old.remove(); return; }
  const col = columnOf(c.column);
  if (!col) { refresh(); return; }
  const t = document.createElement("template");
  t.innerHTML = c.html;
  const card = t.content.firstElementChild, list = col.querySelector(".cards");
  const focused = old && old.contains(document.activeElement) ? document.activeElement.className : null;
  const moved = !old || old.parentNode !== list;
  if (old && !moved && old.dataset.o === card.dataset.o) old.replaceWith(card);
  else {
    if (old) old.remove();
    let after = list.lastElementChild;
    while (after && Number(after.dataset.o) > Number(card.dataset.o)) after = after.previousElementSibling;
    if (after) after.after(card); else list.prepend(card);
  }
  if (moved) {
    card.classList.add("fresh");
    announce(`${card.querySelector(".t").textContent}: ${col.querySelector(".name").textContent}`);
  }
  if (focused !== null) (card.getElementsByClassName(focused)[0] || card.querySelector(".t")).focus({ preventScroll: true });
  $("nothing")?.remove();
}

// The form that moves a card is shown above the board.

let asked = "";
async function ask(id, to) {
  let part = null;
  try {
    const res = await request(`/move/${id}?back=${encodeURIComponent(location.pathname + location.search)}`);
    part = new DOMParser().parseFromString(await res.text(), "text/html").querySelector("main section");
  } catch (err) { toast(err.message, true); }
  const box = $("ask"), shut = document.createElement("button");
  if (!part) return;
  shut.className = "shut quiet";
  shut.textContent = "Close";
  shut.onclick = () => box.close();
  box.replaceChildren(document.importNode(part, true), shut);
  asked = id;
  box.showModal();
  for (const way of box.querySelectorAll(".ways button")) way.classList.toggle("go", way.dataset.to === to);
  for (const end of box.querySelectorAll(".ways details")) end.open = end.dataset.to === to;
  if (to) box.querySelector("textarea")?.focus(); else (box.querySelector(".ways button, .ways summary") || shut).focus();
}
$("ask").addEventListener("close", () => {
  $("ask").replaceChildren();
  ($("t-" + asked)?.querySelector(".mv") || $("main")).focus({ preventScroll: true });
});
document.addEventListener("click", (e) => {
  const link = e.target.closest("a.mv");
  if (!link || e.ctrlKey || e.metaKey || e.shiftKey || e.button) return;
  e.preventDefault();
  ask(link.closest(".card").id.slice(2));
});
document.addEventListener("keydown", (e) => {
  const card = e.target.closest?.(".card");
  if (!card || typing(e)) return;
  if (e.key === "m" && card.querySelector(".mv")) { e.preventDefault(); ask(card.id.slice(2)); return; }
  const step = { ArrowUp: "previousElementSibling", ArrowDown: "nextElementSibling" }[e.key];
  let to = step && card[step];
  if (e.key === "ArrowLeft" || e.key === "ArrowRight") {
    const cols = [...board().querySelectorAll(".col:not(.empty)")], i = cols.indexOf(card.closest(".col"));
    to = cols[i + (e.key === "ArrowLeft" ? -1 : 1)]?.querySelector(".card");
  }
  if (to) { e.preventDefault(); to.querySelector(".t").focus(); }
});

// Dragging. The places that take a card are the columns of a board of states, or a tray of states above any other board.
// Only those whose move is open now light up: the server evaluates the gates when a card is lifted.

const byState = () => board().dataset.drag === "status";
document.addEventListener("pointerdown", (e) => {
  const card = e.target.closest?.(".board[data-drag] .card[data-m]");
  if (!card || e.button || e.pointerType === "touch" || e.target.closest(".mv, .pr, .no, .chip")) return;
  const x0 = e.clientX, y0 = e.clientY, can = card.dataset.m.split(" "), rect = card.getBoundingClientRect();
  let drag = null;
  const move = (e) => {
    if (!drag && Math.hypot(e.clientX - x0, e.clientY - y0) < 6) return;
    drag = drag || lift(card, can, rect.width);
    drag.x = e.clientX;
    drag.y = e.clientY;
    drag.ghost.style.transform = `translate(${rect.left + e.clientX - x0}px, ${rect.top + e.clientY - y0}px)`;
    const at = document.elementsFromPoint(e.clientX, e.clientY).find((n) => n.classList.contains("drop"));
    if (drag.over !== at) { drag.over?.classList.remove("over"); at?.classList.add("over"); drag.over = at; }
  };
  const end = (e) => {
    for (const [name, f] of handlers) document.removeEventListener(name, f, true);
    if (!drag) return;
    const over = drag.over;
    drag.end();
    board().addEventListener("click", (e) => { e.preventDefault(); e.stopPropagation(); }, { capture: true, once: true, signal: AbortSignal.timeout(50) });
    if (e.type === "pointerup" && over && over !== card.closest(".col")) drop(card, over.dataset.to, can, drag.answer);
    if (waiting.size) frame = frame || requestAnimationFrame(flush);
  };
  const key = (e) => { if (e.key === "Escape") end(e); };
  const handlers = [["pointermove", move], ["pointerup", end], ["pointercancel", end], ["keydown", key]];
  for (const [name, f] of handlers) document.addEventListener(name, f, true);
});
document.addEventListener("dragstart", (e) => { if (e.target.closest?.(".card")) e.preventDefault(); });

// lift begins a drag: it shows where the card may go, and scrolls while the pointer rests near an edge.
function lift(card, can, width) {
  const ghost = card.cloneNode(true), drag = { ghost, x: 0, y: 0, over: null };
  ghost.removeAttribute("id");
  ghost.classList.add("ghost");
  ghost.style.width = width + "px";
  body.append(ghost);
  dragged = card;
  card.classList.add("lifted");
  body.classList.add("dragging");
  let tray = null;
  if (!byState()) {
    tray = element("div", { className: "tray" }, ...can.map((to) => { const d = element("div", { textContent: to }); d.dataset.to = to; return d; }));
    body.append(tray);
  }
  const drops = byState() ? [...board().querySelectorAll(".col")] : [...tray.children];
  for (const d of drops) {
    d.dataset.to = d.dataset.to || d.dataset.col;
    d.classList.add("drop", can.includes(d.dataset.to) ? "asked" : "cannot");
  }
  drag.answer = openMoves(card.id.slice(2));
  drag.answer.then((moves) => {
    if (dragged !== card) return;
    for (const d of drops.filter((d) => can.includes(d.dataset.to))) {
      const why = moves.closed[d.dataset.to];
      d.classList.remove("asked");
      d.classList.add(why ? "shut" : "can");
      if (why) d.classList.add("cannot");
      if (why && tray) d.append(element("small", { textContent: why }));
    }
  });
  let going = requestAnimationFrame(function scroll() {
    scrollNear(drag.x, drag.y);
    going = requestAnimationFrame(scroll);
  });
  drag.end = () => {
    cancelAnimationFrame(going);
    ghost.remove();
    tray?.remove();
    dragged = null;
    card.classList.remove("lifted");
    body.classList.remove("dragging");
    for (const d of drops) d.classList.remove("drop", "asked", "can", "cannot", "shut", "over");
  };
  return drag;
}
const nearEdge = 48, scrollStep = 12;
function scrollNear(x, y) {
  const edge = board().getBoundingClientRect();
  if (x > edge.right - nearEdge) board().scrollLeft += scrollStep;
  if (x < edge.left + nearEdge) board().scrollLeft -= scrollStep;
  const list = document.elementsFromPoint(x, y).find((n) => n.classList.contains("cards")), part = list?.getBoundingClientRect();
  if (part && y > part.bottom - nearEdge) list.scrollTop += scrollStep;
  if (part && y < part.top + nearEdge) list.scrollTop -= scrollStep;
}
// openMoves asks which moves of a task are open. Without an answer, the server decides when the card is dropped.
async function openMoves(id) {
  try {
    const res = await request("/moves/" + id, { headers: { Accept: "application/json" } });
    if (res.ok) return await res.json();
  } catch { /* the banner shows it */ }
  return { open: [], closed: {} };
}

async function drop(card, to, can, answer) {
  const id = card.id.slice(2), from = card.querySelector(".s").textContent;
  if (!can.includes(to)) { refused(card, `it cannot go from ${from} to ${to}`); return; }
  const why = (await answer).closed[to];
  if (why) { refused($(card.id) || card, why); return; }
  if ((card.dataset.n || "").split(" ").includes(to)) { ask(id, to); return; }
  const home = card.parentNode, next = card.nextElementSibling, col = byState() && columnOf(to);
  if (col) col.querySelector(".cards").prepend(card);
  card.classList.add("moving");
  const fields = [["do", "move:" + to], ["back", "/"]], action = "/act/" + id;
  try {
    const { said } = await send(action, fields);
    if (said) toast(said, false, seeTask(action));
    card.classList.remove("moving");
  } catch (err) {
    if (col && $(card.id) === card) home.insertBefore(card, next?.parentNode === home ? next : null);
    card.classList.remove("moving");
    if (err.code) askCode(action, fields, err.message); else refused($(card.id) || card, err.message);
  }
}
function refused(card, why) {
  card.querySelector(".no")?.remove();
  const p = document.createElement("p");
  p.className = "no";
  p.setAttribute("role", "alert");
  p.textContent = why;
  card.append(p);
}

// The scrubber shows any moment of the journal, without actions.

let scrubbing = 0;
function scrubTo(news) {
  const at = $("at");
  if (!at || past()) return;
  const follows = at.value === at.max && !at.matches(":active");
  at.max = news.row;
  document.querySelector("#scrub .ticks")?.setAttribute("viewBox", `1 0 ${Math.max(news.row - 1, 1)} 10`);
  if (follows) { at.value = news.row; $("moment").textContent = `now · ${news.row}`; }
}
$("at")?.addEventListener("input", (e) => {
  const at = e.target;
  $("moment").textContent = `row ${at.value} of ${at.max}`;
  clearTimeout(scrubbing);
  scrubbing = setTimeout(() => {
    const q = new URLSearchParams(new FormData($("scrub")));
    body.dataset.past = "";
    disconnect();
    const to = "/?" + q;
    history.replaceState(null, "", to);
    refresh(to);
  }, 90);
});

$("go")?.remove();
if (matchMedia("(min-width: 701px)").matches) document.querySelector(".filters button").hidden = true; // a change of the filter sends it
$("clock")?.addEventListener("click", (e) => {
  if (past()) return;
  e.preventDefault();
  $("scrub").hidden = !$("scrub").hidden;
  if (!$("scrub").hidden) $("at").focus();
});

// On a phone the columns are tabs above a board that can be swiped.

if (matchMedia("(max-width: 700px)").matches) {
  const show = new IntersectionObserver((seen) => {
    for (const s of seen.filter((s) => s.isIntersecting))
      for (const a of document.querySelectorAll("#columns a")) if (a.hash === "#" + s.target.id) a.setAttribute("aria-current", "true"); else a.removeAttribute("aria-current");
  }, { root: board(), threshold: .6 });
  for (const col of board().querySelectorAll(".col")) show.observe(col);
  document.addEventListener("click", (e) => {
    const tab = e.target.closest?.("#columns a");
    if (!tab) return;
    e.preventDefault();
    const col = document.querySelector(tab.hash);
    board().scrollTo({ left: col.offsetLeft - board().offsetLeft });
  });
}
document.addEventListener("orange:board", (e) => take(e.detail));
