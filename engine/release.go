package engine

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
)

const (
	// keptBlocks is how many bytes of blocks ReleaseBlocks leaves at least: DuckDB's count is not exact to the
	// megabyte, and if it is asked to evict more than there is, it writes temporary tables to the disk.
	keptBlocks = 4 << 20
	// releasedAtOnce is how many bytes are released at once: readers wait meanwhile, some 0.1 s for this
	// many.
	releasedAtOnce = 256 << 20
)

// ErrLimitLow is returned if the memory limit could not be raised again: the next ReleaseBlocks tries
// again.
var ErrLimitLow = errors.New("DuckDB's memory limit is lower than it should be")

// release is what is known of releasing blocks. It is changed by the writer, or under the exclusive
// gate.
type release struct {
	// stuck is how many bytes of blocks were left after the last release, if that was more than intended.
	// DuckDB counts its notes on deleted rows as blocks, cannot evict them, and would write temporary tables
	// to the disk instead. A checkpoint may free some of it.
	stuck   int64
	lowered bool // the limit may be low
}

// ReleaseBlocks returns to the operating system the memory of the blocks that DuckDB has read from the file, and unused memory
// of its allocator and of the C library. DuckDB keeps every block that it ever read until its limit is reached; a block that
// is needed again comes from the system's cache of files. It does nothing, and returns false, while somebody is reading or
// writing: it lowers the limit for a moment, in which queries have to wait. It keeps all blocks if they take no more than most
// bytes. It can fail with ErrLimitLow.
func (db *DB) ReleaseBlocks(ctx context.Context, most int64) (done bool, err error) {
	if db.states != nil || !db.gate.TryLock() {
		return false, nil
	}
	defer db.gate.Unlock()
	if db.pools == nil {
		return false, nil
	}
	conn, err := db.pools.readers.Conn(ctx)
	if err != nil {
		return false, err
	}
	return true, withConn(conn, func(conn *sql.Conn) error {
		if err := db.raiseLimit(ctx, conn); err != nil {
			return err
		}
		return db.releaseBlocks(ctx, conn, most)
	})
}

func (db *DB) releaseBlocks(ctx context.Context, conn *sql.Conn, most int64) error {
	blocks, all, err := blocksInMemory(ctx, conn)
	keep := keptBlocks + db.release.stuck
	if err != nil || blocks <= max(most, keep) {
		return err
	}
	going := min(blocks-keep, releasedAtOnce)
	lowered := db.lowerLimit(ctx, conn, all-going)
	left, _, err := blocksInMemory(ctx, conn)
	if left > blocks-going+1<<20 {
		db.release.stuck = left
		if !errors.Is(lowered, ErrLimitLow) {
			lowered = nil // it could not be lowered so far for these
		}
	}
	return errors.Join(lowered, err)
}

// lowerLimit sets the limit for a moment.
func (db *DB) lowerLimit(ctx context.Context, conn *sql.Conn, to int64) (err error) {
	db.release.lowered = true
	defer func() { err = errors.Join(err, db.raiseLimit(ctx, conn)) }()
	return setLimit(ctx, conn, strconv.FormatInt(to>>10, 10)+"KiB")
}

// raiseLimit sets the limit to what it should be, if it may be lower.
func (db *DB) raiseLimit(ctx context.Context, conn *sql.Conn) error {
	if !db.release.lowered {
		return nil
	}
	if err := setLimit(ctx, conn, cmp.Or(db.bound.is(), db.reopening().MemoryLimit)); err != nil {
		return fmt.Errorf("%w: %w", ErrLimitLow, err)
	}
	db.release.lowered = false
	return nil
}

func setLimit(ctx context.Context, conn *sql.Conn, to string) error {
	ctx = context.WithValue(context.WithoutCancel(ctx), limiting{}, true) // if this was cancelled, the limit would stay low
	_, err := conn.ExecContext(ctx, "SET memory_limit = '"+to+"'")
	return err
}

// blocksInMemory is the memory in bytes that DuckDB has for blocks, and in total.
func blocksInMemory(ctx context.Context, conn *sql.Conn) (blocks, all int64, err error) {
	err = conn.QueryRowContext(ctx, statements.Get("BlockMemory")).Scan(&blocks, &all)
	return blocks, all, err
}
