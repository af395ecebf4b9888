package keeper_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pmx/data/sample"
	"pmx/data/testfiles"
	"pmx/engine/export"
	"pmx/engine/ingest"
	"pmx/rollups/keeper"
)

// exportByDay writes all facts of a venue below a new folder, the fills by day.
func exportByDay(t *testing.T, k *keeper.Keeper) (folder string, days []string) {
	t.Helper()
	folder = t.TempDir()
	_, err := k.Exporter().WritePartitions(context.Background(), k.DB().Dir().Tmp(), export.PartitionsKnown{}, func(p export.Partition, path string, _ float64) error {
		to := filepath.Join(folder, filepath.FromSlash(p.Name))
		if strings.HasPrefix(p.Name, "fills/") {
			days = append(days, to)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(days)
	return folder, days
}

// An export by day is imported into a serving venue in one transaction, with a receipt for each
// file that says what it added. A damaged file fails alone, and is imported later.
func TestAnExportByDayIsImportedTogether(t *testing.T) {
	testfiles.InLong(t, "TestFilesImportedTogetherAreAsIfOneByOne imports files of other feeds together")
	ctx := context.Background()
	from, dir := open(t, t.TempDir()), filepath.Join(t.TempDir(), "venue")
	if _, err := sample.Write(ctx, sample.Config{Fills: int64(testfiles.Cases(1_000, 20_000)), Days: testfiles.Cases(7, 30)}, dir, nil); err != nil {
		t.Fatal(err)
	}
	mustImport(t, from, filepath.Join(dir, sample.EventsName), filepath.Join(dir, sample.FillsName))
	folder, days := exportByDay(t, from)
	if len(days) < testfiles.Cases(7, 20) {
		t.Fatalf("%d days", len(days))
	}

	k := open(t, t.TempDir())
	var named []string
	res, err := k.Import(ctx, keeper.Request{Paths: []string{folder}}, func(e keeper.Event) {
		if e.Progress != nil {
			named = append(named, e.Progress.File)
		}
	})
	if err != nil || len(res.Failed) > 0 {
		t.Fatal(err, res.Failed)
	}
	sum := int64(0)
	for _, path := range days {
		at := slices.IndexFunc(res.Receipts, func(r ingest.Receipt) bool { return r.File == path })
		if at < 0 {
			t.Fatalf("%s has no receipt", path)
		}
		r := res.Receipts[at]
		if day := strings.TrimPrefix(filepath.Base(filepath.Dir(path)), "day="); r.Inserted == 0 || r.Inserted != r.Read || r.Read != r.Lines.Records || r.Unmapped > 0 || r.From[:10] != day || r.To[:10] != day {
			t.Errorf("%s: r = %+v", path, r)
		}
		sum += r.Inserted
	}
	if all := count(t, from, "SELECT count(*) FROM fills"); sum != all {
		t.Errorf("the receipts have %d fills in sum, want %d", sum, all)
	}
	if merges := count(t, k, "SELECT count(DISTINCT imported_at) FROM batches WHERE fills > 0"); merges != 1 {
		t.Errorf("%d imports, not one", merges)
	}
	if wrong := count(t, k, "SELECT count(*) FROM (SELECT batch, count(*) AS n FROM fills GROUP BY batch) AS f FULL JOIN (FROM batches WHERE fills > 0) AS b USING (batch) "+
		"WHERE n IS DISTINCT FROM b.fills"); wrong != 0 {
		t.Errorf("%d batches have other fills than the import log says", wrong)
	}
	if !slices.Contains(named, days[len(days)-1]) {
		t.Errorf("progress was reported for %v", named)
	}
	if got, want := k.Snapshot().Counts, from.Snapshot().Counts; got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	mustVerify(t, k)
	if !testfiles.Long() { // TestAFileThatCannotBeOpenedDoesNotStopTheOthers has a file that fails alone
		return
	}
	damaged := days[len(days)/2]
	text, err := os.ReadFile(damaged)
	if err != nil {
		t.Fatal(err)
	}
	spoilt := slices.Clone(text)
	for i := range 200 { // the header of the first page and the bytes after it: the footer is unchanged
		spoilt[4+i] ^= 0xff
	}
	if err := os.WriteFile(damaged, spoilt, 0o600); err != nil {
		t.Fatal(err)
	}
	late := open(t, t.TempDir())
	res, err = late.Import(ctx, keeper.Request{Paths: []string{folder}}, nil)
	if err != nil || len(res.Failed) != 1 || res.Failed[0].File != damaged {
		t.Fatalf("%v: res.Failed = %+v", err, res.Failed)
	}
	for _, r := range res.Receipts {
		if strings.Contains(r.File, "day=") && r.Inserted != r.Read {
			t.Errorf("r = %+v", r)
		}
	}
	if err := os.WriteFile(damaged, text, 0o600); err != nil {
		t.Fatal(err)
	}
	before := count(t, late, "SELECT max(batch) FROM batches")
	for _, r := range mustImport(t, late, folder) {
		if strings.Contains(r.File, "day=") && (r.File == damaged) != (r.Inserted == r.Read) || r.Inserted+r.AlreadyThere != r.Read && r.Feed == "pmx-fills" {
			t.Errorf("imported again: r = %+v", r)
		}
	}
	if merges := count(t, late, fmt.Sprintf("SELECT count(DISTINCT imported_at) FROM batches WHERE feed = 'pmx-fills' AND batch > %d", before)); merges != 1 {
		t.Errorf("files with mostly known rows took %d imports", merges)
	}
	if got, want := late.Snapshot().Counts, from.Snapshot().Counts; got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	mustVerify(t, late)
}
