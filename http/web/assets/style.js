// The page of the house style.
import { Exact, address, el, num, svg, title, explorer } from "./core.js";
import { panel, state, table } from "./ui.js";
import { plot } from "./plot.js";

const section = (name, ...kids) => el("section", { class: "panel" }, el("h2", {}, name), kids);
const swatch = (token, what) => {
  const box = svg("svg", { viewBox: "0 0 100 20", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { width: 100, height: 20 }));
  box.firstChild.style.fill = "var(--" + token + ")";
  return el("li", {}, box, el("code", {}, token), " ", what);
};
const made = (text) => new Exact(text, "");

title("House style");
const daily = panel({
  name: "A plot", note: "each answers one question; zero is drawn, gaps are kept, unfinished values are hollow, and every plot has keys and a table", size: 300,
  url: () => address("/stats/daily", { days: 30 }),
  draw: (answer) => plot({
    name: "Volume by day", times: answer.data.map((d) => d.date), partial: answer.data.map((d) => d.is_partial),
    panes: [{ height: 160, form: "usd", zero: true, series: [{ name: "volume, USD", kind: "columns", values: answer.data.map((d) => d.volume) }] }],
  }),
});
explorer().replaceChildren(
  el("h1", {}, "House style"),
  el("p", { class: "lead" }, "Lines, no cards; two weights, five sizes, one number form per column. Every figure is the API's, and keeps its exact text on focus and when copied."),
  section("Type", ...[["36", "2.25rem", "The one number of a page"], ["20", "1.25rem", "Title of a page"], ["16", "1rem", "Text, names of sections"], ["14", ".875rem", "Tables, forms"], ["13", ".8125rem", "Notes, names of columns"]].map(([px, size, what]) => {
    const line = el("p", { "data-fixed": true }, what + ", " + px + " px");
    line.style.fontSize = size;
    return line;
  })),
  section("Colours", el("p", {}, "Gain is blue and loss is orange, so that they stay apart for every form of colour blindness; the sign and the side of zero say the same. Links are teal and underlined in text. Volumes, flows and the parts of a profit have no colour."),
    el("ul", { class: "swatches" }, [["ink", "text, first line"], ["soft", "notes, axes"], ["rule", "lines between rows"], ["control", "borders of fields, zero"], ["link", "links, focus"], ["gain", "profit"], ["loss", "loss"], ["warn", "stale, locked, resolved"], ["line2", "second line"], ["line3", "third line"], ["line4", "fourth line"], ["line5", "fifth line"]].map(([t, w]) => swatch(t, w))),
    el("p", {}, "Heat maps have nine classes, and the value in each cell:"),
    el("ol", { class: "steps" }, ["−4", "−3", "−2", "−1", "0", "+1", "+2", "+3", "+4"].map((t, i) => el("li", { class: "c" + (i - 4), "data-fixed": true }, t)))),
  section("Numbers", table({ name: "Forms of numbers", rows: [["profit", "91787.35857", "sign always, whole dollars; under 100 two decimals"], ["profit", "-51003.78536", "a real minus, never brackets"], ["brief", "12372800.45835", "compact in headlines from a million on"], ["cents", "0.603", "prices"], ["share", "0.380054", "shares and probabilities"], ["ratio", "15.915253", "a return over a thousand per cent as a multiple"], ["change", "-7.604017", "changes in per cent"]], columns: [
    { name: "form", head: true, phone: "main", cell: (r) => r[0] }, { name: "exact", num: true, cell: (r) => el("code", { "data-fixed": true }, r[1]) }, { name: "shown", num: true, phone: "key", cell: (r) => num(made(r[1]), r[0]) }, { name: "rule", cell: (r) => el("span", { "data-fixed": true }, r[2]) }] }),
    el("p", {}, "An unknown value is a dash ", num(null), " with the reason on focus, never a zero.")),
  section("Space", el("p", { "data-fixed": true }, "A grid of 4 px. 36 px between sections, rows of 36 px, of 44 px where one taps. Pages are at most 74 rem wide. The header is one line. On a phone a row of a table takes two lines instead of scrolling sideways, ten rows are shown at first, and impossible brackets are folded.")),
  section("States",
    state("loading", "Loading markets"), state("empty", "No market fits these filters. Remove one of them."), state("locked", "Not all is shown: the plan gives a part. A larger plan shows more."),
    state("stale", "The data is older than it should be; what is shown is still exact."), state("historical", "This venue has ended: today is its last day."), el("p", { class: "state", "data-kind": "error" }, "The server is busy. Try again.")),
  daily,
);
daily.load();
