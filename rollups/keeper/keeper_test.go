package keeper_test

import (
	"context"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/engine"
	"pmx/engine/enginetest"
	"pmx/engine/ingest"
	"pmx/rollups/keeper"

	"pmx/data/testfiles"
)

func open(t *testing.T, dir string) *keeper.Keeper { return openWith(t, dir, nil) }

// openWith opens a venue whose weather desk has other cities.
func openWith(t *testing.T, dir string, cities *data.Gazetteer) *keeper.Keeper {
	t.Helper()
	return closedAtEnd(t, openIn(t, dir, cities, nil))
}

// openAt opens a venue with the given clock.
func openAt(t *testing.T, dir string, now func() time.Time) *keeper.Keeper {
	t.Helper()
	return closedAtEnd(t, openIn(t, dir, nil, now))
}

// closedAtEnd closes k after the test.
func closedAtEnd(t *testing.T, k *keeper.Keeper) *keeper.Keeper {
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

// openIn opens a venue that the caller closes.
func openIn(t *testing.T, dir string, cities *data.Gazetteer, now func() time.Time) *keeper.Keeper {
	t.Helper()
	return openFor(t, enginetest.OneThread(t, dir, "2GB"), cities, now)
}

// openFor is openIn with other options of the engine. The venues that tests share may have two threads
// in a long run: their figures are compared with the facts, and they are verified.
func openFor(t *testing.T, opts engine.Options, cities *data.Gazetteer, now func() time.Time) *keeper.Keeper {
	t.Helper()
	k, err := keeper.Open(context.Background(), keeper.Config{
		Engine: opts,
		Feeds:  feeds.Catalog{Cities: cities},
		Log:    zerolog.Nop(),
		Now:    now,
		Serve:  true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func mustImport(t *testing.T, k *keeper.Keeper, paths ...string) []ingest.Receipt {
	t.Helper()
	res, err := k.Import(context.Background(), keeper.Request{Paths: paths}, nil)
	if err != nil || len(res.Failed) > 0 {
		t.Fatalf("import %v: %v %+v", paths, err, res.Failed)
	}
	return res.Receipts
}

// alsoVerify verifies in a long run, for tests of something else. In a short run, the tests of
// package rollups show that the rollups are those of the facts, however these were imported, and
// the shared venues show it for every kind of rows.
func alsoVerify(t *testing.T, k *keeper.Keeper) {
	t.Helper()
	if testfiles.Long() {
		mustVerify(t, k)
	}
}

func mustVerify(t *testing.T, k *keeper.Keeper) {
	t.Helper()
	checks, err := k.Verify(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		if !c.OK {
			t.Errorf("verify: c = %+v", c)
		}
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func count(t *testing.T, k *keeper.Keeper, query string) (n int64) {
	t.Helper()
	err := k.DB().Read(context.Background(), func(conn *sql.Conn) error {
		return conn.QueryRowContext(context.Background(), query).Scan(&n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func rows(t *testing.T, path string) []map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := make([]map[string]string, 0, len(all))
	for _, r := range all[1:] {
		m := map[string]string{}
		for i, h := range all[0] {
			m[h] = r[i]
		}
		out = append(out, m)
	}
	return out
}

func TestWrappedPagesCountEachFillOnce(t *testing.T) {
	wrapped := func(path string, read, distinct int64) {
		k := open(t, t.TempDir())
		r := mustImport(t, k, path)[0]
		if r.Read != read || r.Inserted != distinct || r.Identical != read-distinct {
			t.Errorf("read %d, inserted %d, identical %d; want %d, %d, %d", r.Read, r.Inserted, r.Identical, read, distinct, read-distinct)
		}
		if again := mustImport(t, k, path)[0]; again.Inserted != 0 || again.AlreadyThere != distinct {
			t.Errorf("again: inserted %d, already there %d; want 0 and %d", again.Inserted, again.AlreadyThere, distinct)
		}
		alsoVerify(t, k)
	}
	wrapped(testfiles.Path("feeds", "slices", "polymarket-trades-csv", "wrapped.csv"), 5, 3)
	if path, ok := testfiles.Beside("A_trades", "nobel2025_dataapi", "polymarket_trades.csv"); ok {
		wrapped(path, 5_000, 1_500)
	}
}

// TestAllFilesGoInOrAreRefusedWithAReason imports every feed's small files, and the captured ones
// if they are there.
func TestAllFilesGoInOrAreRefusedWithAReason(t *testing.T) {
	testfiles.InLong(t, "TestAllFilesSurviveAnExport imports the same files")
	_, res := readSlices(t)
	var failed []string
	for _, f := range res.Failed {
		failed = append(failed, filepath.Base(f.File))
	}
	// All rows of these are of places that are on no weather desk.
	elsewhere := []string{"gridpoints_forecast_hourly_us.json", "gridpoints_forecast_strings_us.json", "stations_observations_metar.json",
		"stations_observations_missing_value.json", "forecast_models.json", "historical_weather_models.json", "previous_runs_models.json"}
	if diff := cmp.Diff(elsewhere, failed, cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Errorf("failed (-want +got):\n%s", diff)
	}
	for _, f := range res.Skipped {
		if f.Error == "" {
			t.Errorf("%s is skipped without a reason", f.File)
		}
	}
	for _, r := range res.Receipts {
		sum := r.Inserted + r.AlreadyThere + r.Identical + r.Waiting + r.RejectedRows() + r.PassedRows() + r.PayoutRows
		if r.Inserted > 0 && sum != r.Read {
			t.Errorf("%s: %d rows read, %d accounted for: %+v", r.File, r.Read, sum, r)
		}
	}
}

func TestAnotherVenuesFilesAreRefused(t *testing.T) {
	refused := func(path string) {
		k := open(t, t.TempDir())
		if _, err := k.Import(context.Background(), keeper.Request{Paths: []string{path}}, nil); !errors.Is(err, keeper.ErrNothing) {
			t.Errorf("files of another venue: %v, want them refused", err)
		}
		if n := count(t, k, "SELECT count(*) FROM markets"); n != 0 {
			t.Errorf("%d markets of another venue are imported", n)
		}
	}
	refused(testfiles.Path("foreign", "kalshi"))
	if path, ok := testfiles.Beside("F_kalshi"); ok {
		refused(path)
	}
}

const orderFilledHeader = "timestamp,maker,makerAssetId,makerAmountFilled,taker,takerAssetId,takerAmountFilled,transactionHash\n"

func orderFilled(ts int64, maker int, usd, shares int64, token, taker string, tx int) string {
	return fmt.Sprintf("%d,0x%040x,0,%d,%s,%s,%d,0x%064x\n", ts, maker, usd, taker, token, shares, tx)
}

func TestBadRowsAreKeptWithLineAndReason(t *testing.T) {
	taker := fmt.Sprintf("0x%040x", 9)
	good := orderFilled(1_780_000_000, 1, 400_000, 1_000_000, "77", taker, 1)
	path := write(t, "fills.csv", orderFilledHeader+good+
		strings.Replace(good, "0x000000000000000000000000000000000000000", "0xZ", 1)+ // line 3: not a wallet
		"1780000000,too,few\n"+ // line 4
		orderFilled(1_780_000_001, 2, 400_000, 1_000_000, "77", taker, 2))
	k := open(t, t.TempDir())
	r := mustImport(t, k, path)[0]
	if r.Read != 4 || r.Inserted != 2 || r.RejectedRows() != 2 {
		t.Fatalf("receipt %+v, want 4 read, 2 inserted, 2 rejected", r)
	}
	kept, err := os.ReadFile(r.RejectedFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"line":3`, `"line":4`, "0xZ", "too,few", "40 hexadecimal digits"} {
		if !strings.Contains(string(kept), want) {
			t.Errorf("rejected rows lack %s:\n%s", want, kept)
		}
	}
	res, err := open(t, t.TempDir()).Import(context.Background(), keeper.Request{Paths: []string{path}, OnError: ingest.RejectFile}, nil)
	if err != nil || len(res.Failed) != 1 || !strings.Contains(res.Failed[0].Error, "ine") {
		t.Errorf("--on-error file: %v %+v, want the file refused with a line", err, res)
	}
}

func TestDryRunChangesNothing(t *testing.T) {
	path := write(t, "fills.csv", orderFilledHeader+orderFilled(1_780_000_000, 1, 400_000, 1_000_000, "77", fmt.Sprintf("0x%040x", 9), 1))
	k := open(t, t.TempDir())
	res, err := k.Import(context.Background(), keeper.Request{Paths: []string{path}, DryRun: true}, nil)
	if err != nil || len(res.Receipts) != 1 || res.Receipts[0].Inserted != 1 {
		t.Fatalf("dry run: err = %v, res = %+v", err, res)
	}
	for _, table := range []string{"fills", "wallets", "tokens", "batches"} {
		if n := count(t, k, "SELECT count(*) FROM "+table); n != 0 {
			t.Errorf("after a dry run %s has %d rows", table, n)
		}
	}
}

func TestALogIndexedSourceReplacesOneWithout(t *testing.T) {
	taker := fmt.Sprintf("0x%040x", 9)
	row := orderFilled(1_780_000_000, 1, 400_000, 1_000_000, "77", taker, 5)
	first := write(t, "orderFilled.csv", orderFilledHeader+row+row) // two equal fills of one transaction
	better := write(t, "fills.csv", "ts,wallet,token,side,shares,usd,fee,role,tx,log_index\n"+
		fmt.Sprintf("1780000000,0x%040x,77,BUY,1,0.4,0.01,maker,0x%064x,12\n", 1, 5))
	k := open(t, t.TempDir())
	if r := mustImport(t, k, first)[0]; r.Inserted != 2 {
		t.Fatalf("equal rows of a gapless scan: %d inserted, want 2", r.Inserted)
	}
	if r := mustImport(t, k, better)[0]; r.Replaced != 1 {
		t.Fatalf("receipt %+v, want 1 replaced", r)
	}
	if n := count(t, k, "SELECT count(*) FROM fills"); n != 2 {
		t.Errorf("%d fills, want 2", n)
	}
	if fee := count(t, k, "SELECT sum(fee)::BIGINT FROM fills"); fee != 10_000 {
		t.Errorf("fees %d, want 10,000 millionths", fee)
	}
	for _, again := range []string{first, better} {
		if r := mustImport(t, k, again)[0]; r.Inserted+r.Replaced != 0 {
			t.Errorf("again: r = %+v", r)
		}
	}
	alsoVerify(t, k)
}

func TestFillsThatNameAnUnknownMarketWaitForIt(t *testing.T) {
	condition := fmt.Sprintf("0x%064x", 3)
	trades := write(t, "trades.csv", "timestamp,market_id,maker,taker,nonusdc_side,maker_direction,taker_direction,price,usd_amount,token_amount,transactionHash\n"+
		fmt.Sprintf("2026-05-01T00:00:00.000000,%s,0x%040x,0x%040x,token2,BUY,SELL,0.4,0.4,1,0x%064x\n", condition, 1, 9, 5))
	market := write(t, "market.ndjson", fmt.Sprintf(`{"condition":"%s","question":"Will it?","outcomes":["Yes","No"],"tokens":["70","71"]}`, condition)+"\n")
	k := open(t, t.TempDir())
	for range 2 {
		if r := mustImport(t, k, trades)[0]; r.Waiting != 1 || r.Inserted != 0 {
			t.Fatalf("before its market: %+v, want 1 waiting", r)
		}
	}
	if r := mustImport(t, k, market)[0]; r.Released != 1 {
		t.Fatalf("with its market: %+v, want 1 released", r)
	}
	if n := count(t, k, "SELECT count(*) FROM fills JOIN tokens USING (token) WHERE token_id = '71' AND outcome = 1"); n != 1 {
		t.Errorf("%d fills of token 71, want 1", n)
	}
	if r := mustImport(t, k, trades)[0]; r.AlreadyThere != 1 {
		t.Errorf("again: %+v, want it counted as already there", r)
	}
	alsoVerify(t, k)
}

func TestInboxIsTakenAndSorted(t *testing.T) {
	k := open(t, t.TempDir())
	inbox := k.DB().Dir().Inbox()
	old := time.Now().Add(-time.Minute)
	for name, text := range map[string]string{
		"good.csv": orderFilledHeader + orderFilled(1_780_000_000, 1, 400_000, 1_000_000, "77", fmt.Sprintf("0x%040x", 9), 1),
		"bad.txt":  "nothing that any feed knows",
	} {
		path := filepath.Join(inbox, name)
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, old, old)); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.Cycle(context.Background()); err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]int{"done/*good.csv": 1, "failed/*bad.txt": 1, "failed/*bad.txt.error.txt": 1, "*.*": 0} {
		if got, _ := filepath.Glob(filepath.Join(inbox, pattern)); len(got) != want {
			t.Errorf("%s: %v, want %d", pattern, got, want)
		}
	}
	if n := k.Snapshot().Counts.Fills; n != 1 {
		t.Errorf("the snapshot holds %d fills, want 1", n)
	}
}

func TestTheSampleVenueComesToItsManifest(t *testing.T) {
	k, man := readSample(t), sampleVenue.manifest
	c := k.Snapshot().Counts
	if c.Fills != man.Fills || c.Markets != man.Markets || c.ResolvedMarkets != man.Resolved || c.VolumeUSD != man.TakerUSD ||
		int64(k.Snapshot().Wallets()) != man.Wallets {
		t.Errorf("snapshot %+v differs from the manifest %+v", c, man)
	}
	if err := k.Cycle(context.Background()); err != nil {
		t.Fatal(err)
	}
	alsoVerify(t, k)
	for grain, facts := range map[string]string{
		"SELECT market, taker_usd, maker_usd FROM market_total": "SELECT t.market AS key, f.* FROM fills AS f JOIN tokens AS t USING (token)",
		"SELECT (day, market), taker_usd, maker_usd FROM market_day": "SELECT (f.ts // 86400000000, t.market) AS key, f.* " +
			"FROM fills AS f JOIN tokens AS t USING (token)",
		"SELECT event, taker_usd, maker_usd FROM event_total": "SELECT m.event_slug AS key, f.* " +
			"FROM fills AS f JOIN tokens AS t USING (token) JOIN markets AS m USING (market)",
	} {
		expected := "SELECT key, SUM(CASE WHEN role = 1 THEN 0 ELSE usd END), SUM(CASE WHEN role = 1 THEN usd ELSE 0 END) FROM (" + facts + ") GROUP BY 1"
		query := fmt.Sprintf("SELECT count(*) FROM ((%[1]s EXCEPT ALL %[2]s) UNION ALL (%[2]s EXCEPT ALL %[1]s))", grain, expected)
		if n := count(t, k, query); n != 0 {
			t.Errorf("%s: %d rows differ from the facts", grain, n)
		}
	}
}

func TestAFillFromTheFutureIsRefused(t *testing.T) {
	taker := fmt.Sprintf("0x%040x", 9)
	soon := time.Now().Add(time.Hour).Unix()
	path := write(t, "fills.csv", orderFilledHeader+orderFilled(soon, 1, 400_000, 1_000_000, "77", taker, 1)+
		orderFilled(soon+100*24*3600, 1, 400_000, 1_000_000, "77", taker, 2))
	r := mustImport(t, open(t, t.TempDir()), path)[0]
	if r.Inserted != 1 || r.Rejected["future_time"] != 1 {
		t.Errorf("receipt %+v, want one inserted and one rejected as future_time", r)
	}
}

func TestAnAmountThatNoMarketHasIsRefused(t *testing.T) {
	path := write(t, "fills.csv", orderFilledHeader+
		orderFilled(1_780_000_000, 1, 9_000_000_000_000_000_000, 9_000_000_000_000_000_000, "77", fmt.Sprintf("0x%040x", 9), 1))
	res, err := open(t, t.TempDir()).Import(context.Background(), keeper.Request{Paths: []string{path}}, nil)
	if err != nil || len(res.Receipts) != 1 || len(res.Failed) != 1 {
		t.Fatalf("err = %v, res = %+v", err, res)
	}
	if r := res.Receipts[0]; r.Inserted != 0 || r.Rejected["bad_size"] != 1 {
		t.Errorf("receipt %+v, want it rejected as bad_size", r)
	}
}

func TestAFillThatWaitedUnderTwoNamesCountsOnce(t *testing.T) {
	condition := fmt.Sprintf("0x%064x", 3)
	header := "timestamp,market_id,maker,taker,nonusdc_side,maker_direction,taker_direction,price,usd_amount,token_amount,transactionHash\n"
	trade := func(market string) string {
		return header + fmt.Sprintf("2026-05-01T00:00:00.000000,%s,0x%040x,0x%040x,token2,BUY,SELL,0.4,0.4,1,0x%064x\n", market, 1, 9, 5)
	}
	k := open(t, t.TempDir())
	mustImport(t, k, write(t, "v1.csv", trade("1234")), write(t, "v2.csv", trade(condition)))
	r := mustImport(t, k, write(t, "market.ndjson", fmt.Sprintf(
		`{"condition":"%s","gamma_id":"1234","question":"Will it?","outcomes":["Yes","No"],"tokens":["70","71"]}`, condition)+"\n"))[0]
	if r.Released != 1 || count(t, k, "SELECT count(*) FROM fills") != 1 {
		t.Errorf("receipt %+v, want one fill released", r)
	}
	alsoVerify(t, k)
}

func TestResolutionsDoNotDependOnTheOrderOfFiles(t *testing.T) {
	testfiles.InLong(t, "TestAnswersDoNotDependOnHistory imports resolutions in two orders")
	resolutionsInAnyOrder(t, testfiles.Path("feeds", "slices", "resolution-map"))
	if dir, ok := testfiles.Beside("B_markets", "cascadian_2025-10"); ok {
		resolutionsInAnyOrder(t, dir)
	}
}

func resolutionsInAnyOrder(t *testing.T, dir string) {
	t.Helper()
	a, b := filepath.Join(dir, "expanded_resolution_map.json"), filepath.Join(dir, "markets_dim_seed.json")
	state := func(paths ...string) (n int64) {
		k := open(t, t.TempDir())
		for _, p := range paths {
			mustImport(t, k, p)
		}
		if count(t, k, "SELECT count(*) FROM markets WHERE payouts IS NOT NULL") < 3 {
			t.Fatal("too few markets are resolved for this test")
		}
		return count(t, k, "SELECT bit_xor(hash(condition, payouts, resolved_at, question))::VARCHAR::HUGEINT % 9223372036854775807 FROM markets")
	}
	if x, y := state(a, b), state(b, a, b); x != y {
		t.Error("the markets depend on the order in which the maps are imported")
	}
	k := open(t, t.TempDir())
	mustImport(t, k, a)
	mustImport(t, k, b)
	if r := mustImport(t, k, a)[0]; r.MarketsChanged+r.Resolutions != 0 {
		t.Errorf("the first map again: %+v, want nothing changed", r)
	}
}

func TestRejectsThatCannotBeNamedDoNotLoseTheImport(t *testing.T) {
	k := open(t, t.TempDir())
	taker := fmt.Sprintf("0x%040x", 9)
	good := orderFilled(1_780_000_000, 1, 400_000, 1_000_000, "77", taker, 1)
	path := write(t, strings.Repeat("x", 240)+".csv", orderFilledHeader+good+strings.Replace(good, ",0x", ",0y", 1))
	r := mustImport(t, k, path)[0]
	if r.Inserted != 1 || r.RejectedRows() != 1 || r.Warning != "" {
		t.Errorf("receipt %+v, want one inserted, one rejected and no warning", r)
	}
	if err := os.RemoveAll(k.DB().Dir().Rejected()); err != nil {
		t.Fatal(err)
	}
	if res, err := k.Import(context.Background(), keeper.Request{Paths: []string{write(t, "b.csv", orderFilledHeader+"1,2,3,4,5,6,7,8\n")}}, nil); err != nil || len(res.Failed) != 1 {
		t.Errorf("with no folder for rejected rows: %v %+v, want the file refused", err, res)
	}
	alsoVerify(t, k)
}

func TestAFailedCycleKeepsTheSnapshotAndSaysSo(t *testing.T) {
	k := open(t, t.TempDir())
	before := k.Snapshot()
	if err := os.RemoveAll(k.DB().Dir().Inbox()); err != nil {
		t.Fatal(err)
	}
	if err := k.Cycle(context.Background()); err == nil {
		t.Fatal("a cycle without an inbox did not fail")
	}
	if f := k.Freshness(); f.FailureText == "" || f.LastFailure.IsZero() || k.Snapshot() != before {
		t.Errorf("after a failed cycle: f = %+v", f)
	}
}

// A verification says at what it is, one step after another, to the last one: the files below segments/ too.
func TestVerifySaysAtWhatItIs(t *testing.T) {
	k := open(t, t.TempDir())
	mustImport(t, k, sampleFiles(t)[0])
	var names []string
	_, err := k.Verify(t.Context(), func(name string, done, of int) {
		if done != len(names) || done >= of {
			t.Errorf("%s is step %d of %d after %d", name, done, of, len(names))
		}
		if names = append(names, name); name == "segments" && done != of-1 {
			t.Errorf("the last step is %d of %d", done, of)
		}
	})
	if last := names[max(0, len(names)-2):]; err != nil || !slices.Equal(last, []string{"snapshot_current", "segments"}) {
		t.Errorf("the last steps are %v: %v", last, err)
	}
}
