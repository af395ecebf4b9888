package rollups

import (
	"context"
	"database/sql"

	"pmx/engine"
)

// step runs a query and takes its rows in.
type step func(ctx context.Context, conn *sql.Conn) error

// eachRow makes a step of a query and of what takes a row of it.
func eachRow[T any](query string, add func(row *T)) step {
	return func(ctx context.Context, conn *sql.Conn) error {
		return engine.EachRow(ctx, conn, query, func(row *T) error { add(row); return nil })
	}
}
