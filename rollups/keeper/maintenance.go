package keeper

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pmx/data"
	"pmx/engine"
	"pmx/rollups"
	"pmx/rollups/serving"
)

// Step is called at the stages of long work: what is being done, and how many of how many stages
// are done.
type Step func(name string, done, of int)

// Refresh brings the rollups up to date with the facts if an import left that to a rebuild, and
// stores the index snapshots that are due.
func (k *Keeper) Refresh(ctx context.Context, step Step) error {
	if err := k.work.Lock(ctx); err != nil {
		return err
	}
	defer k.work.Unlock()
	return k.cycleDone(k.timed(workRefresh, func() error { return k.refresh(ctx, step) }))
}

// stale reports whether only a rebuild makes the rollups current.
func (k *Keeper) stale(ctx context.Context) (stale bool, err error) {
	err = k.db.Read(engine.Lean(ctx), func(conn *sql.Conn) error {
		stale, err = rollups.Stale(ctx, conn)
		return err
	})
	return stale, err
}

// errStale is the error of work that needs figures which are not computed yet.
var errStale = errors.New("the figures are not computed yet for all that is stored: run pmx refresh, which does that, and then this again")

// Computed returns errStale if the rollups lack facts. A server always has a complete state, which it serves, and computes the next one.
func (k *Keeper) Computed(ctx context.Context) error {
	if k.live != nil {
		return nil
	}
	stale, err := k.stale(ctx)
	if err == nil && stale {
		err = errStale
	}
	return err
}

func (k *Keeper) refresh(ctx context.Context, step Step) error {
	stale, err := k.stale(ctx)
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

// SetWhale makes orders whale moves from this many dollars on; 0 changes nothing. A threshold that
// differs from the one before needs a rebuild, which the next refresh does.
func (k *Keeper) SetWhale(ctx context.Context, least data.Micro) error {
	if least == 0 {
		return nil
	}
	if err := k.work.Lock(ctx); err != nil {
		return err
	}
	defer k.work.Unlock()
	return k.db.Write(ctx, func(conn *sql.Conn) error {
		before, err := rollups.WhaleRule(ctx, conn)
		if err != nil || before == least {
			return err
		}
		if err := k.needFills("another whale threshold than $" + before.String()); err != nil {
			return err
		}
		if err = rollups.SetWhaleRule(ctx, conn, least); err == nil {
			k.cfg.Log.Warn().Stringer("from_usd", before).Stringer("to_usd", least).Msg("the whale threshold changed: the rollups are to be rebuilt")
		}
		return err
	})
}

// Rebuild recomputes every rollup from the facts, and writes every file below segments/.
func (k *Keeper) Rebuild(ctx context.Context, step Step) error {
	if err := k.needFills("a rebuild"); err != nil {
		return err
	}
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
	return k.timed(workRebuild, func() error { return k.rebuildAll(ctx, step) })
}

func (k *Keeper) rebuildAll(ctx context.Context, step Step) error {
	began := k.cfg.Now()
	if err := k.dropUnfinished(ctx); err != nil {
		return err
	}
	log := k.db.LogSize()
	behind, fills, err := !k.deferred.since.IsZero(), int64(0), error(nil)
	if behind {
		defer k.endBehind()
		fills, err = k.rebuildBehind(ctx, step)
	} else {
		k.unbound(ctx)
		err = k.lending(ctx, func() error {
			return k.db.Write(ctx, func(conn *sql.Conn) error { return rollups.Rebuild(ctx, k.db, conn, k.cfg.Feeds.Gazetteer(), step) })
		})
	}
	if err != nil {
		k.clearRebuild(context.WithoutCancel(ctx), log)
		return err
	}
	k.deferred.done(began, k.cfg.Now())
	k.updateFreshness(func(f *serving.Freshness) { f.Stale = false })
	// It is committed, so it is published even if the caller leaves.
	k.snapshotBehind = true
	ctx = context.WithoutCancel(ctx)
	engine.TrimMemory() // what follows is Go's
	if behind {
		k.releaseBlocks(ctx, 0)
		engine.TrimBlocks()
	}
	shown := k.show(ctx)
	if behind {
		k.shownBehind(ctx, fills)
	}
	err = k.checkpoint(ctx) // nobody waits for this
	if behind {
		k.checkpointedBehind(ctx, fills)
	}
	engine.TrimMemory()
	if shown == nil {
		err = errors.Join(err, k.readBeside(ctx))
	}
	k.followRebuiltHeap(ctx)
	return errors.Join(shown, err)
}

// checkpoint writes the log into the database file. While a long query or a backup runs, it leaves that to the next refresh.
func (k *Keeper) checkpoint(ctx context.Context) error {
	defer engine.TrimBlocks() // the ends of tables were in them, and the next ones are smaller in clean pages
	began, owed := time.Now(), k.db.CheckpointOwed()
	err := k.db.Checkpoint(ctx)
	since := k.db.CheckpointOwed()
	switch {
	case !since.IsZero() && !since.Equal(k.owedTold):
		k.owedTold = since
		k.cfg.Log.Info().AnErr("reason", err).Msg("a checkpoint is put off, and the next refresh makes it")
	case !owed.IsZero() && since.IsZero():
		k.cfg.Log.Info().Float64("seconds", time.Since(began).Seconds()).Float64("put_off_seconds", began.Sub(owed).Seconds()).Msg("the checkpoint that was put off is made")
	}
	if errors.Is(err, engine.ErrCheckpointRefused) || err == nil && !since.IsZero() {
		return nil // neither made nor failed: an older query is in the way, or a reader of the frozen file
	}
	return k.tallies.ended(workCheckpoint, time.Since(began), k.cfg.Now().UTC(), err)
}

// dropTables is rollups.DropUnfinished.
func (k *Keeper) dropTables(ctx context.Context) (dropped int, err error) {
	err = k.db.Write(ctx, func(conn *sql.Conn) error {
		dropped, err = rollups.DropUnfinished(ctx, conn)
		return err
	})
	return dropped, err
}

// dropUnfinished drops what a rebuild left that did not come to its end, and frees its place on the disk.
func (k *Keeper) dropUnfinished(ctx context.Context) error {
	dropped, err := k.dropTables(ctx)
	if err == nil && dropped > 0 {
		err = k.checkpoint(ctx)
	}
	if errors.Is(err, engine.ErrDiskFull) {
		return nil // what is stored can still be served, and the next rebuild drops them
	}
	return err
}

// clearRebuild frees the place on the disk of a rebuild that failed. The log had so many bytes before it. The rollups are stale if it changed the
// weather desk.
func (k *Keeper) clearRebuild(ctx context.Context, log int64) {
	if stale, err := k.stale(ctx); err == nil && stale {
		k.updateFreshness(func(f *serving.Freshness) { f.Stale = true })
	}
	_, err := k.dropTables(ctx) // those that it could not drop itself, after a fault
	if err == nil {
		err = k.db.CheckpointDropped(ctx, log)
	}
	if err != nil {
		k.cfg.Log.Debug().Err(err).Msg("what the rebuild wrote takes its place on the disk until the next checkpoint")
	}
}

// Verify verifies the whole database; it changes nothing, but waits for imports and makes later
// ones wait. Freshness then has the result.
func (k *Keeper) Verify(ctx context.Context, step Step) (checks []rollups.Check, err error) {
	k.awaitStarted(ctx) // what is read at the start takes memory of its own
	if err := k.work.Lock(ctx); err != nil {
		return nil, err
	}
	defer k.work.Unlock()
	k.unbound(ctx)
	var refuted error
	err = k.timed(workVerify, func() error {
		checks, err = k.verifyAll(ctx, step)
		refuted = refutedBy(checks)
		return errors.Join(err, refuted)
	})
	if err != nil && refuted == nil {
		return nil, err
	}
	k.updateFreshness(func(f *serving.Freshness) { f.LastVerified, f.VerifyFailure = k.cfg.Now().UTC(), errText(refuted) })
	return checks, nil
}

func (k *Keeper) verifyAll(ctx context.Context, step Step) (checks []rollups.Check, err error) {
	fills := int64(0)
	err = k.db.Write(ctx, func(conn *sql.Conn) (err error) {
		fills, err = rollups.FillCount(ctx, conn)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	engine.ReturnMemory() // a start leaves much garbage
	defer k.endVerify()
	step, then := k.stepsOfVerify(step)
	err = k.inLittle(ctx, verifyMemory.of(fills), func(conn *sql.Conn, bound func()) error {
		// The chunks are those of the usual limit: writing to disk costs less than more chunks do.
		checks, err = rollups.Verify(ctx, conn, k.cfg.Feeds.Gazetteer(), step, bound)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	if k.live != nil {
		then("snapshot_current")
		checks = append(checks, k.verifyLive(ctx, loadMemory.of(fills)))
	}
	then("segments")
	segments, err := k.verifySegments(ctx, verifyMemory.of(fills))
	if k.segments != nil && k.segments.damaged() {
		k.unbound(context.WithoutCancel(ctx))
		k.startSegmentBuild()
	}
	if err != nil {
		return nil, fmt.Errorf("verify segments: %w", err)
	}
	return append(checks, segments...), nil
}

// stepsOfVerify returns a Step that leaves room for those that follow the database: what is served, and the files below segments/, which
// take long on a large venue. then begins each of these. step may be nil.
func (k *Keeper) stepsOfVerify(step Step) (database Step, then func(name string)) {
	if step == nil {
		return nil, func(string) {}
	}
	rest, of := 1, 1
	if k.live != nil {
		rest++
	}
	database = func(name string, done, all int) {
		of = all + rest
		step(name, done, of)
	}
	return database, func(name string) {
		step(name, of-rest, of)
		rest--
	}
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

// compactBudget is how long a refresh may spend on compaction before it lets imports run; the
// next refresh continues.
const compactBudget = 2 * time.Second

// Cycle is one turn of the background work.
func (k *Keeper) Cycle(ctx context.Context) error {
	if err := k.db.CheckSpace(); err != nil {
		return k.cycleDone(err)
	}
	inbox := k.takeInbox(ctx)
	if ctx.Err() != nil || errors.Is(inbox, engine.ErrDiskFull) {
		return k.cycleDone(inbox)
	}
	if err := k.work.Lock(ctx); err != nil {
		return err
	}
	defer k.work.Unlock()
	defer k.rest(ctx)
	k.followHeap(ctx)
	if k.deferred.waits(k.cfg.Now()) {
		return k.cycleDone(inbox)
	}
	if err := k.timed(workRefresh, func() error { return k.refresh(ctx, nil) }); err != nil {
		return k.cycleDone(errors.Join(inbox, err))
	}
	err := k.compact(ctx)
	if k.segments != nil {
		k.startSegmentBuild()
		err = errors.Join(err, k.rewarm(ctx))
	}
	return k.cycleDone(errors.Join(inbox, err))
}

// rewarm loads the memory of merging if an import had to drop it.
func (k *Keeper) rewarm(ctx context.Context) error {
	return k.db.Write(ctx, func(conn *sql.Conn) error {
		if k.merger.Warmed() {
			return nil
		}
		return k.merger.Warm(ctx, conn)
	})
}

// compact folds deltas in bounded steps, and makes a checkpoint if it folded any or one is owed.
func (k *Keeper) compact(ctx context.Context) error {
	folded, began := false, time.Now()
	deadline := began.Add(compactBudget)
	for time.Now().Before(deadline) {
		worked := false
		err := k.db.Write(ctx, func(conn *sql.Conn) error {
			var err error
			worked, err = rollups.Compact(ctx, conn)
			return err
		})
		if err != nil {
			return k.tallies.ended(workCompact, time.Since(began), k.cfg.Now().UTC(), err)
		}
		if !worked {
			break
		}
		folded = true
	}
	if folded {
		_ = k.tallies.ended(workCompact, time.Since(began), k.cfg.Now().UTC(), nil)
	}
	if !folded && k.db.CheckpointOwed().IsZero() {
		return nil
	}
	return k.checkpoint(ctx)
}
