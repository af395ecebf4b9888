package schema

import (
	"context"
	"fmt"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
)

// TestFieldsThatWereKnownAreOfTheirRow: in the migration to versions of fields, all known fields,
// and all parts of a quote, get the version of their row, and an unknown quote stays unknown.
func TestFieldsThatWereKnownAreOfTheirRow(t *testing.T) {
	ctx := context.Background()
	db := migratedTo(t, 22)
	for i, row := range []string{"NULL, NULL", "7, {'at': 7, 'bid': 1, 'ask': 2, 'last': 3, 'liquidity': 4}", "7, {'at': 5, 'bid': 1, 'ask': NULL, 'last': NULL, 'liquidity': 4}",
		"NULL, {'at': NULL, 'bid': NULL, 'ask': NULL, 'last': NULL, 'liquidity': NULL}", "7, NULL"} {
		if _, err := db.ExecContext(ctx, fmt.Sprintf("INSERT INTO markets (market, condition, updated_at, quote) VALUES (%d, 'c%[1]d'::BLOB, %s)", i, row)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Migrate(ctx, db, nil); err != nil {
		t.Fatal(err)
	}
	rows, err := db.QueryContext(ctx, "SELECT coalesce(quote::VARCHAR, '-'), field_versions IS NULL FROM markets ORDER BY market")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for _, want := range []string{"-",
		"{'at': 7, 'bid': 1, 'ask': 2, 'last_at': 7, 'last': 3, 'liquidity_at': 7, 'liquidity': 4}",
		"{'at': 5, 'bid': 1, 'ask': NULL, 'last_at': 5, 'last': NULL, 'liquidity_at': 5, 'liquidity': 4}",
		"{'at': 0, 'bid': NULL, 'ask': NULL, 'last_at': 0, 'last': NULL, 'liquidity_at': 0, 'liquidity': NULL}",
		"{'at': 7, 'bid': NULL, 'ask': NULL, 'last_at': 7, 'last': NULL, 'liquidity_at': 7, 'liquidity': NULL}"} {
		var got string
		var own bool
		if !rows.Next() || rows.Scan(&got, &own) != nil || got != want || !own {
			t.Errorf("got %s, own = %v, want %s", got, own, want)
		}
	}
	if rows.Next() || rows.Err() != nil {
		t.Errorf("more rows, or %v", rows.Err())
	}
}
