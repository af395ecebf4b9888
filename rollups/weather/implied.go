package weather

import (
	"cmp"
	"slices"

	"pmx/data"
)

// Close is the last price of an interval in which takers traded an outcome of a bracket's market.
type Close struct {
	Start   int64 // of the interval
	Bracket int   // place in the ladder
	Against bool  // it is the price of the second outcome, which pays if the bracket does not win
	Price   data.Micro
}

// Implied is what the last prices of a ladder imply at the end of an interval.
type Implied struct {
	Start  int64
	Prices []*data.Micro // by bracket; nil: nobody has traded it yet
	Priced int           // brackets with a price
	// PricedSum and PricedMean cover only the brackets with a price; nil if these are all 0. If all have
	// a price they are the Overround and Mean of the ladder.
	PricedSum  data.Micro
	PricedMean *data.Temp
	Market
}

// ImpliedBy follows the prices of a ladder over the intervals in which any bracket was traded, the
// oldest first. A bracket's price is that of its newest close: of the first outcome, or in an
// interval in which only the second one was traded, 1 minus that price. It is used until the bracket
// is traded again.
func ImpliedBy(ladder []Bracket, r Rounding, closes []Close) (out []Implied) {
	against := func(c Close) int {
		if c.Against {
			return 0
		}
		return 1
	}
	closes = slices.Clone(closes)
	slices.SortFunc(closes, func(a, b Close) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Bracket, b.Bracket), against(a)-against(b)) // the first outcome's price comes last and counts
	})
	quotes := make([]Quote, len(ladder))
	for i, c := range closes {
		price := c.Price
		if c.Against {
			price = data.One - price
		}
		quotes[c.Bracket] = Quote{Last: &price}
		if i+1 < len(closes) && closes[i+1].Start == c.Start {
			continue
		}
		so := Implied{Start: c.Start, Prices: make([]*data.Micro, len(ladder)), Market: MarketOf(ladder, r, quotes)}
		weights := make([]int64, len(ladder))
		for k, q := range quotes {
			if so.Prices[k] = q.Last; q.Last != nil {
				so.Priced++
				so.PricedSum += *q.Last
				weights[k] = int64(*q.Last)
			}
		}
		_, so.PricedMean = meanOf(ladder, r, weights)
		out = append(out, so)
	}
	return out
}
