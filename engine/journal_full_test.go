package engine

import (
	"database/sql"
	"errors"
	"os"
	"testing"
)

// While the disk has no room for the journal, the writing connection reads, and refuses everything that might lead to a
// checkpoint. Closing is no error then: the log stays.
func TestWithoutRoomForTheJournalOnlyReadsRun(t *testing.T) {
	ctx, dir := t.Context(), Dir(t.TempDir())
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip("this system has no file that is always full: ", err)
	}
	db, err := Open(ctx, Options{Dir: dir, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	run := func(text string) error {
		return db.Write(ctx, func(conn *sql.Conn) error { _, err := conn.ExecContext(ctx, text); return err })
	}
	if err := errors.Join(run("CREATE TABLE t (i INTEGER)"), run("INSERT INTO t VALUES (1)")); err != nil {
		t.Fatal(err)
	}
	j := db.opts.journal
	if err := j.close(); err != nil { // as after a checkpoint
		t.Fatal(err)
	}
	j.file = full
	for _, text := range []string{"SELECT * FROM t", " SELECT\n1", "FROM t", "WITH a AS (FROM t) FROM a", "CREATE OR REPLACE TEMP TABLE n AS FROM t", "ROLLBACK"} {
		if err := run(text); errors.Is(err, ErrDiskFull) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"INSERT INTO t VALUES (2)", "CHECKPOINT", "BEGIN TRANSACTION", "COMMIT", "SELECT 1; CHECKPOINT", "SELECT * FROM checkpoint()", "FROM checkpoint()", "CREATE TABLE n (i INTEGER)",
		"WITH a AS (FROM t)\nINSERT INTO t FROM a", "SELECTION"} {
		if err := run(text); !errors.Is(err, ErrDiskFull) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if db, err = Open(ctx, Options{Dir: dir, Threads: 1}); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	n := 0
	if err := db.Read(ctx, func(conn *sql.Conn) error { return conn.QueryRowContext(ctx, "SELECT count(*) FROM t").Scan(&n) }); err != nil || n != 1 {
		t.Errorf("%d rows, %v", n, err)
	}
}
