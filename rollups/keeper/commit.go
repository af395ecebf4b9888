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

// Commit imports a batch of a source that is followed: one batch at a time, after waiting imports,
// and shown by the next snapshot. coming is how much the source has yet to deliver before it has
// caught up. As long as there is any, a batch may be left to a rebuild, which runs after the last
// of them, or earlier if that takes too long.
func (k *Keeper) Commit(ctx context.Context, rows ingest.Rows, coming ingest.Remaining) (ingest.Receipt, error) {
	if err := k.work.Lock(ctx); err != nil {
		return ingest.Receipt{}, err
	}
	defer k.work.Unlock()
	if err := errors.Join(k.needFills("an import"), k.checkDiskSpace()); err != nil {
		return ingest.Receipt{}, err
	}
	if coming.Fills > 0 {
		k.unbound(ctx) // batches come that need as much as a rebuild
	}
	r, err := k.importer.Append(ctx, rows, ingest.Options{OnError: ingest.RejectRow, Remaining: coming})
	if err != nil {
		k.snapshotBehind = k.snapshotBehind || engine.IsFault(err) // it may be committed in spite of the error
		if errors.Is(err, engine.ErrMemory) {
			k.unbound(ctx) // for the next try
		}
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

// Quote shows quotes of open markets from the order book, and stores them for the next start. They
// are not facts: no import and no rollup sees them. It returns how many are of open markets and not
// older than the known ones.
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
	since, last time.Time     // when the first and the last batch were left to it; zero: none was
	by          string        // the name of the last batch
	took        time.Duration // the last rebuild
}

// How long a rebuild waits for the next batch, and how long at least for the last of them; a
// rebuild that takes long waits ten times as long as it takes.
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

// ends reports whether the rebuild is due after a batch with this name that is not followed by
// another: it is the last one of the source that catches up. Batches of other sources do not count.
func (d *deferral) ends(name string, now time.Time) bool {
	return !d.since.IsZero() && (d.by == name || !d.waits(now))
}

// waits reports whether the rebuild is not due yet.
func (d *deferral) waits(now time.Time) bool {
	return !d.since.IsZero() && now.Sub(d.last) < nextBatchIn && now.Sub(d.since) < max(lastBatchIn, 10*d.took)
}

// done records the end of a rebuild that began at a time.
func (d *deferral) done(began, now time.Time) {
	d.since, d.last, d.took = time.Time{}, time.Time{}, now.Sub(began)
}
