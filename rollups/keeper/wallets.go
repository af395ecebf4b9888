package keeper

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"pmx/engine/query"
	"pmx/rollups"
	"pmx/rollups/serving"
	"pmx/rollups/walletrun"
)

// When the file in wallet order is written anew: once so many fills came in that
// their part of it is worth the work, or of a wallet in it a fill was replaced.
// A file is written whole, so the larger it is, the more must come together.
const (
	tailFew   = 50_000
	tailMost  = 1_000_000
	tailShare = 16
	// rest is how many times as long as writing it took the file is left alone where
	// that failed, or where only replaced fills are the reason to write it again.
	rest = 20
)

// wallets keeps the file in wallet order and what came in since.
type wallets struct {
	store    *walletrun.Store
	building atomic.Bool
	// Of the last file; written before building is unset.
	took   time.Duration
	at     time.Time
	failed bool
}

// Reader reads what the snapshot does not hold: of one wallet from its file, where
// that has it, and everything else from the database.
type Reader struct {
	*query.Reader
	wallets *walletrun.Store // nil: there is none
}

// WalletFills is query.Reader's, from the file where it has the wallet.
func (r *Reader) WalletFills(ctx context.Context, dst []serving.Fill, wallet int32, batch int64, after *serving.Fill,
	n int) ([]serving.Fill, error) {
	if r.wallets != nil {
		if fills, ok := r.wallets.Fills(dst, wallet, batch, after, n); ok {
			return fills, nil
		}
	}
	return r.Reader.WalletFills(ctx, dst, wallet, batch, after, n)
}

// WalletTokens is query.Reader's, from the file where it has the wallet, and then
// in no order.
func (r *Reader) WalletTokens(ctx context.Context, dst []serving.TokenSum, wallet int32, batch int64) ([]serving.TokenSum, error) {
	if r.wallets != nil {
		if sums, ok := r.wallets.Tokens(dst, wallet, batch); ok {
			return sums, nil
		}
	}
	return r.Reader.WalletTokens(ctx, dst, wallet, batch)
}

// WalletDays is query.Reader's, from the file where it has the wallet.
func (r *Reader) WalletDays(ctx context.Context, dst []serving.DaySum, wallet int32, batch int64) ([]serving.DaySum, error) {
	if r.wallets != nil {
		if sums, ok := r.wallets.Days(dst, wallet, batch); ok {
			return sums, nil
		}
	}
	return r.Reader.WalletDays(ctx, dst, wallet, batch)
}

// WalletAtHand tells whether the file has the wallet.
func (r *Reader) WalletAtHand(wallet int32, batch int64) bool {
	return r.wallets != nil && r.wallets.Has(wallet, batch)
}

// open takes the file there is, where it fits the database, and reads what came in
// since.
func (w *wallets) open(ctx context.Context, conn *sql.Conn) error {
	known, err := w.store.Open(func(c walletrun.Covers) (bool, error) { return rollups.WalletFits(ctx, conn, c) })
	if err != nil {
		return err
	}
	if !known {
		return w.restart(ctx, conn)
	}
	return w.catchUp(ctx, conn)
}

// restart forgets the file: the next one is made from all facts.
func (w *wallets) restart(ctx context.Context, conn *sql.Conn) error {
	last, err := rollups.LastBatch(ctx, conn)
	if err != nil {
		return err
	}
	facts, err := rollups.WalletCount(ctx, conn, -1, last)
	if err != nil {
		return err
	}
	return w.store.Restart(last, facts == 0)
}

// catchUp adds imports that passed by the store: of a time when nobody followed,
// or so large that they were left to a rebuild.
func (w *wallets) catchUp(ctx context.Context, conn *sql.Conn) error {
	s := w.store
	through := s.Through()
	last, err := rollups.LastBatch(ctx, conn)
	if err != nil {
		return err
	}
	later, err := rollups.WalletCount(ctx, conn, through, last)
	if err != nil {
		return err
	}
	if later == 0 {
		s.Add(walletrun.Batch{Number: last})
		return nil
	}
	// One of them may have replaced fills that the store holds.
	before, err := rollups.WalletCount(ctx, conn, -1, through)
	if err != nil {
		return err
	}
	if st := s.Stats(); before != st.Run+st.Tail || !st.Ready {
		return w.restart(ctx, conn)
	}
	if later > tailMost {
		return s.Skip(last)
	}
	batches, err := rollups.WalletBatches(ctx, conn, through, last)
	if err != nil {
		return err
	}
	for _, b := range batches {
		s.Add(b)
	}
	return nil
}

// add takes a committed batch in.
func (w *wallets) add(ctx context.Context, conn *sql.Conn) error {
	b, err := rollups.WalletBatch(ctx, conn)
	if err != nil {
		return errors.Join(err, w.restart(ctx, conn))
	}
	w.store.Add(b)
	return nil
}

// WalletStats tells what is held of wallets beside the database; zero where nobody
// is served.
func (k *Keeper) WalletStats() walletrun.Stats {
	if k.wallets == nil {
		return walletrun.Stats{Idle: true}
	}
	return k.wallets.store.Stats()
}

// openWallets opens the file and sees that one is written where it is due.
func (k *Keeper) openWallets(ctx context.Context) error {
	return k.changeWallets(ctx, k.wallets.open)
}

// followWallets takes in what passed by while everything was loaded anew.
func (k *Keeper) followWallets(ctx context.Context) error {
	if k.wallets.store.Stats().Idle {
		return nil // openWallets is still to come
	}
	return k.changeWallets(ctx, k.wallets.catchUp)
}

func (k *Keeper) changeWallets(ctx context.Context, change func(context.Context, *sql.Conn) error) error {
	if err := k.db.Write(ctx, func(conn *sql.Conn) error { return change(ctx, conn) }); err != nil {
		return fmt.Errorf("wallet run: %w", err)
	}
	k.writeWallets()
	return nil
}

// addWallets takes a committed batch in. Where that fails, wallets are read from
// the database until the next file is written.
func (k *Keeper) addWallets(ctx context.Context, conn *sql.Conn) {
	if err := k.wallets.add(ctx, conn); err != nil {
		k.cfg.Log.Warn().Err(err).Msg("the wallet run could not follow a batch and is made anew")
	}
}

// due tells whether a new file is worth writing, s being what the store holds.
func (w *wallets) due(s walletrun.Stats, now time.Time) bool {
	rested := now.Sub(w.at) > rest*w.took
	switch {
	case s.Idle:
		return false
	case w.failed:
		return rested
	case !s.Ready, s.Tail >= tailMost, s.Tail >= max(tailFew, s.Run/tailShare):
		return true
	}
	return s.Dirty > 0 && rested
}

// writeWallets writes a new file beside everything else, where one is due and none
// is under way. The wait group is the owner of the work; Close ends it.
func (k *Keeper) writeWallets() {
	if k.ctx.Err() != nil || !k.wallets.building.CompareAndSwap(false, true) {
		return
	}
	if !k.wallets.due(k.wallets.store.Stats(), time.Now()) {
		k.wallets.building.Store(false)
		return
	}
	k.background.Go(func() {
		defer k.wallets.building.Store(false)
		err := k.buildWallets(k.ctx)
		for (errors.Is(err, walletrun.ErrOvertaken) || errors.Is(err, walletrun.ErrDamaged)) && k.ctx.Err() == nil {
			err = k.buildWallets(k.ctx)
		}
		if err != nil && k.ctx.Err() == nil {
			k.cfg.Log.Error().Err(err).Msg("the wallet run was not written: wallets it lacks are read from the database")
		}
	})
}

func (k *Keeper) buildWallets(ctx context.Context) error {
	began := time.Now()
	w := k.wallets
	err := k.db.ReadAside(ctx, func(conn *sql.Conn) error {
		plan := w.store.Plan()
		var err error
		if plan.Ledger, err = rollups.WalletLedger(ctx, conn, plan.Batch); err != nil {
			return err
		}
		return w.store.Build(ctx, plan, func(add func(int32, *serving.Fill) error) error {
			return rollups.WalletFacts(ctx, conn, plan, func(wallet int32, _ int64, f *serving.Fill) error { return add(wallet, f) })
		})
	})
	w.took, w.at, w.failed = time.Since(began), time.Now(), err != nil
	if err != nil {
		return err
	}
	s := w.store.Stats()
	k.cfg.Log.Info().Int64("fills", s.Run).Int64("bytes", s.Bytes).Int64("beside", s.Tail).Dur("took", w.took).Msg("wallet run written")
	return nil
}
