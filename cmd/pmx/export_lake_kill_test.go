package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"pmx/data/testfiles"
	"pmx/rollups/cluster"
)

// tradeDays imports one fill for each of some days of January.
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

// wholeLake returns the name of the manifest of a lake all of whose files match the manifest; ""
// without a CURRENT.
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

// diesAt is the environment variable with the number of the change to its output at which pmx-dies
// kills itself.
const diesAt = "PMX_TEST_DIES_AT"

// mainThatDies is pmx, which kills itself at a change to its output.
func mainThatDies() {
	left, err := strconv.Atoi(os.Getenv(diesAt))
	if err != nil {
		panic(err)
	}
	changed = func() {
		if left--; left == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	main()
}

// dies exports a lake with a process that is killed at the n-th change, and reports whether there
// were that many.
func dies(t *testing.T, dir, lake string, n int) bool {
	t.Helper()
	cmd := exec.Command("pmx-dies", "export", "lake", "--shards", "--out", lake, "--data-dir", dir)
	cmd.Env = append(os.Environ(), diesAt+"="+strconv.Itoa(n))
	text, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("killed at change %d: err = %v, text = %s", n, err, text)
	}
	return true
}

// An export that is killed at any of its changes to the folder leaves a lake that reads as before, or as the new one once CURRENT
// names it. The next export continues, and ends with the same lake as an export from scratch.
func TestAnExportOfALakeIsKilled(t *testing.T) {
	testfiles.InLong(t, "TestAKilledExportIsMadeByTheNextProcess kills an export of a dataset")
	w := newReplicaWriter(t)
	w.tradeDays(8, 11) // the first completes a block, which ends with the 10th
	before := filepath.Join(t.TempDir(), "before")
	w.must("export", "lake", "--shards", "--out", before)
	w.tradeDays(11, 12) // the files that this replaces are removed by the export after the next
	w.must("export", "lake", "--shards", "--out", before)
	was := wholeLake(t, before)
	w.tradeDays(7, 13) // a late fill of the block, and one more day
	fresh := filepath.Join(t.TempDir(), "fresh")
	w.must("export", "lake", "--shards", "--out", fresh)
	want := wholeLake(t, fresh)
	if names, err := filepath.Glob(filepath.Join(fresh, "shards/from=2025-12-26/0x/*/shards.parquet")); err != nil || len(names) != 1 {
		t.Fatalf("the shards are %v, %v", names, err)
	}
	serveHere(t, w.dir)
	for _, from := range []string{before, ""} {
		swept, named := 0, 0
		n := testfiles.Cases(5, 1)
		for ; ; n += testfiles.Cases(17, 1) {
			lake, left := filepath.Join(t.TempDir(), "lake"), ""
			if from != "" {
				left = was
				if err := os.CopyFS(lake, os.DirFS(from)); err != nil {
					t.Fatal(err)
				}
			}
			if !dies(t, w.dir, lake, n) {
				break
			}
			id := wholeLake(t, lake)
			if id != left && id != want {
				t.Errorf("killed at change %d: the lake is %q, want %q or %q", n, id, left, want)
			}
			if id == want {
				named++
			}
			w.must("export", "lake", "--shards", "--out", lake)
			if id := wholeLake(t, lake); id != want {
				t.Errorf("killed at change %d: the next export is %q, want %q", n, id, want)
			}
			if names, err := filepath.Glob(filepath.Join(lake, "*.part")); err != nil || len(names) > 0 {
				t.Errorf("killed at change %d: %v is left, %v", n, names, err)
			}
			if names, err := filepath.Glob(filepath.Join(lake, "manifests", "*")); err != nil || len(names) > 2 {
				t.Errorf("killed at change %d: the manifests %v are left, %v", n, names, err)
			}
			swept++
		}
		t.Logf("killed %d times from %q, %d of them after the last step that counts", swept, filepath.Base(from), named)
		if swept == 0 || testfiles.Long() && (named == 0 || swept < 30) {
			t.Errorf("killed %d times, %d of them with the new lake in its place", swept, named)
		}
	}

	// Without CURRENT, what an export has written is not a lake yet.
	if err := os.Rename(filepath.Join(fresh, cluster.CurrentName), filepath.Join(t.TempDir(), cluster.CurrentName)); err != nil {
		t.Fatal(err)
	}
	if id := wholeLake(t, fresh); id != "" {
		t.Errorf("without CURRENT the lake is %q", id)
	}
	status, out, errs := w.pmx(w.dir, "export", "lake", "--shards", "--out", fresh)
	if id := wholeLake(t, fresh); status != 0 || id != want || !strings.Contains(errs, " 0 of them written") {
		t.Errorf("the next export: %d, %s%s, the lake is %q", status, out, errs, id)
	}

	// Partial files, as left by an export that was killed while it copied from another file system,
	// and files of a manifest that was never written.
	for _, half := range []string{"fills/day=2026-01-09/0123456789abcdef/.pmx-1.part", "tokens/0123456789abcdef/.pmx-2.part", "shards/from=2025-12-26/0x/0123456789abcdef/.pmx-3.part", "token_shards/from=2025-12-26/ends=/0123456789abcdef/.pmx-4.part", "manifests/0123.json.part"} {
		path := filepath.Join(fresh, filepath.FromSlash(half))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("half"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	w.must("export", "lake", "--shards", "--out", fresh)
	for _, pattern := range []string{"*/*.part", "*/*/*.part", "*/*/*/*.part", "*/*/*/*/*.part", "*/0123456789abcdef", "fills/*/0123456789abcdef"} {
		if names, err := filepath.Glob(filepath.Join(fresh, pattern)); err != nil || len(names) > 0 {
			t.Errorf("after another export, %v is left, %v", names, err)
		}
	}
}
