// <pmx-plot>: panes with a common time axis, with a name, a summary, a display of values that
// follows the pointer and the arrow keys, and the same figures as a table.
import { el, forms, num, when, svg } from "./core.js";
import { table } from "./ui.js";

const inks = ["ink", "line2", "line3", "line4", "line5"];
const dashes = [[], [7, 3], [2, 3], [9, 3, 2, 3], [4, 4]];

// colour returns a token of the style sheet as a colour for the canvas.
function colour(node, token) {
  node.style.color = "var(--" + token + ")";
  return getComputedStyle(node).color;
}

const valued = (pane) => pane.series.filter((s) => s.kind !== "points");

const waiting = new IntersectionObserver((entries) => {
  for (const e of entries) if (e.isIntersecting) { waiting.unobserve(e.target); e.target.draw(); }
}, { rootMargin: "200px" });
const sizes = new ResizeObserver((entries) => { for (const e of entries) e.target.fit(); });

// Spec of a plot: name, note, times (RFC 3339 or dates), panes of { height, form, zero, range,
// series: [{ name, values, kind, ink }] }. kind is line, step, bars (coloured by sign), columns
// (one colour), points or candles, whose values are the closing prices, with open, high and low
// next to them. bands of { low, high, on } are drawn behind a pane, label in it; marks are { time,
// text }; cut, the response, says where the plan limits the history; parts returns further nodes
// for the display of values; columns adds columns to the table. Points are marks on a line, not
// values of their own. Up to three times are shown only as the table, which is easier to read than
// a plot.
class Plot extends HTMLElement {
  set spec(spec) { this.given = spec; if (this.isConnected) this.build(); }

  connectedCallback() {
    if (this.given && !this.firstChild) this.build();
    sizes.observe(this);
  }

  disconnectedCallback() { sizes.unobserve(this); this.drop(); }

  drop() { for (const c of this.charts || []) c.destroy(); this.charts = []; }

  build() {
    const s = this.given, id = "plot" + ++Plot.made;
    this.drop();
    this.x = s.times.map((t) => Date.parse(t.length === 10 ? t + "T00:00:00Z" : t) / 1000);
    this.at = this.x.length - 1;
    if (this.x.length <= 3 && s.panes.length < 3) {
      this.replaceChildren(el("figure", {}, el("figcaption", { class: "unseen", "data-fixed": true }, s.name), this.asTable()));
      return;
    }
    const filled = s.panes.some((p) => p.series.some((x) => x.kind !== "line" && x.kind && x.kind !== "step" && x.kind !== "points"));
    const ends = (s.marks || []).map((m) => Date.parse(m.time) / 1000), width = this.x.length > 1 ? this.x.at(-1) - this.x[0] : 86400;
    this.last = Math.max(this.x.at(-1), ...ends.filter((t) => t < this.x.at(-1) + width / 3));
    this.first = s.cut && s.cut.truncated && s.cut.max_history_days ? this.x[0] - width / 12 : this.x[0];
    this.pad = this.x.length < 2 ? 43200 : filled ? width / (this.x.length - 1) / 2 : 0; // a single value is in the middle of a day
    this.probe = el("span", { hidden: true });
    this.area = el("div", { class: "canvases", tabindex: 0, role: "slider", "aria-label": s.name, "aria-describedby": id, "aria-valuemin": 0, "aria-valuemax": this.x.length - 1, "aria-valuenow": this.at, onkeydown: (e) => this.press(e) });
    this.out = el("p", { class: "readout", "aria-hidden": "true" });
    // A series of points has a dot in the legend.
    const keyed = s.panes.every((p) => p.label) ? [] : s.panes.flatMap((p) => p.series).filter((x) => !["bars", "columns", "candles"].includes(x.kind));
    const legend = keyed.length > 1 ? el("ul", { class: "legend" }, keyed.map((x) => el("li", { "data-fixed": true }, this.swatch(x), x.name))) : null;
    this.sheet = el("details", { class: "sheet" }, el("summary", {}, "Show as a table"));
    this.sheet.addEventListener("toggle", () => { if (this.sheet.open && !this.sheet.querySelector("table")) this.sheet.append(this.asTable()); });
    const height = s.panes.reduce((n, p) => n + p.height, 0) + 28;
    this.area.style.minHeight = height + "px";
    this.replaceChildren(this.probe, el("figure", {}, el("figcaption", { class: "unseen", id }, this.summary()), legend, this.area, this.out, this.sheet));
    this.read(this.at, false);
    waiting.observe(this);
  }

  swatch(series) {
    const dot = series.kind === "points";
    return svg("svg", { viewBox: "0 0 24 8", class: "swatch ink-" + (series.ink || 0), "aria-hidden": "true" },
      svg("path", { d: dot ? "M12 4H12" : "M0 4H24", "stroke-width": dot && 4, "stroke-dasharray": !dot && dashes[series.dash ?? series.ink ?? 0].join(" ") }));
  }

  // summary describes the plot in one sentence per series.
  summary() {
    const s = this.given;
    if (!this.x.length) return "Nothing to show.";
    return [s.panes.flatMap((p) => valued(p).map((series) => {
      const known = series.values.filter((v) => v !== null && v !== undefined);
      if (!known.length) return el("span", { "data-fixed": true }, series.name + ": no values. ");
      const low = known.reduce((a, b) => (b < a ? b : a)), high = known.reduce((a, b) => (b > a ? b : a));
      return [el("span", { "data-fixed": true }, series.name), ": from ", num(known[0], p.form), " to ", num(known.at(-1), p.form), ", lowest ", num(low, p.form), ", highest ", num(high, p.form), ". "];
    })), "Arrow keys move through the values."];
  }

  asTable() {
    const s = this.given;
    const rows = this.x.map((_, i) => i).reverse();
    return table({ name: s.name, per: 25, rows, columns: [
      { name: "UTC", head: true, phone: "main", cell: (i) => when(s.times[i], s.times[i].length === 10 ? "day" : "time") },
      ...s.panes.flatMap((p) => valued(p).map((series) => ({ name: series.name, num: true, phone: series === s.panes[0].series[0] ? "key" : "meta", cell: (i) => num(series.values[i], p.form, "no value") }))),
      ...(s.columns || []),
    ] });
  }

  // draw makes the canvases; the library is loaded before this module.
  draw() {
    if (!this.isConnected || !this.x.length || !this.area) return;
    this.drop();
    this.area.replaceChildren();
    const width = this.area.clientWidth, last = this.given.panes.length - 1;
    if (!width) return;
    this.width = width;
    this.charts = this.given.panes.map((pane, i) => new uPlot(this.options(pane, width, i === last), this.columns(pane), this.area));
    for (const n of this.area.querySelectorAll(".u-over")) n.setAttribute("aria-hidden", "true");
    this.point();
  }

  columns(pane) {
    const data = [this.x];
    for (const s of pane.series) {
      const numbers = s.values.map((v) => (v === null || v === undefined ? null : Number(v)));
      if (s.kind === "bars") data.push(numbers.map((v) => (v > 0 ? v : null)), numbers.map((v) => (v < 0 ? v : null)));
      else data.push(numbers);
    }
    return data;
  }

  options(pane, width, axis) {
    const ink = (token) => colour(this.probe, token);
    const soft = ink("soft"), line = ink("rule"), font = "12px system-ui, sans-serif";
    const series = [{}];
    for (const s of pane.series) {
      if (s.kind === "bars") {
        for (const token of ["gain", "loss"]) series.push({ fill: ink(token), width: 0, paths: uPlot.paths.bars({ size: [0.75, 18] }), points: { show: false } });
      } else if (s.kind === "candles") {
        series.push({ stroke: "transparent", points: { show: false } });
      } else if (s.kind === "columns") {
        series.push({ fill: ink("soft"), width: 0, paths: uPlot.paths.bars({ size: [0.75, 18] }), points: { show: false } });
      } else {
        const n = s.ink || 0;
        series.push({
          stroke: ink(inks[n]), width: s.kind === "points" ? 0 : 1.75, dash: dashes[s.dash ?? n], spanGaps: Boolean(s.join), points: { show: s.kind === "points" || s.values.filter((v) => v !== null && v !== undefined).length === 1, size: s.kind === "points" ? 7 : 5, fill: ink(inks[n]) },
          paths: s.kind === "step" ? uPlot.paths.stepped({ align: 1 }) : s.kind === "points" ? () => null : undefined,
        });
      }
    }
    const ticks = { stroke: soft, font, grid: { stroke: line, width: 1 }, ticks: { show: false } };
    return {
      width, height: pane.height + (axis ? 28 : 0), series, legend: { show: false }, padding: [pane.label || pane === this.given.panes[0] && (this.given.marks || []).some((m) => m.text) ? 20 : 10, 24, axis ? 0 : 8, 0],
      tzDate: (ts) => uPlot.tzDate(new Date(ts * 1000), "Etc/UTC"),
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false }, focus: { prox: -1 } },
      scales: { x: { time: true, range: () => [this.first - this.pad, this.last + this.pad] }, y: { range: pane.range ? () => pane.range : (_, low, high) => this.range(pane, low, high) } },
      axes: [
        { ...ticks, show: axis, size: 28, space: 70, grid: { show: false }, values: (_, all) => this.times(all) },
        { ...ticks, size: 56, space: 28, gap: 6, values: (_, all) => all.map((v) => (pane.axis ? pane.axis(v) : forms.axis(v))) },
      ],
      hooks: {
        drawAxes: [(u) => { this.behind(u, pane); this.rules(u, pane); }],
        draw: [(u) => { for (const s of pane.series) if (s.kind === "candles") this.candles(u, s); this.unfinished(u, pane); }],
        setCursor: [(u) => { if (u.cursor.idx !== null && u.cursor.idx !== undefined && u.cursor.left >= 0 && !this.held) this.read(u.cursor.idx, true, u); }],
      },
    };
  }

  range(pane, low, high) {
    if (low === null || low === undefined) return [0, 1];
    for (const s of pane.series) if (s.kind === "candles") { low = Math.min(low, ...this.known(s.low)); high = Math.max(high, ...this.known(s.high)); }
    if (pane.zero) { low = Math.min(0, low); high = Math.max(0, high); }
    if (low === high) return [low - 1, high + 1];
    const room = (high - low) * 0.08;
    return [pane.zero && low === 0 ? 0 : low - room, pane.zero && high === 0 ? 0 : high + room];
  }

  times(all) {
    const long = all.length > 1 && all[1] - all[0] >= 86400;
    const form = new Intl.DateTimeFormat(navigator.language, long || all.length < 2 ? { day: "numeric", month: "short", timeZone: "UTC" } : { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: "UTC" });
    const day = new Intl.DateTimeFormat(navigator.language, { day: "numeric", month: "short", timeZone: "UTC" });
    return all.map((t) => (!long && t % 86400 === 0 ? day : form).format(new Date(t * 1000)));
  }

  known(values) { return values.filter((v) => v !== null && v !== undefined).map(Number); }

  // behind draws what is under the lines: bands, and the start of the plan's history.
  behind(u, pane) {
    const { ctx, bbox } = u, ratio = window.devicePixelRatio || 1;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const band of pane.bands || []) {
      const low = u.valToPos(band.low ?? u.scales.y.min, "y", true), high = u.valToPos(band.high ?? u.scales.y.max, "y", true);
      ctx.fillStyle = colour(this.probe, band.on ? "cold1" : "tint");
      ctx.fillRect(bbox.left, high, bbox.width, low - high);
    }
    if (this.first < this.x[0]) {
      const right = u.valToPos(this.x[0], "x", true);
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, right - bbox.left, bbox.height);
      ctx.clip();
      ctx.strokeStyle = colour(this.probe, "warn");
      ctx.lineWidth = ratio;
      ctx.beginPath();
      for (let x = bbox.left - bbox.height; x < right; x += 8 * ratio) { ctx.moveTo(x, bbox.top + bbox.height); ctx.lineTo(x + bbox.height, bbox.top); }
      ctx.stroke();
    }
    ctx.restore();
  }

  // candles draws one per step: hollow if the price rose, filled if it fell.
  candles(u, s) {
    const { ctx, bbox } = u, ratio = window.devicePixelRatio || 1, y = (v) => u.valToPos(Number(v), "y", true);
    const steps = this.x.slice(1).map((t, i) => t - this.x[i]), step = steps.length ? Math.min(...steps) : 86400;
    const width = Math.max(ratio, Math.min(14 * ratio, 0.7 * (u.valToPos(this.x[0] + step, "x", true) - u.valToPos(this.x[0], "x", true))));
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    const [gain, loss, back] = ["gain", "loss", "back"].map((token) => colour(this.probe, token));
    ctx.lineWidth = ratio;
    this.x.forEach((t, i) => {
      if (s.values[i] === null || s.values[i] === undefined) return;
      const x = Math.round(u.valToPos(t, "x", true)) + 0.5, rose = s.values[i] >= s.open[i], top = Math.min(y(s.open[i]), y(s.values[i])), tall = Math.max(ratio, Math.abs(y(s.open[i]) - y(s.values[i])));
      ctx.strokeStyle = rose ? gain : loss;
      ctx.fillStyle = rose ? back : loss;
      ctx.beginPath();
      ctx.moveTo(x, y(s.high[i]));
      ctx.lineTo(x, y(s.low[i]));
      ctx.stroke();
      ctx.fillRect(x - width / 2, top, width, tall);
      ctx.strokeRect(x - width / 2, top, width, tall);
    });
    ctx.restore();
  }

  // unfinished draws the last point of a line, or a bar, hollow if its time is not over.
  unfinished(u, pane) {
    const { ctx } = u, ratio = window.devicePixelRatio || 1, at = (v, axis) => u.valToPos(v, axis, true);
    ctx.save();
    ctx.setLineDash([]);
    ctx.fillStyle = colour(this.probe, "back");
    for (const s of pane.series) {
      if (s.kind === "candles" || s.kind === "points") continue;
      const bars = s.kind === "bars" || s.kind === "columns";
      s.values.forEach((v, i) => {
        if (!(this.given.partial || [])[i] || v === null || v === undefined) return;
        ctx.beginPath();
        if (bars) {
          const wide = Math.min(18 * ratio, 0.75 * (at(this.x[1], "x") - at(this.x[0], "x"))) - 2 * ratio, y = at(Number(v), "y"), tall = at(0, "y") - y, edge = Math.sign(tall) * ratio;
          if (wide > 1 && Math.abs(tall) > 3 * ratio) ctx.rect(at(this.x[i], "x") - wide / 2, y + edge, wide, tall - 2 * edge);
          ctx.fill();
        } else {
          ctx.strokeStyle = colour(this.probe, inks[s.ink || 0]);
          ctx.lineWidth = 1.5 * ratio;
          ctx.arc(at(this.x[i], "x"), at(Number(v), "y"), 3.5 * ratio, 0, 7);
          ctx.fill();
          ctx.stroke();
        }
      });
    }
    ctx.restore();
  }

  // rules draws the zero line, levels, marks and the name of the pane.
  rules(u, pane) {
    const { ctx, bbox } = u, ratio = window.devicePixelRatio || 1;
    ctx.save();
    const across = (y, token, dash) => {
      ctx.strokeStyle = colour(this.probe, token);
      ctx.lineWidth = ratio;
      ctx.setLineDash(dash);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
    };
    const base = pane.base ?? 0;
    if (u.scales.y.min <= base && u.scales.y.max >= base && (pane.zero || pane.base !== undefined)) across(Math.round(u.valToPos(base, "y", true)), "control", []);
    for (const level of pane.levels || []) across(Math.round(u.valToPos(level, "y", true)), "soft", [3 * ratio, 3 * ratio]);
    ctx.font = 12 * ratio + "px system-ui, sans-serif";
    if (pane.label) {
      ctx.fillStyle = colour(this.probe, "soft");
      ctx.textAlign = "left";
      const marked = pane === this.given.panes[0] ? Math.max(0, ...(this.given.marks || []).map((m) => ctx.measureText("  " + (m.text || "")).width)) : 0;
      let label = pane.label;
      for (let n = label.length; n > 8 && ctx.measureText(label).width > bbox.width - marked; n--) label = pane.label.slice(0, n).trimEnd() + "…";
      ctx.fillText(label, bbox.left, bbox.top - 6 * ratio);
    }
    for (const mark of this.given.marks || []) {
      const x = Math.round(u.valToPos(Date.parse(mark.time) / 1000, "x", true));
      if (!(x >= bbox.left && x <= bbox.left + bbox.width)) continue;
      ctx.strokeStyle = ctx.fillStyle = colour(this.probe, "warn");
      ctx.lineWidth = ratio;
      ctx.setLineDash([4 * ratio, 3 * ratio]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      if (pane === this.given.panes[0] && mark.text) {
        const left = x > bbox.left + bbox.width / 2;
        ctx.textAlign = left ? "right" : "left";
        ctx.fillText(mark.text, x, bbox.top - 6 * ratio);
      }
    }
    ctx.restore();
  }

  press(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageUp: 7, PageDown: -7 }[event.key];
    const to = event.key === "Home" ? 0 : event.key === "End" ? this.x.length - 1 : step === undefined ? null : this.at + step;
    if (to === null) return;
    event.preventDefault();
    this.read(Math.max(0, Math.min(this.x.length - 1, to)), true);
  }

  // read shows the values at index i below the plot.
  read(i, move, from) {
    if (i < 0 || i >= this.x.length) { this.out.textContent = "Nothing to show yet."; return; }
    if (move && i === this.at && this.told === i) return;
    this.at = this.told = i;
    const s = this.given;
    const all = s.panes.flatMap((p) => valued(p).map((series) => [series, p])), known = all.filter(([series]) => series.values[i] !== null && series.values[i] !== undefined);
    const values = (known.length ? known : all).map(([series, p]) => el("span", {}, el("span", { "data-fixed": true }, series.name), " ", num(series.values[i], p.form, "no value")));
    this.out.replaceChildren(when(s.times[i], s.times[i].length === 10 ? "day" : "time"), ...values, ...(s.parts ? s.parts(i) : []), ...(s.partial && s.partial[i] ? [el("em", {}, "not finished")] : []));
    this.area.setAttribute("aria-valuenow", i);
    this.area.setAttribute("aria-valuetext", [...this.out.children].map((n) => n.textContent).join(", "));
    if (move) this.point(from);
  }

  point(except) {
    this.held = true;
    for (const c of this.charts || []) if (c !== except) c.setCursor({ left: c.valToPos(this.x[this.at], "x"), top: 10 }, false);
    this.held = false;
  }

  fit() {
    if (this.charts && this.charts.length && this.area.clientWidth && this.area.clientWidth !== this.width) this.draw();
  }
}
Plot.made = 0;
customElements.define("pmx-plot", Plot);

export function plot(spec) {
  const node = document.createElement("pmx-plot");
  node.spec = spec;
  return node;
}

// Plots are redrawn when the colour scheme changes, in light colours for printing too. For paper, all of them are drawn
// as wide as they will be there, about: the style sheet fits the rest.
const again = () => { for (const p of document.querySelectorAll("pmx-plot")) if (p.charts && p.charts.length) p.draw(); };
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
new MutationObserver(again).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
const paper = (css) => {
  document.documentElement.style.cssText = css;
  for (const p of document.querySelectorAll("pmx-plot")) p.draw();
};
addEventListener("beforeprint", () => paper("width:840px;font-size:11px"));
addEventListener("afterprint", () => paper(""));
