package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmx/data/testfiles"
	"pmx/rollups/cluster"
)

// tradeDays imports a fill of each of some days of January.
func (w *replicaWriter) tradeDays(from, to int) {
	w.t.Helper()
	text := "ts,address,token_id,side,shares,usd\n"
	for day := from; day <= to; day++ {
		text += fmt.Sprintf("2026-01-%02dT10:00:00Z,%s,71,BUY,100,40\n", day, replicaTrader)
	}
	path := filepath.Join(w.t.TempDir(), fmt.Sprintf("%d.csv", from))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.must("import", path)
}

// wholeLake gives the name of the manifest of a lake, each of whose files is as the manifest says; "" without a CURRENT.
func wholeLake(t *testing.T, dir string) string {
	t.Helper()
	m, id, err := cluster.ReadLake(dir)
	if err != nil {
		t.Fatal(err)
	}
	if m == nil {
		return ""
	}
	for _, f := range m.Files {
		if err := cluster.CheckFile(dir, f, true); err != nil {
			t.Error(err)
		}
	}
	return id
}

// An export that is killed, whatever it has written, leaves a lake that reads as before, or as the new one once CURRENT names that. The
// next export goes on, and comes to the lake of an export from nothing.
func TestAnExportOfALakeIsKilled(t *testing.T) {
	w := newReplicaWriter(t)
	w.tradeDays(2, 5)
	before := filepath.Join(t.TempDir(), "before")
	w.must("export", "lake", "--out", before)
	was := wholeLake(t, before)
	w.tradeDays(6, 9)
	fresh := filepath.Join(t.TempDir(), "fresh")
	w.must("export", "lake", "--out", fresh)
	want := wholeLake(t, fresh)
	for _, stage := range []string{"fills/day=2026-01-06/*/*.parquet", "fills/day=2026-01-09/*/*.parquet", "wallets/*/*.parquet", "manifests/" + want + ".json"}[:testfiles.Cases(2, 4)] {
		for _, from := range []string{before, ""} {
			lake := filepath.Join(t.TempDir(), "lake")
			left := ""
			if from != "" {
				left = was
				if err := os.CopyFS(lake, os.DirFS(from)); err != nil {
					t.Fatal(err)
				}
			}
			killWhenThere(t, w.dir, lake, stage)
			if id := wholeLake(t, lake); id != left && id != want {
				t.Errorf("killed at %s: the lake is %q, want %q or %q", stage, id, left, want)
			}
			w.must("export", "lake", "--out", lake)
			if id := wholeLake(t, lake); id != want {
				t.Errorf("killed at %s: the next export comes to %q, want %q", stage, id, want)
			}
			if names, err := filepath.Glob(filepath.Join(lake, "*.part")); err != nil || len(names) > 0 {
				t.Errorf("killed at %s: %v is left, %v", stage, names, err)
			}
		}
	}

	// All that an export writes but CURRENT is no lake yet.
	if err := os.Rename(filepath.Join(fresh, cluster.CurrentName), filepath.Join(t.TempDir(), cluster.CurrentName)); err != nil {
		t.Fatal(err)
	}
	if id := wholeLake(t, fresh); id != "" {
		t.Errorf("without CURRENT the lake is %q", id)
	}
	status, out, errs := w.pmx(w.dir, "export", "lake", "--out", fresh)
	if id := wholeLake(t, fresh); status != 0 || id != want || !strings.Contains(errs, " 0 of them written") {
		t.Errorf("the next export: %d, %s%s, the lake is %q", status, out, errs, id)
	}
}

// killWhenThere begins an export and kills it when a file is there, or lets it end before.
func killWhenThere(t *testing.T, dir, lake, pattern string) {
	t.Helper()
	cmd := exec.Command("pmx", "export", "lake", "--out", lake, "--data-dir", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	giveUp := time.After(patience)
	for {
		select {
		case <-ended:
			return
		case <-giveUp:
			t.Errorf("the export neither wrote %s nor ended", pattern)
		case <-time.After(time.Millisecond):
			if found, _ := filepath.Glob(filepath.Join(lake, pattern)); len(found) == 0 {
				continue
			}
		}
		_ = cmd.Process.Kill()
		<-ended
		return
	}
}
