package keeper_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	godiff "github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/data/sample"
	"pmx/engine/enginetest"
	"pmx/rollups/keeper"
	"pmx/rollups/serving"

	"pmx/data/testfiles"
)

// fileRows is the number of rows in a file of the sample.
func fileRows() int { return testfiles.Cases(1_000, 5_000) }

// sampleFiles writes a venue with five files of fills and returns all files, those that others
// refer to first.
func sampleFiles(t *testing.T) []string {
	t.Helper()
	rows := int64(fileRows())
	dir := filepath.Join(t.TempDir(), "venue")
	if _, err := sample.Write(context.Background(), sample.Config{Fills: 4 * rows, FileRows: rows, Days: sampleDays()}, dir, nil); err != nil {
		t.Fatal(err)
	}
	fills, err := filepath.Glob(filepath.Join(dir, "orderFilled*.csv"))
	if err != nil || len(fills) != 5 {
		t.Fatalf("fills = %v, err = %v", fills, err)
	}
	slices.Sort(fills)
	return append([]string{filepath.Join(dir, sample.EventsName)}, fills...)
}

// reopen closes a venue and opens it again. The file in wallet order is then there, if possible.
func reopen(t *testing.T, k *keeper.Keeper) *keeper.Keeper {
	t.Helper()
	dir := string(k.DB().Dir())
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	k = open(t, dir)
	k.Settle()
	return k
}

// checkWallets compares what is read of every wallet with the database, and returns how many
// wallets were in memory.
func checkWallets(t *testing.T, k *keeper.Keeper) (atHand int) {
	t.Helper()
	ctx, snap, r := context.Background(), k.Snapshot(), k.Reader()
	byToken := func(x, y serving.TokenSum) int { return cmp.Compare(x.Token, y.Token) }
	for id := range data.WalletID(snap.Wallets()) {
		if r.WalletInMemory(id, snap.Batch) {
			atHand++
		}
		if !sampled(snap, int64(id), testfiles.Cases(401, 17)) {
			continue
		}
		compare := func(what string, want, got any, errs ...error) {
			t.Helper()
			if diff := godiff.Diff(want, got); diff != "" || slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
				t.Errorf("%s of wallet %d (-database +reader): %v\n%s", what, id, errs, diff)
			}
		}
		want, err := r.Reader.WalletFills(ctx, nil, id, snap.Batch, nil, 1<<30)
		got, err2 := r.WalletFills(ctx, nil, id, snap.Batch, nil, 1<<30)
		compare("fills", want, got, err, err2)
		if n := len(want); n > 2 {
			want, err = r.Reader.WalletFills(ctx, nil, id, snap.Batch, &got[n/3], 5)
			got, err2 = r.WalletFills(ctx, nil, id, snap.Batch, &got[n/3], 5)
			compare("page", want, got, err, err2)
		}
		wantTokens, err := r.Reader.WalletTokens(ctx, nil, id, snap.Batch)
		tokens, err2 := r.WalletTokens(ctx, nil, id, snap.Batch)
		slices.SortFunc(tokens, byToken)
		compare("tokens", wantTokens, tokens, err, err2)
		wantDays, err := r.Reader.WalletDays(ctx, nil, id, snap.Batch)
		days, err2 := r.WalletDays(ctx, nil, id, snap.Batch)
		compare("days", wantDays, days, err, err2)
	}
	return atHand
}

// sampled reports whether a check reads the wallet or market with this number: the first ones,
// which trade most, and a share of the others, other ones for each batch.
func sampled(snap *serving.Snapshot, id int64, of int) bool {
	return id <= int64(testfiles.Cases(4, 40)) || (id+snap.Batch)%int64(of) == 0
}

func mustHave(t *testing.T, k *keeper.Keeper, missing int) {
	t.Helper()
	if n, all := checkWallets(t, k), k.Snapshot().Wallets(); n != all-missing {
		t.Errorf("%d of %d wallets are in memory, want all but %d", n, all, missing)
	}
}

// TestWalletSegmentSurvivesImportsAndRestarts tries another history than
// TestSegmentsSurviveImportsAndRestarts, which is enough for a short run.
func TestWalletSegmentSurvivesImportsAndRestarts(t *testing.T) {
	if !testfiles.Long() {
		t.Skip("another history of the same kind is tried by make test-long")
	}
	files := sampleFiles(t)
	k := open(t, t.TempDir())
	k.Settle()
	mustImport(t, k, files[0], files[2]) // of an empty database; everything is outside of the file, which does not exist
	mustHave(t, k, 0)
	k = reopen(t, k)
	mustHave(t, k, 0)
	mustImport(t, k, files[4])
	mustImport(t, k, files[1]) // older than existing fills
	mustHave(t, k, 0)
	alsoVerify(t, k)
	k = reopen(t, k)
	mustHave(t, k, 0)
	if err := k.Rebuild(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	mustHave(t, k, 0)
	mustImport(t, k, files[3])
	mustHave(t, k, 0)
	alsoVerify(t, k)
}

// Imports between which files were written are read from several files, in any order of import,
// after a restart, and with a replaced fill.
func TestFilesContinueEachOther(t *testing.T) {
	files := sampleFiles(t)
	k := open(t, t.TempDir())
	k.Settle()
	flushed := func(want int, paths ...string) {
		t.Helper()
		mustImport(t, k, paths...)
		if err := k.FlushSegments(context.Background()); err != nil {
			t.Fatal(err)
		}
		tokens, _ := k.MarketStats()
		if s := k.WalletStats(); s.Files != want || s.Recent+s.Dirty > 0 || tokens.Files != want || tokens.Recent+tokens.Dirty > 0 {
			t.Fatalf("%+v, %+v, want %d files", s, tokens, want)
		}
		mustHave(t, k, 0)
	}
	flushed(1, files[0], files[3])
	flushed(2, files[1]) // older than existing fills
	flushed(3, write(t, "fills.csv", plainFills+fillRow(1, -1, walletAnn, "0")+fillRow(2, -1, walletAnn, "0")+fillRow(3, -1, walletBob, "0")))
	better := write(t, "better.csv", strings.Replace(plainFills, "tx,", "tx,log_index,", 1)+fillRow(1, 9, walletAnn, "0.5"))
	flushed(4, better)
	alsoVerify(t, k)
	k = reopen(t, k)
	if s := k.WalletStats(); s.Files != 4 || s.Recent > 0 {
		t.Errorf("after a restart: s = %+v", s)
	}
	mustHave(t, k, 0)
	mustImport(t, k, files[2])
	mustHave(t, k, 0)
	mustVerify(t, k)
	if err := k.Rebuild(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	if s := k.WalletStats(); s.Files != 1 {
		t.Errorf("after a rebuild: s = %+v", s)
	}
	mustHave(t, k, 0)
}

func TestStaleRollupsAreRebuiltBeforeTheFirstSnapshot(t *testing.T) {
	testfiles.InLong(t, "TestACatchUpThatStopsIsRebuilt rebuilds before it serves")
	files := sampleFiles(t)
	k := open(t, t.TempDir())
	mustImport(t, k, files[0])
	k.FactsOnly()
	mustImport(t, k, files[1])
	k = reopen(t, k)
	mustVerify(t, k)
	mustHave(t, k, 0)
}

// TestAnImportRebuildsWhatAnEarlierOneLeft: an import that is cut off after it committed its facts is repeated, and finds nothing new.
func TestAnImportRebuildsWhatAnEarlierOneLeft(t *testing.T) {
	files := sampleFiles(t)
	dir := t.TempDir()
	k := openFacts(t, dir)
	k.FactsOnly()
	mustImport(t, k, files[1])
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	k = openFacts(t, dir)
	closedAtEnd(t, k)
	mustImport(t, k, files[1])
	mustVerify(t, k)
}

// TestFirstFilesAreWrittenAfterTheStart if the caller says that it will say when that is.
func TestFirstFilesAreWrittenAfterTheStart(t *testing.T) {
	dir := importUnserved(t, open(t, t.TempDir()), sampleFiles(t)[:2]...)
	k, err := keeper.Open(t.Context(), keeper.Config{Engine: enginetest.Options(t, dir, "512MB"), Feeds: feeds.Catalog{}, Log: zerolog.Nop(), Serve: true,
		AwaitStarted: true})
	if err != nil {
		t.Fatal(err)
	}
	closedAtEnd(t, k)
	time.Sleep(200 * time.Millisecond) // it takes a tenth of that
	if _, err := os.Stat(segmentFile(k)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before the caller has read what it needs: %v", err)
	}
	k.Started()
	k.Started()
	k.Settle()
	if _, err := os.Stat(segmentFile(k)); err != nil {
		t.Error(err)
	}
	mustHave(t, k, 0)
}

func segmentFile(k *keeper.Keeper) string {
	return filepath.Join(k.DB().Dir().Segments(), "wallets.seg")
}

// What was imported while no server ran, also by a bulk import that was left to a rebuild, is read
// after a start. For a short run, TestAFileThatCannotBeOpenedDoesNotStopTheOthers tries missed
// imports and TestSegmentsSurviveImportsAndRestarts the bulk import.
func TestWalletSegmentCatchesUpOnMissedImports(t *testing.T) {
	if !testfiles.Long() {
		t.Skip("missed imports alone are tried by make test-long")
	}
	files := sampleFiles(t)
	k := open(t, t.TempDir())
	mustImport(t, k, files[:3]...)
	k = reopen(t, k)
	dir := importUnserved(t, k, files[3])
	k = open(t, dir)
	k.Settle()
	mustHave(t, k, 0)
	k.Bulk(1)
	mustImport(t, k, files[4])
	mustHave(t, k, 0)
	alsoVerify(t, k)
}

const (
	plainFills = "tx,ts,wallet,role,token,side,shares,usd,fee\n"
	walletAnn  = "0x00000000000000000000000000000000000000a1"
	walletBob  = "0x00000000000000000000000000000000000000b2"
)

func fillRow(tx, log int, wallet, fee string) string {
	row := fmt.Sprintf("0x%064x,", tx)
	if log >= 0 {
		row += fmt.Sprintf("%d,", log)
	}
	return row + fmt.Sprintf("2026-03-01T10:00:%02dZ,%s,taker,77,BUY,10,4,%s\n", tx%60, wallet, fee)
}

// A better source replaces one of Ann's fills: her fills are read from the database until the file
// is written again, Bob's are not.
func TestAWalletWithAReplacedFillIsReadFromTheDatabase(t *testing.T) {
	k := open(t, t.TempDir())
	mustImport(t, k, write(t, "fills.csv", plainFills+fillRow(1, -1, walletAnn, "0")+fillRow(2, -1, walletAnn, "0")+fillRow(3, -1, walletBob, "0")))
	k = reopen(t, k)
	mustHave(t, k, 0)
	better := write(t, "better.csv", strings.Replace(plainFills, "tx,", "tx,log_index,", 1)+fillRow(1, 9, walletAnn, "0.5"))
	if r := mustImport(t, k, better); r[0].Replaced != 1 {
		t.Fatalf("r[0] = %+v", r[0])
	}
	mustHave(t, k, 1)
	mustVerify(t, k)
	k.AllowSegmentBuild()
	if err := k.Cycle(context.Background()); err != nil {
		t.Fatal(err)
	}
	k.Settle()
	mustHave(t, k, 0)
	mustVerify(t, k)
	k = reopen(t, k)
	mustHave(t, k, 0)
}

// A file of other facts than those of the database is not used: one of another database with as
// many fills, or one from before a fill was replaced.
func TestSegmentOfOtherFactsIsRebuilt(t *testing.T) {
	testfiles.InLong(t, "TestDamagedFilesAreSetAsideAndWrittenAgain rewrites files that may not be used")
	a := open(t, t.TempDir())
	mustImport(t, a, write(t, "fills.csv", plainFills+fillRow(1, -1, walletAnn, "0")+fillRow(2, -1, walletBob, "0")))
	a = reopen(t, a)
	b := open(t, t.TempDir())
	mustImport(t, b, write(t, "fills.csv", plainFills+fillRow(5, -1, walletAnn, "0")+fillRow(6, -1, walletBob, "0")))
	b = reopen(t, b)
	foreign, err := os.ReadFile(segmentFile(a))
	if err != nil {
		t.Fatal(err)
	}
	path, dir := segmentFile(b), string(b.DB().Dir())
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	for _, text := range [][]byte{foreign, foreign[:5000], nil}[:testfiles.Cases(1, 3)] { // files that were cut off are damaged, which other tests try
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		b = open(t, dir)
		b.Settle()
		mustHave(t, b, 0)
		alsoVerify(t, b)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Verification finds a file whose rows differ from the facts.
func TestVerificationFindsAWrongFile(t *testing.T) {
	k := open(t, t.TempDir())
	mustImport(t, k, write(t, "fills.csv", plainFills+fillRow(1, -1, walletAnn, "0")+fillRow(2, -1, walletBob, "0")))
	k = reopen(t, k)
	f, err := os.OpenFile(segmentFile(k), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte{1}, 4096+5); err != nil { // in the first transaction's hash
		t.Fatal(err)
	}
	checks, err := k.Verify(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		if c.OK != (c.Name != "wallet_segment") {
			t.Errorf("c = %+v", c)
		}
	}
}

// importUnserved closes a venue and imports into it as a command without a server does. It returns
// the folder.
func importUnserved(t *testing.T, k *keeper.Keeper, paths ...string) string {
	t.Helper()
	dir := string(k.DB().Dir())
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	alone := openFacts(t, dir)
	mustImport(t, alone, paths...)
	alsoVerify(t, alone)
	if err := alone.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// openFacts opens a venue as a command without a server does.
func openFacts(t *testing.T, dir string) *keeper.Keeper {
	t.Helper()
	k, err := keeper.Open(context.Background(), keeper.Config{
		Engine: enginetest.Options(t, dir, "2GB"),
		Feeds:  feeds.Catalog{},
		Log:    zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.Close() })
	return k
}
