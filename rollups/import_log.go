package rollups

import (
	"context"
	"database/sql"
)

// LastBatch is the number of the last import; −1: none. If the import known is in the log, only
// what follows it is read; −1 reads all.
func LastBatch(ctx context.Context, conn *sql.Conn, known int64) (batch int64, err error) {
	err = conn.QueryRowContext(ctx, statements.Get("LastBatch", "@from", itoa(known))).Scan(&batch)
	if err == nil && batch < 0 && known >= 0 {
		return LastBatch(ctx, conn, -1)
	}
	return batch, err
}

// Stale reports whether there are facts that the rollups lack.
func Stale(ctx context.Context, conn *sql.Conn) (bool, error) {
	s, err := readProgress(ctx, conn)
	return s.stale, err
}

// NewestImports gives the wall clock, in unix µs, of the last imports that added
// fills and that changed markets; 0 for never.
func NewestImports(ctx context.Context, conn *sql.Conn, fills, markets *int64) error {
	return conn.QueryRowContext(ctx, statements.Get("NewestBatches")).Scan(fills, markets)
}
