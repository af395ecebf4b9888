package feeds_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"pmx/data"
	"pmx/data/feeds"

	"pmx/data/testfiles"
)

func TestEveryFeedIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range feeds.All() {
		if f.Name == "" || seen[f.Name] || f.About == "" || len(f.Formats) == 0 || f.Match == nil {
			t.Errorf("feed %+v", f)
		}
		seen[f.Name] = true
		if (f.Read == nil) == (f.Query == nil) {
			t.Errorf("%s: want Read or Query", f.Name)
		}
		if (f.Kind == data.KindFills) != (f.Rule != "") {
			t.Errorf("%s: rule %q", f.Name, f.Rule)
		}
		if g, err := feeds.ByName(f.Name); err != nil || g.Name != f.Name {
			t.Errorf("ByName(%s): %v", f.Name, err)
		}
	}
	for typed, want := range map[string]string{"gama-market": "gamma-markets", "polymarket-trade": "polymarket-trades", "pmx-fils": "pmx-fills", "": "--help"} {
		_, err := feeds.ByName(typed)
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 200 {
			t.Errorf("%q gives %v, want a word of %s", typed, err, want)
		}
	}
}

// captured has the feed of every captured file; "refused" stands for a *feeds.ForeignError.
var captured = map[string]string{
	"A_trades/cascadian_wallet_fills/dome_orders_xcn.json":               "dome-orders",
	"A_trades/cascadian_wallet_fills/erc1155_fixture.csv":                "refused",
	"A_trades/cascadian_wallet_fills/fills_fixture.csv":                  "refused",
	"A_trades/cascadian_wallet_fills/fills_fixture_control.csv":          "refused",
	"A_trades/cascadian_wallet_fills/fixture.json":                       "refused",
	"A_trades/cascadian_wallet_fills/fixture_enriched.json":              "refused",
	"A_trades/cascadian_wallet_fills/fixture_track_b_wallets.json":       "wallet-histories",
	"A_trades/cascadian_wallet_fills/pnl_debug_wallet.json":              "refused",
	"A_trades/maduro_sample/maduro_out_trades.json":                      "polymarket-trades",
	"A_trades/midterms2022_fpmm":                                         "fpmm-trades",
	"A_trades/midterms2022_fpmm_derived/expected_wallet_pnl.csv":         "refused",
	"A_trades/midterms2022_fpmm_derived/markets.csv":                     "fpmm-resolutions",
	"A_trades/midterms2022_fpmm_derived/trades_normalized.csv":           "refused",
	"A_trades/nobel2025_dataapi/historical_trades.csv":                   "polymarket-trades-csv",
	"A_trades/nobel2025_dataapi/polymarket_trades.csv":                   "polymarket-trades-csv",
	"A_trades/platform_tape_2026-01/sample_v1.csv":                       "polymarket-trades-csv",
	"A_trades/platform_tape_2026-01/sample_v2.csv":                       "polymarket-trades-csv",
	"B_markets/cascadian_2025-10/condition_resolution_map.json":          "resolution-map",
	"B_markets/cascadian_2025-10/expanded_resolution_map.json":           "resolution-map",
	"B_markets/cascadian_2025-10/markets_dim_seed.json":                  "resolution-map",
	"B_markets/gamma_dumps_2026-02/clob_sampling_markets_1000.json":      "clob-markets",
	"B_markets/gamma_dumps_2026-02/gamma_markets_600.json":               "gamma-markets",
	"B_markets/gamma_dumps_2026-02/gamma_markets_raw_500.json":           "gamma-markets",
	"B_markets/gamma_dumps_2026-02/gamma_tags.json":                      "refused",
	"B_markets/gamma_dumps_2026-02/markets_2025_2026_2575.json":          "market-list",
	"B_markets/gamma_dumps_2026-02/polymarket_resolved_markets_149.json": "resolved-markets",
	"B_markets/gamma_dumps_2026-02/resolved_data_500.json":               "refused",
	"B_markets/insider_labels/market_tradability.parquet":                "refused",
	"B_markets/insider_labels/markets_metadata.parquet":                  "gamma-markets",
	"B_markets/token_condition_map_sample/positions_page_000001.json":    "subgraph-positions",
	"F_kalshi/kalshi_all_markets.csv":                                    "refused",
	"F_kalshi/kalshi_events_100_nested_markets.json":                     "refused",
	"F_kalshi/kalshi_markets_raw_533.json":                               "refused",
}

func detectsEveryCapturedFile(t *testing.T) {
	root := testfiles.Captured(t)
	for _, part := range []string{"A_trades", "B_markets", "F_kalshi"} {
		err := filepath.WalkDir(filepath.Join(root, part), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			want := captured[filepath.ToSlash(name)]
			if want == "" {
				want = captured[filepath.ToSlash(filepath.Dir(name))]
			}
			if got := verdict(t, path); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func verdict(t *testing.T, path string) string {
	t.Helper()
	h, err := feeds.ReadHead(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := feeds.Detect(h)
	var foreign *feeds.ForeignError
	var unknown *feeds.UnknownError
	switch {
	case errors.As(err, &foreign):
		if strings.Contains(path, "kalshi") != strings.Contains(err.Error(), "Kalshi") {
			t.Errorf("%s: %v", path, err)
		}
		return "refused"
	case errors.As(err, &unknown):
		return "unknown"
	case err != nil:
		return err.Error()
	}
	return f.Name
}

func TestKeysAreThePathsOfTheFirstRecord(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want []string
	}{
		{`[{"id":1,"events":[{"slug":"s","markets":[[1]]},{"x":1}],"z":{"q":[1]}},{"other":1}]`,
			[]string{"id", "events", "events[].slug", "events[].markets", "z", "z.q"}},
		{`{"data":{"rows":[{"id":"1"}]}}`, []string{"data", "data.rows", "data.rows[].id"}},
		{`{"a":1,"b":"cut off he`, []string{"a", "b"}},
		{`[]`, nil},
		{`[1,2]`, nil},
	} {
		h, err := feeds.HeadOf(strings.NewReader(tc.in))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, h.Keys); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.in, diff)
		}
	}
}

func TestFormatIsToldByContent(t *testing.T) {
	for in, want := range map[string]data.Format{
		"\xEF\xBB\xBF [1]":           data.JSON,
		"{\"a\":1}\n{\"a\":2}\n":     data.NDJSON,
		"{\"a\":1}\n":                data.NDJSON,
		"{\n\"a\":1\n}":              data.JSON,
		"\xEF\xBB\xBFa,b\n1,2\n":     data.CSV,
		"":                           data.CSV,
		"PAR1 and then the columns ": data.Parquet,
	} {
		h, err := feeds.HeadOf(strings.NewReader(in))
		if err != nil || h.Format != want {
			t.Errorf("%q: %s, %v", in, h.Format, err)
		}
	}
	for _, in := range []string{"PK\x03\x04....", "a\x00b"} {
		if _, err := feeds.HeadOf(strings.NewReader(in)); err == nil {
			t.Errorf("%q was not refused", in)
		}
	}
}

// TestCompressionIsToldByContent checks that gzip and zstd are decompressed whatever the file's
// name.
func TestCompressionIsToldByContent(t *testing.T) {
	plain, err := os.ReadFile(testfiles.Path("feeds", "orderFilled.csv"))
	if err != nil {
		t.Fatal(err)
	}
	var gz, zst bytes.Buffer
	zw := gzip.NewWriter(&gz)
	sw, err := zstd.NewWriter(&zst)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []io.WriteCloser{zw, sw} {
		if _, err := w.Write(plain); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, content := range []string{string(plain), gz.String(), zst.String()} {
		path := text(t, "plainly.csv", content)
		if h, f := head(t, path); f.Name != "polydata-order-filled" || h.Format != data.CSV {
			t.Errorf("%s, %s", f.Name, h.Format)
		}
		r, err := feeds.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, plain) || r.Close() != nil {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
}

// TestDamagedCompressionIsNamed checks the messages for damaged compressed files, and that several
// gzip members or zstd frames are read as one text.
func TestDamagedCompressionIsNamed(t *testing.T) {
	content := strings.Repeat("proxyWallet,side,asset,size,price,timestamp,1234567\n", 3000)
	pack := map[string]func(string) string{
		"gzip": func(s string) string {
			var out bytes.Buffer
			w := gzip.NewWriter(&out)
			_, err := w.Write([]byte(s))
			if err := errors.Join(err, w.Close()); err != nil {
				t.Fatal(err)
			}
			return out.String()
		},
		"zstd": func(s string) string {
			w, err := zstd.NewWriter(nil)
			if err != nil {
				t.Fatal(err)
			}
			return string(w.EncodeAll([]byte(s), nil))
		},
	}
	for name, pack := range pack {
		whole := pack(content)
		flipped := []byte(whole)
		flipped[len(flipped)-6] ^= 0x40
		for odd, want := range map[string]string{
			whole:                                  "",
			whole + whole:                          "",
			whole[:len(whole)-9]:                   "it was truncated",
			whole[:len(whole)/2]:                   "it was truncated",
			string(flipped):                        "data is damaged",
			whole + "garbage after it":             "other data follows it",
			whole + whole + "\x00\x00\x00\x00\x00": "other data follows it",
			whole + whole[:3]:                      "it was truncated",
		} {
			r, err := feeds.Open(text(t, "f", odd))
			if err != nil {
				t.Fatal(name, err)
			}
			got, err := io.ReadAll(r)
			if want == "" && (err != nil || strings.ReplaceAll(string(got), content, "") != "") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s of %d bytes, %d whole: %v, want %q", name, len(odd), len(whole), err, want)
			}
			if r.Close() != nil {
				t.Error("not closed")
			}
		}
	}
	path := text(t, "f.csv.gz", pack["gzip"](content)+"x")
	if _, err := feeds.ReadHead(path); err != nil {
		t.Error(err) // the head is fine
	}
}
