// Package enginetest opens databases for tests at little cost.
package enginetest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"pmx/data/testfiles"
	"pmx/engine"
)

// Options are those of a test's database in dir: a new one is a copy of an empty database
// with every migration applied, for a tenth of the time that the migrations take. It has
// one thread by default, since most of the work on a few rows is planning, and the threads
// of a server where the run may take its time.
func Options(t testing.TB, dir, memory string) engine.Options {
	t.Helper()
	opts := engine.Options{Dir: engine.Dir(dir), Threads: testfiles.Cases(1, 2), MemoryLimit: memory}
	if err := Create(dir); err != nil {
		t.Fatalf("a new database: %v", err)
	}
	return opts
}

// Create makes dir with the copy of an empty database in it, where there is none.
func Create(dir string) error {
	file := engine.Dir(dir).Database()
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	empty, err := migrated()
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(file, empty, 0o600))
}

// migrated is the file of an empty database, which is made once a process.
var migrated = sync.OnceValues(func() (file []byte, err error) {
	dir, err := os.MkdirTemp("", "pmx-test-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	db, err := engine.Open(context.Background(), engine.Options{Dir: engine.Dir(filepath.Join(dir, "db")), Threads: 1, MemoryLimit: "1GB"})
	if err != nil {
		return nil, err
	}
	path := db.Dir().Database()
	if err := db.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})
