// Up to ten wallets in one plot and one table.
import { address, el, go, here, num, short, title, explorer, wallet, when } from "./core.js";
import { choice, panel, state, table } from "./ui.js";
import { plot } from "./plot.js";
import { profitColumn } from "./profit.js";

const shape = /^0x[0-9a-f]{40}$/;
const asked = [...new Set(here().getAll("address").map((a) => a.trim().toLowerCase()))];
let who = asked.filter((a) => shape.test(a)).slice(0, 10);
const dropped = asked.filter((a) => a && !who.includes(a));
title("Compare wallets");
const field = el("input", { id: "another", class: "id-field", placeholder: "0x…", spellcheck: "false", autocomplete: "off", "aria-label": "Address of another wallet" });
const told = el("span", { class: "note", role: "status" });
const form = el("form", { class: "filters", onsubmit: (event) => {
  event.preventDefault();
  const a = field.value.trim().toLowerCase();
  if (!shape.test(a)) { told.textContent = "An address is 0x and 40 hexadecimal digits."; return; }
  if (who.length >= 10) { told.textContent = "At most ten wallets can be compared: remove one."; return; }
  told.textContent = "";
  field.value = "";
  if (!who.includes(a)) who = [...who, a];
  load();
} }, el("label", { class: "pick", for: "another" }, "Add a wallet"), field, el("button", { type: "submit", class: "quiet" }, "Add"), told);

let range = here().get("days") || "365";
const compared = () => address("/trader/compare", { address: who, series: "daily", days: range });
const lines = panel({
  name: "Profit over time", cls: "first", size: 330, url: compared,
  acts: choice("Days", [["30", "30 d"], ["90", "90 d"], ["365", "year"]], range, (v) => { range = v; load(); }),
  draw: (a, { lead }) => {
    const rows = a.data.filter((r) => r.days && r.days.length), days = [...new Set(rows.flatMap((r) => r.days.map((d) => d.date)))].sort();
    if (!days.length) return state("empty", "None of these wallets traded in this time.");
    lead.textContent = "all-time total in USD, by day";
    return plot({ name: "All-time profit by day", times: days, cut: a, panes: [{ height: 260, form: "profit", zero: true, series: rows.map((r, n) => {
      const by = new Map(r.days.map((d) => [d.date, d.cumulative_pnl]));
      let last = null; // it is unchanged on days without fills and resolutions
      return { name: r.username || short(r.address), ink: n % 5, dash: (n + 2 * (n > 4)) % 5, values: days.map((d) => (last = by.get(d) ?? last)) };
    }) }] });
  },
});

const figures = panel({
  name: "Figures", size: 200, url: compared, lone: true,
  draw: ({ data }) => [
    table({ name: "Figures of the wallets, all time", rows: data.filter((r) => r.found), per: 10, order: "as added", columns: [
      { name: "Wallet", head: true, phone: "main", cell: wallet }, profitColumn(), { name: "Return on buys", num: true, sort: (r) => r.roi, cell: (r) => num(r.roi, "ratio", "nothing was bought") },
      { name: "Markets won", num: true, sort: (r) => r.win_rate, cell: (r) => [num(r.win_rate, "share", "no market of it is resolved"), el("small", {}, " ", num(r.winning_markets), " of ", num(r.resolved_markets))] },
      { name: "Volume", money: (r) => r.volume }, { name: "Fills", num: true, sort: (r) => r.trades, cell: (r) => num(r.trades) }, { name: "as maker", num: true, sort: (r) => r.maker_trades, cell: (r) => num(r.maker_trades) },
      { name: "Days", num: true, sort: (r) => r.active_days, cell: (r) => num(r.active_days) }, { name: "First fill", num: true, cell: (r) => when(r.first_trade_at, "day") },
      { name: "Remove", quiet: true, cell: (r) => el("button", { type: "button", class: "quiet small", "aria-label": "Remove " + r.address, onclick: () => { who = who.filter((a) => a !== r.address); load(); } }, "Remove") }] }),
    data.some((r) => !r.found) ? state("empty", "No trades are known of: ", data.filter((r) => !r.found).map((r) => el("code", {}, r.address)), ".") : null,
  ],
});
const none = state("empty", "No wallet yet. Add the address of one, or mark wallets on the leaderboard of traders.");
function load() {
  go({ address: who, days: range === "365" ? "" : range });
  none.hidden = who.length > 0;
  lines.hidden = figures.hidden = who.length === 0;
  if (who.length) { lines.load(); figures.load(); }
}
const left = dropped.length ? state("empty", "Left out: ", dropped.map((a) => [el("code", { "data-text": true }, a), " "]), "(an address is 0x and 40 hexadecimal digits, and at most ten are compared).") : "";
explorer().replaceChildren(el("h1", {}, "Compare wallets"), form, left, none, lines, figures);
load();
