package export

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pmx/data"
)

// factForm is the form of the columns of facts in a format. Lists are JSON arrays in CSV. Exact
// decimals, times and days have types only in Parquet and are text in the other formats. Text from
// third parties is escaped only in CSV.
type factForm data.Format

// line is a text column that is always on one line in CSV, because files of fills and of the
// weather are read back line by line.
func (f factForm) line(col string) string {
	if f == factForm(data.CSV) {
		return escapeCell(col, "contains(@text, chr(10)) OR contains(@text, chr(13))")
	}
	return col
}

// text is a text column that may have several lines, such as a description. A carriage return is
// escaped, because CSV readers remove it from the end of a line.
func (f factForm) text(col string) string {
	if f == factForm(data.CSV) {
		return escapeCell(col, "contains(@text, chr(13))")
	}
	return col
}

// escapeCell is data.EscapeCell in SQL; lineEnds is the condition for texts whose line ends are
// escaped.
func escapeCell(col, lineEnds string) string {
	return strings.NewReplacer("@lineEnds", strings.ReplaceAll(lineEnds, "@text", col), "@mark", "'"+strings.ReplaceAll(data.LineMark, "'", "''")+"'",
		"@formula", escapeFormula(col), "@text", col).Replace(`CASE WHEN @lineEnds OR prefix(@text, @mark) ` +
		`THEN @mark || replace(replace(replace(@text, '\', '\b'), chr(10), '\n'), chr(13), '\r') ELSE @formula END`)
}

// amount is a column of millionths.
func (f factForm) amount(col string) string {
	if f == factForm(data.Parquet) {
		return exactDecimal(col) + "::DECIMAL(18, 6)"
	}
	return exactDecimal(col) + "::VARCHAR"
}

// moment is a column of unix µs.
func (f factForm) moment(col string) string {
	if f == factForm(data.Parquet) {
		return fmt.Sprintf("make_timestamp(%s)::TIMESTAMPTZ", col)
	}
	return rfc3339(col)
}

// day is a column of days since 1970.
func (f factForm) day(col string) string {
	date := fmt.Sprintf("(DATE '1970-01-01' + %s)::DATE", col)
	if f == factForm(data.Parquet) {
		return date
	}
	return date + "::VARCHAR"
}

// texts is a column with a JSON array of strings.
func (f factForm) texts(col string) string {
	if f == factForm(data.CSV) {
		return col
	}
	return fmt.Sprintf(`from_json(%s, '["VARCHAR"]')`, col)
}

// decimals is a column with a JSON array of decimals in whole units.
func (f factForm) decimals(col string) string {
	if f == factForm(data.Parquet) {
		return fmt.Sprintf("list_transform(%s, lambda x: x::DECIMAL(18, 6))", f.texts(col))
	}
	return f.texts(col)
}

// list is a list column. each is the expression of an element x; number is its type in Parquet.
func (f factForm) list(col, number string, each string) string {
	switch data.Format(f) {
	case data.Parquet:
		return fmt.Sprintf("list_transform(%s, lambda x: (%s)::%s)", col, each, number)
	case data.NDJSON:
		return fmt.Sprintf("list_transform(%s, lambda x: (%s)::VARCHAR)", col, each)
	}
	return fmt.Sprintf(`'[' || array_to_string(list_transform(%s, lambda x: '"' || (%s)::VARCHAR || '"'), ',') || ']'`, col, each)
}

// replacements are the columns in facts.sql that depend on the format, by the name after the @.
type replacements map[string]string

// pairs returns them for Statements.Get, longer names first, because a name may be the beginning of
// another.
func (r replacements) pairs() []string {
	names := make([]string, 0, len(r))
	for name := range r {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	pairs := make([]string, 0, 2*len(r))
	for _, name := range names {
		pairs = append(pairs, "@"+name, r[name])
	}
	return pairs
}

// factsQuery returns the query of a dataset with all columns in an exact form for the format.
func factsQuery(dataset string, format data.Format) string {
	f, r := factForm(format), replacements{}
	if unit := celsius[dataset]; unit != "" {
		weatherColumns(f, r, unit)
	} else if dataset == "fills" {
		return storedTexts().query(format)
	} else {
		marketColumns(f, r)
	}
	return statements.Get(dataset, r.pairs()...)
}

func fillColumns(f factForm, r replacements) {
	r["ts"] = f.moment("f.ts")
	r["shares"], r["usd"], r["fee"] = f.amount("f.shares"), f.amount("f.usd"), f.amount("abs(f.fee)")
}

func marketColumns(f factForm, r replacements) {
	for _, c := range []string{"gamma_id", "question_id", "question", "slug", "description", "resolution_source", "group_item_title",
		"group_item_threshold", "icon", "event_id", "event_slug", "event_title", "series_slug", "neg_risk_market_id", "category", "category_source"} {
		r[c] = f.text(c)
	}
	for _, c := range []string{"best_bid", "best_ask", "last_price", "liquidity", "reported_volume"} {
		r[c] = f.amount(c)
	}
	for _, c := range []string{"bid", "ask", "last", "liquidity"} {
		r["quote."+c] = exactDecimal("quote."+c) + "::VARCHAR"
	}
	for _, c := range []string{"created_at", "start_at", "end_at", "closed_at", "game_start_at", "updated_at", "payout_at", "payout_version", "payout_corrected_at"} {
		r[c] = f.moment(c)
	}
	r["tags"], r["outcomes"], r["token_ids"] = f.texts("tags"), f.texts("coalesce(outcomes, '[]')"), f.texts("coalesce(token_ids, '[]')")
	r["mapped_tokens"] = f.texts("coalesce(mapped, '[]')")
	r["time_source"] = f.text(timeSource("payout_at_source"))
	r["prices"], r["payouts"] = f.decimals("prices"), f.list("payouts", "DECIMAL(18, 6)", exactDecimal("x"))
}

// celsius is, for each dataset of the weather, the condition for rows whose temperatures all have
// at most two decimals in °C; those of all other rows have in °F.
var celsius = map[string]string{
	"forecasts":    "value % 9 = 0 AND coalesce(list_bool_and(list_transform(members, lambda x: x % 9 = 0)), true)",
	"actuals":      "value % 9 = 0",
	"observations": "value % 9 = 0",
	"normals":      "value % 9 = 0 AND coalesce(deviation, 0) % 9 = 0 AND coalesce(p10, 0) % 9 = 0 AND coalesce(p90, 0) % 9 = 0",
}

func weatherColumns(f factForm, r replacements, unit string) {
	degrees := func(col string) string { return statements.Get("degrees", "@v", col) }
	r["unit"], r["deviation"] = statements.Get("unit", "@all", unit), statements.Get("difference", "@v", "deviation")
	for _, c := range []string{"value", "p10", "p90"} {
		r[c] = degrees(c)
	}
	r["members"] = f.list("members", "DECIMAL(9, 2)", degrees("x"))
	for _, c := range []string{"issued_at", "run_at", "seen_at", "ts"} {
		r[c] = f.moment("w." + c)
	}
	for _, c := range []string{"source", "station", "period"} {
		r[c] = f.line("w." + c)
	}
	r["date_target"], r["date_day"] = f.day("w.target"), f.day("w.day")
}
