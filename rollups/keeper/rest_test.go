package keeper_test

import (
	"database/sql"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmx/data/feeds"
	"pmx/engine"
	"pmx/engine/enginetest"
	"pmx/engine/ingest"
	"pmx/rollups/keeper"
)

// resting is a server with a table of 16 MB, and its clock.
type resting struct {
	*keeper.Keeper
	t   *testing.T
	now time.Time
}

func openResting(t *testing.T) *resting {
	t.Helper()
	r := &resting{t: t, now: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)}
	k, err := keeper.Open(t.Context(), keeper.Config{Engine: enginetest.Options(t, t.TempDir(), "512MB"), Feeds: feeds.Catalog{}, Log: zerolog.Nop(), Serve: true,
		Now: func() time.Time { return r.now }})
	if err != nil {
		t.Fatal(err)
	}
	r.Keeper = closedAtEnd(t, k)
	k.Settle()
	if err := k.DB().Write(t.Context(), func(conn *sql.Conn) error {
		_, err := conn.ExecContext(t.Context(), "CREATE TABLE much AS SELECT hash(range) AS n FROM range(2_000_000); CHECKPOINT")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return r
}

// query reads the whole table as a request would.
func (r *resting) query() {
	r.t.Helper()
	if err := r.Read(r.t.Context(), func(conn *sql.Conn) error {
		return conn.QueryRowContext(r.t.Context(), "SELECT sum(n)::VARCHAR FROM much").Scan(new(string))
	}); err != nil {
		r.t.Fatal(err)
	}
}

// blocks returns how many megabytes of the file DuckDB holds.
func (r *resting) blocks() (n int64) {
	r.t.Helper()
	if err := r.Read(engine.Lean(r.t.Context()), func(conn *sql.Conn) error {
		return conn.QueryRowContext(r.t.Context(), "SELECT coalesce(sum(memory_usage_bytes), 0)::BIGINT FROM duckdb_memory() WHERE tag = 'BASE_TABLE'").Scan(&n)
	}); err != nil {
		r.t.Fatal(err)
	}
	return n >> 20
}

func (r *resting) cycle(later time.Duration) {
	r.t.Helper()
	r.now = r.now.Add(later)
	if err := r.Cycle(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

// TestBlocksThatNobodyReadsAreReleased after a minute without a query, and not before.
func TestBlocksThatNobodyReadsAreReleased(t *testing.T) {
	r := openResting(t)
	r.query()
	for i, step := range []struct {
		later time.Duration
		query bool
		few   bool
	}{
		{0, false, false}, // the first look
		{30 * time.Second, false, false},
		{40 * time.Second, true, false}, // somebody asked in that minute
		{59 * time.Second, false, false},
		{time.Second, false, true}, // nobody did since
		{30 * time.Second, true, false},
		{time.Minute, false, false},
		{time.Minute, false, true},
	} {
		if step.query {
			r.query()
		}
		r.cycle(step.later)
		if left := r.blocks(); left <= 5 != step.few {
			t.Errorf("step %d: %d MB of blocks, want few: %v", i, left, step.few)
		}
	}
}

// TestARestingServerReturnsGarbage, and one whose garbage is being collected does not ask for more collections.
func TestARestingServerReturnsGarbage(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	r := openResting(t)
	spare := func() int64 { return engine.SpareHeap() >> 20 }
	r.cycle(0)
	garbage := make([]byte, 256<<20)
	for i := range garbage {
		garbage[i] = 1
	}
	runtime.KeepAlive(garbage)
	if before := spare(); before < 256 {
		t.Fatalf("%d MB are spare with the garbage", before)
	}
	r.cycle(59 * time.Second)
	if left := spare(); left < 256 {
		t.Errorf("%d MB are spare before the minute is over", left)
	}
	r.cycle(time.Second)
	if left := spare(); left > 80 {
		t.Errorf("%d MB are spare a minute later", left)
	}
}

// evicted waits until blocks were evicted n times while first files are written.
func (l *limits) evicted(n int) bool {
	for end := time.Now().Add(time.Minute); len(l.of("'524288KiB'")) < n; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// TestFirstFilesThatAVerificationFindsAreWrittenInLittleMemory: their eviction begins once the verification ends.
func TestFirstFilesThatAVerificationFindsAreWrittenInLittleMemory(t *testing.T) {
	k, l := openLimited(t)
	if _, err := k.Commit(t.Context(), batchOf(0, 50), ingest.Remaining{}); err != nil {
		t.Fatal(err)
	}
	k.Settle()
	n, end := 0, func() {}
	if _, err := k.Verify(t.Context(), func(string, int, int) {
		if n++; n == 2 {
			end = k.FirstBuild()
		}
	}); err != nil {
		t.Fatal(err)
	}
	if before := len(l.of("'524288KiB'")); !l.evicted(before + 1) {
		t.Errorf("limits: %q", l.sets())
	}
	k.CancelBackground()
	end()
}

// TestFirstFilesAreWrittenInLittleMemory: what DuckDB has read is evicted every second, also after a query. The usual limit is in force
// all the time otherwise, and when the server is closed meanwhile.
func TestFirstFilesAreWrittenInLittleMemory(t *testing.T) {
	k, l := openLimited(t)
	usual := limitOf(t, k)
	end := k.FirstBuild()
	if !l.evicted(1) {
		t.Fatalf("limits: %q", l.sets())
	}
	if err := k.Read(t.Context(), func(*sql.Conn) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if !l.evicted(2) {
		t.Fatalf("after a query, limits: %q", l.sets())
	}
	if err := k.Read(t.Context(), func(*sql.Conn) error {
		before := len(l.sets())
		time.Sleep(1500 * time.Millisecond) // longer than from one eviction to the next
		if sets := l.sets(); len(sets) > before {
			t.Errorf("during a query, limits: %q", sets[before:])
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	k.CancelBackground()
	end()
	for i, limit := range l.of("'524288KiB'", "'2GB'") {
		if low := i%2 == 0; low != (limit == "'524288KiB'") {
			t.Fatalf("limits: %q", l.sets())
		}
	}
	if limit := limitOf(t, k); limit != usual || k.DB().Bounded() {
		t.Errorf("afterwards the limit is %s, before it was %s", limit, usual)
	}
}
