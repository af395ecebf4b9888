package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pmx/engine/export"
	"pmx/rollups/cluster"
)

// lakeInto returns a folder with a running export, and what the folder knows of an earlier one.
func lakeInto(t *testing.T, dir string, shards bool) (*lakeFolder, export.LakeKnown) {
	t.Helper()
	std := stdio{out: io.Discard, err: io.Discard}
	f := &lakeFolder{std: std, dir: dir, shards: shards, meter: newProgressBar(std, true)}
	known, err := f.open()
	if err != nil {
		t.Fatal(err)
	}
	return f, known
}

// wrote adds a file of a dataset, of a day or of a block to the folder.
func (t *lakeFolder) wrote(test *testing.T, f export.LakeFile, print string) {
	test.Helper()
	path := filepath.Join(test.TempDir(), "part")
	if err := os.WriteFile(path, []byte(f.Dataset+f.Day+f.From+print), 0o600); err != nil {
		test.Fatal(err)
	}
	r, err := os.Open(path)
	if err != nil {
		test.Fatal(err)
	}
	defer r.Close()
	if f.SHA256, f.Bytes, err = export.FileSum(r); err != nil {
		test.Fatal(err)
	}
	f.Rows, f.Name = 1, fmt.Sprintf("%s/of=%s%s/%s/%[1]s.parquet", f.Dataset, f.Day, f.From, f.SHA256[:16])
	if f.Dataset == "fills" {
		f.Sums = &export.LakeSums{}
	}
	if t.take(test.Context(), lakeEvent{Step: export.LakeStep{File: f, Print: print, Last: true, Path: path}}); t.err != nil {
		test.Fatal(t.err)
	}
}

// If an export is killed after its first file, what it leaves to the next one is of one history of
// imports: that of the head stored with it. An older server does not say whether it continues the
// known history, and leaves out days of it nevertheless.
func TestPrintsOfALakeAreOfOneHistory(t *testing.T) {
	for _, c := range []struct {
		name         string
		continues    bool
		days, blocks []string // known to the next export
	}{
		{"the same history", true, []string{"2026-01-11", "2026-01-12", "2026-01-27"}, []string{"2026-01-11"}},
		{"another, or a server that does not say", false, []string{"2026-01-27"}, nil},
	} {
		dir := t.TempDir()
		f, _ := lakeInto(t, dir, true)
		f.take(t.Context(), lakeEvent{Head: &export.LakeHead{Batch: 3, History: 33}})
		for _, day := range []string{"2026-01-11", "2026-01-12", "2026-01-27"} {
			f.wrote(t, export.LakeFile{Dataset: "fills", Day: day}, "old")
		}
		f.wrote(t, export.LakeFile{Dataset: "shards", From: "2026-01-11", Prefix: "0x"}, "old")

		f, known := lakeInto(t, dir, true)
		if known.Head.History != 33 || len(known.Prints) != 3 || len(known.Blocks) != 1 {
			t.Fatalf("%s: known is %+v", c.name, known)
		}
		f.take(t.Context(), lakeEvent{Head: &export.LakeHead{Batch: 2, History: 22}, Continues: c.continues})
		f.wrote(t, export.LakeFile{Dataset: "fills", Day: "2026-01-27"}, "new")

		_, known = lakeInto(t, dir, true) // killed
		days, blocks := slices.Sorted(maps.Keys(known.Prints)), slices.Sorted(maps.Keys(known.Blocks))
		if known.Head.History != 22 || known.Prints["2026-01-27"] != "new" || !slices.Equal(days, c.days) || !slices.Equal(blocks, c.blocks) {
			t.Errorf("%s: known is %+v", c.name, known)
		}

		f.take(t.Context(), lakeEvent{Step: export.LakeStep{File: export.LakeFile{Dataset: "fills", Day: "2026-01-12"}, Print: "old"}})
		if f.err != nil || f.progress.Days["2026-01-12"].Print != "old" || len(f.files) != 2 {
			t.Errorf("%s: what is left out as it was: %v, the progress is %+v", c.name, f.err, f.progress)
		}
	}
}

// A server of a version without shards ignores --shards: the result is a lake without shards.
func TestMissingShardsAreNoticed(t *testing.T) {
	for _, c := range []struct {
		name   string
		shards bool
		days   []string
		why    string
	}{
		{"a block is complete", true, []string{"2026-01-12", "2026-01-27"}, "wrote no shards of the days from 2026-01-11 on"},
		{"no block is complete", true, []string{"2026-01-12", "2026-01-26"}, ""},
		{"shards are not requested", false, []string{"2026-01-12", "2026-01-27"}, ""},
	} {
		f, _ := lakeInto(t, t.TempDir(), c.shards)
		f.take(t.Context(), lakeEvent{Head: &export.LakeHead{}})
		for _, day := range c.days {
			f.wrote(t, export.LakeFile{Dataset: "fills", Day: day}, "1")
		}
		err := f.finish()
		if err == nil && c.why != "" || err != nil && (c.why == "" || !strings.Contains(err.Error(), c.why)) {
			t.Errorf("%s: %v", c.name, err)
		}
		if m, _, err := cluster.ReadLake(f.dir); err != nil || (m == nil) != (c.why != "") {
			t.Errorf("%s: the lake is %v, %v", c.name, m, err)
		}
		if text, err := os.ReadFile(filepath.Join(f.dir, lakeProgressName)); err != nil || !json.Valid(text) {
			t.Errorf("%s: the progress is %s, %v", c.name, text, err)
		}
	}
}
