package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"pmx/rollups"
	"pmx/rollups/cluster"
)

// RefreshCmd merges what was imported.
type RefreshCmd struct {
	JSON bool `help:"End with one JSON object instead of text."`
}

// Help is the longer help.
func (RefreshCmd) Help() string {
	return `A large import leaves the rollups to a rebuild, which the server runs on schedule. This command runs it now. If the rollups are
up to date, nothing is rebuilt. With a running server, the work is done by the server.

  pmx refresh`
}

// Run refreshes.
func (c RefreshCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	return runMaintenance(ctx, cli, std, refreshing, c.JSON, none{})
}

// RebuildCmd recomputes every rollup.
type RebuildCmd struct {
	JSON bool `help:"End with one JSON object instead of text."`
	whaleThreshold
}

// Help is the longer help.
func (RebuildCmd) Help() string {
	return `A rebuild loses nothing, because every rollup is derived from the facts. A running server keeps answering
from the previous snapshot until the new one is ready.

  pmx rebuild
  pmx rebuild --whale-threshold 25000`
}

// Run rebuilds.
func (c RebuildCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	whale, err := c.usd()
	if err != nil {
		return err
	}
	return runMaintenance(ctx, cli, std, rebuilding, c.JSON, rebuildRequest{whale})
}

// runMaintenance runs an operation that updates the rollups, and prints how long it took.
func runMaintenance[Req any](ctx context.Context, cli *CLI, std stdio, op operation[Req, stage, none], asJSON bool, req Req) error {
	m := newProgressBar(std, asJSON)
	began := time.Now()
	_, err := perform(ctx, cli, op, req, m.stage)
	m.clear()
	if err != nil {
		return err
	}
	took := time.Since(began).Seconds()
	if asJSON {
		return printJSON(std.out, map[string]any{"ok": true, "seconds": took})
	}
	_, err = fmt.Fprintf(std.out, "%s: done in %.1f s\n", op.name, took)
	return err
}

// VerifyCmd verifies the database.
type VerifyCmd struct {
	JSON    bool   `help:"End with one JSON object instead of text."`
	Against string `help:"Compare the rollups that another engine published in this folder, instead of recomputing them here." placeholder:"DIR"`
	Lake    string `help:"With --against: verify what was published from the lake in this folder, without a database." placeholder:"DIR"`
	Prefix  string `help:"With --lake: recompute the rollups of wallets whose addresses begin with this." default:"0x0" placeholder:"0x…"`
}

// Help is the longer help.
func (VerifyCmd) Help() string {
	return `Recomputes every rollup from the facts and compares it row by row. No fill may exist twice, and sums by hour,
day and market must agree. In a resolved market that has both sides of each match and no fees, the profits
and losses of all wallets must add up to zero. The exit status is 0 if and only if every check passes.

With --against, every file that rollups/cluster published is checked against its manifest, and then all rows and columns are
compared with the rollups of the database. With --lake as well, no database is needed: sums by day must equal those of the
lake, profits and losses of complete markets must add up to zero, and the rollups of the wallets of --prefix are recomputed.

  pmx verify
  pmx verify --json > checks.json
  pmx verify --against out
  pmx verify --against out --lake lake --prefix 0x00`
}

// Run verifies.
func (c *VerifyCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	m := newProgressBar(std, c.JSON)
	var checks []rollups.Check
	var err error
	if c.Lake != "" && c.Against == "" {
		return &settingError{"against", errors.New("--lake needs --against, the folder of the rollups computed from it")}
	}
	if c.Lake != "" {
		p := cluster.Proof{Lake: c.Lake, Out: c.Against, Prefix: c.Prefix, Memory: cli.memory.DuckDBLimit(), Step: stages(m.stage)}
		checks, err = p.Run(ctx)
	} else if c.Against != "" {
		var dir string
		if dir, err = filepath.Abs(c.Against); err == nil {
			checks, err = perform(ctx, cli, comparing, compareRequest{dir}, m.stage)
		}
	} else {
		checks, err = perform(ctx, cli, verifying, none{}, m.stage)
	}
	m.clear()
	if err != nil {
		return err
	}
	ok := true
	for _, check := range checks {
		ok = ok && check.OK
	}
	if c.JSON {
		err = json.NewEncoder(std.out).Encode(struct {
			OK     bool            `json:"ok"`
			Checks []rollups.Check `json:"checks"`
		}{ok, checks})
	} else {
		printChecks(std.out, checks)
	}
	if err == nil && !ok {
		return errSilent
	}
	return err
}

func printChecks(w io.Writer, checks []rollups.Check) {
	var rows, failed int64
	for _, c := range checks {
		rows += c.Rows
		switch {
		case c.OK:
			_, _ = fmt.Fprintf(w, "ok      %-24s %14s rows\n", c.Name, thousands(c.Rows))
			continue
		case c.Bad == 0: // it is not about rows
			_, _ = fmt.Fprintf(w, "FAILED  %s: %s\n", c.Name, c.Detail)
		default:
			_, _ = fmt.Fprintf(w, "FAILED  %-24s %14s rows, %s wrong%s\n", c.Name, thousands(c.Rows), thousands(c.Bad), prefixed(": ", c.Detail))
		}
		failed++
	}
	if all := count(int64(len(checks)), "check"); failed > 0 {
		_, _ = fmt.Fprintf(w, "%s of %s failed\n", thousands(failed), all)
	} else {
		_, _ = fmt.Fprintf(w, "%s of %s, all ok\n", all, count(rows, "row"))
	}
}
