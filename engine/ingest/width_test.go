package ingest_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data/testfiles"
)

// TestARowOfAnotherWidthIsRejected: in every feed that DuckDB reads from CSV, a row has the
// header's number of cells. One that lacks the last cell may lack what identifies its
// fill, and one with a cell more has its values in other columns. An empty last cell is a
// cell. The file is read as it is, and with a blank line in it as a cleaned copy.
func TestARowOfAnotherWidthIsRejected(t *testing.T) {
	testfiles.InLong(t, "TestEveryLineIsInTheReceipt has such a row in every feed")
	v := open(t)
	files := map[string]string{"last.csv": "ts,wallet,token,side,shares,usd,log_index,tx\n" + // the last cell may be empty
		"2026-01-02T03:04:05Z," + addressA + ",71,BUY,10.5,4.25,12," + hashOne + "\n2026-01-02T03:04:06Z," + addressB + ",72,SELL,10.5,4.25,,\n"}
	for name, content := range queried {
		if strings.HasSuffix(name, ".csv") && name != "ohio_senate.csv" {
			files[name] = content
		}
	}
	for nth, name := range slices.Sorted(maps.Keys(files)) {
		content := files[name]
		lines := strings.SplitAfter(content, "\n")
		header, first, second := lines[0], strings.TrimSpace(lines[1]), lines[2]
		for i, blank := range []string{"", "\n"} { // the second is read as a cleaned copy
			for k, row := range []string{first, first[:strings.LastIndexByte(first, ',')], first[:strings.IndexByte(first, ',')], first + ",", first + ",x",
				strings.Replace(first, ",", ",,", 1)} {
				if !testfiles.Long() && (i+k+nth)%4 > 0 {
					continue // tried with another file
				}
				good := row == first
				v.empty()
				r, err := v.load(name, header+blank+row+"\n"+second)
				if err != nil {
					t.Fatal(name, err)
				}
				want, line := []string(nil), 2+len(blank)
				if !good {
					want = []string{fmt.Sprintf("%d bad_row %s", line, row)}
				}
				var got []string
				if r.RejectedFile != "" {
					got = v.kept(r)
				}
				if diff := cmp.Diff(want, got); diff != "" || r.Read != 2 || int(r.Inserted+r.Waiting) != 2-len(want) {
					t.Errorf("%s, blank %q, %q: read %d, inserted %d (-want +got):\n%s", name, blank, row, r.Read, r.Inserted, diff)
				}
			}
		}
	}
	if !slices.Contains([]int{5, 6}, len(files)) {
		t.Errorf("got %d files", len(files))
	}
}
