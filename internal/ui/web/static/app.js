// Keeps pages up to date, and sends forms without leaving the page. Every page works without it;
// board.js adds what only the board needs. It never runs text from a page: the server sends HTML that
// its templates have escaped.
const body = document.body, topic = body.dataset.topic, csrf = body.dataset.csrf;
export const $ = (id) => document.getElementById(id);
let row = Number(body.dataset.row) || 0; // row of the journal that this page is current as of

// Messages, shown on the page and announced to screen readers.

export function toast(text, bad) {
  let p = $("said");
  if (!p) {
    p = document.createElement("p");
    p.id = "said";
    p.setAttribute("role", "status");
    $("banners").append(p);
  }
  p.className = "banner " + (bad ? "bad" : "good");
  p.textContent = text;
  p.hidden = false;
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
  if (!topic || !csrf || past() || stream || document.hidden) return;
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
document.addEventListener("visibilitychange", () => {
  clearTimeout(sleepTimer);
  if (document.hidden) sleepTimer = setTimeout(disconnect, 2000);
  else if (!stream) connect();
});
addEventListener("pagehide", disconnect);
addEventListener("pageshow", (e) => { if (e.persisted) location.reload(); });

function wants(n) {
  if (!$("wants")) return;
  $("wants").textContent = n;
  $("wants").hidden = !n;
}
function hold(paused) {
  if ($("held").hidden === !paused) return;
  $("held").hidden = !paused;
  const f = $("hold");
  f.action = paused ? "/resume" : "/pause";
  f.querySelector("button").textContent = paused ? "Resume all" : "Pause all";
}

// Pages other than the board are fetched again, and the parts that differ are replaced. At most one
// request runs at a time, with a pause after each.

let asking = false, again = false, sources = new Map(), rest = 0;
export async function refresh(address) {
  if (asking || rest) { again = address || again || true; return; }
  asking = true;
  const begun = performance.now();
  try {
    const res = await fetch(address || location.href, { headers: { Accept: "text/html" }, redirect: "error" });
    if (res.ok) put(new DOMParser().parseFromString(await res.text(), "text/html"));
  } catch { /* the banner shows it */ }
  asking = false;
  rest = setTimeout(() => {
    rest = 0;
    if (again) { const to = again === true ? undefined : again; again = false; refresh(to); }
  }, Math.max(150, 2 * (performance.now() - begun)));
}
function put(doc) {
  wants(Number(doc.getElementById("wants")?.textContent) || 0);
  const next = doc.querySelectorAll("[data-live][id], #board[id]");
  for (const to of next) {
    const from = $(to.id), source = to.outerHTML;
    if (!from || to.parentElement.closest("[data-live]") || sources.get(to.id) === source) continue;
    const same = !sources.has(to.id) && from.outerHTML === source;
    sources.set(to.id, source);
    if (!same) swap(from, to);
  }
  document.dispatchEvent(new CustomEvent("orange:put"));
}
// swap preserves the state of the page: focus, typed text, open details and scroll positions.
function swap(from, to) {
  const at = document.activeElement, fields = new Map(), open = new Set();
  for (const f of from.querySelectorAll("textarea[id], input[id], select[id]"))
    if (f.type === "checkbox" ? f.checked !== f.defaultChecked : f.value !== f.defaultValue) fields.set(f.id, f);
  for (const d of from.querySelectorAll("details[id][open]")) open.add(d.id);
  const shut = [...from.querySelectorAll("details[id]:not([open])")].map((d) => d.id);
  const focus = from.contains(at) && at.id ? { id: at.id, s: at.selectionStart, e: at.selectionEnd } : null;
  const top = from.scrollTop, left = from.scrollLeft;
  const made = document.importNode(to, true);
  from.replaceWith(made);
  made.scrollTop = top;
  made.scrollLeft = left;
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
  const res = await fetch(action, { method: "POST", body: new URLSearchParams(fields), headers: { Accept: "application/json", "Orange-Csrf": csrf } });
  const said = await res.json().catch(() => ({}));
  if (!res.ok) throw Object.assign(new Error(said.error || `the server answered ${res.status}`), { code: Boolean(said.code) });
  return said;
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
    form.reset();
    if (form.closest("dialog")) $("ask").close();
    if (to && new URL(to, location).pathname !== location.pathname) {
      if (said) sessionStorage.setItem("said", said);
      location.assign(to);
      return;
    }
    if (said) toast(said);
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
}

// Relative times are updated.

const span = (s) => s < 60 ? `${Math.max(0, s | 0)}s` : s < 3600 ? `${s / 60 | 0}m` : s < 172800 ? `${s / 3600 | 0}h` : `${s / 86400 | 0}d`;
function tick() {
  if (document.hidden || past()) return;
  for (const t of document.querySelectorAll("time:not([data-fixed])")) {
    const s = (Date.now() - Date.parse(t.dateTime)) / 1000;
    if (Number.isNaN(s)) continue;
    const text = t.className === "due" ? (s >= 0 ? "now" : "in " + (s > -3600 ? `${-s / 60 | 0}m ${(-s | 0) % 60}s` : span(-s))) : span(s);
    if (t.textContent !== text) t.textContent = text;
  }
}
setInterval(tick, document.querySelector(".due") ? 1000 : 10000);
for (const s of document.querySelectorAll(".filters select, .filters input[type=checkbox]")) s.addEventListener("change", () => s.form.requestSubmit());
connect();
