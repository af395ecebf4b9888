// Keeps the status page up to date. Figures are put in place; the strips of the
// past come with the page, which is loaded anew every ten minutes.
const every = 15000, anew = 600000, began = Date.now();
let paused = false, looked = Date.now(), silent = false;
const find = (selector, within = document) => within.querySelector(selector);
const told = document.createElement("span");
const button = Object.assign(document.createElement("button"), { type: "button", className: "quiet small", textContent: "Pause" });
button.addEventListener("click", () => { paused = !paused; button.textContent = paused ? "Go on" : "Pause"; tell(); });

function tell() {
  if (paused) told.textContent = "Refreshing is paused.";
  else if (silent) told.textContent = "The server does not answer; what is shown is from before.";
  else told.textContent = "Refreshed " + Math.round((Date.now() - looked) / 1000) + " s ago, again every " + every / 1000 + " s.";
}

// span gives seconds in their two largest units: 3 d 4 h.
function span(seconds) {
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const first = Math.max(0, units.findIndex(([, size]) => seconds >= size || size === 1));
  const [name, size] = units[first], next = units[first + 1], rest = next && Math.floor((seconds % size) / next[1]);
  return Math.floor(seconds / size) + " " + name + (rest ? " " + rest + " " + next[0] : "");
}

function put(box, part) {
  const badge = find(".badge", box);
  badge.textContent = part.grade;
  badge.className = "badge grade-" + part.grade.toLowerCase();
  find("[data-lag]", box).textContent = part.lag_seconds === null ? "Nothing yet" : span(part.lag_seconds) + " behind";
  find("[data-updated]", box).textContent = part.updated_at || "never";
}

async function look() {
  if (paused || document.hidden) return;
  if (Date.now() - began > anew) { location.reload(); return; }
  try {
    const answer = await fetch("/api/v3/status/public", { cache: "no-cache" });
    if (!answer.ok) throw new Error("status " + answer.status);
    const { data } = await answer.json();
    if (data.grade !== find("[data-verdict]").dataset.verdict || data.sources.length !== document.querySelectorAll("[data-source]").length) { location.reload(); return; }
    for (const box of document.querySelectorAll("[data-part]")) put(box, data[box.dataset.part]);
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
