package keeper_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmx/data/feeds"
	"pmx/engine"
	"pmx/engine/enginetest"
	"pmx/engine/ingest"
	"pmx/rollups/keeper"
	"pmx/rollups/replica"
)

// divided is a keeper whose 2 GB of memory are divided, with the live heap that it sees.
type divided struct {
	*keeper.Keeper
	t    *testing.T
	l    *limits
	log  *bytes.Buffer
	heap *atomic.Int64
	now  *atomic.Int64 // in seconds since the start
}

// Live heaps for which Go needs its half, some more, and more than there is, with DuckDB's limit in
// megabytes for each.
const (
	smallHeap, largeHeap, hugeHeap    = 100_000_000, 700_000_000, 3_000_000_000
	smallLimit, largeLimit, hugeLimit = 804, 696, 134
)

// configDivided is the configuration of a keeper with 2 GB.
func configDivided(t *testing.T, heap int64) (keeper.Config, *divided) {
	t.Helper()
	before := debug.SetMemoryLimit(math.MaxInt64)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	m, err := engine.ParseMemory("2GB")
	if err != nil {
		t.Fatal(err)
	}
	d := &divided{t: t, l: &limits{}, log: &bytes.Buffer{}, heap: keeper.LiveHeapIs(t, heap), now: &atomic.Int64{}}
	opts := enginetest.Options(t, t.TempDir(), "8GB") // which the division replaces
	opts.OnStatement = d.l.told
	start := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	return keeper.Config{Engine: opts, Memory: m, Feeds: feeds.Catalog{}, Log: zerolog.New(d.log).Level(zerolog.WarnLevel), Serve: true,
		Now: func() time.Time { return start.Add(time.Duration(d.now.Load()) * time.Second) }}, d
}

func openDivided(t *testing.T, heap int64) *divided {
	t.Helper()
	cfg, d := configDivided(t, heap)
	k, err := keeper.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	closedAtEnd(t, k)
	k.Settle()
	k.Bulk(100)
	d.Keeper = k
	return d
}

// expect checks that DuckDB has a usual limit of that many megabytes, divided among its databases,
// and Go the rest.
func (d *divided) expect(when string, megabytes, databases int64) {
	d.t.Helper()
	now := d.Memory()
	if now.DuckDB != megabytes*1_000_000 || now.Go+now.DuckDB+now.Rest != 2_000_000_000 {
		d.t.Errorf("%s: %+v, want %d MB for DuckDB", when, now, megabytes)
	}
	if inForce := debug.SetMemoryLimit(-1); inForce != now.Go && inForce != math.MaxInt64 { // nothing has been changed yet
		d.t.Errorf("%s Go's limit is %d, want %d", when, inForce, now.Go)
	}
	tenths := megabytes / databases * 1_000_000 * 10 >> 20 // as DuckDB reports it
	if got, want := limitOf(d.t, d.Keeper), fmt.Sprintf("%d.%d MiB", tenths/10, tenths%10); got != want {
		d.t.Errorf("%s DuckDB has %s, want %s", when, got, want)
	}
}

func (d *divided) commit(first int, coming int64) {
	d.t.Helper()
	if _, err := d.Commit(d.t.Context(), batchOf(first, 100), ingest.Remaining{Fills: coming}); err != nil {
		d.t.Fatal(err)
	}
}

func (d *divided) cycle() {
	d.t.Helper()
	if err := d.Cycle(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
}

// TestARebuildLendsDuckDBTheMemoryOfGo, if nothing is served. Go keeps what its heap needs.
func TestARebuildLendsDuckDBTheMemoryOfGo(t *testing.T) {
	for _, serve := range []bool{false, true} {
		cfg, d := configDivided(t, smallHeap)
		cfg.Serve = serve
		k, err := keeper.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		closedAtEnd(t, k)
		d.Keeper = k
		lent := int64(2*smallLimit - 192)
		if serve {
			lent = smallLimit
		}
		steps := 0
		err = k.Rebuild(t.Context(), func(string, int, int) {
			if steps++; k.Memory().DuckDB != lent*1_000_000 {
				t.Errorf("served %v: %+v, want %d MB for DuckDB", serve, k.Memory(), lent)
			}
		})
		if err != nil || steps == 0 {
			t.Fatalf("%d steps, %v", steps, err)
		}
		d.expect("after the rebuild", smallLimit, 1)
	}
}

// TestTheMemoryIsDividedByTheHeap with every refresh, if nothing is followed; step by step, in both
// directions. If there is too little, a single warning says so.
func TestTheMemoryIsDividedByTheHeap(t *testing.T) {
	d := openDivided(t, smallHeap)
	d.expect("with a small heap", smallLimit, 1)
	d.heap.Store(largeHeap)
	d.cycle()
	d.expect("with a large heap", largeLimit, 1)
	if now := d.Memory(); now.LiveHeap != largeHeap || now.Needed != 0 || d.log.Len() > 0 {
		t.Errorf("%+v, log %s", now, d.log)
	}
	d.heap.Store(hugeHeap)
	if err := d.Read(t.Context(), func(*sql.Conn) error { d.cycle(); return nil }); err != nil {
		t.Fatal(err)
	}
	d.expect("beside a reader", largeLimit, 1)
	d.cycle()
	d.expect("after a step", largeLimit-256, 1)
	for range 4 {
		d.cycle()
	}
	d.expect("with a huge heap", hugeLimit, 1)
	if now := d.Memory(); now.Needed < 4_000_000_000 || strings.Count(d.log.String(), "raise --memory") != 1 {
		t.Errorf("%+v, log %s", now, d.log)
	}
	set := len(d.l.sets())
	if err := d.Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	alsoVerify(t, d.Keeper)
	if sets := d.l.sets()[set:]; len(sets) > 0 {
		t.Errorf("a rebuild and a verification set the limit to %q", sets)
	}
	d.heap.Store(smallHeap)
	d.cycle()
	d.expect("with a small heap again", smallLimit, 1)
	if now := d.Memory(); now.Needed != 0 {
		t.Errorf("now = %+v", now)
	}
}

// TestAServerOpensWithTheMemoryThatItsHeapNeeds at once, in as many steps as that takes.
func TestAServerOpensWithTheMemoryThatItsHeapNeeds(t *testing.T) {
	openDivided(t, hugeHeap).expect("at the start", hugeLimit, 1)
}

// TestTheMemoryIsDividedWhileBatchesCome, once a minute.
func TestTheMemoryIsDividedWhileBatchesCome(t *testing.T) {
	d := openDivided(t, smallHeap)
	d.commit(0, 0)
	d.heap.Store(largeHeap)
	d.now.Store(59)
	d.commit(100, 0)
	d.expect("within a minute", smallLimit, 1)
	d.now.Store(60)
	d.commit(200, 0)
	d.expect("after a minute", largeLimit, 1)
}

// TestTheMemoryIsDividedAfterARebuild, also at the end of a catch-up. A usual limit below the bound
// of the catch-up replaces it; in the end the usual limit applies.
func TestTheMemoryIsDividedAfterARebuild(t *testing.T) {
	d := openDivided(t, smallHeap)
	d.commit(0, 100)
	d.heap.Store(largeHeap)
	if err := d.Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	d.Settle()
	d.expect("after a rebuild", largeLimit, 1)
	d.commit(100, 100)
	d.heap.Store(hugeHeap)
	set := len(d.l.sets())
	d.commit(200, 0)
	d.Settle()
	sets := d.l.sets()[set:]
	if n := slices.Index(sets, "'98304KiB'"); n < 0 || slices.Contains(sets, "'804MB'") || sets[len(sets)-1] != fmt.Sprintf("'%dMB'", largeLimit-256) {
		t.Errorf("a catch-up set the limit to %q", sets)
	}
	d.expect("after a catch-up", largeLimit-256, 1)
	d.Bound(400 << 20)
	d.cycle()
	d.cycle()
	if got := limitOf(t, d.Keeper); got != "127.7 MiB" {
		t.Errorf("with a bound above the usual limit, the limit is %s", got)
	}
	d.expect("without a bound", hugeLimit, 1)
}

// TestTheMemoryOfAReplicaIsDivided between two databases, with each state that it serves or looks
// for.
func TestTheMemoryOfAReplicaIsDivided(t *testing.T) {
	states := t.TempDir()
	state := func(name string) replica.State {
		cfg, _ := configDivided(t, smallHeap)
		k, err := keeper.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		k.Settle()
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(cfg.Engine.Dir.Database())
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(states, name, "pmx.duckdb")
		if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o700), os.WriteFile(file, text, 0o600)); err != nil {
			t.Fatal(err)
		}
		return replica.State{File: file}
	}
	first, second := state("1"), state("2")
	cfg, d := configDivided(t, largeHeap)
	cfg.Engine.Dir = engine.Dir(t.TempDir())
	k, err := keeper.OpenReplica(t.Context(), cfg, first)
	if err != nil {
		t.Fatal(err)
	}
	d.Keeper = closedAtEnd(t, k)
	k.Settle()
	d.expect("at the start", largeLimit, 2)
	d.heap.Store(smallHeap)
	k.Followed(true, "")
	d.expect("without a new state", smallLimit, 2)
	d.heap.Store(largeHeap)
	if err := k.Take(t.Context(), second, func(string) {}); err != nil {
		t.Fatal(err)
	}
	d.expect("with a new state", largeLimit, 2)
}
