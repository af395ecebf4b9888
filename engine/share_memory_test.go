package engine

import (
	"context"
	"database/sql"
	"errors"
	"runtime/debug"
	"testing"

	"github.com/dustin/go-humanize"
)

func TestGoGetsWhatItsHeapNeeds(t *testing.T) {
	for _, total := range []int64{LeastMemory, 2_000_000_000, 6_000_000_000, 1 << 40} {
		half := divideMemory(total)
		if m := half.forHeap(half.Go / 4); m != half {
			t.Errorf("of %d for a quarter of Go's part: %+v, want %+v", total, m, half)
		}
		for live := half.Go / 4; live < 2*total; live += half.Go / 4 {
			m := half.forHeap(live)
			if m.DuckDB+m.Go+m.Rest != total || m.DuckDB < half.DuckDB/leastShare || m.Go < half.Go {
				t.Errorf("of %d for a heap of %d: %+v", total, live, m)
			}
			if m.DuckDB > half.DuckDB/leastShare+1 && m.Go < live+live/4 {
				t.Errorf("of %d for a heap of %d Go gets %d, DuckDB %d", total, live, m.Go, m.DuckDB)
			}
		}
	}
}

// DuckDB's usual limit is what is left to it: also after BoundMemory, and after the database was opened again.
func TestDuckDBsLimitFollowsTheHeap(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	m := divideMemory(2_000_000_000)
	db, err := Open(t.Context(), Options{Dir: Dir(t.TempDir()), MemoryLimit: m.DuckDBLimit(1), Memory: &m})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	limit := func() (bytes int64) {
		t.Helper()
		var text string
		if err := db.Read(t.Context(), func(conn *sql.Conn) error {
			return conn.QueryRowContext(t.Context(), "SELECT current_setting('memory_limit')").Scan(&text)
		}); err != nil {
			t.Fatal(err)
		}
		n, err := humanize.ParseBytes(text)
		if err != nil {
			t.Fatal(err)
		}
		return int64(n)
	}
	near := func(when string, want int64) {
		t.Helper()
		if got := limit(); got < want*98/100 || got > want*102/100 {
			t.Errorf("%s the limit is %d, want %d", when, got, want)
		}
	}
	write := func(f func(context.Context, *sql.Conn) error) {
		t.Helper()
		if err := db.Write(t.Context(), func(conn *sql.Conn) error { return f(t.Context(), conn) }); err != nil {
			t.Fatal(err)
		}
	}
	near("at first", m.DuckDB)
	large := m.forHeap(m.Go)
	share := func(to Memory) {
		write(func(ctx context.Context, conn *sql.Conn) error { return db.shareMemory(ctx, conn, to) })
	}
	share(large)
	near("for a large heap", large.DuckDB)
	if got := debug.SetMemoryLimit(-1); got != large.Go {
		t.Errorf("Go's limit is %d, want %d", got, large.Go)
	}
	bound := func(ctx context.Context, conn *sql.Conn) error { return db.BoundMemory(ctx, conn, 200<<20) }
	write(bound)
	near("after a reader lifted a lower one", large.DuckDB)
	write(bound)
	share(m) // the lower limit stays in force until it ends
	near("after the heap shrank under a lower limit", m.DuckDB)
	share(large)
	db.reopen(t.Context(), db.pools, errors.New("a fault"))
	near("after the database was opened again", large.DuckDB)
}
