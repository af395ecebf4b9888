// A market: its prices, who trades it, and how it resolves.
import { address, el, has, num, part, put, title, view, wallet, when } from "./core.js";
import { choice, copier, fact, facts, panel, state, table } from "./ui.js";
import { plot } from "./plot.js";

const id = part(2).toLowerCase();
const head = el("h1", {}, "Market");
const about = el("p", { class: "note" });
title("Market");
const url = () => address("/market/" + id + "/overview");
const text = (t) => el("span", { "data-text": true }, t);

const now = panel({
  name: "Now", cls: "first", size: 120, url, lone: true,
  draw: ({ data: m }, { heading }) => {
    head.replaceChildren(el("span", { "data-text": true }, m.question || id));
    title(m.question || "Market");
    put(about, m.event_slug ? el("a", { href: "/event/" + encodeURIComponent(m.event_slug), "data-text": true }, m.event_title || m.event_slug) : "", m.event_slug ? " · " : "", text(m.category || "no category"), " · ", m.status, m.status === "open" ? [", ends ", when(m.end_date)] : m.resolution && m.resolution.resolved_at ? [", resolved ", when(m.resolution.resolved_at)] : "", " ", copier(id, "Copy id"));
    heading.textContent = m.status === "open" ? "Now" : "At the end";
    return [
      facts(m.outcomes.map((o) => fact(text(o.outcome || "an outcome"), o.payout !== null ? [num(o.payout, "share"), " paid"] : num(o.price, "cents", "not traded")))),
      facts(fact("Price in a day", num(m.price_change_24h, "move", "no price a day before")), fact("Bid", num(m.best_bid, "cents", "no bid")), fact("Ask", num(m.best_ask, "cents", "no ask")), fact("Spread", num(m.spread, "cents", "one side is missing"), m.quoted_at ? ["quoted ", when(m.quoted_at)] : null),
        fact("Volume", num(m.volume, "brief"), "USD"), fact("Volume in a day", num(m.volume_24h, "usd0"), "USD"), fact("Trades", num(m.trades)), fact("Traders", num(m.traders))),
    ];
  },
});

let interval = "1d";
const candles = has("getMarketCandles") ? panel({
  name: "Price", size: 400, url: () => address("/market/" + id + "/candles", { interval, limit: 200 }),
  acts: choice("Candle", [["1h", "1 h"], ["6h", "6 h"], ["1d", "1 d"]], interval, (v) => { interval = v; candles.load(); }),
  draw: (a, { lead }) => {
    if (!a.data.length) return state("empty", "Nothing was traded in the time that the plan shows.");
    lead.textContent = "last price of taker fills in each step; lines join the steps that had any";
    const times = [...new Set(a.data.map((c) => c.ts))].sort(), outcomes = [...new Set(a.data.map((c) => Number(c.outcome_index)))].sort().slice(0, 2);
    const by = new Map(a.data.map((c) => [c.outcome_index + " " + c.ts, c]));
    const name = (n) => (a.outcomes && a.outcomes.find((o) => o.outcome_index == n)?.outcome) || "outcome";
    return plot({ name: "Price of the outcomes", times, panes: [
      { height: 220, form: "cents", range: [0, 1], axis: (v) => Math.round(100 * v) + "¢", series: outcomes.map((n, i) => ({ name: name(n), ink: i, join: true, values: times.map((t) => by.get(n + " " + t)?.close ?? null) })) },
      { height: 90, form: "usd0", zero: true, series: [{ name: "volume of " + name(outcomes[0]), kind: "columns", values: times.map((t) => by.get(outcomes[0] + " " + t)?.volume ?? null) }] }] });
  },
}) : null;

const flow = panel({
  name: "Large orders by hour", size: 200, url: () => address("/whales/flow", { market_id: id, period: "30d", limit: 1 }), lone: true,
  draw: (a, { lead }) => {
    lead.replaceChildren("of at least ", num(a.threshold_usd, "usd0"), " USD, last month, towards the first outcome");
    if (a.moves == 0) return state("empty", "No order of that size in this market.");
    return plot({ name: "Net flow of large orders by hour", times: a.series.map((s) => s.start), panes: [{ height: 130, form: "profit0", zero: true, series: [{ name: "net flow, USD", kind: "bars", values: a.series.map((s) => s.net_flow) }] }] });
  },
});
const rules = panel({
  name: "How it resolves", url, lone: true, size: 100,
  draw: ({ data: m }) => [
    m.resolution && m.resolution.resolved_at ? el("p", {}, "Resolved ", when(m.resolution.resolved_at), m.resolution.winner ? [": ", text(m.resolution.winner)] : "", " (time by ", text(m.resolution.resolved_at_source || "nobody"), ", payouts by ", text(m.resolution.source || "nobody"), ").") : null,
    m.resolution_source ? el("p", {}, "Source: ", text(m.resolution_source)) : null,
    m.description ? el("p", { class: "long", "data-text": true }, m.description) : state("empty", "The files that were imported have no rules of this market.")],
});
const fills = panel({
  name: "Newest fills", url, lone: true, size: 300,
  draw: ({ data: m }) => (m.recent_fills.length ? table({ name: "Newest fills", rows: m.recent_fills, per: 20, order: "newest", columns: [
    { name: "UTC", cell: (r) => when(r.ts) }, { name: "Wallet", head: true, phone: "main", cell: wallet }, { name: "Outcome", cell: (r) => text(r.outcome || "–") }, { name: "Side", cell: (r) => (r.side === "BUY" ? "buys" : "sells") },
    { name: "Price", num: true, sort: (r) => r.price, cell: (r) => num(r.price, "cents") }, { name: "Shares", num: true, cell: (r) => num(r.shares, "usd2") }, { name: "USD", num: true, phone: "key", sort: (r) => r.usd, cell: (r) => num(r.usd, "usd2") }, { name: "Role", cell: (r) => r.role || "–" }] }) : state("empty", "It was not traded yet.")),
});
const parts = [now, candles, flow, rules, fills].filter(Boolean);
view().replaceChildren(el("div", { class: "title" }, head), about, ...parts);
for (const p of parts) p.load();
