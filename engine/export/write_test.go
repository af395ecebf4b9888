package export_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/format"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/engine/export"
	"pmx/rollups/keeper"
)

// crowd adds n wallets without fills to the rollups.
func crowd(t testing.TB, k *keeper.Keeper, n string) {
	t.Helper()
	change(t, k,
		"INSERT INTO wallets SELECT i::INTEGER, unhex(substr(sha256(i::VARCHAR), 1, 40)) FROM range("+n+") AS r(i)",
		`INSERT INTO wallet_total SELECT i::INTEGER, 1 + i % 7, 0, 0, (i * 7919) % 1000003, (i * 104729) % 1000003, i % 13, 1, 1 + i % 5, i % 3, i % 2,
  0, 0, (i * 31) % 500009, 0, 1700000000000000 + i, 1730000000000000 + i FROM range(`+n+`) AS r(i)`)
}

// A dataset with more rows than the maximum, two million by default, is cut to the first ones in
// its order, and the file says so. The rows are many row groups, and each is one step of progress.
func TestMoreRowsThanMayBe(t *testing.T) {
	testfiles.InLong(t, "TestTraderExportIsCutToThePlan cuts a file")
	if testing.Short() {
		t.Skip("two million rows take some seconds")
	}
	k := open(t, several)
	rows, most := 300_000, int64(300_000)
	if testfiles.Long() {
		rows, most = 2_000_000, 0
	}
	crowd(t, k, strconv.Itoa(rows+1))
	var shares []float64
	path := filepath.Join(k.DB().Dir().Exports(), "crowd.parquet")
	e := export.Exporter{DB: k.DB(), MaxRows: most}
	file, err := e.Write(context.Background(), "trader_leaderboard", data.Parquet, path, func(share float64) { shares = append(shares, share) })
	if err != nil {
		t.Fatal(err)
	}
	if file.Rows != int64(rows) || !file.Truncated {
		t.Errorf("%d rows, truncated %v", file.Rows, file.Truncated)
	}
	if len(shares) < 1+rows/122_880 || shares[len(shares)-1] != 1 {
		t.Errorf("progress was %v", shares)
	}
	for i := 1; i < len(shares); i++ {
		if shares[i] < shares[i-1] {
			t.Errorf("progress went back: %v", shares)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != file.SHA256 || int64(len(text)) != file.Bytes {
		t.Errorf("the file is %d bytes with hash %x, reported %d and %s", len(text), sum, file.Bytes, file.SHA256)
	}
	// Only the wallet with the least profit is left out; all others occur once.
	got := query(t, k, `SELECT count(*) AS rows, count(DISTINCT address) AS wallets, max(rank) AS last, min(real_pnl) AS least FROM '`+path+`'`)[0]
	want := query(t, k, `SELECT count(*) + 1 AS next, max(real_pnl) AS least FROM (
  SELECT (sell_usd - buy_usd - fee_usd + redemption) / 1e6 AS real_pnl FROM wallet_total ORDER BY real_pnl LIMIT 2)`)[0]
	if n := strconv.Itoa(rows); got["rows"] != n || got["wallets"] != n || got["least"] != want["least"] {
		t.Errorf("got %v, want the least profit %v", got, want["least"])
	}
}

// A Parquet file describes itself: compression, order, statistics, origin.
func TestParquetDescribesItself(t *testing.T) {
	k := open(t, several)
	wallets := testfiles.Cases(130_000, 250_000)
	crowd(t, k, strconv.Itoa(wallets))
	change(t, k, "UPDATE rollup_state SET as_of = 1773500966535000, epoch = 7")
	_, first := exported(t, k, export.Exporter{}, "wallet_pnl", data.Parquet)
	path, second := exported(t, k, export.Exporter{}, "wallet_pnl", data.Parquet)
	if first.SHA256 != second.SHA256 {
		t.Error("two files of the same data differ")
	}
	rows, file := readParquet(t, path)
	if len(rows) != wallets {
		t.Errorf("got %d rows", len(rows))
	}
	meta := file.Metadata()
	if n := len(meta.RowGroups); n != testfiles.Cases(2, 3) { // 122,880 each, and the rest
		t.Errorf("got %d row groups", n)
	}
	said := map[string]string{}
	for _, pair := range meta.KeyValueMetadata {
		said[pair.Key] = pair.Value
	}
	for key, want := range map[string]string{"generator": "pmx", "dataset": "wallet_pnl", "as_of": "2026-03-14T15:09:26Z",
		"schema_version": export.SchemaVersion, "method": "cash_basis_v3", "rows": strconv.Itoa(wallets), "truncated": "false"} {
		if said[key] != want {
			t.Errorf("%s is %q, want %q", key, said[key], want)
		}
	}
	for _, group := range meta.RowGroups {
		if len(group.SortingColumns) != 2 || group.SortingColumns[0].ColumnIdx != 5 || !group.SortingColumns[0].Descending {
			t.Errorf("sorted by %+v", group.SortingColumns)
		}
		for i, c := range group.Columns {
			if c.MetaData.Codec != format.Zstd {
				t.Errorf("column %d is compressed with %v", i, c.MetaData.Codec)
			}
			if c.MetaData.Statistics.MinValue == nil && i != 1 { // nobody has a user name
				t.Errorf("column %d has no statistics", i)
			}
		}
	}
	types := map[string]string{}
	for _, row := range query(t, k, "SELECT column_name, column_type FROM (DESCRIBE FROM '"+path+"')") {
		types[row["column_name"]] = row["column_type"]
	}
	for name, want := range map[string]string{"address": "VARCHAR", "trades": "BIGINT", "volume": "DOUBLE", "first_trade_at": "TIMESTAMP WITH TIME ZONE"} {
		if types[name] != want {
			t.Errorf("%s is %s, want %s", name, types[name], want)
		}
	}
}

// Text that a spreadsheet would run as a formula gets an apostrophe, in CSV only;
// quotes, commas and line ends inside of a cell survive; records end with CRLF.
func TestCSVIsSafeAndPlain(t *testing.T) {
	k := open(t, 1)
	crowd(t, k, "8")
	names := []string{`=cmd|' /C calc'!A0`, "+1", "-1", "@x", "\tx", "\rx", "a, \"b\"\nc", "plain"}
	for i, name := range names {
		change(t, k, "INSERT INTO wallet_names VALUES ("+string(rune('0'+i))+", '"+strings.ReplaceAll(name, "'", "''")+"', 0)")
	}
	path, _ := exported(t, k, export.Exporter{}, "wallet_pnl", data.CSV)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte("\"a, \"\"b\"\"\nc\"")) {
		t.Errorf("a cell with a comma, quotes and a line end is not kept as it was: %s", text)
	}
	if lines := bytes.Count(text, []byte("\r\n")); lines != 9 {
		t.Errorf("%d records end with CRLF, want 9: %q", lines, text)
	}
	found := map[string]bool{}
	for _, row := range readCSV(t, path) {
		found[row["username"]] = true
	}
	for i, name := range names {
		if i < 6 {
			name = "'" + name
		}
		if !found[name] {
			t.Errorf("no cell %q in %v", name, found)
		}
	}
	path, _ = exported(t, k, export.Exporter{}, "wallet_pnl", data.Parquet)
	rows, _ := readParquet(t, path)
	for _, row := range rows {
		if strings.HasPrefix(row["username"], "'") {
			t.Errorf("Parquet needs no apostrophe: %q", row["username"])
		}
	}
}

func TestVenueWalletsAreNotTraders(t *testing.T) {
	k := open(t, 1)
	crowd(t, k, "10")
	rows := query(t, k, "SELECT '0x' || lower(hex(address)) AS address FROM wallets WHERE wallet = 3")
	venue, err := data.ParseAddress(rows[0]["address"])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"wallet_pnl", "trader_leaderboard"} {
		path, file := exported(t, k, export.Exporter{Venue: map[data.Address]bool{venue: true}}, name, data.CSV)
		if file.Rows != 9 {
			t.Errorf("%s has %d rows, want 9", name, file.Rows)
		}
		for _, row := range readCSV(t, path) {
			if row["address"] == venue.String() {
				t.Errorf("%s ranks the venue", name)
			}
		}
	}
}

// An empty database gives files with columns and no rows.
func TestEmptyDatabase(t *testing.T) {
	k := open(t, 1)
	for _, name := range export.Datasets() {
		path, file := exported(t, k, export.Exporter{}, name, data.Parquet)
		rows, parquet := readParquet(t, path)
		if file.Rows != 0 || len(rows) != 0 || len(parquet.Schema().Fields()) < 9 || !file.AsOf.IsZero() {
			t.Errorf("%s: %+v, %d rows", name, file, len(rows))
		}
		path, _ = exported(t, k, export.Exporter{}, name, data.CSV)
		if text, err := os.ReadFile(path); err != nil || bytes.Count(text, []byte("\r\n")) != 1 {
			t.Errorf("%s.csv: %q %v", name, text, err)
		}
	}
}

// A cancelled export leaves nothing behind, and the next one is complete.
func TestCancelledExportLeavesNothing(t *testing.T) {
	testfiles.InLong(t, "TestAKilledExportIsMadeByTheNextProcess removes the files of the first attempt")
	k := open(t, several)
	rows := testfiles.Cases(250_000, 400_000) // several row groups
	crowd(t, k, strconv.Itoa(rows))
	e := export.Exporter{DB: k.DB()}
	ctx, cancel := context.WithCancel(context.Background())
	out := filepath.Join(k.DB().Dir().Exports(), "a.parquet")
	_, err := e.Write(ctx, "wallet_pnl", data.Parquet, out, func(share float64) {
		if share > 0.5 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	left, err := os.ReadDir(k.DB().Dir().Exports())
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v %v", left, err)
	}
	if file, err := e.Write(context.Background(), "wallet_pnl", data.Parquet, out, nil); err != nil || file.Rows != int64(rows) {
		t.Errorf("the next export: %+v %v", file, err)
	}
}

func TestUnknownNamesAreExplained(t *testing.T) {
	k := open(t, 1)
	e := export.Exporter{DB: k.DB()}
	if _, err := e.Write(t.Context(), "opinions", data.CSV, "x", nil); !errors.Is(err, export.ErrUnknown) || !strings.Contains(err.Error(), "wallet_pnl") {
		t.Errorf("dataset: %v", err)
	}
	if _, err := e.Write(t.Context(), "markets", data.NDJSON, "x", nil); !errors.Is(err, export.ErrUnknown) {
		t.Errorf("format: %v", err)
	}
}
