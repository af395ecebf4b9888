// Package canonical reads pmx's own files: fills, markets, resolutions and the weather as CSV,
// NDJSON or Parquet. Their columns are listed in README.md in this folder.
package canonical

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"pmx/data"
	"pmx/data/feeds/shape"
)

// Feeds returns the feeds of this package.
func Feeds() []data.Feed { return append([]data.Feed{fills(), markets(), resolutions()}, weather()...) }

// fillNames are the columns of a canonical file of fills with their names. The first one is
// written, the others were used by earlier versions. address, token_id, side, shares, usd and one
// of ts and block are required; any other may be missing or empty.
var fillNames = map[string][]string{
	"tx": {"transaction_hash", "tx"}, "log_index": {"log_index"}, "block": {"block"}, "ts": {"ts", "timestamp"},
	"wallet": {"address", "wallet"}, "role": {"role"}, "token": {"token_id", "token"}, "condition": {"condition_id", "condition"},
	"outcome": {"outcome_index", "outcome"}, "side": {"side"}, "shares": {"shares"}, "usd": {"usd"}, "fee": {"fee"}, "fee_asset": {"fee_asset"},
	"name": {"username", "name"}, "label": {"outcome_label"},
}

// hasEach reports whether a head has at least one of the names of each column.
func hasEach(h data.Head, columns ...string) bool {
	for _, c := range columns {
		if !shape.HasAny(h, fillNames[c]...) {
			return false
		}
	}
	return true
}

func fills() data.Feed {
	return data.Feed{
		Name:  "pmx-fills",
		About: "pmx's own fills: ts, address, token_id, side, shares, usd and more (see docs/import.md)",
		Rule: "a fill is identified by its log index; without one, equal rows within the file are separate fills " +
			"and across files the larger count is used",
		Kind:     data.KindFills,
		Identity: data.KeepRepeats,
		Formats:  []data.Format{data.CSV, data.NDJSON, data.Parquet},
		Match: func(h data.Head) bool {
			return hasEach(h, "wallet", "token", "side", "shares", "usd") && (hasEach(h, "ts") || hasEach(h, "block"))
		},
		Query:   queryFills,
		Several: true,
	}
}

func queryFills(src data.Source, h data.Head) (data.Query, error) {
	t, row := shape.CSVTable(src, h), ""
	switch src.Format {
	case data.NDJSON:
		t = shape.NDJSONTable(src, slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Values(fillNames))...)))...)
		row = shape.Ident(shape.NumberMember)
	case data.Parquet:
		t, row = shape.ParquetTable(src, h), shape.ParquetRow(src)
	}
	col := func(column string) string { return t.Col(fillNames[column]...) }
	if src.Format == data.NDJSON { // all of them are declared, because lines may use any of the names
		col = func(column string) string { return t.AnyCol(fillNames[column]...) }
	}
	name, ts := col("name"), t.Micros(fillNames["ts"]...)
	if src.Format == data.NDJSON {
		ts = shape.Time(col("ts"))
	}
	if src.Format == data.CSV && shape.Has(h, "username") {
		name = shape.Unescaped(name)
	}
	whole := func(column string, most int64) string { // integers need no parsing
		if c, whole, _ := t.Number(fillNames[column]...); whole {
			return fmt.Sprintf("CASE WHEN %[1]s BETWEEN 0 AND %[2]d THEN %[1]s END", c, most)
		}
		return shape.Whole(col(column), most)
	}
	given := func(column string) string { // a column that is neither text nor number cannot be unparsable
		if c, _, ok := t.Number(fillNames[column]...); ok {
			return c
		}
		if src.Format == data.Parquet && !t.IsText(fillNames[column]...) {
			return ""
		}
		return col(column)
	}
	// A fee column is never below 0: that is how a fill stores the dollar fee of a buy.
	fee := fmt.Sprintf("nullif(greatest(%s, -1), -1)", t.Amount("fee"))
	if src.Format == data.NDJSON || shape.HasAny(h, fillNames["fee_asset"]...) {
		fee += fmt.Sprintf(" * CASE coalesce(lower(%[1]s), '') WHEN '' THEN 1 WHEN 'usd' THEN CASE %[2]s WHEN 0 THEN -1 ELSE 1 END "+
			"WHEN 'shares' THEN CASE %[2]s WHEN 0 THEN 1 END END", col("fee_asset"), shape.Side(col("side")))
	}
	condition := shape.Condition(col("condition"))
	q := shape.FillSQL{
		Tx:        shape.Hex(col("tx"), 32),
		LogIndex:  whole("log_index", math.MaxInt32),
		Block:     whole("block", math.MaxInt64),
		TS:        ts,
		Wallet:    shape.Hex(col("wallet"), 20),
		Role:      fmt.Sprintf("CASE lower(%s) WHEN 'maker' THEN 1 WHEN 'taker' THEN 2 ELSE 0 END", col("role")),
		Token:     shape.Token(col("token")),
		Condition: condition,
		Outcome:   fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN %s END", condition, whole("outcome", 127)),
		Side:      shape.Side(col("side")),
		Shares:    t.Amount("shares"),
		USD:       t.Amount("usd"),
		Fee:       fee,
		Name:      name,
		Given: shape.Given{Tx: given("tx"), LogIndex: given("log_index"), Block: given("block"), TS: given("ts"),
			Condition: given("condition"), Outcome: noOutcome(t, given("outcome")), Fee: given("fee")},
		Row: row,
		Bad: t.Bad(), BadReason: t.BadReason(),
		From: t.From(),
	}
	return data.Query{Fills: q.String(), Markets: labels(t, src, h, q, col("label")), Texts: texts(t, src, q), Plain: plain(src, h), PlainRows: plainRows(t, src, q)}, nil
}

// texts returns q in parts; nil for text formats, and if a column has a type that is not read as
// text.
func texts(t shape.Table, src data.Source, q shape.FillSQL) *data.Texts {
	outcome, fit := byTexts(t, src)
	if !fit {
		return nil
	}
	return q.Texts(t.Col(fillNames["wallet"]...), t.Col(fillNames["token"]...), t.Col(fillNames["condition"]...), outcome)
}

// plainRows is texts for rows in their plainest form, which have a transaction.
func plainRows(t shape.Table, src data.Source, q shape.FillSQL) *data.PlainRows {
	outcome, fit := byTexts(t, src)
	if !fit || !t.IsText(fillNames["tx"]...) {
		return nil
	}
	return q.PlainRows(t.Col(fillNames["tx"]...), t.Col(fillNames["wallet"]...), t.Col(fillNames["token"]...), t.Col(fillNames["condition"]...), outcome)
}

// byTexts reports whether wallets and tokens are read as texts and outcomes as whole numbers, and returns the column of
// outcomes; "" if there is none.
func byTexts(t shape.Table, src data.Source) (outcome string, fit bool) {
	outcome, whole, _ := t.Number(fillNames["outcome"]...)
	if src.Format != data.Parquet || !t.IsText(fillNames["wallet"]...) || !t.IsText(fillNames["token"]...) || !whole && slices.ContainsFunc(fillNames["outcome"], t.Has) {
		return "", false
	}
	return outcome, true
}

// noOutcome is shape.OutOfRange of the column of outcomes; whole numbers are compared directly.
func noOutcome(t shape.Table, given string) string {
	if c, whole, _ := t.Number(fillNames["outcome"]...); whole {
		return fmt.Sprintf("CASE WHEN %[1]s NOT BETWEEN 0 AND 127 THEN %[1]s END", c)
	}
	return shape.OutOfRange(given, 127)
}

// labels returns the labels that the rows of q give to the outcomes of their tokens; "" if they
// have none.
func labels(t shape.Table, src data.Source, h data.Head, q shape.FillSQL, label string) string {
	if src.Format != data.NDJSON && !shape.HasAny(h, fillNames["label"]...) {
		return ""
	}
	if src.Format == data.CSV {
		label = shape.Unescaped(label)
	}
	from := t.From()
	if src.Format == data.Parquet { // texts repeat, and are read once each
		var columns []string
		for _, column := range []string{"token", "condition", "label"} {
			if i := slices.IndexFunc(fillNames[column], t.Has); i >= 0 {
				columns = append(columns, shape.Ident(fillNames[column][i]))
			}
		}
		from = fmt.Sprintf("(SELECT DISTINCT %s FROM %s WHERE %s IS NOT NULL)", strings.Join(columns, ", "), from, label)
	}
	label = shape.Label(label, q.Condition, cmp.Or(q.Given.Condition, "NULL"))
	condition := fmt.Sprintf("CASE WHEN (%s) IS NOT NULL AND (%s) IS NOT NULL THEN %s END", label, q.Token, q.Condition)
	return shape.StubSQL(map[string]string{"condition": condition, "token": q.Token, "label": label}, from)
}

// sources are the names of sources of resolutions.
var sources = map[string]data.ResolutionSource{
	"": data.ResolvedByMap, "map": data.ResolvedByMap, "prices": data.ResolvedByPrices, "winner": data.ResolvedByWinner,
	"api": data.ResolvedByAPI, "derived": data.ResolvedDerived, "chain": data.ResolvedOnChain,
}

func resolutions() data.Feed {
	return data.Feed{
		Name:    "pmx-resolutions",
		About:   "pmx's own resolutions: condition_id, payouts, resolved_at, source (see docs/import.md)",
		Kind:    data.KindResolutions,
		Formats: []data.Format{data.CSV, data.NDJSON, data.JSON, data.Parquet},
		Match: func(h data.Head) bool { // a table of markets has payouts too
			return shape.HasAny(h, "condition_id", "condition") && shape.Has(h, "payouts") && !shape.Has(h, "question")
		},
		Read: readResolutions,
	}
}

// resolution is a canonical row.
type resolution struct {
	Condition  shape.Text `json:"condition_id"`
	Old        shape.Text `json:"condition"` // from earlier versions
	Payouts    shape.List `json:"payouts"`
	ResolvedAt shape.Text `json:"resolved_at"`
	AtSource   shape.Text `json:"resolved_at_source"`
	Source     shape.Text `json:"source"`
	Version    shape.Text `json:"version"`
	Corrected  shape.Text `json:"corrected_at"`
}

var resolutionMembers = shape.MembersOf[resolution]()

func readResolutions(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	rd := shape.Reading{Sink: sink}
	return rd.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
		var row resolution
		if resolutionMembers.Unmarshal(raw, &row) != nil {
			return shape.Reject(sink, line, raw, shape.Known("bad_json"))
		}
		condition, err := data.ParseCondition(cmp.Or(row.Condition.Trim(), row.Old.Trim()))
		if err != nil || condition.IsZero() {
			return shape.Reject(sink, line, raw, shape.Known("bad_condition"))
		}
		source, ok := sources[strings.ToLower(row.Source.Trim())]
		if !ok {
			return shape.Reject(sink, line, raw, shape.Bad("bad_source", "the source %q is not one of map, prices, winner, api and chain", row.Source))
		}
		payouts := payouts(row.Payouts)
		if payouts == nil {
			return shape.Reject(sink, line, raw, shape.Known("bad_payout"))
		}
		var f shape.Fields
		res := data.Resolution{Condition: condition, Payouts: payouts, Source: source,
			Version: f.Time("version", row.Version), CorrectedAt: f.Time("corrected_at", row.Corrected)}
		if f.Err != nil {
			return shape.Reject(sink, line, raw, f.Err)
		}
		if res.ResolvedAt, res.AtSource, err = resolvedAt(row.ResolvedAt.Trim(), row.AtSource.Trim(), row.Source.Trim()); err != nil {
			return shape.Reject(sink, line, raw, err)
		}
		return sink.Resolution(line, res)
	})
}

// resolvedAt parses the time of a resolution and the source of that time. The time in a list of
// winners counts only if the list says where it comes from.
func resolvedAt(text, by, source string) (at time.Time, from data.TimeSource, err error) {
	from, known := data.ParseTimeSource(strings.ToLower(by))
	if by != "" && !known {
		return at, 0, shape.Bad("bad_source", "the resolved_at_source %q is not one of chain, oracle, closed_time and end_date", by)
	}
	if text == "" || !known && strings.EqualFold(source, "map") {
		return at, 0, nil
	}
	if at, err = shape.ParseTime(text); err != nil {
		return at, 0, shape.Bad("bad_time", "the resolved_at %q cannot be read", text)
	}
	return at, from, nil
}

// payouts parses at least two decimals between 0 and 1 that sum to 1, else nil.
func payouts(texts []string) []data.Micro {
	out, sum := make([]data.Micro, len(texts)), data.Micro(0)
	for i, s := range texts {
		p, err := data.ParseMicro(s)
		if err != nil || p < 0 || p > data.One {
			return nil
		}
		out[i] = p
		sum += p
	}
	if len(out) < 2 || sum != data.One {
		return nil
	}
	return out
}
