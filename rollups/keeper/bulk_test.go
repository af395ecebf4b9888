package keeper_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pmx/data/testfiles"
	"pmx/engine/ingest"
)

// The files of one import count together: if all of them together are large enough, they are left
// to a rebuild, even if each is too small. Files that are already imported, and a single new one,
// are merged.
func TestManySmallFilesCostOneRebuild(t *testing.T) {
	testfiles.InLong(t, "TestACatchUpCostsOneRebuild leaves many batches to one rebuild")
	files := sampleFiles(t)
	rebuilds := func(receipts []ingest.Receipt) (n int) {
		for _, r := range receipts {
			if r.RebuildNeeded {
				n++
			}
		}
		return n
	}
	k := open(t, t.TempDir())
	k.Bulk(int64(fileRows() * 6 / 5))
	if n := rebuilds(mustImport(t, k, files[:2]...)); n > 0 {
		t.Errorf("%d files of a few fills were left to a rebuild", n)
	}
	if n := rebuilds(mustImport(t, k, files[:3]...)); n > 0 {
		t.Errorf("%d files were left to a rebuild: a new one next to one that was imported before", n)
	}
	if n := rebuilds(mustImport(t, k, files...)); n == 0 {
		t.Error("three files were merged one by one, although two are enough for a rebuild")
	}
	mustVerify(t, k)
	one := open(t, t.TempDir())
	mustImport(t, one, files...)
	if got, want := k.Snapshot().Counts, one.Snapshot().Counts; got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	if n := rebuilds(mustImport(t, k, files...)); n > 0 {
		t.Errorf("no file has new fills, but %d were left to a rebuild", n)
	}
}

// Fills of earlier days are recorded for sorting, whether their file is left to a rebuild or
// follows one that is.
func TestLateFillsOfABulkLoadAreNoted(t *testing.T) {
	testfiles.InLong(t, "TestLateDaysBeginWeeksAndMonths imports late fills")
	files := sampleFiles(t)
	k := open(t, t.TempDir())
	mustImport(t, k, files[0], files[4])
	before := count(t, k, "SELECT max(batch) FROM batches")
	k.Bulk(int64(fileRows() * 6 / 5))
	receipts := mustImport(t, k, files[1:3]...)
	if !receipts[0].RebuildNeeded || receipts[1].RebuildNeeded {
		t.Fatalf("receipts = %+v", receipts)
	}
	late := count(t, k, fmt.Sprintf("SELECT count(*) FROM fills WHERE batch > %d AND ts // 86400000000 < (SELECT max(ts) // 86400000000 FROM fills)", before))
	if noted := count(t, k, "SELECT coalesce(SUM(fills), 0)::BIGINT FROM late_days"); noted != late || late == 0 {
		t.Errorf("%d late fills are recorded, want %d", noted, late)
	}
}

// Many files with a few new fills each cost one rebuild if that is cheaper than merging each of
// them, which depends on the number of facts. A few files are merged.
func TestVeryManyFilesOfAFewFillsCostOneRebuild(t *testing.T) {
	testfiles.InLong(t, "TestACatchUpCostsOneRebuild leaves many batches to one rebuild")
	files := sampleFiles(t)
	many := split(t, files[1], fileRows()/10)
	if len(many) < 9 {
		t.Fatalf("%d files", len(many))
	}
	k := open(t, t.TempDir())
	mustImport(t, k, files[0])
	for _, r := range mustImport(t, k, many[:2]...) {
		if r.RebuildNeeded {
			t.Error("two files were left to a rebuild")
		}
	}
	receipts := mustImport(t, k, many...)
	if receipts[0].RebuildNeeded || !receipts[2].RebuildNeeded {
		t.Errorf("a known file is left to a rebuild, or the first of many new ones is not: receipts[:3] = %+v", receipts[:3])
	}
	mustVerify(t, k)
	one := open(t, t.TempDir())
	mustImport(t, one, files[:2]...)
	if got, want := k.Snapshot().Counts, one.Snapshot().Counts; got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	for _, r := range mustImport(t, k, many...) {
		if r.Inserted > 0 || r.RebuildNeeded {
			t.Errorf("imported again: r = %+v", r)
		}
	}
}

// split writes the rows of a CSV file into several files of n rows.
func split(t *testing.T, path string, rows int) (files []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	if !lines.Scan() {
		t.Fatalf("%s is empty", path)
	}
	header, dir := lines.Text(), t.TempDir()
	text := ""
	for n, more := 0, true; more; n++ {
		if more = lines.Scan(); more {
			text += lines.Text() + "\n"
		}
		if text != "" && (!more || n%rows == rows-1) {
			name := filepath.Join(dir, fmt.Sprintf("part-%03d.csv", len(files)))
			if err := os.WriteFile(name, []byte(header+"\n"+text), 0o600); err != nil {
				t.Fatal(err)
			}
			files, text = append(files, name), ""
		}
	}
	return files
}
