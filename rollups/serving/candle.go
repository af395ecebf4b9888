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

// CandlePlace is where a trade lies in time, with its price, as statement PriceKey has it: of two trades at
// one place the higher price is the later one. TS of −1: there is none.
type CandlePlace struct {
	TS int64 // unix µs
	At int64 // (log index + 1) × 2^20 + price
}

// noPlace is that of no trade.
var noPlace = CandlePlace{TS: -1}

func (p CandlePlace) compare(o CandlePlace) int {
	return cmp.Or(cmp.Compare(p.TS, o.TS), cmp.Compare(p.At, o.At))
}

func (p CandlePlace) price() data.Micro { return data.Micro(p.At & (1<<20 - 1)) }

// CandlePart is a part of what takers traded of one token in one hour.
type CandlePart struct {
	Token       data.TokenID
	Hour        int64
	Fills       int64
	USD, Shares data.Micro
	First, Last CandlePlace
	High, Low   data.Micro // where First is a place
}

// CandleTally puts parts together to candles of some tokens, those that come behind a place.
type CandleTally struct {
	outcomes map[data.TokenID]int8
	hours    int64
	after    *Candle
	index    map[candleKey]int
	list     []talliedCandle
	last     int // that something was added to
}

type candleKey struct {
	start   int64
	outcome int8
}

type talliedCandle struct {
	Candle
	first, last CandlePlace
}

// Before is the hour before which all lies that comes behind the place.
func (t *CandleTally) Before() int64 {
	if t.after == nil {
		return 1 << 30 // a thousand centuries from now
	}
	return t.after.Start + t.hours
}

// NewCandleTally is for intervals of so many hours, behind after where that is given.
func NewCandleTally(tokens []OutcomeToken, hours int64, after *Candle) *CandleTally {
	t := &CandleTally{outcomes: make(map[data.TokenID]int8, len(tokens)), hours: hours, after: after, index: map[candleKey]int{}}
	for _, o := range tokens {
		t.outcomes[o.Token] = o.Outcome
	}
	return t
}

// Add takes a part in.
func (t *CandleTally) Add(p *CandlePart) {
	outcome, known := t.outcomes[p.Token]
	key := candleKey{p.Hour - p.Hour%t.hours, outcome}
	if !known || t.after != nil && compareCandles(&Candle{Start: key.start, Outcome: outcome}, t.after) <= 0 {
		return
	}
	i := t.last
	if i >= len(t.list) || t.list[i].Start != key.start || t.list[i].Outcome != outcome {
		if i, known = t.index[key]; !known {
			i = len(t.list)
			t.index[key] = i
			t.list = append(t.list, talliedCandle{Candle: Candle{Start: key.start, Outcome: outcome, Open: NoValue, High: NoValue, Low: NoValue, Close: NoValue}, first: noPlace, last: noPlace})
		}
		t.last = i
	}
	c := &t.list[i]
	c.Fills, c.USD, c.Shares = c.Fills+p.Fills, c.USD+p.USD, c.Shares+p.Shares
	if p.First.TS < 0 {
		return
	}
	if c.first.TS < 0 {
		c.first, c.last, c.High, c.Low = p.First, p.Last, p.High, p.Low
		return
	}
	if p.First.compare(c.first) < 0 {
		c.first = p.First
	}
	if p.Last.compare(c.last) > 0 {
		c.last = p.Last
	}
	c.High, c.Low = max(c.High, p.High), min(c.Low, p.Low)
}

// AddFill takes in a fill; that of a maker is none of a candle.
func (t *CandleTally) AddFill(f *Fill) {
	if f.Role == data.Maker {
		return
	}
	p := CandlePart{Token: f.Token, Hour: f.TS / 3_600_000_000, Fills: 1, USD: f.USD, Shares: f.Shares, First: noPlace}
	if f.Shares > 0 {
		price, _ := data.Ratio(f.USD, f.Shares)
		p.High = min(price, data.One)
		p.Low = p.High
		p.First = CandlePlace{TS: f.TS, At: (int64(f.LogIndex)+1)<<20 + int64(p.High)}
		p.Last = p.First
	}
	t.Add(&p)
}

// Newest gives the n newest candles, newest first and then by outcome.
func (t *CandleTally) Newest(n int) []Candle {
	out := make([]Candle, 0, len(t.list))
	for i := range t.list {
		c := &t.list[i]
		if c.Fills == 0 {
			continue
		}
		if c.first.TS >= 0 {
			c.Open, c.Close = c.first.price(), c.last.price()
		}
		out = append(out, c.Candle)
	}
	slices.SortFunc(out, func(x, y Candle) int { return compareCandles(&x, &y) })
	return slices.Clip(out[:min(len(out), n)])
}

// compareCandles orders the newest first, then by outcome.
func compareCandles(x, y *Candle) int {
	return cmp.Or(cmp.Compare(y.Start, x.Start), cmp.Compare(x.Outcome, y.Outcome))
}
