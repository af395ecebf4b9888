package main

import (
	"strings"
	"testing"
	"time"

	"pmx/engine/ingest"
	"pmx/rollups/keeper"
)

func TestARuleIsPrintedOnce(t *testing.T) {
	var out strings.Builder
	p := newReceiptPrinter(&out, &out)
	for _, r := range []ingest.Receipt{
		{File: "a", Rule: "by log index"}, // has no fills, so its rule says nothing
		{File: "b", Rule: "by log index", Inserted: 1},
		{File: "c", Rule: "by log index", Inserted: 1},
		{File: "d", Rule: "by all fields", AlreadyThere: 1},
		{File: "e", Rule: "by log index", Identical: 1},
	} {
		p.event(keeper.Event{Receipt: &r})
	}
	for _, rule := range []string{"by log index", "by all fields"} {
		if n := strings.Count(out.String(), rule); n != 1 {
			t.Errorf("%q is printed %d times:\n%s", rule, n, out.String())
		}
	}
	if i := strings.Index(out.String(), "by log index"); i < strings.Index(out.String(), "b  ") || i > strings.Index(out.String(), "c  ") {
		t.Errorf("the rule is not printed with the first file that it applies to:\n%s", out.String())
	}
}

func TestTheEndSumsUpFiles(t *testing.T) {
	receipts := []ingest.Receipt{
		{Read: 1000, Inserted: 990, AlreadyThere: 1, Identical: 2, Rejected: map[string]int64{"price": 4, "time": 3}},
		{Read: 500, MarketsNew: 20, MarketsChanged: 30, Resolutions: 40, Conflicts: 5, Rejected: map[string]int64{"price": 1}},
		{Read: 10, Forecasts: 1, Actuals: 2, Observations: 3, Normals: 4},
	}
	failed := []keeper.Failure{{File: "x", Error: "broken"}}
	var out strings.Builder
	printTotal(&out, keeper.Result{Receipts: receipts, Failed: failed}, 2*time.Second)
	const want = `3 files in all
  read 1,510 2.0 s, 755 rows/s
  inserted 990
  already there 1
  identical 2
  rejected 8
  markets new 20
  markets changed 30
  resolutions 40
  conflicts 5
  forecasts 1
  actuals 2
  observations 3
  normals 4
  files failed 1 nothing of them is imported; the reasons are above
`
	var got strings.Builder
	for line := range strings.Lines(out.String()) {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		got.WriteString(indent + strings.Join(strings.Fields(line), " ") + "\n")
	}
	if got.String() != want {
		t.Errorf("%s", got.String())
	}

	out.Reset()
	printTotal(&out, keeper.Result{Receipts: receipts[:1]}, time.Second)
	if out.Len() > 0 {
		t.Errorf("one file has a sum: %s", out.String())
	}
	receipts[1].DryRun = true
	printTotal(&out, keeper.Result{Receipts: receipts[:2]}, time.Second)
	if !strings.HasPrefix(out.String(), "2 files in all  (dry run: nothing was changed)\n") {
		t.Errorf("%s", out.String())
	}
}

// Lines end with their last word: a comparison of saved output would show blanks as a change.
func TestNoLineOfAReceiptEndsWithABlank(t *testing.T) {
	var out strings.Builder
	printReceipt(&out, ingest.Receipt{File: "a.csv", Feed: "pmx-fills", Read: 3, Seconds: 1, Inserted: 2, From: "2026-01-01", To: "2026-01-02", AlreadyThere: 1, MarketsNew: 1, Blocks: 4})
	printTotal(&out, keeper.Result{Receipts: make([]ingest.Receipt, 2), Failed: make([]keeper.Failure, 1)}, time.Second)
	for line := range strings.Lines(out.String()) {
		if strings.HasSuffix(line, " \n") {
			t.Errorf("a line ends with a blank: %q", line)
		}
	}
}
