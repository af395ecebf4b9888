package keeper

import (
	"context"
	"slices"

	"pmx/rollups"
	"pmx/rollups/query"
	"pmx/rollups/serving"
)

// Reader reads what the snapshot does not hold: of one wallet and of one market from
// their files, where those have it, and everything else from the database.
type Reader struct {
	*query.Reader
	runs *runs // nil: there are none
}

// Reader reads what the snapshot does not hold.
func (k *Keeper) Reader() *Reader { return &Reader{Reader: &query.Reader{DB: k.db}, runs: k.runs} }

// WalletFills is query.Reader's, from the file where it has the wallet.
func (r *Reader) WalletFills(ctx context.Context, dst []serving.Fill, wallet int32, batch int64, after *serving.Fill,
	n int) ([]serving.Fill, error) {
	if r.runs != nil {
		if fills, ok := r.runs.wallets.Fills(dst, wallet, batch, after, n); ok {
			return fills, nil
		}
	}
	return r.Reader.WalletFills(ctx, dst, wallet, batch, after, n)
}

// WalletTokens is query.Reader's, from the file where it has the wallet, and then
// in no order.
func (r *Reader) WalletTokens(ctx context.Context, dst []serving.TokenSum, wallet int32, batch int64) ([]serving.TokenSum, error) {
	if r.runs != nil {
		if sums, ok := r.runs.wallets.Tokens(dst, wallet, batch); ok {
			return sums, nil
		}
	}
	return r.Reader.WalletTokens(ctx, dst, wallet, batch)
}

// WalletDays is query.Reader's, from the file where it has the wallet.
func (r *Reader) WalletDays(ctx context.Context, dst []serving.DaySum, wallet int32, batch int64) ([]serving.DaySum, error) {
	if r.runs != nil {
		if sums, ok := r.runs.wallets.Days(dst, wallet, batch); ok {
			return sums, nil
		}
	}
	return r.Reader.WalletDays(ctx, dst, wallet, batch)
}

// WalletAtHand tells whether the file has the wallet.
func (r *Reader) WalletAtHand(wallet int32, batch int64) bool {
	return r.runs != nil && r.runs.wallets.Has(wallet, batch)
}

// MarketTexts is query.Reader's, from the file where it has the market.
func (r *Reader) MarketTexts(ctx context.Context, market int32, batch int64) (serving.MarketTexts, error) {
	if r.runs != nil {
		if t, ok := r.runs.texts.Texts(market, batch); ok {
			return t, nil
		}
	}
	return r.Reader.MarketTexts(ctx, market, batch)
}

// MarketFills is query.Reader's, from the file where it has every token.
func (r *Reader) MarketFills(ctx context.Context, dst []serving.MarketFill, tokens []int32, batch int64, f *serving.Figures,
	n int) ([]serving.MarketFill, error) {
	if r.runs != nil {
		if fills, ok := r.newest(dst, tokens, batch, n); ok {
			return fills, nil
		}
	}
	return r.Reader.MarketFills(ctx, dst, tokens, batch, f, n)
}

// newest adds the n newest fills of tokens to dst, newest first; false, and nothing
// added, where not every token is at hand.
func (r *Reader) newest(dst []serving.MarketFill, tokens []int32, batch int64, n int) ([]serving.MarketFill, bool) {
	var room [rollups.NewestFills]serving.Fill
	known := len(dst)
	for _, token := range tokens {
		fills, ok := r.runs.tokens.Fills(room[:0], token, batch, nil, n)
		if !ok {
			return dst[:known], false
		}
		for _, f := range fills {
			wallet := f.Token
			f.Token = token
			dst = append(dst, serving.MarketFill{Wallet: wallet, Fill: f})
		}
	}
	added := dst[known:]
	if len(tokens) > 1 {
		slices.SortFunc(added, func(x, y serving.MarketFill) int { return y.Compare(&x, r.runs.names) })
	}
	return dst[:known+min(len(added), n)], true
}

// MarketAtHand tells whether the files have the market and all its tokens.
func (r *Reader) MarketAtHand(market int32, tokens []int32, batch int64) bool {
	if r.runs == nil || !r.runs.texts.Has(market, batch) {
		return false
	}
	return !slices.ContainsFunc(tokens, func(token int32) bool { return !r.runs.tokens.Has(token, batch) })
}
