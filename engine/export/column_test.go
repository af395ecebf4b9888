package export

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"testing"

	"pmx/data"
	"pmx/engine"
)

// TestRatioIsTheDatasOwn: the expression gives the same as package data, in 64 bits, in 128, and at
// the limit between them.
func TestRatioIsTheDatasOwn(t *testing.T) {
	ctx := context.Background()
	db, err := engine.Open(ctx, engine.Options{Dir: engine.Dir(t.TempDir()), Threads: 1, MemoryLimit: "1GB"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	var values []int64
	for _, v := range []int64{0, 1, 2, 3, 999_999, 1_000_000, 8_999_999_999_999, 9_000_000_000_000, 9_000_000_000_001, 199_999_999_999_999_999, 200_000_000_000_000_000,
		200_000_000_000_000_001, 9_223_372_036_854_775_807} {
		values = append(values, v, -v)
	}
	if err := db.Read(ctx, func(conn *sql.Conn) error {
		for _, a := range values {
			for _, b := range values {
				var got sql.NullInt64
				text := fmt.Sprintf("SELECT %s FROM (SELECT (%d)::BIGINT AS a, (%d)::BIGINT AS b)", ratio("a", "b"), a, b)
				if err := conn.QueryRowContext(ctx, text).Scan(&got); err != nil {
					return err
				}
				want, ok := data.Ratio(data.Micro(a), data.Micro(b))
				if got.Valid != ok || data.Micro(got.Int64) != want {
					t.Errorf("%d / %d: got %v, want %d, ok = %v", a, b, got, want, ok)
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// SetShardRows makes shards of so few fills until the returned function is called.
func SetShardRows(n int64) (reset func()) {
	wallets, tokens := shardRows, tokenShardRows
	shardRows, tokenShardRows = n, n
	return func() { shardRows, tokenShardRows = wallets, tokens }
}

// The tables that a dataset of a lake is read from decide whether it is written again: every table
// that its query names must be listed.
func TestTablesOfALakeAreRead(t *testing.T) {
	named := regexp.MustCompile(`(?:FROM|JOIN) ([a-z_]+)(?:[^a-z_(]|$)`)
	for _, table := range lakeTables {
		found := map[string]bool{}
		for _, m := range named.FindAllStringSubmatch(tableQuery(table.dataset, nil, ""), -1) {
			found[m[1]] = true
		}
		if names := slices.Sorted(maps.Keys(found)); !slices.Equal(names, slices.Sorted(slices.Values(table.from))) {
			t.Errorf("%s is read from %v, and written again if one of %v changes", table.dataset, names, table.from)
		}
	}
}
