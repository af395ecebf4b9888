package engine

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/dustin/go-humanize"
)

// memoryBound is the limit of BoundMemory.
type memoryBound struct {
	mu      sync.Mutex
	limit   string // "": the usual one
	readers int    // that need the usual one
}

func (b *memoryBound) is() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limit
}

// add counts readers in and out.
func (b *memoryBound) add(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.readers += n
}

// reopened notes that the database has the usual limit again.
func (b *memoryBound) reopened() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.limit = ""
}

// lean marks contexts whose reads need little memory.
type lean struct{}

// Lean returns a context whose reads leave the limit of BoundMemory in force.
func Lean(ctx context.Context) context.Context { return context.WithValue(ctx, lean{}, true) }

// BoundMemory lowers DuckDB's memory limit to most bytes, for all connections: DuckDB keeps fewer of the blocks that it has
// read, and writes to disk what does not fit. conn must be that of a Write. 0 and a limit above the usual one restore that. The usual limit is also restored by
// UnboundMemory, when the database is reopened, and by the first Read whose context is not Lean: a query must not fail because somebody else works in little memory. During such reads
// BoundMemory does nothing. If more than most is in use, it fails and changes nothing.
func (db *DB) BoundMemory(ctx context.Context, conn *sql.Conn, most int64) error {
	to := ""
	if usual, err := humanize.ParseBytes(db.opts.memoryLimit()); err == nil && most > 0 && uint64(most) < usual {
		to = strconv.FormatInt(most>>10, 10) + "KiB"
	}
	db.bound.mu.Lock()
	defer db.bound.mu.Unlock()
	if to == db.bound.limit || db.bound.readers > 0 {
		return nil
	}
	if err := setLimit(ctx, conn, cmp.Or(to, db.opts.memoryLimit())); err != nil {
		return errors.Join(err, setLimit(ctx, conn, cmp.Or(db.bound.limit, db.opts.memoryLimit()))) // DuckDB says that it has the new one
	}
	db.bound.limit = to
	return nil
}

// UnboundMemory restores the usual limit. It can fail with ErrLimitLow.
func (db *DB) UnboundMemory(ctx context.Context) error {
	if db.bound.is() == "" {
		return nil
	}
	return db.Read(ctx, func(*sql.Conn) error { return nil }) // which begins with it
}

// unbound is UnboundMemory on a connection of a reader.
func (db *DB) unbound(ctx context.Context, conn *sql.Conn) error {
	db.bound.mu.Lock()
	defer db.bound.mu.Unlock()
	if db.bound.limit == "" {
		return nil
	}
	if err := setLimit(ctx, conn, db.opts.memoryLimit()); err != nil {
		return fmt.Errorf("%w: %w", ErrLimitLow, err)
	}
	db.bound.limit = ""
	return nil
}
