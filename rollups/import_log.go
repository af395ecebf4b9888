package rollups

import (
	"context"
	"database/sql"
)

// LastBatch is the last import there was; −1: none.
func LastBatch(ctx context.Context, conn *sql.Conn) (batch int64, err error) {
	err = conn.QueryRowContext(ctx, statements.Get("LastBatch")).Scan(&batch)
	return batch, err
}

// Stale tells whether facts are in that the rollups lack.
func Stale(ctx context.Context, conn *sql.Conn) (bool, error) {
	s, err := readState(ctx, conn)
	return s.stale, err
}

// NewestImports gives the wall clock, in unix µs, of the last imports that added
// fills and that changed markets; 0 for never.
func NewestImports(ctx context.Context, conn *sql.Conn, fills, markets *int64) error {
	return conn.QueryRowContext(ctx, statements.Get("NewestBatches")).Scan(fills, markets)
}
