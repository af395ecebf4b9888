// Package enginetest opens databases for tests at little cost.
package enginetest

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"pmx/data/testfiles"
	"pmx/engine"
)

// Options are those of a test's database in dir: a new one is a copy of an empty database with
// every migration applied, for a tenth of the time that the migrations take. It has one thread,
// since most of the work on a few rows is planning, and in a long run every other database of the
// process has two, as many as a server.
func Options(t testing.TB, dir, memory string) engine.Options {
	t.Helper()
	opts := engine.Options{Dir: engine.Dir(dir), Threads: 1, MemoryLimit: memory}
	if testfiles.Long() {
		opts.Threads = 1 + int(opened.Add(1)%2)
		t.Logf("DuckDB's threads: %d", opts.Threads)
	}
	if err := Create(dir); err != nil {
		t.Fatalf("a new database: %v", err)
	}
	return opts
}

// opened counts the databases of a long run.
var opened atomic.Int64

// OneThread is Options with one thread in a long run too. It is for tests of what happens between
// statements, as restarts and missed batches: the second thread takes half as much processor time
// again there, mostly to wait. Tests of what statements compute have those of Options.
func OneThread(t testing.TB, dir, memory string) engine.Options {
	t.Helper()
	opts := Options(t, dir, memory)
	opts.Threads = 1
	return opts
}

// Create makes dir with the copy of an empty database in it, if there is none.
func Create(dir string) error { return create(dir, migrated) }

// OldBlocks is the block size in bytes of databases that earlier versions made.
const OldBlocks = 256 << 10

// CreateOlder is Create, with the blocks and the storage version of a database that an earlier version made.
func CreateOlder(dir string) error { return create(dir, migratedOlder) }

func create(dir string, migrated func() ([]byte, error)) error {
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
var migrated = sync.OnceValues(func() ([]byte, error) { return migrate(func(string) error { return nil }) })

// migratedOlder is migrated, with blocks of OldBlocks and DuckDB's default storage version.
var migratedOlder = sync.OnceValues(func() ([]byte, error) {
	return migrate(func(file string) error {
		old, err := sql.Open("duckdb", file+"?default_block_size="+strconv.Itoa(OldBlocks))
		if err != nil {
			return err
		}
		return errors.Join(old.Ping(), old.Close())
	})
})

// migrate makes an empty database in the file that begin prepares.
func migrate(begin func(file string) error) (file []byte, err error) {
	dir, err := os.MkdirTemp("", "pmx-test-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	of := engine.Dir(filepath.Join(dir, "db"))
	if err := os.Mkdir(string(of), 0o700); err != nil {
		return nil, err
	}
	if err := begin(of.Database()); err != nil {
		return nil, err
	}
	db, err := engine.Open(context.Background(), engine.Options{Dir: of, Threads: 1, MemoryLimit: "1GB"})
	if err != nil {
		return nil, err
	}
	path := db.Dir().Database()
	if err := db.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}
