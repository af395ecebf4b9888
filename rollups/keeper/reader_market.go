package keeper

import (
	"context"
	"slices"

	"pmx/data"
	"pmx/rollups"
	"pmx/rollups/serving"
)

// MarketFills is query.Reader's, from the file where it has every token; the file has the newest alone, which are all
// of most markets.
func (r *Reader) MarketFills(ctx context.Context, dst []serving.Fill, tokens []data.TokenID, batch int64, f *serving.Figures,
	after *serving.Fill, n int) ([]serving.Fill, error) {
	if r.segments != nil && after == nil && n <= rollups.NewestFills {
		if fills, ok := r.newest(dst, tokens, batch, n); ok {
			return fills, nil
		}
	}
	if fills, others := r.whole(len(tokens), func(i int) data.TokenID { return tokens[i] }, batch); len(others) == 0 && r.segments != nil {
		r.inBlock(fills)
		if after != nil {
			fills = slices.DeleteFunc(fills, func(f serving.Fill) bool { return f.CompareInBlock(after, r.segments.names) >= 0 })
		}
		return append(dst, fills[:min(len(fills), n)]...), nil
	}
	return r.Reader.MarketFills(ctx, dst, tokens, batch, f, after, n)
}

// newest adds the n newest fills of tokens to dst, newest first; false, and nothing
// added, where a token is not in the segments.
func (r *Reader) newest(dst []serving.Fill, tokens []data.TokenID, batch int64, n int) ([]serving.Fill, bool) {
	known := len(dst)
	for _, token := range tokens {
		var ok bool
		if dst, ok = r.segments.tokens.Newest(dst, token, batch, n); !ok {
			return dst[:known], false
		}
	}
	added := dst[known:]
	if len(tokens) > 1 {
		r.inBlock(added)
	}
	return dst[:known+min(len(added), n)], true
}

// inBlock sorts fills of a market, newest first.
func (r *Reader) inBlock(fills []serving.Fill) {
	slices.SortFunc(fills, func(x, y serving.Fill) int { return y.CompareInBlock(&x, r.segments.names) })
}

// whole gives all fills of tokens, of imports up to batch, of which the file has so few that there are no more, and the
// places of the other tokens. They are in no order.
func (r *Reader) whole(n int, token func(i int) data.TokenID, batch int64) (fills []serving.Fill, others []int) {
	for i := range n {
		known := len(fills)
		if r.segments != nil {
			if all, ok := r.segments.tokens.Newest(fills, token(i), batch, rollups.NewestFills); ok && len(all)-known < rollups.NewestFills {
				fills = all
				continue
			}
		}
		fills, others = fills[:known], append(others, i)
	}
	return fills, others
}

// Candles is query.Reader's; of tokens of which the file has all fills from there, of the batch.
func (r *Reader) Candles(ctx context.Context, tokens []serving.OutcomeToken, batch, hours int64, after *serving.Candle, n int) ([]serving.Candle, error) {
	tally := serving.NewCandleTally(tokens, hours, after)
	fills, others := r.whole(len(tokens), func(i int) data.TokenID { return tokens[i].Token }, batch)
	for i := range fills {
		tally.AddFill(&fills[i])
	}
	ids := make([]data.TokenID, len(others))
	for i, at := range others {
		ids[i] = tokens[at].Token
	}
	err := r.AddCandles(ctx, tally, ids)
	return tally.Newest(n), err
}

// Holders is query.Reader's; of tokens of which the file has all fills from there.
func (r *Reader) Holders(ctx context.Context, tokens []serving.TokenPayout, batch int64, without []data.WalletID) (serving.Holders, error) {
	book, err := r.tally(ctx, tokens, batch, without)
	return book.Holders(), err
}

// EventTraders is query.Reader's; of tokens of which the file has all fills from there.
func (r *Reader) EventTraders(ctx context.Context, tokens []serving.TokenPayout, batch int64, without []data.WalletID) (serving.EventTraders, error) {
	book, err := r.tally(ctx, tokens, batch, without)
	return book.Traders(), err
}

// tally adds up what wallets did with tokens in imports up to batch.
func (r *Reader) tally(ctx context.Context, tokens []serving.TokenPayout, batch int64, without []data.WalletID) (*serving.EventTally, error) {
	book := serving.NewEventTally(tokens, without)
	fills, others := r.whole(len(tokens), func(i int) data.TokenID { return tokens[i].Token }, batch)
	for i := range fills {
		book.AddFill(&fills[i])
	}
	left := make([]serving.TokenPayout, len(others))
	for i, at := range others {
		left[i] = tokens[at]
	}
	return book, r.AddPositions(ctx, book, left, batch)
}
