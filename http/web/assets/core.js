// Elements, exact numbers and requests, which every page uses.

export const BASE = "/api/v3";

// el makes an element. Text is inserted as text: nothing is ever parsed as HTML.
export function el(tag, props, ...kids) {
  return fill(document.createElement(tag), props, kids);
}

export function svg(tag, props, ...kids) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), props, kids);
}

function fill(node, props, kids) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...kids.flat(Infinity).filter((k) => k !== undefined && k !== null && k !== false));
  return node;
}

// put replaces the children of a node.
export function put(node, ...kids) {
  node.replaceChildren(...kids.flat(Infinity).filter((k) => k !== undefined && k !== null && k !== false));
}

// Exact is a number as the API wrote it, with its source: an address and a JSON pointer. Its
// arithmetic is only for drawing and comparing.
export class Exact {
  constructor(text, src = "") { this.text = text; this.src = src; }
  valueOf() { return Number(this.text); }
  toString() { return this.text; }
}

// read parses JSON and keeps numbers as they are written.
const read = (text) => JSON.parse(text, (_, v, context) => (typeof v === "number" ? new Exact(context && context.source || String(v)) : v));
function parse(text, url) {
  const value = read(text);
  place(value, url + "#");
  return value;
}

function place(value, at) {
  if (value instanceof Exact) value.src = at;
  else if (value !== null && typeof value === "object") {
    for (const [name, v] of Object.entries(value)) place(v, at + "/" + name.replaceAll("~", "~0").replaceAll("/", "~1"));
  }
}

const SCALE = 12;
const whole = (text) => {
  const [, sign, head, tail = "", power = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text);
  return BigInt(sign + head + tail.padEnd(SCALE + Number(power), "0").slice(0, SCALE + Number(power)));
};

// sum adds up the numbers of more exactly, and subtracts those of less.
export function sum(more, less = []) {
  if ([...more, ...less].some((x) => x === null || x === undefined)) return null;
  let total = 0n;
  for (const x of more) total += whole(x.text);
  for (const x of less) total -= whole(x.text);
  const digits = (total < 0n ? -total : total).toString().padStart(SCALE + 1, "0");
  const tail = digits.slice(-SCALE).replace(/0+$/, "");
  const src = [...more.map((x) => "+ " + x.src), ...less.map((x) => "- " + x.src)].join(" ").replace(/^\+ /, "");
  return new Exact((total < 0n ? "-" : "") + digits.slice(0, -SCALE) + (tail && "." + tail), src);
}

// The forms of numbers. Each is a function from the number to its text.
const tongue = navigator.languages && navigator.languages.length ? [...navigator.languages] : undefined;
const makers = new Map();
function write(n, options) {
  const name = JSON.stringify(options);
  if (!makers.has(name)) makers.set(name, new Intl.NumberFormat(tongue, options));
  return makers.get(name).format(n).replaceAll("-", "−");
}
const digits = (n) => ({ minimumFractionDigits: n, maximumFractionDigits: n });
export const forms = {
  count: (x) => write(x, {}),
  usd: (x) => write(x, digits(Math.abs(x) < 100 && !Number.isInteger(x) ? 2 : 0)),
  usd0: (x) => write(x, digits(0)),
  usd2: (x) => write(x, digits(2)),
  profit: (x) => write(x, { signDisplay: "exceptZero", ...digits(Math.abs(x) < 100 && !Number.isInteger(x) ? 2 : 0) }),
  profit0: (x) => write(x, { signDisplay: "exceptZero", ...digits(0) }),
  signed: (x) => forms.profit(x),
  signed0: (x) => forms.profit0(x),
  signed2: (x) => forms.profit2(x),
  profit2: (x) => write(x, { signDisplay: "exceptZero", ...digits(2) }),
  brief: (x) => (Math.abs(x) < 1e6 ? forms.usd(x) : write(x, { notation: "compact", ...digits(1) })),
  axis: (x) => (Math.abs(x) < 1e5 && (Math.abs(x) < 1e4 || x % 1000) ? write(x, { maximumFractionDigits: 6 }) : write(x, { notation: "compact", maximumFractionDigits: 2 })),
  cents: (x) => write(100 * x, digits(1)) + "¢",
  move: (x) => write(100 * x, { signDisplay: "exceptZero", ...digits(1) }) + "¢",
  share: (x) => write(100 * x, digits(Math.abs(x) < 0.1 ? 1 : 0)) + " %",
  ratio: (x) => (Math.abs(x) > 10 ? write(x, { signDisplay: "exceptZero", ...digits(1) }) + " ×" : write(100 * x, { signDisplay: "exceptZero", ...digits(1) }) + " %"),
  hits: (x) => write(x, digits(0)) + " %",
  percent: (x) => write(x, digits(1)) + " %",
  uptime: (x) => write(x, digits(2)) + " %",
  change: (x) => write(x, { signDisplay: "exceptZero", ...digits(1) }) + " %",
  points: (x) => write(100 * x, { signDisplay: "exceptZero", ...digits(0) }),
  index: (x) => write(x, digits(0)),
  delta: (x) => write(x, { signDisplay: "exceptZero", ...digits(1) }),
  skill: (x) => write(x, { signDisplay: "exceptZero", ...digits(2) }),
  score: (x) => write(x, digits(3)),
  degrees: (x) => write(x, digits(1)),
  plain: (x) => write(x, { maximumFractionDigits: 12 }),
};

// num shows an exact number in a form; an unknown value is a dash.
export function num(x, form = "count", why) {
  if (x === null || x === undefined) return el("span", { class: "none", title: why || "not known", "aria-label": why || "not known" }, "–");
  const signed = form.startsWith("profit");
  const mark = signed && x > 0 ? " gain" : signed && x < 0 ? " loss" : "";
  return el("data", { class: "num" + mark, value: x.text, "data-v": x.text, "data-src": x.src, title: x.text }, forms[form](Number(x)));
}

// many shows a count with its noun.
export const many = (x, thing) => [num(x), " " + thing + (x == 1 ? "" : "s")];

// when shows a time of the API in UTC, a day, or a date, which leaves out the current year; its
// title is the local time.
const dateForm = new Intl.DateTimeFormat(tongue, { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
const timeForm = new Intl.DateTimeFormat(tongue, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: "UTC" });
const shortForm = new Intl.DateTimeFormat(tongue, { day: "numeric", month: "short", timeZone: "UTC" });
export const dayText = (ts, brief) => (brief && new Date(ts).getUTCFullYear() === new Date().getUTCFullYear() ? shortForm : dateForm).format(new Date(ts));
export const timeText = (ts) => timeForm.format(new Date(ts));
export function when(ts, form = "time") {
  if (!ts) return el("span", { class: "none", title: "not known", "aria-label": "not known" }, "–");
  return el("time", { datetime: ts, title: ts + (ts.length > 10 ? ", here " + new Date(ts).toLocaleString() : "") }, form === "time" ? timeText(ts) : dayText(ts, form === "date"));
}

// short abbreviates an id to its ends; copying it gives the whole id.
export const short = (id) => (id.length > 14 ? id.slice(0, 6) + "…" + id.slice(-4) : id);
export const wallet = (row) => el("a", { href: "/trader/" + row.address, class: "id", title: row.address, translate: "no" }, row.username || short(row.address));
export const market = (row) => (row.condition_id === null ? el("span", { class: "none" }, "market not known yet") : el("a", { href: "/market/" + row.condition_id, "data-text": true }, row.question || short(row.condition_id)));

// The key is kept for this tab, or on this device if the user chose that.
const KEY = "pmx-key";
export const key = {
  get() {
    try { return sessionStorage.getItem(KEY) || localStorage.getItem(KEY) || ""; } catch { return ""; }
  },
  set(value, remember) {
    try {
      sessionStorage.removeItem(KEY);
      localStorage.removeItem(KEY);
      if (value) (remember ? localStorage : sessionStorage).setItem(KEY, value);
    } catch { /* storage is switched off */ }
  },
  remembered() {
    try { return localStorage.getItem(KEY) !== null; } catch { return false; }
  },
};

// Problem is an error response.
export class Problem extends Error {
  constructor(status, body, wait) {
    super(body.detail || body.title || "The server did not answer.");
    Object.assign(this, { status, code: body.code || "", title: body.title || "No answer", id: body.instance || "", wait });
  }
}

export const address = (path, params) => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params || {})) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined && one !== null && one !== "") query.append(name, one);
  }
  const words = query.toString();
  return BASE + path + (words && "?" + words);
};

// ask returns the response for an address. A page requests each address once. Requests at the same
// time are sent as one; the first ones wait until all modules have run. The browser caches
// responses by their ETag.
const flights = new Map();
export function ask(url, again = false) {
  if (again) flights.delete(url);
  if (!flights.has(url)) {
    const flight = new Promise((done, fail) => {
      if (asked.push({ url, done, fail }) > 1) return;
      if (document.readyState === "complete" || ready) queueMicrotask(flush);
    });
    flights.set(url, flight);
    flight.catch(() => flights.delete(url));
  }
  return flights.get(url);
}
let asked = [], ready = false;
document.addEventListener("DOMContentLoaded", () => { ready = true; flush(); });

// soon requests what a section will need after its first response.
export const soon = (...urls) => { for (const url of urls) ask(url).catch(() => {}); };

// soonOf requests what a response refers to, in the same request as that response: make returns its
// address, given the fields of the response's data.
let later = [];
export const soonOf = (url, make) => later.push({ url, make });

function flush() {
  const all = asked, named = later;
  asked = [];
  later = [];
  for (let i = 0; i < all.length; i += 12) {
    const list = all.slice(i, i + 12);
    const of = (url) => list.findIndex((one) => one.url === url);
    const further = named.filter(({ url }) => of(url) >= 0).slice(0, 12 - list.length);
    fetchAnswers(list, further.map(({ url, make }) => make((field) => "{" + of(url) + "." + field + "}")));
  }
}

async function fetchAnswers(list, further) {
  if (list.length === 1 && !further.length) return fetchAnswer(list[0]);
  let together;
  try {
    const { ok, text } = await send("/answers?" + new URLSearchParams([...list.map(({ url }) => url), ...further].map((url) => ["of", url])));
    together = ok ? read(text).answers : null;
  } catch { together = null; }
  if (!together) return list.forEach(fetchAnswer);
  for (const { of, status, body } of together.slice(list.length)) {
    if (status >= 400 || flights.has(of)) continue; // errors are requested again by the section that needs the response
    place(body, of + "#");
    flights.set(of, new Promise((done) => arrived(done, body)));
  }
  list.forEach(({ url, done, fail }, i) => {
    const { status, body, wait } = together[i];
    if (status >= 400) { fail(new Problem(Number(status), body, Number(wait || 0))); return; }
    place(body, url + "#");
    arrived(done, body);
  });
}

async function fetchAnswer({ url, done, fail }) {
  try {
    const { ok, status, text, wait } = await send(url);
    if (!ok) throw new Problem(status, readable(text), wait);
    arrived(done, parse(text, url));
  } catch (problem) { fail(problem); }
}

function arrived(done, body) {
  document.dispatchEvent(new CustomEvent("pmx-answer", { detail: body }));
  done(body);
}

const readable = (text) => { try { return JSON.parse(text); } catch { return {}; } };

export async function send(url, settings = {}) {
  const headers = { ...settings.headers };
  if (key.get()) headers["X-API-Key"] = key.get();
  let answer;
  try {
    answer = await fetch(url, { cache: "no-cache", ...settings, headers });
  } catch (failure) {
    throw new Problem(0, { title: "No response", detail: failure.message });
  }
  if (settings.blob && answer.ok) return { ok: true, status: answer.status, blob: await answer.blob() };
  return { ok: answer.ok, status: answer.status, text: await answer.text(), wait: Number(answer.headers.get("Retry-After")) || 0 };
}

// post sends a body, or a DELETE, and returns the response.
export async function post(url, method, body) {
  const { ok, status, text, wait } = await send(url, { method, body: body && JSON.stringify(body), headers: body ? { "Content-Type": "application/json" } : {} });
  if (!ok) throw new Problem(status, readable(text), wait);
  return parse(text, url);
}

// The address of the page: its parameters say what is shown.
export const here = () => new URLSearchParams(location.search);
export function go(params) {
  const query = new URLSearchParams();
  params = { rows: here().getAll("rows"), ...params };
  for (const [name, value] of Object.entries(params)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined && one !== null && one !== "") query.append(name, one);
  }
  const words = query.toString();
  history.replaceState(null, "", location.pathname + (words && "?" + words));
}
export const fromPath = (n) => decodeURIComponent(location.pathname.split("/")[n] || "");
export const explorer = () => document.getElementById("explorer");
export function title(text) { document.title = text + " · pmx"; }
