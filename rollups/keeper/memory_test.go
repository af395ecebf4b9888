package keeper_test

import (
	"database/sql"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"pmx/data/feeds"
	"pmx/engine"
	"pmx/engine/enginetest"
	"pmx/engine/ingest"
	"pmx/rollups"
	"pmx/rollups/keeper"
)

// limits are the limits of DuckDB's memory that were set, and the checkpoints in between, in order.
type limits struct {
	mu   sync.Mutex
	seen []string
}

func (l *limits) told(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if to, sets := strings.CutPrefix(text, "SET memory_limit = "); sets {
		l.seen = append(l.seen, to)
	} else if text == "CHECKPOINT" {
		l.seen = append(l.seen, text)
	}
}

// of returns those that are among wanted, in order.
func (l *limits) of(wanted ...string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.seen), func(s string) bool { return !slices.Contains(wanted, s) })
}

// sets returns all limits that were set.
func (l *limits) sets() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.seen), func(s string) bool { return s == "CHECKPOINT" })
}

func openLimited(t *testing.T) (*keeper.Keeper, *limits) {
	t.Helper()
	opts, l := enginetest.Options(t, t.TempDir(), "2GB"), &limits{}
	opts.OnStatement = l.told
	k, err := keeper.Open(t.Context(), keeper.Config{Engine: opts, Feeds: feeds.Catalog{}, Log: zerolog.Nop(), Serve: true})
	if err != nil {
		t.Fatal(err)
	}
	closedAtEnd(t, k)
	k.Settle()
	k.Bulk(100)
	return k, l
}

func limitOf(t *testing.T, k *keeper.Keeper) (limit string) {
	t.Helper()
	if err := k.Read(engine.Lean(t.Context()), func(conn *sql.Conn) error {
		return conn.QueryRowContext(t.Context(), "SELECT current_setting('memory_limit')").Scan(&limit)
	}); err != nil {
		t.Fatal(err)
	}
	return limit
}

// TestACatchUpIsRebuiltInLittleMemory: the rebuild, the checkpoint and the files written after it
// have a limit each. The usual limit applies again at the end, or as soon as the next batch of a
// catch-up is committed. A rebuild outside of a catch-up has the usual limit.
func TestACatchUpIsRebuiltInLittleMemory(t *testing.T) {
	k, l := openLimited(t)
	usual := limitOf(t, k)
	commit := func(first int, coming int64) {
		t.Helper()
		if _, err := k.Commit(t.Context(), batchOf(first, 100), ingest.Remaining{Fills: coming}); err != nil {
			t.Fatal(err)
		}
	}
	commit(0, 100)
	commit(100, 0)
	k.Settle()
	wanted := []string{"'360448KiB'", "'262144KiB'", "CHECKPOINT", "'98304KiB'", "'2GB'"}
	got := l.of(wanted...)
	var at []int
	for _, w := range wanted[:4] {
		at = append(at, slices.Index(got, w))
	}
	if at[0] < 0 || !slices.IsSorted(at) || got[len(got)-1] != wanted[4] {
		t.Errorf("limits and checkpoints were %q, want %q", got, wanted)
	}
	if c, limit := k.Snapshot().Counts.Fills, limitOf(t, k); c != 200 || limit != usual {
		t.Errorf("%d fills are shown, the limit is %s, before %s", c, limit, usual)
	}
	before := len(l.of(wanted[:4]...))
	if err := k.Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if bounded := l.of(wanted[:4]...)[before:]; !slices.Equal(bounded, []string{"CHECKPOINT"}) {
		t.Errorf("a rebuild outside of a catch-up: bounded = %q", bounded)
	}
	k.Bound(64 << 20)
	commit(200, 100)
	if limit := limitOf(t, k); limit != usual {
		t.Errorf("with more to come, the limit is %s, before it was %s", limit, usual)
	}
	k.Bound(64 << 20)
	if err := k.Read(t.Context(), func(*sql.Conn) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if limit := limitOf(t, k); limit != usual {
		t.Errorf("after a reader, the limit is %s, before it was %s", limit, usual)
	}
	commit(300, 0)
	alsoVerify(t, k)
}

// TestARebuildThatNeedsMoreMemoryGetsIt, whether it fails at once or on the way.
func TestARebuildThatNeedsMoreMemoryGetsIt(t *testing.T) {
	for _, least := range []int64{1 << 10, 12 << 20} {
		k, l := openLimited(t)
		keeper.RebuildIn(t, least)
		for n, coming := range []int64{100, 0} {
			if _, err := k.Commit(t.Context(), batchOf(5000*n, 5000), ingest.Remaining{Fills: coming}); err != nil {
				t.Fatal(err)
			}
		}
		k.Settle()
		if c := k.Snapshot().Counts.Fills; c != 10_000 || k.Freshness().Stale {
			t.Errorf("with %d bytes %d fills are shown, stale %v: %q", least, c, k.Freshness().Stale, l.seen)
		}
		alsoVerify(t, k)
	}
}

// TestAVerificationTakesLittleMemory: the limit is lower while statements run, lower still while a second snapshot is loaded, and the
// usual one afterwards. A query restores the usual one until the next statement.
func TestAVerificationTakesLittleMemory(t *testing.T) {
	k, l := openLimited(t)
	usual := limitOf(t, k)
	if _, err := k.Commit(t.Context(), batchOf(0, 50), ingest.Remaining{}); err != nil {
		t.Fatal(err)
	}
	k.Settle()
	before := len(l.sets())
	n := 0
	checks, err := k.Verify(t.Context(), func(string, int, int) {
		if n > 0 && !k.DB().Bounded() {
			t.Errorf("step %d begins with the usual limit", n)
		}
		if n++; n == 2 {
			if err := k.DB().UnboundMemory(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil || slices.ContainsFunc(checks, func(c rollups.Check) bool { return !c.OK }) {
		t.Fatalf("checks = %+v, err = %v", checks, err)
	}
	verifies, loads := "'1048576KiB'", "'524288KiB'"
	if got, want := l.sets()[before:], []string{verifies, "'2GB'", verifies, loads, verifies, "'2GB'"}; !slices.Equal(got, want) {
		t.Errorf("limits were %q, want %q", got, want)
	}
	if limit := limitOf(t, k); limit != usual || n < 3 {
		t.Errorf("the limit is %s, before %s, after %d steps", limit, usual, n)
	}
}

// TestWorkThatNeedsMoreMemoryGetsIt: what lacks memory with the lower limit runs again with the usual one, which also remains if it
// cannot be lowered; what lacks memory even so, or fails for another reason, does not run again.
func TestWorkThatNeedsMoreMemoryGetsIt(t *testing.T) {
	k, _ := openLimited(t)
	usual, other := limitOf(t, k), errors.New("another reason")
	for _, c := range []struct {
		most int64
		errs []error // of each run
		want error
	}{
		{64 << 20, []error{nil}, nil},
		{64 << 20, []error{engine.ErrMemory, nil}, nil},
		{64 << 20, []error{engine.ErrDiskFull, nil}, nil},
		{64 << 20, []error{engine.ErrMemory, engine.ErrMemory}, engine.ErrMemory},
		{64 << 20, []error{other}, other},
		{1 << 10, []error{engine.ErrMemory}, engine.ErrMemory},
	} {
		var limits []string
		err := k.InLittle(c.most, func(conn *sql.Conn) error {
			var limit string
			if err := conn.QueryRowContext(t.Context(), "SELECT current_setting('memory_limit')").Scan(&limit); err != nil {
				t.Fatal(err)
			}
			limits = append(limits, limit)
			return c.errs[len(limits)-1]
		})
		lowered := c.most >= 64<<20
		if !errors.Is(err, c.want) || len(limits) != len(c.errs) || (limits[0] == usual) == lowered || len(limits) > 1 && limits[1] != usual {
			t.Errorf("%d bytes, %v: err = %v, limits = %q, usual %s", c.most, c.errs, err, limits, usual)
		}
		if err := k.DB().UnboundMemory(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
