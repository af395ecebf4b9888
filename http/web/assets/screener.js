// Markets by any of the API's filters, which are in the address.
import { address, ask, el, go, here, market, num, soon, title, explorer, when } from "./core.js";
import { categories, panel, pick, state, table } from "./ui.js";

title("Screener");
const groups = [
  ["Words and kind", [["q", "words", "text"], ["category", "category", ["", ...categories]], ["exclude_category", "not in category", ["", ...categories]], ["status", "status", ["", "open", "closed", "resolved"]], ["tag", "tag", "text"], ["exclude_tag", "without the tag", "text"], ["neg_risk", "one of several outcomes", ["", "true", "false"]], ["has_resolution", "resolution known", ["", "true", "false"]], ["event_id", "event id", "text"]]],
  ["Volume and traders", [["volume_24h", "volume in a day, USD"], ["volume_7d", "volume in seven days, USD"], ["volume_30d", "volume in thirty days, USD"], ["volume", "volume of all time, USD"], ["traders_24h", "traders in a day"], ["traders", "traders of all time"], ["trades", "trades of all time"]]],
  ["Price", [["price", "price of the first outcome, in dollars"], ["price_change_24h", "change in a day"], ["spread", "spread"], ["liquidity", "liquidity, USD"], ["whale_flow_24h", "large orders in a day, USD"]]],
  ["Time", [["ends_after", "ends after", "date"], ["ends_before", "ends before", "date"], ["created_after", "created after", "date"], ["created_before", "created before", "date"]]],
];
const sorts = [["volume_24h", "volume in a day"], ["volume_7d", "volume in seven days"], ["volume_30d", "volume in thirty days"], ["volume", "volume ever"], ["liquidity", "liquidity"], ["traders_24h", "traders in a day"], ["traders", "traders ever"], ["trades", "trades ever"], ["price", "price"], ["price_change_24h", "change in a day"], ["whale_flow_24h", "large orders"], ["spread", "spread"], ["created_at", "created"], ["end_date", "end"], ["resolved_at", "resolved"], ["last_trade_at", "last trade"]];
let filters = Object.fromEntries([...new Set(here().keys())].filter((k) => k !== "rows").map((k) => [k, here().getAll(k)]));
const names = new Map();

function field(name, label, kind) {
  names.set(name, label);
  const set = (value) => { if (value === "") delete filters[name]; else filters[name] = [value]; again(); };
  const now = (filters[name] || [""])[0];
  if (Array.isArray(kind)) return el("label", {}, label, el("select", { name, onchange: (e) => set(e.target.value) }, kind.map((v) => el("option", { value: v, selected: v === now }, v || "any"))));
  return el("label", {}, label, el("input", { name, type: kind || "number", step: "any", value: now, onchange: (e) => set(e.target.value.trim()) }));
}
const range = ([name, label]) => el("fieldset", {}, el("legend", { class: "note" }, label), el("div", { class: "pair" }, field("min_" + name, "from"), field("max_" + name, "to")));
const form = () => groups.map(([name, list], i) => el("details", { class: "sheet", open: i === 0 && innerWidth > 960 || list.some(([n]) => filters[n] || filters["min_" + n] || filters["max_" + n]) }, el("summary", {}, name), list.map((f) => (f.length === 3 ? field(...f) : range(f)))));
const side = el("form", { class: "side", "aria-label": "Filters", onsubmit: (e) => e.preventDefault() });
const chips = el("div", { class: "chips" });
const label = (k) => { const base = k.replace(/^(min|max)_/, ""); return base === k ? names.get(k) || k : base.replaceAll("_", " ") + (k.startsWith("min_") ? " from" : " to"); };

function draw() {
  names.clear();
  const held = side.contains(document.activeElement) ? document.activeElement.name : "";
  side.replaceChildren(...form());
  if (held) side.elements[held]?.focus();
  const set = Object.keys(filters).filter((k) => k !== "sort" && k !== "order");
  chips.replaceChildren(...set.map((k) => el("button", { type: "button", class: "quiet small", "data-fixed": true, title: "Remove the filter", onclick: () => { delete filters[k]; again(); } }, label(k) + " " + filters[k].join(", ") + " ✕")),
    ...(set.length > 1 ? [el("button", { type: "button", class: "quiet small", onclick: () => { filters = {}; again(); } }, "Remove all")] : []));
}
const url = (cursor) => address("/screener", { ...filters, limit: 25, cursor });
let next = null;
const summary = () => { const { sort: _, order: __, ...rest } = filters; return address("/screener/summary", rest); };
const list = panel({
  name: "Markets", cls: "first", size: 900, url: () => url(),
  acts: [pick("Sorted by", sorts, (filters.sort || ["volume_24h"])[0], (v) => put("sort", v, "volume_24h")), pick("First", [["desc", "largest or latest"], ["asc", "smallest or earliest"]], (filters.order || ["desc"])[0], (v) => put("order", v, "desc"))],
  draw: async (a, { heading, lead }) => {
    next = a.next_cursor;
    const { data: all } = await ask(summary());
    heading.replaceChildren(num(all.count), all.count == 1 ? " market" : " markets");
    lead.replaceChildren(num(all.volume_24h, "usd0"), " USD in a day, ", num(all.volume, "brief"), " ever");
    if (!a.data.length) return state("empty", "No market matches. Remove a filter.");
    return table({ name: "Matching markets", rows: a.data, per: 25, order: "as chosen", ranked: true, more: { left: () => Boolean(next), load: async () => { const more = await ask(url(next)); next = more.next_cursor; return more.data; } }, columns: [
      { name: "Market", head: true, phone: "main", cell: market }, { name: "Price", num: true, phone: "key", sort: (r) => r.price, cell: (r) => num(r.price, "cents", "not traded") },
      { name: "in a day", num: true, sort: (r) => r.price_change_24h, cell: (r) => num(r.price_change_24h, "move", "no price a day before") }, { name: "Spread", num: true, sort: (r) => r.spread, cell: (r) => num(r.spread, "cents", "no quote on both sides") },
      { name: "Volume in a day, USD", money: (r) => r.volume_24h }, { name: "ever", money: (r) => r.volume }, { name: "Traders in a day", num: true, sort: (r) => r.traders_24h, cell: (r) => num(r.traders_24h) },
      { name: "Status", bare: true, cell: (r) => r.status }, { name: "Ends", num: true, phone: "hide", sort: (r) => r.end_date && Date.parse(r.end_date), cell: (r) => when(r.end_date, "date") }] });
  },
});
function put(name, value, usual) {
  if (value === usual) delete filters[name]; else filters[name] = [value];
  again();
}
const load = () => { soon(summary()); list.load(); };
function again() { go(filters); draw(); load(); }
explorer().replaceChildren(el("div", { class: "title" }, el("h1", {}, "Screener"), el("div", { class: "acts" }, el("a", { class: "button quiet", href: "/data?dataset=markets" }, "All as a file"))),
  el("div", { class: "with-side" }, side, el("div", {}, chips, list)));
draw();
load();
