package main

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pmx/data/sample"
	"pmx/http/replay"
)

// did runs a command, and gives its status and what it wrote.
func did(args ...string) (status int, out, errs string) {
	var o, e bytes.Buffer
	status = run(args, stdio{out: &o, err: &e})
	return status, o.String(), e.String()
}

// TestSyncOverTheWireIsTheImport: a venue is followed through JSON-RPC from two nodes that make
// every mistake which changes nothing, until it has caught up; the fills are those of the file
// of logs. The second time nothing comes in.
func TestSyncOverTheWireIsTheImport(t *testing.T) {
	keepUmask(t)
	s, err := replay.New(t.Context(), replay.Options{Config: sample.Config{Fills: 2_000, Days: 8, End: time.Date(2026, 11, 7, 0, 0, 0, 0, time.UTC), Seed: 5},
		Start: time.Date(2026, 11, 7, 0, 10, 0, 0, time.UTC),
		Faults: map[string]replay.Faults{
			"rpc/bad": {Names: []string{"lost-logs", "log-twice", "502"}, Rate: 0.4},
		}})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.Handler())
	defer web.Close()
	defer s.Close()
	followed, imported := filepath.Join(t.TempDir(), "f"), filepath.Join(t.TempDir(), "i")
	first := sample.BlockAt(s.Venue().Manifest.Start)
	sync := []string{"sync", "--data-dir", followed, "--rpc", web.URL + "/rpc/good," + web.URL + "/rpc/bad", "--rpc-rate", "1000", "--contact", "me@example.org",
		"--only", "chain", "--from-block", strconv.FormatInt(first, 10), "--once"}
	if status, out, errs := did(sync...); status != 0 || !strings.HasPrefix(out, "2,000 fills of ") {
		t.Fatalf("%d %q %q", status, out, errs)
	}
	if status, out, errs := did(sync...); status != 0 || !strings.HasPrefix(out, "0 fills of ") {
		t.Errorf("once more: %d %q %q", status, out, errs)
	}
	logs := filepath.Join(t.TempDir(), "logs.ndjson")
	f, err := os.Create(logs)
	if err != nil {
		t.Fatal(err)
	}
	if err := replay.WriteLogs(f, s.Venue()); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if status, out, errs := did("import", "--data-dir", imported, logs); status != 0 {
		t.Fatalf("%d %q %q", status, out, errs)
	}
	want, got := exportedFills(t, imported), exportedFills(t, followed)
	if len(want) != 2_001 || !slices.Equal(want, got) {
		t.Errorf("%d lines of fills are followed, %d imported", len(got), len(want))
	}
	status, out, errs := did("sync", "status", "--data-dir", followed, "--json")
	var state followState
	if err := json.Unmarshal([]byte(out), &state); err != nil || status != 0 {
		t.Fatalf("%v %d %q %q", err, status, out, errs)
	}
	if c := state.Chain; c == nil || c.Start != first || c.GapBlocks != 0 || c.Fills != 2_000 || c.Phase != "STOPPED" || c.AsOf.IsZero() {
		t.Errorf("%s", out)
	}
	if status, out, errs := did("sync", "status", "--data-dir", followed); status != 0 || !strings.Contains(out, "chain   STOPPED") {
		t.Errorf("%d %q %q", status, out, errs)
	}
}

// exportedFills are the lines of the fills of a database, in order.
func exportedFills(t *testing.T, dir string) []string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "fills.csv")
	if status, out, errs := did("export", "--data-dir", dir, "fills", "--out", to); status != 0 {
		t.Fatalf("%d %q %q", status, out, errs)
	}
	text, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	slices.Sort(lines)
	return lines
}

// TestSyncSaysWhatItNeeds before it asks anybody for anything.
func TestSyncSaysWhatItNeeds(t *testing.T) {
	keepUmask(t)
	dir := filepath.Join(t.TempDir(), "d")
	for _, tc := range []struct {
		want string
		args []string
	}{
		{"--contact is missing", []string{"sync", "--rpc", "http://127.0.0.1:1"}},
		{"--rpc is missing", []string{"sync", "--contact", "me", "--only", "chain"}},
		{"--rpc-rate", []string{"sync", "--contact", "me", "--rpc", "http://127.0.0.1:1", "--rpc-rate", "0"}},
		{"--from-block", []string{"sync", "--contact", "me", "--rpc", "http://127.0.0.1:1", "--from-block=-1"}},
		{"--sync-contact is missing", []string{"serve", "--sync", "polymarket", "--listen", "127.0.0.1:0"}},
		{"holds no database yet", []string{"sync", "status"}},
	} {
		status, out, errs := did(append(tc.args, "--data-dir", dir)...)
		if status != 1 || out != "" || !strings.Contains(errs, tc.want) {
			t.Errorf("%v: %d %q %q", tc.args, status, out, errs)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "pmx.duckdb")); err == nil {
		t.Error("a database was made")
	}
}
