package keeper_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"

	"pmx/data/feeds"
	"pmx/data/testfiles"
	"pmx/engine/enginetest"
	"pmx/rollups/keeper"
	"pmx/rollups/serving"
)

// The caller of a bulk import may leave once its rebuild is committed: the result is published, and
// later imports do not miss it.
func TestACommittedRebuildIsServedIfTheCallerLeaves(t *testing.T) {
	testfiles.InLong(t, "TestAFileThatCannotBeOpenedDoesNotStopTheOthers reads what was imported while no server ran")
	files := sampleFiles(t)
	leave := func() {}
	k, err := keeper.Open(context.Background(), keeper.Config{
		Engine: enginetest.Options(t, t.TempDir(), "1GB"),
		Feeds:  feeds.Catalog{},
		Log:    zerolog.Nop(),
		Serve:  true,
	})
	if err != nil {
		t.Fatal(err)
	}
	k.OnPublish(func(*serving.Snapshot) { leave() })
	t.Cleanup(func() { _ = k.Close() })
	mustImport(t, k, files[:3]...)
	k.Settle()
	ctx, cancel := context.WithCancel(context.Background())
	leave = cancel
	k.Bulk(1)
	if _, err := k.Import(ctx, keeper.Request{Paths: files[3:4]}, nil); err != nil || ctx.Err() == nil {
		t.Fatalf("%v, left: %v", err, ctx.Err())
	}
	k.Bulk(0)
	mustImport(t, k, files[4])
	k.Settle()
	checkWallets(t, k)
	mustVerify(t, k)
}

// A file that cannot be opened is written again, and the others continue: what was imported while
// no server ran is in all of them.
func TestAFileThatCannotBeOpenedDoesNotStopTheOthers(t *testing.T) {
	files := sampleFiles(t)
	k := open(t, t.TempDir())
	mustImport(t, k, files[:3]...)
	k = reopen(t, k)
	dir := importUnserved(t, k, files[3])
	if err := os.MkdirAll(filepath.Join(dir, "segments", "tokens.part-9", "x"), 0o755); err != nil { // removing it fails
		t.Fatal(err)
	}
	k = open(t, dir)
	k.Settle()
	mustImport(t, k, files[4])
	if n := checkWallets(t, k); n == 0 {
		t.Error("no wallet is in memory")
	}
	alsoVerify(t, k)
}

// A dry run changes nothing, not even the memory of merging. If that memory was dropped, the next
// cycle loads it.
func TestADryRunOfManyFilesLeavesTheMemoryOfMerging(t *testing.T) {
	testfiles.InLong(t, "TestDryRunChangesNothing runs one of a few files")
	files := sampleFiles(t)
	k := open(t, t.TempDir())
	mustImport(t, k, files[:3]...)
	if err := k.Cycle(context.Background()); err != nil || !k.Warmed() {
		t.Fatalf("%v, warmed: %v", err, k.Warmed())
	}
	k.Bulk(1)
	if _, err := k.Import(context.Background(), keeper.Request{Paths: files[3:], DryRun: true}, nil); err != nil {
		t.Fatal(err)
	}
	k.Bulk(0)
	mustImport(t, k, files[3])
	if !k.Warmed() {
		t.Error("a dry run dropped the memory")
	}
	alsoVerify(t, k)
}

// A batch that was not followed, for whatever reason, is read again with the next one: by the
// snapshot, by the segments and by the memory of merging.
func TestAMissedBatchIsCaughtUp(t *testing.T) {
	testfiles.InLong(t, "TestAFileThatCannotBeOpenedDoesNotStopTheOthers reads what was imported while no server ran")
	files := sampleFiles(t)
	k := open(t, t.TempDir())
	mustImport(t, k, files[:3]...)
	k.Settle()
	if err := k.Cycle(context.Background()); err != nil {
		t.Fatal(err)
	}
	k.Settle()
	k.Follow(false)
	mustImport(t, k, files[3])
	k.Follow(true)
	mustImport(t, k, files[4])
	mustHave(t, k, 0)
	checkMarkets(t, k)
	alsoVerify(t, k)
}
