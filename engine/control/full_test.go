package control_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"pmx/data/testfiles"
	"pmx/engine/control"
)

// On a full disk everything can be read by several readers at once, whether the file was closed or
// not. Writes are refused as ENOSPC, and succeed again once there is space.
func TestAFullDiskIsReadFrom(t *testing.T) {
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprintf("killed %v", killed), func(t *testing.T) { readFromAFullDisk(t, killed) })
	}
}

func readFromAFullDisk(t *testing.T, killed bool) {
	ctx, dir := t.Context(), testfiles.Disk(t, "size=2m")
	path := filepath.Join(dir, "control.db")
	before, err := control.Open(ctx, path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256([]byte("a"))
	if _, err := before.IssueKey(ctx, hash, "trader", "before"); err != nil {
		t.Fatal(err)
	}
	if killed {
		path = copied(t, path, "control.db", "control.db-wal") // the index is gone, the log is not
	}
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(dir, "filler")
	testfiles.Fill(t, filler)

	first, second := open(t, path), open(t, path)
	var all sync.WaitGroup
	for _, db := range []*control.DB{first, second, first, second, first} {
		all.Go(func() {
			for range 20 {
				if keys, err := db.Keys(ctx); err != nil || len(keys) != 1 || keys[0].Hash != hash {
					t.Errorf("keys = %v, err = %v", keys, err)
				}
			}
		})
	}
	all.Wait()
	for range 3 {
		_, err := first.IssueKey(ctx, sha256.Sum256([]byte("b")), "trader", string(make([]byte, 64<<10)))
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("a write on a full disk: got %v", err)
		}
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if _, err := second.IssueKey(ctx, sha256.Sum256([]byte("c")), "trader", "after"); err != nil {
		t.Error(err)
	}
	if keys, err := first.Keys(ctx); err != nil || len(keys) != 2 {
		t.Errorf("keys = %v, err = %v", keys, err)
	}
	if _, err := os.Stat(path + "-shm"); err != nil {
		t.Errorf("with free space, the index is not in its file again: %v", err)
	}
}

// Creating a file on a full disk is refused as ENOSPC.
func TestAFullDiskTakesNoFile(t *testing.T) {
	dir := testfiles.Disk(t, "size=64k")
	testfiles.Fill(t, filepath.Join(dir, "filler"))
	if _, err := control.Open(t.Context(), filepath.Join(dir, "control.db"), time.Now); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("err = %v", err)
	}
}

// copied copies files of a folder into a folder below it and returns the path of the first.
func copied(t *testing.T, path string, names ...string) string {
	t.Helper()
	to := filepath.Join(filepath.Dir(path), "copy")
	if err := os.Mkdir(to, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(path), name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(to, names[0])
}
