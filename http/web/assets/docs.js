// The reference: its search, its contents on a phone, and the forms of its endpoints.
import { el } from "./core.js";
import { forms } from "./try.js";

const nav = document.querySelector(".toc"), field = document.getElementById("seek"), found = document.getElementById("sought");
let pages = null, asked = 0;

// rank says how well a page matches words: 0 if one of them is not found.
function rank(page, words) {
  let sum = 0;
  for (const w of words) {
    const title = page.title.toLowerCase(), names = " " + page.names + " ";
    const n = title.includes(w) ? 8 : names.includes(" " + w + " ") ? 6 : page.about.toLowerCase().includes(w) ? 4 : names.includes(w) ? 2 : 0;
    if (!n) return 0;
    sum += n;
  }
  return sum;
}

async function seek() {
  const words = field.value.toLowerCase().split(/[\s,]+/).filter((w) => w.length > 1), mine = ++asked;
  if (!words.length) { found.replaceChildren(); return; }
  try {
    pages ||= await (await fetch(nav.dataset.words)).json();
  } catch {
    found.replaceChildren(el("li", { class: "note" }, "The server did not answer. Try again."));
    return;
  }
  if (mine !== asked) return;
  const best = pages.map((page) => [rank(page, words), page]).filter(([n]) => n).sort((a, b) => b[0] - a[0]).slice(0, 10);
  found.replaceChildren(...best.map(([, page]) => {
    const name = page.names.split(" ").find((n) => words.some((w) => n.includes(w)) && !words.some((w) => page.title.toLowerCase().includes(w)));
    return el("li", {}, el("a", { href: page.path }, page.title), el("small", {}, name && /_|^[a-z]+$/.test(name) && page.path.split("/").length > 3 && !page.path.includes("/text/") ? [el("code", {}, name), " "] : null, page.about));
  }));
  if (!best.length) found.append(el("li", { class: "note" }, "Nothing found. Try a path, a parameter, a field, or a word of a definition."));
}

if (field) {
  field.form.addEventListener("submit", (event) => { event.preventDefault(); const first = found.querySelector("a"); if (first) location.href = first.href; });
  field.addEventListener("input", seek);
  field.addEventListener("keydown", (event) => { if (event.key === "Escape") { field.value = ""; seek(); } });
  const open = document.getElementById("contents");
  open.addEventListener("click", () => open.setAttribute("aria-expanded", String(open.getAttribute("aria-expanded") !== "true")));
}

// Requests in the texts name this host.
for (const code of document.querySelectorAll(".prose pre code")) code.textContent = code.textContent.replace(/\w+:..HOST/g, location.origin);

// The target of an address is shown, even if it is folded.
function unfold() {
  const place = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const fold = place && place.closest("details");
  if (fold && !fold.open) { fold.open = true; place.scrollIntoView(); }
}
addEventListener("hashchange", unfold);
unfold();
forms();
