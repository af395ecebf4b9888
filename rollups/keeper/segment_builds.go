package keeper

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pmx/engine"
	"pmx/rollups"
	"pmx/rollups/segments"
	"pmx/rollups/segments/fillseg"
	"pmx/rollups/segments/textseg"
	"pmx/rollups/serving"
)

// When another file in wallet order is written: once enough fills came in, as a share of those that
// files have, to be worth a file, or once a fill of a wallet in them was replaced. A file of the newest
// fills of tokens is written with it, or alone if there is none or a fill was replaced.
const (
	minFlushFills    = 50_000
	maxMemtableFills = 1_000_000
	// minMissedFills is how many missed fills are read into memory even if new files are due at
	// once, which read them again: until those are written, wallets would be read from the
	// database.
	minMissedFills = 250_000
	flushShare     = 16
	// restFactor times the duration of the last build is the pause before the file is written
	// again, if that build failed, or if replaced fills or a damaged file are the only reason.
	restFactor = 20
	// mostStart is how long the first files wait for Started at most.
	mostStart = 5 * time.Minute
	// maxBuildAttempts is how many times in a row files are begun if imports overtake them.
	maxBuildAttempts = 3
	// maxMemtableTexts is how many bytes of markets' texts may gather in the memtable.
	maxMemtableTexts = 16 << 20
)

// memtableGrown reports whether the memtable is large enough for another file in wallet order to be
// worth writing.
func memtableGrown(s fillseg.Stats) bool {
	return s.Recent >= maxMemtableFills || s.Recent >= max(minFlushFills, s.Stored/flushShare)
}

// mostMissed is how many missed fills are read into memory: more make new files due, which read
// them anyway.
func mostMissed(wallets fillseg.Stats) int64 {
	return min(maxMemtableFills, max(minMissedFills, wallets.Stored/flushShare-wallets.Recent))
}

// memtableFull reports whether the memtables are so large that new files must not wait for the next
// cycle.
func (r *segmentSet) memtableFull() bool {
	return memtableGrown(r.wallets.Stats()) || r.texts.Stats().Text >= maxMemtableTexts
}

// damaged reports whether a file was found damaged and was not rewritten yet.
func (r *segmentSet) damaged() bool {
	return errors.Join(r.wallets.Stats().Damage, r.tokens.Stats().Damage, r.texts.Stats().Damage) != nil
}

// due reports whether new files are worth writing.
func (r *segmentSet) due(wallets, tokens fillseg.Stats, texts textseg.Stats, now time.Time) bool {
	rested := now.Sub(r.builtAt) > restFactor*r.buildTime
	switch {
	case wallets.Idle, tokens.Idle, texts.Idle:
		return false
	case r.buildFailed:
		return rested
	case !wallets.Ready, !tokens.Ready, memtableGrown(wallets), textsDue(texts):
		return true
	}
	return (wallets.Dirty+tokens.Dirty > 0 || errors.Join(wallets.Damage, tokens.Damage) != nil) && rested
}

func textsDue(s textseg.Stats) bool { return !s.Ready || s.Text >= maxMemtableTexts }

// startSegmentBuild starts writing new files in the background, if they are due and no build is
// under way. The wait group owns the work; Close ends it.
func (k *Keeper) startSegmentBuild() {
	r := k.segments
	if r == nil || k.ctx.Err() != nil || !r.building.TryLock() {
		return
	}
	if !r.due(r.wallets.Stats(), r.tokens.Stats(), r.texts.Stats(), time.Now()) {
		r.building.Unlock()
		return
	}
	k.cfg.Watch.Begin(&k.background, "build segments", func() {
		defer r.building.Unlock()
		if !r.wallets.Stats().Ready {
			k.awaitStarted(k.ctx)
			defer k.firstBuild()()
		}
		err := k.buildSegments(k.ctx, r, false)
		for again := 1; again < maxBuildAttempts && mustRestart(err) && k.ctx.Err() == nil; again++ {
			err = k.buildSegments(k.ctx, r, false)
		}
		if err != nil && k.ctx.Err() == nil {
			k.cfg.Log.Error().Err(err).Msg("segments were not written: what they lack is read from the database")
		}
	})
}

// awaitStarted waits for Started if there will be one, but not for longer than mostStart: it may never come, as if a task of the
// caller fails again and again.
func (k *Keeper) awaitStarted(ctx context.Context) {
	if !k.cfg.AwaitStarted {
		return
	}
	most := time.NewTimer(mostStart)
	defer most.Stop()
	select {
	case <-k.started:
	case <-most.C:
	case <-ctx.Done():
	case <-k.ctx.Done():
	}
}

func mustRestart(err error) bool {
	var d *segments.Damage
	return errors.Is(err, segments.ErrStoreRestarted) || errors.As(err, &d)
}

// rebuildSegments writes all files from the database, whatever there is.
func (k *Keeper) rebuildSegments(ctx context.Context) (err error) {
	r := k.segments
	if r == nil {
		r = newSegmentSet(k.db.Dir().Segments(), k.Snapshot)
		defer func() { err = errors.Join(err, r.close()) }()
	}
	r.building.Lock()
	defer r.building.Unlock()
	if r.texts.Stats().Idle { // the store follows nothing, or openSegments comes later
		if err := k.db.Write(ctx, func(conn *sql.Conn) error { return r.restart(ctx, conn) }); err != nil {
			return fmt.Errorf("segments: %w", err)
		}
	}
	defer k.firstBuild()()
	if err := k.buildSegments(ctx, r, true); err != nil {
		return fmt.Errorf("segments: %w", err)
	}
	return nil
}

// buildSegments writes the files that are due, from the existing ones and what came in since; or
// all of them, from the database.
func (k *Keeper) buildSegments(ctx context.Context, r *segmentSet, whole bool) error {
	began := time.Now()
	err := k.cfg.Watch.Do("build segments", func() error {
		return k.db.ReadLowPriority(engine.Lean(ctx), func(conn *sql.Conn) error {
			return errors.Join(r.buildTexts(ctx, conn, whole), r.buildFills(ctx, conn, whole))
		})
	})
	r.buildFailed = err != nil
	if err != nil {
		r.buildTime, r.builtAt = max(r.buildTime, time.Since(began)), time.Now()
		return err
	}
	s, tokens, texts := r.wallets.Stats(), r.tokens.Stats(), r.texts.Stats()
	k.cfg.Log.Info().Int64("fills", s.Stored).Int("files", s.Files).Int64("bytes", s.Bytes).Int64("recent", s.Recent).Int64("token_bytes", tokens.Bytes).
		Int64("market_bytes", texts.Bytes).Float64("seconds", r.buildTime.Seconds()).Msg("segments built")
	return nil
}

// adder adds a fact and the batch it came with.
type adder = func(batch int64, f *serving.Fill) error

// buildFills writes a file of tokens, and one of wallets if it is worth it.
func (r *segmentSet) buildFills(ctx context.Context, conn *sql.Conn, whole bool) error {
	s, t := r.wallets.Stats(), r.tokens.Stats()
	both := whole || !s.Ready || s.Dirty > 0 || s.Damage != nil || memtableGrown(s)
	if !both && t.Ready && t.Dirty == 0 && t.Damage == nil {
		return nil
	}
	return r.buildFillsOf(ctx, conn, whole, both)
}

// buildFillsOf writes a file of tokens, and with both one of wallets, in one pass over the facts.
func (r *segmentSet) buildFillsOf(ctx context.Context, conn *sql.Conn, whole, both bool) error {
	began := time.Now()
	defer func() { r.buildTime, r.builtAt = time.Since(began), time.Now() }()
	tokens, err := planFor(ctx, conn, r.tokens.Store, whole)
	if err != nil {
		return err
	}
	if !both {
		return r.tokens.Build(ctx, tokens, func(add adder) error {
			return rollups.EachFact(ctx, conn, rollups.QueryFor(tokens), add)
		})
	}
	wallets, err := planFor(ctx, conn, r.wallets.Store, whole)
	if err != nil {
		return err
	}
	read := func(add adder) error { return rollups.EachFact(ctx, conn, rollups.QueryFor(wallets, tokens), add) }
	return shareFacts(read,
		func(facts func(add adder) error) error { return r.wallets.Build(ctx, wallets, facts) },
		func(facts func(add adder) error) error { return r.tokens.Build(ctx, tokens, facts) })
}

func planFor(ctx context.Context, conn *sql.Conn, s *fillseg.Store, whole bool) (fillseg.Plan, error) {
	p := s.Plan()
	if whole {
		p.After, p.Reread = -1, fillseg.Keys{}
	}
	var err error
	if p.ImportLogHash, err = rollups.ImportLogHash(ctx, conn, p.Batch); err != nil {
		return p, err
	}
	p.Facts, err = rollups.FactCount(ctx, conn, -1, p.Batch)
	return p, err
}

// buildTexts writes the file of markets' texts if it is due.
func (r *segmentSet) buildTexts(ctx context.Context, conn *sql.Conn, whole bool) error {
	if !whole && !textsDue(r.texts.Stats()) {
		return nil
	}
	p := r.texts.Plan()
	var err error
	if p.ImportLogHash, err = rollups.ImportLogHash(ctx, conn, p.Batch); err != nil {
		return err
	}
	return r.texts.Build(p, func(add func(int32, *serving.MarketTexts) error) error {
		return rollups.EachMarketTexts(ctx, conn, add)
	})
}
