// A wallet: its profit, the parts of it, and how they are counted.
import { address, ask, el, go, here, many, market, num, fromPath, put, short, sum, svg, title, explorer, when } from "./core.js";
import { choice, copier, fact, facts, known, orderColumn, panel, pick, state, table } from "./ui.js";
import { plot } from "./plot.js";
import { profitColumn, resolvedPart } from "./profit.js";
import { exporter } from "./exporter.js";

const who = fromPath(2).toLowerCase();
const q = here();
let range = q.get("limit") || "365";
let category = q.get("category") || "";
const shown = () => go({ limit: range === "365" ? "" : range, category, sort: order === "abs_real_pnl" ? "" : order, status: status });
title("Wallet " + short(who));

// The wallet in one line and its actions.
const name = el("h1", {}, el("span", { class: "id", title: who, translate: "no" }, short(who)), " ", copier(who, "Copy address"));
const about = el("p", { class: "note" });
const files = el("div", { hidden: true, id: "files" }, exporter({
  name: "all of this wallet", path: "/trader/" + who + "/export-jobs", jobs: "/trader/export-jobs", formats: ["parquet", "csv"], body: (format) => ({ format }),
}));
const exportButton = el("button", { type: "button", class: "quiet", id: "export", "aria-expanded": "false", onclick: () => {
  files.hidden = !files.hidden;
  exportButton.setAttribute("aria-expanded", String(!files.hidden));
} }, "Export all");

const stats = () => address("/trader/" + who + "/stats");
const head = panel({
  name: "Profit", cls: "first", size: 190, url: stats, lone: true,
  draw: ({ data: d }, { lead }) => {
    if (d.username) { name.prepend(el("span", { "data-text": true }, d.username), " "); title(d.username); }
    put(about, many(d.trades, "fill"), " in ", many(d.unique_markets, "market"), " on ", many(d.active_days, "day"), ", ", when(d.first_trade_at, "day"), d.active_days > 1 ? [" to ", when(d.last_trade_at, "day")] : null, ". ",
      d.taker_trades == 0 ? "Always the maker." : d.maker_trades == 0 ? "Always the taker." : ["Maker of ", num(d.maker_trades), ", taker of ", num(d.taker_trades), "."]);
    lead.textContent = "all time";
    const open = sum([d.unique_markets], [d.resolved_markets]), rest = open > 0 || d.unresolved_cash != 0;
    return [
      el("p", { class: "big" }, num(d.real_pnl, "profit"), el("small", {}, " USD")),
      el("p", { id: "split" }, d.resolved_markets > 0 ? [num(sum([d.real_pnl], [d.unresolved_cash]), "profit"), " from ", many(d.resolved_markets, "resolved market"), rest ? ", " : ". "] : null, rest ? [num(d.unresolved_cash, "profit"), " cash from ", open > 0 ? [many(open, "market"), " not resolved yet, whose tokens are not valued. "] : "fills of unknown markets. "] : null, el("a", { href: "#sums" }, "How it adds up")),
      facts(
        fact("Return on buys", num(d.roi, "ratio", "nothing was bought"), d.resolved_markets > 0 ? null : "tokens not valued"), fact("Markets won", num(d.win_rate, "share", "no market of it is resolved"), d.resolved_markets > 0 ? [num(d.winning_markets), " of ", num(d.resolved_markets)] : "none is resolved"),
        fact("Volume", num(d.volume, "brief"), "USD"), skill),
      el("details", { class: "sheet" }, el("summary", {}, "How these are counted"), el("ul", { class: "note", "data-fixed": true },
        el("li", {}, "Profit is the cash of all fills and what resolutions settled."),
        el("li", {}, "Return on buys is the profit over what was paid for buys."),
        el("li", {}, "A market is won if the profit in it, fills and settlement together, is above zero. Only resolved markets count, however small."),
        el("li", {}, "Forecast skill is explained next to its calibration."))),
      d.negative_legs > 0 ? el("p", { class: "note" }, num(d.negative_legs), d.negative_legs == 1 ? " position is" : " positions are", " below zero: tokens came from splits or transfers, which fills do not show. Markets settle them as debts.") : null,
    ];
  },
});
const skill = el("div", { class: "fact" }, el("dt", {}, "Forecast skill"), el("dd", {}, "…"));

// Profit over time.
const ranges = choice("Days", [["30", "30 d"], ["90", "90 d"], ["365", "year"]], range, (v) => { range = v; shown(); daily.load(); });
const daily = panel({
  name: "Profit over time", size: 390, url: () => address("/trader/" + who + "/activity/daily", { limit: range }),
  acts: ranges,
  draw: (cut, { heading, lead }) => {
    const { data } = cut;
    if (!data.length) return state("empty", "No fills in this time.");
    const days = data[0].date > data.at(-1).date ? [...data].reverse() : data;
    const first = days[0].cumulative_pnl, last = days.at(-1).cumulative_pnl;
    ranges.hidden = range === "365" && days.length < 4;
    heading.replaceChildren("Profit ", days.length < 2 ? "of one day " : last > first ? "rose to " : last < first ? "fell to " : "stayed at ", num(days.length < 2 ? days[0].real_pnl : last, "profit"));
    lead.replaceChildren("USD", ...(days.length < 2 ? [] : [", total of all time, from ", when(days[0].date, "day"), " on"]));
    const settled = days.filter((d) => d.redemption_value != 0).sort((a, b) => Math.abs(b.redemption_value) - Math.abs(a.redemption_value)).slice(0, 10);
    return plot({
      name: "Profit of " + short(who) + " by day", times: days.map((d) => d.date), cut, partial: days.map((d) => d.is_partial),
      panes: [
        { height: 220, form: "profit", zero: true, series: [{ name: "total", values: days.map((d) => d.cumulative_pnl) }, { name: "largest resolutions", kind: "points", ink: 4, values: days.map((d) => (settled.includes(d) ? d.cumulative_pnl : null)) }] },
        { height: 96, form: "profit", zero: true, label: "each day", series: [{ name: "that day", kind: "bars", values: days.map((d) => d.real_pnl) }] },
      ],
      parts: (i) => [el("span", {}, "cash ", num(days[i].net_cash, "signed")), el("span", {}, "resolutions ", num(days[i].redemption_value, "signed")), el("span", {}, many(days[i].trades, "fill"))],
      columns: [{ name: "cash", num: true, cell: (i) => num(days[i].net_cash, "signed") }, { name: "resolutions", num: true, cell: (i) => num(days[i].redemption_value, "signed") }, { name: "fills", num: true, cell: (i) => num(days[i].trades) }],
    });
  },
});

// Where the profit comes from: lines that add up to it.
const line = (sign, what, value, form, total) => el("tr", { class: total ? "total" : null }, el("td", {}, sign), el("th", { scope: "row" }, what), el("td", {}, num(value, form)));
const sums = panel({
  name: "Where it comes from", url: stats, lone: true, size: 220,
  draw: ({ data: d }) => [
    el("table", { class: "sums", id: "sums" }, el("caption", { class: "unseen" }, "Parts of the profit in USD"), el("tbody", {},
      line("+", "received for sales", d.sell_volume_usd, "usd"), line("−", "paid for buys", d.buy_volume_usd, "usd"), Number(d.fees_usd) ? line("", "fees, within the above", d.fees_usd, "usd") : null,
      line("=", "cash", d.net_cash, "signed", true), line("+", "settled by resolutions", d.redemption_value, "signed"), line("=", "profit, USD", d.real_pnl, "profit", true))),
    el("p", { class: "note" }, "Settled is the value of the tokens held at resolution, minus what was owed for tokens that were sold but never bought. Of the cash, ", num(d.unresolved_cash, "profit"), " is from markets that are not resolved yet. ", el("a", { href: "/docs/text/numbers" }, "How every number is counted")),
  ],
});

// Do the prices paid come true?
const wilson = (mean, n) => {
  const z = 1.96, mid = (mean + z * z / (2 * n)) / (1 + z * z / n), half = z * Math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n)) / (1 + z * z / n);
  return [Math.max(0, mid - half), Math.min(1, mid + half)];
};
const truth = panel({
  name: "Does the price paid come true?", url: () => address("/oracle/trader/" + who), lone: true, size: 220,
  draw: ({ data: d }, { lead }) => {
    skill.lastChild.replaceChildren(num(d.brier_skill, "skill", "no resolved forecasts"), el("small", {}, d.rank ? [" rank ", num(d.rank), " of ", num(d.ranked_traders)] : " too few to rank"));
    if (d.resolved_forecasts == 0) return state("empty", "It held no tokens when a market was resolved, so there is nothing to compare.");
    lead.replaceChildren(...many(d.resolved_forecasts, "forecast"));
    const bins = d.calibration.filter((b) => b.forecasts > 0);
    const x = (p) => 34 + 260 * p, y = (p) => 214 - 200 * p;
    const marks = bins.map((b) => {
      const [low, high] = wilson(Number(b.mean_payout), Number(b.forecasts));
      return [svg("path", { class: "range", d: "M" + x(b.mean_probability) + " " + y(low) + "V" + y(high) }), svg("circle", { class: "mark", cx: x(b.mean_probability), cy: y(b.mean_payout), r: Math.min(7, 2 + Math.sqrt(b.forecasts) / 5) })];
    });
    const levels = [0, 0.25, 0.5, 0.75, 1];
    return [
      svg("svg", { class: "chart", viewBox: "0 0 310 250", role: "img", "aria-label": "Calibration: price paid across, share that came true upwards; the table below has the figures" },
        levels.map((l) => [svg("path", { class: "grid", d: "M34 " + y(l) + "H294" }), svg("text", { x: 28, y: y(l) + 4, "text-anchor": "end", "data-fixed": true }, 100 * l + ""), svg("text", { x: x(l), y: 232, "text-anchor": "middle", "data-fixed": true }, 100 * l + "¢")]),
        svg("path", { class: "diagonal", d: "M" + x(0) + " " + y(0) + "L" + x(1) + " " + y(1) }), marks, svg("text", { x: 164, y: 247, "text-anchor": "middle" }, "price paid; upwards the share that came true, in %")),
      el("p", { class: "note" }, "On the line, prices come true as often as they say. Upright lines are ", el("span", { "data-fixed": true }, "95 %"), " intervals; circles grow with the number of forecasts. Skill is one minus this wallet's Brier score ", num(d.brier, "score"), " over the market's ", num(d.brier_baseline, "score"), ": above zero it paid better prices than the market's average. ", num(d.accuracy_pct, "percent"), " came true (", num(d.accuracy_low_pct, "percent"), " to ", num(d.accuracy_high_pct, "percent"), ")."),
      d.murphy ? el("details", { class: "sheet" }, el("summary", {}, "What the score consists of"), el("p", { class: "note" }, "The score ", num(d.brier, "score"), " = ", num(d.murphy.reliability, "score"), " for prices that did not come true as often as they said, less ", num(d.murphy.resolution, "score"), " for telling markets apart, plus ", num(d.murphy.uncertainty, "score"), " that any forecaster of these markets bears, and ", num(d.murphy.within_bins, "score"), " within the bins. It gained ", num(d.edge, "move"), " a share over the price paid, on average, on ", num(d.forecast_volume, "brief"), " USD.")) : null,
      d.categories.length ? el("details", { class: "sheet" }, el("summary", {}, "By category"), table({ name: "Forecasts by category", rows: d.categories, columns: [
        { name: "Category", head: true, phone: "main", cell: (c) => el("span", { "data-text": true }, c.category || "not known") }, { name: "skill", num: true, phone: "key", sort: (c) => c.brier_skill, cell: (c) => num(c.brier_skill, "skill", "nothing to compare with") },
        { name: "forecasts", num: true, sort: (c) => c.resolved_forecasts, cell: (c) => num(c.resolved_forecasts) }, { name: "came true", num: true, sort: (c) => c.accuracy_pct, cell: (c) => [num(c.accuracy_pct, "percent"), el("small", { class: "split" }, num(c.accuracy_low_pct, "percent"), " to ", num(c.accuracy_high_pct, "percent"))] },
        { name: "gain a share", num: true, sort: (c) => c.edge, cell: (c) => num(c.edge, "move") }] })) : null,
      el("details", { class: "sheet" }, el("summary", {}, "Show as a table"), table({ name: "Calibration", rows: bins, columns: [
        { name: "Price paid", head: true, phone: "main", cell: (b) => [num(b.from, "share"), " to ", num(b.to, "share")] }, { name: "forecasts", num: true, cell: (b) => num(b.forecasts) },
        { name: "mean price", num: true, cell: (b) => num(b.mean_probability, "share") }, { name: "came true", num: true, phone: "key", cell: (b) => num(b.mean_payout, "share") }] })),
    ];
  },
});

// By category: the figures of each, which also filter the markets.
const categories = panel({
  name: "By category", url: () => address("/trader/" + who + "/categories"), size: 160,
  draw: ({ data }) => {
    return table({ name: "By category", rows: data, columns: [
      { name: "Category", head: true, phone: "main", cell: (r) => (r.category ? el("button", { type: "button", class: "sorter", "data-text": true, title: "show its markets", onclick: () => { category = category === r.category ? "" : r.category; shown(); markets.load(); } }, r.category) : "not known") },
      { ...profitColumn(), below: null, bar: false },
      { name: "resolved", form: "signed", money: resolvedPart }, { name: "unresolved cash", form: "signed", money: (r) => r.unresolved_cash },
      { name: "Markets", num: true, sort: (r) => r.unique_markets, cell: (r) => num(r.unique_markets) },
      { name: "won", num: true, cls: "tight", sort: (r) => r.win_rate, cell: (r) => [num(r.win_rate, "share", "no market of it is resolved"), r.resolved_markets > 0 ? el("small", {}, " of ", num(r.resolved_markets)) : null] },
    ] });
  },
});

// Its markets.
let order = q.get("sort") || "abs_real_pnl", status = q.get("status") || "";
const pages = { cursor: null };
const marketsUrl = (cursor) => address("/trader/" + who + "/markets", { limit: 25, sort: order, status, category, positions: "false", cursor });
const markets = panel({
  name: "Markets", url: () => marketsUrl(), size: 400,
  acts: [choice("Status", [["", "all"], ["resolved", "resolved"], ["open", "open"]], status, (v) => { status = v; shown(); markets.load(); }),
    pick("First", [["abs_real_pnl", "what moved most"], ["volume", "most volume"], ["last_trade_at", "newest"], ["resolved_at", "resolved last"]], order, (v) => { order = v; shown(); markets.load(); })],
  draw: (answer, { heading }) => {
    heading.replaceChildren("Markets ", el("small", {}, num(answer.total)), category ? el("small", {}, " in ", el("span", { "data-text": true }, category), " ", el("button", { type: "button", class: "quiet small", onclick: () => { category = ""; shown(); markets.load(); } }, "all categories")) : "");
    pages.cursor = answer.next_cursor || null;
    if (!answer.data.length) return state("empty", "No market of this wallet matches.");
    return table({
      name: "Markets of this wallet", rows: answer.data, per: 25, order: "as chosen", ranked: true,
      more: { left: () => Boolean(pages.cursor), load: async () => { const next = await ask(marketsUrl(pages.cursor)); pages.cursor = next.next_cursor || null; return next.data; } },
      columns: [
        { name: "Market", head: true, phone: "main", cell: market },
        { name: "Profit, USD", phone: "key", form: "profit", bar: true, money: (r) => r.real_pnl },
        { name: "cash", form: "signed", money: (r) => r.net_cash },
        { name: "settled", num: true, sort: (r) => r.redemption_value, cell: (r) => (r.status === "resolved" ? num(r.redemption_value, "signed0") : el("span", { class: "none" }, r.status === "open" ? "open" : "closed")) },
        { name: "Volume, USD", money: (r) => r.volume },
        { name: "Resolved", num: true, sort: (r) => r.resolved_at && Date.parse(r.resolved_at), cell: (r) => r.resolved_at && when(r.resolved_at, "date") },
      ],
    });
  },
});

// Its fills, newest first.
const fillsUrl = (cursor) => address("/trader/" + who + "/trades", { limit: 25, cursor });
let older = null;
const fills = panel({
  name: "Newest fills", url: () => fillsUrl(), size: 300,
  draw: (answer) => {
    older = answer.next_cursor;
    if (!answer.data.length) return state("empty", "No fills in the history of the plan.");
    return table({
      name: "Newest fills", rows: answer.data, per: 25,
      more: { left: () => Boolean(older), load: async () => { const next = await ask(fillsUrl(older)); older = next.next_cursor; return next.data; } },
      columns: [
        { name: "UTC", bare: true, cell: (r) => when(r.ts) }, { name: "Market", head: true, phone: "main", cell: market }, orderColumn,
         { name: "Price", num: true, bare: true, cell: (r) => num(r.price, "cents") }, { name: "Shares", num: true, cell: (r) => num(r.shares, "usd2") },
        { name: "USD", num: true, phone: "key", cell: (r) => num(r.usd, "usd2") }, { name: "Role", bare: true, cell: (r) => r.role || "–" }],
    });
  },
});

explorer().replaceChildren(
  el("div", { class: "title" }, name, el("div", { class: "acts" }, el("a", { class: "button quiet", href: "/compare?address=" + who }, "Compare"), exportButton)), about, files,
  head, daily, el("div", { class: "cols" }, el("div", {}, sums, categories), truth), markets, fills);
known(stats());
for (const p of [head, daily, truth, sums, categories, markets, fills]) p.load();
