// Sends the requests of the forms "Try it" with the key of the header, and shows samples of them in
// the language that was chosen last.
import { key } from "./core.js";
import { copier } from "./ui.js";

// flat returns the end of a list of plain values that starts at i; -1 if it contains lists or
// objects.
function flat(text, i) {
  const found = /^\[(?:[^"[\]{}]|"(?:[^"\\]|\\.)*")*\]/.exec(text.slice(i, i + 2000));
  return found ? i + found[0].length : -1;
}

// indent indents JSON without parsing its numbers: 0.1 stays 0.1, however many digits a number has.
// A list of plain values stays on one line.
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

// requestOf returns the address and the settings of the request of a form.
function requestOf(form) {
  let path = form.dataset.path, sketch = path;
  const query = new URLSearchParams();
  const headers = {};
  let body;
  for (const field of form.querySelectorAll("[data-in]")) {
    const value = field.value.trim();
    if (value === "") {
      if (field.dataset.in === "path") sketch = sketch.replace("{" + field.name + "}", encodeURIComponent(field.placeholder));
      continue;
    }
    sketch = sketch.replace("{" + field.name + "}", encodeURIComponent(value));
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
  return { url: path + (words && "?" + words), sketch: sketch + (words && "?" + words), settings: { method: form.dataset.method, headers, body, cache: "no-store" } };
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

// as converts JSON to the syntax of a language; curl and Go have it as a string.
const as = {
  curl: (json) => json.replaceAll("'", "'\\''"),
  Python: (json) => json.replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (word) => ({ true: "True", false: "False", null: "None" })[word] || word),
  Go: (json) => json.replaceAll("`", "` + \"`\" + `"),
  TypeScript: (json) => json,
};

// The text for the key in a sample, and the text for another header after it.
const beside = {
  curl: [' -H "X-API-Key: $PMX_KEY"', (name, value) => " -H '" + as.curl(name + ": " + value) + "'"],
  Python: ['"X-API-Key": os.environ["PMX_KEY"]', (name, value) => ", " + JSON.stringify(name) + ": " + JSON.stringify(value)],
  Go: ['req.Header.Set("X-API-Key", os.Getenv("PMX_KEY"))\n', (name, value) => "req.Header.Set(" + JSON.stringify(name) + ", " + JSON.stringify(value) + ")\n"],
  TypeScript: ['"X-API-Key": process.env.PMX_KEY!', (name, value) => ", " + JSON.stringify(name) + ": " + JSON.stringify(value)],
};

const valid = (json) => { try { JSON.parse(json); return true; } catch { return false; } };

// sampled returns a sample with the values of the form instead of the original ones.
function sampled(name, text, first, form) {
  const { sketch, settings } = requestOf(form), own = form.querySelector('[data-in="body"]');
  const filled = [...form.querySelectorAll("[data-in]")].some((field) => field !== own && field.value.trim() !== "");
  if (filled) text = text.replace(first, () => location.origin + sketch.replaceAll("'", "%27"));
  if (own && own.value !== own.defaultValue && valid(own.value)) text = text.replace(own.defaultValue, () => as[name](own.value.trim()));
  const [line, more] = beside[name];
  for (const [header, value] of Object.entries(settings.headers)) {
    if (!["X-API-Key", "Content-Type"].includes(header)) text = text.replace(line, () => line + more(header, value));
  }
  return text;
}

// forms activates the page's form and samples, if it has any.
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
    const code = s.querySelector("code"), text = code.textContent.replace("HOST", location.origin), form = document.querySelector("form.try");
    const write = () => { code.textContent = sampled(s.dataset.name, text, s.parentNode.dataset.at.replace("HOST", location.origin), form); };
    write(); // a form may be filled in after going back to its page
    form.addEventListener("input", write);
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
