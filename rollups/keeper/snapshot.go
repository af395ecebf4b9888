package keeper

import (
	"cmp"
	"context"
	"database/sql"
	"runtime"
	"time"

	"pmx/rollups"
	"pmx/rollups/serving"
)

// OnPublish makes f be called with every later snapshot, before it is served.
func (k *Keeper) OnPublish(f func(*serving.Snapshot)) { k.onPublish.Store(&f) }

func (k *Keeper) published(s *serving.Snapshot) {
	if k.segmentsAdded != nil {
		k.segmentsAdded()
	}
	if f := k.onPublish.Load(); f != nil {
		(*f)(s)
	}
}

// absorb adds a committed batch to the snapshot; if that fails, everything is read again. A batch
// that came after one left to a rebuild was not merged either, and is added after the rebuild:
// adding it now would leave the other out.
func (k *Keeper) absorb(ctx context.Context, conn *sql.Conn) error {
	k.snapshotBehind = true // until it is added: after a panic before that, the next cycle reads everything
	stale, err := rollups.Stale(ctx, conn)
	if stale {
		return nil
	}
	if err == nil {
		err = k.cfg.Watch.Do("follow batch", func() error {
			k.merger.Committed()
			k.segmentsAdded = k.addToSegments(ctx, conn) // before the snapshot that shows the batch: see published
			defer k.segmentsAdded()
			return k.live.Absorb(ctx, conn, k.merger.Added())
		})
	}
	if err != nil {
		k.cfg.Log.Warn().Err(err).Msg("the snapshot could not follow a batch and is read from the database")
		err = k.live.Load(ctx, conn)
	}
	k.snapshotBehind = err != nil
	return err
}

// Snapshot is the newest one; nil if none is kept.
func (k *Keeper) Snapshot() *serving.Snapshot {
	if k.live == nil {
		return nil
	}
	return k.live.Snapshot()
}

// load reads everything into memory again.
func (k *Keeper) load(ctx context.Context) error {
	if k.live == nil {
		return nil
	}
	return k.db.Write(ctx, func(conn *sql.Conn) error {
		if cmp.Or(k.cfg.Engine.Threads, runtime.NumCPU()) <= 2 {
			// Rows are read on three connections at once, and are turned into what is served meanwhile: a thread that helps one of
			// them takes a processor from the others, and the one that it helps waits for it in a loop.
			defer k.db.AloneBeside(time.Minute)()
		}
		if err := k.noteImports(ctx, conn); err != nil {
			return err
		}
		return k.live.LoadBeside(ctx, conn, k.db.Beside)
	})
}

// noteImports notes when the newest fills and markets were imported.
func (k *Keeper) noteImports(ctx context.Context, conn *sql.Conn) error {
	var fills, markets int64
	if err := rollups.NewestImports(ctx, conn, &fills, &markets); err != nil {
		return err
	}
	k.updateFreshness(func(f *serving.Freshness) { f.LastFills, f.LastMarkets = stamp(fills), stamp(markets) })
	return nil
}

// reload is load after a rebuild, including the memory of merging.
func (k *Keeper) reload(ctx context.Context) error {
	if err := k.show(ctx); err != nil {
		return err
	}
	return k.readBeside(ctx)
}

// show is load after a rebuild alone.
func (k *Keeper) show(ctx context.Context) error {
	if k.live == nil {
		return nil
	}
	if err := k.load(ctx); err != nil {
		return err
	}
	k.snapshotBehind = false
	return nil
}

// readBeside reads what is kept in memory besides the snapshot: the newest fills, and what merging
// needs.
func (k *Keeper) readBeside(ctx context.Context) error {
	if k.live == nil {
		return nil
	}
	if err := k.catchUpSegments(ctx); err != nil {
		return err
	}
	return k.db.Write(ctx, func(conn *sql.Conn) error { return k.merger.Warm(ctx, conn) })
}
