package keeper_test

import (
	"fmt"
	"testing"

	"pmx/engine/ingest"
)

// The files of one import count together: each of them is too small to be left to
// a rebuild, all are not. Files that are there already and single new ones are merged.
func TestManySmallFilesCostOneRebuild(t *testing.T) {
	parts := sampleParts(t)
	rebuilds := func(receipts []ingest.Receipt) (n int) {
		for _, r := range receipts {
			if r.RebuildNeeded {
				n++
			}
		}
		return n
	}
	k := open(t, t.TempDir())
	k.Bulk(6_000)
	if n := rebuilds(mustImport(t, k, parts[:2]...)); n > 0 {
		t.Errorf("%d files of a few fills were left to a rebuild", n)
	}
	if n := rebuilds(mustImport(t, k, parts[:3]...)); n > 0 {
		t.Errorf("a file beside one that was there already: %d were left to a rebuild", n)
	}
	if n := rebuilds(mustImport(t, k, parts...)); n == 0 {
		t.Error("three files of which two are enough were merged one by one")
	}
	mustVerify(t, k)
	one := open(t, t.TempDir())
	mustImport(t, one, parts...)
	if got, want := k.Snapshot().Counts, one.Snapshot().Counts; got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	if n := rebuilds(mustImport(t, k, parts...)); n > 0 {
		t.Errorf("nothing was new, yet %d files were left to a rebuild", n)
	}
}

// Fills of days before the newest are noted for being brought into order, whether
// their file is left to a rebuild itself or comes behind one that is.
func TestLateFillsOfABulkLoadAreNoted(t *testing.T) {
	parts := sampleParts(t)
	k := open(t, t.TempDir())
	mustImport(t, k, parts[0], parts[4])
	before := count(t, k, "SELECT max(batch) FROM batches")
	k.Bulk(6_000)
	receipts := mustImport(t, k, parts[1:3]...)
	if !receipts[0].RebuildNeeded || receipts[1].RebuildNeeded {
		t.Fatalf("%+v", receipts)
	}
	late := count(t, k, fmt.Sprintf("SELECT count(*) FROM fills WHERE batch > %d AND ts // 86400000000 < (SELECT max(ts) // 86400000000 FROM fills)", before))
	if noted := count(t, k, "SELECT coalesce(SUM(fills), 0)::BIGINT FROM late_days"); noted != late || late == 0 {
		t.Errorf("%d late fills are noted, want %d", noted, late)
	}
}
