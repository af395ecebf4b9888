package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"
)

// A checkpoint that DuckDB refuses is tried again after checkpointAgain, for a second, in which nobody can write.
const (
	checkpointAgain = 5 * time.Millisecond
	checkpointTries = 200

	checkpointBriefly = 10 // tries where writers are not to wait for a second
)

// ErrCheckpointRefused is the error of a checkpoint while a query runs that began before the last UPDATE, CREATE or DROP was committed. The
// log keeps what was committed, and a later checkpoint writes it.
var ErrCheckpointRefused = errors.New("there is no checkpoint while a query runs that began before the last change")

// checkpoint makes a checkpoint on a connection without a transaction, and tries it so often. DuckDB keeps a transaction with an UPDATE, CREATE or DROP, and the
// lock of checkpoints with it, until no query needs the state before it (1.5.5, DuckTransactionManager): then the last try returns ErrCheckpointRefused.
// An error of room, which is asked before every try, is returned.
func checkpoint(ctx context.Context, conn interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}, tries int, room func() error) error {
	for left := tries; ; left-- {
		if err := room(); err != nil {
			return err
		}
		_, err := conn.ExecContext(ctx, "CHECKPOINT")
		if !slices.Contains(errorTypes(err), duckdb.ErrorTypeTransaction) {
			return err
		}
		if left <= 1 {
			return fmt.Errorf("%w: %w", ErrCheckpointRefused, err)
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(checkpointAgain):
		}
	}
}

// checkpointOn is checkpoint, and records whether one is owed.
func (db *DB) checkpointOn(ctx context.Context, conn *sql.Conn, tries int, room func() error) error {
	err := checkpoint(ctx, conn, tries, room)
	if err == nil {
		db.owedSince.Store(0)
	} else {
		db.oweCheckpoint()
	}
	return err
}

// oweCheckpoint records that a checkpoint was put off, unless one is owed already.
func (db *DB) oweCheckpoint() { db.owedSince.CompareAndSwap(0, time.Now().UnixNano()) }

// CheckpointOwed returns since when a checkpoint has been put off: by a query that began before the last change, by a reader of the frozen
// file, or by a full disk. Zero: the last one was made. What was committed is in the log, which grows.
func (db *DB) CheckpointOwed() time.Time {
	if at := db.owedSince.Load(); at != 0 {
		return time.Unix(0, at).UTC()
	}
	return time.Time{}
}
