package schema

import (
	"slices"
	"testing"
)

// TestFillsKeepTheirTimes: the migration to seconds and microseconds changes no fill and no order, whatever its time, and ts
// of a new one is what was stored.
func TestFillsKeepTheirTimes(t *testing.T) {
	db := migratedTo(t, 33)
	const columns = "concat_ws(' ', ts, wallet, token, side, role, shares, usd, fee, hex(tx), coalesce(log_index, -1), repeat, batch, coalesce(block, -1))"
	if _, err := db.ExecContext(t.Context(), `INSERT INTO fills
		SELECT ts + us, i, 2 * i, i % 2, i % 3, 3 * i, 5 * i, i - 7, CASE WHEN i % 5 > 0 THEN md5(i::VARCHAR)::BLOB END, CASE WHEN i % 4 > 0 THEN i END, 1, i // 100,
			CASE WHEN i % 6 > 0 THEN i END
		FROM (SELECT row_number() OVER () AS i, * FROM (SELECT unnest([1577836800000000, 1774396803000000, 253402300799000000, 1700000000000000]) AS ts),
			(SELECT unnest([0, 1, 999999, 500000, 0]) AS us), range(20)) AS r;
		DELETE FROM fills WHERE wallet % 11 = 0`); err != nil {
		t.Fatal(err)
	}
	before := column(t, db, "SELECT "+columns+" FROM fills ORDER BY rowid")
	if _, err := Migrate(t.Context(), db, nil); err != nil {
		t.Fatal(err)
	}
	if after := column(t, db, "SELECT "+columns+" FROM fills ORDER BY rowid"); len(before) != 364 || !slices.Equal(before, after) {
		t.Errorf("%d fills, %d after the migration", len(before), len(after))
	}
	if wrong := column(t, db, "SELECT count(*) FROM fills WHERE micros NOT BETWEEN 0 AND 999999 OR ts <> seconds * 1000000 + micros"); wrong[0] != "0" {
		t.Errorf("%s fills whose parts are not those of their time", wrong[0])
	}
}
