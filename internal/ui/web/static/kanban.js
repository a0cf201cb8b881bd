// The kanban board: dragging cards between columns. Without it, the page of a card moves it.
import { $, askCode, refresh, send, toast } from "/static/app.js";

const board = () => $("kanban");
const columnAt = (x, y) => document.elementsFromPoint(x, y).find((n) => n.matches(".kanban .col"));

document.addEventListener("pointerdown", (e) => {
  const card = e.target.closest?.(".kanban .card[data-k]");
  if (!card || e.button || e.pointerType === "touch" || e.target.closest("button, .mv, .pill")) return;
  const number = card.dataset.k, from = card.closest(".col").dataset.col, x0 = e.clientX, y0 = e.clientY, rect = card.getBoundingClientRect();
  let ghost = null, x = x0, y = y0, frame = 0;
  const lift = () => {
    ghost = card.cloneNode(true);
    ghost.removeAttribute("id");
    ghost.classList.add("ghost");
    ghost.style.width = rect.width + "px";
    document.body.append(ghost);
    card.classList.add("lifted");
    board().classList.add("dragging");
    frame = requestAnimationFrame(scroll);
  };
  const mark = () => {
    const over = columnAt(x, y);
    for (const c of board().querySelectorAll(".col")) {
      c.classList.toggle("can", c === over && c.dataset.col !== from);
      c.classList.toggle("over", c === over);
    }
  };
  const scroll = () => { // also while the pointer rests at an edge
    const edge = board().getBoundingClientRect();
    if (x > edge.right - 40) board().scrollLeft += 12;
    if (x < edge.left + 40) board().scrollLeft -= 12;
    frame = requestAnimationFrame(scroll);
  };
  const move = (e) => {
    x = e.clientX;
    y = e.clientY;
    if (!ghost && Math.hypot(x - x0, y - y0) < 6) return;
    if (!ghost) lift();
    ghost.style.transform = `translate(${rect.left + x - x0}px, ${rect.top + y - y0}px)`;
    mark();
  };
  const end = (e) => {
    for (const [name, f] of handlers) document.removeEventListener(name, f, true);
    if (!ghost) return;
    cancelAnimationFrame(frame);
    ghost.remove();
    $("k-" + number)?.classList.remove("lifted");
    board().classList.remove("dragging");
    const over = columnAt(x, y);
    for (const c of board().querySelectorAll(".col")) c.classList.remove("can", "over");
    addEventListener("click", (e) => { e.preventDefault(); e.stopPropagation(); }, { capture: true, once: true, signal: AbortSignal.timeout(50) });
    if (e.type === "pointerup" && over && over.dataset.col !== from) drop(number, over.dataset.col);
  };
  const key = (e) => { if (e.key === "Escape") end(e); };
  const handlers = [["pointermove", move], ["pointerup", end], ["pointercancel", end], ["keydown", key]];
  for (const [name, f] of handlers) document.addEventListener(name, f, true);
});
document.addEventListener("dragstart", (e) => { if (e.target.closest?.(".kanban .card")) e.preventDefault(); });

async function drop(number, column) {
  const href = board().dataset.href, action = `${href}/${number}`, fields = [["do", "move:" + column], ["back", href]];
  $("k-" + number)?.classList.add("moving");
  try {
    const { said } = await send(action, fields);
    if (said) toast(said);
  } catch (err) {
    if (err.code) askCode(action, fields, err.message); else toast(err.message, true);
  }
  $("k-" + number)?.classList.remove("moving");
  refresh();
}
