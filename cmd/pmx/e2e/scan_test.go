package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pmx/data/sample"
	"pmx/data/testfiles"
	"pmx/http/api"
)

// identity has the fields that identify a row of a scan, whatever else changes while data arrives.
var identity = map[string][]string{
	"/market/{condition_id}/candles": {"ts", "outcome_index"},
	"/market/{condition_id}/trades":  {"ts", "transaction_hash", "log_index", "ordinal", "address", "side", "shares", "usd", "token_id"},
	"/trader/{address}/markets":      {"condition_id"},
	"/trader/{address}/trades":       {"ts", "transaction_hash", "log_index", "side", "shares", "usd", "token_id", "ordinal"},
	"/whales/moves":                  {"transaction_hash", "address", "condition_id", "outcome_index", "side"},
	"/screener":                      {"condition_id"},
}

// walkChunks is the number of files that are imported during each scan.
var walkChunks = testfiles.Cases(4, 14)

// TestScanDuringImportShowsItsRowsOnce scans every endpoint with a cursor while files are imported:
// in the order of time, and with fills older than what the scan has passed.
func TestScanDuringImportShowsItsRowsOnce(t *testing.T) {
	var walked []api.Route
	cursors := 0
	for _, route := range api.Routes() {
		if slices.ContainsFunc(route.Params, func(p *api.Param) bool { return p.Kind == api.CursorArg }) {
			if cursors++; testfiles.Long() || cursors%9 == 1 { // a short run takes every ninth
				walked = append(walked, route)
			}
		}
	}
	if len(walked) == 0 {
		t.Fatal("no endpoint has a cursor")
	}
	v := newVenue(t)
	first, rest := halves(v, len(walked)*walkChunks)
	v.load(first...)
	for i, route := range walked {
		v.checkWalk(&route, rest[i*walkChunks:][:walkChunks])
	}
}

// checkWalk scans an endpoint while the files of rest are imported.
func (v *venue) checkWalk(route *api.Route, rest []string) {
	t := v.t
	t.Helper()
	fields := identity[route.Path]
	if fields == nil {
		t.Fatalf("add the fields that identify rows of %s to identity", route.Path)
	}
	pick := newPicker(v)
	pick.known["address"] = v.table(`SELECT '0x' || lower(hex(w.address)) FROM fills AS f JOIN wallets AS w ON w.wallet = f.wallet
		GROUP BY w.address ORDER BY count(*) DESC, w.address LIMIT 1`)[0]
	path, ok := pick.path(route)
	if !ok {
		t.Fatalf("no value is known for a parameter of %s", route.Path)
	}
	path, _, _ = strings.Cut(path, "?")
	before, _ := v.walk(path, fields, 200, func() {})
	// As many pages as there are remaining files.
	page := max(1, min(200, len(before)/walkChunks))
	during, pages := v.walk(path, fields, page, func() {
		if len(rest) > 0 {
			v.load(rest[0])
			rest = rest[1:]
		}
	})
	if len(before) < 3 || pages < 3 {
		t.Fatalf("%s: got %d rows on %d pages: too few for this test", path, len(before), pages)
	}
	after, _ := v.walk(path, fields, 200, func() {})
	start, seen, end := counted(before), counted(during), counted(after)
	for row := range seen {
		if seen[row] < start[row] || seen[row] > end[row] {
			t.Errorf("%s: a row was read %d times, although it existed %d times at the start and %d times at the end: %s", path, seen[row], start[row], end[row], row)
		}
	}
	for row := range start {
		if seen[row] == 0 {
			t.Errorf("%s: a row that existed at the start was not read: %s", path, row)
		}
	}
}

// counted returns how often each row occurs: some fills are equal.
func counted(rows []string) map[string]int {
	n := map[string]int{}
	for _, row := range rows {
		n[row]++
	}
	return n
}

// halves writes a small venue: its markets with half of its fills, and the other half in a number
// of files, each with fills of the whole period.
func halves(v *venue, files int) (first, rest []string) {
	v.t.Helper()
	out := filepath.Join(v.t.TempDir(), "sample")
	if _, err := sample.Write(v.t.Context(), sample.Config{Fills: int64(testfiles.Cases(8_000, 20_000)), Days: testfiles.Cases(8, 0)}, out, nil); err != nil {
		v.t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(out, sample.FillsName))
	if err != nil {
		v.t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	texts := make([]strings.Builder, files+1)
	lines := bufio.NewScanner(file)
	for n := 0; lines.Scan(); n++ {
		for i := range texts {
			if n == 0 || i == 0 && n%2 == 0 || i > 0 && n%2 == 1 && n/2%files == i-1 {
				texts[i].WriteString(lines.Text() + "\n")
			}
		}
	}
	if err := lines.Err(); err != nil {
		v.t.Fatal(err)
	}
	first = []string{filepath.Join(out, sample.EventsName), v.write("first.csv", texts[0].String())}
	for i := range files {
		rest = append(rest, v.write(fmt.Sprintf("rest-%02d.csv", i), texts[i+1].String()))
	}
	return first, rest
}

// walk returns the identities of all rows of path, page by page, and the number of pages. meanwhile
// runs concurrently with the request of each page.
func (v *venue) walk(path string, fields []string, limit int, meanwhile func()) (rows []string, pages int) {
	v.t.Helper()
	for cursor := ""; ; pages++ {
		ask := fmt.Sprintf("%s?limit=%d", path, limit)
		if cursor != "" {
			ask += "&cursor=" + url.QueryEscape(cursor)
		}
		done := make(chan struct{})
		go func() { defer close(done); meanwhile() }()
		status, body := v.get("alpha", ask)
		<-done
		if status != 200 {
			v.t.Fatalf("GET %s: status = %d, body = %v", ask, status, body)
		}
		reply := body.(map[string]any)
		for _, row := range reply["data"].([]any) {
			rows = append(rows, identify(v, row.(map[string]any), fields))
		}
		next, more := reply["next_cursor"].(string)
		if !more {
			return rows, pages + 1
		}
		cursor = next
	}
}

func identify(v *venue, row map[string]any, fields []string) string {
	v.t.Helper()
	var parts []string
	for _, field := range fields {
		value, there := row[field]
		if !there {
			v.t.Fatalf("a row has no %s: row = %v", field, row)
		}
		text, err := json.Marshal(value)
		if err != nil {
			v.t.Fatal(err)
		}
		parts = append(parts, string(text))
	}
	return strings.Join(parts, " ")
}
