package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"pmx/engine/ingest"
	"pmx/rollups/keeper"
)

// receiptPrinter writes what is known of each file as soon as it is.
type receiptPrinter struct {
	out, errOut io.Writer
	ruled       map[string]bool // rules for repeats that were printed
}

func newReceiptPrinter(out, errOut io.Writer) receiptPrinter {
	return receiptPrinter{out, errOut, map[string]bool{}}
}

func (p receiptPrinter) event(e keeper.Event) {
	switch {
	case e.Receipt != nil:
		r := *e.Receipt
		if p.ruled[r.Rule] {
			r.Rule = ""
		} else if countsRepeats(r) {
			p.ruled[r.Rule] = true
		}
		printReceipt(p.out, r)
	case e.Failed != nil:
		_, _ = fmt.Fprintf(p.errOut, "pmx: %s\n", visible(e.Failed.Error, e.Failed.File))
	case e.Skipped != nil:
		_, _ = fmt.Fprintf(p.errOut, "skipped %s\n", visible(e.Skipped.Error, e.Skipped.File))
	}
}

// countsRepeats reports whether the rule for repeats mattered to a file.
func countsRepeats(r ingest.Receipt) bool {
	return r.Rule != "" && r.Inserted+r.AlreadyThere+r.Identical > 0
}

// printTotal writes what an import of several files did in all.
func printTotal(w io.Writer, res keeper.Result, took time.Duration) {
	if len(res.Receipts)+len(res.Failed) < 2 {
		return
	}
	sum := func(of func(ingest.Receipt) int64) (n int64) {
		for _, r := range res.Receipts {
			n += of(r)
		}
		return n
	}
	dry := ""
	if n := len(res.Receipts); n > 0 {
		dry = dryNote(res.Receipts[n-1])
	}
	_, _ = fmt.Fprintf(w, "%s in all%s\n", count(int64(len(res.Receipts)), "file"), dry)
	row := rowsOf(w)
	read := sum(func(r ingest.Receipt) int64 { return r.Read })
	row("read", read, rateNote(read, took.Seconds()))
	for _, t := range []struct {
		label string
		of    func(ingest.Receipt) int64
	}{
		{"inserted", func(r ingest.Receipt) int64 { return r.Inserted }},
		{"already there", func(r ingest.Receipt) int64 { return r.AlreadyThere }},
		{"identical", func(r ingest.Receipt) int64 { return r.Identical }},
		{"rejected", func(r ingest.Receipt) int64 { return r.RejectedRows() }},
		{"markets new", func(r ingest.Receipt) int64 { return r.MarketsNew }},
		{"markets changed", func(r ingest.Receipt) int64 { return r.MarketsChanged }},
		{"resolutions", func(r ingest.Receipt) int64 { return r.Resolutions }},
		{"conflicts", func(r ingest.Receipt) int64 { return r.Conflicts }},
		{"forecasts", func(r ingest.Receipt) int64 { return r.Forecasts }},
		{"actuals", func(r ingest.Receipt) int64 { return r.Actuals }},
		{"observations", func(r ingest.Receipt) int64 { return r.Observations }},
		{"normals", func(r ingest.Receipt) int64 { return r.Normals }},
	} {
		row(t.label, sum(t.of), "")
	}
	row("files failed", int64(len(res.Failed)), "nothing of them is imported; the reasons are above")
}

// rowsOf returns a function that writes a count to w if it is not zero.
func rowsOf(w io.Writer) func(label string, n int64, note string) {
	return func(label string, n int64, note string) {
		if n != 0 {
			_, _ = fmt.Fprintf(w, "  %-18s %14s%s\n", label, thousands(n), prefixed("  ", note))
		}
	}
}

// prefixed returns text after prefix; "" if there is no text.
func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// dryNote says that nothing was changed.
func dryNote(r ingest.Receipt) string {
	if r.DryRun {
		return "  (dry run: nothing was changed)"
	}
	return ""
}

// rateNote says how long n rows took.
func rateNote(n int64, seconds float64) string {
	if seconds <= 0 {
		return ""
	}
	return fmt.Sprintf("%.1f s, %s rows/s", seconds, thousands(int64(float64(n)/seconds)))
}

// printReceipt writes the receipt of a file, one fact per line, without zeros.
func printReceipt(w io.Writer, r ingest.Receipt) {
	_, _ = fmt.Fprintf(w, "%s  %s%s\n", visible(r.File, r.File), r.Feed, dryNote(r))
	row := rowsOf(w)
	row("lines", r.Lines.Total, linesNote(r.Lines))
	row("read", r.Read, rateNote(r.Read, r.Seconds))
	row("inserted", r.Inserted, "")
	row("  of them better", r.Replaced, "replaced a less complete or contradicting fill")
	row("already there", r.AlreadyThere, "")
	row("identical", r.Identical, "rows that repeat another of this file")
	row("superseded", r.Superseded, "a later row is about the same thing and time")
	row("merged", r.Merged, "known fills that are now one with another")
	row("payouts", r.PayoutRows, "rows among the fills; what they change is below")
	for _, reason := range slices.Sorted(maps.Keys(r.Notes)) {
		row("note", r.Notes[reason], reason)
	}
	row("waiting", r.Waiting, "until their market is imported")
	row("released", r.Released, "had waited for these markets")
	unmapped := "inserted, their market is not known yet"
	if r.DryRun {
		unmapped = "a dry run does not see the markets of other files"
	}
	row("unmapped", r.Unmapped, unmapped)
	for _, why := range slices.Sorted(maps.Keys(r.Passed)) {
		row("passed", r.Passed[why], why.Explain())
	}
	for _, reason := range slices.Sorted(maps.Keys(r.Rejected)) {
		row("rejected", r.Rejected[reason], reason)
	}
	printMarkets(w, row, r)
	row("blocks", r.Blocks, "")
	row("forecasts", r.Forecasts, "")
	row("actuals", r.Actuals, "")
	row("observations", r.Observations, "")
	row("normals", r.Normals, "")
	row("  withdrawn", r.Withdrawn, "the source has withdrawn these values")
	row("  of them better", r.Corrected, "replaced another value of the same thing and time")
	printEnd(w, r)
}

// linesNote says what kinds of lines a file has.
func linesNote(l ingest.Lines) string {
	note := count(l.Records, "record")
	for _, p := range []struct {
		n    int64
		what string
	}{{l.Header, "header"}, {l.Continued, "inside cells"}, {l.Blank, "blank"}, {l.Remarks, "remarks"}} {
		if p.n > 0 {
			note += fmt.Sprintf(", %s %s", thousands(p.n), p.what)
		}
	}
	return note
}

// printMarkets writes what changed about markets and their resolutions.
func printMarkets(w io.Writer, row func(label string, n int64, note string), r ingest.Receipt) {
	row("markets new", r.MarketsNew, "")
	row("markets changed", r.MarketsChanged, "")
	row("resolutions", r.Resolutions, "")
	row("conflicts", r.Conflicts, conflictNote(r))
	blocks := make([]string, len(r.ConflictBlocks))
	for i, number := range r.ConflictBlocks {
		blocks[i] = fmt.Sprintf("block %d", number)
	}
	for _, names := range [][]string{r.ConflictMarkets, r.ConflictFills, r.ConflictTokens, blocks} {
		for _, name := range names[:min(len(names), 3)] {
			_, _ = fmt.Fprintf(w, "  %-18s %14s  %s\n", "", "", name)
		}
	}
	row("overruled", r.Overruled, "payouts of a better source or a later version are kept")
	for _, why := range slices.Sorted(maps.Keys(r.FinalPricesNotTaken)) {
		row("prices not taken", r.FinalPricesNotTaken[why], "final ones, as payouts: "+why.Explain())
	}
	row("tokens mapped", r.TokensMapped, "")
}

// printEnd writes times, sums and remarks about a file.
func printEnd(w io.Writer, r ingest.Receipt) {
	if r.Inserted > 0 {
		_, _ = fmt.Fprintf(w, "  %-18s %s … %s\n  %-18s buys %s, sells %s USD\n", "from … to", r.From, r.To,
			"sums", r.BuyUSD, r.SellUSD)
	}
	if countsRepeats(r) {
		_, _ = fmt.Fprintf(w, "  %-18s %s\n", "repeats", r.Rule)
	}
	if r.Warning != "" {
		_, _ = fmt.Fprintf(w, "  %-18s %s\n", "warning", r.Warning)
	}
	if r.RejectedFile != "" && !r.DryRun {
		kept := "rejected rows in"
		if len(r.Rejected) == 0 {
			kept = "these rows in"
		}
		_, _ = fmt.Fprintf(w, "  %-18s %s\n", kept, visible(r.RejectedFile, r.RejectedFile))
	}
}

// conflictNote explains a conflict and how it is settled.
func conflictNote(r ingest.Receipt) string {
	switch {
	case len(r.ConflictMarkets) == 0:
		return "the file contradicts what is known of a fill, token or block; the kept rows show which version counts"
	case r.Correct:
		return "the file contradicts itself about these markets; the larger payouts and the earlier time count"
	}
	return "a different resolution of equal source and version, or a correction, is known: --correct replaces it; or the number of payouts is not that of the outcomes"
}
