package rollups

import (
	"database/sql"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
)

// Packing and unpacking gives every candle back, and a candle without a price has none.
func TestPackedCandlesAreExact(t *testing.T) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	candles := candleTable()
	for _, statement := range []string{
		`CREATE TABLE given AS
		SELECT row_number() OVER () AS token, hour, 1 AS fills, 2 AS usd, 3 AS shares, -number AS opened, price AS highest, -price AS lowest, number AS closed
		FROM (SELECT hour, price::HUGEINT AS price, (hour::HUGEINT * 3600000000 + us) * 4503599627370496 + (log::BIGINT + 1) * 1048576 + price AS number
			FROM (SELECT unnest([0, 1, 480000, 2147483647]) AS hour),
				(SELECT unnest([0, 1, 999999, 1000000, 3599000000, 3599999999, 1234567890]) AS us),
				(SELECT unnest([-1, 0, 700, 2147483647]) AS log), (SELECT unnest([0, 1, 500000, 1000000]) AS price)) AS trade`,
		"INSERT INTO given VALUES (0, 5, 1, 0, 0, NULL, NULL, NULL, NULL)",
		"CREATE TABLE candle AS SELECT " + candles.stored() + " FROM given",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	columns := candles.columnList()
	var rows, differ, seconds int64
	err = db.QueryRowContext(t.Context(), "SELECT count(*), (SELECT count(*) FROM (("+candles.baseRows()+") EXCEPT ALL (SELECT "+columns+" FROM given)))"+
		" + (SELECT count(*) FROM ((SELECT "+columns+" FROM given) EXCEPT ALL ("+candles.baseRows()+"))), (SELECT max(closed_ts) FROM candle WHERE closed_ts < 3600 AND token > 0) FROM given").
		Scan(&rows, &differ, &seconds)
	if err != nil || rows != 1+4*7*4*4 || differ != 0 {
		t.Errorf("%d candles, %d come back differently: %v", rows, differ, err)
	}
	if seconds != 3599 {
		t.Errorf("times of whole seconds take up to %d, want 3599", seconds)
	}
}
