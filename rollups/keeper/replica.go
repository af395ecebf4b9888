package keeper

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"pmx/engine"
	"pmx/engine/guard"
	"pmx/rollups"
	"pmx/rollups/query"
	"pmx/rollups/replica"
	"pmx/rollups/serving"
)

// OpenReplica serves a state of another server's database, and further states passed to Take. Nothing is imported,
// and only the files below segments/ are written.
func OpenReplica(ctx context.Context, cfg Config, s replica.State) (*Keeper, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Watch == nil {
		cfg.Watch = guard.New(cfg.Log)
	}
	k := &Keeper{cfg: cfg, replica: true, started: make(chan struct{})}
	db, err := engine.OpenReplica(ctx, k.engineOptions(2), s.File) // the next state is opened while this one is served
	if err != nil {
		return nil, err
	}
	k.db = db
	k.ctx, k.cancel = context.WithCancel(context.WithoutCancel(ctx))
	k.live = &rollups.Live{Publish: k.published}
	if err := k.findFills(ctx); err != nil {
		k.cancel()
		return nil, errors.Join(err, db.Close())
	}
	if k.pulled == nil {
		k.serveSegments(db.Dir().Segments())
	}
	err = k.db.Write(ctx, func(conn *sql.Conn) error {
		shown, err := k.prepare(ctx, conn, s, nil)
		if err == nil {
			shown()
		}
		return err
	})
	if err != nil {
		k.cancel()
		return nil, errors.Join(err, k.closeSegments(), db.Close())
	}
	for k.followHeap(ctx) { // nobody reads the database yet
	}
	k.cfg.Watch.Begin(&k.background, "warm", func() { _ = k.cfg.Watch.Supervise(k.ctx, "warm", k.warm) })
	return k, nil
}

// prepare reads everything into memory, or only the difference from what is served; shown publishes
// it.
func (k *Keeper) prepare(ctx context.Context, conn *sql.Conn, s replica.State, served *rollups.Served) (shown func(), err error) {
	var fills, markets int64
	if err := rollups.NewestImports(ctx, conn, &fills, &markets); err != nil {
		return nil, err
	}
	stale, err := rollups.Stale(ctx, conn)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	show, whole, err := k.live.Prepare(ctx, conn, s.Venue, s.Cities, served)
	if err != nil {
		return nil, err
	}
	k.cfg.Log.Debug().Bool("whole", whole).Float64("seconds", time.Since(began).Seconds()).Msg("state read")
	return func() {
		show()
		k.updateFreshness(func(f *serving.Freshness) {
			f.LastFills, f.LastMarkets, f.Stale = stamp(fills), stamp(markets), stale
		})
	}, nil
}

// Take serves another state from now on. It is loaded while the current one is served, which is
// kept if loading fails. Running requests finish on the state that they began with. freed is
// called, by any goroutine, with the old file once no reader has it open; if Take fails, with the
// new one and before it returns.
func (k *Keeper) Take(ctx context.Context, s replica.State, freed func(file string)) error {
	if err := k.work.Lock(ctx); err != nil {
		freed(s.File)
		return err
	}
	defer k.work.Unlock()
	var shown func()
	same, whole := false, false
	var pulled *rollups.Pulled
	var lake *query.Lake
	err := k.db.Replace(ctx, s.File, func(next *engine.DB) error {
		return next.Write(ctx, func(conn *sql.Conn) error {
			goesOn, err := k.continues(ctx, conn)
			if err != nil {
				return err
			}
			same = goesOn
			if pulled, lake, err = k.fillsOf(ctx, conn); err != nil {
				return err
			}
			if (pulled == nil) != (k.pulled == nil) {
				return errors.New("the backups changed from a database with fills to a pulled one, or back: restart to follow them")
			}
			var served *rollups.Served
			if goesOn && s.Since != nil && pulled == nil { // fills that are not in the database cannot be compared in it
				served = &rollups.Served{File: s.Since.File, Unchanged: s.Since.Unchanged}
			}
			whole = served == nil
			shown, err = k.prepare(ctx, conn, s, served)
			return err
		})
	}, freed)
	if err != nil {
		return err
	}
	k.lake.Store(lake)
	// It is being read from now on, so it is shown even if the caller leaves.
	if err := k.takeSegments(context.WithoutCancel(ctx), same); err != nil {
		k.cfg.Log.Warn().Err(err).Msg("segments could not follow and are rebuilt")
	}
	shown()
	if whole { // the data that was served until now has just become garbage
		k.followRebuiltHeap(context.WithoutCancel(ctx))
	} else {
		k.followHeap(context.WithoutCancel(ctx))
	}
	k.startSegmentBuild()
	return nil
}

// continues reports whether conn's database is the served one, or the served one plus further imports. A database that was
// restored from an earlier backup has other imports under the same numbers.
func (k *Keeper) continues(ctx context.Context, conn *sql.Conn) (bool, error) {
	was := k.Snapshot().Batch
	var ours uint64
	err := k.db.Read(ctx, func(old *sql.Conn) (err error) {
		ours, err = rollups.ImportLogHash(ctx, old, was)
		return err
	})
	if err != nil {
		return false, err
	}
	theirs, err := rollups.ImportLogHash(ctx, conn, was)
	return ours == theirs, err
}

// takeSegments updates the files below segments/ to the state that was taken, before the snapshot shows it.
func (k *Keeper) takeSegments(ctx context.Context, same bool) error {
	r := k.segments
	if r == nil || r.texts.Stats().Idle {
		return nil // openSegments comes later, and checks whether they fit
	}
	return k.db.Write(ctx, func(conn *sql.Conn) error {
		if same {
			return r.catchUp(ctx, conn)
		}
		return r.restart(ctx, conn)
	})
}

// Followed records the progress of following another server's backups: current says that its newest backup is
// served, failure why it cannot be, "" for no failure. The status is graded by it as by refreshes, and the memory is divided as
// by them.
func (k *Keeper) Followed(current bool, failure string) {
	if k.work.TryLock() { // else Take runs, which does it too
		k.followHeap(k.ctx)
		k.rest(k.ctx)
		k.work.Unlock()
	}
	now := k.cfg.Now().UTC()
	k.updateFreshness(func(f *serving.Freshness) {
		f.FailureText = failure
		if failure != "" {
			f.LastFailure = now
		}
		if current {
			f.LastCycle = now
		}
	})
}
