package engine

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"
)

// A checkpoint that DuckDB refuses is tried again after checkpointAgain, for five seconds.
const (
	checkpointAgain = 5 * time.Millisecond
	checkpointTries = 1000
)

// checkpoint makes a checkpoint on a connection without a transaction. DuckDB refuses one while another connection holds the lock of
// checkpoints, as a transaction that writes does. A Write excludes any other, and yet a checkpoint among many queries was refused
// once (1.5.5). So it is tried again.
func checkpoint(ctx context.Context, conn interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}) error {
	for left := checkpointTries; ; left-- {
		_, err := conn.ExecContext(ctx, "CHECKPOINT")
		if left <= 1 || !slices.Contains(errorTypes(err), duckdb.ErrorTypeTransaction) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(checkpointAgain):
		}
	}
}
