package rollups_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"pmx/engine/guard"
	"pmx/rollups"
)

// faltering is a context that ends after a number of calls of Err.
type faltering struct {
	context.Context
	left   atomic.Int64
	cancel context.CancelFunc
}

func falter(after int) *faltering {
	ctx, cancel := context.WithCancel(context.Background())
	f := &faltering{Context: ctx, cancel: cancel}
	f.left.Store(int64(after))
	return f
}

func (f *faltering) look() {
	if f.left.Add(-1) < 0 {
		f.cancel()
	}
}

func (f *faltering) Done() <-chan struct{} { f.look(); return f.Context.Done() }
func (f *faltering) Err() error            { f.look(); return f.Context.Err() }

// A load that fails, at any point, keeps the previous contents, and later batches are followed or
// loaded completely. The same holds for a batch that was followed in part.
func TestAFailedLoadKeepsTheSnapshot(t *testing.T) {
	world := rapid.Custom(func(rt *rapid.T) []step { w := drawWorld(rt); return w.split(rt) })
	steps := world.Filter(func(s []step) bool { return len(s) >= 3 }).Example(7)
	v := newVenue(t, steps)
	defer v.close()
	if v.importStep(0).RebuildNeeded {
		v.rebuild()
	}
	before := v.live.Snapshot()
	failed, looks := 0, 0 // looks: of a whole load, about
	for after, whole := 0, false; !whole; after += 1 + after/4 {
		v.write(func(_ context.Context, conn *sql.Conn) error {
			whole = v.live.Load(falter(after), conn) == nil
			return nil
		})
		if looks = after; whole {
			break
		}
		failed++
		if v.live.Snapshot() != before {
			t.Fatalf("a load that ended after %d looks changed what is served", after)
		}
	}
	if failed < 5 {
		t.Fatalf("%d loads failed: the test tries nothing", failed)
	}
	next := v.im.Rollups.Absorb
	for i := 1; i < len(steps); i++ {
		v.write(func(_ context.Context, conn *sql.Conn) error {
			_ = v.live.Load(falter(looks*i/(len(steps)+1)), conn)
			return nil
		})
		v.im.Rollups.Absorb = func(ctx context.Context, conn *sql.Conn) error {
			if i%2 == 0 {
				_ = v.live.Absorb(falter(looks/4), conn, v.merger.Added())
			}
			return next(ctx, conn)
		}
		if v.importStep(i).RebuildNeeded {
			v.rebuild()
		}
		v.followed(t)
	}
	fresh := &rollups.Live{}
	v.write(func(_ context.Context, conn *sql.Conn) error {
		if fresh.Load(falter(5), conn) == nil {
			t.Error("the load did not fail")
		}
		if err := fresh.Absorb(context.Background(), conn, v.merger.Added()); err != nil {
			t.Error(err)
		}
		return nil
	})
	if fresh.Snapshot() == nil {
		t.Error("nothing is served after a first load that failed and a batch")
	}
}

// If the other connection fails or panics, a load fails and keeps the previous contents; without
// one, wallets are read like everything else.
func TestWalletsReadBesideMarkets(t *testing.T) {
	world := rapid.Custom(func(rt *rapid.T) []step { w := drawWorld(rt); return w.split(rt) })
	v := newVenue(t, world.Example(7))
	defer v.close()
	if v.importStep(0).RebuildNeeded {
		v.rebuild()
	}
	before := v.live.Snapshot()
	load := func(beside rollups.Beside) (err error) {
		v.write(func(ctx context.Context, conn *sql.Conn) error {
			err = guard.Do(func() error { return v.live.LoadBeside(ctx, conn, beside) })
			return nil
		})
		return err
	}
	broken := errors.New("broken")
	for name, beside := range map[string]rollups.Beside{
		"fails before":  func(context.Context, func(*sql.Conn) error) (bool, error) { return true, broken },
		"fails without": func(context.Context, func(*sql.Conn) error) (bool, error) { return false, broken },
		"fails behind": func(ctx context.Context, f func(*sql.Conn) error) (bool, error) {
			ran, err := v.db.Beside(ctx, f)
			return ran, errors.Join(err, broken)
		},
		"panics": func(context.Context, func(*sql.Conn) error) (bool, error) { panic(broken) },
	} {
		if err := load(beside); !strings.Contains(fmt.Sprint(err), "broken") || v.live.Snapshot() != before {
			t.Errorf("%s: the load gave %v", name, err)
		}
	}
	if err := load(func(context.Context, func(*sql.Conn) error) (bool, error) { return false, nil }); err != nil {
		t.Error(err)
	}
	v.followed(t)
	if err := load(v.db.Beside); err != nil {
		t.Error(err)
	}
	v.followed(t)
}
