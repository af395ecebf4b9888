// Package keeper owns an open venue: the database, the importer and the live
// snapshot. It runs one piece of work at a time, whether a person, the inbox or
// the schedule asked for it.
package keeper

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/engine"
	"pmx/engine/export"
	"pmx/engine/guard"
	"pmx/engine/ingest"
	"pmx/rollups"
	"pmx/rollups/serving"
)

// Config says what to keep.
type Config struct {
	Engine engine.Options
	Feeds  ingest.FeedCatalog
	Log    zerolog.Logger
	Watch  *guard.Watch     // over what goes on in the background; nil: one that logs to Log
	Now    func() time.Time // nil: time.Now
	Venue  map[data.Address]bool
	Whale  data.Micro // from which dollars on an order is a whale move; 0: as the database has it
	Serve  bool       // keep snapshots, from which requests are answered
}

// Keeper is an open venue.
type Keeper struct {
	cfg            Config
	db             *engine.DB
	importer       *ingest.Importer
	live           *rollups.Live // nil where nobody is served
	segments       *segmentSet   // nil where nobody is served
	merger         rollups.Merger
	factsOnly      bool
	snapshotBehind bool     // a rebuild is committed that the snapshot does not show yet
	deferred       deferral // the rebuild that a source which catches up needs
	work           workLock // one import, refresh, rebuild or verification at a time

	background sync.WaitGroup  // what goes on beside that
	ctx        context.Context // of that: Close ends it
	cancel     context.CancelFunc

	arrivals arrivals // in the inbox

	noting    sync.Mutex // one change of freshness at a time
	freshness atomic.Pointer[serving.Freshness]
	onPublish atomic.Pointer[func(*serving.Snapshot)]
}

// Open opens the database and, where snapshots are wanted, loads the first one.
// Facts whose rollups were left stale by a stopped import are rebuilt first.
func Open(ctx context.Context, cfg Config) (*Keeper, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Watch == nil {
		cfg.Watch = guard.New(cfg.Log)
	}
	db, err := engine.Open(ctx, cfg.Engine)
	if err != nil {
		return nil, err
	}
	reportLog(cfg.Log, db)
	k := &Keeper{cfg: cfg, db: db, merger: rollups.Merger{Cities: cfg.Feeds.Cities}}
	k.ctx, k.cancel = context.WithCancel(context.WithoutCancel(ctx))
	merge := ingest.Rollups{Merge: k.merger.Merge, Postpone: k.merger.Postpone}
	if cfg.Serve {
		k.live = &rollups.Live{Publish: k.published, Venue: cfg.Venue, Cities: cfg.Feeds.Cities}
		merge.Absorb = k.absorb
	}
	if err := k.refreshDesk(ctx); err != nil {
		k.cancel()
		return nil, errors.Join(err, db.Close())
	}
	k.importer = &ingest.Importer{DB: db, Feeds: cfg.Feeds, Now: cfg.Now, Rollups: merge}
	if err := k.SetWhale(ctx, cfg.Whale); err != nil {
		k.cancel()
		return nil, errors.Join(err, db.Close())
	}
	if k.live != nil {
		k.importer.Directory = k.live
		k.serveSegments(db.Dir().Segments()) // a rebuild asks for them
		// On a full disk everything that is there can be served.
		err := errors.Join(k.refresh(ctx, nil), k.load(ctx))
		if err == nil {
			err = k.db.CheckSpace() // the status says so from the first answer on
		}
		err = k.cycleDone(err)
		if err != nil && (!errors.Is(err, engine.ErrDiskFull) || k.Snapshot() == nil) {
			k.cancel()
			return nil, errors.Join(err, k.segments.close(), db.Close())
		}
		k.cfg.Watch.Begin(&k.background, "warm", func() { _ = k.cfg.Watch.Supervise(k.ctx, "warm", k.warm) })
	}
	return k, nil
}

// OnPublish has f called with every snapshot from now on, before it is served.
func (k *Keeper) OnPublish(f func(*serving.Snapshot)) { k.onPublish.Store(&f) }

func (k *Keeper) published(s *serving.Snapshot) {
	if f := k.onPublish.Load(); f != nil {
		(*f)(s)
	}
}

// refreshDesk rebuilds the weather desk where its cities or its grammar changed.
func (k *Keeper) refreshDesk(ctx context.Context) error {
	return k.db.Write(ctx, func(conn *sql.Conn) error {
		changed, err := rollups.RefreshDesk(ctx, conn, k.cfg.Feeds.Cities)
		if changed && err == nil {
			k.cfg.Log.Info().Msg("the weather desk was rebuilt: its cities or its grammar changed")
		}
		return err
	})
}

// absorb follows a committed batch; where that fails, everything is read again. A
// batch that came behind one left to a rebuild was not merged either, and is
// caught up with after it: to follow it now would be to leave the other out.
func (k *Keeper) absorb(ctx context.Context, conn *sql.Conn) error {
	k.snapshotBehind = true // until it is in: a panic on the way leaves the rest to the next cycle
	stale, err := rollups.Stale(ctx, conn)
	if stale {
		return nil
	}
	if err == nil {
		err = k.cfg.Watch.Do("follow batch", func() error {
			k.merger.Committed()
			k.addToSegments(ctx, conn) // before the snapshot that shows the batch
			return k.live.Absorb(ctx, conn)
		})
	}
	if err != nil {
		k.cfg.Log.Warn().Err(err).Msg("the snapshot could not follow a batch and is read from the database")
		err = k.live.Load(ctx, conn)
	}
	k.snapshotBehind = err != nil
	return err
}

// warm loads what merging keeps in memory, beside the first requests; an import
// that comes meanwhile waits for it.
func (k *Keeper) warm(ctx context.Context) error {
	quiet := func(err error) bool {
		return err == nil || errors.Is(err, engine.ErrClosed) || errors.Is(err, context.Canceled)
	}
	if err := k.openSegments(ctx); !quiet(err) {
		k.cfg.Log.Error().Err(err).Msg("wallets and markets are read from the database")
	}
	if err := k.rewarm(ctx); !quiet(err) {
		k.cfg.Log.Warn().Err(err).Msg("merging goes on without its memory")
	}
	return nil
}

// FactsOnly makes imports leave every rollup to the next refresh, and refreshes
// to the caller: for loading many large files one after another.
func (k *Keeper) FactsOnly() {
	k.importer.Rollups.Merge = k.merger.Postpone
	k.factsOnly = true
}

// Close ends the keeping once what runs is done.
func (k *Keeper) Close() error {
	k.cancel()
	if err := k.work.Lock(context.Background()); err != nil { // never
		return err
	}
	defer k.work.Unlock()
	k.background.Wait()
	if k.segments == nil {
		return k.db.Close()
	}
	return errors.Join(k.segments.close(), k.db.Close())
}

// Settle waits until what goes on in the background is done: loading what merging
// keeps in memory, and writing the files below segments/.
func (k *Keeper) Settle() { k.background.Wait() }

// DB is the open database.
func (k *Keeper) DB() *engine.DB { return k.db }

// Snapshot is the newest one; nil where none is kept.
func (k *Keeper) Snapshot() *serving.Snapshot {
	if k.live == nil {
		return nil
	}
	return k.live.Snapshot()
}

// Exporter writes what the database holds into files.
func (k *Keeper) Exporter() *export.Exporter { return &export.Exporter{DB: k.db, Venue: k.cfg.Venue} }

// Ping proves that the database answers.
func (k *Keeper) Ping(ctx context.Context) error { return k.db.Ping(ctx) }

// Freshness is what status grades are computed from.
func (k *Keeper) Freshness() serving.Freshness {
	if f := k.freshness.Load(); f != nil {
		return *f
	}
	return serving.Freshness{}
}

func (k *Keeper) updateFreshness(f func(*serving.Freshness)) {
	k.noting.Lock()
	defer k.noting.Unlock()
	next := k.Freshness()
	f(&next)
	k.freshness.Store(&next)
}

// load reads everything into memory again.
func (k *Keeper) load(ctx context.Context) error {
	if k.live == nil {
		return nil
	}
	return k.db.Write(ctx, func(conn *sql.Conn) error {
		var fills, markets int64
		if err := rollups.NewestImports(ctx, conn, &fills, &markets); err != nil {
			return err
		}
		k.updateFreshness(func(f *serving.Freshness) { f.LastFills, f.LastMarkets = stamp(fills), stamp(markets) })
		return k.live.Load(ctx, conn)
	})
}

// reload is load after a rebuild, with what merging keeps in memory.
func (k *Keeper) reload(ctx context.Context) error {
	if k.live == nil {
		return nil
	}
	if err := k.load(ctx); err != nil {
		return err
	}
	k.snapshotBehind = false
	if err := k.catchUpSegments(ctx); err != nil {
		return err
	}
	return k.db.Write(ctx, func(conn *sql.Conn) error { return k.merger.Warm(ctx, conn) })
}

func stamp(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// Step is told of the stages of long work: what is being done, and how many of
// how many stages are behind it.
type Step func(name string, done, of int)

// Refresh brings the rollups up to date with the facts where an import left
// that to a rebuild, and stores the index snapshots that are due.
func (k *Keeper) Refresh(ctx context.Context, step Step) error {
	if err := k.work.Lock(ctx); err != nil {
		return err
	}
	defer k.work.Unlock()
	return k.cycleDone(k.refresh(ctx, step))
}

func (k *Keeper) refresh(ctx context.Context, step Step) error {
	stale := false
	err := k.db.Read(ctx, func(conn *sql.Conn) error {
		var err error
		stale, err = rollups.Stale(ctx, conn)
		return err
	})
	if err != nil {
		return err
	}
	if stale {
		return k.rebuild(ctx, step)
	}
	if k.snapshotBehind {
		if err := k.reload(ctx); err != nil {
			return err
		}
	}
	return k.db.Write(ctx, func(conn *sql.Conn) error { return rollups.StoreIndex(ctx, conn) })
}

// SetWhale makes orders whale moves from so many dollars on; 0 changes nothing.
// Another mark than before needs a rebuild, which the next refresh does.
func (k *Keeper) SetWhale(ctx context.Context, least data.Micro) error {
	if least == 0 {
		return nil
	}
	if err := k.work.Lock(ctx); err != nil {
		return err
	}
	defer k.work.Unlock()
	return k.db.Write(ctx, func(conn *sql.Conn) error {
		before, err := rollups.SetWhaleRule(ctx, conn, least)
		if err == nil && before != least {
			k.cfg.Log.Warn().Stringer("from_usd", before).Stringer("to_usd", least).Msg("the whale threshold changed: the rollups are to be rebuilt")
		}
		return err
	})
}

// Rebuild recomputes every rollup from the facts, and writes every file below segments/.
func (k *Keeper) Rebuild(ctx context.Context, step Step) error {
	if err := k.work.Lock(ctx); err != nil {
		return err
	}
	defer k.work.Unlock()
	err := k.rebuild(ctx, step)
	if err == nil {
		err = k.rebuildSegments(ctx)
	}
	return k.cycleDone(err)
}

func (k *Keeper) rebuild(ctx context.Context, step Step) error {
	began := k.cfg.Now()
	err := k.db.Write(ctx, func(conn *sql.Conn) error { return rollups.Rebuild(ctx, conn, k.cfg.Feeds.Cities, step) })
	if err != nil {
		return err
	}
	k.deferred.done(began, k.cfg.Now())
	k.updateFreshness(func(f *serving.Freshness) { f.Stale = false })
	// It is committed: whoever asked for it may leave, it is shown all the same.
	k.snapshotBehind = true
	ctx = context.WithoutCancel(ctx)
	return errors.Join(k.db.Checkpoint(ctx), k.reload(ctx))
}

// Verify proves the whole database; it changes nothing but waits for, and holds
// off, imports.
func (k *Keeper) Verify(ctx context.Context, step Step) (checks []rollups.Check, err error) {
	if err := k.work.Lock(ctx); err != nil {
		return nil, err
	}
	defer k.work.Unlock()
	err = k.db.Write(ctx, func(conn *sql.Conn) error {
		checks, err = rollups.Verify(ctx, conn, k.cfg.Feeds.Cities, step)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	if k.live != nil {
		checks = append(checks, k.verifyLive(ctx)...)
	}
	runs, err := k.verifySegments(ctx)
	if k.segments != nil && k.segments.damaged() {
		k.startSegmentBuild()
	}
	if err != nil {
		return nil, fmt.Errorf("verify segments: %w", err)
	}
	return append(checks, runs...), nil
}

// reportLog says what was wrong with the write-ahead log at the start.
func reportLog(log zerolog.Logger, db *engine.DB) {
	d := db.LogDamage()
	if d == nil {
		return
	}
	e, text := log.Error(), "the write-ahead log was damaged: what was committed behind the damage is missing, import it again"
	if d.Torn {
		e, text = log.Warn(), "the write-ahead log ends inside a transaction: the process was killed while it wrote, or the file was cut short since"
	}
	e.Int("transactions_taken_in", d.Transactions).Int64("at_byte", d.At).Int64("bytes_dropped", d.Dropped).Str("kept_as", d.Copy).Msg(text)
}

// noteDiskSpace records, from how work ended, whether the disk is full, and logs where
// that changed.
func (k *Keeper) noteDiskSpace(err error) {
	full := errors.Is(err, engine.ErrDiskFull)
	if err != nil && !full || k.Freshness().DiskFull == full {
		return
	}
	k.updateFreshness(func(f *serving.Freshness) { f.DiskFull = full })
	if k.live == nil {
		return // a command says it itself
	}
	if full {
		k.cfg.Log.Error().Err(err).Msg("the disk is full: imports are refused, and what there is goes on being served")
		return
	}
	k.cfg.Log.Info().Msg("the disk has room again")
}

// cycleDone records how a refresh ended.
func (k *Keeper) cycleDone(err error) error {
	now := k.cfg.Now().UTC()
	k.noteDiskSpace(err)
	lost := len(k.db.DamagedLogs()) > 0
	k.updateFreshness(func(f *serving.Freshness) {
		f.LogLost = lost
		if err != nil {
			f.LastFailure, f.FailureText = now, err.Error()
			return
		}
		f.LastCycle, f.FailureText = now, ""
	})
	return err
}
