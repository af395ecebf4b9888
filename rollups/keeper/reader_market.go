package keeper

import (
	"context"
	"slices"
	"sync"

	"pmx/data"
	"pmx/rollups"
	"pmx/rollups/serving"
)

// MarketFills is query.Reader's, from the file if that has all of them: it has the newest of each token, which are
// all fills of most markets, and more than the first page of others.
func (r *Reader) MarketFills(ctx context.Context, dst []serving.Fill, tokens []data.TokenID, batch int64, f *serving.Figures,
	after *serving.Fill, n int) ([]serving.Fill, error) {
	if r.segments != nil && after == nil && n <= rollups.NewestFills {
		if fills, ok := r.newest(dst, tokens, batch, n); ok {
			return fills, nil
		}
	}
	if r.segments != nil {
		if fills, ok := r.kept(tokens, batch, after, n); ok {
			return append(dst, fills...), nil
		}
	}
	return r.Reader.MarketFills(ctx, dst, tokens, batch, f, after, n)
}

// newest adds the n newest fills of tokens to dst, newest first; false, with nothing added, if a
// token is not in the segments.
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

// kept returns the n newest fills of tokens, of imports up to batch, newest first; if after is given, those that
// follow it. False if some of them may be missing from the file, which has a token's fills from some fill on, or all.
func (r *Reader) kept(tokens []data.TokenID, batch int64, after *serving.Fill, n int) (fills []serving.Fill, ok bool) {
	var oldest *serving.Fill // the file has all fills of every token from this one on; nil: it has all
	for _, token := range tokens {
		known := len(fills)
		if fills, ok = r.segments.tokens.Newest(fills, token, batch, rollups.NewestFills); !ok {
			return nil, false
		}
		if last := len(fills) - 1; last-known == rollups.NewestFills-1 && (oldest == nil || fills[last].CompareInBlock(oldest, r.segments.names) > 0) {
			f := fills[last]
			oldest = &f
		}
	}
	r.inBlock(fills)
	if after != nil {
		fills = slices.DeleteFunc(fills, func(f serving.Fill) bool { return f.CompareInBlock(after, r.segments.names) >= 0 })
	}
	if oldest == nil {
		return fills[:min(len(fills), n)], true
	}
	if len(fills) < n || fills[n-1].CompareInBlock(oldest, r.segments.names) < 0 {
		return nil, false
	}
	return fills[:n], true
}

// Candles is query.Reader's; tokens in the file are read from there, as of the batch.
func (r *Reader) Candles(ctx context.Context, tokens []serving.OutcomeToken, batch, hours int64, after *serving.Candle, n int) ([]serving.Candle, error) {
	tally := serving.NewCandleTally(tokens, hours, after)
	var partials []serving.PartialCandle
	var others []data.TokenID
	for i := range tokens {
		var ok bool
		if r.segments != nil {
			partials, ok = r.segments.tokens.Hours(partials[:0], tokens[i].Token, batch)
		}
		if !ok {
			others = append(others, tokens[i].Token)
			continue
		}
		for k := range partials {
			tally.Add(&partials[k])
		}
	}
	err := r.AddCandles(ctx, tally, others)
	return tally.Newest(n), err
}

// Holders is query.Reader's; tokens in the file are read from there.
func (r *Reader) Holders(ctx context.Context, tokens []serving.TokenPayout, batch int64, without []data.WalletID) (serving.Holders, error) {
	tally := serving.NewEventTally(tokens, without)
	buffer := freeSums.Get().(*walletSums)
	defer freeSums.Put(buffer)
	var others []serving.TokenPayout
	for i := range tokens {
		if !r.sums(buffer, tokens[i:i+1], batch) {
			others = append(others, tokens[i])
			continue
		}
		for _, s := range buffer.list {
			tally.Add(tokens[i].Token, s.Wallet, s.EventSum)
		}
	}
	err := r.AddPositions(ctx, tally, others, batch)
	return tally.Holders(), err
}

// EventTraders is query.Reader's; markets whose tokens are all in the file are read from there.
func (r *Reader) EventTraders(ctx context.Context, s *serving.Snapshot, markets []int32, n int) (serving.EventTraders, error) {
	all := serving.NewTraderTally(s.Venue)
	buffer := freeSums.Get().(*walletSums)
	defer freeSums.Put(buffer)
	var others []serving.TokenPayout
	for i := range markets {
		tokens := s.Catalog.TokenPayouts(markets[i : i+1])
		if !r.sums(buffer, tokens, s.Batch) {
			others = append(others, tokens...)
			continue
		}
		all.NextMarket()
		for k, t := range tokens {
			all.Add(t.Payout, buffer.of(k))
		}
	}
	if len(others) == 0 {
		return all.First(s, n), nil
	}
	tally := serving.NewEventTally(others, s.Venue)
	err := r.AddPositions(ctx, tally, others, s.Batch)
	tally.AddTo(all)
	return all.First(s, n), err
}

// walletSums is a reusable buffer of what wallets did with some tokens, one after another.
type walletSums struct {
	list []serving.WalletSum
	ends []int // by token: where its sums end in list
}

var freeSums = sync.Pool{New: func() any { return new(walletSums) }}

// of returns the sums of token k.
func (w *walletSums) of(k int) []serving.WalletSum {
	if k == 0 {
		return w.list[:w.ends[0]]
	}
	return w.list[w.ends[k-1]:w.ends[k]]
}

// sums reads what wallets did with tokens in imports up to batch; false if a token is not in the file.
func (r *Reader) sums(into *walletSums, tokens []serving.TokenPayout, batch int64) (ok bool) {
	into.list, into.ends = into.list[:0], into.ends[:0]
	if r.segments == nil {
		return false
	}
	for i := range tokens {
		if into.list, ok = r.segments.tokens.Wallets(into.list, tokens[i].Token, batch); !ok {
			return false
		}
		into.ends = append(into.ends, len(into.list))
	}
	return true
}
