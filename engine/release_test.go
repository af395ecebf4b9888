package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"pmx/engine"
)

// TestBlocksThatWereReadAreReleased: while nobody reads, blocks are released and can be read again,
// temporary tables stay in memory, and the limit is unchanged afterwards.
func TestBlocksThatWereReadAreReleased(t *testing.T) {
	ctx, db := context.Background(), open(t, t.TempDir())
	const numbers = "SELECT sum(n)::VARCHAR FROM kept"
	sum := func(conn *sql.Conn) (n string) {
		t.Helper()
		if err := conn.QueryRowContext(ctx, numbers).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var whole string
	must(db.Write(ctx, func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, `CREATE TABLE kept AS SELECT (hash(range) >> 20)::BIGINT AS n FROM range(3_000_000);
			CREATE TEMP TABLE beside AS SELECT hash(range) AS h FROM range(1_000_000)`)
		return err
	}))
	must(db.Checkpoint(ctx))
	look := func() (blocks, spilled int64, limit string) {
		t.Helper()
		must(db.Read(ctx, func(conn *sql.Conn) error {
			return conn.QueryRowContext(ctx, `SELECT sum(memory_usage_bytes) FILTER (tag = 'BASE_TABLE')::BIGINT, sum(temporary_storage_bytes)::BIGINT,
				current_setting('memory_limit') FROM duckdb_memory()`).Scan(&blocks, &spilled, &limit)
		}))
		return blocks, spilled, limit
	}
	must(db.Read(ctx, func(conn *sql.Conn) error {
		whole = sum(conn)
		if done, err := db.ReleaseBlocks(ctx, 0); done || err != nil {
			t.Errorf("while somebody reads: %v, %v", done, err)
		}
		return nil
	}))
	full, _, before := look()
	if full < 12<<20 {
		t.Fatalf("%d MB of blocks are in memory: too few to see what becomes of them", full>>20)
	}
	if done, err := db.ReleaseBlocks(ctx, full); !done || err != nil {
		t.Errorf("with a bound of what there is: %v, %v", done, err)
	}
	if same, _, _ := look(); same != full {
		t.Errorf("%d MB of blocks are left of %d, although all may stay", same>>20, full>>20)
	}
	done, err := db.ReleaseBlocks(ctx, 0)
	if !done || err != nil {
		t.Fatalf("done = %v, err = %v", done, err)
	}
	left, spilled, limit := look()
	if left > 5<<20 || spilled != 0 || limit != before {
		t.Errorf("%d MB of blocks of %d are left, %d bytes in temporary files, limit %s, before %s", left>>20, full>>20, spilled, limit, before)
	}
	must(db.Read(ctx, func(conn *sql.Conn) error {
		if got := sum(conn); got != whole {
			t.Errorf("the sum is %s, before %s", got, whole)
		}
		_, err := conn.ExecContext(ctx, "SET threads = 1")
		if err == nil {
			t.Error("a setting could be changed")
		}
		return nil
	}))
	must(db.Close())
	if done, err := db.ReleaseBlocks(ctx, 0); done || err != nil {
		t.Errorf("once it is closed: %v, %v", done, err)
	}
}

// TestDeletedRowsStayWhereTheyAre: information about deleted rows cannot be evicted. That is found
// out once; then it is left in place until a checkpoint.
func TestDeletedRowsStayWhereTheyAre(t *testing.T) {
	ctx, db := context.Background(), open(t, t.TempDir())
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(db.Write(ctx, func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, "CREATE TABLE kept AS SELECT (hash(range) >> 20)::BIGINT AS n FROM range(3_000_000)")
		return err
	}))
	must(db.Checkpoint(ctx))
	must(db.Write(ctx, func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, "DELETE FROM kept WHERE n % 7 = 0")
		return err
	}))
	release := func() (left, spilled int64) {
		t.Helper()
		must(db.Write(ctx, func(conn *sql.Conn) error {
			_, err := conn.ExecContext(ctx, "CREATE OR REPLACE TEMP TABLE beside AS SELECT hash(range) AS h FROM range(1_000_000)")
			return errors.Join(err, conn.QueryRowContext(ctx, "SELECT (sum(n) % 2)::BIGINT FROM kept").Scan(new(int64)))
		}))
		done, err := db.ReleaseBlocks(ctx, 0)
		if !done || err != nil {
			t.Fatalf("done = %v, err = %v", done, err)
		}
		must(db.Read(ctx, func(conn *sql.Conn) error {
			return conn.QueryRowContext(ctx, `SELECT sum(memory_usage_bytes) FILTER (tag = 'BASE_TABLE')::BIGINT, sum(temporary_storage_bytes)::BIGINT
				FROM duckdb_memory()`).Scan(&left, &spilled)
		}))
		return left, spilled
	}
	first, _ := release()
	if first < 8<<20 {
		t.Fatalf("%d MB stay: DuckDB evicts what it knows of deleted rows, and nothing needs to be kept", first>>20)
	}
	if again, spilled := release(); spilled != 0 || again > first+5<<20 { // 4 MB are left on purpose
		t.Errorf("the second time %d MB stay and %d bytes are in temporary files; the first time %d MB stayed", again>>20, spilled, first>>20)
	}
}

// TestMemoryIsBounded: DuckDB's limit is set to the requested one but never above the usual one,
// blocks are evicted, releasing blocks does not change the limit, and 0 restores the usual one.
func TestMemoryIsBounded(t *testing.T) {
	ctx, db := context.Background(), open(t, t.TempDir())
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	look := func() (blocks int64, limit string) {
		t.Helper()
		must(db.Read(engine.Lean(ctx), func(conn *sql.Conn) error {
			return conn.QueryRowContext(ctx, `SELECT coalesce(sum(memory_usage_bytes) FILTER (tag = 'BASE_TABLE'), 0)::BIGINT, current_setting('memory_limit')
				FROM duckdb_memory()`).Scan(&blocks, &limit)
		}))
		return blocks, limit
	}
	bound := func(most int64) (err error) {
		return db.Write(ctx, func(conn *sql.Conn) error { return db.BoundMemory(ctx, conn, most) })
	}
	must(db.Write(ctx, func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, "CREATE TABLE kept AS SELECT (hash(range) >> 20)::BIGINT AS n FROM range(5_000_000)")
		return err
	}))
	must(db.Checkpoint(ctx))
	must(db.Read(ctx, func(conn *sql.Conn) error {
		return conn.QueryRowContext(ctx, "SELECT (sum(n) % 2)::BIGINT FROM kept").Scan(new(int64))
	}))
	full, usual := look()
	must(bound(1 << 50))
	if _, limit := look(); limit != usual || full < 24<<20 {
		t.Errorf("with a very large bound, the limit is %s, before %s; %d MB are read", limit, usual, full>>20)
	}
	must(bound(16 << 20))
	if blocks, limit := look(); limit != "16.0 MiB" || blocks > 16<<20 {
		t.Errorf("the limit is %s, and %d MB of blocks are left of %d", limit, blocks>>20, full>>20)
	}
	if done, err := db.ReleaseBlocks(ctx, 0); !done || err != nil {
		t.Errorf("done = %v, err = %v", done, err)
	}
	if _, limit := look(); limit != "16.0 MiB" {
		t.Errorf("after blocks were released, the limit is %s", limit)
	}
	must(db.Write(ctx, func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, "CREATE TEMP TABLE beside AS SELECT range AS n FROM range(100_000)")
		return err
	}))
	if err := bound(1); err == nil {
		t.Error("it can be lowered below what is in use")
	}
	if _, limit := look(); limit != "16.0 MiB" {
		t.Errorf("after it could not be lowered, the limit is %s", limit)
	}
	for name, restore := range map[string]func() error{
		"0":             func() error { return bound(0) },
		"UnboundMemory": func() error { return db.UnboundMemory(ctx) },
		"a read":        func() error { return db.Read(ctx, func(*sql.Conn) error { return nil }) },
	} {
		must(bound(16 << 20))
		if _, limit := look(); limit != "16.0 MiB" {
			t.Errorf("the limit is %s", limit)
		}
		must(restore())
		if _, limit := look(); limit != usual {
			t.Errorf("after %s the limit is %s, before %s", name, limit, usual)
		}
	}
	must(db.Read(ctx, func(*sql.Conn) error { return bound(16 << 20) }))
	if _, limit := look(); limit != usual {
		t.Errorf("during a read the limit was lowered to %s", limit)
	}
}
