// Keeps the status page up to date. Figures are replaced; the strips of the last days are part of
// the page, which is reloaded every ten minutes. The grades and events of the last 90 days are
// added here.
import { address, ask, dayText, el, num, svg, when } from "./core.js";
import { panel, state, table } from "./ui.js";

const every = 15000, reload = 600000, began = Date.now();
let paused = false, looked = Date.now(), silent = false;
const find = (selector, within = document) => within.querySelector(selector);
const told = document.createElement("span");
const button = Object.assign(document.createElement("button"), { type: "button", className: "quiet small", textContent: "Pause" });
button.addEventListener("click", () => { paused = !paused; button.textContent = paused ? "Resume" : "Pause"; tell(); });

function tell() {
  if (paused) told.textContent = "Refreshing is paused.";
  else if (silent) told.textContent = "The server does not answer; the figures shown are older.";
  else told.textContent = "Refreshed " + Math.round((Date.now() - looked) / 1000) + " s ago, again every " + every / 1000 + " s.";
}

// span returns seconds in their two largest units: 3 d 4 h.
function span(seconds) {
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const first = Math.max(0, units.findIndex(([, size]) => seconds >= size || size === 1));
  const [name, size] = units[first], next = units[first + 1], rest = next && Math.floor((seconds % size) / next[1]);
  return Math.floor(seconds / size) + " " + name + (rest ? " " + rest + " " + next[0] : "");
}

function put(box, graded) {
  const badge = find(".badge", box);
  badge.textContent = graded.grade;
  badge.className = "badge grade-" + graded.grade.toLowerCase();
  find("[data-lag]", box).textContent = graded.lag_seconds === null ? "Nothing yet" : span(graded.lag_seconds) + " behind";
  find("[data-updated]", box).textContent = graded.updated_at || "never";
}

async function look() {
  if (paused || document.hidden) return;
  if (Date.now() - began > reload) { location.reload(); return; }
  try {
    const answer = await fetch("/api/v3/status/public", { cache: "no-cache" });
    if (!answer.ok) throw new Error("status " + answer.status);
    const { data } = await answer.json();
    if (data.grade !== find("[data-verdict]").dataset.verdict || data.sources.length !== document.querySelectorAll("[data-source]").length) { location.reload(); return; }
    for (const box of document.querySelectorAll("[data-subsystem]")) put(box, data[box.dataset.subsystem]);
    for (const box of document.querySelectorAll("[data-source]")) {
      const source = data.sources.find((s) => s.name === box.dataset.source);
      if (source) put(box, source);
    }
    find("[data-checked]").textContent = data.checked_at;
    looked = Date.now();
    silent = false;
  } catch {
    silent = true;
  }
  tell();
}

find("#refresh").append(told, " ", button);
tell();
setInterval(look, every);
setInterval(tell, 5000);

// One bar per day, hollow if the day has no sample.
const history = () => address("/status/history", { days: 90 });
const letters = ["A", "B", "C", "D", "F"];
function strip(graded, name) {
  const bars = graded.days.map((d, i) => svg("rect", { class: d.worst ? "grade-" + d.worst.toLowerCase() : "no-sample", x: 10 * i + 1, y: 1, width: 8, height: 30 },
    svg("title", {}, dayText(d.date) + ": " + (d.worst ? "worst grade " + d.worst : "no sample"))));
  const sampled = graded.days.filter((d) => d.worst);
  return el("figure", {}, el("figcaption", {}, "Last ", num(graded.days.length), " days: ", graded.current_pct === null ? "no sample" : [el("b", {}, num(graded.current_pct, "uptime")), " of the time sampled in A or B"]),
    svg("svg", { class: "strip", viewBox: "0 0 " + 10 * graded.days.length + " 32", preserveAspectRatio: "none", role: "img", "aria-label": name + ", worst grade of each day; the table below has the figures" }, bars),
    el("div", { class: "axis" }, when(graded.days[0].date, "day"), el("span", {}, "today")),
    sampled.length ? el("details", { class: "sheet" }, el("summary", {}, "Show as a table"), table({ name: "Grades by day of " + name, rows: [...sampled].reverse(), per: 14, columns: [
      { name: "Day", head: true, phone: "main", cell: (d) => when(d.date, "day") }, { name: "Worst", phone: "key", cell: (d) => d.worst },
      ...letters.map((g) => ({ name: g + ", seconds", num: true, cell: (d) => num(d.seconds[g]) })), { name: "no sample", num: true, cell: (d) => num(d.seconds.none) }, { name: "most behind, s", num: true, cell: (d) => num(d.lag_max_seconds, "count", "no data") }] })) : null);
}
const happened = panel({
  name: "What happened", size: 120, url: history, lone: true, note: "in the last 90 days, newest first",
  draw: ({ data, events }) => {
    for (const graded of data) {
      const box = find(graded.part.startsWith("source:") ? '[data-source="' + CSS.escape(graded.part.slice(7)) + '"]' : '[data-subsystem="' + graded.part + '"]');
      if (box && !find(".days", box)) find(".past", box).prepend(el("div", { class: "days" }, strip(graded, find("h2, h3", box).textContent.slice(2).trim())));
    }
    if (!events.length) return state("empty", "There are no events yet.");
    return table({ name: "What happened", rows: events, per: 15, order: "newest", columns: [
      { name: "UTC", bare: true, cell: (e) => [when(e.at), e.until ? [" to ", when(e.until)] : null] }, { name: "Part", cell: (e) => (e.part ? e.part.replaceAll("_", " ").replace("source:", "") : null) },
      { name: "Kind", phone: "key", cell: (e) => [e.kind, e.grade ? " " + e.grade : ""] }, { name: "What", head: true, phone: "main", cell: (e) => el("span", { "data-text": true }, e.text) }] });
  },
});
find(".grades").before(happened);
happened.load();
