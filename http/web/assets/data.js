// Files: the datasets, their columns, and how to get them.
import { address, el, here, num, title, explorer } from "./core.js";
import { copier, panel, pick, table } from "./ui.js";
import { exporter } from "./exporter.js";

title("Data");
const wanted = here().get("dataset");
const catalogue = panel({
  name: "Datasets", cls: "first", size: 600, url: () => address("/research/datasets"), lone: true,
  draw: ({ data }) => data.map((d) => {
    let period = d.periods[0];
    const box = el("section", { class: "panel set", id: "set-" + d.id, "aria-labelledby": "name-" + d.id },
      el("h3", { id: "name-" + d.id, "data-text": true }, d.title), el("p", { "data-text": true }, d.description),
      el("p", { class: "note" }, d.approximate_rows !== null ? ["About ", num(d.approximate_rows), " rows, at most ", num(d.max_rows), ". "] : ["At most ", num(d.max_rows), " rows. "], "In the order ", el("span", { "data-text": true }, d.order), "."),
      exporter({ name: d.title, path: "/research/export-jobs", jobs: "/research/export-jobs", formats: [...d.formats].reverse(), body: (format) => ({ dataset: d.id, format, period }),
        fields: d.periods.length > 1 ? pick("Period", d.periods.map((p) => [p, p]), period, (v) => { period = v; }) : null }),
      el("details", { class: "sheet", open: d.id === wanted }, el("summary", {}, "Columns"), table({ name: "Columns of " + d.title, rows: d.columns, per: 60, columns: [
        { name: "column", head: true, phone: "main", cell: (c) => el("code", {}, c.name) }, { name: "type", phone: "key", cell: (c) => el("span", { "data-text": true }, c.type) }, { name: "unit", cell: (c) => el("span", { "data-text": true }, c.unit || "–") }, { name: "meaning", cell: (c) => el("span", { "data-text": true }, c.meaning) }] }),
      d.method ? el("p", { class: "note", "data-text": true }, d.method) : null),
      el("details", { class: "sheet" }, el("summary", {}, "How to read a file"), [...d.usage].reverse().flatMap((u) => [["pandas", "Python with pandas, "], ["duckdb", "DuckDB, "]].map(([which, words]) =>
        el("div", { class: "usage" }, el("p", { class: "note" }, words + u.format + " ", copier(u[which])), el("pre", { tabindex: 0, "aria-label": words + u.format + " of " + d.title, "data-raw": true }, el("code", {}, u[which])))))));
    return box;
  }),
});
explorer().replaceChildren(el("h1", {}, "Data"), el("p", { class: "lead" }, "All data as files for pandas, DuckDB and spreadsheets. For everything about one wallet, use Export all on the wallet's page. ", el("a", { href: "/docs/text/exports" }, "About exports")), catalogue);
catalogue.load();
