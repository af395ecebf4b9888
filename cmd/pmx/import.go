package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"pmx/data/feeds"
	"pmx/engine/ingest"
	"pmx/rollups/keeper"
)

// ImportCmd imports files.
type ImportCmd struct {
	Paths   []string `arg:"" name:"path" help:"Files, folders, globs, or - for standard input; plain, .gz or .zst."`
	As      string   `help:"Read every file as this feed instead of detecting it." placeholder:"FEED"`
	OnError string   `help:"What to reject if a row cannot be read: that row, or the whole file." enum:"row,file" default:"row"`
	DryRun  bool     `help:"Show what would be imported; change nothing."`
	Correct bool     `help:"If payouts contradict stored ones of the same source and version, replace the stored ones."`
	JSON    bool     `help:"End with one JSON object instead of text."`
}

// Help is the longer help.
func (ImportCmd) Help() string {
	var b strings.Builder
	b.WriteString(`The receipt of a file accounts for each of its rows. Rows that are already stored are not stored again, so
a file may be imported twice, and files may overlap. Rejected rows are kept, with line and reason, in
<data-dir>/rejected. If a server is running on the data directory, the command hands the work to it, and the
next request sees the result.

  pmx import events.ndjson orderFilled.csv
  pmx import --dry-run ~/downloads/
  curl -s https://host/trades.json | pmx import -
  pmx import --correct winners.csv
  pmx import --as polymarket-trades page.json

Feeds:
`)
	for _, f := range feeds.All() {
		fmt.Fprintf(&b, "  %-24s %s\n", f.Name, f.About)
	}
	return b.String()
}

// Run imports.
func (c *ImportCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	dir, err := cli.dir()
	if err != nil {
		return err
	}
	paths, in, err := c.sources(ctx, dir, std.in)
	if err != nil {
		return err
	}
	defer in.remove()
	for _, path := range paths {
		if err := checkFacts(ctx, path); err != nil {
			return err
		}
	}
	m := newProgressBar(std, c.JSON)
	req := keeper.Request{Paths: paths, Stdin: in.path(), As: c.As, OnError: ingest.OnError(c.OnError), DryRun: c.DryRun, Correct: c.Correct}
	done := keeper.NewResult() // so far
	res, err := perform(ctx, cli, importing, req, func(e keeper.Event) {
		done.Add(e)
		m.imported(e)
		if !c.JSON {
			printEvent(std.out, std.err, e)
		}
	})
	m.clear()
	if err != nil {
		return c.cutShort(ctx, std.out, done, err)
	}
	if c.Correct && slices.ContainsFunc(res.Receipts, func(r ingest.Receipt) bool { return !r.Correct }) {
		return errors.New("the running server is of an earlier version and does not support --correct: the files were imported without it; restart the server with this version and repeat the import")
	}
	if c.JSON {
		if err := json.NewEncoder(std.out).Encode(res); err != nil {
			return err
		}
	}
	if len(res.Failed) > 0 {
		if c.JSON {
			for _, f := range res.Failed {
				_, _ = fmt.Fprintf(std.err, "pmx: %s\n", visible(f.Error, f.File))
			}
		}
		return errSilent
	}
	return nil
}

// cutShort reports what an import that ended with an error has done: the files with a receipt are
// imported.
func (c *ImportCmd) cutShort(ctx context.Context, out io.Writer, done keeper.Result, err error) error {
	if c.JSON && len(done.Receipts) > 0 {
		err = errors.Join(err, json.NewEncoder(out).Encode(done))
	}
	var said interruption
	if ctx.Err() == nil || c.DryRun || len(done.Receipts) == 0 || !errors.Is(err, context.Canceled) {
		return err
	}
	rest := "nothing of any other is"
	if errors.As(err, &said) {
		rest = said.Error()
	}
	return interruption(fmt.Sprintf("the files with a receipt are in (%d); %s", len(done.Receipts), rest))
}

func printEvent(out, errOut io.Writer, e keeper.Event) {
	switch {
	case e.Receipt != nil:
		printReceipt(out, *e.Receipt)
	case e.Failed != nil:
		_, _ = fmt.Fprintf(errOut, "pmx: %s\n", visible(e.Failed.Error, e.Failed.File))
	case e.Skipped != nil:
		_, _ = fmt.Fprintf(errOut, "skipped %s\n", visible(e.Skipped.Error, e.Skipped.File))
	}
}

// printReceipt writes the receipt of a file, one fact per line, without zeros.
func printReceipt(w io.Writer, r ingest.Receipt) {
	dry := ""
	if r.DryRun {
		dry = "  (dry run: nothing was changed)"
	}
	_, _ = fmt.Fprintf(w, "%s  %s%s\n", visible(r.File, r.File), r.Feed, dry)
	row := func(label string, n int64, note string) {
		if n != 0 {
			_, _ = fmt.Fprintf(w, "  %-18s %14s  %s\n", label, thousands(n), note)
		}
	}
	rate := ""
	if r.Seconds > 0 {
		rate = fmt.Sprintf("%.1f s, %s rows/s", r.Seconds, thousands(int64(float64(r.Read)/r.Seconds)))
	}
	row("lines", r.Lines.Total, linesNote(r.Lines))
	row("read", r.Read, rate)
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
	note := thousands(l.Records) + " records"
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
	if r.Rule != "" && r.Inserted+r.AlreadyThere+r.Identical > 0 {
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
