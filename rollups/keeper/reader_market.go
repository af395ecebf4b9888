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

// Candles is query.Reader's; if all tokens are in the file, they are read from there, as of the batch.
func (r *Reader) Candles(ctx context.Context, tokens []serving.OutcomeToken, batch, hours int64, after *serving.Candle, n int) ([]serving.Candle, error) {
	buffer := freeHours.Get().(*tokenHours)
	defer freeHours.Put(buffer)
	if !r.hours(buffer, tokens, batch) {
		return r.Reader.Candles(ctx, tokens, batch, hours, after, n)
	}
	all := make([]serving.TokenHours, len(tokens))
	for i := range tokens {
		all[i] = serving.TokenHours{OutcomeToken: tokens[i], Hours: buffer.cut(i)}
	}
	return serving.NewestCandles(all, hours, after, n), nil
}

// Holders is query.Reader's; if all tokens are in the file, they are read from there.
func (r *Reader) Holders(ctx context.Context, s *serving.Snapshot, market int32, q serving.HolderQuery) (serving.HolderList, error) {
	buffer, tokens := freeSums.Get().(*walletSums), s.Catalog.TokenPayouts([]int32{market})
	defer buffer.free()
	if !r.sums(buffer, tokens, s.Batch) {
		return r.Reader.Holders(ctx, s, market, q)
	}
	return serving.ListHolders(s, buffer.of(tokens), s.Venue, q), nil
}

// EventTraders is query.Reader's; markets whose tokens are all in the file are read from there.
func (r *Reader) EventTraders(ctx context.Context, s *serving.Snapshot, markets []int32, n int) (serving.EventTraders, error) {
	if busy(s.Catalog, markets) {
		if traders, ok, err := r.rankTogether(s, s.Catalog.TokenPayouts(markets), n); ok || err != nil {
			return traders, err
		}
	}
	buffer := freeSums.Get().(*walletSums)
	defer buffer.free()
	if tokens := s.Catalog.TokenPayouts(markets); r.sums(buffer, tokens, s.Batch) {
		return serving.RankTraders(s, buffer.of(tokens), s.Venue, n), nil
	}
	all := serving.NewTraderTally(s.Venue)
	var others []serving.TokenPayout
	for i := range markets {
		tokens := s.Catalog.TokenPayouts(markets[i : i+1])
		if !r.sums(buffer, tokens, s.Batch) {
			others = append(others, tokens...)
			continue
		}
		all.NextMarket()
		for _, t := range buffer.of(tokens) {
			all.Add(t.Payout, t.Sums)
		}
	}
	tally := serving.NewEventTally(others, s.Venue)
	err := r.AddPositions(ctx, tally, others, s.Batch)
	tally.AddTo(all)
	return all.First(s, n), err
}

// tokenLists is a reusable buffer of the sums of some tokens, one after another.
type tokenLists[T any] struct {
	list []T
	ends []int // by token: where its sums end in list
}

// read reads the sums of n tokens; add adds those of token i to dst, and is false if they are not there.
func (l *tokenLists[T]) read(n int, add func(dst []T, i int) ([]T, bool)) (ok bool) {
	l.list, l.ends = l.list[:0], l.ends[:0]
	for i := range n {
		if l.list, ok = add(l.list, i); !ok {
			return false
		}
		l.ends = append(l.ends, len(l.list))
	}
	return true
}

// cut returns the sums of token i.
func (l *tokenLists[T]) cut(i int) []T {
	if i == 0 {
		return l.list[:l.ends[0]]
	}
	return l.list[l.ends[i-1]:l.ends[i]]
}

// walletSums is what wallets did with some tokens.
type walletSums struct{ tokenLists[serving.WalletSum] }

var freeSums = sync.Pool{New: func() any { return new(walletSums) }}

// mostKept is how many sums a buffer may have room for to be used again: some 15 MB.
const mostKept = 1 << 18

// free leaves a buffer to the next response.
func (w *walletSums) free() {
	if cap(w.list) <= mostKept {
		freeSums.Put(w)
	}
}

// of returns the sums of the tokens that were read.
func (w *walletSums) of(tokens []serving.TokenPayout) []serving.TokenSums {
	out := make([]serving.TokenSums, len(tokens))
	for i := range tokens {
		out[i] = serving.TokenSums{TokenPayout: tokens[i], Sums: w.cut(i)}
	}
	return out
}

// tokenHours is what takers traded of some tokens.
type tokenHours struct {
	tokenLists[serving.PartialCandle]
}

var freeHours = sync.Pool{New: func() any { return new(tokenHours) }}

// sums reads what wallets did with tokens in imports up to batch; false if a token is not in the file.
func (r *Reader) sums(into *walletSums, tokens []serving.TokenPayout, batch int64) (ok bool) {
	return r.segments != nil && into.read(len(tokens), func(dst []serving.WalletSum, i int) ([]serving.WalletSum, bool) {
		return r.segments.tokens.Wallets(dst, tokens[i].Token, batch)
	})
}

// hours reads what takers traded of tokens in imports up to batch; false if a token is not in the file.
func (r *Reader) hours(into *tokenHours, tokens []serving.OutcomeToken, batch int64) (ok bool) {
	return r.segments != nil && into.read(len(tokens), func(dst []serving.PartialCandle, i int) ([]serving.PartialCandle, bool) {
		return r.segments.tokens.Hours(dst, tokens[i].Token, batch)
	})
}
