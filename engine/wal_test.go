package engine_test

import (
	"context"
	"database/sql"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"pmx/engine"
)

// TestMain makes this binary the process that is killed with its log unfinished, or one that has a database.
func TestMain(m *testing.M) {
	if path := os.Getenv("PMX_TEST_LOCK"); path != "" {
		hold(path)
		os.Exit(0)
	}
	if dir := os.Getenv("PMX_TEST_CHECKPOINTS"); dir != "" {
		checkpointAloud(dir)
	}
	if dir := os.Getenv("PMX_TEST_LOG"); dir != "" {
		writeLog(dir)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// hold takes the lock of a file until the input ends.
func hold(path string) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		panic(err)
	}
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK}); err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString("x")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// writeLog creates a table and a log with 20 transactions of 1,000 rows, without a clean end.
func writeLog(dir string) {
	ctx := context.Background()
	db, err := engine.Open(ctx, engine.Options{Dir: engine.Dir(dir), Threads: 1})
	if err != nil {
		panic(err)
	}
	do := func(q string) {
		if err := db.Write(ctx, func(conn *sql.Conn) error { _, err := conn.ExecContext(ctx, q); return err }); err != nil {
			panic(err)
		}
	}
	do("CREATE TABLE t (i BIGINT, s VARCHAR)")
	if err := db.Checkpoint(ctx); err != nil {
		panic(err)
	}
	for range 20 {
		do("INSERT INTO t SELECT range, 'row ' || range FROM range(1000)")
	}
}

// A log that is truncated or has a flipped bit is kept, the number of dropped bytes is reported,
// and the database opens with the transactions before the damage.
func TestADamagedLogIsReportedAndKept(t *testing.T) {
	made := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PMX_TEST_LOG="+made)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("err = %v, out = %s", err, out)
	}
	wal, err := os.ReadFile(filepath.Join(made, "pmx.duckdb.wal"))
	if err != nil {
		t.Fatal(err)
	}
	flip := func(at int) []byte {
		b := slices.Clone(wal)
		b[at] ^= 4
		return b
	}
	n := len(wal)
	for name, c := range map[string]struct {
		log  []byte
		torn bool
	}{
		"first byte": {flip(0), false}, "version": {flip(5), false}, "first sum": {flip(18), false}, "first body": {flip(30), false},
		"middle": {flip(n / 2), false}, "last": {flip(n - 2), false}, "length": {flip(n/2 + 1), false},
		"cut to 5": {wal[:5], true}, "cut to half": {wal[:n/2], true}, "last byte cut": {wal[:n-1], true}, "whole": {wal, false}, "empty": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file, err := os.ReadFile(filepath.Join(made, "pmx.duckdb"))
			if err != nil {
				t.Fatal(err)
			}
			for to, b := range map[string][]byte{"pmx.duckdb": file, "pmx.duckdb.wal": c.log} {
				if err := os.WriteFile(filepath.Join(dir, to), b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			db, err := engine.Open(context.Background(), engine.Options{Dir: engine.Dir(dir), Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			d, rows := db.LogDamage(), rowsOf(t, db)
			if name == "whole" || name == "empty" {
				if d != nil || len(db.DamagedLogs()) > 0 || name == "whole" && rows != 20_000 {
					t.Errorf("%d rows, %+v", rows, d)
				}
				return
			}
			if d == nil || d.Dropped <= 0 || d.At+d.Dropped != int64(len(c.log)) || rows != int64(d.Transactions)*1000 || rows >= 20_000 {
				t.Fatalf("%d rows, %+v, log of %d", rows, d, len(c.log))
			}
			kept, err := os.ReadFile(d.Copy)
			if err != nil || !slices.Equal(kept, c.log) {
				t.Errorf("the copy has %d bytes of %d: %v", len(kept), len(c.log), err)
			}
			if c.torn != d.Torn && name != "length" || !d.Torn && len(db.DamagedLogs()) != 1 {
				t.Errorf("torn %v, want %v; kept %v", d.Torn, c.torn, db.DamagedLogs())
			}
		})
	}
}
