package engine_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"testing"
	"time"

	"pmx/data/testfiles"
	"pmx/engine"
	"pmx/engine/enginetest"
	"pmx/engine/guard"
)

// endsAfter is a context that has ended once Err was called some number of times.
type endsAfter struct {
	context.Context
	calls int
}

func (c *endsAfter) Done() <-chan struct{} { return nil }

func (c *endsAfter) Err() error {
	if c.calls--; c.calls < 0 {
		return context.Canceled
	}
	return nil
}

// TestADatabaseOpensAgainAfterACancelledStatement, wherever in a statement its context ends, and
// if reading its rows panics. A statement that was planned but not run, or open rows, would keep
// the closed database, and DuckDB would wait for it forever.
func TestADatabaseOpensAgainAfterACancelledStatement(t *testing.T) {
	opts := enginetest.Options(t, t.TempDir(), "1GB")
	opts.Threads = 3 // threads other than the caller's start on what was planned
	const query = "SELECT sum(range) FROM range(1_000_000)"
	ways := map[string]func(ctx context.Context, conn *sql.Conn) error{
		"command": func(ctx context.Context, conn *sql.Conn) error {
			_, err := conn.ExecContext(ctx, query)
			return err
		},
		"query": func(ctx context.Context, conn *sql.Conn) error {
			return conn.QueryRowContext(ctx, query).Scan(new(float64))
		},
		"rows": func(ctx context.Context, conn *sql.Conn) error {
			return engine.Each(ctx, conn, query, func([]driver.Value) error { return nil })
		},
		"prepared": func(ctx context.Context, conn *sql.Conn) error {
			stmt, err := conn.PrepareContext(context.Background(), query)
			if err != nil {
				return err
			}
			_, err = stmt.ExecContext(ctx)
			return errors.Join(err, stmt.Close())
		},
	}
	for name, way := range ways {
		if !testfiles.Long() && (name == "command" || name == "query") { // they end as rows do
			continue
		}
		for calls, done := 0, false; !done; calls++ {
			opensAgain(t, opts, func(conn *sql.Conn) error {
				err := way(&endsAfter{t.Context(), calls}, conn)
				if done = err == nil; !done && !errors.Is(err, context.Canceled) {
					t.Errorf("%s, ended at call %d: %v", name, calls, err)
				}
				time.Sleep(2 * time.Millisecond) // for the other threads
				return err
			})
		}
	}
	opensAgain(t, opts, func(conn *sql.Conn) error {
		return engine.Each(t.Context(), conn, "SELECT 1", func([]driver.Value) error { panic("a row") })
	})
	opensAgain(t, opts, func(*sql.Conn) error { return nil })
}

// opensAgain opens a closed database, reads, and closes it.
func opensAgain(t *testing.T, opts engine.Options, read func(conn *sql.Conn) error) {
	t.Helper()
	opened := make(chan error, 1)
	var db *engine.DB
	go func() {
		var err error
		db, err = engine.Open(context.Background(), opts)
		opened <- err
	}()
	select {
	case err := <-opened:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the database does not open again")
	}
	_ = guard.Do(func() error { return db.Read(t.Context(), read) })
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
