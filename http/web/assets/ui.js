// Elements of pages: sections that call the API, their states, tables, forms.
import { Problem, ask, el, go, here, many, num, send, svg, explorer } from "./core.js";

// state is an element that says why there is nothing, or not everything.
export const state = (kind, ...words) => el("p", { class: "state", "data-kind": kind, role: kind === "error" ? "alert" : "status" }, words);

// failed says what went wrong and offers to retry.
export function failed(problem, again) {
  if (problem.status === 401) {
    return state("locked", problem.code === "missing_api_key" ? "This needs an API key. " : problem.message + " ",
      el("button", { type: "button", class: "quiet", onclick: () => document.dispatchEvent(new CustomEvent("pmx-key")) }, "Enter a key"));
  }
  const button = el("button", { type: "button", class: "quiet", onclick: again }, "Try again");
  const box = state("error", el("b", {}, problem.title + ". "), problem.message + " ", problem.id && el("small", {}, "Request ", el("code", {}, problem.id), " "), button);
  if (problem.wait > 0) {
    let left = problem.wait;
    button.disabled = true;
    const tick = () => {
      button.textContent = left > 0 ? "Try again in " + left + " s" : "Try again";
      button.disabled = left > 0;
      if (left-- > 0 && (box.isConnected || left === problem.wait - 1)) setTimeout(tick, 1000);
    };
    tick();
  }
  return box;
}

// known requests the subject of a page. If it does not exist, or cannot, the page says so once, not in each part.
export const known = (url) => ask(url).catch((problem) => {
  if (problem.status === 404 || problem.status === 400) explorer().replaceChildren(el("h1", {}, problem.title), state("empty", problem.message, " Use the search above."));
});

// limits says what the plan cut from a response; null if it cut nothing.
export function limits(answer) {
  if (!answer.truncated) return null;
  const what = answer.max_history_days ? ["at most ", many(answer.max_history_days, "day")] : [];
  if (answer.max_rows) what.push(what.length ? " and " : "at most ", many(answer.max_rows, "row"));
  return state("locked", "Not all is shown: the plan " + answer.plan + " gives ", what.length ? what : "less", ".", answer.upgrade_hint && " The plan " + answer.upgrade_hint + " shows more.");
}

// quoted quotes text for the shell.
const quoted = (text) => "'" + text.replaceAll("'", "'\\''") + "'";
export const curl = (url) => 'curl -H "X-API-Key: $PMX_KEY" ' + quoted(location.origin + url);

const python = (url) => 'import os\n\nimport requests\n\nanswer = requests.get(\n    ' + JSON.stringify(location.origin + url) + ',\n    headers={"X-API-Key": os.environ["PMX_KEY"]},\n    timeout=30,\n)\nanswer.raise_for_status()\nprint(answer.json()["data"])';

export function copier(text, label = "Copy") {
  const button = el("button", { type: "button", class: "quiet small", onclick: async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "function" ? text() : text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select and copy it";
    }
    setTimeout(() => { button.textContent = label; }, 1500);
  } }, label);
  return button;
}

// tools show how to get the same data without this page, behind one unobtrusive control.
function tools(name, url) {
  const pre = (label, text) => el("pre", { tabindex: 0, "aria-label": label, "data-raw": true }, el("code", {}, text));
  const command = (kind, make) => async () => [el("p", { class: "note" }, copier(make(url())), " Set PMX_KEY to your key first."), pre("As " + kind, make(url()))];
  const kinds = {
    JSON: async () => {
      const { text } = await send(url());
      return [el("p", { class: "note" }, copier(text), " ", el("code", {}, "GET " + url())), pre("The response", indent(text))];
    },
    curl: command("curl", curl), Python: command("Python", python),
  };
  const out = el("div", {});
  let turn = 0; // a response that arrives after another choice is not shown
  const ways = el("div", { class: "choice ways", role: "group", "aria-label": "Form" }, Object.keys(kinds).map((kind) => el("button", { type: "button", class: "small", "data-tool": kind, "aria-pressed": "false", onclick: () => show(kind) }, kind)));
  const box = el("div", { class: "tooling", hidden: true, onkeydown: (event) => { if (event.key === "Escape") { shut(); button.focus(); } } }, ways, out);
  const button = el("button", { type: "button", class: "tool", "aria-expanded": "false", title: "as JSON, curl or Python", "aria-label": "as JSON, curl or Python: " + name, onclick: () => (box.hidden ? show("JSON") : shut()) }, "{ }");
  const shut = () => { box.hidden = true; button.setAttribute("aria-expanded", "false"); };
  async function show(kind) {
    for (const b of ways.children) b.setAttribute("aria-pressed", String(b.dataset.tool === kind));
    box.hidden = false;
    button.setAttribute("aria-expanded", "true");
    const asked = ++turn, parts = await kinds[kind]();
    if (asked === turn) out.replaceChildren(...parts);
  }
  return { button, box, shut };
}

// indent indents JSON and keeps its numbers as they are. Long responses are cut.
export function indent(text) {
  let out = "", depth = 0;
  for (const [token] of text.slice(0, 200000).matchAll(/"(?:[^"\\]|\\.)*"|[[{]\s*[\]}]|[[\]{},:]|[^\s"[\]{},:]+/g)) {
    if (/^[[{]$/.test(token)) out += token + "\n" + "  ".repeat(++depth);
    else if (/^[\]}]$/.test(token)) out += "\n" + "  ".repeat(--depth) + token;
    else out += token === "," ? ",\n" + "  ".repeat(depth) : token === ":" ? ": " : token;
  }
  return text.length > 200000 ? out + "\n… " + (text.length - 200000) + " more characters: use curl" : out;
}

const narrow = matchMedia("(max-width: 48rem)");
let panels = 0;

// panel is a section that shows one response: url returns its address, draw its content, which may
// be several nodes. size is its approximate height. instead is given a problem and returns whether
// url now returns another address.
export function panel({ name, note, acts, url, draw, instead, size = 200, level = "h2", lone = false, cls = "" }) {
  const id = "p" + ++panels;
  const body = el("div", { class: "body" });
  const heading = el(level, { id }, name);
  const lead = el("span", { class: "note lead" }, note || "");
  const { button, box, shut } = tools(name, url);
  const section = el("section", { class: ("panel " + cls).trim(), "aria-labelledby": id, "data-panel": id }, el("div", { class: "head" }, heading, lead, el("div", { class: "acts" }, acts ? el("div", { class: "opts" }, acts) : null, button)), box, body);
  body.style.minHeight = size + "px";
  let turn = 0;
  section.load = async (again = false) => {
    const mine = ++turn;
    section.dataset.state = "loading";
    section.setAttribute("aria-busy", "true");
    shut();
    if (!body.firstChild) setTimeout(() => { if (mine === turn && section.dataset.state === "loading" && !body.firstChild) body.append(state("loading", "Loading " + name.toLowerCase())); }, 300);
    try {
      const answer = await ask(url(), again);
      if (mine !== turn) return;
      const drawn = await draw(answer, { heading, lead });
      if (mine !== turn) return;
      body.replaceChildren(...[drawn].flat(Infinity).filter(Boolean));
      const cut = lone ? null : limits(answer);
      if (cut) body.prepend(cut);
      section.dataset.state = "ready";
    } catch (problem) {
      if (mine !== turn) return;
      if (instead && instead(problem)) return section.load(again);
      section.dataset.state = "failed";
      if (!(problem instanceof Problem)) console.error(problem);
      const box = failed(problem instanceof Problem ? problem : new Problem(0, { title: "This part failed", detail: String(problem.message) }), () => section.load(true));
      if (section.dataset.drawn && problem.status !== 401) { body.querySelector(":scope > .state")?.remove(); body.prepend(box); } else body.replaceChildren(box);
    } finally {
      if (mine === turn) {
        section.removeAttribute("aria-busy");
        body.style.minHeight = "";
        if (section.dataset.state === "ready") section.dataset.drawn = "1";
      }
    }
  };
  return section;
}

// money makes a column of dollars: whole ones if there are thousands, otherwise with cents, the
// same for all rows. A bar shows the size of a number.
function money(c, rows) {
  const most = Math.max(0, ...rows.map((r) => Math.abs(c.money(r) ?? 0)));
  const form = (c.form || "usd") + (most >= 1000 || most === 0 ? "0" : "2");
  return { num: true, sort: c.money, cell: (r) => {
    const x = c.money(r);
    return [num(x, form), c.bar && x !== null ? bar(x, most, x > 0 ? "gain" : "loss") : null, c.below ? el("small", { class: "split" }, c.below(r)) : null];
  }, ...c };
}

// table shows rows. A column is { name, cell, sort, num, phone, note }: sort returns the value to
// sort by, phone is its position on a narrow screen: main, key, meta or hide. On a narrow screen, a
// column that needs no name is bare, ten rows are shown at a time, and rows for which folded is
// true are behind a button with the text what. ranked says that the API ranks the rows, so that a
// phone needs no other order.
export function table({ name, columns, rows, per = 25, more, order, folded, what, ranked }) {
  if (narrow.matches) per = Math.min(per, folded ? per : 10);
  let shown = per, list = [...rows], by = -1, down = true;
  columns = columns.filter(Boolean).map((c) => (c.money ? money(c, rows) : c));
  const body = el("tbody", { role: "rowgroup" });
  const count = el("span", { class: "note", role: "status" });
  const next = el("button", { type: "button", class: "quiet", onclick: async () => {
    if (shown >= list.length && more && more.left()) {
      next.disabled = true;
      try {
        list.push(...await more.load());
      } catch (problem) {
        count.replaceChildren(failed(problem, () => next.click()));
        return;
      } finally { next.disabled = false; }
    }
    const from = shown;
    shown = Math.min(shown + per, list.length);
    draw();
    body.rows[from]?.querySelector("a, button")?.focus();
  } }, "Show more");
  const heads = columns.map((c, i) => {
    const text = c.sort ? el("button", { type: "button", class: "sorter", onclick: () => sort(i) }, c.name) : c.quiet ? el("span", { class: "unseen" }, c.name) : c.name;
    return el("th", { scope: "col", role: "columnheader", class: [c.num && "right", c.phone === "hide" ? "wide-only" : c.phone].filter(Boolean).join(" ") || null, title: c.note, "data-fixed": true }, text);
  });
  const chooser = el("select", { onchange: () => sort(Number(chooser.value), true) }, el("option", { value: -1 }, order || "as given"), columns.map((c, i) => c.sort && el("option", { value: i }, c.name)));
  // The order chosen by the user is in the address: the table, the column, and the direction.
  const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/-$/, "");
  const place = slug(name) + ".";
  function sort(i, keep, was) {
    if (i >= 0) {
      down = was ? was !== "up" : keep || by !== i ? true : !down;
      const value = columns[i].sort;
      const known = list.filter((r) => value(r) !== null && value(r) !== undefined), unknown = list.filter((r) => value(r) === null || value(r) === undefined);
      known.sort((a, b) => {
        const x = value(a).valueOf(), y = value(b).valueOf();
        return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
      });
      list = [...known, ...unknown];
    } else list = [...rows];
    by = i;
    heads.forEach((h, n) => (n === by ? h.setAttribute("aria-sort", down ? "descending" : "ascending") : h.removeAttribute("aria-sort")));
    chooser.value = i;
    if (!was) {
      const query = here();
      go({ ...Object.fromEntries([...query.keys()].map((k) => [k, query.getAll(k)])), rows: [...query.getAll("rows").filter((o) => !o.startsWith(place)), ...(i >= 0 ? [place + slug(columns[i].name) + (down ? "" : ".up")] : [])] });
    }
    draw();
  }
  function draw() {
    body.replaceChildren(...list.slice(0, shown).map((row) => el("tr", { role: "row", class: folded && folded(row) ? "folded" : null }, columns.map((c, i) => el(i === 0 && c.head ? "th" : "td", {
      role: i === 0 && c.head ? "rowheader" : "cell", scope: i === 0 && c.head ? "row" : null,
      class: [c.num && "right", c.phone === "hide" && "wide-only", c.phone === "main" && "main", c.phone === "key" && "key", c.cls].filter(Boolean).join(" ") || null, "data-label": c.phone === "main" || c.quiet || c.bare ? null : c.name,
    }, c.cell(row))))));
    next.hidden = shown >= list.length && !(more && more.left());
    count.textContent = next.hidden && list.length <= per ? "" : list.slice(0, shown).length + (more && more.left() ? " shown" : " of " + list.length);
    foot.hidden = next.hidden && count.textContent === "";
  }
  const foot = el("p", { class: "paging" }, next, " ", count);
  const box = el("div", { class: "tabled" },
    columns.some((c) => c.sort) && rows.length > 4 && !ranked ? el("label", { class: "phone-sort" }, "Sort by ", chooser) : null,
    el("table", { role: "table", class: "rows" }, el("caption", { class: "unseen", "data-fixed": true }, name), el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, heads)), body), foot);
  count.dataset.fixed = "";
  draw();
  const [, column, way] = (here().getAll("rows").find((o) => o.startsWith(place)) || "").split(".");
  const chosen = column ? columns.findIndex((c) => c.sort && slug(c.name) === column) : -1;
  if (chosen >= 0) sort(chosen, false, way || "down");
  const hidden = folded ? rows.filter(folded).length : 0;
  if (hidden) {
    const open = el("button", { type: "button", class: "quiet unfold", "data-fixed": true, "aria-expanded": "false", onclick: () => open.setAttribute("aria-expanded", String(box.classList.toggle("unfolded"))) }, hidden + " " + what);
    foot.before(open);
  }
  return box;
}

// orderColumn shows the side and the outcome of a fill.
export const orderColumn = { name: "Order", bare: true, cell: (r) => [r.side === "BUY" ? "buys " : "sells ", el("span", { "data-text": true }, r.outcome || "an outcome")] };

// choice is a row of buttons for the values of a parameter, one of which is on.
export function choice(name, options, now, change) {
  const group = el("div", { class: "choice", role: "group", "aria-label": name }, options.map(([value, text]) => el("button", {
    type: "button", "data-value": value, "data-fixed": true, "aria-pressed": String(value === now), onclick: (event) => {
      for (const b of group.children) b.setAttribute("aria-pressed", String(b === event.currentTarget));
      change(value);
    } }, text || value)));
  return group;
}

// pick is a labelled list of values.
export function pick(name, options, now, change) {
  const list = el("select", { onchange: () => change(list.value) }, options.map(([value, text]) => el("option", { value, selected: value === now }, text || value)));
  return el("label", { class: "pick" }, name + " ", list);
}

// fields are filters, which are folded on a phone until one of them is set.
export const fields = (set, ...all) => el("details", { class: "folds", open: set || !matchMedia("(max-width: 36rem)").matches }, el("summary", {}, "Filters"), el("div", { class: "filters" }, all));

// The categories of markets that every venue knows.
export const categories = ["crypto", "culture", "economics", "finance", "other", "politics", "sports", "tech", "weather", "world"];

// inCategory is the list of categories, including the chosen one.
export const inCategory = (now, change) => pick("Category", ["", ...new Set([...categories, now || "crypto"])].map((c) => [c, c || "all"]), now, change);

// fact is a figure with its name.
export const fact = (name, value, ...about) => el("div", { class: "fact" }, el("dt", {}, name), el("dd", {}, value, about.length ? el("small", {}, " ", about) : null));
export const facts = (...all) => el("dl", { class: "facts" }, all);

// bar shows the size of a number relative to others: zero is on the left.
export function bar(value, most, cls = "") {
  const part = most > 0 ? Math.min(1, Math.abs(value) / most) : 0;
  return svg("svg", { class: "meter " + cls, viewBox: "0 0 60 10", "aria-hidden": "true" }, svg("rect", { width: Math.max(value == 0 ? 0 : 1, 60 * part).toFixed(1), height: 10 }));
}

