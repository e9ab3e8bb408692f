// Elements, requests, and how values are written. Text from the outside reaches the page as text, never
// as markup.

const SVG = "http://www.w3.org/2000/svg";

// ---- elements ----

export function add(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of [children ?? []].flat()) element.append(child);
  return element;
}
export const el = (tag, attributes, children) => add(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, children) => add(document.createElementNS(SVG, tag), attributes, children);
export const button = (text, onclick, attributes) => el("button", { type: "button", class: "button", onclick, ...attributes }, text);

export const main = document.getElementById("main");
export const show = (...children) => main.replaceChildren(...children);

// The text that a screen reader announces when it changes; the same text is not repeated.
const live = document.getElementById("live");
export function say(text) {
  if (live.textContent !== text) live.textContent = text;
}

// Gives an element new children. A child that would look the same stays, so that a button pressed meanwhile
// gets its click and selected text stays selected; the focus stays on the control that has the same data-key.
export function redraw(parent, ...children) {
  const key = parent.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  renew(parent, children);
  if (key === undefined || parent.contains(document.activeElement)) return;
  parent.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}
const inputs = (element) => element.querySelectorAll?.("input") ?? [];
function renew(parent, children) {
  children.forEach((child, at) => {
    const old = parent.childNodes[at];
    if (!old) parent.append(child);
    else if (old.isEqualNode(child)) inputs(child).forEach((input, i) => { inputs(old)[i].checked = input.checked; });
    else if (child.dataset?.row && old.dataset?.row === child.dataset.row) renew(old, [...child.childNodes]);
    else old.replaceWith(child);
  });
  while (parent.childNodes.length > children.length) parent.lastChild.remove();
}

// ---- requests ----

const AGAIN = 300, MOST_TRIES = 10;   // milliseconds between two tries
const pause = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });

// A refusal may be plain text.
async function read(response) {
  const text = await response.text();
  if (response.ok) return JSON.parse(text);
  let reason = text.trim() || response.statusText;
  try { reason = JSON.parse(text).reason ?? reason; } catch { /* it is the text */ }
  throw Object.assign(new Error(reason), { status: response.status });
}
// The server does not wait long for a locked history; the page does.
async function ask(path, options) {
  for (let tries = 1; ; tries++) {
    const response = await fetch(path, options);
    if (response.status !== 503 || tries === MOST_TRIES) return read(response);
    await pause(AGAIN);
  }
}
export const get = (path, signal) => ask(path, { signal });

// Changes something; the token proves that the request comes from the board's own page.
const token = document.querySelector("meta[name=tern-token]").content;
export const post = (path, body) => ask(path, { method: "POST", body: JSON.stringify(body),
  headers: { "Content-Type": "application/json", "X-Tern-Token": token } });

// The user's choices on this page, kept in the browser if possible.
export const kept = {
  get(name, otherwise) {
    try { return JSON.parse(localStorage.getItem(`tern.${name}`)) ?? otherwise; } catch { return otherwise; }
  },
  set(name, value) {
    try { localStorage.setItem(`tern.${name}`, JSON.stringify(value)); } catch { /* then it is for this visit */ }
  },
};

// ---- how values are written ----

export const real = (x) => typeof x === "number" ? x : x === "Infinity" ? Infinity : x === "-Infinity" ? -Infinity : NaN;
export function short(x, digits = 4) {
  if (x == null || !Number.isFinite(real(x))) return x == null ? "–" : String(x);
  const rounded = Number(real(x).toPrecision(digits));
  return rounded !== 0 && Math.abs(rounded) < 1e-4 ? rounded.toExponential() : String(rounded);
}
export const fixed = (x) => x == null ? "–" : real(x).toFixed(4);
export const last = (path) => String(path ?? "").split("/").pop();
export const when = (iso) => iso ? new Date(iso).toLocaleString() : "–";
export const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
export function duration(seconds) {
  if (seconds == null) return "–";
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${Math.floor(seconds % 60)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
export const status = (run) => el("span", { class: `status ${run.status}` }, run.status);

export const hyper = (run, name) => Object.hasOwn(run.hyperparameters ?? {}, name) ? run.hyperparameters[name] : undefined;
// Every name that one of the runs has.
export const hyperNames = (runs) => [...new Set(runs.flatMap((run) => Object.keys(run.hyperparameters ?? {})))];
