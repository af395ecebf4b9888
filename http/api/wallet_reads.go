package api

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"pmx/data"
	"pmx/rollups/serving"
)

// traderReader reads what one wallet did in imports up to batch. Rows are added to dst.
type traderReader interface {
	// WalletFills returns the n newest fills, newest first; those before after, as
	// serving.Fill.Compare orders them, if that is given.
	WalletFills(ctx context.Context, dst []serving.Fill, wallet data.WalletID, batch int64, after *serving.Fill, n int) ([]serving.Fill, error)
	// WalletTokens returns what the wallet did with each token, every token once.
	WalletTokens(ctx context.Context, dst []serving.TokenSum, wallet data.WalletID, batch int64) ([]serving.TokenSum, error)
	// WalletDays returns the UTC days with a fill, oldest first.
	WalletDays(ctx context.Context, dst []serving.DaySum, wallet data.WalletID, batch int64) ([]serving.DaySum, error)
	// WalletsBetween returns the first n wallets from one address up to another, in order.
	WalletsBetween(ctx context.Context, lo, hi data.Address, n int) ([]data.Address, error)
	// WalletsNamed returns the first n wallets whose name begins with a text, in any letter case,
	// in order of the name.
	WalletsNamed(ctx context.Context, prefix string, n int) ([]data.Address, error)
	// WalletInMemory reports whether these reads are so cheap that keeping their results would cost
	// more.
	WalletInMemory(wallet data.WalletID, batch int64) bool
}

const (
	// walletRows is the maximum number of markets, or fills, of a wallet in a response.
	walletRows = 200
	// bigPortfolio is the number of markets from which a wallet's portfolio is kept for the epoch.
	bigPortfolio = 2000
)

// scratch is the working memory of a request about one wallet or market; it is reused.
type scratch struct {
	fills     []serving.Fill
	tokens    []serving.TokenSum
	days      []serving.DaySum
	rows      []walletDay
	portfolio serving.Portfolio
	paid      []serving.DayPaid
	filled    []serving.Fill
	newest    []serving.NewestTrade
}

// scratchPool holds scratch memory that is not in use.
type scratchPool struct{ pool sync.Pool }

func (d *scratchPool) get() *scratch {
	if w, ok := d.pool.Get().(*scratch); ok {
		return w
	}
	return &scratch{}
}

// maxScratchRows is the largest capacity of a slice that is kept for reuse.
const maxScratchRows = 1 << 14

func (d *scratchPool) put(w *scratch) {
	if max(cap(w.fills), cap(w.tokens), cap(w.days), cap(w.rows), cap(w.portfolio.Holdings), cap(w.paid), cap(w.filled)) <= maxScratchRows {
		d.pool.Put(w)
	}
}

// portfolioPage returns a page of the wallet's markets as of m: computed in w, or, if computing
// takes long, kept for the epoch. key identifies q.
func (a *API) portfolioPage(m *marketEpoch, w *scratch, t *serving.Trader, q serving.HoldingQuery, key string) (serving.HoldingPage, error) {
	return wholePortfolio(a, m, w, t, key, func(b *serving.Portfolio) serving.HoldingPage { return b.Select(q) },
		func(p *serving.HoldingPage) {
			p.Rows = slices.Clone(p.Rows)
			for i := range p.Rows {
				p.Rows[i].Legs = slices.Clone(p.Rows[i].Legs)
			}
		})
}

// wholePortfolio computes something from everything that a wallet ever traded, as of m: in w, or,
// if it takes long, kept for the epoch under key. own makes a result independent of its portfolio.
func wholePortfolio[T any](a *API, m *marketEpoch, w *scratch, t *serving.Trader, key string, compute func(*serving.Portfolio) T, own func(*T)) (T, error) {
	load := func(ctx context.Context, w *scratch) (got T, err error) {
		if err := a.walletTokens(ctx, m.batch, w, t.ID); err != nil {
			return got, err
		}
		w.portfolio.Fill(m.catalog, w.tokens)
		return compute(&w.portfolio), nil
	}
	if t.Totals.Markets < bigPortfolio && a.reader.WalletInMemory(t.ID, m.batch) {
		return load(context.Background(), w)
	}
	return cachedReadOf(a, m.epoch, fmt.Sprint("portfolio ", t.ID, " ", key), func(ctx context.Context) (T, error) {
		got, err := load(ctx, &scratch{}) // its memory is not for reuse: it may be large
		own(&got)
		return got, err
	})
}

func (a *API) walletTokens(ctx context.Context, batch int64, w *scratch, wallet data.WalletID) error {
	tokens, err := a.reader.WalletTokens(ctx, w.tokens[:0], wallet, batch)
	if err != nil {
		return fmt.Errorf("wallet: %w", err)
	}
	w.tokens = tokens
	return nil
}

// paidDays is what resolutions paid a wallet, day by day.
type paidDays []serving.DayPaid

// walletPaid returns the days on which resolutions paid a wallet, oldest first.
func (a *API) walletPaid(v *encodedSnapshot, w *scratch, t *serving.Trader) (paidDays, error) {
	upTo := v.snap.AsOf.UnixMicro()
	if t.Totals.Markets < bigPortfolio && a.reader.WalletInMemory(t.ID, v.snap.Batch) {
		if err := a.walletTokens(context.Background(), v.snap.Batch, w, t.ID); err != nil {
			return nil, err
		}
		w.paid = w.portfolio.PaidByDay(w.paid, v.snap.Catalog, w.tokens, upTo)
		return w.paid, nil
	}
	return cachedRead(a, v, fmt.Sprint("paid ", t.ID), func(ctx context.Context) (paidDays, error) {
		w := scratch{}
		err := a.walletTokens(ctx, v.snap.Batch, &w, t.ID)
		return w.portfolio.PaidByDay(nil, v.snap.Catalog, w.tokens, upTo), err
	})
}

// walletDays returns the UTC days on which a wallet traded, oldest first.
func (a *API) walletDays(v *encodedSnapshot, w *scratch, t *serving.Trader) ([]serving.DaySum, error) {
	if a.reader.WalletInMemory(t.ID, v.snap.Batch) {
		days, err := a.reader.WalletDays(context.Background(), w.days[:0], t.ID, v.snap.Batch)
		w.days = days
		return days, err
	}
	return cachedRead(a, v, fmt.Sprint("days ", t.ID), func(ctx context.Context) ([]serving.DaySum, error) {
		return a.reader.WalletDays(ctx, nil, t.ID, v.snap.Batch)
	})
}

// walletFills returns a page of a wallet's fills. The repeat number of a place without a log index
// says how many equal fills are left to show. If a source has given log indexes since then, fills
// that were shown may have moved after the place: they are skipped.
func (a *API) walletFills(v *encodedSnapshot, w *scratch, t *serving.Trader, after *serving.Fill, n int) ([]serving.Fill, error) {
	for most := n; ; {
		fills, err := a.readFills(v, w, t, after, most)
		if err != nil || after == nil || after.LogIndex != data.NoIndex {
			return fills, err
		}
		like := 0
		for like < len(fills) && fills[like].Like(after) {
			like++
		}
		if like == most { // there may be more
			most *= 2
			continue
		}
		shown := like - int(after.Repeat) + 1
		if shown <= 0 {
			return fills[:min(len(fills), n)], nil
		}
		last := fills[shown-1]
		after, most = &last, n
	}
}

// readFills reads a page of a wallet's fills.
func (a *API) readFills(v *encodedSnapshot, w *scratch, t *serving.Trader, after *serving.Fill, n int) ([]serving.Fill, error) {
	if a.reader.WalletInMemory(t.ID, v.snap.Batch) {
		fills, err := a.reader.WalletFills(context.Background(), w.fills[:0], t.ID, v.snap.Batch, after, n)
		w.fills = fills
		return fills, err
	}
	key := fmt.Sprint("fills ", t.ID, n)
	if after != nil {
		key += string(appendFillPosition(nil, v.snap.Catalog, after))
	}
	return cachedRead(a, v, key, func(ctx context.Context) ([]serving.Fill, error) {
		return a.reader.WalletFills(ctx, nil, t.ID, v.snap.Batch, after, n)
	})
}
