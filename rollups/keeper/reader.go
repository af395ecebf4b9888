package keeper

import (
	"context"
	"slices"

	"pmx/data"
	"pmx/rollups/query"
	"pmx/rollups/serving"
)

// Reader reads what the snapshot does not have: data of one wallet or market from segments, if they
// have it, and everything else from the database.
type Reader struct {
	*query.Reader
	segments *segmentSet // nil: there are none
}

// Reader reads what the snapshot does not hold.
func (k *Keeper) Reader() *Reader {
	return &Reader{Reader: &query.Reader{DB: k.db, Lake: &k.lake}, segments: k.segments}
}

// WalletFills is query.Reader's, from the file if it has the wallet.
func (r *Reader) WalletFills(ctx context.Context, dst []serving.Fill, wallet data.WalletID, batch int64, after *serving.Fill,
	n int) ([]serving.Fill, error) {
	if r.segments != nil {
		if fills, ok := r.segments.wallets.Fills(dst, wallet, batch, after, n); ok {
			return fills, nil
		}
	}
	return r.Reader.WalletFills(ctx, dst, wallet, batch, after, n)
}

// WalletTokens is query.Reader's, from the file if it has the wallet, and then in no order.
func (r *Reader) WalletTokens(ctx context.Context, dst []serving.TokenSum, wallet data.WalletID, batch int64) ([]serving.TokenSum, error) {
	if r.segments != nil {
		if sums, ok := r.segments.wallets.Tokens(dst, wallet, batch); ok {
			return sums, nil
		}
	}
	return r.Reader.WalletTokens(ctx, dst, wallet, batch)
}

// WalletDays is query.Reader's, from the file if it has the wallet.
func (r *Reader) WalletDays(ctx context.Context, dst []serving.DaySum, wallet data.WalletID, batch int64) ([]serving.DaySum, error) {
	if r.segments != nil {
		if sums, ok := r.segments.wallets.Days(dst, wallet, batch); ok {
			return sums, nil
		}
	}
	return r.Reader.WalletDays(ctx, dst, wallet, batch)
}

// WalletInMemory reports whether the file has the wallet.
func (r *Reader) WalletInMemory(wallet data.WalletID, batch int64) bool {
	return r.segments != nil && r.segments.wallets.Has(wallet, batch)
}

// MarketTexts is query.Reader's, from the file if it has the market.
func (r *Reader) MarketTexts(ctx context.Context, market int32, batch int64) (serving.MarketTexts, error) {
	if r.segments != nil {
		if t, ok := r.segments.texts.Texts(market, batch); ok {
			return t, nil
		}
	}
	return r.Reader.MarketTexts(ctx, market, batch)
}

// MarketInMemory reports whether the files have the market and all its tokens.
func (r *Reader) MarketInMemory(market int32, tokens []data.TokenID, batch int64) bool {
	if r.segments == nil || !r.segments.texts.Has(market, batch) {
		return false
	}
	return !slices.ContainsFunc(tokens, func(token data.TokenID) bool { return !r.segments.tokens.Has(token, batch) })
}
