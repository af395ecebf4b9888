package engine_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"runtime/debug"
	"testing"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"pmx/engine"
	"pmx/engine/enginetest"
)

// limitIn returns DuckDB's limit without changing it.
func limitIn(t *testing.T, db *engine.DB) (limit string) {
	t.Helper()
	err := db.Read(engine.Lean(t.Context()), func(conn *sql.Conn) error {
		return conn.QueryRowContext(t.Context(), "SELECT current_setting('memory_limit')").Scan(&limit)
	})
	if err != nil {
		t.Fatal(err)
	}
	return limit
}

// limitTo calls LimitMemory with megabytes.
func limitTo(db *engine.DB, megabytes int64) (done bool, err error) {
	ctx := context.Background()
	err = db.Write(ctx, func(conn *sql.Conn) (err error) {
		done, err = db.LimitMemory(ctx, conn, megabytes*1_000_000)
		return err
	})
	return done, err
}

// TestTheUsualLimitMoves: the new limit applies to everything that restores it, it is not lowered
// while there are readers, and it survives a fault.
func TestTheUsualLimitMoves(t *testing.T) {
	ctx := t.Context()
	db, err := engine.Open(ctx, enginetest.Options(t, t.TempDir(), "400MB"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	const at400, at300, at200, at100 = "381.4 MiB", "286.1 MiB", "190.7 MiB", "95.3 MiB"
	limited := func(megabytes int64, done bool) {
		t.Helper()
		if got, err := limitTo(db, megabytes); got != done || err != nil {
			t.Fatalf("%d MB: %v, %v", megabytes, got, err)
		}
	}
	expect := func(when, want string) {
		t.Helper()
		if got := limitIn(t, db); got != want {
			t.Errorf("%s the limit is %s, want %s", when, got, want)
		}
	}
	bound := func(most int64) {
		t.Helper()
		if err := db.Write(ctx, func(conn *sql.Conn) error { return db.BoundMemory(ctx, conn, most) }); err != nil {
			t.Fatal(err)
		}
	}
	read := func(f func()) {
		t.Helper()
		if err := db.Read(ctx, func(*sql.Conn) error { f(); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	limited(300, true)
	expect("once lowered", at300)
	read(func() { limited(200, false) })
	expect("after a reader that kept it from being lowered", at300)
	read(func() { limited(400, true) })
	expect("raised while there is a reader", at400)

	bound(200_000_000)
	limited(300, true)
	expect("while a lower one is in force", "190.7 MiB")
	read(func() {})
	expect("after a reader", at300)
	bound(200_000_000)
	limited(100, true)
	expect("lower than the one in force", at100)
	bound(200_000_000)
	expect("with a higher bound", at100)
	limited(200, true)
	if done, err := db.ReleaseBlocks(ctx, 0); !done || err != nil {
		t.Fatal(done, err)
	}
	expect("after blocks were released", at200)

	if err := db.Write(ctx, func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, "CREATE TEMP TABLE beside AS SELECT range AS n FROM range(100_000)")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if done, err := limitTo(db, 0); done || err == nil {
		t.Errorf("it can be lowered below what is in use: %v, %v", done, err)
	}
	expect("after it could not be lowered", at200)
	_ = db.Read(ctx, func(*sql.Conn) error { return &duckdb.Error{Type: duckdb.ErrorTypeFatal, Msg: "FATAL Error: made up"} })
	expect("after the database was opened again", at200)
	limited(400, true)
	expect("raised after that", at400)
}

// TestAReplicaOpensTheNextStateWithTheLimitInForce, and the served one again after a fault.
func TestAReplicaOpensTheNextStateWithTheLimitInForce(t *testing.T) {
	ctx, from := t.Context(), t.TempDir()
	writer := open(t, from)
	file := writer.Dir().Database()
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := engine.OpenReplica(ctx, engine.Options{Dir: engine.Dir(t.TempDir()), Threads: 1, MemoryLimit: "400MB"}, file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if done, err := limitTo(db, 300); !done || err != nil {
		t.Fatal(done, err)
	}
	fault := func(*sql.Conn) error { return &duckdb.Error{Type: duckdb.ErrorTypeFatal, Msg: "FATAL Error: made up"} }
	_ = db.Read(ctx, fault)
	if got := limitIn(t, db); got != "286.1 MiB" {
		t.Errorf("the state that was opened again has %s", got)
	}
	other := open(t, t.TempDir())
	next := other.Dir().Database()
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Replace(ctx, next, func(*engine.DB) error { return nil }, func(string) {}); err != nil {
		t.Fatal(err)
	}
	if got := limitIn(t, db); got != "286.1 MiB" {
		t.Errorf("the next state has %s", got)
	}
	_ = db.Read(ctx, fault)
	if got := limitIn(t, db); got != "286.1 MiB" {
		t.Errorf("the next state, opened again, has %s", got)
	}
}

// TestADivisionFollowsTheHeapInSteps: if the heap grows, memory moves from DuckDB's limit to Go's
// in steps of 256 MB, and not during a read.
func TestADivisionFollowsTheHeapInSteps(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	m, err := engine.ParseMemory("2GB") // halves of 804 MB
	if err != nil {
		t.Fatal(err)
	}
	d := engine.NewDivision(m, 1, 1)
	db, err := engine.Open(t.Context(), enginetest.Options(t, t.TempDir(), d.MemoryLimit()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	follow := func(heap int64, more bool, limit string, goes int64) {
		t.Helper()
		got, err := d.Follow(t.Context(), db, heap)
		if err != nil || got != more {
			t.Fatalf("a heap of %d: %v, %v", heap, got, err)
		}
		now := d.Now()
		if inForce := debug.SetMemoryLimit(-1); now.Go != goes || inForce != goes && goes != m.Go || now.Go+now.DuckDB+now.Rest != m.Total || now.LiveHeap != heap {
			t.Errorf("a heap of %d: %+v, Go's limit is %d, want %d", heap, now, inForce, goes)
		}
		if got := limitIn(t, db); got != limit {
			t.Errorf("a heap of %d: the limit is %s, want %s", heap, got, limit)
		}
	}
	follow(100_000_000, false, "766.7 MiB", 804_000_000)
	if err := db.Read(t.Context(), func(*sql.Conn) error {
		follow(1_000_000_000, false, "766.7 MiB", 804_000_000)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	follow(1_000_000_000, true, "522.6 MiB", 1_060_000_000)
	follow(1_000_000_000, false, "297.5 MiB", 1_296_000_000) // 1,282 MB rounded up to the next step
	follow(3_000_000_000, false, "127.7 MiB", 1_474_000_000)
	if now := d.Now(); now.Needed != 4_600_000_000 {
		t.Errorf("%d are needed", now.Needed)
	}
	follow(100_000_000, false, "766.7 MiB", 804_000_000)
	if now := d.Now(); now.Needed != 0 || debug.SetMemoryLimit(-1) != m.Go {
		t.Errorf("%+v", now)
	}
}

// What is borrowed of DuckDB's memory is given back, also if a fault ends the database meanwhile.
func TestBorrowedMemoryIsGivenBack(t *testing.T) {
	ctx := t.Context()
	db, err := engine.Open(ctx, engine.Options{Dir: engine.Dir(t.TempDir()), Threads: 1, MemoryLimit: "800MB"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	limit := func(conn *sql.Conn) (text string) {
		t.Helper()
		if err := conn.QueryRowContext(ctx, "SELECT current_setting('memory_limit')").Scan(&text); err != nil {
			t.Error(err)
		}
		return text
	}
	fatal := &duckdb.Error{Type: duckdb.ErrorTypeFatal, Msg: "FATAL Error: made up"}
	for _, fault := range []bool{false, true} {
		err = db.Write(ctx, func(conn *sql.Conn) error {
			usual := limit(conn)
			b, err := db.BorrowMemory(ctx, conn, 300_000_000)
			if err != nil || b == nil || b.Bytes != 500_000_000 || limit(conn) == usual {
				t.Fatalf("borrowed %+v, and DuckDB's limit is %s: %v", b, limit(conn), err)
			}
			if fault {
				_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // no statement runs on it any more
				if err := b.GiveBack(ctx, conn); !errors.Is(err, engine.ErrLimitLow) {
					t.Errorf("given back on a connection that is closed: %v", err)
				}
				return fatal
			}
			return errors.Join(b.GiveBack(ctx, conn), b.GiveBack(ctx, conn))
		})
		if fault != errors.Is(err, fatal) || !fault && err != nil {
			t.Error(err)
		}
		err = db.Write(ctx, func(conn *sql.Conn) error {
			if is := limit(conn); is != "762.9 MiB" || db.MemoryLimit() != 800_000_000 {
				t.Errorf("fault %v: DuckDB's limit is %s, and should be %d bytes afterwards", fault, is, db.MemoryLimit())
			}
			if err := db.BoundMemory(ctx, conn, 500_000_000); err != nil {
				return err
			}
			if b, err := db.BorrowMemory(ctx, conn, 300_000_000); b != nil || err != nil {
				t.Errorf("%+v borrowed of a bounded database: %v", b, err)
			}
			return db.BoundMemory(ctx, conn, 0)
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// DuckDB refuses to lower its limit where it needs the memory, and the transaction is at its end. So it is where a statement failed.
// Afterwards the limit is given back.
func TestMemoryIsGivenBackAfterATransactionThatFailed(t *testing.T) {
	ctx := t.Context()
	db, err := engine.Open(ctx, engine.Options{Dir: engine.Dir(t.TempDir()), Threads: 1, MemoryLimit: "800MB"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	err = db.Write(ctx, func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, "INSERT INTO wallet_day SELECT r // 1000, r % 1000, 1, 1, 1, 1 FROM range(2000000) AS t(r)")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, rest := range []int64{1_000_000, 300_000_000} {
		err := db.Write(ctx, func(conn *sql.Conn) error {
			var b *engine.BorrowedMemory
			err := engine.InTx(ctx, conn, func() (err error) {
				if _, err := conn.ExecContext(ctx, "DELETE FROM wallet_day"); err != nil { // 16 MB of notes, which cannot be evicted
					return err
				}
				if b, err = db.BorrowMemory(ctx, conn, rest); err == nil {
					_, err = conn.ExecContext(ctx, "SELECT error('made up')")
				}
				return err
			})
			if err == nil || b == nil || engine.ShortOfMemory(err) != (rest == 1_000_000) {
				t.Errorf("%d bytes left: borrowed %+v: %v", rest, b, err)
			}
			if err := b.GiveBack(ctx, conn); err != nil {
				return err
			}
			var is string
			if err := conn.QueryRowContext(ctx, "SELECT current_setting('memory_limit')").Scan(&is); err != nil || is != "762.9 MiB" {
				t.Errorf("%d bytes left: DuckDB's limit is %s afterwards: %v", rest, is, err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
