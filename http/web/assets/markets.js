// The leaderboard of markets by volume.
import { address, el, go, here, market, num, title, explorer, when } from "./core.js";
import { choice, panel, state, table } from "./ui.js";

let period = here().get("period") || "7d";
title("Markets");
const board = panel({
  name: "Most traded", cls: "first", size: 900, url: () => address("/leaderboard/markets", { period: period === "7d" ? "" : period, limit: 50 }),
  acts: choice("Period", [["1d", "1 d"], ["7d", "7 d"], ["30d", "30 d"]], period, (v) => { period = v; go({ period: v === "7d" ? "" : v }); board.load(); }),
  draw: ({ data, window_start: from, window_end: to }, { lead }) => {
    lead.replaceChildren(...(from ? [when(from), " to ", when(to)] : []));
    if (!data.length) return state("empty", "Nothing was traded in this time.");
    return table({ name: "Markets by volume", rows: data, per: 50, order: "rank", columns: [
      { name: "#", num: true, cls: "rank", cell: (r) => num(r.rank) }, { name: "Market", head: true, phone: "main", cell: market },
      { name: "Volume, USD", phone: "key", bar: false, money: (r) => r.volume }, { name: "all time", money: (r) => r.volume_all_time },
      { name: "Trades", num: true, sort: (r) => r.trades, cell: (r) => num(r.trades) }, { name: "Traders", num: true, sort: (r) => r.traders, cell: (r) => num(r.traders) },
      { name: "Category", bare: true, cell: (r) => el("span", { "data-text": true }, r.category || "–") }, { name: "Status", bare: true, cell: (r) => r.status },
      { name: "Ends", num: true, phone: "hide", sort: (r) => r.end_date && Date.parse(r.end_date), cell: (r) => when(r.end_date, "date") }] });
  },
});
explorer().replaceChildren(el("h1", {}, "Markets"), board);
board.load();
