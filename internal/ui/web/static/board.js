// The board: updating, moving and dragging cards, and showing the past.
import { $, announce, askCode, disconnect, past, refresh, send, toast } from "/static/app.js";

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
    announce(`${card.querySelector(".t").textContent}: ${c.column}`);
  }
  if (focused !== null) (card.getElementsByClassName(focused)[0] || card.querySelector(".t")).focus({ preventScroll: true });
  $("nothing")?.remove();
}

// The form that moves a card is shown above the board.

let asked = "";
async function ask(id, to) {
  const res = await fetch(`/move/${id}?back=${encodeURIComponent(location.pathname + location.search)}`);
  const part = new DOMParser().parseFromString(await res.text(), "text/html").querySelector("main section");
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
  if (!card || e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === "m" && card.querySelector(".mv")) { e.preventDefault(); ask(card.id.slice(2)); return; }
  const step = { ArrowUp: "previousElementSibling", ArrowDown: "nextElementSibling" }[e.key];
  let to = step && card[step];
  if (e.key === "ArrowLeft" || e.key === "ArrowRight") {
    const cols = [...board().querySelectorAll(".col:not(.empty)")], i = cols.indexOf(card.closest(".col"));
    to = cols[i + (e.key === "ArrowLeft" ? -1 : 1)]?.querySelector(".card");
  }
  if (to) { e.preventDefault(); to.querySelector(".t").focus(); }
});

// Dragging: the states that the task may move to are highlighted; others refuse the card.

document.addEventListener("pointerdown", (e) => {
  const card = e.target.closest?.(".board[data-drag] .card[data-m]");
  if (!card || e.button || e.pointerType === "touch" || e.target.closest(".mv, .pr, .no")) return;
  const x0 = e.clientX, y0 = e.clientY, can = card.dataset.m.split(" ");
  let ghost = null, over = null;
  const rect = card.getBoundingClientRect();
  const move = (e) => {
    if (!ghost && Math.hypot(e.clientX - x0, e.clientY - y0) < 6) return;
    if (!ghost) {
      dragged = card;
      ghost = card.cloneNode(true);
      ghost.removeAttribute("id");
      ghost.classList.add("ghost");
      ghost.style.width = rect.width + "px";
      body.append(ghost);
      card.classList.add("lifted");
      board().classList.add("dragging");
      for (const c of board().querySelectorAll(".col")) c.classList.add(can.includes(c.dataset.col) ? "can" : "cannot");
    }
    ghost.style.transform = `translate(${rect.left + e.clientX - x0}px, ${rect.top + e.clientY - y0}px)`;
    const edge = board().getBoundingClientRect();
    if (e.clientX > edge.right - 40) board().scrollLeft += 14;
    if (e.clientX < edge.left + 40) board().scrollLeft -= 14;
    const at = document.elementsFromPoint(e.clientX, e.clientY).find((n) => n.classList.contains("col"));
    if (over !== at) { over?.classList.remove("over"); at?.classList.add("over"); over = at; }
  };
  const end = (e) => {
    for (const [name, f] of handlers) document.removeEventListener(name, f, true);
    if (!ghost) return;
    ghost.remove();
    dragged = null;
    card.classList.remove("lifted");
    board().classList.remove("dragging");
    for (const c of board().querySelectorAll(".col")) c.classList.remove("can", "cannot", "over");
    addEventListener("click", (e) => { e.preventDefault(); e.stopPropagation(); }, { capture: true, once: true, signal: AbortSignal.timeout(50) });
    if (e.type === "pointerup" && over && over !== card.closest(".col")) drop(card, over, can);
    if (waiting.size) frame = frame || requestAnimationFrame(flush);
  };
  const key = (e) => { if (e.key === "Escape") end(e); };
  const handlers = [["pointermove", move], ["pointerup", end], ["pointercancel", end], ["keydown", key]];
  for (const [name, f] of handlers) document.addEventListener(name, f, true);
});
document.addEventListener("dragstart", (e) => { if (e.target.closest?.(".card")) e.preventDefault(); });

async function drop(card, col, can) {
  const id = card.id.slice(2), to = col.dataset.col;
  if (!can.includes(to)) { refused(card, `it cannot go from ${card.closest(".col").dataset.col} to ${to}`); return; }
  if ((card.dataset.n || "").split(" ").includes(to)) { ask(id, to); return; }
  const home = card.parentNode, next = card.nextElementSibling;
  col.querySelector(".cards").prepend(card);
  card.classList.add("moving");
  const fields = [["do", "move:" + to], ["back", "/"]];
  try {
    const { said } = await send("/act/" + id, fields);
    if (said) toast(said);
    card.classList.remove("moving");
  } catch (err) {
    if ($(card.id) === card) home.insertBefore(card, next?.parentNode === home ? next : null);
    card.classList.remove("moving");
    if (err.code) askCode("/act/" + id, fields, err.message); else refused($(card.id) || card, err.message);
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
document.addEventListener("orange:board", (e) => take(e.detail));
