package engine_test

import (
	"context"
	"database/sql"
	"testing"

	"pmx/engine/enginetest"
)

// TestADatabaseKeepsItsFormat: one of an earlier version is opened and written without changing the size of its blocks
// or its storage version.
func TestADatabaseKeepsItsFormat(t *testing.T) {
	for name, of := range map[string]struct {
		create          func(dir string) error
		want            int64
		version, hashes string
	}{"new": {enginetest.Create, 128 << 10, "v1.3.0+", "DICT_FSST"}, "older": {enginetest.CreateOlder, enginetest.OldBlocks, "v1.0.0+", "an older form"}} {
		dir := t.TempDir()
		if err := of.create(dir); err != nil {
			t.Fatal(err)
		}
		for round := range int64(2) {
			db := open(t, dir)
			var size, rows int64
			var version, hashes string
			err := db.Write(context.Background(), func(conn *sql.Conn) error {
				if _, err := conn.ExecContext(t.Context(), `CREATE TABLE IF NOT EXISTS kept (n BIGINT, tx BLOB);
					INSERT INTO kept SELECT range, unhex(sha256((range // 3)::VARCHAR)) FROM range(300_000)`); err != nil {
					return err
				}
				if _, err := conn.ExecContext(t.Context(), "CHECKPOINT"); err != nil {
					return err
				}
				return conn.QueryRowContext(t.Context(), `SELECT block_size::BIGINT, (SELECT count(DISTINCT tx) * 3 + count(*) FROM kept),
						(SELECT tags['storage_version'] FROM duckdb_databases() WHERE database_name = current_database()),
						-- By samples, DuckDB chooses one of several older forms.
						(SELECT string_agg(DISTINCT CASE compression WHEN 'DICT_FSST' THEN compression ELSE 'an older form' END)
							FROM pragma_storage_info('kept') WHERE segment_type = 'BLOB')
					FROM pragma_database_size() WHERE database_name = current_database()`).Scan(&size, &rows, &version, &hashes)
			})
			if err != nil || size != of.want || rows != 300_000*(round+2) || version != of.version || hashes != of.hashes {
				t.Errorf("%s: blocks of %d bytes, want %d; %d rows; version %s, want %s; hashes in %s, want %s: %v",
					name, size, of.want, rows, version, of.version, hashes, of.hashes, err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
