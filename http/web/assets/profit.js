// Profit is never shown without what it is made of.
import { el, num, sum } from "./core.js";

// resolvedPart is the profit of markets that are resolved, null where the answer
// does not have it.
export const resolvedPart = (row) => (row.resolved_pnl != null ? row.resolved_pnl : row.unresolved_cash ? sum([row.real_pnl], [row.unresolved_cash]) : null);

// split says in words of what the profit of a row consists.
export function split(row) {
  if (row.resolved_pnl != null || row.unresolved_cash) { // rows of a board have neither unless they are asked for
    const cash = row.unresolved_cash || sum([row.real_pnl], [row.resolved_pnl]);
    return [num(resolvedPart(row), "profit"), " from resolved markets, ", num(cash, "profit"), " cash of others"];
  }
  return [num(row.net_cash, "profit"), " cash, ", num(row.redemption_value, "profit"), " settled"];
}

// profitColumn is the profit of rows as a column of a table, with its split below it.
export const profitColumn = (name = "Profit, USD", field = "real_pnl") => ({ name, phone: "key", cls: "profit", form: "profit", bar: true, money: (r) => r[field], below: split });
