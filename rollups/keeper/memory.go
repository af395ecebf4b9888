package keeper

import (
	"context"
	"database/sql"
	"errors"
	"runtime"
	"time"

	"pmx/engine"
	"pmx/rollups"
)

// How much garbage a server may hold while it follows and while it catches up, and how often the
// live heap is measured and unused memory returned.
const (
	followedGarbage = 32 << 20
	behindGarbage   = 48 << 20
	writingGarbage  = 16 << 20 // while files are written below segments/
	behindBlocks    = 48 << 20 // that DuckDB has read or written
	memoryLooks     = time.Minute
)

// boundMemoryBehind returns the memory that a batch of catching up needed: the next one allocates its
// own.
func (k *Keeper) boundMemoryBehind(ctx context.Context) {
	engine.BoundGarbage(behindGarbage)
	k.garbageAt = k.cfg.Now()
	engine.TrimMemory()
	k.releaseBlocks(ctx, behindBlocks)
	engine.TrimBlocks()
}

// releaseBlocks returns the memory of blocks that DuckDB has read if they are more than most bytes and
// nobody is reading; it reports whether nobody was.
func (k *Keeper) releaseBlocks(ctx context.Context, most int64) bool {
	done, err := k.db.ReleaseBlocks(ctx, most)
	k.blocksReleased(ctx, err)
	return done
}

// blocksReleased logs how releasing blocks failed, if it did.
func (k *Keeper) blocksReleased(ctx context.Context, err error) {
	switch {
	case errors.Is(err, engine.ErrLimitLow):
		k.cfg.Log.Error().Err(err).Msg("queries may fail for lack of memory until it is raised again")
	case err != nil && ctx.Err() == nil:
		k.cfg.Log.Debug().Err(err).Msg("DuckDB's blocks could not be released")
	}
}

// releaseFacts returns the memory of blocks after all facts were read once: of 100 million
// fills they are 5 GB.
func (k *Keeper) releaseFacts(ctx context.Context) {
	k.releaseAll(ctx, behindBlocks)
	engine.ReturnMemory()
}

// releaseAll is releaseBlocks in steps, between which readers go on. Blocks that somebody reads just then stay.
func (k *Keeper) releaseAll(ctx context.Context, most int64) {
	held, _, err := k.db.Memory(ctx)
	for left := held; err == nil && left > 0 && k.releaseBlocks(ctx, most); {
		if held, _, err = k.db.Memory(ctx); held >= left {
			break // nothing more can go
		}
		left = held
	}
}

// boundMemory keeps Go's garbage and DuckDB's blocks small while batches come one by one.
func (k *Keeper) boundMemory(ctx context.Context) {
	if k.live == nil {
		return
	}
	now := k.cfg.Now()
	if now.Sub(k.garbageAt) >= memoryLooks {
		k.garbageAt = now
		engine.BoundGarbage(followedGarbage)
		k.followHeap(ctx)
	}
	if now.Sub(k.releasedAt) >= memoryLooks && k.releaseBlocks(ctx, 0) {
		k.releasedAt = now // else after the next batch
	}
}

// liveHeap returns the number of live bytes in Go's heap.
var liveHeap = engine.LiveHeap

// followHeap takes a step towards the division of the memory that the live heap needs. It reports whether another one is due. The
// caller does the keeper's work.
func (k *Keeper) followHeap(ctx context.Context) (more bool) {
	if k.division == nil {
		return false
	}
	was := k.division.Now()
	more, err := k.division.Follow(ctx, k.db, liveHeap())
	now := k.division.Now()
	if err != nil && ctx.Err() == nil {
		k.cfg.Log.Debug().Err(err).Msg("the memory is divided as before")
	}
	if now.DuckDB != was.DuckDB {
		k.cfg.Log.Debug().Int64("duckdb", now.DuckDB).Int64("go", now.Go).Int64("live_heap", now.LiveHeap).Msg("the memory is divided again")
	}
	if now.Needed > 0 && was.Needed == 0 {
		k.cfg.Log.Warn().Int64("live_heap", now.LiveHeap).Int64("total", now.Total).Int64("needed", now.Needed).
			Msg("Go's limit is too low for what is live, and collecting garbage takes much of the processor time: raise --memory, or GOMEMLIMIT where it is set")
	}
	return more
}

// followRebuiltHeap is followHeap once everything was rebuilt, when much has just become garbage.
func (k *Keeper) followRebuiltHeap(ctx context.Context) {
	if k.division != nil {
		runtime.GC()
		k.followHeap(ctx)
	}
}

// lending runs f, in which DuckDB works and Go waits. If nothing is served, DuckDB has the memory meanwhile that Go does not need.
func (k *Keeper) lending(ctx context.Context, f func() error) error {
	if k.division == nil || k.live != nil {
		return f()
	}
	engine.ReturnMemory()
	back, err := k.division.Lend(ctx, k.db, liveHeap())
	if err != nil && ctx.Err() == nil {
		k.cfg.Log.Debug().Err(err).Msg("the memory is divided as before")
	}
	defer func() {
		if err := back(context.WithoutCancel(ctx)); err != nil {
			k.cfg.Log.Error().Err(err).Msg("Go has less memory than it may need")
		}
	}()
	return f()
}

// Memory returns the current division of the process's memory; zero if Config.Memory is zero.
func (k *Keeper) Memory() engine.Divided {
	if k.division == nil {
		return engine.Divided{}
	}
	return k.division.Now()
}

// unboundGarbage restores Go's own bound of garbage, for fast imports of files.
func (k *Keeper) unboundGarbage() {
	if k.live != nil && !k.garbageAt.IsZero() {
		k.garbageAt = time.Time{}
		engine.BoundGarbage(0)
	}
}

// DuckDB's memory limits at the end of a catch-up: a number of bytes for each fill, and a minimum.
// DuckDB then keeps few blocks, and writes to disk what does not fit. A checkpoint, which ends the
// instance if it lacks memory, needs the row groups that its threads write at once, some 30 MB
// each.
var (
	rebuildMemory    = share{least: 352 << 20, each: 88}
	checkpointMemory = share{least: 256 << 20, each: 64}
	segmentsMemory   = share{least: 96 << 20, each: 24}
)

// verifyGarbage is how much garbage Go may hold while a server verifies.
const verifyGarbage = 128 << 20

// DuckDB's memory limits while a server verifies. While it loads a second snapshot, which takes as much memory as the one that is
// served, DuckDB gets less.
var (
	verifyMemory = share{least: 1 << 30, each: 14}
	loadMemory   = share{least: 512 << 20, each: 4}
)

// share is an amount of memory by number of fills, in bytes.
type share struct{ least, each int64 }

func (s share) of(fills int64) int64 { return max(s.least, fills*s.each) }

// bound lowers DuckDB's memory limit, unless somebody reads the database.
func (k *Keeper) bound(ctx context.Context, most int64) {
	k.tellBound(ctx, most, k.db.Write(ctx, func(conn *sql.Conn) error { return k.db.BoundMemory(ctx, conn, most) }))
}

// tellBound logs why the limit of DuckDB's memory is unchanged, if it is.
func (k *Keeper) tellBound(ctx context.Context, most int64, err error) {
	if err != nil && ctx.Err() == nil {
		k.cfg.Log.Debug().Err(err).Int64("bytes", most).Msg("DuckDB's memory limit is unchanged")
	}
}

// inLittle runs f within a Write. bound lowers DuckDB's memory limit to most bytes, and bounds Go's garbage; f calls it now and then,
// because a query restores the usual limit, and other work bounds garbage differently. If f lacks memory with the lower limit, or
// space for what it wrote to disk because of that, it runs again with the usual one.
func (k *Keeper) inLittle(ctx context.Context, most int64, f func(conn *sql.Conn, bound func()) error) error {
	lowered := false
	run := func(most int64) error {
		return k.db.Write(ctx, func(conn *sql.Conn) error {
			return f(conn, func() {
				engine.BoundGarbage(verifyGarbage)
				k.tellBound(ctx, most, k.db.BoundMemory(ctx, conn, most))
				lowered = lowered || k.db.Bounded()
			})
		})
	}
	err := run(most)
	if lowered && (errors.Is(err, engine.ErrMemory) || errors.Is(err, engine.ErrDiskFull)) {
		k.cfg.Log.Info().Err(err).Msg("it is done again with more memory")
		k.unbound(ctx)
		err = run(0)
	}
	return err
}

// endVerify restores the usual limits.
func (k *Keeper) endVerify() {
	k.unbound(context.WithoutCancel(k.ctx)) // also if the caller has left
	if k.live != nil && !k.garbageAt.IsZero() {
		engine.BoundGarbage(followedGarbage)
		return
	}
	engine.BoundGarbage(0)
}

// unbound restores DuckDB's usual memory limit.
func (k *Keeper) unbound(ctx context.Context) {
	if err := k.db.UnboundMemory(ctx); err != nil && ctx.Err() == nil {
		k.cfg.Log.Error().Err(err).Msg("queries may fail for lack of memory until it is raised again")
	}
}

// rebuildBehind rebuilds in little memory after catching up, and returns the number of fills. If that is too
// little, it rebuilds with the usual limit.
func (k *Keeper) rebuildBehind(ctx context.Context, step Step) (fills int64, err error) {
	k.unboundGarbage()
	k.releaseBlocks(ctx, 0)
	engine.ReturnMemory() // the batches' memory, which a rebuild would not reuse
	var tight error
	err = k.db.Write(ctx, func(conn *sql.Conn) error {
		var err error
		if fills, err = rollups.FillCount(ctx, conn); err != nil {
			return err
		}
		most := rebuildMemory.of(fills)
		return rollups.Rebuild(ctx, k.db, conn, k.cfg.Feeds.Gazetteer(), func(name string, done, of int) {
			if done == 0 { // the chunks are those of the usual limit: writing to disk costs less than more chunks do
				tight = k.db.BoundMemory(ctx, conn, most)
			}
			engine.TrimBlocks()
			if step != nil {
				step(name, done, of)
			}
		})
	})
	if err != nil && (tight != nil || errors.Is(err, engine.ErrMemory)) {
		k.cfg.Log.Debug().Err(err).Msg("the rebuild is done again with more memory")
		k.unbound(ctx)
		err = k.db.Write(ctx, func(conn *sql.Conn) error { return rollups.Rebuild(ctx, k.db, conn, k.cfg.Feeds.Gazetteer(), step) })
	}
	return fills, err
}

// shownBehind returns the memory that publishing the figures needed, before the checkpoint.
func (k *Keeper) shownBehind(ctx context.Context, fills int64) {
	k.bound(ctx, checkpointMemory.of(fills))
	engine.ReturnMemory()
}

// checkpointedBehind returns the memory that the checkpoint needed, before files are written below segments/.
func (k *Keeper) checkpointedBehind(ctx context.Context, fills int64) {
	k.releaseBlocks(ctx, 0) // after the checkpoint: before it, data about deleted rows cannot be evicted
	k.writesBehind.Store(true)
	k.bound(ctx, segmentsMemory.of(fills))
	if k.live != nil {
		k.garbageAt = k.cfg.Now()
		engine.BoundGarbage(writingGarbage)
	}
}

// endBehind restores the usual limit once the files are written.
func (k *Keeper) endBehind() {
	k.cfg.Watch.Begin(&k.background, "give memory back", func() {
		if k.segments != nil {
			k.segments.building.Lock()
			defer k.segments.building.Unlock()
		}
		k.writesBehind.Store(false)
		k.unbound(context.WithoutCancel(k.ctx)) // closing makes a checkpoint
		if k.live != nil {
			engine.BoundGarbage(followedGarbage)
		}
		engine.ReturnMemory()
	})
}
