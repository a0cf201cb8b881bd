// Keeps pages up to date, and sends forms without leaving the page. Every page works without it;
// board.js adds what only the board needs. It never runs text from a page: the server sends HTML that
// its templates have escaped.
const body = document.body, topic = body.dataset.topic, csrf = body.dataset.csrf;
export const $ = (id) => document.getElementById(id);
let row = Number(body.dataset.row) || 0; // row of the journal that this page is current as of

// Messages, shown on the page and announced to screen readers.

// A toast leaves after toastTime, unless a person points at it or has the focus in it. more is a link or a button.
const toastTime = 5000;
export function toast(text, bad, ...more) {
  $("said")?.closest(".toast, .banner").remove();
  const box = element("div", { className: "toast " + (bad ? "bad" : "good") });
  const words = element("p", { id: "said", textContent: text });
  words.setAttribute("role", "status");
  const shut = element("button", { type: "button", className: "quiet small", onclick: () => box.remove() }, icon("close"));
  shut.setAttribute("aria-label", "Dismiss");
  box.append(words, ...more.filter(Boolean), shut);
  $("toasts").append(box);
  const leave = () => { if (box.matches(":hover, :focus-within")) setTimeout(leave, 1000); else box.remove(); };
  setTimeout(leave, toastTime);
}
export function element(tag, of, ...children) {
  const e = Object.assign(document.createElement(tag), of);
  e.append(...children);
  return e;
}
export function icon(name) {
  const space = "http://www.w3.org/2000/svg", svg = document.createElementNS(space, "svg"), use = document.createElementNS(space, "use");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  use.setAttribute("href", "/static/icons.svg#" + name);
  svg.append(use);
  return svg;
}
let heard = [], speaking = 0;
export function announce(text) {
  heard.push(text);
  speaking = speaking || setTimeout(() => {
    $("news").textContent = heard.slice(0, 3).join("; ") + (heard.length > 3 ? ` and ${heard.length - 3} more` : "");
    heard = [];
    speaking = 0;
  }, 700);
}

// The event stream. It resumes after the last row that was received. A hidden page closes its
// connection, because a browser has only six for all pages of a site.

let stream = null, lostTimer = 0, retryTimer = 0, sleepTimer = 0;
export const past = () => "past" in body.dataset;
function connect() {
  clearTimeout(retryTimer);
  if (!topic || !csrf || past() || stream || document.hidden && !body.dataset.notify) return;
  const mine = stream = new EventSource(`/live?topic=${encodeURIComponent(topic)}&after=${row}&${body.dataset.query || ""}`);
  let opened = false;
  const on = (name, then) => mine.addEventListener(name, (e) => {
    if (mine !== stream) return;
    row = Number(e.lastEventId) || row;
    then(JSON.parse(e.data));
  });
  on("hello", () => {
    if (opened) body.dataset.resumed = String(Number(body.dataset.resumed || 0) + 1);
    opened = true;
    connected(true);
  });
  on("board", (news) => { hold(news.paused); wants(news.wants); document.dispatchEvent(new CustomEvent("orange:board", { detail: news })); });
  on("touch", (news) => { hold(news.paused); refresh(); document.dispatchEvent(new CustomEvent("orange:touch", { detail: news })); });
  on("reload", () => {
    disconnect();
    if (Date.now() - Number(sessionStorage.getItem("reloaded")) < 10000) { connected(false); retryTimer = setTimeout(connect, 10000); return; }
    sessionStorage.setItem("reloaded", Date.now());
    location.reload();
  });
  mine.onerror = () => {
    connected(false);
    if (mine.readyState !== EventSource.CLOSED || mine !== stream) return; // the browser reconnects by itself
    disconnect();
    retryTimer = setTimeout(connect, 1500);
  };
}
export function disconnect() {
  if (stream) stream.close();
  stream = null;
  delete body.dataset.connected;
}
function connected(yes) {
  if (yes) {
    clearTimeout(lostTimer);
    lostTimer = 0;
    $("lost").hidden = true;
    body.dataset.connected = "";
    return;
  }
  delete body.dataset.connected;
  lostTimer = lostTimer || setTimeout(() => { $("lost").hidden = false; }, 800); // do not report a short interruption
}
// lost says that a request had no answer. While the stream is open, the server is there.
function lost() {
  if (stream?.readyState !== EventSource.OPEN) $("lost").hidden = false;
}
document.addEventListener("visibilitychange", () => {
  clearTimeout(sleepTimer);
  if (document.hidden && !body.dataset.notify) sleepTimer = setTimeout(disconnect, 2000);
  else if (!stream) connect();
});
addEventListener("pagehide", disconnect);
addEventListener("pageshow", (e) => { if (e.persisted) location.reload(); });

// The number of tasks that wait for a person is in the navigation and in the title.
let wanted = Number($("wants")?.textContent) || 0;
function wants(n) {
  if (!$("wants")) return;
  $("wants").textContent = n;
  $("wants").hidden = !n;
  document.title = (n ? `(${n}) ` : "") + document.title.replace(/^\(\d+\) /, "");
  if (n > wanted) document.dispatchEvent(new CustomEvent("orange:wants", { detail: n }));
  wanted = n;
}
function hold(paused) {
  if ($("held").hidden === !paused) return;
  $("held").hidden = !paused;
  const f = $("hold");
  f.action = paused ? "/resume" : "/pause";
  f.querySelector("button span").textContent = paused ? "Resume all" : "Pause all";
}

// A click is lost if the page replaces what is under it, so a change waits while a button of the mouse or a finger is down.
let pressed = false;
const waiters = [];
addEventListener("pointerdown", () => { pressed = true; }, true);
const release = () => { pressed = false; setTimeout(() => { for (const go of waiters.splice(0)) go(); }); };
for (const end of ["pointerup", "pointercancel", "dragend"]) addEventListener(end, release, true);
addEventListener("blur", release); // of the window: not captured, because elements lose the focus during a click
addEventListener("pointermove", (e) => { if (pressed && !e.buttons) release(); }, true); // it was released outside of the window
export const pressing = () => pressed;
export const released = () => pressed ? new Promise((go) => waiters.push(go)) : Promise.resolve();

// Pages other than the board are fetched again, and the parts that differ are replaced. At most one
// request runs at a time, with a pause after each.

let asking = false, again = false, sources = new Map(), rest = 0;
export async function refresh(address) {
  if (asking || rest) { again = address || again || true; return; }
  asking = true;
  const begun = performance.now();
  try {
    const res = await fetch(address || location.href, { headers: { Accept: "text/html" }, redirect: "error" });
    const text = await res.text();
    await released();
    if (res.ok) put(new DOMParser().parseFromString(text, "text/html"));
  } catch { lost(); }
  asking = false;
  rest = setTimeout(() => {
    rest = 0;
    if (again) { const to = again === true ? undefined : again; again = false; refresh(to); }
  }, Math.max(150, 2 * (performance.now() - begun)));
}
function put(doc) {
  wants(Number(doc.getElementById("wants")?.textContent) || 0);
  const keep = readingPosition();
  const next = doc.querySelectorAll("[data-live][id], #board[id]");
  for (const to of next) {
    const from = $(to.id), source = to.outerHTML;
    if (!from || to.parentElement.closest("[data-live]") || sources.get(to.id) === source) continue;
    const same = !sources.has(to.id) && from.outerHTML === source;
    sources.set(to.id, source);
    if (!same) swap(from, to);
  }
  keep();
  document.dispatchEvent(new CustomEvent("orange:put"));
}
// readingPosition returns a function that scrolls the page so that what the reader saw first is again where it was.
function readingPosition() {
  if (scrollY < 1) return () => {};
  const seen = [...document.querySelectorAll("main [id]")].find((e) => { const r = e.getBoundingClientRect(); return r.height > 0 && r.top >= 0 && r.top < innerHeight; });
  const top = seen?.getBoundingClientRect().top;
  return () => {
    const now = seen && $(seen.id);
    if (now) scrollBy({ top: now.getBoundingClientRect().top - top, behavior: "instant" });
  };
}
// swap preserves the state of the page: focus, typed text, open details and scroll positions.
function swap(from, to) {
  const at = document.activeElement, fields = new Map(), open = new Set();
  for (const f of from.querySelectorAll("textarea[id], input[id], select[id]"))
    if (f.type === "checkbox" ? f.checked !== f.defaultChecked : f.value !== f.defaultValue) fields.set(f.id, f);
  for (const d of from.querySelectorAll("details[id][open]")) open.add(d.id);
  const shut = [...from.querySelectorAll("details[id]:not([open])")].map((d) => d.id);
  const focus = from.contains(at) && at.id ? { id: at.id, s: at.selectionStart, e: at.selectionEnd } : null;
  const scrolled = [from, ...from.querySelectorAll("[id]")].filter((e) => e.scrollTop || e.scrollLeft).map((e) => [e.id, e.scrollTop, e.scrollLeft]);
  const made = document.importNode(to, true);
  from.replaceWith(made);
  for (const [id, top, left] of scrolled) { const e = $(id); if (e) { e.scrollTop = top; e.scrollLeft = left; } }
  for (const [id, f] of fields) { const n = $(id); if (n) { n.value = f.value; if ("checked" in f) n.checked = f.checked; } }
  for (const id of open) { const d = $(id); if (d) d.open = true; }
  for (const id of shut) { const d = $(id); if (d) d.open = false; }
  const n = focus && $(focus.id);
  if (!n) return;
  n.focus({ preventScroll: true });
  if (focus.s !== null && focus.s !== undefined && n.setSelectionRange) try { n.setSelectionRange(focus.s, focus.e); } catch { /* this kind of field has no selection */ }
}

// Forms are sent without leaving the page; an error is shown beside the form.

export async function send(action, fields) {
  const res = await request(action, { method: "POST", body: new URLSearchParams(fields), headers: { Accept: "application/json", "Orange-Csrf": csrf } });
  const said = await res.json().catch(() => ({}));
  if (!res.ok) throw Object.assign(new Error(said.error || `the server answered ${res.status}`), { code: Boolean(said.code) });
  return said;
}
// request is fetch with an error that says what to do if the server does not answer.
export async function request(address, options) {
  try {
    const res = await fetch(address, options);
    if (!stream) $("lost").hidden = true;
    return res;
  } catch {
    lost();
    throw new Error("the server does not answer: start it with orange web, then try again");
  }
}
// undoOf returns the button that takes a request back, for requests that have an opposite.
function undoOf(action, fields) {
  const path = new URL(action, location).pathname, at = fields.findIndex(([name]) => name === "do"), opposite = { pause: "resume", resume: "pause" };
  let back = null;
  if (opposite[path.slice(1)]) back = () => send("/" + opposite[path.slice(1)], []);
  else if (at >= 0 && opposite[fields[at][1]]) back = () => send(action, [["do", opposite[fields[at][1]]]]);
  return back && element("button", { type: "button", className: "small", textContent: "Undo", onclick: () => back().then(({ said }) => { toast(said); refresh(); }, (err) => toast(err.message, true)) });
}
// seeTask returns a link to the task that a form was about, unless its page is shown.
export function seeTask(action) {
  const id = new URL(action, location).pathname.match(/^\/act\/([^/]+)$/)?.[1];
  return id && location.pathname !== "/tasks/" + id && element("a", { href: "/tasks/" + id, textContent: "See task" });
}
// A merge by a person may need a code from a notification: the form is sent again with it.
export function askCode(action, fields, why) {
  const box = $("ask"), form = document.createElement("form"), made = (tag, of) => Object.assign(document.createElement(tag), of);
  form.method = "post";
  form.action = action;
  form.className = "stack";
  form.append(made("h1", { id: "ask-title", textContent: "Code" }), made("p", { textContent: why }));
  for (const [name, value] of fields) if (name !== "code") form.append(made("input", { type: "hidden", name, value }));
  const code = made("input", { type: "text", id: "ask-code", name: "code", inputMode: "numeric", autocomplete: "one-time-code", maxLength: 12, required: true });
  form.append(made("label", { htmlFor: "ask-code", textContent: "Code of six digits" }), code, made("button", { className: "go", textContent: "Confirm" }));
  const answer = made("p", { className: "answer" });
  answer.setAttribute("role", "alert");
  form.append(answer);
  box.replaceChildren(form, made("button", { className: "shut quiet", textContent: "Close", onclick: () => box.close() }));
  if (!box.open) box.showModal();
  code.focus();
}
document.addEventListener("submit", async (e) => {
  const form = e.target;
  if (e.defaultPrevented || form.method !== "post" || "plain" in form.dataset) return;
  e.preventDefault();
  const fields = [...new FormData(form, e.submitter).entries()].filter(([, v]) => typeof v === "string");
  const answer = form.querySelector(".answer"), buttons = form.querySelectorAll("button");
  buttons.forEach((b) => { b.disabled = true; });
  try {
    const { said, to } = await send(form.action, fields);
    if (answer) answer.textContent = "";
    forgetDrafts(form);
    form.reset();
    if (form.closest("dialog")) $("ask").close();
    if (to && new URL(to, location).pathname !== location.pathname) {
      if (said) sessionStorage.setItem("said", said);
      location.assign(to);
      return;
    }
    if (form.id === "theme") document.documentElement.dataset.theme = e.submitter.value;
    if (said) toast(said, false, undoOf(form.action, fields), seeTask(form.action));
    if (topic !== "board") refresh();
  } catch (err) {
    if (err.code && !form.elements.code) askCode(form.action, fields, err.message);
    else if (answer) answer.textContent = err.message; else toast(err.message, true);
  }
  buttons.forEach((b) => { b.disabled = false; });
});
document.addEventListener("keydown", (e) => { // Ctrl+Enter sends the form
  if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey) || !e.target.matches?.("textarea")) return;
  const form = e.target.form;
  form?.requestSubmit(form.querySelector("button.go") || form.querySelector("button"));
});
if (sessionStorage.getItem("said")) {
  if (!$("said")) toast(sessionStorage.getItem("said"));
  sessionStorage.removeItem("said");
} else if ($("said")?.classList.contains("good")) toast($("said").textContent); // a refusal stays until it is read

// Drafts: what a person types into a form is kept in this browser until the form is sent, for two weeks at most.

const draftTime = 14 * 86400e3, draftMark = "draft:";
const draftKey = (field) => draftMark + location.pathname + "#" + field.id;
const keepsDraft = (field) => field.id && field.matches?.("form[method=post] textarea, form[method=post] input[type=text], form[method=post] input:not([type])") && !field.closest("[data-plain]");
document.addEventListener("input", ({ target }) => {
  if (!keepsDraft(target)) return;
  try {
    if (target.value) localStorage.setItem(draftKey(target), JSON.stringify({ at: Date.now(), text: target.value }));
    else localStorage.removeItem(draftKey(target));
  } catch { /* the store is full: the text is still in the page */ }
});
function readDraft(key) {
  try { return JSON.parse(localStorage.getItem(key)); } catch { return null; }
}
function restoreDrafts() {
  for (const field of document.querySelectorAll("textarea[id], input[id]")) {
    const draft = keepsDraft(field) && field.value === field.defaultValue ? readDraft(draftKey(field)) : null;
    if (draft) field.value = draft.text;
  }
}
export function forgetDrafts(form) {
  for (const field of form.elements) if (keepsDraft(field)) localStorage.removeItem(draftKey(field));
}
for (const key of Object.keys(localStorage).filter((k) => k.startsWith(draftMark)))
  if (!(Date.now() - readDraft(key)?.at < draftTime)) localStorage.removeItem(key);
restoreDrafts();
document.addEventListener("orange:put", restoreDrafts);

// Relative times are updated.

const span = (s) => s < 60 ? `${Math.max(0, s | 0)}s` : s < 3600 ? `${s / 60 | 0}m` : s < 172800 ? `${s / 3600 | 0}h` : `${s / 86400 | 0}d`;
function tick() {
  if (document.hidden || past()) return;
  for (const t of document.querySelectorAll("time:not([data-fixed])")) {
    const s = (Date.now() - Date.parse(t.dateTime)) / 1000;
    if (Number.isNaN(s)) continue;
    const text = t.classList.contains("due") ? (s >= 0 ? "now" : "in " + (s > -3600 ? `${-s / 60 | 0}m ${(-s | 0) % 60}s` : span(-s))) : span(s);
    if (t.textContent !== text) t.textContent = text;
  }
}
setInterval(tick, document.querySelector(".due") ? 1000 : 10000);
if (matchMedia("(min-width: 701px)").matches) for (const s of document.querySelectorAll(".filters select, .filters input[type=checkbox]")) s.addEventListener("change", () => s.form.requestSubmit());
connect();
