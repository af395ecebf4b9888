// Large orders: who places them, in which markets, and in which direction.
import { address, ask, el, go, here, many, market, num, title, explorer, wallet, when } from "./core.js";
import { choice, fact, facts, fields, inCategory, orderColumn, panel, pick, state, table } from "./ui.js";
import { plot } from "./plot.js";

const q = here();
let period = q.get("period") || "7d";
const filter = Object.fromEntries(["min_usd", "side", "category", "address", "market_id"].map((k) => [k, q.get(k) || ""]));
title("Whales");
const shown = () => go({ period: period === "7d" ? "" : period, ...filter });
const span = () => ({ period: period === "7d" ? "" : period });

const steps = { "1d": "by the hour", "7d": "by six hours", "30d": "by the day" };
const flow = panel({
  name: "Flow", cls: "first", size: 260, url: () => address("/whales/flow", { ...span(), limit: 10 }),
  acts: choice("Period", [["1d", "1 d"], ["7d", "7 d"], ["30d", "30 d"]], period, (v) => { period = v; shown(); flow.load(); board.load(); }),
  draw: (a, { lead }) => {
    lead.replaceChildren("orders of at least ", num(a.threshold_usd, "usd0"), " USD, by taker, ", steps[period]);
    if (a.moves == 0) return state("empty", "No order of that size in this time.");
    return [
      facts(fact("Orders", num(a.moves)), fact("Bought", num(a.buy_usd, "brief"), "USD"), fact("Sold", num(a.sell_usd, "brief"), "USD"), fact("Net flow", num(a.net_flow, "signed0"), "USD"), fact("Markets", num(a.total))),
      plot({ name: "Net flow " + steps[period], cut: a, times: a.series.map((s) => s.start), panes: [{ height: 150, form: "signed0", zero: true, series: [{ name: "net flow, USD", kind: "columns", values: a.series.map((s) => s.net_flow) }] }],
        parts: (i) => [el("span", {}, many(a.series[i].moves, "order"))], columns: [{ name: "orders", num: true, cell: (i) => num(a.series[i].moves) }] }),
      el("p", { class: "note" }, "Net flow is towards the first outcome, usually Yes: buying it and selling the others counts up, the opposite down."),
      el("h3", {}, "Where"),
      table({ name: "Markets by large orders", rows: a.data, per: 10, order: "flow", columns: [
        { name: "Market", head: true, phone: "main", cell: market }, { name: "Net flow, USD", phone: "key", form: "signed", money: (r) => r.net_flow },
        { name: "Bought", money: (r) => r.buy_usd }, { name: "Sold", money: (r) => r.sell_usd }, { name: "Orders", num: true, sort: (r) => r.moves, cell: (r) => num(r.moves) }, { name: "Wallets", num: true, sort: (r) => r.whales, cell: (r) => num(r.whales) }] }),
    ];
  },
});

const movesUrl = (cursor) => address("/whales/moves", { ...filter, limit: 25, cursor });
let older = null;
const moves = panel({
  name: "Newest large orders", size: 500, url: () => movesUrl(),
  draw: (answer) => {
    older = answer.next_cursor;
    if (!answer.data.length) return state("empty", "No order matches. Choose a smaller amount or another side.");
    return table({ name: "Newest large orders", rows: answer.data, per: 25, order: "newest",
      more: { left: () => Boolean(older), load: async () => { const next = await ask(movesUrl(older)); older = next.next_cursor; return next.data; } },
      columns: [
        { name: "UTC", bare: true, sort: (r) => Date.parse(r.ts), cell: (r) => when(r.ts) }, { name: "Wallet", bare: true, cell: wallet }, orderColumn, { name: "Price", num: true, bare: true, sort: (r) => r.price, cell: (r) => num(r.price, "cents") },
        { name: "USD", phone: "key", money: (r) => r.usd }, { name: "Market", head: true, phone: "main", cell: market }] });
  },
});
const again = () => { shown(); moves.load(); };
const amount = el("input", { type: "number", min: 0, step: 1000, value: filter.min_usd, placeholder: "10000", onchange: () => { filter.min_usd = amount.value; again(); } });
const idField = (name, label, digits) => {
  const field = el("input", { value: filter[name], size: 12, pattern: "0[xX][0-9a-fA-F]{" + digits + "}", title: "0x and " + digits + " hexadecimal digits", placeholder: "0x…", spellcheck: "false", autocomplete: "off", onchange: () => { if (field.reportValidity()) { filter[name] = field.value.trim().toLowerCase(); again(); } } });
  return el("label", { class: "pick" }, label + " ", field);
};

const board = panel({
  name: "Wallets by large orders", size: 500, url: () => address("/whales", { ...span(), limit: 25 }),
  draw: ({ data }) => (data.length ? table({ name: "Wallets by large orders", rows: data, per: 25, order: "rank", columns: [
    { name: "#", num: true, cls: "rank", cell: (r) => num(r.rank) }, { name: "Wallet", head: true, phone: "main", cell: wallet }, { name: "Large orders, USD", phone: "key", money: (r) => r.whale_volume },
    { name: "Orders", num: true, sort: (r) => r.moves, cell: (r) => num(r.moves) }, { name: "Largest", money: (r) => r.largest_move }, { name: "Net flow", form: "signed", money: (r) => r.net_flow },
    { name: "All volume", money: (r) => r.volume }, { name: "Last", num: true, phone: "hide", sort: (r) => Date.parse(r.last_move_at), cell: (r) => when(r.last_move_at) }] }) : state("empty", "Nobody placed an order of that size in this time.")),
});
explorer().replaceChildren(el("h1", {}, "Whales"), flow,
  moves, board);
moves.querySelector(".tooling").after(fields(Object.values(filter).some(Boolean), el("label", { class: "pick" }, "At least, USD ", amount),
  pick("Side", [["", "both"], ["BUY", "buys"], ["SELL", "sells"]], filter.side, (v) => { filter.side = v; again(); }),
  inCategory(filter.category, (v) => { filter.category = v; again(); }), idField("address", "Wallet", 40), idField("market_id", "Market", 64)));
for (const p of [flow, moves, board]) p.load();
