// Leaderboards of wallets: by profit, by the accuracy of their forecasts.
import { address, ask, el, go, here, num, title, explorer, wallet, when } from "./core.js";
import { inCategory, choice, fields, panel, pick, state, table } from "./ui.js";
import { leaderboardUrl, plainLeaderboard, profitColumn } from "./profit.js";
import { spark } from "./spark.js";

const q = here();
let which = q.get("board") || "profit", period = q.get("period") || "7d", category = q.get("category") || "", sort = q.get("sort") || "real_pnl";
let least = which === "accuracy" && q.get("min_resolved") || "20", resolved = which === "profit" && q.get("min_resolved") || "";
const marked = new Set();
title("Traders");

const compare = el("a", { class: "button quiet", hidden: true, href: "/compare" }, "Compare");
const markColumn = { name: "Mark", quiet: true, cell: (r) => el("input", { type: "checkbox", "aria-label": "Mark " + r.address + " for comparison", onchange: (e) => {
  if (e.target.checked) marked.add(r.address); else marked.delete(r.address);
  compare.hidden = marked.size < 2;
  compare.textContent = "Compare " + marked.size;
  compare.setAttribute("data-fixed", "");
  compare.href = "/compare?" + [...marked].slice(0, 10).map((a) => "address=" + a).join("&");
} }), phone: "hide" };
const rank = { name: "#", num: true, cell: (r) => num(r.rank), cls: "rank" };
const name = { name: "Wallet", head: true, phone: "main", cell: wallet };

const sorts = { real_pnl: "profit", volume: "volume", roi: "return on buys" };
const filtered = () => category || resolved || sort !== "real_pnl";
const rows = 50;
const pageUrl = (offset) => leaderboardUrl({ period: period === "7d" ? "" : period, category, sort: sort === "real_pnl" ? "" : sort, min_resolved: resolved, limit: rows, offset }, ["previous_rank", "spark"]);
const again = () => { shown(); profit.load(); };
const profit = panel({
  name: "By profit", cls: "first", size: 900, url: () => pageUrl(), instead: (problem) => !filtered() && plainLeaderboard(problem),
  draw: ({ data, window_start: from, window_end: to }, { heading, lead }) => {
    heading.textContent = "By " + sorts[sort];
    lead.replaceChildren(...(from ? [when(from), " to ", when(to)] : []));
    if (!data.length) return state("empty", filtered() ? "No wallet matches. Choose another category or fewer resolved markets." : "Nobody traded in this time.");
    let taken = data.length, full = taken === rows;
    const whole = "resolved_pnl" in data[0] && data[0].resolved_pnl !== null;
    return [
      table({ name: "Wallets by " + sorts[sort], rows: data, per: rows, order: "rank", ranked: true,
        more: { left: () => full, load: async () => { const next = (await ask(pageUrl(taken))).data; taken += next.length; full = next.length === rows; return next; } },
        columns: [
          markColumn, { ...rank, note: "below it the rank in the previous period of the same length", cell: (r) => [num(r.rank), whole && el("small", { class: "split tight" }, r.previous_rank === null ? el("span", { title: "not on the previous leaderboard" }, "new") : ["was ", num(r.previous_rank)])] }, name, profitColumn(),
          whole && { name: "30 days", note: "profit since the start, all categories, over the last 30 days", phone: "hide", cell: (r) => (r.spark ? spark(r.spark, 0) : "–") },
          { name: "all time", form: "signed", money: (r) => r.real_pnl_all_time }, { name: "Volume", money: (r) => r.volume },
          { name: "Fills", num: true, sort: (r) => r.trades, cell: (r) => num(r.trades) }, { name: "Return on buys", num: true, sort: (r) => r.roi, cell: (r) => num(r.roi, "ratio", "nothing was bought") },
          { name: "Markets won", num: true, cls: "tight", note: "all time, resolved markets only", sort: (r) => r.win_rate_all_time, cell: (r) => [num(r.win_rate_all_time, "share", "no market of it is resolved"), el("small", {}, " of ", num(r.resolved_markets_all_time))] },
          { name: "Last fill", num: true, phone: "hide", sort: (r) => r.last_trade_at && Date.parse(r.last_trade_at), cell: (r) => when(r.last_trade_at, "date") }] }),
      el("p", { class: "note" }, "Profit of the period shown: cash of its fills, and the settlement of markets resolved within it. ",
        whole ? "Unresolved cash is from markets that are not resolved; tokens still held in them are not valued. " : "This server has no single trades, so the part from resolved markets is not known. Tokens still held are not valued. ",
        category ? "All time, markets won and the small line include all categories. " : null, el("a", { href: "/docs/text/numbers" }, "How it is counted")),
    ];
  },
});
profit.querySelector(".tooling").after(el("div", { class: "filters" },
  choice("Period", [["1d", "1 d"], ["7d", "7 d"], ["30d", "30 d"]], period, (v) => { period = v; again(); }),
  fields(filtered(), inCategory(category, (v) => { category = v; again(); }),
  pick("Resolved markets", [["", "any number"], ["20", "20 or more"], ["100", "100 or more"], ["500", "500 or more"]], resolved, (v) => { resolved = v; again(); }),
  pick("Ranked by", Object.entries(sorts), sort, (v) => { sort = v; again(); }))));

const accuracy = panel({
  name: "By accuracy of forecasts", cls: "first", size: 900, url: () => address("/oracle/leaderboard", { min_resolved: least === "20" ? "" : least, limit: 50 }),
  acts: pick("At least", [["20", "20 forecasts"], ["50", "50 forecasts"], ["100", "100 forecasts"], ["200", "200 forecasts"]], least, (v) => { least = v; shown(); accuracy.load(); }),
  draw: ({ data, total }, { lead }) => {
    lead.replaceChildren(num(total), " wallets qualify");
    if (!data.length) return state("empty", "No wallet has that many forecasts. Choose fewer.");
    return [
      table({ name: "Wallets by accuracy", rows: data, per: 50, order: "rank", columns: [
        rank, name, { name: "Brier score", num: true, phone: "key", sort: (r) => -r.brier, cell: (r) => num(r.brier, "score") },
        { name: "the market's", num: true, sort: (r) => -r.brier_baseline, cell: (r) => num(r.brier_baseline, "score") }, { name: "Skill", num: true, sort: (r) => r.brier_skill, cell: (r) => num(r.brier_skill, "skill") },
        { name: "Came true", num: true, sort: (r) => r.accuracy_pct, cell: (r) => num(r.accuracy_pct, "percent") },
        { name: "likely range", num: true, cls: "tight", note: "the 95 % interval of the share that came true", cell: (r) => el("small", {}, num(r.accuracy_low_pct, "percent"), " to ", num(r.accuracy_high_pct, "percent")) },
        { name: "Forecasts", num: true, sort: (r) => r.resolved_forecasts, cell: (r) => num(r.resolved_forecasts) }, { name: "Edge", num: true, note: "mean of payout minus price paid", sort: (r) => r.edge, cell: (r) => num(r.edge, "move") },
        { name: "Volume", money: (r) => r.volume }] }),
      el("p", { class: "note" }, "A forecast is an outcome that a wallet held when its market resolved; the probability is the mean price paid. Skill is one minus the score over the market's own: above zero is better than the market. The range of the share that came true is its ", el("span", { "data-fixed": true }, "95 %"), " interval."),
    ];
  },
});

function shown() {
  if (which === "profit") go({ period: period === "7d" ? "" : period, category, min_resolved: resolved, sort: sort === "real_pnl" ? "" : sort });
  else go({ board: which, min_resolved: least === "20" ? "" : least });
}
function board() {
  profit.hidden = which !== "profit";
  accuracy.hidden = which === "profit";
  (which === "profit" ? profit : accuracy).load();
}
explorer().replaceChildren(
  el("div", { class: "title" }, el("h1", {}, "Traders"), el("div", { class: "acts" }, compare, choice("Leaderboard", [["profit", "Profit"], ["accuracy", "Forecast accuracy"]], which, (v) => { which = v; shown(); board(); }), el("a", { class: "button quiet", href: "/whales" }, "Whales"))),
  profit, accuracy);
board();
