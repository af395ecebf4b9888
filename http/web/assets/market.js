// A market: its prices, who trades it, and how it resolves.
import { address, ask, el, go, here, many, num, fromPath, put, sum, title, explorer, wallet, when } from "./core.js";
import { choice, copier, fact, facts, known, orderColumn, panel, pick, state, table } from "./ui.js";
import { plot } from "./plot.js";

const id = fromPath(2).toLowerCase();
const head = el("h1", {}, "Market");
const about = el("p", { class: "note" });
title("Market");
const url = () => address("/market/" + id + "/overview");
const cents = (v) => Math.round(1000 * v) / 10 + "¢";
const text = (t) => el("span", { "data-text": true }, t);
const outcomes = (a) => a.outcomes.map((o) => [String(o.outcome_index), o.outcome || "an outcome"]);
const among = (name, names, now, change) => (names.length > 2 ? pick : choice)(name, names, now, change);
const most = 5; // lines that can be told apart

const now = panel({
  name: "Now", cls: "first", size: 120, url, lone: true,
  draw: ({ data: m }, { heading }) => {
    head.replaceChildren(el("span", { "data-text": true }, m.question || id));
    title(m.question || "Market");
    put(about, m.event_slug ? el("a", { href: "/event/" + encodeURIComponent(m.event_slug), "data-text": true }, m.event_title || m.event_slug) : "", m.event_slug ? " · " : "", text(m.category || "no category"), " · ", m.status, m.status === "open" ? [", ends ", when(m.end_date)] : m.resolution && m.resolution.resolved_at ? [" ", when(m.resolution.resolved_at)] : "", " ", copier(id, "Copy id"));
    const running = m.status === "open", paid = m.outcomes.some((o) => o.payout !== null), quoted = m.best_bid !== null || m.best_ask !== null;
    heading.textContent = running ? "Now" : "At the end";
    const called = (o) => text(o.outcome || "an outcome"), worth = (o) => (paid ? num(o.payout, "share", "not known") : num(o.price, "cents", "not traded"));
    const [first, ...others] = paid ? [...m.outcomes].sort((a, b) => b.payout - a.payout) : m.outcomes;
    return [
      first ? el("p", { class: "big" }, called(first), paid ? null : [" ", worth(first)], el("small", {}, " ", paid ? ["paid ", worth(first)] : m.price_change_24h !== null ? [num(m.price_change_24h, "move"), " in a day"] : first.price === null ? null : "at the last trade", others.map((o) => [", ", called(o), " ", worth(o)]))) : null,
      facts(quoted ? [fact("Bid", num(m.best_bid, "cents", "no bid")), fact("Ask", num(m.best_ask, "cents", "no ask")), fact("Spread", num(m.spread, "cents", "one side is missing"), m.quoted_at ? ["quoted ", when(m.quoted_at)] : null)] : running ? fact("Bid and ask", el("span", { class: "none" }, "no quote")) : null,
        fact("Volume", num(m.volume, "brief"), "USD"), running ? fact("Volume in a day", num(m.volume_24h, "usd0"), "USD") : null, fact("Trades", num(m.trades)), fact("Traders", num(m.traders))),
    ];
  },
});

const q = here();
let interval = q.get("interval") || "6h", shape = q.get("shape") || "line", outcome = q.get("outcome") || "0";
const shown = () => go({ interval: interval === "6h" ? "" : interval, shape: shape === "line" ? "" : shape, outcome: outcome === "0" ? "" : outcome, flow: span === "7d" ? "" : span, step: step, holders: held === "0" ? "" : held });
const again = () => { shown(); candles.load(); };
const ofOutcome = el("span", {});
const candles = panel({
  name: "Price", size: 400, url: () => address("/market/" + id + "/candles", { interval: interval === "1h" ? "" : interval, limit: 1000 }),
  acts: [ofOutcome, choice("Shape", [["line", "line"], ["candles", "candles"]], shape, (v) => { shape = v; again(); }), choice("Step", [["1h", "1 h"], ["6h", "6 h"], ["1d", "1 d"]], interval, (v) => { interval = v; again(); })],
  draw: async (a, { lead }) => {
    if (!a.data.length) return state("empty", "Nothing was traded in the time that the plan shows.");
    const { data: m } = await ask(url());
    const times = [...new Set(a.data.map((c) => c.ts))].sort(), by = new Map(a.data.map((c) => [c.outcome_index + " " + c.ts, c]));
    const of = (n, field) => times.map((t) => by.get(n + " " + t)?.[field] ?? null);
    const names = outcomes(a), traded = (n) => a.data.reduce((all, c) => all + (c.outcome_index == n ? Number(c.volume) : 0), 0);
    const least = names.map(([n]) => traded(n)).sort((x, y) => y - x)[most - 1] ?? 0, lines = names.filter(([n]) => traded(n) >= least).slice(0, most);
    const name = Object.fromEntries(names)[outcome] || "an outcome";
    put(ofOutcome, shape === "candles" ? among("Outcome", names, outcome, (v) => { outcome = v; again(); }) : "");
    put(lead, shape === "candles" ? ["of ", text(name), "; hollow: the price rose, filled: it fell; only taker fills"] : ["the last price paid by a taker in each step", names.length > most ? el("span", { "data-fixed": true }, "; the " + most + " most traded of " + names.length + " outcomes, candles show each") : null]);
    const end = m.resolution && m.resolution.resolved_at;
    const price = shape === "candles"
      ? { height: 240, form: "cents", axis: cents, series: [{ name, kind: "candles", values: of(outcome, "close"), open: of(outcome, "open"), high: of(outcome, "high"), low: of(outcome, "low") }] }
      : { height: 240, form: "cents", range: [0, 1], axis: cents, series: lines.map(([n, called], i) => ({ name: called, ink: i, join: true, values: of(n, "close") })) };
    return plot({ name: "Price of the outcomes", times, cut: a, partial: times.map((t) => a.data.some((c) => c.ts === t && c.is_partial)), marks: end ? [{ time: end, text: "resolved" + (m.resolution.winner ? ": " + m.resolution.winner : "") }] : [],
      panes: [price, { height: 80, form: "usd", zero: true, label: "volume, USD", series: [{ name: "volume, USD", kind: "columns", values: times.map((t) => sum(names.map(([n]) => by.get(n + " " + t)).filter(Boolean).map((c) => c.volume))) }] }],
      parts: (i) => (shape === "candles" ? ["open", "high", "low"].map((f) => el("span", {}, f, " ", num(of(outcome, f)[i], "cents", "no fill"))) : []),
      columns: shape === "candles" ? ["open", "high", "low"].map((f) => ({ name: f, num: true, cell: (i) => num(of(outcome, f)[i], "cents", "no fill") })) : [] });
  },
});

let held = q.get("holders") || "0";
const holdersUrl = (offset) => address("/market/" + id + "/holders", { outcome: held, limit: 10, offset });
const whose = el("span", {});
const holders = panel({
  name: "Largest holders", size: 420, url: () => holdersUrl(), acts: whose,
  draw: (a, { lead }) => {
    put(whose, among("Outcome", outcomes(a), held, (v) => { held = v; shown(); holders.load(); }));
    const o = a.outcomes.find((x) => x.outcome_index == held);
    put(lead, o ? [num(o.holders), o.holders == 1 ? " wallet holds " : " wallets hold ", num(o.long_shares, "usd0"), " shares, by their fills"] : "by their fills");
    if (!a.data.length) return state("empty", "According to the known fills, nobody holds this outcome.");
    let taken = a.data.length;
    return [table({ name: "Largest holders", rows: a.data, per: 10, order: "shares",
      more: { left: () => taken < a.total, load: async () => { const next = await ask(holdersUrl(taken)); taken += next.data.length || Number(a.total); return next.data; } },
      columns: [
        { name: "#", num: true, cls: "rank", cell: (r) => num(r.rank) }, { name: "Wallet", head: true, phone: "main", cell: wallet }, { name: "Shares", num: true, phone: "key", sort: (r) => r.net_shares, cell: (r) => num(r.net_shares, "usd0") },
        { name: "of all", num: true, sort: (r) => r.share_pct, cell: (r) => num(r.share_pct, "percent") }, { name: "Mean price paid", num: true, sort: (r) => r.avg_buy_price, cell: (r) => num(r.avg_buy_price, "cents", "it bought none") },
        { name: "Bought, USD", money: (r) => r.buy_volume_usd }, { name: "Sold, USD", money: (r) => r.sell_volume_usd }, { name: "Cash", note: "of this outcome", form: "signed", money: (r) => r.net_cash },
        { name: "Profit here", note: "of the wallet in the whole market", form: "profit", money: (r) => r.real_pnl }] }),
    el("p", { class: "note" }, "Shares bought minus shares sold. Splits, merges and transfers are not fills and are not included.")];
  },
});

let span = q.get("flow") || "7d", step = q.get("step") || "";
const usual = { "1d": "1h", "7d": "6h", "30d": "1d" }, steps = { "1h": "by the hour", "6h": "by six hours", "1d": "by the day" };
const flow = panel({
  name: "Large orders", size: 200, url: () => address("/whales/flow", { market_id: id, period: span === "7d" ? "" : span, interval: step, limit: 1 }), lone: true,
  acts: [choice("Time of the large orders", [["1d", "1 d"], ["7d", "7 d"], ["30d", "30 d"]], span, (v) => { span = v; shown(); flow.load(); }), pick("Step", [["", "auto"], ["1h", "1 h"], ["6h", "6 h"], ["1d", "1 d"]], step, (v) => { step = v; shown(); flow.load(); })],
  draw: (a, { lead }) => {
    const by = steps[step || usual[span]];
    put(lead, by, ", of at least ", num(a.threshold_usd, "usd0"), " USD, net towards the first outcome");
    if (a.moves == 0) return state("empty", "No order of that size in this period: choose a longer one.");
    const hours = a.series;
    return plot({ name: "Net flow of large orders " + by, cut: a, times: hours.map((s) => s.start), panes: [{ height: 130, form: "signed0", zero: true, series: [{ name: "net flow, USD", kind: "columns", values: hours.map((s) => s.net_flow) }] }],
      parts: (i) => [el("span", {}, many(hours[i].moves, "order"))], columns: [{ name: "orders", num: true, cell: (i) => num(hours[i].moves) }] });
  },
});
const rules = panel({
  name: "How it resolves", url, lone: true, size: 100,
  draw: ({ data: m }) => [
    m.resolution && m.resolution.resolved_at ? el("p", {}, "Resolved ", when(m.resolution.resolved_at), m.resolution.winner ? [": ", text(m.resolution.winner)] : "", " (the time is from ", text((m.resolution.resolved_at_source || "nobody").replaceAll("_", " ")), ", the payouts from ", text((m.resolution.source || "nobody").replaceAll("_", " ")), ").") : null,
    m.resolution_source ? el("p", {}, "Source: ", text(m.resolution_source)) : null,
    m.description ? el("p", { class: "long", "data-text": true }, m.description) : state("empty", "The imported files do not have the rules of this market.")],
});
const fillsUrl = (cursor) => address("/market/" + id + "/trades", { limit: 25, cursor });
let older = null;
const fills = panel({
  name: "Newest fills", url: () => fillsUrl(), size: 300,
  draw: (a) => {
    older = a.next_cursor;
    return a.data.length ? table({ name: "Newest fills", rows: a.data, per: 25, order: "newest",
      more: { left: () => Boolean(older), load: async () => { const next = await ask(fillsUrl(older)); older = next.next_cursor; return next.data; } },
      columns: [
        { name: "UTC", bare: true, cell: (r) => when(r.ts) }, { name: "Wallet", head: true, phone: "main", cell: wallet }, orderColumn,
        { name: "Price", num: true, bare: true, sort: (r) => r.price, cell: (r) => num(r.price, "cents") }, { name: "Shares", num: true, cell: (r) => num(r.shares, "usd2") }, { name: "USD", num: true, phone: "key", sort: (r) => r.usd, cell: (r) => num(r.usd, "usd2") }, { name: "Role", bare: true, cell: (r) => r.role || "–" }] }) : state("empty", "No fill in the time that the plan shows.");
  },
});
const parts = [now, candles, holders, flow, rules, fills];
explorer().replaceChildren(el("div", { class: "title" }, head), about, ...parts);
known(url());
for (const p of parts) p.load();
