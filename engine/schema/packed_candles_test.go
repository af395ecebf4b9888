package schema

import (
	"slices"
	"testing"
)

// TestCandlesKeepTheirTrades: the migrations to packed candles lose nothing of a trade's number, whatever its time, log
// index and price.
func TestCandlesKeepTheirTrades(t *testing.T) {
	db := migratedTo(t, 32)
	// Times at both ends of an hour and within it, without and with microseconds; every kind of log index and price.
	if _, err := db.ExecContext(t.Context(), `INSERT INTO candle
		SELECT row_number() OVER () AS token, hour, 1, 2, 3, -number, price, -price, number
		FROM (SELECT hour, price, (hour::HUGEINT * 3600000000 + us) * 4503599627370496 + (log::BIGINT + 1) * 1048576 + price AS number
			FROM (SELECT unnest([0, 1, 480000, 2147483647]) AS hour),
				(SELECT unnest([0, 1, 999999, 1000000, 3599000000, 3599999999, 1234567890]) AS us),
				(SELECT unnest([-1, 0, 700, 2147483647]) AS log), (SELECT unnest([0, 1, 500000, 1000000]) AS price)) AS trade;
		INSERT INTO candle VALUES (0, 5, 1, 0, 0, NULL, NULL, NULL, NULL)`); err != nil {
		t.Fatal(err)
	}
	const columns = "concat_ws(' ', token, hour, fills, usd, shares, opened, highest, lowest, closed)"
	before := column(t, db, "SELECT "+columns+" FROM candle ORDER BY token, hour")
	if _, err := Migrate(t.Context(), db, nil); err != nil {
		t.Fatal(err)
	}
	after := column(t, db, "SELECT "+columns+" FROM candle ORDER BY token, hour")
	if len(before) != 1+4*7*4*4 || !slices.Equal(before, after) {
		t.Errorf("%d candles, %d after the migration: %s and %s", len(before), len(after), before[len(before)-1], after[len(after)-1])
	}
}
