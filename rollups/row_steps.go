package rollups

import (
	"context"
	"database/sql"

	"pmx/engine"
)

// step runs a query and handles its rows.
type step func(ctx context.Context, conn *sql.Conn) error

// eachAdded is eachRow for what l reads, or for the rows that were made from the batch in memory.
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

// eachRow makes a step from a query and a function that takes a row.
func eachRow[T any](query string, add func(row *T)) step {
	return func(ctx context.Context, conn *sql.Conn) error {
		return engine.EachRow(ctx, conn, query, func(row *T) error { add(row); return nil })
	}
}
