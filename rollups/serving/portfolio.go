package serving

import (
	"cmp"
	"slices"
	"strings"

	"pmx/data"
)

// Leg is a wallet's position in one outcome of a market. If several tokens stand for the same
// outcome, it has their sums.
type Leg struct {
	TokenSum       // Token is the first of the outcome's tokens
	Outcome  int8  // in payout order
	market   int32 // −1: not mapped
}

// Holding is a wallet's position in one market, lifetime.
type Holding struct {
	Market          *Market // nil: all unmapped tokens together
	Fills           int64
	BuyUSD, SellUSD data.Micro
	FeeUSD          data.Micro
	Redemption      data.Micro // Σ net tokens × payout; 0 if not resolved
	Resolved        bool       // the payout of an outcome that was traded is known
	NegativeLegs    int64      // outcomes held short at resolution
	FirstTS, LastTS int64      // unix µs
	Legs            []Leg      // by outcome; by token if Market is nil
}

// Volume is buys plus sells.
func (h *Holding) Volume() data.Micro { return h.BuyUSD + h.SellUSD }

// NetCash is sells minus buys minus fees.
func (h *Holding) NetCash() data.Micro { return h.SellUSD - h.BuyUSD - h.FeeUSD }

// RealPnL is net cash plus redemption, as Totals.RealPnL is of all markets.
func (h *Holding) RealPnL() data.Micro { return h.NetCash() + h.Redemption }

// ResolvedTS is when the market was resolved, unix µs; 0 if it was not, or if that time is unknown.
func (h *Holding) ResolvedTS() int64 {
	if !h.Resolved {
		return 0
	}
	return h.Market.ResolvedTS
}

// Portfolio is everything that a wallet ever traded, by market. It can be refilled without
// allocating; the zero Portfolio is ready for use.
type Portfolio struct {
	Holdings []Holding // in no order
	Totals   Totals    // of all holdings; ActiveDays, MakerFills and TakerFills are not set
	legs     []Leg
	order    []place
	top      []Holding
	scratch  []TokenSum
}

// place has the rank of an element in an order, and its index.
type place struct {
	key int64
	at  int32
}

// Fill makes b the portfolio of tokens, each of which must be there once. Values follow the
// definition of rollups/sql/merge.sql, Holdings.
func (b *Portfolio) Fill(c *Catalog, tokens []TokenSum) {
	b.legs, b.order, b.Holdings, b.Totals = b.legs[:0], b.order[:0], b.Holdings[:0], Totals{}
	for i := range tokens {
		ref := c.Token(tokens[i].Token)
		if c.Market(ref.Market) == nil {
			ref = TokenRef{Market: -1}
		}
		b.order = append(b.order, place{int64(ref.Market)<<8 | int64(uint8(ref.Outcome)), int32(i)})
	}
	slices.SortFunc(b.order, func(x, y place) int {
		if x.key != y.key {
			return cmp.Compare(x.key, y.key)
		}
		return strings.Compare(c.Token(tokens[x.at].Token).ID, c.Token(tokens[y.at].Token).ID)
	})
	for _, p := range b.order {
		b.legs = append(b.legs, Leg{TokenSum: tokens[p.at], Outcome: int8(p.key), market: int32(p.key >> 8)})
	}
	b.legs = joined(b.legs)
	for from := 0; from < len(b.legs); {
		to := from + 1
		for to < len(b.legs) && b.legs[to].market == b.legs[from].market {
			to++
		}
		b.add(c.Market(b.legs[from].market), b.legs[from:to:to])
		from = to
	}
}

// joined adds up the legs of one outcome.
func joined(legs []Leg) []Leg {
	out := legs[:0]
	for _, l := range legs {
		if n := len(out) - 1; n >= 0 && l.market >= 0 && out[n].market == l.market && out[n].Outcome == l.Outcome {
			out[n].plus(&l.TokenSum)
			continue
		}
		out = append(out, l)
	}
	return out
}

func (s *TokenSum) plus(o *TokenSum) {
	s.Fills += o.Fills
	s.BuyShares += o.BuyShares
	s.SellShares += o.SellShares
	s.FeeShares += o.FeeShares
	s.BuyUSD += o.BuyUSD
	s.SellUSD += o.SellUSD
	s.FeeUSD += o.FeeUSD
	s.FirstTS, s.LastTS = min(s.FirstTS, o.FirstTS), max(s.LastTS, o.LastTS)
}

// Merge adds another sum of the same token; one without fills changes nothing.
func (s *TokenSum) Merge(o *TokenSum) {
	switch {
	case o.Fills == 0:
	case s.Fills == 0:
		*s = *o
	default:
		s.plus(o)
	}
}

// add values one market's legs.
func (b *Portfolio) add(m *Market, legs []Leg) {
	h := Holding{Market: m, Legs: legs, FirstTS: legs[0].FirstTS}
	var value redemption
	for i := range legs {
		l := &legs[i]
		h.Fills += l.Fills
		h.BuyUSD += l.BuyUSD
		h.SellUSD += l.SellUSD
		h.FeeUSD += l.FeeUSD
		h.FirstTS, h.LastTS = min(h.FirstTS, l.FirstTS), max(h.LastTS, l.LastTS)
		payout, known := l.Payout(m)
		if !known {
			continue
		}
		h.Resolved = true
		value.add(l.Net(), payout)
		if l.Net() < 0 {
			h.NegativeLegs++
		}
	}
	h.Redemption = value.total()
	b.Holdings = append(b.Holdings, h)
	b.Totals.count(&h)
}

// Payout is what a token of the leg pays at resolution in market m; false if that is not known.
func (l *Leg) Payout(m *Market) (data.Micro, bool) {
	if m == nil || l.Outcome < 0 || int(l.Outcome) >= len(m.Payouts) {
		return 0, false
	}
	return m.Payouts[l.Outcome], true
}

// ResolvedBy is what ResolvedTS comes from.
func (h *Holding) ResolvedBy() data.TimeSource {
	if !h.Resolved {
		return data.TimeUnknown
	}
	return h.Market.ResolvedBy
}

// DayPaid is what a wallet was paid by resolutions of one UTC day, and by resolutions at an unknown
// time in markets that it traded last on that day.
type DayPaid struct {
	Day            int32 // since 1970-01-01
	USD            data.Micro
	Undated        data.Micro
	UndatedMarkets int64
}

// PaidByDay gives redemptions by the day of their resolution, oldest first, in the memory of dst;
// those whose time is unknown by the day of the wallet's last trade in the market. A resolution
// later than upTo in unix µs counts for no day. The former contents of b are lost.
func (b *Portfolio) PaidByDay(dst []DayPaid, c *Catalog, tokens []TokenSum, upTo int64) []DayPaid {
	dst, b.scratch = dst[:0], b.scratch[:0]
	for i := range tokens {
		ref := c.Token(tokens[i].Token)
		m := c.Market(ref.Market)
		if m == nil || m.ResolvedTS > upTo || ref.Outcome < 0 || int(ref.Outcome) >= len(m.Payouts) {
			continue
		}
		switch p := m.Payouts[ref.Outcome]; {
		case m.ResolvedTS == 0: // its last trade may be of any outcome
			b.scratch = append(b.scratch, tokens[i])
		case p == 0:
		case p == data.One:
			dst = append(dst, DayPaid{Day: DayOf(m.ResolvedTS), USD: tokens[i].Net()})
		default: // for the whole market together, it is rounded once
			b.scratch = append(b.scratch, tokens[i])
		}
	}
	if len(b.scratch) > 0 {
		b.Fill(c, b.scratch)
		for i := range b.Holdings {
			dst = append(dst, b.Holdings[i].paid())
		}
	}
	return sumDays(dst)
}

// paid is what the resolution of one market paid.
func (h *Holding) paid() DayPaid {
	if ts := h.ResolvedTS(); ts != 0 {
		return DayPaid{Day: DayOf(ts), USD: h.Redemption}
	}
	return DayPaid{Day: DayOf(h.LastTS), Undated: h.Redemption, UndatedMarkets: 1}
}

// sumDays merges the entries of one day; it changes the list.
func sumDays(list []DayPaid) []DayPaid {
	slices.SortFunc(list, func(x, y DayPaid) int { return cmp.Compare(x.Day, y.Day) })
	out := list[:0]
	for i := 0; i < len(list); {
		sum := DayPaid{Day: list[i].Day}
		for ; i < len(list) && list[i].Day == sum.Day; i++ {
			sum.USD += list[i].USD
			sum.Undated += list[i].Undated
			sum.UndatedMarkets += list[i].UndatedMarkets
		}
		if sum.USD != 0 || sum.UndatedMarkets != 0 {
			out = append(out, sum)
		}
	}
	return out
}

// redemption sums net tokens × payout exactly and rounds once.
type redemption struct {
	whole    data.Micro // millionths of a dollar
	fraction int64      // millionths of those
}

func (r *redemption) add(net, payout data.Micro) {
	// net × payout = (tokens × 10⁶ + rest) × payout: the first product is exact in
	// millionths, the second below 10¹².
	r.whole += net / data.One * payout
	r.fraction += int64(net % data.One * payout)
}

// total rounds half a millionth away from zero.
func (r *redemption) total() data.Micro {
	whole, fraction := int64(r.whole)+r.fraction/1_000_000, r.fraction%1_000_000
	if whole > 0 && fraction < 0 {
		whole, fraction = whole-1, fraction+1_000_000
	}
	if whole < 0 && fraction > 0 {
		whole, fraction = whole+1, fraction-1_000_000
	}
	switch {
	case fraction >= 500_000:
		whole++
	case fraction <= -500_000:
		whole--
	}
	return data.Micro(whole)
}
