// Package query reads what the snapshot in memory does not hold: rarely requested details of one
// wallet, market or event. It has one file per vertical. Every statement whose rows are shown has a
// LIMIT and a total order.
package query

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"sync/atomic"

	"pmx/engine"
	"pmx/engine/statement"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

var statements = statement.MustLoad(sqlFiles)

// Reader reads from the database without waiting for the writer.
type Reader struct {
	DB *engine.DB
	// Lake says where the fills of a database are that has none; nil, or a pointer to nil: it has
	// them.
	Lake *atomic.Pointer[Lake]
}

// each passes the rows of a named statement, with its replacements, to f.
func each[T any](ctx context.Context, r *Reader, name string, f func(row *T), replace ...string) error {
	err := r.DB.Read(ctx, func(conn *sql.Conn) error {
		return engine.EachRow(ctx, conn, statements.Get(name, replace...), func(row *T) error {
			f(row)
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
