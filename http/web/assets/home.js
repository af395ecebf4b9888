// The venue today.
import { address, ask, el, go, here, market, num, soon, title, explorer, wallet, when } from "./core.js";
import { choice, fact, facts, panel, state, table } from "./ui.js";
import { plot } from "./plot.js";
import { leaderboardUrl, plainLeaderboard, profitColumn, split } from "./profit.js";
import { spark } from "./spark.js";
import { cityCell } from "./cells.js";

let period = here().get("period") || "7d";
title("The venue today");

const intro = el("p", { class: "lead" });
const growth = panel({
  name: "The last seven days", cls: "first", size: 90, lone: true, url: () => address("/stats/growth", { days: "false" }),
  draw: async ({ data: g }, { lead }) => {
    const { data: s } = await ask(address("/stats"));
    const w = g.week_over_week;
    intro.replaceChildren(num(s.volume, "brief"), " USD traded by ", num(s.traders), " wallets", ...(s.first_trade_at ? [" since ", when(s.first_trade_at, "day")] : []), ". ", num(s.markets), " markets are known.");
    if (w.window_end) lead.replaceChildren("to ", when(w.window_end), ", compared with the seven days before");
    const week = g.weeks.findLast((x) => !x.is_partial);
    const change = (x) => [num(x, "change", "nothing to compare with")];
    return facts(fact("Volume", num(w.volume, "brief"), "USD ", change(w.volume_change_pct)), fact("Trades", num(w.trades), change(w.trades_change_pct)), fact("New wallets", num(w.new_wallets), change(w.new_wallets_change_pct)),
      fact("Wallets trading", num(s.active_traders_7d), week ? [change(week.active_wallets_change_pct), " in the last whole week"] : null), fact("Markets traded", num(s.active_markets_7d)),
      fact(el("span", { title: "listed, and neither closed nor resolved, according to recorded times" }, "Open markets"), num(g.open_markets.count), change(g.open_markets.change_pct), g.open_markets.unknown > 0 ? el("span", { title: "no source says when they were listed or ended" }, " and ", num(g.open_markets.unknown), " more of unknown times") : null));
  },
});

const meanings = { "PMX-Volume": "all volume", "PMX-Whale": "large orders", "PMX-Politics": "volume in politics", "PMX-Crypto": "volume in crypto", "PMX-Sentiment": "buying of Yes" };
const history = () => address("/pmx-index/histories", { interval: "1d", limit: 90 });
const index = panel({
  name: "PMX index", size: 300, url: () => address("/pmx-index"), lone: true,
  draw: async ({ data }, { lead }) => {
    const c = data.composite;
    lead.replaceChildren(el("span", { "data-fixed": true }, "100"), " is the venue's own normal. ", el("a", { href: "/docs/text/index" }, "The method"));
    const past = await ask(history());
    const lines = new Map(past.data.map((d) => [d.name, d.points])), all = lines.get("PMX-Composite");
    if (!all.length) return state("empty", "There is no data yet.");
    return el("div", { class: "cols" },
      el("div", {}, el("p", { class: "big" }, num(c.value, "index", c.null_reason), el("small", {}, " ", num(c.change_24h, "delta", "no value a day before"), " in a day")),
        plot({ name: "PMX composite by day", times: all.map((p) => p.time), partial: all.map((p) => p.is_partial), panes: [{ height: 170, form: "index", base: 100, series: [{ name: "composite", values: all.map((p) => p.value) }] }] })),
      table({ name: "Parts of the index", rows: data.indices, per: 5, columns: [
        { name: "Part", head: true, phone: "main", cell: (r) => [r.name.replace("PMX-", ""), el("small", {}, " ", meanings[r.name] || "")] },
        { name: "last month", cell: (r) => spark(lines.get(r.name).slice(-30).map((p) => p.value), 100) },
        { name: "now", num: true, phone: "key", cell: (r) => num(r.value, "index", r.null_reason) }, { name: "in a day", num: true, cell: (r) => num(r.change_24h, "delta", "no value a day before") }] }));
  },
});

const traders = panel({
  name: "Best traders", note: "by profit in this time", size: 480, url: () => leaderboardUrl({ period: period === "7d" ? "" : period, limit: 8 }), instead: plainLeaderboard,
  draw: ({ data }) => (data.length ? [table({ name: "Best traders", rows: data, per: 8, columns: [
    { name: "Wallet", head: true, phone: "main", cell: (r) => [wallet(r), el("small", { class: "split over" }, split(r))] },
    { ...profitColumn(), bar: false, sort: null, below: null }] }), el("p", {}, el("a", { href: "/traders" }, "All traders"))] : state("empty", "Nobody traded in this time.")),
});
const markets = panel({
  name: "Most traded", note: "by what takers paid", size: 480, url: () => address("/leaderboard/markets", { period: period === "7d" ? "" : period, limit: 8 }),
  draw: ({ data }) => (data.length ? [table({ name: "Most traded", rows: data, per: 8, columns: [
    { name: "Market", head: true, phone: "main", cell: market }, { name: "Volume, USD", phone: "key", money: (r) => r.volume, sort: null }] }), el("p", {}, el("a", { href: "/markets" }, "All markets"))] : state("empty", "Nothing was traded in this time.")),
});
const moves = panel({
  name: "Large orders", size: 480, url: () => address("/whales/moves", { limit: 8 }),
  draw: ({ data, threshold_usd: least }, { lead }) => {
    lead.replaceChildren("of at least ", num(least, "usd0"), " USD");
    return data.length ? [table({ name: "Large orders", rows: data, per: 8, columns: [
      { name: "Order", head: true, phone: "main", cell: (r) => [wallet(r), r.side === "BUY" ? " buys " : " sells ", el("span", { "data-text": true }, r.outcome || "an outcome"), " at ", num(r.price, "cents"), el("small", { class: "split" }, market(r), " ", when(r.ts))] },
      { name: "USD", phone: "key", money: (r) => r.usd, sort: null }] }), el("p", {}, el("a", { href: "/whales" }, "All large orders"))] : state("empty", "No order of that size yet.");
  },
});
const weather = panel({
  name: "Weather today", size: 200, url: () => address("/weather/cities"), lone: true,
  draw: ({ data }, { lead }) => {
    lead.textContent = "forecast of the day's high compared with its normal, in the unit of the city's markets";
    const open = data.filter((c) => c.open_count > 0).sort((a, b) => b.volume_24h - a.volume_24h).slice(0, 21);
    return open.length ? [el("ul", { class: "grid-cells small" }, open.map((c) => el("li", {}, cityCell(c, "tmax", true)))), el("p", {}, el("a", { href: "/weather" }, "All cities"))] : state("empty", "No weather market is open.");
  },
});
explorer().replaceChildren(
  el("h1", {}, "The venue today"), intro, growth, index,
  el("div", { class: "filters" }, el("span", { class: "note" }, "Leaderboards of the last"), choice("Period of the leaderboards", [["1d", "1 d"], ["7d", "7 d"], ["30d", "30 d"]], period, (v) => { period = v; go({ period: v === "7d" ? "" : v }); traders.load(); markets.load(); })),
  el("div", { class: "cols three" }, traders, markets, moves), weather);
soon(address("/stats"), history());
for (const p of [growth, index, traders, markets, moves, weather]) p.load();
