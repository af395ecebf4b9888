package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"pmx/rollups"
)

// RefreshCmd merges what was imported.
type RefreshCmd struct{}

// Run refreshes.
func (RefreshCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	m := newMeter(std, false)
	defer m.clear()
	_, err := perform(ctx, cli, opRefresh, none{}, m.stage, localRefresh)
	return err
}

// RebuildCmd recomputes every rollup.
type RebuildCmd struct{}

// Help is the longer help.
func (RebuildCmd) Help() string {
	return `Nothing is lost by a rebuild: every rollup follows from the facts. A running server keeps answering
from the previous snapshot until the new one is ready.`
}

// Run rebuilds.
func (RebuildCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	m := newMeter(std, false)
	defer m.clear()
	_, err := perform(ctx, cli, opRebuild, none{}, m.stage, localRebuild)
	return err
}

// VerifyCmd proves the database.
type VerifyCmd struct {
	JSON bool `help:"End with one JSON object instead of text."`
}

// Help is the longer help.
func (VerifyCmd) Help() string {
	return `Every rollup is computed anew from the facts and compared row for row; no fill may be there twice; sums
must agree between grains; in every resolved market with both sides of each match and no fees, the
profits and losses of all wallets must add up to zero. The exit status is 0 if and only if all holds.`
}

// Run verifies.
func (c *VerifyCmd) Run(ctx context.Context, cli *CLI, std stdio) error {
	m := newMeter(std, c.JSON)
	checks, err := perform(ctx, cli, opVerify, none{}, m.stage, localVerify)
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
	for _, c := range checks {
		mark := "ok    "
		if !c.OK {
			mark = "FAILED"
		}
		_, _ = fmt.Fprintf(w, "%s  %-24s %14s rows", mark, c.Name, thousands(c.Rows))
		if !c.OK {
			_, _ = fmt.Fprintf(w, ", %s refute it: %s", thousands(c.Bad), c.Detail)
		}
		_, _ = fmt.Fprintln(w)
	}
}
