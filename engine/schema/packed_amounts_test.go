package schema

import (
	"slices"
	"testing"
)

// TestAmountsStayAsTheyAre: the migration to packed amounts changes no amount and no order, whatever shares and dollars are, and candles
// keep prices that differ from their first one.
func TestAmountsStayAsTheyAre(t *testing.T) {
	db := migratedTo(t, 34)
	if _, err := db.ExecContext(t.Context(), `CREATE TEMP TABLE amounts AS SELECT row_number() OVER () AS n, shares::BIGINT AS shares, usd::BIGINT AS usd FROM
			(SELECT unnest([0, 1, 9999, 10000, 21739129, 1000000, 123450000, -1, -10001, 9223372036854775807, -9223372036854775808]) AS shares),
			(SELECT unnest([0, 1, 540000, 11739130, 999999, 99999999999999, 100000000000000, -1, 9223372036854775807, -9223372036854775808]) AS usd);
		INSERT INTO position SELECT 7, n, 3, shares, usd, 4, usd, shares, 5 FROM amounts;
		INSERT INTO redemption SELECT n, 2, 3, usd FROM amounts;
		INSERT INTO candle SELECT n, 480000, 3, usd, shares, 1799, (700::BIGINT << 20) + 540123, 1000000, -540122, 3600 * 999999::BIGINT + 3599, (3::BIGINT << 20) + 999999
		FROM amounts WHERE shares >= 0 AND usd >= 0;
		INSERT INTO candle SELECT n, 1, 3, usd, shares, NULL, NULL, NULL, NULL, NULL, NULL FROM amounts`); err != nil {
		t.Fatal(err)
	}
	tables := map[string]string{
		"position":   "token, wallet, fills, buy_shares, sell_shares, fee_shares, buy_usd, sell_usd, fee_usd",
		"redemption": "resolved_at, market, wallet, usd",
		"candle":     "token, hour, fills, usd, shares, highest, lowest, coalesce(highest, -1)",
	}
	rows := func() map[string][]string {
		all := map[string][]string{}
		for table, columns := range tables {
			all[table] = column(t, db, "SELECT concat_ws(' ', "+columns+") FROM "+table+" ORDER BY rowid")
		}
		return all
	}
	before := rows()
	if _, err := Migrate(t.Context(), db, nil); err != nil {
		t.Fatal(err)
	}
	after := rows()
	for table := range tables {
		if len(before[table]) < 100 || !slices.Equal(before[table], after[table]) {
			t.Errorf("%s: %d rows, %d after the migration", table, len(before[table]), len(after[table]))
		}
	}
	const trade = "SELECT concat_ws(' ', (-opened >> 52), (-opened & 4503599627370495), (closed >> 52), (closed & 4503599627370495)) FROM candle WHERE highest IS NOT NULL"
	for _, got := range column(t, db, trade) {
		if want := "1728001799000000 734543323 1728003599999999 4145727"; got != want {
			t.Fatalf("the first and the last trade are %s, want %s", got, want)
		}
	}
}
