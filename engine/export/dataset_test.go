package export_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/engine/export"
	"pmx/rollups/keeper"
)

// Parquet and CSV have the same rows in the same order, as read by parquet-go, encoding/csv and
// DuckDB.
func TestBothFormatsHoldTheSameRows(t *testing.T) {
	k := readSample(t)
	for nth, name := range export.Datasets() {
		if !testfiles.Long() && nth%2 == 0 {
			continue // a short run writes every other one
		}
		path, file := exported(t, k, export.Exporter{}, name, data.Parquet)
		rows, _ := readParquet(t, path)
		other, second := exported(t, k, export.Exporter{}, name, data.CSV)
		lines := readCSV(t, other)
		if len(rows) == 0 || int64(len(rows)) != file.Rows || len(rows) != len(lines) || file.Rows != second.Rows {
			t.Fatalf("%s: %d rows of Parquet, %d of CSV; reported %d and %d", name, len(rows), len(lines), file.Rows, second.Rows)
		}
		for i := range rows {
			for column, want := range rows[i] {
				if got := asParquet(lines[i][column]); got != want {
					t.Fatalf("%s row %d: %s is %q in CSV and %q in Parquet", name, i, column, got, want)
				}
			}
		}
		duck := query(t, k, "SELECT count(*) AS n, count(DISTINCT COLUMNS(*)) FROM '"+path+"'")
		if duck[0]["n"] != strconv.Itoa(len(rows)) {
			t.Errorf("%s: DuckDB reads %s rows, parquet-go %d", name, duck[0]["n"], len(rows))
		}
	}
}

// Every wallet's row has the values of the API.
func TestWalletRowsAreTheWalletsTotals(t *testing.T) {
	k := readSample(t)
	snap := k.Snapshot()
	for _, name := range []string{"wallet_pnl", "trader_leaderboard"} {
		path, _ := exported(t, k, export.Exporter{}, name, data.Parquet)
		rows, _ := readParquet(t, path)
		if len(rows) != snap.Wallets() {
			t.Errorf("%s: %d rows of %d wallets", name, len(rows), snap.Wallets())
		}
		for _, row := range rows {
			address, err := data.ParseAddress(row["address"])
			if err != nil {
				t.Fatal(err)
			}
			trader, ok := snap.Trader(address)
			if !ok {
				t.Fatalf("%s: the wallet %s is unknown", name, address)
			}
			want := trader.Totals
			roi, _ := data.Ratio(want.RealPnL(), want.BuyUSD)
			rate, _ := data.Ratio(data.Micro(want.WinningMarkets), data.Micro(want.ResolvedMarkets))
			for column, value := range map[string]string{
				"username": trader.Name, "trades": fmt.Sprint(want.Fills), "maker_trades": fmt.Sprint(want.MakerFills),
				"taker_trades": fmt.Sprint(want.TakerFills), "volume": want.Volume().String(), "buy_volume_usd": want.BuyUSD.String(),
				"sell_volume_usd": want.SellUSD.String(), "fees_usd": want.FeeUSD.String(), "net_cash": want.NetCash.String(),
				"redemption_value": want.Redemption.String(), "real_pnl": want.RealPnL().String(),
				"unresolved_cash": want.UnresolvedCash.String(), "unique_markets": fmt.Sprint(want.Markets),
				"resolved_markets": fmt.Sprint(want.ResolvedMarkets), "winning_markets": fmt.Sprint(want.WinningMarkets),
				"active_days": fmt.Sprint(want.ActiveDays), "unmapped_fills": fmt.Sprint(want.UnmappedFills),
				"roi": unless(want.BuyUSD == 0, roi), "win_rate": unless(want.ResolvedMarkets == 0, rate),
			} {
				if got, there := row[column]; there && got != value {
					t.Fatalf("%s: %s of %s is %s, want %s", name, column, address, got, value)
				}
			}
		}
	}
}

func unless(null bool, m data.Micro) string {
	if null {
		return ""
	}
	return m.String()
}

// The leaderboard is ordered by profit, volume and address, and equal profits share a rank: 1, 1,
// 3.
func TestLeaderboardOrderAndRanks(t *testing.T) {
	testfiles.InLong(t, "TestTheRankedListIsTheLeaderboard has the order and the ranks of the leaderboard")
	k := open(t, several)
	mustImport(t, k, sampleFiles(t, 4_000))
	change(t, k, `INSERT INTO wallet_total_delta (wallet, fills, maker_fills, taker_fills, buy_usd, sell_usd, fee_usd, days, markets,
  resolved_markets, winning_markets, negative_legs, unmapped_fills, redemption, unresolved_cash)
SELECT wallet, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5000000 - real_pnl, 0
FROM (SELECT wallet, SUM(sell_usd - buy_usd - fee_usd + redemption)::BIGINT AS real_pnl
      FROM (FROM wallet_total UNION ALL FROM wallet_total_delta) GROUP BY wallet)
WHERE wallet % 3 = 0`) // a third of all wallets made exactly 5 dollars
	path, _ := exported(t, k, export.Exporter{}, "trader_leaderboard", data.Parquet)
	rows, _ := readParquet(t, path)
	want := query(t, k, `SELECT rank() OVER (ORDER BY real_pnl DESC) AS rank, address, real_pnl FROM '`+path+`'
ORDER BY real_pnl DESC, volume DESC, address`)
	tied := 0
	for i, row := range rows {
		if row["rank"] != want[i]["rank"] || row["address"] != want[i]["address"] {
			t.Fatalf("row %d: rank %s of %s, want %s of %s", i, row["rank"], row["address"], want[i]["rank"], want[i]["address"])
		}
		if row["real_pnl"] == "5" {
			tied++
		}
	}
	if tied < 100 {
		t.Errorf("only %d wallets share a rank", tied)
	}
}

// Every market's row has the values of a plain statement over the facts.
func TestMarketRowsFollowFromTheFacts(t *testing.T) {
	k := readSample(t)
	path, _ := exported(t, k, export.Exporter{}, "markets", data.CSV)
	rows := readCSV(t, path)
	want := map[string]map[string]string{}
	for _, row := range query(t, k, `
SELECT '0x' || lower(hex(m.condition)) AS condition_id, m.question, m.slug, m.event_slug, m.tags, m.outcomes,
  coalesce(SUM(f.usd) FILTER (f.role = 2), 0)::BIGINT AS volume, coalesce(SUM(f.shares) FILTER (f.role = 2), 0)::BIGINT AS volume_shares,
  count(f.ts) FILTER (f.role = 2) AS trades, count(DISTINCT f.wallet) AS traders, CASE WHEN any_value(m.payouts) IS NOT NULL THEN 'resolved'
  WHEN any_value(m.closed) THEN 'closed' ELSE 'open' END AS status, any_value(m.payouts)::VARCHAR AS payouts
FROM markets AS m
LEFT JOIN tokens AS t ON t.market = m.market
LEFT JOIN fills AS f ON f.token = t.token
GROUP BY ALL`) {
		want[row["condition_id"]] = row
	}
	if len(rows) != len(want) {
		t.Fatalf("%d rows of %d markets", len(rows), len(want))
	}
	for _, row := range rows {
		fact := want[row["condition_id"]]
		for _, column := range []string{"question", "slug", "event_slug", "tags", "outcomes", "trades", "traders", "status"} {
			if asParquet(row[column]) != fact[column] {
				t.Fatalf("%s of %s is %q, want %q", column, row["condition_id"], row[column], fact[column])
			}
		}
		for _, column := range []string{"volume", "volume_shares"} {
			if got := strings.Replace(row[column], ".", "", 1); strings.TrimLeft(got, "0") != strings.TrimLeft(fact[column], "0") {
				t.Fatalf("%s of %s is %s, want %s millionths", column, row["condition_id"], row[column], fact[column])
			}
		}
		payouts := strings.NewReplacer("0.000000", "0", "1.000000", "1000000", "0.500000", "500000", ",", ", ").Replace(row["payouts"])
		if payouts != fact["payouts"] {
			t.Fatalf("payouts of %s are %s, want %s", row["condition_id"], payouts, fact["payouts"])
		}
		winner := ""
		if at := slices.Index(strings.Split(strings.Trim(row["payouts"], "[]"), ","), "1.000000"); at >= 0 {
			winner = strings.Trim(strings.Split(strings.Trim(row["outcomes"], "[]"), ",")[at], `"`)
		}
		if row["winning_outcome"] != winner {
			t.Fatalf("the winner of %s is %q, want %q", row["condition_id"], row["winning_outcome"], winner)
		}
	}
}

// Equal facts give equal bytes, in any order of import, with any number of threads, and whether the
// rollups come from a rebuild or from many merges.
func TestEqualDataGivesEqualBytes(t *testing.T) {
	testfiles.InLong(t, "TestAKilledExportIsMadeByTheNextProcess writes a dataset twice and compares the bytes")
	one, two, files := readSample(t), openFacts(t, 4), sampleFiles(t, sampleFills)
	parts, err := filepath.Glob(filepath.Join(files, "*"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(parts)
	for _, part := range parts {
		if filepath.Base(part) != "manifest.json" {
			mustImport(t, two, part)
		}
	}
	if err := two.Rebuild(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range export.Datasets() {
		for _, format := range []data.Format{data.Parquet, data.CSV} {
			a, fileA := exported(t, one, export.Exporter{}, name, format)
			b, fileB := exported(t, two, export.Exporter{}, name, format)
			textA, errA := os.ReadFile(a)
			textB, errB := os.ReadFile(b)
			if err := errors.Join(errA, errB); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(textA, textB) || fileA.SHA256 != fileB.SHA256 {
				t.Errorf("%s.%s differs: %d and %d bytes", name, format, len(textA), len(textB))
			}
		}
	}
}

// change modifies the database directly.
func change(t testing.TB, k *keeper.Keeper, statements ...string) {
	t.Helper()
	err := k.DB().Write(context.Background(), func(conn *sql.Conn) error {
		for _, s := range statements {
			if _, err := conn.ExecContext(context.Background(), s); err != nil {
				return fmt.Errorf("%.60s…: %w", s, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
