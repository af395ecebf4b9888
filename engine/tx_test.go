package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"testing"

	"pmx/engine"
	"pmx/engine/enginetest"
)

// TestACancelledTransactionIsRolledBack: whenever a caller cancels, the writing connection is in no
// transaction afterwards, and the database has all of the transaction or nothing.
func TestACancelledTransactionIsRolledBack(t *testing.T) {
	db, err := engine.Open(t.Context(), enginetest.Options(t, t.TempDir(), "256MB"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	exec := func(conn *sql.Conn, ctx context.Context, text string) error {
		_, err := conn.ExecContext(ctx, text)
		return err
	}
	write := func(ctx context.Context, texts ...string) error {
		return db.Write(context.WithoutCancel(ctx), func(conn *sql.Conn) error {
			return engine.InTx(ctx, conn, func() error {
				for _, text := range texts {
					if err := exec(conn, ctx, text); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	if err := write(t.Context(), "CREATE TABLE pairs (n INTEGER)"); err != nil {
		t.Fatal(err)
	}
	given := 0
	for i := range 400 {
		ctx := cancelledAt(t.Context(), 1+i%100)
		err := write(ctx, "INSERT INTO pairs VALUES (1)", "INSERT INTO pairs VALUES (2)")
		ctx.cancel()
		if err != nil {
			given++
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("cancelled the %dth time: %v", i, err)
			}
		}
		var even bool
		if err := db.Write(t.Context(), func(conn *sql.Conn) error {
			return engine.InTx(t.Context(), conn, func() error {
				return conn.QueryRowContext(t.Context(), "SELECT count(*) % 2 = 0 FROM pairs").Scan(&even)
			})
		}); err != nil || !even {
			t.Fatalf("after the %dth: %v, whole: %t", i, err, even)
		}
	}
	if given == 0 || given == 400 {
		t.Errorf("%d of 400 were cancelled", given)
	}
}

// asked is a context that is cancelled at the nth call of Err.
type asked struct {
	context.Context
	cancel context.CancelFunc
	left   *atomic.Int64
}

func cancelledAt(parent context.Context, nth int) asked {
	ctx, cancel := context.WithCancel(parent)
	a := asked{ctx, cancel, new(atomic.Int64)}
	a.left.Store(int64(nth))
	return a
}

// Err implements context.Context.
func (a asked) Err() error {
	if a.left.Add(-1) == 0 {
		a.cancel()
	}
	return a.Context.Err()
}
