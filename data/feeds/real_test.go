package feeds_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/data/feeds/fpmm"

	"pmx/data/testfiles"
)

func nobelTrades(t *testing.T) {
	c := read(t, testfiles.Captured(t, "A_trades", "nobel2025_dataapi", "polymarket_trades.csv"))
	if len(c.fills) != 5000 || len(c.rejects) != 0 {
		t.Fatalf("%d fills, rejects %v", len(c.fills), c.reasons())
	}
	distinct := map[data.Fill]bool{}
	for i, f := range c.fills {
		if f.Row != int64(i+1) {
			t.Fatalf("fill %d is of record %d", i, f.Row)
		}
		if f.Role != data.Taker || f.Outcome < 0 || f.Condition.IsZero() || f.Tx.IsZero() {
			t.Fatalf("fill %+v", f)
		}
		distinct[f.Fill] = true
	}
	if len(distinct) != 1500 {
		t.Errorf("%d distinct fills, want 1500", len(distinct))
	}
}

func thinTrades(t *testing.T) {
	for _, tc := range []struct {
		path     string
		rows     int
		distinct int
	}{
		{"nobel2025_dataapi/historical_trades.csv", 2852, 2254},
		{"platform_tape_2026-01/sample_v1.csv", 500, 488},
		{"platform_tape_2026-01/sample_v2.csv", 500, 472},
		{"maduro_sample/maduro_out_trades.json", 500, 500},
	} {
		c := read(t, testfiles.Captured(t, "A_trades", filepath.FromSlash(tc.path)))
		distinct := map[data.Fill]bool{}
		for _, f := range c.fills {
			distinct[f.Fill] = true
		}
		if len(c.fills) != tc.rows || len(distinct) != tc.distinct || len(c.rejects) != 0 {
			t.Errorf("%s: %d fills, %d distinct, rejects %v", tc.path, len(c.fills), len(distinct), c.reasons())
		}
	}
}

func gammaDumps(t *testing.T) {
	dir := testfiles.Captured(t, "B_markets", "gamma_dumps_2026-02")
	for _, tc := range []struct {
		file              string
		markets, resolved int
	}{
		{"gamma_markets_600.json", 600, 298},
		{"gamma_markets_raw_500.json", 500, 430},
		{"clob_sampling_markets_1000.json", 1000, 0},
		{"markets_2025_2026_2575.json", 2575, 0},
	} {
		c := read(t, filepath.Join(dir, tc.file))
		if len(c.markets) != tc.markets || len(c.resolutions) != tc.resolved || len(c.rejects) != 0 {
			t.Errorf("%s: %d markets, %d resolved, rejects %v", tc.file, len(c.markets), len(c.resolutions), c.reasons())
		}
		for _, r := range c.resolutions {
			sum := data.Micro(0)
			for _, p := range r.Payouts {
				sum += p
			}
			if sum != data.One {
				t.Errorf("%s: payouts %v of %s", tc.file, r.Payouts, r.Condition)
			}
		}
	}
}

func marketTables(t *testing.T) {
	for _, tc := range []struct {
		path                      string
		markets, resolved, tokens int
	}{
		{"cascadian_2025-10/condition_resolution_map.json", 1801, 120, 0},
		{"cascadian_2025-10/expanded_resolution_map.json", 2858, 1179, 0},
		{"cascadian_2025-10/markets_dim_seed.json", 5781, 1320, 0},
		{"gamma_dumps_2026-02/polymarket_resolved_markets_149.json", 149, 149, 0},
		{"insider_labels/markets_metadata.parquet", 100, 100, 0},
		{"token_condition_map_sample/positions_page_000001.json", 0, 0, 1000},
	} {
		c := read(t, testfiles.Captured(t, "B_markets", filepath.FromSlash(tc.path)))
		if len(c.markets) != tc.markets || len(c.resolutions) != tc.resolved || len(c.tokens) != tc.tokens || len(c.rejects) != 0 {
			t.Errorf("%s: %d markets, %d resolved, %d tokens, rejects %v",
				tc.path, len(c.markets), len(c.resolutions), len(c.tokens), c.reasons())
		}
	}
}

func midtermWinners(t *testing.T) {
	c := read(t, testfiles.Captured(t, "A_trades", "midterms2022_fpmm_derived", "markets.csv"))
	if len(c.markets) != 27 || len(c.resolutions) != 27 {
		t.Fatalf("%d markets, %d resolved", len(c.markets), len(c.resolutions))
	}
	arizona := c.resolutions[1]
	if arizona.Condition != fpmm.Condition("arizona_senate") || arizona.Payouts[0] != data.One ||
		!arizona.ResolvedAt.IsZero() { // the file has the time of the last trade only
		t.Errorf("%+v", arizona)
	}
}

func walletFiles(t *testing.T) {
	dir := testfiles.Captured(t, "A_trades", "cascadian_wallet_fills")
	for file, want := range map[string]int{"dome_orders_xcn.json": 100, "fixture_track_b_wallets.json": 1140} {
		c := read(t, filepath.Join(dir, file))
		if len(c.fills) != want || len(c.rejects) != 0 {
			t.Errorf("%s: %d fills, rejects %v", file, len(c.fills), c.reasons())
		}
	}
}

// weatherSnapshots: lines of events whose markets have no condition id are read. Their markets are
// rejected one by one, not the file.
func weatherSnapshots(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testfiles.Captured(t, "C_weather_markets", "seminar4_gamma_snapshots"), "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		if !strings.Contains(file, "ndjson") && !strings.Contains(file, "jsonl") {
			continue
		}
		c := read(t, file)
		t.Logf("%s: %d markets, rejects %v", filepath.Base(file), len(c.markets), c.reasons())
		for _, m := range c.markets[:min(1, len(c.markets))] {
			if m.Category != "weather" {
				t.Errorf("%+v", m)
			}
		}
	}
}

// midterms compares the 27 market files with an independent normalisation of them. It keeps rows
// that this feed rejects: 199 rows with size 0 and two rows with a user name instead of an address.
func midterms(t *testing.T) {
	dir := testfiles.Captured(t, "A_trades", "midterms2022_fpmm")
	files, err := filepath.Glob(filepath.Join(dir, "*.csv"))
	if err != nil || len(files) != 27 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	got, reasons := map[string]int{}, map[string]int{}
	for _, file := range files {
		c := read(t, file)
		if len(c.markets) != 1 || len(c.markets[0].Outcomes) != 2 {
			t.Fatalf("%s: markets %+v", file, c.markets)
		}
		key := fpmm.MarketKey(file)
		for _, f := range c.fills {
			label := c.markets[0].Outcomes[f.Outcome]
			if f.TokenID != c.markets[0].TokenIDs[f.Outcome] || f.Condition != fpmm.Condition(key) {
				t.Fatalf("%s: fill %+v", file, f)
			}
			got[fpmmLine(f.Fill, key, label)]++
		}
		for r, n := range c.reasons() {
			reasons[r] += n
		}
	}
	if diff := cmp.Diff(map[string]int{}, reasons); diff != "" {
		t.Errorf("rejects (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(normalisedMidterms(t), got); diff != "" {
		t.Errorf("fills (-want +got):\n%s", diff)
	}
}

func fpmmLine(f data.Fill, key, label string) string {
	side := map[data.Side]string{data.Buy: "BUY", data.Sell: "SELL"}[f.Side]
	return strings.Join([]string{utc(f.TS), key, f.Wallet.String(), side, label, f.USD.String(), f.Shares.String()}, ",")
}

func normalisedMidterms(t *testing.T) map[string]int {
	t.Helper()
	file, err := os.Open(testfiles.Captured(t, "A_trades", "midterms2022_fpmm_derived", "trades_normalized.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) != 14581 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	out := map[string]int{}
	for _, r := range rows[1:] {
		usd, err1 := data.ParseMicro(r[5])
		shares, err2 := data.ParseMicro(r[6])
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		wallet := r[2]
		if !strings.HasPrefix(wallet, "0x") { // a user name instead of an address
			wallet = data.SyntheticAddress(fpmm.Space, wallet).String()
		}
		out[strings.Join([]string{r[0], r[1], wallet, r[3], fpmm.Label(r[4]), usd.String(), shares.String()}, ",")]++
	}
	return out
}

// utc formats unix µs as in the captured tables.
func utc(us int64) string { return time.UnixMicro(us).UTC().Format(time.DateTime) }
