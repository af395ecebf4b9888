package export

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"time"

	"pmx/engine"
)

// databaseState is the state of the database from which rows were read.
type databaseState struct {
	version string
	asOf    time.Time
}

// frozen is an in-memory database with the rows of an export as of one moment. All connections can
// read it, so several can write files.
type frozen struct {
	db   *engine.DB
	name string
}

// frozenCount counts the frozen databases of this process, to name them.
var frozenCount atomic.Int64

// freezing creates a frozen database and runs f, which fills it, in a transaction.
func (e *Exporter) freezing(ctx context.Context, f func(conn *sql.Conn, in *frozen) error) (*frozen, error) {
	in := &frozen{db: e.DB, name: fmt.Sprintf("frozen_%d", frozenCount.Add(1))}
	filled := false
	defer func() {
		if !filled { // after a panic too
			in.drop(ctx)
		}
	}()
	err := e.DB.ReadLowPriority(ctx, func(conn *sql.Conn) error {
		if _, err := conn.ExecContext(ctx, statements.Get("Attach", "@name", in.name)); err != nil {
			return err
		}
		return engine.InTx(ctx, conn, func() error { return f(conn, in) })
	})
	if err != nil {
		return nil, err
	}
	filled = true
	return in, nil
}

// drop frees the memory. It fails only if the instance is gone, and its memory with it.
func (in *frozen) drop(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	_ = in.db.Read(ctx, func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, statements.Get("Detach", "@name", in.name))
		return err
	})
}

// frozenRows are the rows of a dataset in a frozen database.
type frozenRows struct {
	databaseState
	in        *frozen
	dataset   dataset
	count     int64
	truncated bool
}

// freezeDataset freezes a research dataset. It must be called in a transaction.
func (e *Exporter) freezeDataset(ctx context.Context, conn *sql.Conn, in *frozen, d dataset) (*frozenRows, error) {
	snap, err := e.state(ctx, conn)
	if err != nil {
		return nil, err
	}
	definition, err := e.definition(ctx, conn, d.name)
	if err != nil {
		return nil, err
	}
	return e.freeze(ctx, conn, in, snap, d, definition)
}

// freeze stores the first rows of a definition: one more than the maximum of a file, to see whether
// there are more.
func (e *Exporter) freeze(ctx context.Context, conn *sql.Conn, in *frozen, snap databaseState, d dataset, definition string) (*frozenRows, error) {
	r := &frozenRows{databaseState: snap, in: in, dataset: d}
	limit := cmp.Or(e.MaxRows, MaxRows)
	if _, err := conn.ExecContext(ctx, statements.Get("Freeze", "@table", r.table(), "@rows", d.frozen(definition, limit+1))); err != nil {
		return nil, err
	}
	if err := conn.QueryRowContext(ctx, statements.Get("FrozenCount", "@table", r.table())).Scan(&r.count); err != nil {
		return nil, err
	}
	if r.count > limit {
		r.count, r.truncated = limit, true
	}
	return r, nil
}

func (r *frozenRows) table() string { return r.in.name + "." + r.dataset.name }
