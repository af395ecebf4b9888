package engine

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"

	"pmx/data"
)

// A write is acknowledged only when the directory entry of its log is on the disk: the folder is
// synced after the first write of every new log, and only then.
func TestTheNameOfANewLogIsOnTheDiskAfterAWrite(t *testing.T) {
	db, err := Open(context.Background(), Options{Dir: Dir(t.TempDir()), Threads: 1, MemoryLimit: "200MB"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	synced, others, broken := 0, 0, error(nil)
	db.named.sync = func(dir string) error {
		if dir != string(db.Dir()) {
			t.Errorf("synced is %s", dir)
		}
		if _, err := os.Stat(db.Dir().wal()); err == nil {
			synced++
			return broken
		}
		others++ // after a checkpoint, which removes the log
		return nil
	}
	write := func() error {
		return db.Write(context.Background(), func(conn *sql.Conn) error {
			_, err := conn.ExecContext(context.Background(), "INSERT INTO late_days VALUES (1, 1)")
			return err
		})
	}
	for round := range 2 {
		if err := db.Checkpoint(context.Background()); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err := write(); err != nil {
				t.Fatal(err)
			}
		}
		if synced != round+1 || others > round+1 {
			t.Errorf("with log %d the folder was synced %d times, and %d times without one", round+1, synced, others)
		}
	}
	broken = errors.New("a disk that fails")
	if err := db.Checkpoint(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := write(); !errors.Is(err, broken) || !strings.Contains(err.Error(), "power failure") {
		t.Errorf("a folder that cannot be synced: got %v", err)
	}
	broken = nil
	if err := write(); err != nil || synced != 4 {
		t.Errorf("it is not tried again: %v, %d", err, synced)
	}
}

// The directory entry of every new folder is synced; an existing one costs nothing.
func TestFoldersAreMadeToLast(t *testing.T) {
	root := t.TempDir()
	for range 2 {
		if err := data.MakeFolder(root+"/a/b/c", 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(root + "/a/b/c"); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("info = %v, err = %v", info, err)
	}
	if err := data.SyncFolder(root + "/missing"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is missing: %v", err)
	}
}
