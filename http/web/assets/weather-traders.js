// Wallets by their profit or volume in the weather desk's markets.
import { address, el, go, here, num, title, explorer, wallet, when } from "./core.js";
import { choice, panel, state, table } from "./ui.js";
import { profitColumn } from "./profit.js";

let sort = here().get("sort") || "real_pnl";
title("Weather traders");
const board = panel({
  name: "By profit", cls: "first", size: 900, url: () => address("/weather/traders", { sort: sort === "real_pnl" ? "" : sort, limit: 50 }),
  draw: ({ data, total }, { heading, lead }) => {
    heading.textContent = sort === "volume" ? "By volume" : "By profit";
    lead.replaceChildren(num(total), " wallets, all time, only in temperature markets of cities");
    if (!data.length) return state("empty", "Nobody has traded these markets.");
    return [
      table({ name: "Wallets in weather markets", rows: data, per: 50, order: "rank", columns: [
        { name: "#", num: true, cls: "rank", cell: (r) => num(r.rank) }, { name: "Wallet", head: true, phone: "main", cell: wallet }, profitColumn(),
        { name: "Volume", money: (r) => r.volume }, { name: "Return on buys", num: true, sort: (r) => r.roi, cell: (r) => num(r.roi, "ratio", "nothing was bought") },
        { name: "Markets won", num: true, cls: "tight", sort: (r) => r.win_rate, cell: (r) => [num(r.win_rate, "share", "no market of it is resolved"), el("small", {}, " of ", num(r.resolved_markets))] },
        { name: "Markets", num: true, sort: (r) => r.unique_markets, cell: (r) => num(r.unique_markets) }, { name: "Fills", num: true, sort: (r) => r.trades, cell: (r) => num(r.trades) },
        { name: "Last fill", num: true, phone: "hide", sort: (r) => r.last_trade_at && Date.parse(r.last_trade_at), cell: (r) => when(r.last_trade_at, "date") }] }),
      el("p", { class: "note" }, "Only markets on the highest or lowest temperature of a city's day count, no other weather markets. Profit is cash plus settlement by resolutions; tokens still held are not valued. ",
        el("a", { href: "/traders?category=weather" }, "All weather markets, recent days"), ". ", el("a", { href: "/docs/text/weather" }, "How it is counted")),
    ];
  },
});
explorer().replaceChildren(el("div", { class: "title" }, el("h1", {}, "Weather traders"), el("div", { class: "acts" },
  choice("Ranked by", [["real_pnl", "profit"], ["volume", "volume"]], sort, (v) => { sort = v; go({ sort: v === "real_pnl" ? "" : v }); board.load(); }), el("a", { class: "button quiet", href: "/weather" }, "Cities"))), board);
board.load();
