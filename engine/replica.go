package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"

	"pmx/engine/guard"
	"pmx/engine/schema"
)

// states are the database files that a replica has open. Reads go to the newest, and an older one
// stays open until its last reader is done.
type states struct {
	newest  atomic.Pointer[state]
	closing sync.WaitGroup // states that were replaced
}

// state is one file.
type state struct {
	db *DB

	use  sync.RWMutex // held by readers
	gone bool         // it is being closed
}

// OpenReplica opens a database file below the data directory read-only. Replace switches to
// another. Nothing may write to the file while it is open.
func OpenReplica(ctx context.Context, opts Options, file string) (*DB, error) {
	dir, err := opts.Dir.Abs()
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	opts.Dir = dir
	if err := dir.Create(); err != nil {
		return nil, err
	}
	if err := dir.sweep(); err != nil {
		return nil, err
	}
	first, err := openState(ctx, opts, file)
	if err != nil {
		return nil, err
	}
	opts.file = &databaseFile{path: dir.Database()}
	db := &DB{opts: opts, states: &states{}, frozen: freezing{one: make(chan struct{}, 1)}}
	db.states.newest.Store(&state{db: first})
	return db, nil
}

// openState opens a file read-only.
func openState(ctx context.Context, opts Options, file string) (*DB, error) {
	opts.readOnly, opts.file = file, &databaseFile{path: file}
	p, err := openPools(ctx, opts)
	if err != nil {
		return nil, err
	}
	db := &DB{opts: opts, pools: p, frozen: freezing{one: make(chan struct{}, 1)}}
	at, newest, err := schema.Versions(ctx, p.writer)
	switch {
	case err != nil:
	case at > newest:
		err = fmt.Errorf("%s: %w: its tables have version %d, and this program supports up to %d: run that version here", file, ErrNewerSchema, at, newest)
	case at < newest:
		err = fmt.Errorf("%s was written by an older pmx: its tables have version %d, and this program reads %d: upgrade the writer first", file, at, newest)
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return db, nil
}

// Replace opens another file and calls prepare with it. Unless that fails, all reads that begin
// from then on use the new file, and running reads finish on the old one. freed is called, by any
// goroutine, with the old file once no reader has it open. If Replace fails, freed is called with
// the new one before Replace returns. One Replace runs at a time.
func (db *DB) Replace(ctx context.Context, file string, prepare func(next *DB) error, freed func(file string)) error {
	next, err := openState(ctx, db.reopening(), file)
	if err != nil {
		freed(file)
		return err
	}
	if err := guard.Do(func() error { return prepare(next) }); err != nil {
		err = errors.Join(err, next.Close())
		freed(file)
		return err
	}
	old := db.states.newest.Swap(&state{db: next})
	db.states.closing.Add(1)
	guard.Start(func() error {
		defer db.states.closing.Done()
		err := old.close()
		freed(old.db.opts.readOnly)
		return err
	})
	return nil
}

// using is DB.use for the newest state.
func (s *states) using(ctx context.Context, pool func(*pools) *sql.DB, f func(conn *sql.Conn) error) error {
	for {
		at := s.newest.Load()
		if at.use.TryRLock() { // else it is being closed: waiting would mean waiting for all its readers
			if !at.gone {
				defer at.use.RUnlock()
				return at.db.use(ctx, pool, f)
			}
			at.use.RUnlock()
		}
		if s.newest.Load() == at { // nothing took its place
			return ErrClosed
		}
	}
}

// close waits for the readers of the state, and closes it.
func (s *state) close() error {
	s.use.Lock()
	s.gone = true
	s.use.Unlock()
	return s.db.Close()
}

// close closes all.
func (s *states) close() error {
	err := s.newest.Load().close()
	s.closing.Wait()
	return err
}

// target is the file to open, its access mode, and the folder for what DuckDB spills to disk.
func (o *Options) target() (path, mode, spill string) {
	if o.readOnly == "" {
		return o.Dir.Database(), "AUTOMATIC", o.Dir.spill()
	}
	// Two states are open at once, and DuckDB names its temporary files by numbers of its own.
	return o.readOnly, "READ_ONLY", filepath.Join(o.Dir.Tmp(), "spill-"+filepath.Base(filepath.Dir(o.readOnly)))
}
