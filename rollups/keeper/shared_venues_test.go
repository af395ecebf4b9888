package keeper_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmx/data/sample"
	"pmx/data/testfiles"
	"pmx/engine/enginetest"
	"pmx/engine/ingest"
	"pmx/rollups/keeper"
)

// sampleVenue is a venue with the sample's data, imported once from files of a few thousand fills,
// with its manifest and receipts.
var sampleVenue struct {
	keeper   *keeper.Keeper
	dir      string
	manifest sample.Manifest
	receipts []ingest.Receipt
}

// readSample is the venue with the sample's data, shared by all tests that change nothing.
func readSample(t *testing.T) *keeper.Keeper {
	t.Helper()
	if sampleVenue.keeper != nil {
		return sampleVenue.keeper
	}
	from := filepath.Join(t.TempDir(), "venue")
	man, err := sample.Write(context.Background(), sample.Config{Fills: int64(testfiles.Cases(12_000, 20_000)), FileRows: int64(testfiles.Cases(6_000, 3_000)), Days: sampleDays()}, from, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "pmx-test-")
	if err != nil {
		t.Fatal(err)
	}
	k := openFor(t, enginetest.Options(t, dir, "2GB"), nil, nil)
	sampleVenue.keeper, sampleVenue.dir, sampleVenue.manifest = k, dir, man
	sampleVenue.receipts = mustImport(t, k, from)
	mustVerify(t, k)
	return k
}

// sampleDays is the number of days of a venue whose test does not set one. Its markets, of which a
// month has three times as many, are most of the cost of an import.
func sampleDays() int { return testfiles.Cases(8, 0) }

// sampleIn opens dir with a sample venue of so many fills; change, if there is one, changes its files before they are imported.
func sampleIn(t *testing.T, dir string, fills int64, change ...func(t *testing.T, from string)) *keeper.Keeper {
	t.Helper()
	from := filepath.Join(t.TempDir(), "venue")
	if _, err := sample.Write(t.Context(), sample.Config{Fills: fills, Days: sampleDays()}, from, nil); err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(t, from)
	}
	k := open(t, dir)
	mustImport(t, k, from)
	return k
}

// withoutWeather leaves the markets and fills of a sample venue, for a test that does not need the
// weather: importing it takes twice as long as a few thousand fills. A long run imports everything.
func withoutWeather(t *testing.T, dir string) {
	t.Helper()
	if testfiles.Long() {
		return
	}
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, f := range all {
		if f.Name() == sample.EventsName || f.Name() == sample.ManifestName || strings.HasPrefix(f.Name(), "orderFilled") {
			left++
		} else if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
			t.Fatal(err)
		}
	}
	if left < 3 || left == len(all) {
		t.Fatalf("%d of %d files are left", left, len(all))
	}
}

// slicesVenue is a venue with the PnL's trades and the small files of every feed, imported once,
// with the results of these files. A long run has the captured files too.
var slicesVenue struct {
	keeper *keeper.Keeper
	dir    string
	files  keeper.Result
}

// readSlices is the venue with the small files, shared by all tests that change nothing.
func readSlices(t *testing.T) (*keeper.Keeper, keeper.Result) {
	t.Helper()
	v := &slicesVenue
	if v.keeper != nil {
		return v.keeper, v.files
	}
	folders := []string{testfiles.Path("feeds", "slices")}
	for _, name := range []string{"A_trades", "B_markets"} {
		if path, ok := testfiles.Beside(name); ok && testfiles.Long() { // the slices are of the same feeds
			folders = append(folders, path)
		}
	}
	dir, err := os.MkdirTemp("", "pmx-test-")
	if err != nil {
		t.Fatal(err)
	}
	v.keeper, v.dir = openFor(t, enginetest.Options(t, dir, "2GB"), nil, nil), dir
	mustImport(t, v.keeper, testfiles.Path("pnl", "trades"), testfiles.Path("pnl", "markets.csv"))
	if v.files, err = v.keeper.Import(context.Background(), keeper.Request{Paths: folders}, nil); err != nil {
		t.Fatal(err)
	}
	mustVerify(t, v.keeper)
	return v.keeper, v.files
}
