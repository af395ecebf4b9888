package ingest_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data/feeds"
	"pmx/data/testfiles"
	"pmx/engine/ingest"
)

// lineCase is a valid file of a feed, and unusual lines.
type lineCase struct {
	file string            // in testdata/feeds, or its name
	base string            // its contents, if it is not in testdata/feeds
	as   string            // the feed, if it has to be named
	odd  map[string]string // a line, and the only count that it may change
}

const (
	meteoLine    = `{` + meteoPlace + `,"daily":{"time":["2026-07-02"],"temperature_2m_max":[21]}}` + "\n"
	mappedHeader = "condition_id,question,outcomes,token_ids,mapped_tokens\n"
	nwsEmpty     = `{` + nwsPlace + `,"properties":{"updateTime":"2026-07-02T13:00:00Z","temperature":{"uom":"wmoUnit:degC","values":[]}}}`
)

// lineCases has at least one file of every text feed.
var lineCases = []lineCase{
	{file: "canonical-1/fills.csv", odd: map[string]string{
		"2026-03-01T10:00:00Z,0xzz,71,BUY,10,2,0,taker,,,,,": "rejected bad_address"}},
	{file: "canonical-1/fills.ndjson"},
	{file: "canonical-1/conditions.csv", odd: map[string]string{
		hashOne + `,,,"A question` + "\n\n" + `of three lines",` + strings.Repeat(",", 31): "markets, 2 continued"}},
	{file: "mapped.csv", base: mappedHeader + hashOne + `,Q?,[],[],"[""1:72"",""0:71""]"` + "\n", odd: map[string]string{
		hashOne + `,Q?,[],[],"[""0:71"",""1:72""]"`: "identical"}},
	{file: "canonical-1/resolutions.csv", odd: map[string]string{hashOne + `,"[1,1]",,chain,`: "rejected bad_payout"}},
	{file: "canonical-1/forecasts.csv"}, {file: "canonical-1/actuals.csv"}, {file: "canonical-1/observations.csv"}, {file: "canonical-1/normals.csv"},
	{file: "whole/c-trades.json"}, {file: "whole/c-trades.csv"}, {file: "whole/c-gamma.json"}, {file: "whole/c-list.json"}, {file: "whole/c-clob.json"},
	{file: "events.json", base: `{"slug":"e","title":"E","markets":[{"conditionId":"` + hashOne + `","question":"Q?","outcomes":"[\"Yes\",\"No\"]"}]}` + "\n",
		odd: map[string]string{`{"slug":"f","title":"F","markets":[]}`: "passed empty"}},
	{file: "orderFilled.csv"}, {file: "whole/c-polydata-trades.csv"}, {file: "whole/c-polydata.csv"}, {file: "whole/c-missing.csv"},
	{file: "v2.csv", base: "id,clobTokenIds,condition_id,question,market_slug,closed,tokens\n" + hashOne + `,"[""7"",""8""]",` + hashOne + ",Q?,q,False,\n"},
	{file: "whole/events.ndjson", odd: map[string]string{wholeLine("events.ndjson", 0): "identical"}},
	{file: "whole/logs.ndjson", odd: map[string]string{
		strings.Replace(wholeLine("logs.ndjson", 0), `"address":"0x`, `"address":"0xffffffff`, 1):                                                                "rejected bad_log",
		`{"address":"` + addressA + `","topics":["` + hashOne + `"],"data":"0x","blockNumber":"0x4000000","transactionHash":"` + hashTwo + `","logIndex":"0x1"}`: "passed unknown_contract"}},
	{file: "whole/c-positions.json"}, {file: "whole/c-jonbecker.csv"}, {file: "whole/ohio_senate.csv"}, {file: "whole/winners.csv"},
	{file: "page.ndjson", base: `{"condition_id":"` + hashOne + `","status":"resolved","was_disputed":false,"payouts":[1000000,0],"resolved_at":"2026-01-02",` +
		`"last_update_timestamp":"1767312000"}` + "\n", as: "polymarket-resolutions"},
	{file: "whole/map.csv"}, {file: "whole/c-resolved.json"}, {file: "whole/c-dome.json"},
	{file: "whole/histories.ndjson", odd: map[string]string{`{"canonical_wallet":"` + addressA + `","trades":[]}`: "passed empty"}},
	{file: "whole/kept.ndjson", odd: map[string]string{`{"_meta":{"fetched_at_utc":"2026-07-02T13:00:00Z"},"response":[]}`: "passed empty"}},
	{file: "f.json", base: strings.Replace(meteoLine, `"daily":`, `"generationtime_ms":1,"daily":`, 1), as: "openmeteo-forecast",
		odd: map[string]string{`{` + meteoPlace + `,"daily":{"time":[],"temperature_2m_max":[]}}`: "passed empty"}},
	{file: "a.json", base: meteoLine, as: "openmeteo-archive"},
	{file: "grid.json", base: `{` + nwsPlace + `,"properties":{"updateTime":"2026-07-02T13:00:00Z","maxTemperature":{"uom":"wmoUnit:degC",` +
		`"values":[{"validTime":"2026-07-03T12:00:00+00:00/PT13H","value":25}]},"temperature":{"uom":"wmoUnit:degC","values":[]}}}` + "\n",
		odd: map[string]string{nwsEmpty: "passed empty"}},
	{file: "half.json", base: `{` + nwsPlace + `,"properties":{"updated":"2026-07-02T13:00:00Z","forecastGenerator":"x","periods":[{"startTime":"2026-07-03T06:00:00-04:00",` +
		`"endTime":"2026-07-03T18:00:00-04:00","isDaytime":true,"temperature":38,"temperatureUnit":"C"}]}}` + "\n",
		odd: map[string]string{`{` + nwsPlace + `,"properties":{"updated":"2026-07-02T13:00:00Z","periods":[]}}`: "passed empty"}},
	{file: "obs.json", base: oneLine(nwsRow(`"value":20`)), odd: map[string]string{strings.TrimSpace(oneLine(nwsRow(`"value":null`))): "passed empty"}},
	{file: "whole/metar.ndjson", odd: map[string]string{
		`{"icaoId":"KLGA","obsTime":1781053660,"temp":null,"rawOb":""}`: "passed empty",
		`{"icaoId":"KLGA","obsTime":"soon","temp":20,"rawOb":""}`:       "rejected bad_time"}},
	{file: "whole/iem.csv", odd: map[string]string{
		"LGA,2026-01-03,M,M,M,":         "passed empty",
		"LGA,2026-01-03,50,40,39,cold":  "rejected bad_temperature",
		"LGA,2026-01-03,50,cold,39,28":  "rejected bad_temperature",
		"LGA,2026-01-32,50,40,39.5,28.": "rejected bad_date"}},
	{file: "whole/asos.csv", odd: map[string]string{"LGA,2026-07-02 06:51,M": "passed empty", "LGA,2026-07-02 06:51,hot": "rejected bad_temperature"}},
	{file: "remarks.csv", base: "#DEBUG: one\n#DEBUG: two\nstation,valid,tmpf\nLGA,2026-07-02 05:51,71.60\n"},
	{file: "whole/x.dly", odd: map[string]string{
		strings.Split(dly(), "\n")[1]: "passed empty",
		strings.Replace(strings.Split(dly("  394  D"), "\n")[1], "TMAX", "PRCP", 1):                           "passed other_element",
		strings.Split(dly("  394  D", "  39x  D"), "\n")[1]:                                                   "rejected bad_row",
		strings.Replace(strings.Split(dly("  394  D", "  394  D"), "\n")[1], "USW00014732", "USW00000000", 1): "rejected unknown_station"}},
	{file: "whole/ghcn.csv", odd: map[string]string{
		"USW00014732,20260106,TMAX,-9999,,,a,": "passed empty", "USW00014732,20260106,PRCP,3,,,a,": "passed other_element"}},
	{file: "whole/hko.csv", odd: map[string]string{
		"2025,3,14,***,": "passed empty", "2O24,3,14,20.1,C": "rejected bad_date", "2024,3,14": "rejected bad_row",
		`"*** unavailable"`: "remarks", "# data incomplete": "remarks"}},
	{file: "whole/ncei.csv", odd: map[string]string{
		`"USW00014732","03-02","-9999","30","-9999","-7777"`:   "passed empty",
		`"USW00014732","03-02","    43.9","28","    10.1","x"`: "rejected bad_temperature"}},
}

// tableCases are the feeds that only read Parquet, each with a query of two rows, one of which is
// invalid.
var tableCases = map[string]string{
	"jonbecker-trades": `SELECT 60000001 AS block_number, '` + hashOne + `' AS transaction_hash, i AS log_index, '` + addressA + `' AS maker, '` + addressB + `' AS taker,
		'0' AS maker_asset_id, '77' AS taker_asset_id, 400000 AS maker_amount, 1000000 AS taker_amount, '2025-01-02T03:04:05Z' AS timestamp
		FROM (VALUES (3), (-1)) AS v(i)`,
	"jonbecker-blocks": `SELECT * FROM (VALUES (7, '2026-01-02T03:04:05Z'), (-1, 'x')) AS b(block_number, timestamp)`,
}

// oneLine returns a page of JSON on one line, without the name of its file.
func oneLine(file string) string {
	_, page, _ := strings.Cut(file, "\n")
	var out bytes.Buffer
	if err := json.Compact(&out, []byte(page)); err != nil {
		panic(err)
	}
	return out.String() + "\n"
}

// wholeLine returns a line of a file of testdata/feeds/whole.
func wholeLine(name string, n int) string {
	content, err := os.ReadFile(testfiles.Path("feeds", "whole", name))
	if err != nil {
		panic(err)
	}
	return strings.Split(string(content), "\n")[n]
}

// content returns the contents of the file; a JSON list as one record per line.
func (c lineCase) content(t *testing.T) string {
	t.Helper()
	if c.base != "" {
		return c.base
	}
	b, err := os.ReadFile(testfiles.Path("feeds", c.file))
	if err != nil {
		t.Fatal(err)
	}
	var list []json.RawMessage
	var page map[string][]json.RawMessage
	if json.Unmarshal(b, &page) == nil && len(page) == 1 {
		list = slices.Concat(slices.Collect(maps.Values(page))...)
	} else if json.Unmarshal(b, &list) != nil {
		return string(b)
	}
	out := ""
	for _, one := range list {
		out += string(one) + "\n"
	}
	return out
}

// counts returns the counts of a receipt by name.
func counts(r ingest.Receipt) map[string]int64 {
	out := map[string]int64{"inserted": r.Inserted, "already there": r.AlreadyThere, "identical": r.Identical, "superseded": r.Superseded, "waiting": r.Waiting, "payouts": r.PayoutRows,
		"markets": r.MarketsNew, "changed": r.MarketsChanged, "tokens": r.TokensMapped, "forecasts": r.Forecasts, "actuals": r.Actuals,
		"observations": r.Observations, "normals": r.Normals, "header": r.Lines.Header, "blank": r.Lines.Blank, "remarks": r.Lines.Remarks,
		"continued": r.Lines.Continued}
	for why, n := range r.Passed {
		out["passed "+string(why)] = n
	}
	for why, n := range r.Rejected {
		out["rejected "+why] = n
	}
	return out
}

// account imports a temporary file, and compares its lines and rows with the receipt.
func (v *intake) account(t *testing.T, c lineCase, content string) ingest.Receipt {
	t.Helper()
	r, err := bringAs(context.Background(), v.im, v.write(filepath.Base(c.file), content), c.as, ingest.Options{DryRun: true})
	if err != nil {
		t.Fatalf("%s: %v", content, err)
	}
	if sum := accounted(t, r); sum != r.Read {
		t.Errorf("%s: the rows add up to %d of %d read: %+v\n%s", c.file, sum, r.Read, r, content)
	}
	l := r.Lines
	lines := int64(len(strings.Split(strings.TrimSuffix(content, "\n"), "\n")))
	if sum := l.Records + l.Continued + l.Header + l.Blank + l.Remarks; l.Total != 0 && (l.Total != lines || sum != lines) {
		t.Errorf("%s: %d lines, and in the receipt %+v\n%s", c.file, lines, l, content)
	}
	if l.Records > r.Read || l.Records == 0 {
		t.Errorf("%s: %d records, but %d rows", c.file, l.Records, r.Read)
	}
	return r
}

// TestEveryLineIsInTheReceipt: every line of a file is in the receipt, and a rejected row is
// counted only as rejected. A new feed needs a case.
func TestEveryLineIsInTheReceipt(t *testing.T) {
	v := open(t)
	tried := map[string]bool{}
	for nth, c := range lineCases {
		content := c.content(t)
		twice := content + lastLine(content) // a page of one line is JSON, several are lines
		if testfiles.Long() {                // TestTheReceiptCountsEachRowOnce imports pages in a short run
			tried[v.account(t, c, content).Feed] = true
		}
		plain := v.account(t, c, twice)
		tried[plain.Feed] = true
		if !testfiles.Long() && c.odd == nil && nth%12 > 0 {
			continue // of the cases without odd lines of their own, one in twelve is tried with the common ones
		}
		odd := map[string]string{"": "blank", `"x,y`: "rejected bad_row"}
		if strings.HasPrefix(content, "{") {
			odd = map[string]string{" ": "blank", `{"a":`: "rejected bad_json"}
			if !strings.Contains(content, `"features"`) { // a page: only its records are read
				odd[`{"x":"\ud83d",`+lastLine(content)[1:len(lastLine(content))-1]] = "rejected bad_json"
			}
		}
		odd[withByte(lastLine(content))] = "rejected bad_utf8"
		maps.Copy(odd, c.odd)
		for _, lines := range oddLines(odd) {
			r := v.account(t, c, twice+strings.Join(lines, "\n")+"\n")
			if r.Lines.Total == 0 {
				t.Errorf("%s: not read by its lines", c.file)
			}
			delta := counts(r)
			for name, n := range counts(plain) {
				if delta[name] -= n; delta[name] == 0 {
					delete(delta, name)
				}
			}
			wanted := map[string]int64{}
			for _, line := range lines {
				want, continued := strings.CutSuffix(odd[line], ", 2 continued")
				if wanted[want]++; continued {
					wanted["continued"] += 2
				}
			}
			if diff := cmp.Diff(wanted, delta); diff != "" {
				t.Errorf("%s (%s) with the lines %q (-want +got):\n%s", c.file, r.Feed, lines, diff)
			}
		}
	}
	for name, query := range tableCases {
		r := v.account(t, lineCase{file: "t.parquet"}, v.table(query))
		if tried[name] = r.Feed == name; r.Lines != (ingest.Lines{Records: 2}) || r.Read != 2 || r.RejectedRows() != 1 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	for _, f := range feeds.All() {
		if !tried[f.Name] {
			t.Errorf("no case has lines of %s", f.Name)
		}
	}
}

// oddLines returns each line alone in a long run, and all together in a short one, with an unclosed
// quote, which affects what follows, at the end.
func oddLines(odd map[string]string) (files [][]string) {
	var together, unclosed []string
	for _, line := range slices.Sorted(maps.Keys(odd)) {
		switch {
		case testfiles.Long():
			files = append(files, []string{line})
		case line == `"x,y`:
			unclosed = []string{line}
		case strings.HasPrefix(line, `"x,y`):
			files = append(files, []string{line})
		default:
			together = append(together, line)
		}
	}
	if together = append(together, unclosed...); len(together) > 0 {
		files = append(files, together)
	}
	return files
}

// withByte returns a row with a byte in one of its texts that is not UTF-8.
func withByte(row string) string {
	row = strings.TrimSuffix(row, "\n")
	at := 3
	if strings.HasPrefix(row, "{") {
		at = strings.LastIndex(row, `"`)
	}
	return row[:at] + "\xe9" + row[at:]
}

// lastLine returns the last line of a text that ends in a line end.
func lastLine(text string) string {
	lines := strings.SplitAfter(text, "\n")
	return lines[len(lines)-2]
}

// table returns the contents of a Parquet file.
func (v *intake) table(query string) string {
	v.t.Helper()
	writer, err := sql.Open("duckdb", "")
	if err != nil {
		v.t.Fatal(err)
	}
	defer writer.Close()
	path := filepath.Join(v.at, "table.parquet")
	if _, err := writer.Exec("COPY (" + query + ") TO '" + path + "' (FORMAT parquet)"); err != nil {
		v.t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		v.t.Fatal(err)
	}
	return string(b)
}
