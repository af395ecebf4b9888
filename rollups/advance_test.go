package rollups_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/engine"
	"pmx/engine/enginetest"
	"pmx/rollups"
)

// copies has a replica's copies of a venue: its database file, state by state.
type copies struct {
	v     *venue
	dir   string
	db    *engine.DB
	live  *rollups.Live
	files int
	file  string // that is served
	since bool   // the last state was derived from the one before
}

func newCopies(v *venue) *copies {
	dir, err := os.MkdirTemp("", "pmx-test-")
	if err != nil {
		v.t.Fatal(err)
	}
	return &copies{v: v, dir: dir, live: &rollups.Live{}}
}

func (c *copies) close() {
	if c.db != nil {
		if err := c.db.Close(); err != nil {
			c.v.t.Error(err)
		}
	}
	_ = os.RemoveAll(c.dir)
}

// take serves the current state of the venue.
func (c *copies) take(t *rapid.T) {
	ctx := context.Background()
	if err := c.v.db.Checkpoint(ctx); err != nil {
		t.Fatal(err)
	}
	c.files++
	served, file := c.file, filepath.Join(c.dir, "replica", fmt.Sprint(c.files), "pmx.duckdb")
	text, err := os.ReadFile(c.v.db.Dir().Database())
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	var since *rollups.Served
	var show func()
	prepare := func(next *engine.DB) error {
		return next.Write(ctx, func(conn *sql.Conn) error {
			var whole bool
			show, whole, err = c.live.Prepare(ctx, conn, c.v.live.Venue, nil, since)
			c.since = !whole
			return err
		})
	}
	opts := enginetest.Options(c.v.t, c.dir, "1GB")
	if c.db == nil {
		if c.db, err = engine.OpenReplica(ctx, opts, file); err == nil {
			err = prepare(c.db)
		}
	} else {
		was, readErr := os.ReadFile(served)
		if readErr != nil {
			t.Fatal(readErr)
		}
		since = &rollups.Served{File: served, Unchanged: func(at, size int64) bool {
			lo := engine.FileHead + at
			hi := lo + size
			return hi <= int64(min(len(was), len(text))) && bytes.Equal(was[lo:hi], text[lo:hi])
		}}
		err = c.db.Replace(ctx, file, prepare, func(string) {})
	}
	if err != nil {
		t.Fatal(err)
	}
	show()
	c.file = file
}

// check compares what is served with a complete load.
func (c *copies) check(t *rapid.T) {
	fresh := &rollups.Live{Venue: c.v.live.Venue}
	err := c.db.Write(context.Background(), func(conn *sql.Conn) error { return fresh.Load(context.Background(), conn) })
	if err != nil {
		t.Fatal(err)
	}
	if _, differ := c.live.Snapshot().Compare(fresh.Snapshot()); differ > 0 {
		t.Fatalf("%d things differ in a state that was carried on (%v) (-loaded +carried on): %s", differ, c.since,
			cmp.Diff(fresh.Snapshot().Stats, c.live.Snapshot().Stats))
	}
}

// Whatever a venue imports, replaces, compacts and rebuilds between two states of a replica, the
// second equals a complete load, and if only the order of rows changed, it is derived from the
// first. Some of the venues are in databases with the block size of earlier versions.
func TestAChangedStateEqualsALoadedOne(t *testing.T) {
	carried, whole := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt)
		steps := w.split(rt)
		create := enginetest.Create
		if rapid.Bool().Draw(rt, "older blocks") {
			create = enginetest.CreateOlder
		}
		v := newVenueIn(t, steps, create)
		defer v.close()
		if rapid.Bool().Draw(rt, "no wallets of the venue") {
			v.live.Venue = map[data.Address]bool{}
		}
		v.setWhaleRule(whaleMark)
		c := newCopies(v)
		defer c.close()
		for i := range steps {
			if r := v.importStep(i); r.RebuildNeeded || rapid.IntRange(0, 9).Draw(rt, "rebuild") == 0 {
				v.rebuild()
			}
			if rapid.IntRange(0, 3).Draw(rt, "compact") == 0 {
				v.write(func(ctx context.Context, conn *sql.Conn) error { return rollups.CompactAll(ctx, conn, 3) })
			}
			if i < len(steps)-1 && rapid.IntRange(0, 3).Draw(rt, "pass by") == 0 {
				continue
			}
			c.take(rt)
			c.check(rt)
			if c.since {
				carried++
			} else {
				whole++
			}
		}
		v.write(func(ctx context.Context, conn *sql.Conn) error { return rollups.CompactAll(ctx, conn, 3) })
		c.take(rt)
		c.check(rt)
		if !c.since {
			rt.Error("a state in which rows were folded, and no more, was loaded completely instead of as a change")
		}
	})
	t.Logf("%d states with more in them were carried on, %d loaded whole", carried, whole)
}

// The first and the last trade of a wallet on the desk change when a market leaves the desk.
func TestAChangeIsCorrectWhenAMarketLeavesTheDesk(t *testing.T) {
	testfiles.InLong(t, "TestAChangedStateEqualsALoadedOne takes other random steps")
	rapid.Check(t, func(rt *rapid.T) {
		steps := drawDesk(rt)
		described, left := listed("new york", 0), listed("new york", 0)
		described.UpdatedAt, left.UpdatedAt = start, start.Add(time.Hour)
		left.Question, left.GroupItemTitle = "snow", "snow" // no bracket: its whole event is off the desk
		other := listed("london", 1)
		other.UpdatedAt = start
		fill := func(market, hour int) data.Fill {
			return data.Fill{Tx: tx(100 + market), LogIndex: int32(market), TS: start.UnixMicro() + int64(hour)*3_600_000_000, Wallet: address(9),
				TokenID: token(market, 0), Shares: data.One, USD: 400_000, Outcome: data.NoIndex}
		}
		ref := func(market int) data.TokenRef {
			return data.TokenRef{TokenID: token(market, 0), Condition: condition(market)}
		}
		first := step{markets: []data.Market{described, other}, refs: []data.TokenRef{ref(0), ref(1)}, fills: []data.Fill{fill(0, 1), fill(1, 30)}}
		v := newVenue(t, append([]step{first, {markets: []data.Market{left}}}, steps...))
		defer v.close()
		c := newCopies(v)
		defer c.close()
		for i := range len(steps) + 2 {
			if r := v.importStep(i); r.RebuildNeeded {
				v.rebuild()
			}
			c.take(rt)
			c.check(rt)
			if i == 1 && !c.since {
				rt.Error("a state in which a market left the desk was loaded completely instead of as a change")
			}
		}
	})
}
