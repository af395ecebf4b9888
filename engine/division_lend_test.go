package engine_test

import (
	"database/sql"
	"runtime/debug"
	"testing"

	"pmx/engine"
	"pmx/engine/enginetest"
)

// TestDuckDBBorrowsWhatGoDoesNotNeed, until it gives it back, and nothing if Go needs its part.
func TestDuckDBBorrowsWhatGoDoesNotNeed(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	m, err := engine.ParseMemory("2GB")
	if err != nil {
		t.Fatal(err)
	}
	d := engine.NewDivision(m, 1, 2)
	opts := enginetest.Options(t, t.TempDir(), d.MemoryLimit())
	db, err := engine.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	inForce := func() (text string) {
		t.Helper()
		err := db.Read(t.Context(), func(conn *sql.Conn) error {
			return conn.QueryRowContext(t.Context(), "SELECT current_setting('memory_limit')").Scan(&text)
		})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	was := inForce()
	for _, c := range []struct{ heap, goes int64 }{{1_000_000, 192_000_000}, {400_000_000, 532_000_000}, {800_000_000, m.Go}} {
		back, err := d.Lend(t.Context(), db, c.heap)
		if err != nil {
			t.Fatal(err)
		}
		now := d.Now()
		if now.Go != c.goes || now.Go+now.DuckDB != m.Go+m.DuckDB || debug.SetMemoryLimit(-1) != now.Go && c.goes != m.Go {
			t.Errorf("for a heap of %d: %+v", c.heap, now)
		}
		if (inForce() == was) != (c.goes == m.Go) {
			t.Errorf("for a heap of %d DuckDB's limit is %s, and was %s", c.heap, inForce(), was)
		}
		if err := back(t.Context()); err != nil {
			t.Fatal(err)
		}
		if now := d.Now(); now.Memory != m || inForce() != was {
			t.Errorf("given back: %+v, %s", now, inForce())
		}
	}
	// What Follow gave Go stays Go's, and a reader is not left with too little.
	for more := true; more; {
		if more, err = d.Follow(t.Context(), db, 900_000_000); err != nil {
			t.Fatal(err)
		}
	}
	followed, limit := d.Now(), inForce()
	back, err := d.Lend(t.Context(), db, 100_000_000)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Read(t.Context(), func(*sql.Conn) error {
		if err := back(t.Context()); err == nil {
			t.Error("it was given back while a query runs")
		}
		return nil
	})
	if err == nil {
		err = back(t.Context())
	}
	if now := d.Now(); err != nil || now.Memory != followed.Memory || followed.Go <= m.Go || inForce() != limit {
		t.Errorf("given back: %+v, %s, before %+v, %s; %v", now, inForce(), followed, limit, err)
	}
}
