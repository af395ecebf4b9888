// Package query reads what the snapshot in memory does not hold: what is rarely asked of
// one wallet, one market, one event. One file per vertical; every statement that
// rows are shown from has a LIMIT and a total order.
package query

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"sync/atomic"

	"pmx/engine"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

var statements = engine.MustStatements(sqlFiles)

// Reader reads from the database, beside the writer and without waiting for it.
type Reader struct {
	DB *engine.DB
	// Lake says where the fills are of a database that has none; nil, or nil in it: it has them.
	Lake *atomic.Pointer[Lake]
}

// each hands the rows of a named statement, with its replacements, to f.
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
