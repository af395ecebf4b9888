package keeper

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"pmx/engine"
	"pmx/engine/guard"
	"pmx/rollups"
	"pmx/rollups/segments"
	"pmx/rollups/segments/fillseg"
	"pmx/rollups/segments/textseg"
	"pmx/rollups/serving"
)

// segmentSet holds the segments that reads are answered from, each with its memtable.
type segmentSet struct {
	names    *rollups.NameIndex                // names of what the stores hold: loaded before rows are added to a store
	wallets  fillseg.WalletStore               // every fill, by wallet
	tokens   fillseg.TokenStore                // the newest fills, by token
	texts    *textseg.Store                    // by market
	building sync.Mutex                        // one build at a time
	start    func(f func() error) <-chan error // runs f beside a snapshot that is made, and sends its error
	// Written before building is unlocked.
	buildTime   time.Duration // of the last files of fills
	builtAt     time.Time
	buildFailed bool
}

func newSegmentSet(dir string, snapshot func() *serving.Snapshot) *segmentSet {
	names := &rollups.NameIndex{Snapshot: snapshot}
	r := &segmentSet{
		names:   names,
		wallets: fillseg.NewWalletStore(filepath.Join(dir, "wallets.seg"), names),
		tokens:  fillseg.NewTokenStore(filepath.Join(dir, "tokens.seg"), names, rollups.NewestFills),
		texts:   textseg.New(filepath.Join(dir, "markets.seg")),
		start:   engine.StartLowPriority,
	}
	r.wallets.Start, r.tokens.Start = engine.StartLowPriority, engine.StartLowPriority
	return r
}

// serveSegments sets up the segments to serve from: a damaged file is set aside and rewritten. They
// are opened later.
func (k *Keeper) serveSegments(dir string) {
	k.segments = newSegmentSet(dir, k.Snapshot)
	k.segments.wallets.OnDamage, k.segments.tokens.OnDamage, k.segments.texts.OnDamage = k.segmentDamaged, k.segmentDamaged, k.segmentDamaged
	leftover := func(err error) {
		k.cfg.Log.Warn().Err(err).Msg("a segment that was merged into another one could not be removed: the next build tries again")
	}
	k.segments.wallets.OnLeftover, k.segments.tokens.OnLeftover = leftover, leftover
}

// segmentDamaged is called by the reader of a damaged file. Until the next one is written, its data
// are read from the database.
func (k *Keeper) segmentDamaged(d *segments.Damage) {
	k.cfg.Log.Error().Err(errors.Join(d, d.SetAside())).Msg("a segment is damaged: it is set aside and rebuilt")
	if k.work.TryLock() { // else the work under way writes it, or the next cycle
		defer k.work.Unlock()
		k.startSegmentBuild()
	}
}

// closeSegments closes the files, if there are any.
func (k *Keeper) closeSegments() error {
	if k.segments == nil {
		return nil
	}
	return k.segments.close()
}

func (r *segmentSet) close() error {
	return errors.Join(r.wallets.Close(), r.tokens.Close(), r.texts.Close())
}

// open opens the files that fit the database, and reads what came in since. A file that cannot be
// opened is rebuilt, whatever the reason, and does not affect the others.
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

// restart drops the files: the next ones are built from the whole database.
func (r *segmentSet) restart(ctx context.Context, conn *sql.Conn) error {
	if err := r.names.Load(ctx, conn); err != nil {
		return err
	}
	return errors.Join(restartFills(ctx, conn, r.wallets.Store), restartFills(ctx, conn, r.tokens.Store), r.restartTexts(ctx, conn))
}

func restartFills(ctx context.Context, conn *sql.Conn, s *fillseg.Store) error {
	last, err := rollups.LastBatch(ctx, conn, -1)
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
	last, err := rollups.LastBatch(ctx, conn, -1)
	if err != nil {
		return err
	}
	markets, _, err := rollups.MarketCount(ctx, conn)
	if err != nil {
		return err
	}
	return r.texts.Restart(last, markets == 0)
}

// catchUp adds imports that the stores missed, because the server was not running or because they
// were so large that they were left to a rebuild.
func (r *segmentSet) catchUp(ctx context.Context, conn *sql.Conn) error {
	if err := r.names.Load(ctx, conn); err != nil {
		return err
	}
	passed := missedBatches{most: mostMissed(r.wallets.Stats())} // mostly the same for both
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
	last, err := rollups.LastBatch(ctx, conn, -1)
	if err == nil {
		r.texts.Add(last, nil)
	}
	return err
}

// missedBatches is the imports after one and up to the last, as they were read.
type missedBatches struct {
	most    int64 // with more fills than this, the next files are made from the database instead
	after   int64
	batches []fillseg.Batch
}

// addTo adds to a store the imports that it missed.
func (p *missedBatches) addTo(ctx context.Context, conn *sql.Conn, s *fillseg.Store) error {
	through := s.Through()
	last, err := rollups.LastBatch(ctx, conn, -1)
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
	if later > p.most {
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

// add adds a committed batch, except for its fills, which it returns if they are still to be added: see take.
func (r *segmentSet) add(ctx context.Context, conn *sql.Conn) (fills *fillseg.Batch, err error) {
	if r.texts.Stats().Idle {
		return nil, nil // open comes later, and reads what came in until then
	}
	through := min(r.wallets.Through(), r.tokens.Through(), r.texts.Through())
	last, gap, err := rollups.MissedImport(ctx, conn, through)
	if gap || err != nil {
		if err == nil {
			err = r.catchUp(ctx, conn)
		}
		if err != nil {
			return nil, errors.Join(err, r.restart(ctx, conn))
		}
		return nil, nil
	}
	batch, err := rollups.SegmentBatch(ctx, conn, last)
	if err == nil {
		err = r.names.LoadMissing(ctx, conn, batch)
	}
	if err != nil {
		return nil, errors.Join(err, r.restart(ctx, conn))
	}
	changed, few, err := rollups.ChangedTexts(ctx, conn)
	if err != nil || !few {
		return &batch, errors.Join(err, r.restartTexts(ctx, conn))
	}
	r.texts.Add(batch.Number, changed)
	return &batch, nil
}

// take adds the fills of a batch, whose wallets and tokens have their names.
func (r *segmentSet) take(fills *fillseg.Batch) {
	r.wallets.Add(*fills)
	r.tokens.Add(*fills)
}

// WalletStats reports the state of the wallet segment; Idle if snapshots are not served.
func (k *Keeper) WalletStats() fillseg.Stats {
	if k.segments == nil {
		return fillseg.Stats{Idle: true}
	}
	return k.segments.wallets.Stats()
}

// MarketStats reports the state of the segments of tokens' newest fills and of markets' texts; Idle
// if snapshots are not served.
func (k *Keeper) MarketStats() (fillseg.Stats, textseg.Stats) {
	if k.segments == nil {
		return fillseg.Stats{Idle: true}, textseg.Stats{Idle: true}
	}
	return k.segments.tokens.Stats(), k.segments.texts.Stats()
}

// openSegments opens the files and starts writing those that are due.
func (k *Keeper) openSegments(ctx context.Context) error {
	if k.segments == nil {
		return nil
	}
	return k.updateSegments(ctx, k.segments.open)
}

// catchUpSegments adds the imports that were missed while everything was loaded again.
func (k *Keeper) catchUpSegments(ctx context.Context) error {
	if k.segments == nil || k.segments.texts.Stats().Idle {
		return nil // openSegments comes later
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

// takenBeside is the number of fills from which on a batch is added to the segments while the snapshot is made.
const takenBeside = 1000

// addToSegments adds a committed batch, and is done once the returned func was called. If that fails, what it changed is
// read from the database until the next files are written.
func (k *Keeper) addToSegments(ctx context.Context, conn *sql.Conn) (wait func()) {
	fills, err := k.segments.add(ctx, conn)
	if err != nil {
		k.cfg.Log.Warn().Err(err).Msg("segments could not add a batch and are rebuilt")
	}
	if fills == nil {
		return func() {}
	}
	if len(fills.Fills) < takenBeside {
		k.segments.take(fills)
		return func() {}
	}
	done := k.segments.start(func() error {
		k.segments.take(fills)
		return nil
	})
	return sync.OnceFunc(func() { _ = guard.Repanic(<-done) })
}
