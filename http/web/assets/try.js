// Sends the requests of the forms "Try it" with the key of the header, and shows
// samples in the language that was chosen last.
import { key } from "./core.js";
import { copier } from "./ui.js";

// flat gives the end of a list of plain values that starts at i; -1 where it
// holds lists or objects.
function flat(text, i) {
  const found = /^\[(?:[^"[\]{}]|"(?:[^"\\]|\\.)*")*\]/.exec(text.slice(i, i + 2000));
  return found ? i + found[0].length : -1;
}

// indent breaks JSON into lines without reading its numbers: 0.1 stays 0.1,
// however many digits a number has. A list of plain values stays on its line.
function indent(text) {
  let out = "", depth = 0, quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      out += c;
      if (c === "\\") out += text[++i];
      else if (c === '"') quoted = false;
    } else if (c === '"') {
      quoted = true;
      out += c;
    } else if (c === "{" || c === "[") {
      const close = c === "{" ? "}" : "]";
      if (text[i + 1] === close) { out += c + close; i++; continue; }
      const end = c === "[" ? flat(text, i) : -1;
      if (end > 0) { out += text.slice(i, end).replaceAll(",", ", "); i = end - 1; continue; }
      out += c + "\n" + "  ".repeat(++depth);
    } else if (c === "}" || c === "]") {
      out += "\n" + "  ".repeat(--depth) + c;
    } else if (c === ",") {
      out += c + "\n" + "  ".repeat(depth);
    } else {
      out += c === ":" ? ": " : c;
    }
  }
  return out;
}

// requestOf gives the address and the settings of the request a form stands for.
function requestOf(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const headers = {};
  let body;
  for (const field of form.querySelectorAll("[data-in]")) {
    const value = field.value.trim();
    if (value === "") continue;
    switch (field.dataset.in) {
    case "path": path = path.replace("{" + field.name + "}", encodeURIComponent(value)); break;
    case "header": headers[field.name] = value; break;
    case "body": body = value; headers["Content-Type"] = "application/json"; break;
    default:
      for (const one of field.dataset.many ? value.split(",") : [value]) query.append(field.name, one.trim());
    }
  }
  if (key.get() !== "") headers["X-API-Key"] = key.get();
  const words = query.toString();
  return { url: path + (words && "?" + words), settings: { method: form.dataset.method, headers, body, cache: "no-store" } };
}

function line(className, text) {
  const p = document.createElement("p");
  p.className = className;
  p.textContent = text;
  return p;
}

async function send(form) {
  const out = form.querySelector("output");
  const { url, settings } = requestOf(form);
  out.replaceChildren(line("asking", settings.method + " " + url));
  const began = performance.now();
  let answer, text;
  try {
    answer = await fetch(url, settings);
    const kind = answer.headers.get("Content-Type") || "";
    if (kind.includes("json")) text = indent(await answer.text());
    else text = (await answer.blob()).size + " bytes of " + kind;
  } catch (failure) {
    out.replaceChildren(line("result failed", "No response: " + failure.message));
    return;
  }
  const took = Math.round(performance.now() - began);
  const left = answer.headers.get("X-RateLimit-Remaining");
  const result = line("result " + (answer.ok ? "fine" : "failed"),
    answer.status + " in " + took + " ms" + (left === null ? "" : ", " + left + " requests left this minute"));
  const pre = document.createElement("pre");
  pre.tabIndex = 0;
  pre.textContent = text;
  out.replaceChildren(line("asking", settings.method + " " + url), result, pre);
  out.dataset.status = answer.status;
}

// forms brings the page's form and samples to life, where it has any.
export function forms() {
  for (const form of document.querySelectorAll("form.try")) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      delete form.querySelector("output").dataset.status;
      send(form);
    });
  }

  const kept = "pmx-language";
  const languages = [...document.querySelectorAll("#languages button")];
  function choose(name) {
    for (const b of languages) b.setAttribute("aria-pressed", String(b.dataset.sample === name));
    for (const s of document.querySelectorAll(".sample")) s.hidden = s.dataset.name !== name;
  }
  for (const s of document.querySelectorAll(".sample")) {
    const code = s.querySelector("code");
    code.textContent = code.textContent.replace("HOST", location.origin);
    s.prepend(copier(() => code.textContent));
  }
  for (const b of languages) {
    b.addEventListener("click", () => {
      choose(b.dataset.sample);
      try { localStorage.setItem(kept, b.dataset.sample); } catch { /* storage is switched off */ }
    });
  }
  try {
    const name = localStorage.getItem(kept);
    if (languages.some((b) => b.dataset.sample === name)) choose(name);
  } catch { /* as above */ }
}
