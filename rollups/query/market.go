package query

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"pmx/data"
	"pmx/rollups/serving"
)

const (
	hourLength = 3_600_000_000
	dayLength  = 24 * hourLength
)

// MarketTexts returns what the snapshot leaves out of a market, as it is now.
func (r *Reader) MarketTexts(ctx context.Context, market int32, _ int64) (t serving.MarketTexts, err error) {
	err = each(ctx, r, "MarketTexts", func(row *TextRow) { t = row.Texts() }, "@market", strconv.Itoa(int(market)))
	return t, err
}

// MarketFills adds the n newest fills of a market with these tokens and figures to dst, newest
// first, of imports up to batch; if after is given, those that follow it. It looks back from the
// newest one as far as they should reach at the market's pace, then further. For a market that was
// traded rarely over a long time it reads the days on which it was, never the whole history.
func (r *Reader) MarketFills(ctx context.Context, dst []serving.Fill, tokens []data.TokenID, batch int64, f *serving.Figures,
	after *serving.Fill, n int) ([]serving.Fill, error) {
	newest := f.LastTS
	if after != nil {
		newest = min(newest, after.TS)
	}
	if len(tokens) == 0 || newest < f.FirstTS || newest == 0 {
		return dst, nil
	}
	q := fillQuery{r: r, which: among("token", tokens), batch: batch, after: after, newest: newest, n: n}
	if l := r.lake(); l != nil {
		return r.lakeMarketFills(ctx, l, dst, q, f)
	}
	whole := newest - f.FirstTS + 1
	for span := min(whole, lookBack(f, n)); span <= mostAtOnce; span *= 4 {
		span = min(span, whole)
		fills, err := q.read(ctx, q.between(newest-span, newest))
		if err != nil || len(fills) == n || span == whole {
			return append(dst, fills...), err
		}
	}
	for want := int64(n); ; want *= 4 {
		days, more, err := q.days(ctx, f.FirstTS, want)
		if err != nil {
			return dst, err
		}
		ranges := make([]string, len(days))
		for i, day := range days {
			ranges[i] = q.between(day*dayLength-1, min((day+1)*dayLength-1, newest))
		}
		fills, err := q.read(ctx, ranges...)
		if err != nil || len(fills) == n || !more {
			return append(dst, fills...), err
		}
	}
}

const (
	// leastBack is less than any block of facts covers: looking at less saves nothing.
	leastBack = hourLength / 6
	// mostAtOnce is how much of all facts is read for one market.
	mostAtOnce = 4 * dayLength
)

// lookBack is twice as far as the n newest fills reach back from the last one if they came at an
// even pace.
func lookBack(f *serving.Figures, n int) int64 {
	whole := f.LastTS - f.FirstTS + 1
	if f.Trades <= int64(n) {
		return whole
	}
	return min(whole, max(leastBack, int64(float64(whole)*float64(2*n)/float64(f.Trades))))
}

// fillQuery asks for the n newest fills of tokens after a place.
type fillQuery struct {
	r      *Reader
	which  string // the condition on the token
	batch  int64
	after  *serving.Fill // nil: before all
	newest int64         // unix µs of the newest that can be among them
	n      int
}

// between selects the fills after lo, up to and including hi.
func (q *fillQuery) between(lo, hi int64) string {
	return statements.Get("FillRange", "@lo", strconv.FormatInt(lo, 10), "@hi", strconv.FormatInt(hi, 10),
		"@which", q.which, "@batch", strconv.FormatInt(q.batch, 10))
}

// days returns the last days from a time on that hold so many fills together, and whether there may be
// more. It is not known how many fills come before the place on its own day, so that day counts as
// none. Fills of later imports than batch count as well, so the days may have fewer fills to read.
func (q *fillQuery) days(ctx context.Context, first, want int64) (days []int64, more bool, err error) {
	have := int64(0)
	err = each(ctx, q.r, "TokenDays", func(row *dayFills) {
		if have >= want {
			return
		}
		days = append(days, row.Day)
		if q.after == nil || row.Day != q.newest/dayLength {
			have += row.Fills
		}
	}, "@which", q.which, "@first", strconv.FormatInt(first/dayLength, 10), "@last", strconv.FormatInt(q.newest/dayLength, 10),
		"@limit", strconv.FormatInt(want+1, 10))
	return days, have >= want, err
}

// read returns the fills of some ranges.
func (q *fillQuery) read(ctx context.Context, ranges ...string) ([]serving.Fill, error) {
	var fills []serving.Fill
	if len(ranges) == 0 {
		return nil, nil
	}
	err := each(ctx, q.r, "MarketFills", func(row *FillRow) {
		fills = append(fills, row.Fill())
	}, append(q.behind(), "@ranges", strings.Join(ranges, " UNION ALL "), "@limit", strconv.Itoa(q.n))...)
	return fills, err
}

// behind says after which fill to read.
func (q *fillQuery) behind() []string {
	if q.after == nil {
		return []string{"@ts", strconv.FormatInt(math.MaxInt64, 10), "@behind", "true"}
	}
	at := append(place(q.after, q.n), "@wallet", strconv.Itoa(int(q.after.Wallet)))
	at[slices.Index(at, "@place")+1] = strconv.Itoa(int(q.after.LogIndex)) // an unknown place is after all others
	return append(at[:len(at):len(at)], "@behind", statements.Get("FillsBehind", at...))
}

// MarketInMemory is false: the data of one market is read from the facts of some days.
func (r *Reader) MarketInMemory(int32, []data.TokenID, int64) bool { return false }

// EventTraders returns the first n wallets that traded some markets, by imports of the snapshot, without the venue's own
// wallets.
func (r *Reader) EventTraders(ctx context.Context, s *serving.Snapshot, markets []int32, n int) (serving.EventTraders, error) {
	tokens := s.Catalog.TokenPayouts(markets)
	tally := serving.NewEventTally(tokens, s.Venue)
	err := r.AddPositions(ctx, tally, tokens, s.Batch)
	return tally.First(s, n), err
}

// Holders lists wallets that hold tokens of one market, or are short of them, by the market's fills of imports of the
// snapshot, without the venue's own wallets.
func (r *Reader) Holders(ctx context.Context, s *serving.Snapshot, market int32, q serving.HolderQuery) (serving.HolderList, error) {
	tokens := s.Catalog.TokenPayouts([]int32{market})
	tally := serving.NewEventTally(tokens, s.Venue)
	err := r.AddPositions(ctx, tally, tokens, s.Batch)
	return tally.Holders().List(s, q), err
}

// AddPositions adds what wallets did with tokens in imports up to batch to a tally.
func (r *Reader) AddPositions(ctx context.Context, tally *serving.EventTally, tokens []serving.TokenPayout, batch int64) error {
	if len(tokens) == 0 {
		return nil
	}
	ids := make([]data.TokenID, len(tokens))
	for i, p := range tokens {
		ids[i] = p.Token
	}
	slices.Sort(ids)
	var ranges []string
	for _, near := range neighbours(ids, mostRanges) {
		ranges = append(ranges, statements.Get("PositionRange", "@which", among("token", near)))
	}
	type positionSum struct {
		Token     data.TokenID  `sql:"token"`
		Wallet    data.WalletID `sql:"wallet"`
		Fills     int64         `sql:"fills"`
		Net       data.Micro    `sql:"net"`
		BuyShares data.Micro    `sql:"buy_shares"`
		BuyUSD    data.Micro    `sql:"buy_usd"`
		SellUSD   data.Micro    `sql:"sell_usd"`
		FeeUSD    data.Micro    `sql:"fee_usd"`
	}
	return each(ctx, r, "PositionSums", func(row *positionSum) {
		tally.Add(row.Token, row.Wallet, serving.EventSum{Fills: row.Fills, Net: row.Net, BuyShares: row.BuyShares, BuyUSD: row.BuyUSD, SellUSD: row.SellUSD, FeeUSD: row.FeeUSD})
	}, "@positions", strings.Join(ranges, " UNION ALL "), "@which", among("token", ids), "@batch", strconv.FormatInt(batch, 10))
}

// mostRanges bounds how many statements one read is made of: each costs a little
// to plan.
const mostRanges = 16

// neighbours cuts sorted ids into at most n lists, at the widest gaps.
func neighbours[T ~int32](ids []T, n int) [][]T {
	gaps := make([]int, 0, len(ids))
	for i := 1; i < len(ids); i++ {
		if ids[i]-ids[i-1] > 1 {
			gaps = append(gaps, i)
		}
	}
	slices.SortFunc(gaps, func(x, y int) int { return cmp.Or(cmp.Compare(ids[y]-ids[y-1], ids[x]-ids[x-1]), cmp.Compare(x, y)) })
	gaps = gaps[:min(len(gaps), n-1)]
	slices.Sort(gaps)
	var out [][]T
	from := 0
	for _, at := range append(gaps, len(ids)) {
		out, from = append(out, ids[from:at]), at
	}
	return out
}

// among is the condition that a column is one of a list, false for an empty one. It has bounds in
// addition to the list because bounds can exclude whole blocks.
func among[T ~int32](column string, list []T) string {
	if len(list) == 0 {
		return "false"
	}
	lo, hi := slices.Min(list), slices.Max(list)
	between := fmt.Sprintf("%s BETWEEN %d AND %d", column, lo, hi)
	if int(hi-lo) == len(list)-1 {
		return between
	}
	b := append([]byte(between), " AND "...)
	b = append(append(b, column...), " IN ("...)
	for i, id := range list {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendInt(b, int64(id), 10)
	}
	return "(" + string(append(b, "))"...))
}
