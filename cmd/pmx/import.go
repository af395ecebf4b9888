package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pmx/data/feeds"
	"pmx/engine"
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

// elsewhere returns the command line for a dry run without a data directory: it has one that remove
// removes, so that none is created.
func (c *ImportCmd) elsewhere(cli *CLI) (other *CLI, remove func(), err error) {
	dir, err := cli.ownDir()
	if err != nil || !c.DryRun {
		return cli, func() {}, err
	}
	if _, err := os.Stat(string(dir)); !errors.Is(err, fs.ErrNotExist) {
		return cli, func() {}, err
	}
	temp, err := os.MkdirTemp("", "pmx-dry-run-*")
	if err != nil {
		return nil, nil, err
	}
	dry := *cli
	dry.DataDir = filepath.Join(temp, "data")
	return &dry, func() { _ = os.RemoveAll(temp) }, nil
}

// check returns an error if no feed has the name of --as, or if a path stands for nothing, before a
// data directory is made for the import. If there is one, the import itself says that of a path.
func (c *ImportCmd) check(dir engine.Dir) error {
	if _, err := feeds.ByName(c.As); c.As != "" && err != nil {
		return wrong("as", ": %w", err)
	}
	if _, err := os.Stat(dir.Database()); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, path := range c.Paths {
		if path == "-" {
			continue
		}
		if _, err := keeper.Named(path); err != nil {
			return err
		}
	}
	return nil
}

// Run imports.
func (c *ImportCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	cli, remove, err := c.elsewhere(cli)
	if err != nil {
		return err
	}
	defer remove()
	dir, err := cli.ownDir()
	if err != nil {
		return err
	}
	if err := c.check(dir); err != nil {
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
	m, start := newProgressBar(std, c.JSON), time.Now()
	printer := newReceiptPrinter(std.out, std.err)
	req := keeper.Request{Paths: paths, Stdin: in.path(), As: c.As, OnError: ingest.OnError(c.OnError), DryRun: c.DryRun, Correct: c.Correct}
	done := keeper.NewResult() // so far
	res, err := perform(ctx, cli, importing, req, func(e keeper.Event) {
		done.Add(e)
		m.imported(e)
		if !c.JSON {
			printer.event(e)
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
	if !c.JSON {
		printTotal(std.out, res, time.Since(start))
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
	if said == "" && slices.ContainsFunc(done.Receipts, func(r ingest.Receipt) bool { return r.RebuildNeeded }) {
		rest += "; the figures are not computed yet: pmx refresh does that, and so does the next import or start of the server"
	}
	return interruption(fmt.Sprintf("the files with a receipt are in (%d); %s", len(done.Receipts), rest))
}
