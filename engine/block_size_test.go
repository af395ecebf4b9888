package engine_test

import (
	"context"
	"database/sql"
	"testing"

	"pmx/engine/enginetest"
)

// TestADatabaseKeepsTheSizeOfItsBlocks: one of an earlier version is opened and written without
// changing it.
func TestADatabaseKeepsTheSizeOfItsBlocks(t *testing.T) {
	for name, of := range map[string]struct {
		create func(dir string) error
		want   int64
	}{"new": {enginetest.Create, 128 << 10}, "older": {enginetest.CreateOlder, enginetest.OldBlocks}} {
		dir := t.TempDir()
		if err := of.create(dir); err != nil {
			t.Fatal(err)
		}
		for round := range int64(2) {
			db := open(t, dir)
			var size, rows int64
			err := db.Write(context.Background(), func(conn *sql.Conn) error {
				if _, err := conn.ExecContext(t.Context(), "CREATE TABLE IF NOT EXISTS kept (n BIGINT); INSERT INTO kept FROM range(300_000)"); err != nil {
					return err
				}
				return conn.QueryRowContext(t.Context(), `SELECT block_size::BIGINT, (SELECT count(*) FROM kept)
					FROM pragma_database_size() WHERE database_name = current_database()`).Scan(&size, &rows)
			})
			if err != nil || size != of.want || rows != 300_000*(round+1) {
				t.Errorf("%s: blocks of %d bytes, want %d; %d rows: %v", name, size, of.want, rows, err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
