package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmx/data/testfiles"
	"pmx/engine"
)

// besideOlderQuery runs f while a query is open that is older than the last change of a table with enough rows for a checkpoint of some MB.
func besideOlderQuery(t *testing.T, db *engine.DB, f func()) {
	t.Helper()
	if err := write(t.Context(), db, "CREATE TABLE own AS SELECT i, hash(i) AS h FROM range(1000) r(i)"); err != nil {
		t.Fatal(err)
	}
	err := db.Read(t.Context(), func(conn *sql.Conn) error {
		for _, text := range []string{"BEGIN", "SELECT count(*) FROM own"} {
			if _, err := conn.ExecContext(t.Context(), text); err != nil {
				return err
			}
		}
		if err := write(t.Context(), db, "UPDATE own SET h = 7 WHERE i = 3"); err != nil {
			return err
		}
		for range 200 { // small, so that they stay in the log
			if err := write(t.Context(), db, "INSERT INTO own SELECT i, hash(i + random()) FROM range(3000) r(i)"); err != nil {
				return err
			}
		}
		f()
		_, err := conn.ExecContext(t.Context(), "COMMIT")
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// startFreeze starts a Freeze. Its first try lasts a second.
func startFreeze(t *testing.T, db *engine.DB) <-chan error {
	frozen := make(chan error, 1)
	go func() {
		frozen <- db.Freeze(t.Context(), func(context.Context, engine.Frozen) error { return nil })
	}()
	return frozen
}

// TestAWaitingFreezeSeesThatTheDiskIsFull: it does not try a checkpoint, which would cost the instance. Nor does it try again and again how
// much the disk takes, which would take the room from others for that time.
func TestAWaitingFreezeSeesThatTheDiskIsFull(t *testing.T) {
	dir, faults := testfiles.Disk(t, "size=64m"), 0
	db, err := engine.Open(t.Context(), engine.Options{Dir: engine.Dir(dir), Threads: 1, OnFault: func(error, bool) { faults++ }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	tried := func() time.Time {
		st, err := os.Stat(engine.Dir(dir).Tmp())
		if err != nil {
			t.Fatal(err)
		}
		return st.ModTime()
	}
	before := tried()
	var frozen <-chan error
	filler := filepath.Join(dir, "filler")
	besideOlderQuery(t, db, func() {
		frozen = startFreeze(t, db)
		for db.CheckpointOwed().IsZero() {
			time.Sleep(10 * time.Millisecond)
		}
		testfiles.Fill(t, filler)
	})
	if err := <-frozen; !errors.Is(err, engine.ErrDiskFull) || faults > 0 || !tried().Equal(before) {
		t.Errorf("the freeze: err = %v, after %d faults, a file was made at %s", err, faults, tried())
	}
	if err := errors.Join(os.Remove(filler), db.Checkpoint(t.Context())); err != nil || faults > 0 {
		t.Errorf("with room: err = %v, after %d faults", err, faults)
	}
}

// TestAWaitingFreezeSaysWhyItEnds: not only that it was cancelled, which a backup that somebody interrupts is, too.
func TestAWaitingFreezeSaysWhyItEnds(t *testing.T) {
	db := open(t, t.TempDir())
	closed := make(chan error, 1)
	besideOlderQuery(t, db, func() {
		frozen := startFreeze(t, db)
		time.Sleep(300 * time.Millisecond) // it tries
		go func() { closed <- db.Close() }()
		if err := <-frozen; errors.Is(err, context.Canceled) || err == nil || !strings.HasPrefix(err.Error(), "the database is being closed") {
			t.Errorf("the freeze: err = %v", err)
		}
	})
	if err := <-closed; err != nil {
		t.Error(err)
	}
}
