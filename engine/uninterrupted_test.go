package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"runtime/metrics"
	"testing"

	"pmx/engine"
	"pmx/engine/enginetest"
)

// TestAnUninterruptedStatementStartsNoGoroutine: the driver recognises the mark.
func TestAnUninterruptedStatementStartsNoGoroutine(t *testing.T) {
	db, err := engine.Open(t.Context(), enginetest.Options(t, t.TempDir(), "1GB"))
	if err != nil {
		t.Fatal(err)
	}
	const statements = 200
	begun := func(ctx context.Context) (n uint64) {
		sample := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
		err := db.Write(t.Context(), func(conn *sql.Conn) error {
			metrics.Read(sample)
			before := sample[0].Value.Uint64()
			for range statements {
				var one int
				if _, err := conn.ExecContext(ctx, "CREATE OR REPLACE TEMP TABLE t AS SELECT 1 AS one"); err != nil {
					return err
				}
				if err := conn.QueryRowContext(ctx, "SELECT one FROM t").Scan(&one); err != nil || one != 1 {
					return errors.Join(errors.New("not one"), err)
				}
			}
			metrics.Read(sample)
			n = sample[0].Value.Uint64() - before
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	ctx, cancel := context.WithCancel(t.Context())
	if n := begun(ctx); n < 2*statements {
		t.Errorf("%d statements that can be interrupted began %d goroutines: the mark saves nothing", 2*statements, n)
	}
	if n := begun(engine.Uninterrupted(ctx)); n > statements/2 {
		t.Errorf("%d statements with the mark began %d goroutines", 2*statements, n)
	}
	cancel()
	err = db.Write(t.Context(), func(conn *sql.Conn) error {
		_, err := conn.ExecContext(engine.Uninterrupted(ctx), "SELECT 1")
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a statement after the end of its context: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}
