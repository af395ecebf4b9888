package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/engine"
	"pmx/rollups/keeper"
)

// Work that is cut off after facts are committed and before the figures are computed leaves a database
// from which no figures are exported. The doctor says so, and a backup of it is restored with its
// figures.
func TestFiguresThatAreNotComputedAreNotExported(t *testing.T) {
	keepUmask(t)
	in := &installation{t: t, dir: t.TempDir()}
	in.run("sample", "--fills", "500", "--days", "8", "--out", "venue")
	in.run("import", "venue")
	in.run("export", "wallet_pnl", "--out", "before.csv")
	dir := filepath.Join(in.dir, "pmx-data")
	cli := &CLI{Memory: "1GB"}
	if err := cli.limitMemory(); err != nil {
		t.Fatal(err)
	}
	k, err := cli.openVenue(t.Context(), engine.Dir(dir), keeper.Config{Log: zerolog.Nop(), Whale: 123 * data.One})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}

	const what = "the figures are not computed yet for all that is stored"
	if text := in.refused("export", "wallet_pnl", "--out", "after.csv"); !strings.Contains(text, what+": run pmx refresh") {
		t.Errorf("an export says %q", text)
	}
	in.run("export", "fills", "--out", "fills.csv") // facts are complete
	if text := string(in.run("doctor")); !strings.Contains(text, "database: "+what) {
		t.Errorf("the doctor says %q", text)
	}
	in.run("backup", "kept")
	if text := string(in.run("restore", "kept", "--data-dir", "again")); !strings.Contains(text, "checks hold") {
		t.Errorf("a restore says %q", text)
	}
	in.run("export", "wallet_pnl", "--out", "restored.csv", "--data-dir", "again")
	in.run("refresh")
	in.run("export", "wallet_pnl", "--out", "after.csv")
	if text := string(in.run("doctor")); strings.Contains(text, what) {
		t.Errorf("after a refresh, the doctor says %q", text)
	}
}
