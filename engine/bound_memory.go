package engine

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"

	"github.com/dustin/go-humanize"
)

// memoryBound is DuckDB's memory limit if it differs from that of Options.
type memoryBound struct {
	mu      sync.Mutex
	usual   string // of LimitMemory; "": that of Options
	limit   string // of BoundMemory; "": the usual one
	readers int    // reads that need the usual limit
	begun   int64  // how many such reads there have been
}

func (b *memoryBound) is() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limit
}

// becomes sets the usual limit of a database that is opened with it or has it already.
func (b *memoryBound) becomes(usual string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.usual = usual
}

// add counts readers that begin and end.
func (b *memoryBound) add(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.readers += n
	b.begun += int64(max(n, 0))
}

// Reads returns how many Reads whose context is not Lean have begun.
func (db *DB) Reads() int64 {
	db.bound.mu.Lock()
	defer db.bound.mu.Unlock()
	return db.bound.begun
}

// reopened records that the database has the usual limit again.
func (b *memoryBound) reopened() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.limit = ""
}

// lean marks contexts whose reads need little memory.
type lean struct{}

// Lean returns a context whose reads leave the limit of BoundMemory in force.
func Lean(ctx context.Context) context.Context { return context.WithValue(ctx, lean{}, true) }

// BoundMemory lowers DuckDB's memory limit to most bytes, for all connections: DuckDB keeps fewer
// of the blocks that it has read, and writes to disk what does not fit. conn must be that of a
// Write. 0, or a limit above the usual one, restores the usual limit. So do UnboundMemory, a
// reopening of the database, and the first Read whose context is not Lean: a query must not fail
// because other work gets little memory. During such reads BoundMemory does nothing. If more than
// most is in use, it fails and changes nothing.
func (db *DB) BoundMemory(ctx context.Context, conn *sql.Conn, most int64) error {
	db.bound.mu.Lock()
	defer db.bound.mu.Unlock()
	to := ""
	if usual := sizeOf(db.usual()); most > 0 && most < usual && usual < math.MaxInt64 {
		to = strconv.FormatInt(most>>10, 10) + "KiB"
	}
	if to == db.bound.limit || db.bound.readers > 0 {
		return nil
	}
	if err := setLimit(ctx, conn, cmp.Or(to, db.usual())); err != nil {
		return errors.Join(err, setLimit(ctx, conn, cmp.Or(db.bound.limit, db.usual()))) // DuckDB reports the new limit
	}
	db.bound.limit = to
	return nil
}

// LimitMemory changes the usual limit to this many bytes, in whole megabytes, for all connections
// and for databases that are opened after a fault or by Replace. conn must be that of a Write. If
// the limit of BoundMemory is set and lower, it applies until it ends. LimitMemory returns false
// and changes nothing if the limit would be lowered during Reads whose context is not Lean: they
// may need the memory that they began with. If more than this is in use, it fails and changes
// nothing.
func (db *DB) LimitMemory(ctx context.Context, conn *sql.Conn, bytes int64) (done bool, err error) {
	db.bound.mu.Lock()
	defer db.bound.mu.Unlock()
	was, to := db.usual(), sizeText(bytes)
	bytes = sizeOf(to)
	switch {
	case bytes == sizeOf(was):
		return true, nil
	case bytes < sizeOf(was) && db.bound.readers > 0:
		return false, nil
	case db.bound.limit != "" && sizeOf(db.bound.limit) <= bytes:
	default:
		if err := setLimit(ctx, conn, to); err != nil {
			return false, errors.Join(err, setLimit(ctx, conn, cmp.Or(db.bound.limit, was))) // DuckDB reports the new limit
		}
		db.bound.limit = ""
	}
	db.bound.usual = to
	if db.states != nil {
		db.states.newest.Load().db.bound.becomes(to)
	}
	return true, nil
}

// BorrowedMemory is memory by which DuckDB's usual limit is lowered for a while.
type BorrowedMemory struct {
	Bytes int64
	db    *DB
	usual string // memoryBound.usual before
	given bool   // back
}

// BorrowMemory lowers the usual limit to rest bytes, for memory that is not DuckDB's; queries that begin meanwhile have the lower limit,
// too. It returns nil if the limit is no number of bytes, is bounded, or is not lowered by LimitMemory because of Reads. conn must be
// that of a Write. If DuckDB cannot do with rest bytes, that is an error, which ends the transaction on conn: GiveBack has to be called
// after it, too.
func (db *DB) BorrowMemory(ctx context.Context, conn *sql.Conn, rest int64) (*BorrowedMemory, error) {
	limit := db.MemoryLimit()
	if db.Bounded() || limit == math.MaxInt64 || rest >= limit {
		return nil, nil
	}
	db.bound.mu.Lock()
	b := &BorrowedMemory{Bytes: limit - rest, db: db, usual: db.bound.usual}
	db.bound.mu.Unlock()
	lowered, err := db.LimitMemory(ctx, conn, rest)
	if !lowered && err == nil {
		return nil, nil
	}
	return b, err
}

// GiveBack restores the usual limit, at once or if it could not, as in a transaction that failed, with the next call. A database that is
// opened again after a fault has it in any case. b may be nil.
func (b *BorrowedMemory) GiveBack(ctx context.Context, conn *sql.Conn) error {
	if b == nil || b.given {
		return nil
	}
	of := &b.db.bound
	of.mu.Lock()
	defer of.mu.Unlock()
	of.usual = b.usual
	if err := setLimit(ctx, conn, cmp.Or(of.limit, b.db.usual())); err != nil {
		b.db.release.lowered = true
		return fmt.Errorf("%w: %w", ErrLimitLow, err)
	}
	b.given = true
	return nil
}

// usual is the limit to which BoundMemory returns. The caller holds bound.mu.
func (db *DB) usual() string { return cmp.Or(db.bound.usual, db.opts.memoryLimit()) }

// reopening returns the options to open the database again with.
func (db *DB) reopening() Options {
	db.bound.mu.Lock()
	defer db.bound.mu.Unlock()
	opts := db.opts
	opts.MemoryLimit = db.usual()
	return opts
}

// sizeOf returns a limit in bytes; MaxInt64 if it is not a size, such as a percentage of the
// machine's memory.
func sizeOf(limit string) int64 {
	n, err := humanize.ParseBytes(limit)
	if err != nil || n > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(n)
}

// EvictBlocks makes DuckDB evict blocks that it has read until it holds most bytes: it lowers the limit for a moment, in which no
// other Write and no Read whose context is not Lean runs. It does nothing while there are such Reads, or if a limit of BoundMemory is in
// force. conn must be that of a Write. It fails if DuckDB needs more than most bytes, or with ErrLimitLow.
func (db *DB) EvictBlocks(ctx context.Context, conn *sql.Conn, most int64) error {
	if db.Bounded() {
		return nil
	}
	if err := db.BoundMemory(ctx, conn, most); err != nil {
		return err
	}
	return db.unbound(ctx, conn)
}

// Bounded reports whether a limit of BoundMemory is in force.
func (db *DB) Bounded() bool { return db.bound.is() != "" }

// UnboundMemory restores the usual limit. It can fail with ErrLimitLow.
func (db *DB) UnboundMemory(ctx context.Context) error {
	if !db.Bounded() {
		return nil
	}
	return db.Read(ctx, func(*sql.Conn) error { return nil }) // the database begins with the usual limit
}

// unbound is UnboundMemory on a reader's connection.
func (db *DB) unbound(ctx context.Context, conn *sql.Conn) error {
	db.bound.mu.Lock()
	defer db.bound.mu.Unlock()
	if db.bound.limit == "" {
		return nil
	}
	if err := setLimit(ctx, conn, db.usual()); err != nil {
		return fmt.Errorf("%w: %w", ErrLimitLow, err)
	}
	db.bound.limit = ""
	return nil
}
