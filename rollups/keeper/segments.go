package keeper

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"pmx/rollups"
	"pmx/rollups/segments"
	"pmx/rollups/segments/fillseg"
	"pmx/rollups/segments/textseg"
	"pmx/rollups/serving"
)

// When the segment in wallet order is written again: once so many fills came in that
// their part of it is worth the work, or of a wallet in it a fill was replaced.
// A file is written whole, so the larger it is, the more must come together. That of
// tokens is written with it, or alone where it is missing or a fill was replaced.
const (
	minFlushFills    = 50_000
	maxMemtableFills = 1_000_000
	flushShare       = 16
	// restFactor is how many times as long as writing it took the file is left alone where
	// that failed, or where only replaced fills are the reason to write it again.
	restFactor = 20
	// maxBuildAttempts is how many times files are begun, one try right behind the other,
	// where imports overtake them.
	maxBuildAttempts = 3
	// maxMemtableTexts is how many bytes of markets' texts gather beside their file.
	maxMemtableTexts = 16 << 20
)

// segmentSet holds the segments that reads are answered from, each with its memtable.
type segmentSet struct {
	names    *rollups.NameIndex  // of what the stores hold: learned before they are given it
	wallets  fillseg.WalletStore // every fill, by wallet
	tokens   fillseg.TokenStore  // the newest fills, by token
	texts    *textseg.Store      // by market
	building sync.Mutex          // one writing of files at a time
	// Written before building is unlocked.
	buildTime   time.Duration // of the last files of fills
	builtAt     time.Time
	buildFailed bool
}

func newSegmentSet(dir string, snapshot func() *serving.Snapshot) *segmentSet {
	names := &rollups.NameIndex{Snapshot: snapshot}
	return &segmentSet{
		names:   names,
		wallets: fillseg.NewWalletStore(filepath.Join(dir, "wallets.seg"), names),
		tokens:  fillseg.NewTokenStore(filepath.Join(dir, "tokens.seg"), names, rollups.NewestFills),
		texts:   textseg.New(filepath.Join(dir, "markets.seg")),
	}
}

// serveSegments makes the files those that are served from: a damaged one is set aside,
// and another written. They are opened later.
func (k *Keeper) serveSegments(dir string) {
	k.segments = newSegmentSet(dir, k.Snapshot)
	k.segments.wallets.OnDamage, k.segments.tokens.OnDamage, k.segments.texts.OnDamage = k.segmentDamaged, k.segmentDamaged, k.segmentDamaged
}

// segmentDamaged is called by whoever reads a file that is not what was written. What was
// lost is read from the database until the next one is there.
func (k *Keeper) segmentDamaged(d *segments.Damage) {
	k.cfg.Log.Error().Err(errors.Join(d, d.SetAside())).Msg("a file below segments/ is damaged: it is set aside and written again")
	if k.work.TryLock() { // else what is under way writes it, or the next cycle
		defer k.work.Unlock()
		k.startSegmentBuild()
	}
}

func (r *segmentSet) close() error {
	return errors.Join(r.wallets.Close(), r.tokens.Close(), r.texts.Close())
}

// open takes the files there are, where they fit the database, and reads what came
// in since. A file that cannot be opened is rebuilt, whatever the reason, and keeps
// none of the others from being followed.
func (r *segmentSet) open(ctx context.Context, conn *sql.Conn) error {
	if err := r.names.Load(ctx, conn); err != nil {
		return err
	}
	var errs []error
	for _, s := range []*fillseg.Store{r.wallets.Store, r.tokens.Store} {
		known, err := s.Open(func(c segments.Coverage) (bool, error) { return rollups.FillSegmentFits(ctx, conn, c) })
		if err != nil || !known {
			errs = append(errs, err, restartFills(ctx, conn, s))
		}
	}
	known, err := r.texts.Open(func(c segments.Coverage) (bool, error) { return rollups.TextSegmentFits(ctx, conn, c) })
	if err != nil || !known {
		errs = append(errs, err, r.restartTexts(ctx, conn))
	}
	return errors.Join(append(errs, r.catchUp(ctx, conn))...)
}

// restart forgets the files: the next ones are made from the whole database.
func (r *segmentSet) restart(ctx context.Context, conn *sql.Conn) error {
	if err := r.names.Load(ctx, conn); err != nil {
		return err
	}
	return errors.Join(restartFills(ctx, conn, r.wallets.Store), restartFills(ctx, conn, r.tokens.Store), r.restartTexts(ctx, conn))
}

func restartFills(ctx context.Context, conn *sql.Conn, s *fillseg.Store) error {
	last, err := rollups.LastBatch(ctx, conn)
	if err != nil {
		return err
	}
	facts, err := rollups.FactCount(ctx, conn, -1, last)
	if err != nil {
		return err
	}
	return s.Restart(last, facts == 0)
}

func (r *segmentSet) restartTexts(ctx context.Context, conn *sql.Conn) error {
	last, err := rollups.LastBatch(ctx, conn)
	if err != nil {
		return err
	}
	markets, _, err := rollups.MarketCount(ctx, conn)
	if err != nil {
		return err
	}
	return r.texts.Restart(last, markets == 0)
}

// catchUp adds imports that passed by the stores: of a time when nobody followed,
// or so large that they were left to a rebuild.
func (r *segmentSet) catchUp(ctx context.Context, conn *sql.Conn) error {
	if err := r.names.Load(ctx, conn); err != nil {
		return err
	}
	var passed missedBatches // mostly the same for both
	if err := passed.addTo(ctx, conn, r.wallets.Store); err != nil {
		return err
	}
	if err := passed.addTo(ctx, conn, r.tokens.Store); err != nil {
		return err
	}
	changed, err := rollups.MarketsSince(ctx, conn, r.texts.Through())
	if err != nil {
		return err
	}
	if changed > 0 {
		return r.restartTexts(ctx, conn)
	}
	last, err := rollups.LastBatch(ctx, conn)
	if err == nil {
		r.texts.Add(last, nil)
	}
	return err
}

// missedBatches is the imports after one and up to the last, as they were read.
type missedBatches struct {
	after   int64
	batches []fillseg.Batch
}

// addTo adds to a store what passed by it.
func (p *missedBatches) addTo(ctx context.Context, conn *sql.Conn, s *fillseg.Store) error {
	through := s.Through()
	last, err := rollups.LastBatch(ctx, conn)
	if err != nil {
		return err
	}
	later, err := rollups.FactCount(ctx, conn, through, last)
	if err != nil {
		return err
	}
	if later == 0 {
		s.Add(fillseg.Batch{Number: last})
		return nil
	}
	// One of them may have replaced fills that the store holds.
	before, err := rollups.FactCount(ctx, conn, -1, through)
	if err != nil {
		return err
	}
	if before != s.Facts() || !s.Stats().Ready {
		return restartFills(ctx, conn, s)
	}
	if later > maxMemtableFills {
		return s.Skip(last)
	}
	if p.batches == nil || p.after != through {
		p.after = through
		if p.batches, err = rollups.SegmentBatches(ctx, conn, through, last); err != nil {
			return err
		}
	}
	for _, b := range p.batches {
		s.Add(b)
	}
	return nil
}

// add takes a committed batch in.
func (r *segmentSet) add(ctx context.Context, conn *sql.Conn) error {
	if r.texts.Stats().Idle {
		return nil // open is still to come, and reads what came in until then
	}
	through := min(r.wallets.Through(), r.tokens.Through(), r.texts.Through())
	if gap, err := rollups.MissedImport(ctx, conn, through); gap || err != nil {
		if err == nil {
			err = r.catchUp(ctx, conn)
		}
		if err != nil {
			return errors.Join(err, r.restart(ctx, conn))
		}
		return nil
	}
	batch, err := rollups.SegmentBatch(ctx, conn)
	if err == nil {
		err = r.names.LoadMissing(ctx, conn, batch)
	}
	if err != nil {
		return errors.Join(err, r.restart(ctx, conn))
	}
	r.wallets.Add(batch)
	r.tokens.Add(batch)
	changed, few, err := rollups.ChangedTexts(ctx, conn)
	if err != nil || !few {
		return errors.Join(err, r.restartTexts(ctx, conn))
	}
	r.texts.Add(batch.Number, changed)
	return nil
}

// WalletStats tells what is held of wallets beside the database; idle where nobody
// is served.
func (k *Keeper) WalletStats() fillseg.Stats {
	if k.segments == nil {
		return fillseg.Stats{Idle: true}
	}
	return k.segments.wallets.Stats()
}

// MarketStats tells what is held of tokens' newest fills and of markets' texts beside
// the database; idle where nobody is served.
func (k *Keeper) MarketStats() (fillseg.Stats, textseg.Stats) {
	if k.segments == nil {
		return fillseg.Stats{Idle: true}, textseg.Stats{Idle: true}
	}
	return k.segments.tokens.Stats(), k.segments.texts.Stats()
}

// openSegments opens the files and sees that those are written that are due.
func (k *Keeper) openSegments(ctx context.Context) error {
	return k.updateSegments(ctx, k.segments.open)
}

// catchUpSegments adds the imports that were missed while everything was loaded again.
func (k *Keeper) catchUpSegments(ctx context.Context) error {
	if k.segments.texts.Stats().Idle {
		return nil // openSegments is still to come
	}
	return k.updateSegments(ctx, k.segments.catchUp)
}

func (k *Keeper) updateSegments(ctx context.Context, change func(context.Context, *sql.Conn) error) error {
	err := k.db.Write(ctx, func(conn *sql.Conn) error { return change(ctx, conn) })
	k.startSegmentBuild()
	if err != nil {
		return fmt.Errorf("segments: %w", err)
	}
	return nil
}

// addToSegments takes a committed batch in. Where that fails, what it changed is read from
// the database until the next files are written.
func (k *Keeper) addToSegments(ctx context.Context, conn *sql.Conn) {
	if err := k.segments.add(ctx, conn); err != nil {
		k.cfg.Log.Warn().Err(err).Msg("the files below segments/ could not take a batch in and are rebuilt")
	}
}

// memtableGrown tells whether so much came in that a new file in wallet order is worth
// writing.
func memtableGrown(s fillseg.Stats) bool {
	return s.Recent >= maxMemtableFills || s.Recent >= max(minFlushFills, s.Stored/flushShare)
}

// memtableFull tells whether so much lies in the memtables that the files are not to
// wait for the next cycle.
func (r *segmentSet) memtableFull() bool {
	return memtableGrown(r.wallets.Stats()) || r.texts.Stats().Text >= maxMemtableTexts
}

// damaged tells whether a file was found damaged that was not written again yet.
func (r *segmentSet) damaged() bool {
	return errors.Join(r.wallets.Stats().Damage, r.tokens.Stats().Damage, r.texts.Stats().Damage) != nil
}

// due tells whether new files are worth writing.
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
	if k.ctx.Err() != nil || !r.building.TryLock() {
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

// buildFills writes the file of tokens, and that of wallets where it is worth it,
// from one reading of the facts.
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

// buildTexts writes the file of markets' texts where it is due.
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
