package keeper

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pmx/rollups"
	"pmx/rollups/segments"
	"pmx/rollups/segments/fillseg"
	"pmx/rollups/segments/textseg"
	"pmx/rollups/serving"
)

// When the segment in wallet order is written again: once so many fills came in that their part of
// it is worth the work, or of a wallet in it a fill was replaced. A file is written whole, so the
// larger it is, the more must come together. That of tokens is written with it, or alone if it is
// missing or a fill was replaced.
const (
	minFlushFills    = 50_000
	maxMemtableFills = 1_000_000
	// minMissedFills is how many fills that were missed are read into memory even where the
	// next files are due at once, which read them again: wallets are read from the database until
	// these are there.
	minMissedFills = 250_000
	flushShare     = 16
	// restFactor is how many times as long as writing it took the file is left alone if that
	// failed, or where only replaced fills are the reason to write it again.
	restFactor = 20
	// maxBuildAttempts is how many times files are begun, one try right behind the other,
	// where imports overtake them.
	maxBuildAttempts = 3
	// maxMemtableTexts is how many bytes of markets' texts gather beside their file.
	maxMemtableTexts = 16 << 20
)

// memtableGrown reports whether so much came in that a new file in wallet order is worth writing.
func memtableGrown(s fillseg.Stats) bool {
	return s.Recent >= maxMemtableFills || s.Recent >= max(minFlushFills, s.Stored/flushShare)
}

// mostMissed is how many fills that were missed are read into memory: more make new files due,
// which are about to read them.
func mostMissed(wallets fillseg.Stats) int64 {
	return min(maxMemtableFills, max(minMissedFills, wallets.Stored/flushShare-wallets.Recent))
}

// memtableFull reports whether so much lies in the memtables that the files are not to wait for the
// next cycle.
func (r *segmentSet) memtableFull() bool {
	return memtableGrown(r.wallets.Stats()) || r.texts.Stats().Text >= maxMemtableTexts
}

// damaged reports whether a file was found damaged that was not written again yet.
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
	return wallets.Dirty+tokens.Dirty > 0 && rested
}

func textsDue(s textseg.Stats) bool { return !s.Ready || s.Text >= maxMemtableTexts }

// startSegmentBuild writes new files beside everything else, where they are due and none is
// under way. The wait group is the owner of the work; Close ends it.
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
		err := k.buildSegments(k.ctx, r, false)
		for again := 1; again < maxBuildAttempts && mustRestart(err) && k.ctx.Err() == nil; again++ {
			err = k.buildSegments(k.ctx, r, false)
		}
		if err != nil && k.ctx.Err() == nil {
			k.cfg.Log.Error().Err(err).Msg("the files below segments/ were not written: what they lack is read from the database")
		}
	})
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
	if r.texts.Stats().Idle { // nobody follows, or openSegments is still to come
		if err := k.db.Write(ctx, func(conn *sql.Conn) error { return r.restart(ctx, conn) }); err != nil {
			return fmt.Errorf("segments: %w", err)
		}
	}
	if err := k.buildSegments(ctx, r, true); err != nil {
		return fmt.Errorf("segments: %w", err)
	}
	return nil
}

// buildSegments writes the files that are due, from what there is and what came in since;
// or all of them, from the database.
func (k *Keeper) buildSegments(ctx context.Context, r *segmentSet, whole bool) error {
	began := time.Now()
	err := k.cfg.Watch.Do("build segments", func() error {
		return k.db.ReadLowPriority(ctx, func(conn *sql.Conn) error {
			return errors.Join(r.buildTexts(ctx, conn, whole), r.buildFills(ctx, conn, whole))
		})
	})
	r.buildFailed = err != nil
	if err != nil {
		r.buildTime, r.builtAt = max(r.buildTime, time.Since(began)), time.Now()
		return err
	}
	s, tokens, texts := r.wallets.Stats(), r.tokens.Stats(), r.texts.Stats()
	k.cfg.Log.Info().Int64("fills", s.Stored).Int64("bytes", s.Bytes).Int64("recent", s.Recent).Int64("token_bytes", tokens.Bytes).
		Int64("market_bytes", texts.Bytes).Dur("took", r.buildTime).Msg("segments built")
	return nil
}

// adder takes a fact in, with the batch it came with.
type adder = func(batch int64, f *serving.Fill) error

// buildFills writes the file of tokens, and that of wallets if it is worth it, from one reading of
// the facts.
func (r *segmentSet) buildFills(ctx context.Context, conn *sql.Conn, whole bool) error {
	s, t := r.wallets.Stats(), r.tokens.Stats()
	both := whole || !s.Ready || s.Dirty > 0 || memtableGrown(s)
	if !both && t.Ready && t.Dirty == 0 {
		return nil
	}
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
	return r.tokens.Build(ctx, tokens, func(addToken adder) error {
		return r.wallets.Build(ctx, wallets, func(addWallet adder) error {
			return rollups.EachFact(ctx, conn, rollups.QueryFor(wallets, tokens), func(batch int64, f *serving.Fill) error {
				if err := addWallet(batch, f); err != nil {
					return err
				}
				return addToken(batch, f)
			})
		})
	})
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
