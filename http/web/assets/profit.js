// Profit is never shown without its parts.
import { address, el, num, sum } from "./core.js";

// resolvedPart returns the profit in resolved markets; null if the response does not have it.
export const resolvedPart = (row) => (row.resolved_pnl != null ? row.resolved_pnl : row.unresolved_cash ? sum([row.real_pnl], [row.unresolved_cash]) : null);

// split says in words what the profit of a row consists of.
export function split(row) {
  if (row.resolved_pnl != null || row.unresolved_cash) { // rows of a leaderboard have them only if requested
    const cash = row.unresolved_cash || sum([row.real_pnl], [row.resolved_pnl]);
    return [tight(num(resolvedPart(row), "profit"), " resolved,"), " ", tight(num(cash, "profit"), " unresolved cash")];
  }
  return [tight(num(row.net_cash, "profit"), " cash,"), " ", tight(num(row.redemption_value, "profit"), " settled")];
}
const tight = (...words) => el("span", { class: "tight" }, words);

// profitColumn is a table column with the profit and its split below it.
export const profitColumn = (name = "Profit, USD", field = "real_pnl") => ({ name, phone: "key", cls: "profit", form: "profit", bar: true, money: (r) => r[field], below: split });

// leaderboardUrl returns the address of the leaderboard of wallets with the split of each profit
// and what else is requested. A server without single trades has only the plain leaderboard:
// plainLeaderboard is given the problem of a request, and returns whether to retry with the plain
// one.
let plain = false;
export const leaderboardUrl = (params, include = []) => {
  const filtered = params.category || params.min_resolved || params.sort;
  return address("/leaderboard/traders", plain && !filtered ? params : { ...params, include: ["split", ...include] });
};
export const plainLeaderboard = (problem) => problem.code === "fills_elsewhere" && !plain && (plain = true);
