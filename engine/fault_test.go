package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"testing"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"pmx/engine"
)

func TestAFaultReopensOnceAndASecondIsReported(t *testing.T) {
	ctx := context.Background()
	var outcomes []bool
	db, err := engine.Open(ctx, engine.Options{
		Dir: engine.Dir(t.TempDir()), Threads: 1,
		OnFault: func(_ error, recovered bool) { outcomes = append(outcomes, recovered) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := write(ctx, db, "INSERT INTO wallets VALUES (0, '\\x01'::BLOB)"); err != nil {
		t.Fatal(err)
	}
	fatal := &duckdb.Error{Type: duckdb.ErrorTypeFatal, Msg: "FATAL Error: made up"}
	fail := func(*sql.Conn) error { return fatal }
	if err := db.Read(ctx, fail); !errors.Is(err, fatal) {
		t.Fatalf("the failed call: got %v, want its own error", err)
	}
	count := 0
	err = db.Read(ctx, func(conn *sql.Conn) error {
		return conn.QueryRowContext(ctx, "SELECT count(*) FROM wallets").Scan(&count)
	})
	if err != nil || count != 1 {
		t.Fatalf("after the fault: %d rows, %v; want the committed row", count, err)
	}
	_ = db.Write(ctx, fail)
	if len(outcomes) != 2 || !outcomes[0] || outcomes[1] {
		t.Errorf("recovered = %v, want [true false]", outcomes)
	}
}

// An interruption is that of the caller only if the caller's context ended. The driver leaves this out if DuckDB still plans.
func TestAnInterruptedStatementOfAnEndedContextIsCancelled(t *testing.T) {
	db, err := engine.Open(t.Context(), engine.Options{Dir: engine.Dir(t.TempDir()), Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	interrupted := &duckdb.Error{Type: duckdb.ErrorTypeInterrupt, Msg: "INTERRUPT Error: made up"}
	other := &duckdb.Error{Type: duckdb.ErrorTypeBinder, Msg: "Binder Error: made up"}
	for _, use := range []func(context.Context, func(*sql.Conn) error) error{db.Read, db.Write} {
		for _, of := range []*duckdb.Error{interrupted, other} {
			for _, ends := range []bool{true, false} {
				ctx, cancel := context.WithCancel(t.Context())
				err := use(ctx, func(*sql.Conn) error {
					if ends {
						cancel()
					}
					return of
				})
				cancel()
				want := ends && of == interrupted
				if !errors.Is(err, of) || errors.Is(err, context.Canceled) != want {
					t.Errorf("%q, context ended %v: cancelled is %v: %v", of.Msg, ends, !want, err)
				}
			}
		}
	}
}

// All users of an instance see its fault. It is replaced once, without further errors.
func TestSeveralCallersWithOneFaultReopenOnce(t *testing.T) {
	ctx := context.Background()
	outcomes := make(chan bool, 8)
	db, err := engine.Open(ctx, engine.Options{
		Dir: engine.Dir(t.TempDir()), Threads: 1,
		OnFault: func(_ error, recovered bool) { outcomes <- recovered },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	fatal := &duckdb.Error{Type: duckdb.ErrorTypeFatal, Msg: "FATAL Error: made up"}
	var inside, done sync.WaitGroup
	inside.Add(3)
	for range 3 {
		done.Go(func() {
			err := db.Read(ctx, func(*sql.Conn) error {
				inside.Done()
				inside.Wait()
				return fatal
			})
			if !errors.Is(err, fatal) {
				t.Errorf("err = %v", err)
			}
		})
	}
	done.Wait()
	if err := db.Ping(ctx); err != nil {
		t.Error(err)
	}
	if len(outcomes) != 1 || !<-outcomes {
		t.Errorf("after the first report, %d more were made, or the instance was not recovered", len(outcomes))
	}
}

// A panic of a caller neither keeps its connection nor leaves a transaction open.
func TestAPanicReleasesItsConnection(t *testing.T) {
	ctx := context.Background()
	db, err := engine.Open(ctx, engine.Options{Dir: engine.Dir(t.TempDir()), Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for range 20 { // more than there are connections
		func() {
			defer func() { _ = recover() }()
			_ = db.Write(ctx, func(conn *sql.Conn) error {
				if _, err := conn.ExecContext(ctx, "BEGIN; INSERT INTO wallets VALUES (0, '\\x01'::BLOB)"); err != nil {
					return err
				}
				panic("oh")
			})
		}()
		func() {
			defer func() { _ = recover() }()
			_ = db.Read(ctx, func(*sql.Conn) error { panic("oh") })
		}()
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := write(ctx, db, "INSERT INTO wallets VALUES (1, '\\x02'::BLOB)"); err != nil {
		t.Fatal(err)
	}
	rows := 0
	if err := db.Read(ctx, func(conn *sql.Conn) error {
		return conn.QueryRowContext(ctx, "SELECT count(*) FROM wallets").Scan(&rows)
	}); err != nil || rows != 1 {
		t.Errorf("%d rows, %v", rows, err)
	}
}
