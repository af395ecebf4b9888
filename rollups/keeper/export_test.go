package keeper

import (
	"context"
	"database/sql"
	"sync/atomic"
	"testing"
	"time"

	"pmx/rollups/serving"
)

// Bulk makes files of n fills or more count as large: they are left to a rebuild.
func (k *Keeper) Bulk(n int64) { k.importer.BulkRows = n }

// AllowSegmentBuild lets replaced fills alone be a reason to write new files now.
func (k *Keeper) AllowSegmentBuild() { k.segments.buildTime = 0 }

// RewriteSegments drops the files below segments/ and writes them from the whole database.
func (k *Keeper) RewriteSegments(ctx context.Context) error {
	err := k.db.Write(ctx, func(conn *sql.Conn) error { return k.segments.restart(ctx, conn) })
	if err != nil {
		return err
	}
	return k.buildSegments(ctx, k.segments, false)
}

// FlushSegments writes what was imported to files of fills, however little it is.
func (k *Keeper) FlushSegments(ctx context.Context) error {
	k.segments.building.Lock()
	defer k.segments.building.Unlock()
	return k.db.ReadLowPriority(ctx, func(conn *sql.Conn) error { return k.segments.buildFillsOf(ctx, conn, false, true) })
}

// Warmed reports whether the memory of merging is loaded.
func (k *Keeper) Warmed() bool { return k.merger.Warmed() }

// Follow sets whether committed batches are followed or missed.
func (k *Keeper) Follow(on bool) {
	k.importer.Rollups.Absorb = nil
	if on {
		k.importer.Rollups.Absorb = k.absorb
	}
}

// Bound is bound.
func (k *Keeper) Bound(most int64) { k.bound(context.Background(), most) }

// RebuildIn lets a rebuild after a catch-up begin with that many bytes during a test.
func RebuildIn(t *testing.T, least int64) {
	before := rebuildMemory
	rebuildMemory = share{least: least}
	t.Cleanup(func() { rebuildMemory = before })
}

// InLittle is inLittle; the limit is lowered when f begins.
func (k *Keeper) InLittle(most int64, f func(conn *sql.Conn) error) error {
	return k.inLittle(context.Background(), most, func(conn *sql.Conn, bound func()) error {
		bound()
		return f(conn)
	})
}

// LiveHeapIs lets keepers see a live heap of that many bytes during a test. It can be changed.
func LiveHeapIs(t *testing.T, bytes int64) *atomic.Int64 {
	before, heap := liveHeap, &atomic.Int64{}
	heap.Store(bytes)
	liveHeap = heap.Load
	t.Cleanup(func() { liveHeap = before })
	return heap
}

// SetImageFrom makes stopped servers write images from so many wallets and tokens on, until the returned function is called.
func SetImageFrom(n int) (restore func()) {
	was := imageFrom
	imageFrom = n
	return func() { imageFrom = was }
}

// DropImage makes the keeper leave no image, as if it did not get there.
func (k *Keeper) DropImage() { k.snapshotBehind = true }

// LeaveImage writes the image as Close does.
func (k *Keeper) LeaveImage() { k.leaveImage(context.Background()) }

// FirstBuild is firstBuild.
func (k *Keeper) FirstBuild() (end func()) { return k.firstBuild() }

// CancelBackground cancels the context of background work, as Close does first.
func (k *Keeper) CancelBackground() { k.cancel() }

// RankTogether is EventTraders as for an event with many traders; ok is false if a token is not in the file.
func (r *Reader) RankTogether(s *serving.Snapshot, markets []int32, n int) (traders serving.EventTraders, ok bool, err error) {
	return r.rankTogether(s, s.Catalog.TokenPayouts(markets), n)
}

// DelaySegments has large batches added to the segments so much later than they could be.
func (k *Keeper) DelaySegments(by time.Duration) {
	start := k.segments.start
	k.segments.start = func(f func() error) <-chan error {
		return start(func() error {
			time.Sleep(by)
			return f()
		})
	}
}
