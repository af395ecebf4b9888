// The header of every page: search, freshness, the key, the colour scheme, keyboard shortcuts.
import { address, ask, BASE, dayText, el, key, send, short, timeText } from "./core.js";

const byId = (id) => document.getElementById(id);

// Navigation on narrow screens.
const menu = byId("menu");
const unfold = (open) => menu.setAttribute("aria-expanded", String(open));
menu.addEventListener("click", () => unfold(menu.getAttribute("aria-expanded") !== "true"));
menu.closest(".bar").addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || menu.getAttribute("aria-expanded") !== "true" || event.target.closest(".finder")) return;
  unfold(false);
  menu.focus();
});

// How fresh the data is, in words next to the dot, and above the page if it is far behind.
const words = { A: "Current", B: "A little behind", C: "Behind", D: "Far behind", F: "Out of date" };
const stale = el("p", { class: "state", "data-kind": "stale", role: "status", hidden: true });
byId("main").prepend(stale);
async function freshness() {
  const place = byId("fresh");
  try {
    const { data, as_of: at } = await ask(BASE + "/status/public", true);
    const text = at ? (data.historical ? "Historical" : words[data.grade]) + ", to " + dayText(at) : "No data yet";
    place.replaceChildren(el("a", { href: "/status", title: "Data: " + text }, el("span", { class: "dot", "data-grade": data.historical ? "past" : data.grade, "aria-hidden": "true" }), el(at ? "time" : "span", at ? { class: "word", datetime: at } : { class: "word" }, text), at && el("span", { class: "brief", "aria-hidden": "true" }, dayText(at, true))));
    stale.hidden = data.historical || data.grade < "D";
    if (!stale.hidden) stale.replaceChildren(...(at ? ["The data is " + words[data.grade].toLowerCase() + ": it ends at ", el("time", { datetime: at }, timeText(at)), " UTC. Everything shown is exact up to then. "] : ["There is no data yet. "]), el("a", { href: "/status" }, "Status"));
    byId("printed").textContent = location.host + location.pathname + location.search + ", data to " + (at || "–");
  } catch {
    place.replaceChildren(el("a", { href: "/status" }, el("span", { class: "dot", "data-grade": "F", "aria-hidden": "true" }), el("span", { class: "word" }, "No response")));
  }
}
freshness();
setInterval(() => { if (!document.hidden) freshness(); }, 60000);

// The key: entered once, kept in this tab or on this device.
const keys = byId("keys");
function showKey(open = false) {
  const known = key.get() !== "";
  const field = el("input", { id: "key", type: "password", autocomplete: "off", spellcheck: "false", placeholder: "pmx_…", required: true });
  const keep = el("input", { type: "checkbox", id: "remember" });
  const note = el("p", { class: "note", role: "status" });
  const form = el("form", { class: "keyform", onsubmit: async (event) => {
    event.preventDefault();
    const now = field.value.trim(), before = [key.get(), key.remembered()];
    key.set(now, keep.checked);
    try {
      const { ok, status } = await send(BASE + "/me");
      if (ok) { location.reload(); return; }
      key.set(...before);
      note.textContent = status === 401 ? "The server does not know this key." : "The server answered " + status + ". Try again.";
    } catch (failure) { key.set(...before); note.textContent = failure.message; }
  } }, el("label", { for: "key" }, "API key"), field, el("label", { class: "tick" }, keep, " remember on this device"), el("button", { type: "submit" }, "Use it"), note,
  el("p", { class: "note" }, "Otherwise it is kept only until this tab is closed."));
  const box = el("details", { class: "keybox", open }, el("summary", {}, known ? "Key" : "open" in keys.dataset ? "Open: free" : "Enter a key"),
    el("div", { class: "pop" }, known ? [
      el("p", { id: "plan" }, key.remembered() ? "A key is remembered on this device." : "A key is kept in this tab."),
      el("button", { type: "button", class: "quiet", id: "forget", onclick: () => { key.set(""); location.reload(); } }, "Forget the key")] : form));
  box.addEventListener("keydown", (e) => { if (e.key === "Escape") { box.open = false; box.querySelector("summary").focus(); } });
  keys.replaceChildren(box);
  if (open && !known) { unfold(true); field.focus(); }
}
showKey();
document.addEventListener("pmx-key", () => showKey(true));
document.addEventListener("pmx-answer", (event) => {
  const plan = event.detail.plan, summary = keys.querySelector("summary");
  if (plan && summary) summary.textContent = key.get() ? "Key: " + plan : "Open: " + plan;
});
document.addEventListener("click", (event) => {
  const box = keys.querySelector("details[open]");
  if (box && !box.contains(event.target) && !event.target.closest(".state")) box.open = false;
});

// Search shows results while the user types.
const finder = document.querySelector(".finder");
const field = el("input", { id: "find", type: "search", role: "combobox", "aria-label": "Search events, markets, wallets and cities", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": "found", placeholder: matchMedia("(min-width: 48rem)").matches ? "Markets, wallets, cities" : "Search", autocomplete: "off", spellcheck: "false" });
const found = el("ul", { id: "found", role: "listbox", "aria-label": "Found", hidden: true });
const told = el("p", { class: "unseen", role: "status" });
let asked = 0, chosen = -1;
const show = (open) => { found.hidden = !open; field.setAttribute("aria-expanded", String(open)); if (!open) { chosen = -1; field.removeAttribute("aria-activedescendant"); } };
const option = (path, title, about) => el("li", { role: "option", id: "found" + found.children.length, "aria-selected": "false" }, el("a", { href: path, tabindex: -1 }, el("span", { "data-text": true }, title), el("small", { "data-text": true }, about)));
const note = (text) => { found.replaceChildren(el("li", { role: "option", "aria-disabled": "true", "aria-selected": "false" }, text)); told.textContent = text; };
const paths = { city: "/weather/", trader: "/trader/", event: "/event/", market: "/market/" };
const kinds = { city: "city", trader: "wallet", event: "event", market: "market" };
async function find() {
  const q = field.value.trim(), mine = ++asked;
  if (q.length < 2) { show(false); return; }
  // A complete address leads to its page, even if it has not traded.
  const whole = /^0x[0-9a-f]+$/i.test(q) && { 42: "trader", 66: "market" }[q.length];
  let rows = whole ? [{ kind: whole, id: q.toLowerCase(), title: short(q.toLowerCase()) }] : [];
  try {
    if (!whole) rows = (await ask(address("/search", { q, limit: 4 }))).data;
    if (mine !== asked) return;
    const order = Object.keys(paths);
    found.replaceChildren();
    for (const r of [...rows].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))) {
      found.append(option(paths[r.kind] + encodeURIComponent(r.id), r.kind === "trader" && r.title === r.id ? short(r.id) : r.title || short(r.id), [kinds[r.kind], r.category, r.status].filter(Boolean).join(", ")));
    }
    told.textContent = rows.length + " found";
    if (!rows.length) note(/^0x/i.test(q) && q.length < 6 ? "Enter at least four digits of an address." : "Nothing found. Enter words of a title, a city, or an address beginning with 0x.");
  } catch (problem) {
    if (mine !== asked) return;
    note(problem.status === 401 ? "Search needs a key: enter one on the right." : problem.message);
  }
  chosen = -1;
  field.removeAttribute("aria-activedescendant");
  show(true);
}
let timer;
field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(find, 160); });
field.addEventListener("keydown", (event) => {
  const links = [...found.querySelectorAll("[role=option] a")];
  if (event.key === "Escape") { show(false); return; }
  if (event.key === "Enter" && !found.hidden && links.length) { event.preventDefault(); location.href = links[Math.max(0, chosen)].href; return; }
  if ((event.key !== "ArrowDown" && event.key !== "ArrowUp") || !links.length) return;
  event.preventDefault();
  if (found.hidden) { show(true); return; }
  chosen = chosen < 0 && event.key === "ArrowUp" ? links.length - 1 : (chosen + (event.key === "ArrowDown" ? 1 : -1) + links.length) % links.length;
  links.forEach((a, i) => a.parentNode.setAttribute("aria-selected", String(i === chosen)));
  links[chosen].parentNode.scrollIntoView({ block: "nearest" });
  field.setAttribute("aria-activedescendant", links[chosen].parentNode.id);
});
field.addEventListener("blur", () => setTimeout(() => { if (!finder.contains(document.activeElement)) show(false); }, 150));
finder.append(field, found, told);

// Light, dark, or the setting of the device.
const look = byId("look");
const theme = () => document.documentElement.dataset.theme || "auto";
function looks() {
  look.replaceChildren("Colours", el("div", { class: "choice", role: "group", "aria-label": "Colours" }, ["auto", "light", "dark"].map((name) => el("button", { type: "button", class: "small", "aria-pressed": String(theme() === name), onclick: () => {
    if (name === "auto") delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = name;
    try { localStorage.setItem("pmx-theme", name); } catch { /* storage is switched off */ }
    looks();
  } }, name))), el("button", { type: "button", class: "quiet small", onclick: help }, "Keyboard"));
}
looks();
let before;
addEventListener("beforeprint", () => { before = theme(); document.documentElement.dataset.theme = "light"; });
addEventListener("afterprint", () => { if (before === "auto") delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = before; });

// Keyboard shortcuts of a single key, which can be switched off.
const single = { get on() { try { return localStorage.getItem("pmx-single-keys") !== "off"; } catch { return true; } } };
const places = { h: "/", t: "/traders", m: "/markets", w: "/weather", s: "/screener", d: "/docs" };
const known = (path) => path === "/" || document.querySelector('#places a[href="' + path + '"]');
const rows = () => [...document.querySelectorAll("main table.rows tbody tr")].filter((r) => r.offsetParent && r.querySelector("a"));
let started = 0;
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !single.on || event.target.closest("input, select, textarea, [contenteditable]")) return;
  if (event.key === "?") return help();
  if (started && Date.now() - started < 1500 && places[event.key] && known(places[event.key])) { location.href = places[event.key]; return; }
  started = event.key === "g" ? Date.now() : 0;
  const press = (selector) => { const b = document.querySelector(selector); if (b) b.click(); };
  switch (event.key) {
  case "/": event.preventDefault(); field.focus(); break;
  case "j": case "k": {
    const list = rows(), now = list.findIndex((r) => r.contains(document.activeElement));
    const next = list[Math.max(0, Math.min(list.length - 1, now + (event.key === "j" ? 1 : -1)))];
    if (next) next.querySelector("a").focus();
    break;
  }
  case "1": case "2": case "3": press("main .choice:not(.ways) button:nth-child(" + event.key + ")"); break;
  case "t": press("main details.sheet > summary"); break;
  case "c": press('main [data-tool="curl"]'); break;
  case ".": press('main [data-tool="JSON"]'); break;
  }
});

function help() {
  const old = document.querySelector("dialog.help");
  if (old) { old.showModal(); return; }
  const list = [["/", "search"], ["g then h, t, m, w, s, d", "home, traders, markets, weather, screener, docs"], ["j, k", "next and previous row; Enter opens it"], ["1, 2, 3", "first choices of the page, such as the period"], ["t", "plot as a table"], ["c, .", "first section as curl, as JSON"], ["arrows", "move within a plot that has the focus"], ["Esc", "close"]];
  const box = el("input", { type: "checkbox", onchange: () => { try { localStorage.setItem("pmx-single-keys", box.checked ? "on" : "off"); } catch { /* storage is switched off */ } } });
  box.checked = single.on;
  const dialog = el("dialog", { class: "help", "aria-labelledby": "help-h" }, el("h2", { id: "help-h" }, "Keyboard"),
    el("table", {}, el("tbody", {}, list.map(([k, what]) => el("tr", {}, el("th", { scope: "row" }, el("kbd", {}, k)), el("td", {}, what))))),
    el("label", { class: "tick" }, box, " shortcuts of a single key are on"), el("form", { method: "dialog" }, el("button", { type: "submit" }, "Close")));
  document.body.append(dialog);
  dialog.showModal();
}

// Copying a number copies its exact text.
document.addEventListener("copy", (event) => {
  const selection = getSelection(), at = selection.anchorNode && selection.anchorNode.parentElement, exact = at && at.closest("[data-v]");
  if (exact && exact.contains(selection.focusNode) && event.clipboardData) { event.clipboardData.setData("text/plain", exact.dataset.v); event.preventDefault(); }
});
