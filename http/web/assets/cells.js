// A city of the weather desk as a cell of the grid.
import { el, num } from "./core.js";

// Bounds of the classes of an anomaly in degrees Celsius; each side has four classes.
export const steps = [0.5, 1.5, 3, 5];
export function classOf(anomaly, unit) {
  const x = Math.abs(anomaly) / (unit === "F" ? 1.8 : 1), n = steps.filter((s) => x >= s).length;
  return "c" + (anomaly < 0 && n ? "-" : "") + n;
}
const volumeSteps = [100, 1000, 5000, 20000];

export function cityCell(c, metric, small, show = "anomaly") {
  const a = c.anomaly && c.anomaly[metric], f = c.forecast && c.forecast[metric], reason = (c.null_reasons || {}).anomaly || "no forecast or no normal";
  const cls = c.open_count == 0 ? "dormant" : show === "volume" ? "c" + volumeSteps.filter((s) => c.volume_24h >= s).length : a === null || a === undefined ? "c0" : classOf(Number(a), c.unit);
  return el("a", { class: "cell " + cls, href: "/weather/" + c.city + (metric === "tmin" ? "?metric=tmin" : "") }, el("b", { "data-text": true }, c.name),
    show === "volume" ? [num(c.volume_24h, "usd0"), " USD"] : num(a, "delta", reason), show === "volume" ? null : "°" + c.unit,
    small ? null : el("small", {}, show === "volume" ? [num(c.open_count), " open"] : c.open_count == 0 ? "no open market" : [num(f, "degrees", "no forecast"), "°" + c.unit, el("span", { class: "wide-only" }, ", ", num(c.open_count), " open")]));
}
