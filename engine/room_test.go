package engine_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pmx/data/testfiles"
	"pmx/engine"
)

// TestKeptRoomIsThereOnAFullDisk: with it, a log whose tables were dropped again is written, for which Checkpoint asks for more.
func TestKeptRoomIsThereOnAFullDisk(t *testing.T) {
	dir := testfiles.Disk(t, "size=64m") // of which 4 MB are the reserve
	ctx := t.Context()
	db, err := engine.Open(ctx, engine.Options{Dir: engine.Dir(dir), Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	run := func(queries ...string) {
		t.Helper()
		for _, query := range queries {
			if err := db.Write(ctx, func(conn *sql.Conn) error { _, err := conn.ExecContext(ctx, query); return err }); err != nil {
				t.Fatal(query, err)
			}
		}
	}
	if err := db.Checkpoint(ctx); err != nil {
		t.Fatal(err)
	}
	log := db.LogSize()
	room, err := db.KeepRoom()
	if err != nil {
		t.Fatal(err)
	}
	defer room.Release()
	run("CREATE TABLE given_up AS SELECT hash(range) AS i FROM range(100000)", "CREATE TABLE kept AS SELECT 7 AS i") // less than a row group: all of it is in the log
	testfiles.Fill(t, filepath.Join(dir, "filler"))
	err = db.Write(ctx, func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, "CREATE TABLE failed AS SELECT hash(range) AS i FROM range(100000)")
		if err = room.ReleaseAfter(err); !errors.Is(err, engine.ErrDiskFull) {
			t.Errorf("what was written on the full disk: err = %v", err)
		}
		return err
	})
	if err == nil {
		t.Error("it was written")
	}
	run("DROP TABLE given_up")
	if err := db.Checkpoint(ctx); !errors.Is(err, engine.ErrDiskFull) {
		t.Errorf("a checkpoint with a log of %d bytes: err = %v", db.LogSize(), err)
	}
	if err := db.CheckpointDropped(ctx, log); err != nil || db.LogSize() > 0 {
		t.Errorf("a checkpoint of what is left: err = %v, and the log has %d bytes", err, db.LogSize())
	}
	run("FROM kept")
}

// TestWithoutRoomNoneIsKept, and no file.
func TestWithoutRoomNoneIsKept(t *testing.T) {
	dir := testfiles.Disk(t, "size=64m")
	db, err := engine.Open(t.Context(), engine.Options{Dir: engine.Dir(dir), Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	testfiles.Fill(t, filepath.Join(dir, "filler"))
	if _, err := db.KeepRoom(); !errors.Is(err, engine.ErrDiskFull) {
		t.Errorf("err = %v", err)
	}
	if kept, err := filepath.Glob(filepath.Join(engine.Dir(dir).Tmp(), "kept-*")); err != nil || len(kept) > 0 {
		t.Errorf("kept %q: err = %v", kept, err)
	}
	if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
		t.Fatal(err)
	}
	room, err := db.KeepRoom()
	if err != nil {
		t.Fatal(err)
	}
	room.Release()
	room.Release()
	if kept, err := filepath.Glob(filepath.Join(engine.Dir(dir).Tmp(), "*")); err != nil || len(kept) > 1 {
		t.Errorf("kept %q: err = %v", kept, err)
	}
}
