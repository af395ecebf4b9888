package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"pmx/data/testfiles"
	"pmx/engine"
)

// An error that quotes data is not a fault, whatever it quotes.
func TestTextOfAnErrorIsNoFault(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	db, err := engine.Open(ctx, engine.Options{Dir: engine.Dir(dir), Threads: 1, OnFault: func(err error, _ bool) { t.Errorf("reported as a fault: %v", err) }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, text := range []string{"INTERNAL Error: x", "FATAL Error: x", "database has been invalidated", "No space left on device", "Out of Memory Error: x"} {
		plain := fmt.Errorf("side %q is neither BUY nor SELL", text)
		if err := db.Write(ctx, func(*sql.Conn) error { return plain }); !errors.Is(err, plain) || err.Error() != plain.Error() {
			t.Errorf("err = %v", err)
		}
		err := db.Read(ctx, func(conn *sql.Conn) error {
			var n int
			return conn.QueryRowContext(ctx, "SELECT CAST(? AS INTEGER)", text).Scan(&n)
		})
		if err == nil || !strings.Contains(err.Error(), text) || errors.Is(err, engine.ErrDiskFull) || errors.Is(err, engine.ErrMemory) {
			t.Errorf("err = %v", err)
		}
		err = db.Read(ctx, func(conn *sql.Conn) error {
			var n int
			return conn.QueryRowContext(ctx, "SELECT error(?)", text).Scan(&n)
		})
		if err == nil || errors.Is(err, engine.ErrDiskFull) || errors.Is(err, engine.ErrMemory) {
			t.Errorf("err = %v", err)
		}
	}
}

// A fault counts wherever it is among joined errors.
func TestAFaultIsFoundAmongOthers(t *testing.T) {
	first := &duckdb.Error{Type: duckdb.ErrorTypeConversion, Msg: "x"}
	fatal := &duckdb.Error{Type: duckdb.ErrorTypeInternal, Msg: "x"}
	if !engine.IsFault(fmt.Errorf("a: %w", errors.Join(first, fmt.Errorf("b: %w", fatal)))) || engine.IsFault(errors.Join(first, nil)) || engine.IsFault(nil) {
		t.Error("IsFault")
	}
}

func TestTooLittleMemoryNamesItsSetting(t *testing.T) {
	ctx := context.Background()
	db, err := engine.Open(ctx, engine.Options{Dir: engine.Dir(t.TempDir()), Threads: 1, MemoryLimit: "24MB"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	err = db.Read(ctx, func(conn *sql.Conn) error {
		var n int
		return conn.QueryRowContext(ctx, "SELECT len(list(range)) FROM range(100000000)").Scan(&n)
	})
	if !errors.Is(err, engine.ErrMemory) || !strings.Contains(err.Error(), "--memory") || !strings.Contains(err.Error(), "24MB") {
		t.Errorf("err = %v", err)
	}
	if err := db.Ping(ctx); err != nil {
		t.Errorf("after it: %v", err)
	}
}

// A full disk during several checkpoints does not end the process: reads continue, imports are
// refused with the reason, and everything continues when there is space.
func TestAFullDiskEndsNothing(t *testing.T) {
	ctx, dir := context.Background(), testfiles.Disk(t, "size=48m")
	faults := 0
	db, err := engine.Open(ctx, engine.Options{Dir: engine.Dir(dir), Threads: 1, OnFault: func(err error, recovered bool) {
		if faults++; !recovered || !errors.Is(err, engine.ErrDiskFull) {
			t.Errorf("recovered %v: %v", recovered, err)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := write(ctx, db, "CREATE TABLE t (i BIGINT, h UBIGINT)"); err != nil {
		t.Fatal(err)
	}
	for range 300 { // small, so that it stays in the log
		if err := write(ctx, db, "INSERT INTO t SELECT range, hash(range + random()) FROM range(3000)"); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.CheckSpace(); err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(dir, "filler")
	testfiles.Fill(t, filler)
	for range 3 {
		if err := write(ctx, db, "CHECKPOINT"); !errors.Is(err, engine.ErrDiskFull) || !strings.Contains(err.Error(), "free some space") || strings.Contains(err.Error(), "Error:") {
			t.Errorf("a checkpoint on a full disk: got %v", err)
		}
		if err := db.Checkpoint(ctx); !errors.Is(err, engine.ErrDiskFull) {
			t.Errorf("Checkpoint: got %v", err)
		}
		if err := db.CheckSpace(); !errors.Is(err, engine.ErrDiskFull) {
			t.Errorf("CheckSpace: got %v", err)
		}
		if n := rowsOf(t, db); n != 900_000 {
			t.Errorf("got %d rows", n)
		}
	}
	if faults < 2 {
		t.Errorf("%d faults: the disk was not full", faults)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.CheckSpace(), db.Checkpoint(ctx), write(ctx, db, "INSERT INTO t VALUES (1, 1)")); err != nil {
		t.Errorf("with free space again: %v", err)
	}
	if n := rowsOf(t, db); n != 900_001 {
		t.Errorf("got %d rows", n)
	}
}

func rowsOf(t *testing.T, db *engine.DB) (n int64) {
	t.Helper()
	if err := db.Read(context.Background(), func(conn *sql.Conn) error {
		return conn.QueryRowContext(context.Background(), "SELECT count(*) FROM t").Scan(&n)
	}); err != nil {
		t.Error(err)
	}
	return n
}

// A fault while the disk is full is caused by the disk; a real one is still counted.
func TestAFaultOfTheDiskIsNoSpoiledInstance(t *testing.T) {
	ctx, dir := context.Background(), testfiles.Disk(t, "size=16m")
	var outcomes []bool
	db, err := engine.Open(ctx, engine.Options{Dir: engine.Dir(dir), Threads: 1, OnFault: func(_ error, recovered bool) { outcomes = append(outcomes, recovered) }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	fatal := func(*sql.Conn) error { return &duckdb.Error{Type: duckdb.ErrorTypeFatal, Msg: "FATAL Error: made up"} }
	filler := filepath.Join(dir, "filler")
	testfiles.Fill(t, filler)
	_ = db.Read(ctx, fatal)
	_ = db.Read(ctx, fatal)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	_ = db.Read(ctx, fatal)
	_ = db.Read(ctx, fatal)
	if want := []bool{true, true, true, false}; fmt.Sprint(outcomes) != fmt.Sprint(want) {
		t.Errorf("recovered %v, want %v", outcomes, want)
	}
}
