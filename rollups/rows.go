package rollups

import (
	"context"
	"database/sql"

	"pmx/engine"
)

// step runs a query and takes its rows in.
type step func(ctx context.Context, conn *sql.Conn) error

// eachAdded is eachRow of what l follows, or of the rows that were made of the batch in memory.
func eachAdded[T any](l *Live, made func(b *batchSums) []T, query string, add func(row *T)) step {
	if l.made == nil {
		return eachRow(query, add)
	}
	return func(context.Context, *sql.Conn) error {
		rows := made(l.made)
		for i := range rows {
			add(&rows[i])
		}
		return nil
	}
}

// eachRow makes a step of a query and of what takes a row of it.
func eachRow[T any](query string, add func(row *T)) step {
	return func(ctx context.Context, conn *sql.Conn) error {
		return engine.EachRow(ctx, conn, query, func(row *T) error { add(row); return nil })
	}
}
