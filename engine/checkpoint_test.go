package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pmx/data/testfiles"
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

// TestNoCheckpointBesideAnOlderQuery: a query that began before an UPDATE puts a checkpoint off, and a Freeze waits for its end.
func TestNoCheckpointBesideAnOlderQuery(t *testing.T) {
	db := open(t, t.TempDir())
	write := func(text string) {
		t.Helper()
		if err := db.Write(t.Context(), func(conn *sql.Conn) error {
			_, err := conn.ExecContext(t.Context(), text)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	freeze := func() error {
		return db.Freeze(t.Context(), func(context.Context, engine.Frozen) error { return nil })
	}
	write("CREATE TABLE own AS SELECT i FROM range(1000) r(i)")
	frozen := make(chan error)
	err := db.Read(t.Context(), func(conn *sql.Conn) error {
		for _, text := range []string{"BEGIN", "SELECT count(*) FROM own"} {
			if _, err := conn.ExecContext(t.Context(), text); err != nil {
				return err
			}
		}
		write("UPDATE own SET i = 7 WHERE i = 3")
		if err := db.Checkpoint(t.Context()); !errors.Is(err, engine.ErrCheckpointRefused) {
			t.Errorf("beside an older query: err = %v", err)
		}
		if db.CheckpointOwed().IsZero() {
			t.Error("no checkpoint is owed")
		}
		engine.FreezeWithin(t, time.Millisecond)
		if err := freeze(); !errors.Is(err, engine.ErrCheckpointRefused) {
			t.Errorf("a freeze that does not wait: err = %v", err)
		}
		engine.FreezeWithin(t, time.Minute)
		go func() { frozen <- freeze() }()
		write("INSERT INTO own VALUES (8)") // not held up
		select {
		case err := <-frozen:
			t.Errorf("a freeze ended beside an older query: %v", err)
			go func() { frozen <- nil }()
		case <-time.After(50 * time.Millisecond):
		}
		_, err := conn.ExecContext(t.Context(), "COMMIT")
		return err
	})
	if err := errors.Join(err, <-frozen, db.Checkpoint(t.Context())); err != nil {
		t.Error(err)
	}
	if st, err := os.Stat(db.Dir().Database() + ".wal"); err == nil && st.Size() > 0 {
		t.Errorf("the log has %d bytes afterwards", st.Size())
	}
	if at := db.CheckpointOwed(); !at.IsZero() {
		t.Errorf("a checkpoint is owed since %v afterwards", at)
	}
}

// TestACheckpointIsOwedWhileTheDiskIsFull: until there is room and it is made.
func TestACheckpointIsOwedWhileTheDiskIsFull(t *testing.T) {
	dir := testfiles.Disk(t, "size=64m")
	db := open(t, dir)
	if err := db.Write(t.Context(), func(conn *sql.Conn) error {
		_, err := conn.ExecContext(t.Context(), "CREATE TABLE own AS SELECT i FROM range(1000) r(i)")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(dir, "filler")
	testfiles.Fill(t, filler)
	if err := db.Checkpoint(t.Context()); !errors.Is(err, engine.ErrDiskFull) || db.CheckpointOwed().IsZero() {
		t.Errorf("on a full disk: err = %v, owed since %v", err, db.CheckpointOwed())
	}
	if err := errors.Join(os.Remove(filler), db.Checkpoint(t.Context())); err != nil || !db.CheckpointOwed().IsZero() {
		t.Errorf("with room: err = %v, owed since %v", err, db.CheckpointOwed())
	}
}

// TestAWaitingFreezeLetsOthersWrite: while a Freeze waits for an older query, a writer waits for a brief try at most, except for one in twenty.
func TestAWaitingFreezeLetsOthersWrite(t *testing.T) {
	db := open(t, t.TempDir())
	waited := time.Duration(0)
	write := func(text string) {
		t.Helper()
		began := time.Now()
		if err := db.Write(t.Context(), func(conn *sql.Conn) error {
			waited += time.Since(began)
			_, err := conn.ExecContext(t.Context(), text)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	write("CREATE TABLE own AS SELECT i FROM range(1000) r(i)")
	frozen := make(chan error)
	err := db.Read(t.Context(), func(conn *sql.Conn) error {
		for _, text := range []string{"BEGIN", "SELECT count(*) FROM own"} {
			if _, err := conn.ExecContext(t.Context(), text); err != nil {
				return err
			}
		}
		write("UPDATE own SET i = 7 WHERE i = 3")
		go func() {
			frozen <- db.Freeze(t.Context(), func(context.Context, engine.Frozen) error { return nil })
		}()
		time.Sleep(100 * time.Millisecond)
		write("INSERT INTO own VALUES (8)") // after the first try, which lasts a second
		waited = 0
		for range 8 {
			time.Sleep(150 * time.Millisecond)
			write("INSERT INTO own VALUES (9)")
		}
		if waited > 2*time.Second {
			t.Errorf("eight writers waited for %v", waited)
		}
		_, err := conn.ExecContext(t.Context(), "COMMIT")
		return err
	})
	if err := errors.Join(err, <-frozen); err != nil {
		t.Error(err)
	}
}
