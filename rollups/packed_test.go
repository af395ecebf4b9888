package rollups

import (
	"database/sql"
	"fmt"
	"math"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"

	"pmx/data"
	"pmx/engine/schema"
)

// newestSchema is a database in memory with the newest schema.
func newestSchema(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := schema.Migrate(t.Context(), db, nil); err != nil {
		t.Fatal(err)
	}
	return db
}

// amountPairs are shares and dollars of every kind: plain ones, with millionths beyond hundredths, with prices of any precision, above a
// dollar, without the other, negative, and the largest.
const amountPairs = `SELECT shares::BIGINT AS shares, usd::BIGINT AS usd FROM (
	SELECT unnest([0, 1, 9999, 10000, 10001, 21739129, 1000000, 123450000, 99999999999999, -1, -10001, 9223372036854775807, -9223372036854775808]) AS shares) AS s, (
	SELECT unnest([0, 1, 5000, 540000, 11739130, 999999, 66666, 99999999999999, 100000000000000, -1, -5001, 9223372036854775807, -9223372036854775808]) AS usd) AS u`

// givenRows are rows of each rollup that is packed, with all its columns.
var givenRows = map[string]string{
	"position": `SELECT row_number() OVER ()::INTEGER AS token, 1 AS wallet, 2 AS fills, a.shares AS buy_shares, b.shares AS sell_shares, 3 AS fee_shares,
		a.usd AS buy_usd, b.usd AS sell_usd, 4 AS fee_usd
		FROM (` + amountPairs + `) AS a, (SELECT * FROM (` + amountPairs + `) USING SAMPLE reservoir(20 ROWS) REPEATABLE (7)) AS b`,
	"redemption": "SELECT row_number() OVER () AS resolved_at, 1 AS market, 2 AS wallet, usd FROM (" + amountPairs + ")",
	"candle": `SELECT row_number() OVER ()::INTEGER AS token, hour, 1 AS fills, usd, shares, -first AS opened, highest, lowest, last AS closed
		FROM (SELECT hour, shares, usd, (hour::HUGEINT * 3600000000 + us) * 4503599627370496 + (log::BIGINT + 1) * 1048576 + price AS first,
				greatest(price, 700000)::HUGEINT AS highest, -least(price, 699999)::HUGEINT AS lowest,
				(hour::HUGEINT * 3600000000 + 3599999999 - us) * 4503599627370496 + (log::BIGINT + 1) * 1048576 + 1000000 - price AS last
			FROM (SELECT unnest([0, 480000, 2147483647]) AS hour), (SELECT unnest([0, 999999, 1000000, 3599999999]) AS us),
				(SELECT unnest([-1, 0, 2147483647]) AS log), (SELECT unnest([0, 1, 500000, 540123, 1000000]) AS price),
				(SELECT * FROM (` + amountPairs + `) WHERE shares >= 0 AND usd >= 0)) AS trade
		UNION ALL
		SELECT 0, 5, 1, usd, shares, NULL, NULL, NULL, NULL FROM (` + amountPairs + `)`,
}

// What a base stores gives every row of a rollup back.
func TestPackedRowsAreExact(t *testing.T) {
	db := newestSchema(t)
	packed := 0
	for _, r := range tables {
		if r.packed == nil {
			continue
		}
		packed++
		var rows, differ int64
		if _, err := db.ExecContext(t.Context(), "CREATE TABLE given AS "+givenRows[r.name]); err != nil {
			t.Fatal(err)
		}
		if err := r.fillIn(t, db, "FROM given"); err != nil {
			t.Fatal(err)
		}
		stored := r.rows(r.name)
		err := db.QueryRowContext(t.Context(), fmt.Sprintf(`SELECT count(*), (SELECT count(*) FROM (%[1]s EXCEPT ALL SELECT %[2]s FROM given)) +
			(SELECT count(*) FROM (SELECT %[2]s FROM given EXCEPT ALL %[1]s)) FROM given`, stored, r.columnList())).Scan(&rows, &differ)
		if err != nil || rows < 100 || differ != 0 {
			t.Errorf("%s: %d rows, %d come back differently: %v", r.name, rows, differ, err)
		}
		if _, err := db.ExecContext(t.Context(), "DROP TABLE given"); err != nil {
			t.Fatal(err)
		}
	}
	if packed != len(givenRows) {
		t.Errorf("%d rollups are packed", packed)
	}
}

// fillIn is fill with a pool.
func (t table) fillIn(tb testing.TB, db *sql.DB, rows string) error {
	conn, err := db.Conn(tb.Context())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return t.fill(tb.Context(), conn, rows)
}

// The price that is stored is the nearest one in 10,000ths, whether SQL or Go packs; plain amounts have a rest of a millionth at most, and times of
// whole seconds take twelve bits.
func TestPackedAmountsAreSmall(t *testing.T) {
	for _, c := range []struct{ shares, usd, price, rest data.Micro }{
		{12_340_000, 6_663_600, 5_400, 0},      // 12.34 at 0.54
		{12_340_000, 6_663_601, 5_400, 1},      // rounded up
		{30_000, 2_001, 667, 0},                // 0.03 at 0.0667
		{21_739_129, 11_739_130, 5_400, 4_930}, // $11.73913 at 0.54: 9,129 millionths of a share cost 4,929
		{1_000_000, 2_000_000, 10_000, 1_000_000}, {9_999, 9_998, 9_999, 9_998},
		{0, 5, 0, 5}, {5, 0, 0, 0}, {-5, 7, 0, 7}, {5, -7, 0, -7},
		{math.MaxInt64, mostPriced, 0, mostPriced}, {math.MaxInt64, math.MaxInt64, 0, math.MaxInt64}, {1, mostPriced, 10_000, mostPriced},
	} {
		price := nearestPrice(c.usd, c.shares)
		if rest := c.usd - costAt(c.shares, price); price != c.price || rest != c.rest {
			t.Errorf("%d shares for %d have the price %d and the rest %d, want %d and %d", c.shares, c.usd, price, rest, c.price, c.rest)
		}
	}
	db := newestSchema(t)
	if err := tableNamed("position").fillIn(t, db, "FROM ("+givenRows["position"]+")"); err != nil {
		t.Fatal(err)
	}
	rows, err := db.QueryContext(t.Context(), "SELECT buy_shares, buy_usd, buy_hundredths, buy_beyond, buy_price, buy_rest FROM position")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	n := 0
	for ; rows.Next(); n++ {
		var shares, usd, hundredths, beyond, price, rest data.Micro
		if err := rows.Scan(&shares, &usd, &hundredths, &beyond, &price, &rest); err != nil {
			t.Fatal(err)
		}
		want := nearestPrice(usd, shares)
		if hundredths != shares/hundredth || beyond != shares%hundredth || price != want || rest != usd-costAt(shares, want) {
			t.Errorf("%d shares for %d are stored as %d and %d at %d and %d", shares, usd, hundredths, beyond, price, rest)
		}
	}
	if err := rows.Err(); err != nil || n < 1000 {
		t.Errorf("%d positions: %v", n, err)
	}
	if err := tableNamed("candle").fillIn(t, db, "FROM ("+givenRows["candle"]+")"); err != nil {
		t.Fatal(err)
	}
	var seconds int64
	if err := db.QueryRowContext(t.Context(), "SELECT max(opened_ts) FROM candle WHERE (-opened >> 52)::BIGINT % 1000000 = 0").Scan(&seconds); err != nil || seconds > 3599 {
		t.Errorf("times of whole seconds take up to %d: %v", seconds, err)
	}
}
