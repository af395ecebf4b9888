package keeper

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"pmx/data"
	"pmx/engine"
	"pmx/engine/ingest"
	"pmx/rollups"
)

// Commit brings in what a source that is followed gave: one batch at a time, behind imports
// and as these are, and shown by the next snapshot. coming is what the source is still to
// give before it has caught up. As long as there is any, a batch may be left to a rebuild,
// which is done behind the last of them, or before where it takes too long to get there.
func (k *Keeper) Commit(ctx context.Context, rows ingest.Rows, coming ingest.Remaining) (ingest.Receipt, error) {
	if err := k.work.Lock(ctx); err != nil {
		return ingest.Receipt{}, err
	}
	defer k.work.Unlock()
	if err := errors.Join(k.needFills("an import"), k.checkDiskSpace()); err != nil {
		return ingest.Receipt{}, err
	}
	r, err := k.importer.Append(ctx, rows, ingest.Options{OnError: ingest.RejectRow, Remaining: coming})
	if err != nil {
		k.snapshotBehind = k.snapshotBehind || engine.IsFault(err) // it may be in for all that
		return r, err
	}
	k.imported(r)
	k.cfg.Log.Debug().Str("source", r.File).Str("feed", r.Feed).Int64("read", r.Read).Int64("inserted", r.Inserted).Int64("rejected", r.RejectedRows()).Msg("batch committed")
	if coming.Fills > 0 || !k.deferred.since.IsZero() {
		k.boundMemoryBehind(ctx)
	} else {
		k.boundMemory(ctx)
	}
	if k.segments != nil && k.segments.memtableFull() {
		k.startSegmentBuild()
	}
	if !k.Freshness().Stale {
		return r, nil
	}
	if coming.Fills > 0 {
		k.deferred.put(rows.Name, k.cfg.Now())
		return r, nil
	}
	if k.deferred.ends(rows.Name, k.cfg.Now()) {
		return r, k.cycleDone(k.refresh(ctx, nil))
	}
	return r, nil // the next cycle rebuilds: one batch is not worth a rebuild of its own
}

// How much garbage a server that follows holds beside what it serves, and who catches up beside
// what is on its way; and how often what lives is looked at, and what is not needed given back.
const (
	followedGarbage = 32 << 20
	behindGarbage   = 48 << 20
	behindBlocks    = 48 << 20 // that DuckDB has read or written
	memoryLooks     = time.Minute
)

// boundMemoryBehind gives back what a batch of who catches up needed: the next one needs it elsewhere.
func (k *Keeper) boundMemoryBehind(ctx context.Context) {
	engine.BoundGarbage(behindGarbage)
	k.garbageAt = k.cfg.Now()
	engine.TrimMemory()
	k.releaseBlocks(ctx, behindBlocks)
}

// releaseBlocks gives back the blocks that DuckDB has read where they are more than most bytes and nobody is
// reading, and reports whether nobody was.
func (k *Keeper) releaseBlocks(ctx context.Context, most int64) bool {
	done, err := k.db.ReleaseBlocks(ctx, most)
	switch {
	case errors.Is(err, engine.ErrLimitLow):
		k.cfg.Log.Error().Err(err).Msg("queries may fail for lack of memory until it is raised again")
	case err != nil && ctx.Err() == nil:
		k.cfg.Log.Debug().Err(err).Msg("DuckDB keeps the blocks that it has read")
	}
	return done
}

// boundMemory has Go hold little garbage, and DuckDB few blocks, where batches come one by one.
func (k *Keeper) boundMemory(ctx context.Context) {
	if k.live == nil {
		return
	}
	now := k.cfg.Now()
	if now.Sub(k.garbageAt) >= memoryLooks {
		k.garbageAt = now
		engine.BoundGarbage(followedGarbage)
	}
	if now.Sub(k.releasedAt) >= memoryLooks && k.releaseBlocks(ctx, 0) {
		k.releasedAt = now // else behind the next batch
	}
}

// unboundGarbage has Go hold as much as it does by itself: files are imported as quickly as that.
func (k *Keeper) unboundGarbage() {
	if k.live != nil && !k.garbageAt.IsZero() {
		k.garbageAt = time.Time{}
		engine.BoundGarbage(0)
	}
}

// Quote shows quotes of open markets, as the order book tells them, and puts them aside for the
// next start. They are no facts: no import and no rollup sees them. It returns how many are of open
// markets and not older than what was known.
func (k *Keeper) Quote(ctx context.Context, quotes []data.Quote) (stored int64, err error) {
	if err := k.work.Lock(ctx); err != nil {
		return 0, err
	}
	defer k.work.Unlock()
	if err := k.checkDiskSpace(); err != nil {
		return 0, err
	}
	err = k.db.Write(ctx, func(conn *sql.Conn) error {
		if stored, err = rollups.StoreQuotes(ctx, conn, quotes); err != nil || stored == 0 || k.live == nil {
			return err
		}
		if err := k.live.FollowQuotes(context.WithoutCancel(ctx), conn); err != nil {
			k.snapshotBehind = true // the next cycle reads everything
			return err
		}
		return nil
	})
	return stored, err
}

// Read runs f on a connection that reads the database.
func (k *Keeper) Read(ctx context.Context, f func(conn *sql.Conn) error) error {
	return k.db.Read(ctx, f)
}

// deferral is a rebuild that batches were left to and that waits for the last of them.
type deferral struct {
	since, last time.Time     // when the first and the last batch was left to it; zero: none was
	by          string        // the name of the last batch
	took        time.Duration // the last rebuild
}

// How long a rebuild waits for the next batch, and how long for the last of them where a
// rebuild takes next to nothing; else ten times as long as it takes.
const (
	nextBatchIn = time.Minute
	lastBatchIn = 10 * time.Minute
)

func (d *deferral) put(by string, now time.Time) {
	if d.since.IsZero() {
		d.since = now
	}
	d.last, d.by = now, by
}

// ends reports whether the rebuild is to be done behind a batch of a name, which no other follows:
// of the source that catches up it is the last one; what others give says nothing of that.
func (d *deferral) ends(name string, now time.Time) bool {
	return !d.since.IsZero() && (d.by == name || !d.waits(now))
}

// waits reports whether the rebuild is not to be done yet.
func (d *deferral) waits(now time.Time) bool {
	return !d.since.IsZero() && now.Sub(d.last) < nextBatchIn && now.Sub(d.since) < max(lastBatchIn, 10*d.took)
}

// done notes that a rebuild is done that began at some time.
func (d *deferral) done(began, now time.Time) {
	d.since, d.last, d.took = time.Time{}, time.Time{}, now.Sub(began)
}
