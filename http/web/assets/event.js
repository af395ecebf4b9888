// An event: its markets and who trades them.
import { address, ask, el, market, num, fromPath, put, short, soonOf, title, explorer, wallet, when } from "./core.js";
import { fact, facts, known, panel, state, table } from "./ui.js";
import { profitColumn } from "./profit.js";
import { plot } from "./plot.js";

const id = encodeURIComponent(fromPath(2));
const head = el("h1", {}, "Event");
title("Event");
const sums = panel({
  name: "All its markets", cls: "first", size: 90, url: () => address("/event/" + id), lone: true,
  draw: ({ data: e }, { lead }) => {
    head.replaceChildren(el("span", { "data-text": true }, e.title || e.event_slug || fromPath(2)));
    title(e.title || "Event");
    put(lead, el("span", { "data-text": true }, e.category || "no category"), ", ", e.status, e.end_date ? [e.status === "open" ? ", ends " : ", ended ", when(e.end_date)] : "");
    return facts(fact("Volume", num(e.volume, "brief"), "USD"), fact("In a day", num(e.volume_24h, "usd0"), "USD"), fact("Trades", num(e.trades)), fact("Traders", num(e.traders)), fact("Markets", num(e.markets), num(e.open_markets), " open"));
  },
});
const pages = (path, per) => {
  let taken = per, total = 0;
  return {
    url: () => address(path, { limit: per }),
    first: (a) => { taken = a.data.length; total = Number(a.total); },
    more: { left: () => taken < total, load: async () => { const a = await ask(address(path, { limit: per, offset: taken })); taken += a.data.length || total; return a.data; } },
  };
};
const ofMarkets = pages("/event/" + id + "/markets", 25);
const markets = panel({
  name: "Markets", size: 300, url: ofMarkets.url,
  draw: (a) => {
    ofMarkets.first(a);
    return table({ name: "Markets of the event", rows: a.data, per: 25, order: "volume", more: ofMarkets.more, columns: [
      { name: "Market", head: true, phone: "main", cell: market }, { name: "Price", num: true, phone: "key", sort: (r) => r.price, cell: (r) => num(r.price, "cents", "not traded") }, { name: "in a day", num: true, sort: (r) => r.price_change_24h, cell: (r) => num(r.price_change_24h, "move", "no price a day before") },
      { name: "Volume, USD", money: (r) => r.volume }, { name: "Traders", num: true, sort: (r) => r.traders, cell: (r) => num(r.traders) }, { name: "Status", bare: true, cell: (r) => r.status }, { name: "Ends", num: true, phone: "hide", cell: (r) => when(r.end_date, "date") }] });
  },
});
// The largest markets over time, one below the other on one axis.
const most = 6;
let largest = "";
const candlesOf = (m) => address("/market/" + m + "/candles", { interval: "6h", outcome: 0, limit: 500 });
const prices = panel({
  name: "Prices over time", size: 420, url: () => (largest ? candlesOf(largest) : ofMarkets.url()), lone: true,
  draw: async (_, { lead }) => {
    const { data: rows } = await ask(ofMarkets.url());
    const shown = rows.slice(0, most).filter((m) => m.trades > 0);
    if (!shown.length) return state("empty", "Nothing was traded yet.");
    largest = shown[0].condition_id;
    const all = await Promise.all(shown.map((m) => ask(candlesOf(m.condition_id))));
    const times = [...new Set(all.flatMap((a) => a.data.map((c) => c.ts)))].sort();
    if (!times.length) return state("empty", "Nothing was traded in the time that the plan shows.");
    const cut = all.find((a) => a.truncated && a.max_history_days) || all[0];
    put(lead, "of the first outcome of the ", rows.length > shown.length ? "largest markets" : "markets", ", by six hours", cut.truncated ? limitText(cut) : "");
    const ends = shown.map((m) => m.resolved_at).filter(Boolean).sort();
    return plot({ name: "Prices of the markets of the event", times, cut, marks: ends.length ? [{ time: ends.at(-1), text: "resolved" }] : [],
      panes: shown.map((m, n) => {
        const by = new Map(all[n].data.map((c) => [c.ts, c.close]));
        return { height: 84, form: "cents", range: [0, 1], axis: (v) => (v === 0 || v === 0.5 || v === 1 ? 100 * v + "¢" : ""), label: m.question || short(m.condition_id), series: [{ name: m.question || short(m.condition_id), join: true, values: times.map((t) => by.get(t) ?? null) }] };
      }) });
  },
});
const limitText = (a) => [", the last ", num(a.max_history_days), " days"];
const ofTraders = pages("/event/" + id + "/traders", 25);
const traders = panel({
  name: "Traders", size: 300, url: ofTraders.url,
  draw: (a, { heading }) => {
    heading.replaceChildren("Traders ", el("small", {}, num(a.total)));
    ofTraders.first(a);
    return a.data.length ? table({ name: "Traders of the event", rows: a.data, per: 25, order: "rank", more: ofTraders.more, columns: [
      { name: "#", num: true, cls: "rank", cell: (r) => num(r.rank) }, { name: "Wallet", head: true, phone: "main", cell: wallet }, profitColumn(), { name: "Volume", money: (r) => r.volume }, { name: "Fills", num: true, sort: (r) => r.trades, cell: (r) => num(r.trades) },
      { name: "Return on buys", num: true, sort: (r) => r.roi, cell: (r) => num(r.roi, "ratio", "nothing was bought") }, { name: "Markets won", num: true, sort: (r) => r.winning_markets, cell: (r) => [num(r.winning_markets), el("small", {}, " of ", num(r.resolved_markets))] }] }) : state("empty", "Nobody traded it yet.");
  },
});
known(address("/event/" + id));
explorer().replaceChildren(head, sums, prices, markets, traders);
for (const p of [sums, prices, markets, traders]) p.load();
for (let n = 0; n < most; n++) soonOf(ofMarkets.url(), (field) => candlesOf(field(n + ".condition_id")));
