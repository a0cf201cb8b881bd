// Drawings of workflows: the state of a task, or else the middle, is scrolled into view, and a drawing can be made larger
// and smaller, with its buttons or with Ctrl and the wheel of the mouse.
const steps = [0.5, 0.75, 1, 1.5, 2, 3];
let size = 1;

function center(box) {
  const here = box.querySelector(".wf-here"), over = box.scrollWidth - box.clientWidth;
  if (!here) box.scrollLeft ||= over / 2;
  if (!here || over <= 0) return;
  const a = here.getBoundingClientRect(), b = box.getBoundingClientRect();
  box.scrollLeft += a.left + a.width / 2 - b.left - b.width / 2;
}

function resize(box, buttons) {
  const drawing = box.querySelector("svg");
  if (!drawing) return;
  // The width at 100 % is what the stylesheet gives, so it is measured and not kept.
  drawing.style.width = drawing.style.maxWidth = drawing.style.minWidth = "";
  if (size !== 1) {
    const width = `${drawing.getBoundingClientRect().width * size}px`;
    drawing.style.width = drawing.style.maxWidth = drawing.style.minWidth = width;
  }
  buttons.querySelector("output").textContent = `${size * 100} %`;
  buttons.querySelector("[data-zoom='-1']").disabled = size === steps[0];
  buttons.querySelector("[data-zoom='1']").disabled = size === steps.at(-1);
  center(box);
}

// zoom goes some steps up or down, or back to the first size with 0.
function zoom(by) {
  size = by ? steps[Math.min(steps.length - 1, Math.max(0, steps.indexOf(size) + by))] : 1;
  prepare();
}

function prepare() {
  for (const box of document.querySelectorAll(".scroll.graph[data-zoomable]")) {
    const buttons = box.previousElementSibling?.matches(".zoom") ? box.previousElementSibling : document.getElementById("zoom-buttons").content.firstElementChild.cloneNode(true);
    if (!buttons.isConnected) {
      box.before(buttons);
      buttons.addEventListener("click", (e) => { const b = e.target.closest("[data-zoom]"); if (b) zoom(Number(b.dataset.zoom)); });
      box.addEventListener("wheel", (e) => { if (e.ctrlKey) { e.preventDefault(); zoom(e.deltaY < 0 ? 1 : -1); } }, { passive: false });
    }
    resize(box, buttons);
  }
  for (const box of document.querySelectorAll(".scroll.graph:not([data-zoomable])")) center(box);
}
prepare();
document.addEventListener("orange:put", prepare);
