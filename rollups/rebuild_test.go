package rollups_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"slices"
	"strings"
	"testing"

	"pmx/engine"
	"pmx/rollups"
)

// TestARebuildDoesNotRememberOldRows: the rows that a rebuild replaces take no memory until its end, are there again if it fails, and
// the tables are defined as before.
func TestARebuildDoesNotRememberOldRows(t *testing.T) {
	const rows = 2_000_000
	v := newVenue(t, nil)
	defer v.close()
	number := func(ctx context.Context, conn *sql.Conn, query string) (n int64) {
		t.Helper()
		if err := conn.QueryRowContext(ctx, query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	definitions := func(ctx context.Context, conn *sql.Conn) (all []string) {
		t.Helper()
		err := engine.Each(ctx, conn, "SELECT sql FROM duckdb_tables() WHERE NOT internal AND NOT temporary ORDER BY table_name", func(row []driver.Value) error {
			all = append(all, strings.ReplaceAll(row[0].(string), `"HUGEINT"`, "HUGEINT")) // it has quotes until the file is opened again
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, "INSERT INTO wallet_day SELECT r // 1000, r % 1000, 1, 1, 1, 1 FROM range(2000000) AS t(r)")
		return err
	})
	if err := v.db.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	const held = "SELECT sum(memory_usage_bytes)::BIGINT FROM duckdb_memory() WHERE tag IN ('BASE_TABLE', 'TRANSACTION')"
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		was, before := definitions(ctx, conn), number(ctx, conn, held)
		if n := number(ctx, conn, "SELECT (SELECT count(*) FROM duckdb_indexes()) + (SELECT count(*) FROM duckdb_columns() WHERE comment IS NOT NULL AND NOT ends_with(table_name, 'fills'))"+
			" + (SELECT count(*) FROM duckdb_tables() WHERE comment IS NOT NULL)"); n != 0 {
			t.Errorf("%d indexes and comments, which a rebuild would not make again", n)
		}
		stopped, stop := context.WithCancel(ctx)
		defer stop()
		err := rollups.Rebuild(stopped, v.db, conn, nil, func(name string, _, _ int) {
			if name != "token_day" { // the one after wallet_day
				return
			}
			if more := number(ctx, conn, held) - before; more > rows {
				t.Errorf("the old rows take %d bytes, %d each", more, more/rows)
			}
			stop()
		})
		if err == nil {
			t.Error("a rebuild went on after it was stopped")
		}
		if n := number(ctx, conn, "SELECT count(*) FROM wallet_day"); n != rows {
			t.Errorf("%d rows after a rebuild that failed", n)
		}
		if err := rollups.Rebuild(ctx, v.db, conn, nil, nil); err != nil {
			return err
		}
		if n := number(ctx, conn, "SELECT count(*) FROM wallet_day"); n != 0 {
			t.Errorf("%d rows of no facts", n)
		}
		if is := definitions(ctx, conn); !slices.Equal(is, was) {
			t.Errorf("the tables are\n%q\nand were\n%q", is, was)
		}
		return nil
	})
}
