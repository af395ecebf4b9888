package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pmx/engine"
)

// wallets returns the number of wallets.
func wallets(ctx context.Context, t *testing.T, db *engine.DB) (n int) {
	t.Helper()
	err := db.Read(ctx, func(conn *sql.Conn) error {
		return conn.QueryRowContext(ctx, "SELECT count(*) FROM wallets").Scan(&n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func addWallets(ctx context.Context, db *engine.DB, from, n int) error {
	return write(ctx, db, fmt.Sprintf("INSERT INTO wallets SELECT i, md5(i::VARCHAR)::BLOB FROM range(%d, %d) r(i)", from, from+n))
}

// Commits, rollbacks and checkpoints while a file is frozen have no effect on its copy, which opens
// as the state at the beginning.
func TestAFrozenFileIsAsOfItsCheckpoint(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	db := open(t, dir)
	if err := addWallets(ctx, db, 0, 1000); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "pmx.duckdb")
	err := db.Freeze(ctx, func(ctx context.Context, file engine.Frozen) error {
		for i := range 3 {
			if err := errors.Join(addWallets(ctx, db, 1000+300_000*i, 300_000), db.Checkpoint(ctx)); err != nil {
				return err
			}
		}
		err := write(ctx, db, "CREATE OR REPLACE TABLE wallet_names AS SELECT wallet, 'x' AS name, 1::BIGINT AS ts FROM wallets")
		if err != nil {
			return err
		}
		var n int
		if err := file.Conn.QueryRowContext(ctx, "SELECT count(*) FROM wallets").Scan(&n); err != nil || n != 1000 {
			return fmt.Errorf("its connection sees %d wallets, %w", n, err)
		}
		to, err := os.Create(copied)
		if err != nil {
			return err
		}
		_, err = io.Copy(to, io.NewSectionReader(file.File, 0, file.Size))
		return errors.Join(err, to.Close())
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := wallets(ctx, t, open(t, filepath.Dir(copied))); n != 1000 {
		t.Errorf("the copy has %d wallets, want 1000", n)
	}
	if err := db.Checkpoint(ctx); err != nil {
		t.Error(err)
	}
	if st, err := os.Stat(db.Dir().Database() + ".wal"); err == nil && st.Size() > 0 {
		t.Errorf("the log has %d bytes after the next checkpoint", st.Size())
	}
	if n := wallets(ctx, t, db); n != 901_000 {
		t.Errorf("there are %d wallets, want 901,000", n)
	}
}

func TestReadingAFrozenFileKeepsTheLock(t *testing.T) {
	if dir := os.Getenv("PMX_TEST_LOCKED_BESIDE_FREEZE"); dir != "" {
		_, err := engine.Open(context.Background(), engine.Options{Dir: engine.Dir(dir), Threads: 1, MemoryLimit: "100MB"})
		fmt.Printf("locked: %v\n", errors.Is(err, engine.ErrLocked))
		return
	}
	dir := t.TempDir()
	db := open(t, dir)
	for range 2 {
		if err := db.Freeze(context.Background(), func(context.Context, engine.Frozen) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(os.Args[0], "-test.run=TestReadingAFrozenFileKeepsTheLock")
	cmd.Env = append(os.Environ(), "PMX_TEST_LOCKED_BESIDE_FREEZE="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "locked: true") {
		t.Errorf("another process: %v\n%s", err, out)
	}
}

func TestClosingStopsReadersOfAFrozenFile(t *testing.T) {
	db := open(t, t.TempDir())
	closed := make(chan error, 1)
	err := db.Freeze(context.Background(), func(ctx context.Context, _ engine.Frozen) error {
		go func() { closed <- db.Close() }()
		<-ctx.Done() // the test hangs if this does not end
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("the reader of a file whose database was closed: %v", err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := db.Freeze(context.Background(), func(context.Context, engine.Frozen) error { return nil }); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("after that: %v", err)
	}
}

func TestAFailedReaderLetsCheckpointsGoOn(t *testing.T) {
	ctx, db := context.Background(), open(t, t.TempDir())
	failure := errors.New("no")
	for _, f := range []func(context.Context, engine.Frozen) error{
		func(context.Context, engine.Frozen) error { return failure },
		func(context.Context, engine.Frozen) error { panic(failure) },
	} {
		if err := db.Freeze(ctx, f); !errors.Is(err, failure) {
			t.Errorf("the error is %v", err)
		}
		if err := errors.Join(addWallets(ctx, db, 0, 10), db.Checkpoint(ctx)); err != nil {
			t.Error(err)
		}
		if st, err := os.Stat(db.Dir().Database() + ".wal"); err == nil && st.Size() > 0 {
			t.Errorf("the log has %d bytes after a checkpoint", st.Size())
		}
	}
}

// Waiting for another reader of the frozen file can be cancelled.
func TestWaitingForAFrozenFileEnds(t *testing.T) {
	ctx, db := context.Background(), open(t, t.TempDir())
	why := errors.New("no longer wanted")
	err := db.Freeze(ctx, func(context.Context, engine.Frozen) error {
		waiting, leave := context.WithCancelCause(ctx)
		leave(why)
		err := db.Freeze(waiting, func(context.Context, engine.Frozen) error { return nil })
		if !errors.Is(err, why) {
			t.Errorf("the second one: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := db.Freeze(ctx, func(context.Context, engine.Frozen) error { return nil }); err != nil {
		t.Errorf("after both: %v", err)
	}
}
