package serving

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"pmx/data"
)

// HoldingFigure is what holdings are sorted by.
type HoldingFigure uint8

// The figures.
const (
	HoldingVolume HoldingFigure = iota
	HoldingRealPnL
	HoldingAbsRealPnL
	HoldingLastTrade
	HoldingResolved
	HoldingFigures // how many there are
)

// HoldingOrder is by a figure, largest first or smallest first; holdings for which it is
// unknown come last in both. Ties are broken by volume, largest first, then by condition
// id; the holding without a market comes last among equals.
type HoldingOrder struct {
	By        HoldingFigure
	Ascending bool
}

// HoldingPlace is a holding's position in an order.
type HoldingPlace struct {
	Key       int64 // of the order: the largest first
	Volume    data.Micro
	Condition data.Hash
	Unmapped  bool // it has no market
}

// PlaceOf returns the place of a holding.
func (o HoldingOrder) PlaceOf(h *Holding) HoldingPlace {
	p := HoldingPlace{Key: o.key(h), Volume: h.Volume(), Unmapped: h.Market == nil}
	if h.Market != nil {
		p.Condition = h.Market.Condition
	}
	return p
}

// key is the figure such that the largest comes first.
func (o HoldingOrder) key(h *Holding) int64 {
	var n int64
	switch o.By {
	case HoldingRealPnL:
		n = int64(h.RealPnL())
	case HoldingAbsRealPnL:
		if n = int64(h.RealPnL()); n < 0 {
			n = -n
		}
	case HoldingLastTrade:
		n = h.LastTS
	case HoldingResolved:
		if n = h.ResolvedTS(); n == 0 {
			return math.MinInt64
		}
	default:
		n = int64(h.Volume())
	}
	if o.Ascending {
		return -n
	}
	return n
}

// compare orders two places of one order.
func (p *HoldingPlace) compare(o *HoldingPlace) int {
	switch {
	case p.Key != o.Key:
		return cmp.Compare(o.Key, p.Key)
	case p.Volume != o.Volume:
		return cmp.Compare(o.Volume, p.Volume)
	case p.Unmapped != o.Unmapped:
		if p.Unmapped {
			return 1
		}
		return -1
	}
	return bytes.Compare(p.Condition[:], o.Condition[:])
}

// HoldingQuery says which holdings are wanted.
type HoldingQuery struct {
	Order HoldingOrder
	Keep  func(*Holding) bool // nil: all
	After *HoldingPlace       // nil: from the first one
	Most  int                 // at least 1
}

// HoldingPage has the first holdings after the requested place.
type HoldingPage struct {
	Rows   []Holding
	Left   int    // how many there are after that place, including Rows
	Total  int    // how many there are at all
	Totals Totals // sums over all of these, as in Portfolio.Totals
}

// Select returns a page of the holdings. Its rows share b's memory.
func (b *Portfolio) Select(q HoldingQuery) HoldingPage {
	p := HoldingPage{Total: len(b.Holdings), Totals: b.Totals}
	if q.Keep != nil {
		p.Total, p.Totals = 0, Totals{}
	}
	b.order, b.top = b.order[:0], b.top[:0]
	least := int64(math.MinInt64) // the smallest key among the first ones so far
	for i := range b.Holdings {
		h := &b.Holdings[i]
		if q.Keep != nil {
			if !q.Keep(h) {
				continue
			}
			p.Total++
			p.Totals.count(h)
		}
		if q.After != nil {
			if at := q.Order.PlaceOf(h); at.compare(q.After) <= 0 {
				continue
			}
		}
		p.Left++
		key := q.Order.key(h)
		if key < least {
			continue
		}
		b.order = append(b.order, place{key, int32(i)})
		if len(b.order) >= 4*q.Most+100 {
			b.sortOrder(q.Order)
			b.order = b.order[:q.Most]
			least = b.order[q.Most-1].key
		}
	}
	b.sortOrder(q.Order)
	for _, at := range b.order[:min(q.Most, len(b.order))] {
		b.top = append(b.top, b.Holdings[at.at])
	}
	p.Rows = b.top
	return p
}

// sortOrder sorts the holdings in b.order.
func (b *Portfolio) sortOrder(o HoldingOrder) {
	slices.SortFunc(b.order, func(x, y place) int {
		if x.key != y.key {
			return cmp.Compare(y.key, x.key)
		}
		p, q := o.PlaceOf(&b.Holdings[x.at]), o.PlaceOf(&b.Holdings[y.at])
		return p.compare(&q)
	})
}

// count adds a holding to the totals.
func (t *Totals) count(h *Holding) {
	t.Fills += h.Fills
	t.BuyUSD += h.BuyUSD
	t.SellUSD += h.SellUSD
	t.FeeUSD += h.FeeUSD
	t.NetCash += h.NetCash()
	t.Redemption += h.Redemption
	t.NegativeLegs += h.NegativeLegs
	if t.FirstTS == 0 || h.FirstTS < t.FirstTS {
		t.FirstTS = h.FirstTS
	}
	t.LastTS = max(t.LastTS, h.LastTS)
	if !h.Resolved {
		t.UnresolvedCash += h.NetCash()
	}
	if h.Market == nil {
		t.UnmappedFills += h.Fills
		return
	}
	t.Markets++
	if h.Resolved {
		t.ResolvedMarkets++
		if h.RealPnL() > 0 {
			t.WinningMarkets++
		}
	}
}

// CategoryTotals are the totals of a wallet's holdings in the markets of one category.
type CategoryTotals struct {
	Category string // "" if the market or its category is not known
	Totals
}

// ByCategory sums the holdings by category: the largest volume first, ties by name, the unknown
// category last among equals.
func (b *Portfolio) ByCategory() []CategoryTotals {
	var list []CategoryTotals
	at := map[string]int{}
	for i := range b.Holdings {
		h := &b.Holdings[i]
		name := ""
		if h.Market != nil {
			name = h.Market.Category
		}
		place, known := at[name]
		if !known {
			place = len(list)
			at[name] = place
			list = append(list, CategoryTotals{Category: name})
		}
		list[place].count(h)
	}
	slices.SortFunc(list, func(x, y CategoryTotals) int {
		switch {
		case x.Volume() != y.Volume():
			return cmp.Compare(y.Volume(), x.Volume())
		case (x.Category == "") != (y.Category == ""):
			return cmp.Compare(y.Category, x.Category)
		}
		return cmp.Compare(x.Category, y.Category)
	})
	return list
}
