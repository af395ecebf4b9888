// The grid of the weather desk.
import { address, el, go, here, num, title, explorer } from "./core.js";
import { choice, panel, pick } from "./ui.js";
import { cityCell, steps } from "./cells.js";

const q = here();
let metric = q.get("metric") || "tmax", show = q.get("show") || "anomaly", order = q.get("order") || "name";
title("Weather");
const regions = [["Europe", (c) => c.lon > -25 && c.lon < 45 && c.lat > 34], ["Africa and the Middle East", (c) => c.lon > -25 && c.lon < 60 && c.lat <= 38], ["Asia and the Pacific", (c) => c.lon >= 45], ["The Americas", () => true]];
const shown = () => go({ metric: metric === "tmax" ? "" : metric, show: show === "anomaly" ? "" : show, order: order === "name" ? "" : order });
const again = () => { shown(); grid.load(); };
const grid = panel({
  name: "Cities", cls: "first", size: 800, url: () => address("/weather/cities"), lone: true,
  draw: (a, { lead }) => {
    lead.replaceChildren(num(a.volume_24h_total, "usd0"), " USD traded in this UTC day, ", num(a.volume_7d_total, "usd0"), " in seven days, ", num(a.volume_lifetime_total, "usd0"), " ever");
    const by = { name: (x, y) => (x.name < y.name ? -1 : 1), volume: (x, y) => y.volume_24h - x.volume_24h, anomaly: (x, y) => Math.abs(y.anomaly?.[metric] ?? 0) - Math.abs(x.anomaly?.[metric] ?? 0), west: (x, y) => x.lon - y.lon }[order];
    const left = [...a.data].sort(by);
    const cells = (list) => el("ul", { class: "grid-cells" }, list.map((c) => el("li", {}, cityCell(c, metric, false, show))));
    const legend = show === "volume" ? null : el("ol", { class: "steps", "aria-label": "Classes of the anomaly in degrees Celsius" },
      [...steps].reverse().map((s, i) => el("li", { class: "c-" + (4 - i), "data-fixed": true }, "≤ −" + s)), el("li", { class: "c0" }, "normal"), steps.map((s, i) => el("li", { class: "c" + (i + 1), "data-fixed": true }, "≥ +" + s)));
    const first = [legend, el("p", { class: "note" }, show === "volume" ? "Volume of the city's temperature markets in this UTC day." : "Forecast minus normal of the city's local day, in degrees of the city's markets; classes are in °C. ", "A dashed border: no market is open.")];
    if (order !== "name") return [first, cells(left)];
    const taken = new Set();
    return [first, regions.map(([name, inside]) => {
      const list = left.filter((c) => !taken.has(c.city) && inside(c));
      list.forEach((c) => taken.add(c.city));
      return list.length ? [el("h3", {}, name), cells(list)] : null;
    })];
  },
});
explorer().replaceChildren(el("div", { class: "title" }, el("h1", {}, "Weather"), el("div", { class: "acts" }, el("a", { class: "button quiet", href: "/weather/traders" }, "Traders"))), el("div", { class: "filters" },
  choice("Temperature", [["tmax", "high"], ["tmin", "low"]], metric, (v) => { metric = v; again(); }), choice("Shown", [["anomaly", "anomaly"], ["volume", "volume"]], show, (v) => { show = v; again(); }),
  pick("Order", [["name", "by region"], ["anomaly", "largest anomaly"], ["volume", "most volume"], ["west", "west to east"]], order, (v) => { order = v; again(); })), grid);
grid.load();
