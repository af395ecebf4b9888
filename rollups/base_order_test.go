package rollups_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"pmx/data"
	"pmx/rollups"
)

// Rows that take few bits are next to each other, such as those of what was only bought or at one price, whether they were computed at once or folded.
func TestBasesAreInTheirOrder(t *testing.T) {
	var fills []data.Fill
	for n := range 400 {
		f := data.Fill{Tx: tx(n), LogIndex: data.NoIndex, TS: start.UnixMicro() + int64(n/8)*900_000_000, Wallet: address(n * 7 % 31),
			TokenID: token(n%5, n%2), Shares: 10*data.One + data.Micro(n%4/3), USD: data.Micro(1+n%9) * data.One, Outcome: data.NoIndex}
		if n*7%31%3 == 0 || n*7%31%3 == 1 && n%4 == 0 {
			f.Side = data.Sell
		}
		fills = append(fills, f)
	}
	var markets []data.Market
	for n := range 5 {
		paid := []data.Micro{data.One, 0}
		markets = append(markets, data.Market{Condition: condition(n), UpdatedAt: start, TokenIDs: []string{token(n, 0), token(n, 1)}, Outcomes: []string{"Yes", "No"},
			Resolution: &data.Resolution{Condition: condition(n), Payouts: paid, ResolvedAt: start.Add(time.Duration(n%2) * time.Hour), Source: data.ResolvedByAPI, Version: start}})
	}
	v := newVenue(t, []step{{fills: fills, markets: markets}})
	defer v.close()
	v.importStep(0)
	const (
		sides   = "CASE WHEN sell_usd = 0 THEN 0 WHEN buy_usd = 0 THEN 1 ELSE 2 END"
		odd     = "(buy_beyond <> 0 OR sell_beyond <> 0 OR buy_rest NOT IN (0, 1) OR sell_rest NOT IN (0, 1))::INTEGER"
		oddHour = "(beyond <> 0 OR rest NOT IN (0, 1) OR above <> 0 OR below <> 0)::INTEGER"
	)
	check := func(how string) {
		t.Helper()
		for table, order := range map[string]string{
			"position":     "[token // 256, " + sides + ", " + odd + ", token, wallet]",
			"candle":       "[token // 256, " + oddHour + ", (fills > 1)::INTEGER, token, hour]",
			"wallet_day":   "[day, " + sides + ", (log2(greatest(buy_usd, sell_usd, 1)) / 4)::TINYINT, wallet]",
			"token_day":    "[day, token]",
			"wallet_total": "[wallet]",
			"redemption":   "[resolved_at, market, (usd % 10000 <> 0)::INTEGER, usd, wallet]",
			"oracle_bin":   "[wallet // 65536, least(log2(greatest(forecasts, 1)), 6)::TINYINT, bin, wallet]",
		} {
			v.write(func(ctx context.Context, conn *sql.Conn) error {
				var rows, wrong int
				err := conn.QueryRowContext(ctx, fmt.Sprintf(`SELECT count(*), count(*) FILTER (place <= before)
					FROM (SELECT place, lag(place) OVER (ORDER BY rowid) AS before FROM (SELECT rowid, %s AS place FROM %s))`, order, table)).Scan(&rows, &wrong)
				if err != nil || rows < 10 || wrong > 0 {
					t.Errorf("%s, %s: %d rows, %d of them after one that they should precede: %v", table, how, rows, wrong, err)
				}
				return nil
			})
		}
	}
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		var kinds int
		if err := conn.QueryRowContext(ctx, "SELECT count(DISTINCT "+sides+") FROM position_delta").Scan(&kinds); err != nil || kinds < 3 {
			t.Errorf("positions of %d kinds: %v", kinds, err)
		}
		return nil
	})
	v.write(func(ctx context.Context, conn *sql.Conn) error { return rollups.CompactAll(ctx, conn, 1<<20) })
	check("folded")
	v.rebuild()
	check("computed at once")
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		var positions, hours int
		err := conn.QueryRowContext(ctx, "SELECT (SELECT count(DISTINCT "+odd+") FROM position), (SELECT count(DISTINCT ("+oddHour+", fills > 1)) FROM candle)").Scan(&positions, &hours)
		if err != nil || positions < 2 || hours < 3 {
			t.Errorf("positions and hours of %d and %d kinds: %v", positions, hours, err)
		}
		return nil
	})
	v.verify(t)
}
