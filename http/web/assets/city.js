// A city of the weather desk: its brackets, its forecasts and their skill.
import { address, ask, el, go, here, num, fromPath, soon, soonOf, title, explorer, when } from "./core.js";
import { bar, choice, fact, facts, known, panel, state, table } from "./ui.js";
import { plot } from "./plot.js";

const city = fromPath(2), q = here();
let date = q.get("date") || "", metric = q.get("metric") || "tmax";
const card = () => address("/weather/city/" + city);
const head = el("h1", {}, city);
const about = el("p", { class: "note" });
title(city);
const shown = () => go({ date, metric: metric === "tmax" ? "" : metric });
const impliedUrl = () => address("/weather/city/" + city + "/implied", { date, metric });
const all = () => { shown(); soon(impliedUrl()); ladder.load(); observed.load(); moved.load(); skill.load(); };
const days = el("div", { class: "choice", role: "group", "aria-label": "Day" });
const shortDay = (d) => new Intl.DateTimeFormat(navigator.languages, { day: "numeric", month: "short", timeZone: "UTC" }).format(new Date(d));
const beside = (d, by) => new Date(Date.parse(d) + by * 86400000).toISOString().slice(0, 10);

const ladderUrl = () => address("/weather/city/" + city + "/markets", { date, metric });
// edges returns how far a bracket of whole degrees extends beyond its bounds.
const edges = (rounding) => (/^half/.test(rounding) ? [0.5, 0.5] : /floor|trunc|down/.test(rounding) ? [0, 1] : [0, 0]);
const ladder = panel({
  name: "Brackets", cls: "first", size: 560, url: () => ladderUrl(), lone: true,
  draw: async (a, { heading, lead }) => {
    const { data: c } = await ask(card());
    head.replaceChildren(el("span", { "data-text": true }, c.name));
    title(c.name);
    const now = date || a.local_date;
    if (!now) return state("empty", "There is no data yet.");
    const all = [...new Set([...c.events.map((e) => e.target_date), now])].sort();
    const button = (d, text, on, name) => el("button", { type: "button", "aria-label": name, title: name, "data-value": d, "data-fixed": true, "aria-pressed": on, onclick: () => { date = d; again(); } }, text);
    const held = days.contains(document.activeElement) ? document.activeElement.textContent : null;
    days.replaceChildren(button(beside(now, -1), "‹", null, "the day before"), ...all.map((d) => button(d, shortDay(d), String(d === now))), now < all.at(-1) ? button(beside(now, 1), "›", null, "the day after") : "");
    if (held) [...days.children].find((b) => b.textContent === held)?.focus();
    const e = a.events.find((x) => x.target_date === now && x.canonical) || a.events.find((x) => x.target_date === now);
    heading.replaceChildren(metric === "tmax" ? "High of " : "Low of ", when(now, "day"));
    if (!e) {
      about.replaceChildren("Station ", el("span", { "data-text": true }, c.station), ", ", c.timezone);
      return state("empty", now < a.local_date ? "The markets of this day are closed. The measured temperatures, and the bracket that won, are shown below." : a.empty_reason === "no_open_markets" ? "No market is open for this day." : "No market of this day is listed.");
    }
    about.replaceChildren("Station ", el("span", { "data-text": true }, e.station), ", settled by ", el("span", { "data-text": true }, e.resolution_source || "an unnamed source"), ", rounded ", String(e.rounding || "as its rules say").replaceAll("_", " "), ". The day ends ", when(e.day_end), " UTC (midnight ", el("span", { "data-text": true }, c.timezone), ").");
    lead.replaceChildren("in °" + e.unit);
    const reasons = e.null_reasons || {}, why = (n) => String(reasons[n] || "not known").replaceAll("_", " ");
    const rows = a.data.filter((r) => r.event_slug === e.event_slug);
    const most = Math.max(...rows.map((r) => Math.max(r.p_market ?? 0, r.p_model ?? 0)));
    return [
      facts(fact("So far", num(e.running && e.running.value, "degrees", why("running")), e.running ? [num(e.running.observations), " reports, last ", when(e.running.last_obs_at)] : null),
        fact("Forecast", num(e.consensus && e.consensus.mean, "degrees", why("consensus")), e.consensus ? [num(e.consensus.p10, "degrees"), " to ", num(e.consensus.p90, "degrees"), ", ", num(e.consensus.n), " models"] : null),
        fact("Normal", num(e.normal, "degrees", why("normal")), num(e.anomaly, "delta", why("anomaly"))), fact("Market's mean", num(e.implied_mean, "degrees", why("implied_mean"))), fact("Sum of prices", num(e.overround, "share", why("overround")))),
      table({ name: "Brackets of the day", rows, per: 40, order: "temperature", folded: (r) => r.dead === true, what: "ruled out", columns: [
        { name: "Bracket", head: true, phone: "main", cell: (r) => el("a", { href: "/market/" + r.condition_id, "data-text": true }, r.label) },
        { name: "Note", quiet: true, cell: (r) => (r.dead ? el("small", {}, "ruled out") : r.label === e.mode_label ? el("small", {}, "likeliest") : null) },
        { name: "Market", num: true, phone: "key", sort: (r) => r.p_market, cell: (r) => [num(r.p_market, "share", "no price"), bar(r.p_market ?? 0, most)] },
        { name: "Model", num: true, sort: (r) => r.p_model, cell: (r) => [num(r.p_model, "share", "no forecast"), bar(r.p_model ?? 0, most, "hollow")] },
        { name: "Gap", num: true, note: "model minus market, in points; the middle of the spread is used", sort: (r) => r.edge_mid, cell: (r) => num(r.edge_mid, "points", "no price or no forecast") },
        { name: "Bid", num: true, cell: (r) => num(r.best_bid, "cents", "no bid") }, { name: "Ask", num: true, cell: (r) => num(r.best_ask, "cents", "no ask") },
        { name: "Volume, USD", money: (r) => r.volume }, { name: "Traders", num: true, sort: (r) => r.traders, cell: (r) => num(r.traders) }] }),
      el("p", { class: "note" }, "A gap is not a profit: most gaps are explained by the spread, rounding and the station. Brackets that the extreme so far has passed are ruled out. ", el("a", { href: "/docs/text/weather" }, "How the model's probability is computed")),
    ];
  },
});
const again = () => all();

// bandsOf returns the brackets of an event as bands behind a plot: every second one, and the
// highlighted one.
const bandsOf = (rows, event, on) => rows.map((r, i) => {
  const [below, above] = edges((event || {}).rounding);
  const low = r.lo === null ? null : r.lo - below, high = r.hi === null ? null : Number(r.hi) + above;
  return { low, high, on: on(r, low, high), even: i % 2 === 0 };
}).filter((b) => b.on || b.even);
const holds = (value) => (_, low, high) => value !== null && value !== undefined && (low === null || value >= low) && (high === null || value < high);

const observed = panel({
  name: "What was measured", size: 300, url: () => address("/weather/city/" + city + "/observations", { date }), lone: true,
  draw: async (a, { lead }) => {
    if (!a.data.length) return state("empty", "No temperature of this day: " + String(a.empty_reason || "no station has reported yet").replaceAll("_", " ") + ".");
    const lines = new Map();
    for (const r of a.data) {
      const name = (r.station ? r.station + ", " : "") + r.source.replaceAll("_", " ");
      if (!lines.has(name)) lines.set(name, new Map());
      lines.get(name).set(r.ts, r);
    }
    const names = [...lines.keys()].sort((x, y) => lines.get(y).size - lines.get(x).size).slice(0, 4), first = lines.get(names[0]);
    const times = [...new Set(a.data.map((r) => r.ts))].sort(), extreme = metric === "tmax" ? "running_max" : "running_min", told = metric === "tmax" ? "highest so far" : "lowest so far";
    const last = [...first.values()].at(-1)[extreme];
    const { data: rows, events } = await ask(ladderUrl());
    const event = events.find((x) => x.target_date === a.date && x.canonical);
    const bands = event ? bandsOf(rows.filter((r) => r.event_slug === event.event_slug), event, holds(last)) : [];
    lead.replaceChildren("°" + a.unit + ", ", num(a.count), " reports of the local day, ", told, " ", num(last, "degrees"));
    return [plot({ name: "Temperatures of the day", times, cut: a, panes: [{ height: 220, form: "degrees", bands, series: [
      ...names.map((name, n) => ({ name, ink: n, join: true, values: times.map((t) => lines.get(name).get(t)?.value ?? null) })),
      { name: told + " (" + names[0] + ")", ink: 4, kind: "step", join: true, values: times.map((t) => first.get(t)?.[extreme] ?? null) }] }] }),
      event ? el("p", { class: "note" }, "Bands are the brackets of the market; the coloured one contains the ", told, ".") : null];
  },
});

const moved = panel({
  name: "How the forecast moved", size: 300, url: () => address("/weather/forecast-evolution/" + city + "/" + (date || today), { metric }), lone: true,
  draw: async (a, { lead }) => {
    const market = await ask(impliedUrl()).catch(() => ({ data: [], brackets: [], missing: true }));
    if (!a.data.length && !market.data.length) return state("empty", "No forecast of this day: " + String(a.empty_reason || "none was read").replaceAll("_", " ") + ".");
    lead.replaceChildren("°" + a.unit + " by time of issue, ", num(a.changes), " changes, drift ", num(a.total_drift, "delta"));
    const times = [...new Set([...a.data.map((d) => d.issued_at), ...market.data.map((d) => d.at)])].sort(), sources = [...new Set(a.data.map((d) => d.source))].slice(0, market.data.length ? 4 : 5);
    const by = new Map(a.data.map((d) => [d.source + d.issued_at, d.value])), traded = new Map(market.data.map((d) => [d.at, d.priced_mean])), newest = market.data.at(-1);
    const line = newest ? [{ name: "market's mean", ink: 4, kind: "step", join: true, values: times.map((t) => traded.get(t) ?? null) }] : [];
    const winner = a.settled ? a.settled.condition_id : null, so = a.actual && a.actual.value;
    const bands = bandsOf(market.brackets, market, winner ? (r) => r.condition_id === winner : holds(so));
    const close = so === null || so === undefined ? [] : [Number(so)];
    return [plot({ name: "Forecasts by time of issue", times, panes: [{ height: 220, form: "degrees", levels: close, bands, series: [...sources.map((s, n) => ({ name: s.replaceAll("_", " "), ink: n, join: true, values: times.map((t) => by.get(s + t) ?? null) })), ...line] }] }),
      newest ? el("p", { class: "note" }, "The market's line is the mean of the brackets at the prices that takers last paid. At its end ", newest.null_reason === "unpriced_brackets" ? [num(newest.priced), " brackets had been traded; the others are left out."] : ["all ", num(newest.priced), " brackets had been traded."]) : market.missing ? el("p", { class: "note" }, "The market's line and its brackets are missing: they could not be loaded.") : null,
      a.settled ? el("p", {}, "Settled: ", el("a", { href: "/market/" + a.settled.condition_id, "data-text": true }, a.settled.label), market.missing ? "" : ", the coloured band. Bands are the brackets of the market", so === null || so === undefined ? "." : ["; measured, dashed: ", num(a.actual.value, "degrees"), " °" + a.unit + "."]) : a.actual && a.actual.value !== null ? el("p", { class: "note" }, "Measured so far, dashed: ", num(a.actual.value, "degrees"), " °" + a.unit + ", ", a.actual.kind, a.actual.provisional ? ", provisional" : "", market.missing ? "." : ". Bands are the brackets of the market, the coloured one holds what was measured.") : null];
  },
});
const skill = panel({
  name: "How good forecasts were here", size: 260, url: () => address("/weather/city/" + city + "/forecast", { metric }), lone: true,
  draw: (a, { lead }) => {
    const rows = a.skill.filter((s) => s.metric === metric);
    if (!rows.length) return state("empty", "No forecast has been compared with observations yet.");
    lead.replaceChildren("mean error in °" + a.unit + " by source and days ahead; bias is forecast minus actual, a hit is a forecast in the bracket that won");
    const leads = [...new Set(rows.map((r) => Number(r.lead_day)))].sort((x, y) => x - y), sources = [...new Set(rows.map((r) => r.source))];
    const of = (source, lead) => rows.find((r) => r.source === source && r.lead_day == lead);
    return table({ name: "Skill of forecasts", rows: sources, per: 20, order: "source", columns: [
      { name: "Source", head: true, phone: "main", cell: (s) => el("span", { "data-text": true }, s.replaceAll("_", " ")) },
      ...leads.map((lead) => ({ cls: "line", name: lead === 0 ? "same day" : lead === 1 ? "1 day ahead" : lead + " days ahead", num: true, sort: (s) => of(s, lead)?.mae ?? null, cell: (s) => {
        const r = of(s, lead);
        return r ? [num(r.mae, "degrees"), el("small", { class: "split tight" }, "bias ", num(r.bias, "delta"), ", ", num(r.n), " days", r.hit_pct === null ? "" : [", hits ", num(r.hit_pct, "hits"), " of ", num(r.settled_days)])] : num(null, "degrees", "no forecast compared");
      } }))] });
  },
});

let today = "";
explorer().replaceChildren(el("div", { class: "title" }, head, el("div", { class: "acts" }, el("a", { class: "button quiet", href: "/weather" }, "All cities"))), about,
  el("div", { class: "filters" }, days, choice("Temperature", [["tmax", "high"], ["tmin", "low"]], metric, (v) => { metric = v; all(); })), ladder, observed, moved, skill);
soon(impliedUrl());
soonOf(card(), (local) => address("/weather/forecast-evolution/" + city + "/" + (date || local("local_date")), { metric }));
known(card()).then((a) => {
  today = a && a.data.local_date;
  if (date || today) moved.load(); else moved.hidden = true;
});
ladder.load();
observed.load();
skill.load();
