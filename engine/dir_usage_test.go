package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"pmx/engine"
	"pmx/engine/enginetest"
)

func TestMemoryOfADatabaseIsReported(t *testing.T) {
	dir := engine.Dir(t.TempDir())
	db, err := engine.Open(context.Background(), enginetest.Options(t, string(dir), "1GB"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for path, size := range map[string]int{filepath.Join(dir.Exports(), "a"): 1000, filepath.Join(dir.Inbox(), "done", "b"): 300, filepath.Join(dir.Inbox(), "c"): 20} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	use := dir.DiskUse()
	size, err := db.Size()
	if err != nil || use["exports"] != 1000 || use["inbox"] != 320 || use["rejected"] != 0 || use["database"] == 0 || use["database"]+use["log"] != size {
		t.Errorf("%v, database %d, %v", use, size, err)
	}
	if free, total, ok := dir.DiskSpace(); !ok || free <= 0 || free > total {
		t.Errorf("%d of %d bytes free, %v", free, total, ok)
	}
	if held, spilled, err := db.Memory(t.Context()); err != nil || held <= 0 || spilled != 0 {
		t.Errorf("%d bytes held, %d spilled, %v", held, spilled, err)
	}
	if none := engine.Dir(filepath.Join(t.TempDir(), "absent")).DiskUse(); none["database"] != 0 || len(none) != len(use) {
		t.Errorf("of no directory: %v", none)
	}
}

func TestThreadsThatDuckDBDoesNotTake(t *testing.T) {
	for threads, bad := range map[int]bool{0: false, 3: false, -1: true} {
		if err := engine.CheckThreads(t.Context(), threads); (err != nil) != bad {
			t.Errorf("%d: %v", threads, err)
		}
	}
}
