// Small lines without axes, always next to their number.
import { svg } from "./core.js";

// spark draws values, and base, a level for comparison.
export function spark(values, base) {
  const numbers = values.filter((v) => v !== null && v !== undefined).map(Number);
  const node = svg("svg", { class: "spark", viewBox: "0 0 80 20", "aria-hidden": "true" });
  if (numbers.length < 2) return node;
  const low = Math.min(...numbers, base ?? Infinity), high = Math.max(...numbers, base ?? -Infinity);
  const x = (i) => (2 + 74 * i / (numbers.length - 1)).toFixed(1), y = (v) => (18 - 16 * (v - low) / (high - low || 1)).toFixed(1);
  if (base !== undefined) node.append(svg("path", { class: "base", d: "M0 " + y(base) + "H80" }));
  node.append(svg("path", { class: "line", d: "M" + numbers.map((v, i) => x(i) + " " + y(v)).join("L") }), svg("circle", { cx: x(numbers.length - 1), cy: y(numbers.at(-1)), r: 2 }));
  return node;
}
