package rollups_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
	"pmx/engine/guard"
	"pmx/rollups"
	"pmx/rollups/serving"
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

// A load shows leaderboards of traders and totals of wallets as soon as these are read; they are those that it shows with everything else.
// A load that fails before that, or has no other connection, shows none.
func TestTradersAreShownWhileTheRestIsRead(t *testing.T) {
	steps := rapid.Custom(func(rt *rapid.T) []step { w := drawWorld(rt); return w.split(rt) }).Example(7)
	v := newVenue(t, steps)
	defer v.close()
	for i := range steps {
		if v.importStep(i).RebuildNeeded {
			v.rebuild()
		}
	}
	var shown []*serving.Snapshot
	show := func(s *serving.Snapshot) { shown = append(shown, s) }
	load := func(beside rollups.Beside) {
		live := &rollups.Live{Venue: v.live.Venue, Publish: show, PublishTraders: show}
		v.write(func(ctx context.Context, conn *sql.Conn) error { return live.LoadBeside(ctx, conn, beside) })
	}
	busy := func(context.Context, func(*sql.Conn) error) (bool, error) { return false, nil }
	for name, beside := range map[string]rollups.Beside{"another connection": v.db.Beside, "a busy one": busy} {
		shown = nil
		load(beside)
		if len(shown) != 2 || shown[0].Catalog != nil || shown[1].Catalog == nil {
			t.Fatalf("%s: %d snapshots", name, len(shown))
		}
		sameTraders(t, name, shown[0], shown[1])
	}
	shown = nil
	load(nil)
	if len(shown) != 1 {
		t.Errorf("without another connection %d snapshots are shown", len(shown))
	}
	shown = nil
	live := &rollups.Live{Publish: show, PublishTraders: show}
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		broken := errors.New("broken")
		if err := live.LoadBeside(ctx, conn, func(context.Context, func(*sql.Conn) error) (bool, error) { return false, broken }); !errors.Is(err, broken) || len(shown) > 0 {
			t.Errorf("a load whose windows cannot be read gave %v, and showed %d snapshots", err, len(shown))
		}
		return nil
	})
}

// sameTraders compares what was shown of traders before everything else with the whole snapshot.
func sameTraders(t *testing.T, name string, first, whole *serving.Snapshot) {
	t.Helper()
	if first.Epoch != whole.Epoch || first.Lineage != whole.Lineage || !first.AsOf.Equal(whole.AsOf) || first.Wallets() == 0 || first.Wallets() != whole.Wallets() {
		t.Errorf("%s: epoch %d as of %v with %d wallets, then %d, %v and %d", name, first.Epoch, first.AsOf, first.Wallets(), whole.Epoch, whole.AsOf, whole.Wallets())
	}
	if d := cmp.Diff(whole.Traders, first.Traders) + cmp.Diff(whole.Venue, first.Venue); d != "" || len(first.Traders[serving.Month]) == 0 {
		t.Errorf("%s: leaderboards differ: %s", name, d)
	}
	for i := range whole.Wallets() {
		address := whole.WalletAt(data.WalletID(i))
		was, is := first.Trader(address)
		now, known := whole.Trader(address)
		if d := cmp.Diff(now, was); d != "" || is != known {
			t.Errorf("%s: wallet %s: %s", name, address, d)
		}
	}
}

// If wallets cannot be read, the load fails at once: it does not wait until their windows are read on the other connection.
func TestWindowsAreNotReadInVain(t *testing.T) {
	v := newVenue(t, nil)
	defer v.close()
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		if _, err := conn.ExecContext(ctx, "DROP TABLE wallet_total_delta"); err != nil {
			return err
		}
		canceled := false
		err := (&rollups.Live{}).LoadBeside(ctx, conn, func(ctx context.Context, _ func(*sql.Conn) error) (bool, error) {
			select {
			case <-ctx.Done():
				canceled = true
			case <-time.After(10 * time.Second):
			}
			return true, ctx.Err()
		})
		if err == nil || errors.Is(err, context.Canceled) || !canceled {
			t.Errorf("the load gave %v, and reading windows was canceled: %t", err, canceled)
		}
		return nil
	})
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
