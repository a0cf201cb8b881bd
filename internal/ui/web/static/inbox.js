// The inbox: choosing items without leaving the page, keys, answers that a question offers, and snoozing.
import { $, element, refresh, toast } from "/static/app.js";
import { typing } from "/static/shell.js";

const wide = matchMedia("(min-width: 701px)");
const entries = () => [...document.querySelectorAll("#inbox .entry:not([hidden])")];
const current = () => document.querySelector("#inbox .entry[aria-current]");

// The address names the item that is read, so that news do not put another one in its place.
function pin() {
  const here = current();
  if (here && wide.matches && !new URLSearchParams(location.search).get("item")) history.replaceState(null, "", here.querySelector(".t").href);
}
function open(entry) {
  if (!entry) return;
  const link = entry.querySelector(".t");
  for (const e of document.querySelectorAll("#inbox .entry[aria-current]")) e.removeAttribute("aria-current");
  entry.setAttribute("aria-current", "true");
  entry.scrollIntoView({ block: "nearest" });
  if (wide.matches) link.focus({ preventScroll: true });
  history.replaceState(null, "", link.href);
  refresh();
}
if (wide.matches) current()?.scrollIntoView({ block: "nearest" });
document.addEventListener("click", (e) => {
  const link = e.target.closest?.("#inbox .entry .t");
  if (!link || !wide.matches || e.ctrlKey || e.metaKey || e.shiftKey || e.button) return;
  e.preventDefault();
  open(link.closest(".entry"));
});
document.addEventListener("keydown", (e) => {
  if (typing(e) || e.defaultPrevented) return;
  const list = entries(), at = list.indexOf(current());
  const does = {
    j: () => open(list[at + 1]), k: () => open(list[at - 1]),
    e: () => document.querySelector(".item textarea, .item input[type=text]")?.focus(),
    o: () => document.querySelector(".item h2 a")?.click(),
    m: () => { const more = document.querySelector(".item form details"); if (more) { more.open = true; more.querySelector("button, summary + * summary")?.focus(); } },
    s: () => document.querySelector(".item [data-snooze]")?.click(),
  }[e.key];
  if (!does) return;
  e.preventDefault();
  does();
});

// Answers that the question offers fill the field; the person sends it.

document.addEventListener("click", (e) => {
  const option = e.target.closest?.("[data-fill]"), field = option?.form.querySelector("textarea");
  if (!field) return;
  field.value = field.value.trim() ? field.value.trimEnd() + "\n" + option.textContent : option.textContent;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.focus();
});

// Snoozed items are hidden in this browser only, until their time or until something about them changes.

const snoozed = () => { try { return JSON.parse(localStorage.getItem("snoozed")) || {}; } catch { return {}; } };
const save = (all) => localStorage.setItem("snoozed", JSON.stringify(all));
function wakeTime(how) {
  const at = new Date();
  if (how === "tomorrow") { at.setDate(at.getDate() + 1); at.setHours(9, 0, 0, 0); } else at.setHours(at.getHours() + 1);
  return at;
}
document.addEventListener("click", (e) => {
  const button = e.target.closest?.("[data-snooze]"), here = current();
  if (!button || !here) return;
  const list = entries(), at = list.indexOf(here), until = wakeTime(button.dataset.snooze), key = here.dataset.key;
  save({ ...snoozed(), [key]: { until: until.getTime(), since: here.dataset.since } });
  const undo = element("button", { type: "button", className: "small", textContent: "Undo", onclick: () => { const all = snoozed(); delete all[key]; save(all); hideSnoozed(); } });
  toast(`Snoozed in this browser until ${until.toLocaleString([], { weekday: "short", hour: "2-digit", minute: "2-digit" })}.`, false, undo);
  hideSnoozed();
  open(list[at + 1] || list[at - 1]);
});
let showAll = false;
function hideSnoozed() {
  const all = snoozed();
  for (const [key, s] of Object.entries(all)) if (!(s.until > Date.now())) delete all[key];
  save(all);
  let n = 0;
  for (const e of document.querySelectorAll("#inbox .entry")) {
    const asleep = all[e.dataset.key]?.since === e.dataset.since;
    n += asleep;
    e.hidden = asleep && !showAll;
  }
  const line = $("snoozed");
  line.hidden = !n;
  if (n) line.replaceChildren(`${n} ${n === 1 ? "item is" : "items are"} snoozed in this browser. `, element("button", { type: "button", className: "small", textContent: showAll ? "Hide" : "Show", onclick: () => { showAll = !showAll; hideSnoozed(); } }));
}
function ready() {
  for (const e of document.querySelectorAll("#inbox [data-js]")) e.hidden = false;
  hideSnoozed();
  pin();
}
document.addEventListener("orange:put", ready);
ready();
