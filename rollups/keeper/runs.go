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

// When the file in wallet order is written anew: once so many fills came in that
// their part of it is worth the work, or of a wallet in it a fill was replaced.
// A file is written whole, so the larger it is, the more must come together. That of
// tokens is written with it, or alone where it is missing or a fill was replaced.
const (
	tailFew   = 50_000
	tailMost  = 1_000_000
	tailShare = 16
	// rest is how many times as long as writing it took the file is left alone where
	// that failed, or where only replaced fills are the reason to write it again.
	rest = 20
	// mostBegun is how many times files are begun, one try right behind the other,
	// where imports overtake them.
	mostBegun = 3
	// textMost is how many bytes of markets' texts gather beside their file.
	textMost = 16 << 20
)

// runs keeps what is served beside the database: files, and what came in since.
type runs struct {
	names    *rollups.Names // of what the stores hold: learned before they are given it
	wallets  *fillseg.Store // every fill, by wallet
	tokens   *fillseg.Store // the newest fills, by token
	texts    *textseg.Store // by market
	building sync.Mutex     // one writing of files at a time
	// Written before building is unlocked.
	took   time.Duration // of the last files of fills
	at     time.Time
	failed bool
}

func newRuns(dir string, snapshot func() *serving.Snapshot) *runs {
	names := &rollups.Names{Snapshot: snapshot}
	return &runs{
		names:   names,
		wallets: fillseg.New(filepath.Join(dir, "wallets.run"), names),
		tokens:  fillseg.NewNewest(filepath.Join(dir, "tokens.run"), names, rollups.NewestFills),
		texts:   textseg.New(filepath.Join(dir, "markets.run")),
	}
}

// serveRuns makes the files those that are served from: a damaged one is set aside,
// and another written. They are opened later.
func (k *Keeper) serveRuns(dir string) {
	k.runs = newRuns(dir, k.Snapshot)
	k.runs.wallets.Damaged, k.runs.tokens.Damaged, k.runs.texts.Damaged = k.damaged, k.damaged, k.damaged
}

// damaged is called by whoever reads a file that is not what was written. What was
// lost is read from the database until the next one is there.
func (k *Keeper) damaged(d *segments.Damage) {
	k.cfg.Log.Error().Err(errors.Join(d, d.SetAside())).Msg("a file below runs/ is damaged: it is set aside and written again")
	if k.busy.TryEnter() { // else what is under way writes it, or the next cycle
		defer k.busy.Leave()
		k.writeRuns()
	}
}

func (r *runs) close() error {
	return errors.Join(r.wallets.Close(), r.tokens.Close(), r.texts.Close())
}

// open takes the files there are, where they fit the database, and reads what came
// in since. A file that cannot be opened is made anew, whatever the reason, and keeps
// none of the others from being followed.
func (r *runs) open(ctx context.Context, conn *sql.Conn) error {
	if err := r.names.Learn(ctx, conn); err != nil {
		return err
	}
	var errs []error
	for _, s := range []*fillseg.Store{r.wallets, r.tokens} {
		known, err := s.Open(func(c fillseg.Covers) (bool, error) { return rollups.RunFits(ctx, conn, c) })
		if err != nil || !known {
			errs = append(errs, err, restartFills(ctx, conn, s))
		}
	}
	known, err := r.texts.Open(func(c textseg.Covers) (bool, error) { return rollups.TextsFit(ctx, conn, c) })
	if err != nil || !known {
		errs = append(errs, err, r.restartTexts(ctx, conn))
	}
	return errors.Join(append(errs, r.catchUp(ctx, conn))...)
}

// restart forgets the files: the next ones are made from the whole database.
func (r *runs) restart(ctx context.Context, conn *sql.Conn) error {
	if err := r.names.Learn(ctx, conn); err != nil {
		return err
	}
	return errors.Join(restartFills(ctx, conn, r.wallets), restartFills(ctx, conn, r.tokens), r.restartTexts(ctx, conn))
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

func (r *runs) restartTexts(ctx context.Context, conn *sql.Conn) error {
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
func (r *runs) catchUp(ctx context.Context, conn *sql.Conn) error {
	if err := r.names.Learn(ctx, conn); err != nil {
		return err
	}
	var passed passedBy // mostly the same for both
	if err := passed.addTo(ctx, conn, r.wallets, func(b fillseg.Batch) fillseg.Batch { return b }); err != nil {
		return err
	}
	if err := passed.addTo(ctx, conn, r.tokens, func(b fillseg.Batch) fillseg.Batch { return rollups.ByToken(b, nil) }); err != nil {
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

// passedBy is the imports after one and up to the last, as they were read.
type passedBy struct {
	after   int64
	batches []fillseg.Batch
}

// addTo adds to a store what passed by it.
func (p *passedBy) addTo(ctx context.Context, conn *sql.Conn, s *fillseg.Store, keyed func(fillseg.Batch) fillseg.Batch) error {
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
	if later > tailMost {
		return s.Skip(last)
	}
	if p.batches == nil || p.after != through {
		p.after = through
		if p.batches, err = rollups.WalletBatches(ctx, conn, through, last); err != nil {
			return err
		}
	}
	for _, b := range p.batches {
		s.Add(keyed(b))
	}
	return nil
}

// add takes a committed batch in.
func (r *runs) add(ctx context.Context, conn *sql.Conn) error {
	if r.texts.Stats().Idle {
		return nil // open is still to come, and reads what came in until then
	}
	through := min(r.wallets.Through(), r.tokens.Through(), r.texts.Through())
	if gap, err := rollups.PassedBy(ctx, conn, through); gap || err != nil {
		if err == nil {
			err = r.catchUp(ctx, conn)
		}
		if err != nil {
			return errors.Join(err, r.restart(ctx, conn))
		}
		return nil
	}
	byWallet, byToken, err := rollups.RunBatch(ctx, conn)
	if err == nil {
		err = r.names.LearnOf(ctx, conn, byWallet)
	}
	if err != nil {
		return errors.Join(err, r.restart(ctx, conn))
	}
	r.wallets.Add(byWallet)
	r.tokens.Add(byToken)
	changed, few, err := rollups.TextBatch(ctx, conn)
	if err != nil || !few {
		return errors.Join(err, r.restartTexts(ctx, conn))
	}
	r.texts.Add(byWallet.Number, changed)
	return nil
}

// WalletStats tells what is held of wallets beside the database; idle where nobody
// is served.
func (k *Keeper) WalletStats() fillseg.Stats {
	if k.runs == nil {
		return fillseg.Stats{Idle: true}
	}
	return k.runs.wallets.Stats()
}

// MarketStats tells what is held of tokens' newest fills and of markets' texts beside
// the database; idle where nobody is served.
func (k *Keeper) MarketStats() (fillseg.Stats, textseg.Stats) {
	if k.runs == nil {
		return fillseg.Stats{Idle: true}, textseg.Stats{Idle: true}
	}
	return k.runs.tokens.Stats(), k.runs.texts.Stats()
}

// openRuns opens the files and sees that those are written that are due.
func (k *Keeper) openRuns(ctx context.Context) error {
	return k.changeRuns(ctx, k.runs.open)
}

// followRuns takes in what passed by while everything was loaded anew.
func (k *Keeper) followRuns(ctx context.Context) error {
	if k.runs.texts.Stats().Idle {
		return nil // openRuns is still to come
	}
	return k.changeRuns(ctx, k.runs.catchUp)
}

func (k *Keeper) changeRuns(ctx context.Context, change func(context.Context, *sql.Conn) error) error {
	err := k.db.Write(ctx, func(conn *sql.Conn) error { return change(ctx, conn) })
	k.writeRuns()
	if err != nil {
		return fmt.Errorf("runs: %w", err)
	}
	return nil
}

// addRuns takes a committed batch in. Where that fails, what it changed is read from
// the database until the next files are written.
func (k *Keeper) addRuns(ctx context.Context, conn *sql.Conn) {
	if err := k.runs.add(ctx, conn); err != nil {
		k.cfg.Log.Warn().Err(err).Msg("the files below runs/ could not follow a batch and are made anew")
	}
}

// grown tells whether so much came in that a new file in wallet order is worth
// writing.
func grown(s fillseg.Stats) bool {
	return s.Recent >= tailMost || s.Recent >= max(tailFew, s.Stored/tailShare)
}

// full tells whether so much lies beside the files, in memory, that they are not to
// wait for the next cycle.
func (r *runs) full() bool {
	return grown(r.wallets.Stats()) || r.texts.Stats().Text >= textMost
}

// hurt tells whether a file was found damaged that was not written again yet.
func (r *runs) hurt() bool {
	return errors.Join(r.wallets.Stats().Damage, r.tokens.Stats().Damage, r.texts.Stats().Damage) != nil
}

// due tells whether new files are worth writing.
func (r *runs) due(wallets, tokens fillseg.Stats, texts textseg.Stats, now time.Time) bool {
	rested := now.Sub(r.at) > rest*r.took
	switch {
	case wallets.Idle, tokens.Idle, texts.Idle:
		return false
	case r.failed:
		return rested
	case !wallets.Ready, !tokens.Ready, grown(wallets), textsDue(texts):
		return true
	}
	return wallets.Dirty+tokens.Dirty > 0 && rested
}

func textsDue(s textseg.Stats) bool { return !s.Ready || s.Text >= textMost }

// writeRuns writes new files beside everything else, where they are due and none is
// under way. The wait group is the owner of the work; Close ends it.
func (k *Keeper) writeRuns() {
	r := k.runs
	if k.ctx.Err() != nil || !r.building.TryLock() {
		return
	}
	if !r.due(r.wallets.Stats(), r.tokens.Stats(), r.texts.Stats(), time.Now()) {
		r.building.Unlock()
		return
	}
	k.cfg.Watch.Begin(&k.background, "write runs", func() {
		defer r.building.Unlock()
		err := k.buildRuns(k.ctx, r, false)
		for again := 1; again < mostBegun && begunAnew(err) && k.ctx.Err() == nil; again++ {
			err = k.buildRuns(k.ctx, r, false)
		}
		if err != nil && k.ctx.Err() == nil {
			k.cfg.Log.Error().Err(err).Msg("the files below runs/ were not written: what they lack is read from the database")
		}
	})
}

func begunAnew(err error) bool {
	var d *segments.Damage
	return errors.Is(err, segments.ErrOvertaken) || errors.As(err, &d)
}

// rewriteRuns writes all files from the database, whatever there is.
func (k *Keeper) rewriteRuns(ctx context.Context) (err error) {
	r := k.runs
	if r == nil {
		r = newRuns(k.db.Dir().Runs(), k.Snapshot)
		defer func() { err = errors.Join(err, r.close()) }()
	}
	r.building.Lock()
	defer r.building.Unlock()
	if r.texts.Stats().Idle { // nobody follows, or openRuns is still to come
		if err := k.db.Write(ctx, func(conn *sql.Conn) error { return r.restart(ctx, conn) }); err != nil {
			return fmt.Errorf("runs: %w", err)
		}
	}
	if err := k.buildRuns(ctx, r, true); err != nil {
		return fmt.Errorf("runs: %w", err)
	}
	return nil
}

// buildRuns writes the files that are due, from what there is and what came in since;
// or all of them, from the database.
func (k *Keeper) buildRuns(ctx context.Context, r *runs, whole bool) error {
	began := time.Now()
	err := k.cfg.Watch.Do("write runs", func() error {
		return k.db.ReadAside(ctx, func(conn *sql.Conn) error {
			return errors.Join(r.buildTexts(ctx, conn, whole), r.buildFills(ctx, conn, whole))
		})
	})
	r.failed = err != nil
	if err != nil {
		r.took, r.at = max(r.took, time.Since(began)), time.Now()
		return err
	}
	s, tokens, texts := r.wallets.Stats(), r.tokens.Stats(), r.texts.Stats()
	k.cfg.Log.Info().Int64("fills", s.Stored).Int64("bytes", s.Bytes).Int64("recent", s.Recent).Int64("token_bytes", tokens.Bytes).
		Int64("market_bytes", texts.Bytes).Dur("took", r.took).Msg("runs written")
	return nil
}

// adder takes a fact in.
type adder = func(key int32, f *serving.Fill) error

// buildFills writes the file of tokens, and that of wallets where it is worth it,
// from one reading of the facts.
func (r *runs) buildFills(ctx context.Context, conn *sql.Conn, whole bool) error {
	s, t := r.wallets.Stats(), r.tokens.Stats()
	both := whole || !s.Ready || s.Dirty > 0 || grown(s)
	if !both && t.Ready && t.Dirty == 0 {
		return nil
	}
	began := time.Now()
	defer func() { r.took, r.at = time.Since(began), time.Now() }()
	tokens, err := planned(ctx, conn, r.tokens, whole)
	if err != nil {
		return err
	}
	if !both {
		return r.tokens.Build(ctx, tokens, func(add adder) error {
			return rollups.Facts(ctx, conn, rollups.Wanted{Batch: tokens.Batch, After: tokens.After, Tokens: tokens.Again}, byToken(tokens, add))
		})
	}
	wallets, err := planned(ctx, conn, r.wallets, whole)
	if err != nil {
		return err
	}
	return r.tokens.Build(ctx, tokens, func(addToken adder) error {
		return r.wallets.Build(ctx, wallets, func(addWallet adder) error {
			toToken := byToken(tokens, addToken)
			return rollups.Facts(ctx, conn, rollups.Want(wallets, tokens), func(wallet int32, batch int64, f *serving.Fill) error {
				if wallets.Wants(wallet, batch) {
					if err := addWallet(wallet, f); err != nil {
						return err
					}
				}
				return toToken(wallet, batch, f)
			})
		})
	})
}

func planned(ctx context.Context, conn *sql.Conn, s *fillseg.Store, whole bool) (fillseg.Plan, error) {
	p := s.Plan()
	if whole {
		p.After, p.Again = -1, nil
	}
	var err error
	if p.Ledger, err = rollups.Ledger(ctx, conn, p.Batch); err != nil {
		return p, err
	}
	p.Facts, err = rollups.FactCount(ctx, conn, -1, p.Batch)
	return p, err
}

// byToken hands the facts that a plan asks for to add, the token in the place of the
// wallet.
func byToken(p fillseg.Plan, add adder) func(wallet int32, batch int64, f *serving.Fill) error {
	return func(wallet int32, batch int64, f *serving.Fill) error {
		if !p.Wants(f.Token, batch) {
			return nil
		}
		g := *f
		g.Token = wallet
		return add(f.Token, &g)
	}
}

// buildTexts writes the file of markets' texts where it is due.
func (r *runs) buildTexts(ctx context.Context, conn *sql.Conn, whole bool) error {
	if !whole && !textsDue(r.texts.Stats()) {
		return nil
	}
	p := r.texts.Plan()
	var err error
	if p.Ledger, err = rollups.Ledger(ctx, conn, p.Batch); err != nil {
		return err
	}
	return r.texts.Build(p, func(add func(int32, *serving.MarketTexts) error) error { return rollups.Texts(ctx, conn, add) })
}
