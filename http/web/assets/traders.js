// Boards of wallets: by profit, by the accuracy of their forecasts.
import { address, el, go, here, num, title, view, wallet, when } from "./core.js";
import { choice, panel, pick, state, table } from "./ui.js";
import { profitColumn } from "./profit.js";

const q = here();
let period = q.get("period") || "7d", least = q.get("min_resolved") || "20", which = q.get("min_resolved") ? "accuracy" : q.get("board") || "profit";
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

const profit = panel({
  name: "By profit", cls: "first", size: 900, url: () => address("/leaderboard/traders", { period: period === "7d" ? "" : period, limit: 50 }),
  acts: choice("Period", [["1d", "1 d"], ["7d", "7 d"], ["30d", "30 d"]], period, (v) => { period = v; shown(); profit.load(); }),
  draw: ({ data, window_start: from, window_end: to }, { lead }) => {
    lead.replaceChildren(when(from), " to ", when(to));
    if (!data.length) return state("empty", "Nobody traded in this time.");
    return [
      table({ name: "Wallets by profit", rows: data, per: 50, order: "rank", columns: [
        markColumn, rank, name, profitColumn(),
        { name: "all time", form: "profit", money: (r) => r.real_pnl_all_time }, { name: "Volume", money: (r) => r.volume },
        { name: "Fills", num: true, sort: (r) => r.trades, cell: (r) => num(r.trades) }, { name: "Return on buys", num: true, sort: (r) => r.roi, cell: (r) => num(r.roi, "ratio", "nothing was bought") },
        { name: "Markets won", num: true, note: "all time, of resolved ones", sort: (r) => r.win_rate_all_time, cell: (r) => [num(r.win_rate_all_time, "share", "no market of it is resolved"), el("small", {}, " of ", num(r.resolved_markets_all_time))] },
        { name: "Last fill", num: true, phone: "hide", sort: (r) => r.last_trade_at && Date.parse(r.last_trade_at), cell: (r) => when(r.last_trade_at, "day") }] }),
      el("p", { class: "note" }, "Profit of the time shown: cash of its fills, and what markets settled that were resolved within it. Tokens still held are not valued. ", el("a", { href: "/docs/text/numbers" }, "How it is counted")),
    ];
  },
});

const accuracy = panel({
  name: "By accuracy of forecasts", cls: "first", size: 900, url: () => address("/oracle/leaderboard", { min_resolved: least === "20" ? "" : least, limit: 50 }),
  acts: pick("At least", [["20", "20 forecasts"], ["50", "50 forecasts"], ["100", "100 forecasts"], ["200", "200 forecasts"]], least, (v) => { least = v; shown(); accuracy.load(); }),
  draw: ({ data, total }, { lead }) => {
    lead.replaceChildren(num(total), " wallets qualify");
    if (!data.length) return state("empty", "No wallet has that many forecasts. Ask for fewer.");
    return [
      table({ name: "Wallets by accuracy", rows: data, per: 50, order: "rank", columns: [
        rank, name, { name: "Brier score", num: true, phone: "key", sort: (r) => -r.brier, cell: (r) => num(r.brier, "score") },
        { name: "market's", num: true, sort: (r) => -r.brier_baseline, cell: (r) => num(r.brier_baseline, "score") }, { name: "Skill", num: true, sort: (r) => r.brier_skill, cell: (r) => num(r.brier_skill, "skill") },
        { name: "Came true", num: true, sort: (r) => r.accuracy_pct, cell: (r) => [num(r.accuracy_pct, "percent"), el("small", { class: "split" }, num(r.accuracy_low_pct, "percent"), " to ", num(r.accuracy_high_pct, "percent"))] },
        { name: "Forecasts", num: true, sort: (r) => r.resolved_forecasts, cell: (r) => num(r.resolved_forecasts) }, { name: "Edge", num: true, note: "mean of payout less price paid", sort: (r) => r.edge, cell: (r) => num(r.edge, "move") },
        { name: "Volume", money: (r) => r.volume }] }),
      el("p", { class: "note" }, "A forecast is an outcome that a wallet held when its market resolved; the probability is the mean price paid. Skill is one less the score over the market's own: above zero is better than the market. The range of the share that came true is its ", el("span", { "data-fixed": true }, "95 %"), " interval."),
    ];
  },
});

function shown() {
  if (which === "profit") go({ period: period === "7d" ? "" : period }); else go({ board: which, min_resolved: least === "20" ? "" : least });
}
function board() {
  profit.hidden = which !== "profit";
  accuracy.hidden = which === "profit";
  (which === "profit" ? profit : accuracy).load();
}
view().replaceChildren(
  el("div", { class: "title" }, el("h1", {}, "Traders"), el("div", { class: "acts" }, compare, choice("Board", [["profit", "Profit"], ["accuracy", "Forecast accuracy"]], which, (v) => { which = v; shown(); board(); }), el("a", { class: "button quiet", href: "/whales" }, "Whales"))),
  profit, accuracy);
board();
