package engine_test

import (
	"context"
	"database/sql"
	"os"
	"testing"

	"pmx/engine"
)

// TestADatabaseKeepsTheSizeOfItsBlocks: that of an older version is opened and written to as it is.
func TestADatabaseKeepsTheSizeOfItsBlocks(t *testing.T) {
	for name, want := range map[string]int64{"new": 64 << 10, "older": 256 << 10} {
		dir := engine.Dir(t.TempDir())
		if name == "older" {
			old, err := sql.Open("duckdb", dir.Database())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := old.Exec("CREATE TABLE kept AS SELECT 1 AS n"); err != nil {
				t.Fatal(err)
			}
			if err := old.Close(); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			db := open(t, string(dir))
			var size int64
			err := db.Write(context.Background(), func(conn *sql.Conn) error {
				if _, err := conn.ExecContext(t.Context(), "CREATE TABLE IF NOT EXISTS kept (n BIGINT); INSERT INTO kept FROM range(300_000)"); err != nil {
					return err
				}
				return conn.QueryRowContext(t.Context(), "SELECT block_size::BIGINT FROM pragma_database_size() WHERE database_name = current_database()").Scan(&size)
			})
			if err != nil || size != want {
				t.Errorf("%s: blocks of %d bytes, want %d: %v", name, size, want, err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := os.Stat(dir.Database()); err != nil {
			t.Error(err)
		}
	}
}
