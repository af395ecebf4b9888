package rollups_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmx/data"
	"pmx/rollups"
)

// beforePacking makes the bases that migration 35 packs as they were before it.
const beforePacking = `
CREATE TABLE was AS SELECT token, wallet, fills, buy_shares, sell_shares, fee_shares, buy_usd, sell_usd, fee_usd FROM position;
DROP TABLE position;
ALTER TABLE was RENAME TO position;
CREATE TABLE was AS SELECT resolved_at, market, wallet, usd FROM redemption;
DROP TABLE redemption;
ALTER TABLE was RENAME TO redemption;
CREATE TABLE was AS SELECT token, hour, fills, usd, shares, opened_ts, opened_at, highest::INTEGER AS highest, lowest::INTEGER AS lowest,
  opened_ts + lasted AS closed_ts, opened_at + moved AS closed_at FROM candle;
DROP TABLE candle;
ALTER TABLE was RENAME TO candle;`

// Bases that the migration packed are used like any others, with deltas from before it too: fills are replaced, tokens are mapped late, rows are
// folded, and every number is that of the facts.
func TestBasesThatTheMigrationPackedAreUsedOn(t *testing.T) {
	file, err := os.ReadFile(filepath.FromSlash("../engine/schema/migrations/00035_packed_amounts.sql"))
	if err != nil {
		t.Fatal(err)
	}
	up, _, _ := strings.Cut(string(file), "-- +goose Down")
	v := newVenue(t, stepsAroundAMigration())
	defer v.close()
	check := func() {
		t.Helper()
		v.compareCandles(t)
		v.verify(t)
	}
	fold := func(ctx context.Context, conn *sql.Conn) error { return rollups.CompactAll(ctx, conn, 5) }
	v.importStep(0)
	v.write(fold)
	if r := v.importStep(1); r.Replaced == 0 {
		t.Fatalf("no fill is replaced: %+v", r)
	}
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, beforePacking+up)
		return err
	})
	for _, query := range []string{"FROM position", "FROM position_delta WHERE fee_shares + fee_usd > 0", "FROM candle", "FROM candle WHERE opened IS NULL",
		"FROM redemption", "FROM position WHERE buy_beyond <> 0", "FROM position WHERE buy_rest > 1"} {
		if n := v.lines("SELECT count(*)::VARCHAR " + query); n[0] == "0" {
			t.Errorf("there is nothing %s", query)
		}
	}
	check()
	if r := v.importStep(2); r.Replaced == 0 {
		t.Fatalf("no fill is replaced: %+v", r)
	}
	check()
	v.write(fold)
	check()
}

// stepsAroundAMigration are fills with shares and dollars of every kind, of which later steps replace some, and markets of which the last step
// maps and resolves one.
func stepsAroundAMigration() []step {
	amounts := []struct{ shares, usd data.Micro }{
		{10 * data.One, 5 * data.One}, {12_340_001, 6_663_601}, {1, 1}, {0, 70_000}, {30_000, 2_001}, {9_999, 9_998}, {400_000 * data.One, 399_999_990_001},
	}
	var first, second, third []data.Fill
	for n := range 84 {
		a := amounts[n%len(amounts)]
		f := data.Fill{Tx: tx(n), LogIndex: data.NoIndex, TS: start.UnixMicro() + int64(n/6)*1_700_000_000, Wallet: address(1 + n%4), TokenID: token(n/7%3, n%2),
			Shares: a.shares, USD: a.usd, Outcome: data.NoIndex}
		if n%5 == 0 {
			f.Side = data.Sell
		}
		if f.Shares == 0 {
			f.TS += 100 * 3_600_000_000 // an hour without a price
		}
		first = append(first, f)
		known := f
		known.LogIndex, known.Role, known.Fee = int32(n), []data.Role{data.Taker, data.Maker}[n%2], data.Micro(n%3)
		switch n % 6 {
		case 1:
			second = append(second, known)
		case 2:
			third = append(third, known)
		case 3:
			known.Tx, known.TS = tx(1000+n), f.TS+1
			second = append(second, known)
		}
	}
	market := func(n int) data.Market {
		return data.Market{Condition: condition(n), UpdatedAt: start, TokenIDs: []string{token(n, 0), token(n, 1)}, Outcomes: []string{"Yes", "No"},
			Resolution: &data.Resolution{Condition: condition(n), Payouts: []data.Micro{300_000, 700_000}, ResolvedAt: start, Source: data.ResolvedByAPI, Version: start}}
	}
	return []step{
		{fills: first, markets: []data.Market{market(0), market(1)}},
		{fills: second},
		{fills: third, markets: []data.Market{market(2)}},
	}
}
