package engine

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"pmx/engine/guard"
)

// TestBesideReadsCommittedData on a separate connection, but not after a panic, and not while Close
// waits: it would wait for the caller.
func TestBesideReadsCommittedData(t *testing.T) {
	db, err := Open(context.Background(), Options{Dir: Dir(t.TempDir()), MemoryLimit: "1GB", Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	count := func(of *int64) func(conn *sql.Conn) error {
		return func(conn *sql.Conn) error {
			return conn.QueryRowContext(t.Context(), "SELECT count(*) FROM beside_rows").Scan(of)
		}
	}
	var closed <-chan error
	err = db.Write(t.Context(), func(writer *sql.Conn) error {
		if _, err := writer.ExecContext(t.Context(), "CREATE TABLE beside_rows AS SELECT range AS n FROM range(3)"); err != nil {
			return err
		}
		var rows int64
		if ran, err := db.Beside(t.Context(), count(&rows)); !ran || err != nil || rows != 3 {
			t.Errorf("next to the writer: ran %v, %d rows, %v", ran, rows, err)
		}
		failed := errors.New("failed")
		if ran, err := db.Beside(t.Context(), func(*sql.Conn) error { return failed }); !ran || !errors.Is(err, failed) {
			t.Errorf("a read that fails: ran %v, %v", ran, err)
		}
		if err := guard.Do(func() error {
			_, err := db.Beside(t.Context(), func(*sql.Conn) error { panic("a reader") })
			return err
		}); err == nil {
			t.Error("the panic is lost")
		}
		if ran, err := db.Beside(t.Context(), count(&rows)); !ran || err != nil {
			t.Errorf("after a panic: ran %v, %v", ran, err)
		}
		closed = guard.Start(db.Close)
		for db.gate.TryRLock() { // until Close waits
			db.gate.RUnlock()
			time.Sleep(time.Millisecond)
		}
		if ran, err := db.Beside(t.Context(), count(&rows)); ran || err != nil {
			t.Errorf("while Close waits: ran %v, %v", ran, err)
		}
		return nil
	})
	if err := errors.Join(err, <-closed); err != nil {
		t.Fatal(err)
	}
	if ran, err := db.Beside(t.Context(), func(*sql.Conn) error { return nil }); ran || err != nil {
		t.Errorf("on a closed file: ran %v, %v", ran, err)
	}
}
