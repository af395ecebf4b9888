package weather

import (
	"pmx/data"
)

// feeRate is the taker's fee of weather markets per contract at price p, as a part
// of p·(1−p): the fee schedule that their listings carry.
const feeRate = data.One / 20

// Quote is the quote of the first outcome of a bracket's market; nil where there is none.
type Quote struct{ Bid, Ask, Last *data.Micro }

// Price returns the probability by the market: halfway between bid and ask if both are there, else
// the last trade's price; nil without either.
func (q Quote) Price() (p *data.Micro, fromLast bool) {
	if q.Bid != nil && q.Ask != nil {
		mid := data.MulDiv(*q.Bid+*q.Ask, 1, 2)
		return &mid, false
	}
	return q.Last, q.Last != nil
}

// Market is what the prices of a ladder imply together.
type Market struct {
	// Overround is the sum of the prices of all brackets, of which exactly one pays 1; nil if one
	// of them has no price: a partial sum says nothing.
	Overround *data.Micro
	// Probabilities are the prices divided by their sum, which sum to exactly 1; nil where
	// Overround is, or if it is 0.
	Probabilities []data.Micro
	// Mean is the mean of the middles of the brackets by Probabilities; nil without them. An
	// open-ended one counts as one more bracket of the width of the closed ones: "23°C or below"
	// as 23 °C, "97°F or below" as 96-97°F.
	Mean *data.Temp
	Mode int // index of the bracket with the highest price, the first of equals; -1 without
}

// MarketOf reads the prices of a ladder, in the order of its brackets.
func MarketOf(ladder []Bracket, r Rounding, quotes []Quote) Market {
	m := Market{Mode: -1}
	sum, priced := data.Micro(0), 0
	weights := make([]int64, len(ladder))
	for i, q := range quotes {
		p, _ := q.Price()
		if p == nil {
			continue
		}
		priced++
		sum += *p
		weights[i] = int64(*p)
		if m.Mode < 0 || weights[i] > weights[m.Mode] {
			m.Mode = i
		}
	}
	if priced < len(ladder) || priced == 0 {
		return m
	}
	m.Overround = &sum
	m.Probabilities, m.Mean = meanOf(ladder, r, weights)
	return m
}

// meanOf returns weights as parts of their sum, and the mean of the brackets' middles weighted by
// them; nil if the sum is 0.
func meanOf(ladder []Bracket, r Rounding, weights []int64) ([]data.Micro, *data.Temp) {
	probabilities := shares(weights)
	if probabilities == nil {
		return nil, nil
	}
	total, width := int64(0), width(ladder)
	for i, b := range ladder {
		middle, _ := b.closed(width).Middle(r)
		total += int64(probabilities[i]) * int64(middle)
	}
	mean := rounded(total, int64(data.One))
	return probabilities, &mean
}

// width is how many whole degrees the closed brackets of a ladder hold.
func width(ladder []Bracket) int {
	for _, b := range ladder {
		if !b.OpenLow && !b.OpenHigh {
			return b.Hi - b.Lo + 1
		}
	}
	return 1
}

// closed returns b; for an open-ended bracket, the closed one of that width at its end.
func (b Bracket) closed(width int) Bracket {
	switch {
	case b.OpenLow:
		return Bracket{Lo: b.Hi - width + 1, Hi: b.Hi, Unit: b.Unit}
	case b.OpenHigh:
		return Bracket{Lo: b.Lo, Hi: b.Lo + width - 1, Unit: b.Unit}
	}
	return b
}

// Fee is what a taker pays per contract at price p, in dollars: 0.05·p·(1−p), rounded
// half away from zero to a millionth.
func Fee(p data.Micro) data.Micro {
	return data.MulDiv(p*(data.One-p), feeRate, data.One*data.One)
}

// Edge is the model's probability minus the cost of a contract at ask including the fee: a gap
// between model and market, not a promise.
func Edge(model, ask data.Micro) data.Micro { return model - ask - Fee(ask) }
