package keeper_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmx/data/testfiles"
	"pmx/rollups/keeper"
)

// segmentChecks are the files below segments/, and the checks that compare them with the facts.
var segmentChecks = map[string]string{"wallets.seg": "wallet_segment", "tokens.seg": "token_segment", "markets.seg": "market_segment"}

// openSmallVenue opens a venue of a few fills and a market, whose segments are written.
func openSmallVenue(t *testing.T) *keeper.Keeper {
	t.Helper()
	k := open(t, t.TempDir())
	mustImport(t, k, write(t, "fills.csv", plainFills+fillRow(1, -1, walletAnn, "0")+fillRow(2, -1, walletAnn, "0")+fillRow(3, -1, walletBob, "0")))
	mustImport(t, k, write(t, "market.ndjson", described("7", `"77","78"`, "Rules.", 2025)))
	return reopen(t, k)
}

// spoil changes every file below segments/.
func spoil(t *testing.T, dir string, change func(text []byte) []byte) {
	t.Helper()
	for name := range segmentChecks {
		path := filepath.Join(dir, "segments", name)
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, change(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func flipped(at int) func([]byte) []byte {
	return func(text []byte) []byte {
		text[(at+len(text))%len(text)] ^= 4
		return text
	}
}

// refuted verifies, and returns the message of each failed check of a file.
func refuted(t *testing.T, k *keeper.Keeper) map[string]string {
	t.Helper()
	checks, err := k.Verify(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, c := range checks {
		if !c.OK {
			out[c.Name] = c.Detail
		}
	}
	return out
}

// However the files are damaged, the service starts, every response is that of the database, the
// files are set aside and written again, and verification succeeds. The tests of the files damage
// each part of one. Here, in a short run, one damage that is found at the start and two that are
// not represent all of them.
func TestDamagedFilesAreSetAsideAndWrittenAgain(t *testing.T) {
	k := openSmallVenue(t)
	dir := string(k.DB().Dir())
	for name, change := range map[string]func([]byte) []byte{
		"header": flipped(30), "entries": flipped(4096 + 5), "checksums": flipped(-1), "index": flipped(-4096), "cut": func(b []byte) []byte { return b[:len(b)-5000] },
		"empty": func([]byte) []byte { return nil }, "zeros": func(b []byte) []byte { return append(b[:4096], make([]byte, len(b)-4096)...) },
	} {
		if !testfiles.Long() && name != "header" && name != "entries" && name != "cut" {
			continue
		}
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
		spoil(t, dir, change)
		k = open(t, dir)
		checkWallets(t, k) // finds damage that the start does not read
		k.Settle()
		got := refuted(t, k)
		if name != "entries" && len(got) > 0 {
			t.Errorf("%s: got %v", name, got)
		}
		k.Settle()
		if testfiles.Long() || len(got) > 0 {
			mustVerify(t, k)
		}
		mustHave(t, k, 0)
		for file := range segmentChecks {
			path := filepath.Join(dir, "segments", file)
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if err := os.Remove(path + ".damaged"); err != nil {
				t.Errorf("%s: it was not set aside: %v", name, err)
			}
		}
	}
}

// Verification names a damaged file, next to a server and without one.
func TestVerificationNamesADamagedFile(t *testing.T) {
	testfiles.InLong(t, "TestDamagedFilesAreSetAsideAndWrittenAgain verifies files that are damaged")
	k := openSmallVenue(t)
	dir := string(k.DB().Dir())
	spoil(t, dir, flipped(4096+5))
	named := func(got map[string]string) {
		t.Helper()
		for file, check := range segmentChecks {
			if !strings.Contains(got[check], "segments/"+file+" is damaged: ") {
				t.Errorf("%s: got[check] = %q", check, got[check])
			}
		}
		if len(got) != len(segmentChecks) {
			t.Errorf("got %v", got)
		}
	}
	named(refuted(t, k))
	k.Settle()
	mustVerify(t, k)
	mustHave(t, k, 0)
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	for at, what := range map[int]string{4096 + 5: "page", 30: "header", -4096: "index"} {
		if !testfiles.Long() && at != 30 {
			continue
		}
		spoil(t, dir, flipped(at))
		alone := openFacts(t, dir)
		named(refuted(t, alone))
		named(refuted(t, alone)) // it changed nothing
		if err := alone.Rebuild(context.Background(), nil); err != nil {
			t.Fatal(what, err)
		}
		mustVerify(t, alone)
		if err := alone.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A rebuild writes every file, next to a server and without one.
func TestARebuildWritesTheFiles(t *testing.T) {
	testfiles.InLong(t, "TestSegmentsSurviveImportsAndRestarts writes them again")
	k := openSmallVenue(t)
	dir := string(k.DB().Dir())
	rebuilt := func(k *keeper.Keeper) {
		t.Helper()
		for file := range segmentChecks {
			if err := os.Remove(filepath.Join(dir, "segments", file)); err != nil {
				t.Fatal(err)
			}
		}
		if err := k.Rebuild(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		for file := range segmentChecks {
			if _, err := os.Stat(filepath.Join(dir, "segments", file)); err != nil {
				t.Error(err)
			}
		}
	}
	rebuilt(k)
	mustHave(t, k, 0)
	alsoVerify(t, k)
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	alone := openFacts(t, dir)
	rebuilt(alone)
	alsoVerify(t, alone)
	if err := alone.Close(); err != nil {
		t.Fatal(err)
	}
	k = open(t, dir)
	k.Settle()
	mustHave(t, k, 0)
}
