package serving

import (
	"cmp"
	"slices"

	"pmx/data"
)

// OutcomeToken is a token and the outcome of its market that it pays for.
type OutcomeToken struct {
	Token   data.TokenID
	Outcome int8
}

// Candle is what takers traded of one outcome in one interval.
type Candle struct {
	Start       int64 // of the interval, hours since 1970
	Outcome     int8
	Fills       int64
	USD, Shares data.Micro
	// Prices of the first trade, the highest, the lowest and the last one; NoValue where no
	// trade was of any tokens.
	Open, High, Low, Close data.Micro
}

// CandlePlace is the position of a trade in time, with its price, as in statement PriceKey: of two trades at
// the same position, the one with the higher price counts as later. A TS of −1 means that there is no trade.
type CandlePlace struct {
	TS int64 // unix µs
	At int64 // (log index + 1) × 2^20 + price
}

// hourLength is an hour in µs.
const hourLength = 3_600_000_000

// NoPlace stands for no trade.
var NoPlace = CandlePlace{TS: -1}

func (p CandlePlace) compare(o CandlePlace) int {
	return cmp.Or(cmp.Compare(p.TS, o.TS), cmp.Compare(p.At, o.At))
}

// Price is the price of the trade.
func (p CandlePlace) Price() data.Micro { return data.Micro(p.At & (1<<20 - 1)) }

// PartialCandle adds up some of what takers traded of one token in one hour.
type PartialCandle struct {
	Token       data.TokenID
	Hour        int64
	Fills       int64
	USD, Shares data.Micro
	First, Last CandlePlace
	High, Low   data.Micro // where First is a place
}

// CandleTally combines partial candles into the candles of some tokens, from a position on.
type CandleTally struct {
	outcomes map[data.TokenID]int8
	hours    int64
	after    *Candle
	index    map[candleKey]int
	list     []talliedCandle
	last     int // index of the candle that was added to last
}

type candleKey struct {
	start   int64
	outcome int8
}

type talliedCandle struct {
	start   int64
	outcome int8
	PartialCandle
}

// Before returns the hour before which all wanted candles begin.
func (t *CandleTally) Before() int64 {
	if t.after == nil {
		return 1 << 30 // a thousand centuries from now
	}
	return t.after.Start + t.hours
}

// NewCandleTally returns a tally for intervals of a number of hours, after a candle if one is
// given.
func NewCandleTally(tokens []OutcomeToken, hours int64, after *Candle) *CandleTally {
	t := &CandleTally{outcomes: make(map[data.TokenID]int8, len(tokens)), hours: hours, after: after, index: map[candleKey]int{}}
	for _, o := range tokens {
		t.outcomes[o.Token] = o.Outcome
	}
	return t
}

// Add adds a partial candle.
func (t *CandleTally) Add(p *PartialCandle) {
	outcome, known := t.outcomes[p.Token]
	key := candleKey{p.Hour - p.Hour%t.hours, outcome}
	if !known || t.after != nil && compareCandles(&Candle{Start: key.start, Outcome: outcome}, t.after) <= 0 {
		return
	}
	i := t.last
	if i >= len(t.list) || t.list[i].start != key.start || t.list[i].outcome != outcome {
		if i, known = t.index[key]; !known {
			i = len(t.list)
			t.index[key] = i
			t.list = append(t.list, talliedCandle{key.start, outcome, PartialCandle{First: NoPlace, Last: NoPlace}})
		}
		t.last = i
	}
	t.list[i].Merge(p)
}

// PartialCandleOf is the partial candle of one fill; false for a maker's fill, which has none.
func PartialCandleOf(f *Fill) (p PartialCandle, ok bool) {
	if f.Role == data.Maker {
		return p, false
	}
	p = PartialCandle{Token: f.Token, Hour: f.TS / hourLength, Fills: 1, USD: f.USD, Shares: f.Shares, First: NoPlace, Last: NoPlace}
	if f.Shares > 0 {
		price, _ := data.Ratio(f.USD, f.Shares)
		p.High = min(price, data.One)
		p.Low = p.High
		p.First = CandlePlace{TS: f.TS, At: (int64(f.LogIndex)+1)<<20 + int64(p.High)}
		p.Last = p.First
	}
	return p, true
}

// Merge adds another partial candle of the same token and hour.
func (p *PartialCandle) Merge(o *PartialCandle) {
	p.Fills, p.USD, p.Shares = p.Fills+o.Fills, p.USD+o.USD, p.Shares+o.Shares
	switch {
	case o.First.TS < 0:
	case p.First.TS < 0:
		p.First, p.Last, p.High, p.Low = o.First, o.Last, o.High, o.Low
	default:
		if o.First.compare(p.First) < 0 {
			p.First = o.First
		}
		if o.Last.compare(p.Last) > 0 {
			p.Last = o.Last
		}
		p.High, p.Low = max(p.High, o.High), min(p.Low, o.Low)
	}
}

// SettleHours merges the partial candles of one token by hour, and sorts them.
func SettleHours(partials []PartialCandle) []PartialCandle {
	return settle(partials, func(x, y *PartialCandle) int { return cmp.Compare(x.Hour, y.Hour) }, (*PartialCandle).Merge)
}

// Newest returns the n newest candles, newest first and then by outcome.
func (t *CandleTally) Newest(n int) []Candle {
	out := make([]Candle, 0, len(t.list))
	for i := range t.list {
		c := &t.list[i]
		if c.Fills == 0 {
			continue
		}
		out = append(out, c.candle())
	}
	slices.SortFunc(out, func(x, y Candle) int { return compareCandles(&x, &y) })
	return slices.Clip(out[:min(len(out), n)])
}

func (c *talliedCandle) candle() Candle {
	candle := Candle{Start: c.start, Outcome: c.outcome, Fills: c.Fills, USD: c.USD, Shares: c.Shares, Open: NoValue, High: NoValue, Low: NoValue, Close: NoValue}
	if c.First.TS >= 0 {
		candle.Open, candle.High, candle.Low, candle.Close = c.First.Price(), c.High, c.Low, c.Last.Price()
	}
	return candle
}

// compareCandles orders the newest first, then by outcome.
func compareCandles(x, y *Candle) int {
	return cmp.Or(cmp.Compare(y.Start, x.Start), cmp.Compare(x.Outcome, y.Outcome))
}
