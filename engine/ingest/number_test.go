package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"pmx/data/testfiles"
	"pmx/engine"
)

// TestALineOfNDJSONIsThatOfTheFile: DuckDB reads parts of an NDJSON file in parallel and returns
// them in any order. The line and the text of a rejected row are still those of the file, even with
// blank and broken lines and numbers that only one of the two JSON readers accepts.
func TestALineOfNDJSONIsThatOfTheFile(t *testing.T) {
	testfiles.InLong(t, "TestEveryLineIsInTheReceipt counts the lines of every feed")
	v := openWith(t, func(o *engine.Options) { o.Threads = 2 })
	row := func(i int, wallet, more string) string {
		return fmt.Sprintf(`{"ts":%d,"address":"%s","token_id":"7","side":"BUY","shares":"10","usd":"4","n":%d%s}`, 1767348000+i, wallet, i, more)
	}
	padding := `,"note":"` + strings.Repeat(" x ", 60_000) + `"` // longer than the copy buffer
	for _, tc := range []struct {
		name string
		rows int
		line func(i int) (text, reason string)
	}{
		{"parts", testfiles.Cases(250, 900), func(i int) (string, string) { // of 180 KB each: 45 or 162 MB, more than DuckDB reads at once
			if i%97 == 0 {
				return row(i, "0xzz", padding), "bad_address"
			}
			if i == 1 { // by which the file is detected
				return row(i, addressA, ""), ""
			}
			return row(i, addressA, padding), ""
		}},
		{"odd lines", 60, func(i int) (string, string) {
			switch i % 10 {
			case 9:
				return "", ""
			case 2:
				return fmt.Sprintf(`{"n":%d`, i), "bad_json"
			case 3:
				return fmt.Sprintf(`[%d]`, i), "bad_json"
			case 4:
				return " \t{ }", "bad_json"
			case 5:
				return "\t " + row(i, addressA, `,"fee":1e999`), "any"
			case 6:
				return row(i, "0xzz", `,"pmx:record":1`), "bad_address"
			case 7:
				return "\t{  " + row(i, addressB, "")[1:] + " \r", ""
			}
			return row(i, addressA, ""), ""
		}},
	} {
		var content strings.Builder
		want := map[int64]string{}
		lines := make([]string, tc.rows+1)
		for i := 1; i <= tc.rows; i++ {
			text, reason := tc.line(i)
			lines[i] = strings.TrimSpace(text)
			content.WriteString(text + "\n")
			if reason != "" {
				want[int64(i)] = reason
			}
		}
		r, err := v.load("fills.ndjson", content.String())
		if err != nil {
			t.Fatal(tc.name, err)
		}
		seen := map[int64]bool{}
		for _, text := range v.kept(r) {
			var k struct {
				Line   int64
				Reason string
				Raw    string
			}
			if _, err := fmt.Sscanf(text, "%d %s", &k.Line, &k.Reason); err != nil {
				t.Fatal(err)
			}
			k.Raw = text[len(fmt.Sprintf("%d %s ", k.Line, k.Reason)):]
			if reason := want[k.Line]; seen[k.Line] || reason == "" || reason != "any" && k.Reason != reason || k.Raw != lines[k.Line] {
				t.Errorf("%s: line %d is kept as %s, want %q\n%.200s\n%.200s", tc.name, k.Line, k.Reason, reason, k.Raw, lines[k.Line])
			}
			seen[k.Line] = true
		}
		if len(seen) != len(want) {
			t.Errorf("%s: %d rows kept, want %d", tc.name, len(seen), len(want))
		}
		v.empty()
	}
}
