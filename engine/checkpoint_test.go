package engine_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"testing"
	"time"

	"pmx/engine"
)

// TestACheckpointWaitsForAMoment: one that DuckDB refuses, because another connection has its lock, is tried again until its context
// ends.
func TestACheckpointWaitsForAMoment(t *testing.T) {
	db := open(t, t.TempDir())
	run := func(conn *sql.Conn, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if _, err := conn.ExecContext(t.Context(), text); err != nil {
				t.Error(err)
			}
		}
	}
	if err := db.Write(t.Context(), func(conn *sql.Conn) error {
		run(conn, "CREATE TABLE own AS SELECT i FROM range(1000) r(i)")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	err := db.Read(engine.Lean(t.Context()), func(conn *sql.Conn) error {
		run(conn, "BEGIN", "CREATE TABLE other (i INTEGER)")
		short, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		if err := db.Checkpoint(short); err == nil {
			t.Error("it is made beside another writer")
		}
		made := make(chan error)
		go func() { made <- db.Checkpoint(t.Context()) }()
		select {
		case err := <-made:
			run(conn, "ROLLBACK")
			return fmt.Errorf("it ended before: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
		run(conn, "ROLLBACK")
		return <-made
	})
	if err != nil {
		t.Errorf("once the other writer ends: err = %v", err)
	}
	if st, err := os.Stat(db.Dir().Database() + ".wal"); err == nil && st.Size() > 0 {
		t.Errorf("the log has %d bytes afterwards", st.Size())
	}
}
