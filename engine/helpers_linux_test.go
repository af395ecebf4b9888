package engine

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"
)

// threadsOf is an SQL function that records the threads on which it is called, and blocks the first
// one until the wanted number is recorded.
type threadsOf struct {
	wanted int

	mu     sync.Mutex
	seen   map[int]bool
	enough chan struct{}
}

func (f *threadsOf) Config() duckdb.ScalarFuncConfig {
	big, _ := duckdb.NewTypeInfo(duckdb.TYPE_BIGINT)
	return duckdb.ScalarFuncConfig{InputTypeInfos: []duckdb.TypeInfo{big}, ResultTypeInfo: big}
}

func (f *threadsOf) Executor() duckdb.ScalarFuncExecutor {
	return duckdb.ScalarFuncExecutor{RowExecutor: func(values []driver.Value) (any, error) {
		f.mu.Lock()
		if f.seen[syscall.Gettid()] = true; len(f.seen) == f.wanted {
			close(f.enough)
			f.wanted = 0
		}
		f.mu.Unlock()
		select {
		case <-f.enough:
			return values[0], nil
		case <-time.After(5 * time.Minute):
			return nil, fmt.Errorf("only %d threads arrived", len(f.seen))
		}
	}}
}

// threads returns how many threads work on a query of several row groups, which waits until there
// are wanted.
func threads(t *testing.T, db *DB, conn *sql.Conn, name string, wanted int) int {
	t.Helper()
	f := &threadsOf{wanted: wanted, seen: map[int]bool{}, enough: make(chan struct{})}
	own := sql.OpenDB(struct{ driver.Connector }{db.pools.connector}) // the driver registers functions, for all connections, on one of its own
	defer func() { _ = own.Close() }()
	registering, err := own.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(duckdb.RegisterScalarUDF(registering, name, f), registering.Close()); err != nil {
		t.Fatal(err)
	}
	var rows int
	if err := conn.QueryRowContext(t.Context(), "SELECT count("+name+"(i)) FROM many WHERE i % 10000 = 0").Scan(&rows); err != nil || rows != 100 {
		t.Fatalf("%d rows, %v", rows, err)
	}
	return len(f.seen)
}

// Helpers work on a query together with the calling thread, but not while they are held off.
func TestHelpersAreHeldOff(t *testing.T) {
	db, err := Open(t.Context(), Options{Dir: Dir(t.TempDir()), Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	h := &db.pools.helpers
	h.atMost = time.Hour
	err = db.Write(t.Context(), func(conn *sql.Conn) error {
		if _, err := conn.ExecContext(t.Context(), "CREATE TABLE many AS SELECT range AS i FROM range(1000000)"); err != nil {
			return err
		}
		if n := threads(t, db, conn, "beside", 2); n != 2 {
			t.Errorf("%d threads work on a query, want 2", n)
		}
		one, other := db.Alone(), db.Alone()
		h.mu.Lock()
		h.bury(true) // they may still run a task when they are held off
		h.mu.Unlock()
		one()
		one() // which counts once
		if n := threads(t, db, conn, "alone", 1); n != 1 {
			t.Errorf("%d threads work on a query while they are held off", n)
		}
		other()
		if n := threads(t, db, conn, "again", 2); n != 2 {
			t.Errorf("%d threads work on a query when they are back, want 2", n)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if len(h.leaving) > 0 || h.working != nil {
		t.Errorf("%d crews are left after Close, working: %v", len(h.leaving), h.working)
	}
	db.Alone()()
}

// A caller that does not release them holds them off only for a while.
func TestHelpersComeBack(t *testing.T) {
	db, err := Open(t.Context(), Options{Dir: Dir(t.TempDir()), Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	db.pools.helpers.atMost = time.Millisecond
	db.Alone()
	err = db.Write(t.Context(), func(conn *sql.Conn) error {
		if _, err := conn.ExecContext(t.Context(), "CREATE TABLE many AS SELECT range AS i FROM range(1000000)"); err != nil {
			return err
		}
		if n := threads(t, db, conn, "late", 2); n != 2 {
			t.Errorf("%d threads work on a query, want 2", n)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Work in parallel to other work says how long it may hold them off.
func TestHelpersAreHeldOffForTheGivenTime(t *testing.T) {
	db, err := Open(t.Context(), Options{Dir: Dir(t.TempDir()), Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	h := &db.pools.helpers
	h.atMost = 0
	held := func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.bury(false)
		return h.working == nil
	}
	release := db.AloneBeside(time.Hour)
	db.Alone() // over at once
	for until := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Millisecond) {
		h.mu.Lock()
		holds := h.holds
		h.mu.Unlock()
		if holds == 1 {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("got %d holds", holds)
		}
	}
	if !held() {
		t.Error("they work while they are held off")
	}
	if release(); held() {
		t.Error("they are still held off after the release")
	}
}

func TestOneHelperIsHeldOffBesideOtherWork(t *testing.T) {
	for threads, want := range map[int]bool{1: true, 2: true, 3: false} {
		db, err := Open(t.Context(), Options{Dir: Dir(t.TempDir()), Threads: threads, MemoryLimit: "1GB"})
		if err != nil {
			t.Fatal(err)
		}
		release := db.AloneBesideOne(time.Hour)
		h := &db.pools.helpers
		h.mu.Lock()
		held := h.holds == 1
		h.mu.Unlock()
		if held != want {
			t.Errorf("with %d threads, helpers are held off: %v", threads, held)
		}
		release()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// However often they are held off and released while queries run, results are the same and all end.
func TestHelpersComeAndGo(t *testing.T) {
	db, err := Open(t.Context(), Options{Dir: Dir(t.TempDir()), Threads: 4})
	if err != nil {
		t.Fatal(err)
	}
	sum := func(ctx context.Context, conn *sql.Conn) error {
		var total, groups int64
		err := conn.QueryRowContext(ctx, "SELECT sum(s)::BIGINT, count(*) FROM (SELECT sum(range) AS s FROM range(200000) GROUP BY range % 1000)").Scan(&total, &groups)
		if err == nil && (total != 19999900000 || groups != 1000) {
			err = fmt.Errorf("%d in %d groups", total, groups)
		}
		return err
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for range 20 {
				if err := db.Read(t.Context(), func(conn *sql.Conn) error { return sum(t.Context(), conn) }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 50 {
		release := db.Alone()
		if err := db.Write(t.Context(), func(conn *sql.Conn) error { return sum(t.Context(), conn) }); err != nil {
			t.Error(err)
		}
		release()
	}
	all.Wait()
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// Alone within Write, while somebody waits to close the database: a second read lock would wait for
// the waiting writer, and so neither would ever end.
func TestAloneWithinAWriteDoesNotWaitForClose(t *testing.T) {
	db, err := Open(t.Context(), Options{Dir: Dir(t.TempDir()), Threads: 2, MemoryLimit: "1GB"})
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	err = db.Write(t.Context(), func(*sql.Conn) error {
		go func() { closed <- db.Close() }()
		for db.gate.TryRLock() { // until Close waits for the gate
			db.gate.RUnlock()
			time.Sleep(time.Millisecond)
		}
		db.Alone()()
		db.AloneBeside(time.Hour)()
		return nil
	})
	if err := errors.Join(err, <-closed); err != nil {
		t.Error(err)
	}
}
