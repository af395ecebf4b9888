package rollups

import (
	"slices"

	"pmx/data"
	"pmx/rollups/serving"
)

// refresh works out the figures of every market that changed.
func (l *Live) refresh() {
	for market, due := l.recentlyResolved.next(l.progress.asOf - windows[serving.Day]); due; market, due = l.recentlyResolved.next(l.progress.asOf - windows[serving.Day]) {
		l.catalog.Touch(market)
	}
	for _, id := range l.catalog.Changed() {
		if m := l.catalog.Market(id); m != nil {
			f, traded := l.figures(m)
			l.catalog.SetFigures(id, f)
			l.catalog.SetFirsts(id, countAt(l.eventFirsts, id), l.ownTraders(l.catalog.Tokens(id)))
			for p := range serving.Periods {
				l.tradedMarkets[p].set(id, traded[p] != (legs{}))
			}
		}
	}
}

// figures adds up a market's tokens, and returns what was traded in each window.
func (l *Live) figures(m *serving.Market) (f serving.Figures, windows [serving.Periods]legs) {
	var ever legs
	var last, ago pricedTrade
	tokens := l.catalog.Tokens(m.ID)
	two := l.twoOutcomes(m, tokens) // with three, each has a price of its own
	first, newest, whales := int64(0), int64(0), data.Micro(0)
	for _, id := range tokens {
		t := &l.tokens[id]
		ever.plus(&t.legs)
		for p := range serving.Periods {
			if w := l.tokenWindows[p].rows.of(int32(id)); w != nil {
				windows[p].plus(w)
			}
		}
		if t.firstTS != 0 && (first == 0 || t.firstTS < first) {
			first = t.firstTS
		}
		newest = max(newest, t.lastTS)
		if t.outcome == 0 {
			whales += l.whaleFlows[id]
		} else {
			whales -= l.whaleFlows[id]
		}
		if !two && t.last != (pricedTrade{}) {
			l.catalog.SetPrice(id, t.last.price)
		}
		if t.outcome == 0 || two {
			last, ago = lastOf(last, t.last, t.outcome), lastOf(ago, t.dayAgo, t.outcome)
		}
	}
	f = serving.NewFigures(ever.basis())
	f.Binary = two
	f.Trades, f.VolumeUSD, f.VolumeShares = ever.by(f.Basis())
	for p, dst := range [serving.Periods]*data.Micro{&f.Volume24h, &f.Volume7d, &f.Volume30d} {
		_, *dst, _ = windows[p].by(f.Basis())
	}
	f.FirstTS, f.LastTS, f.WhaleFlow24h = first, newest, whales
	f.Traders, f.Traders24h = l.distinctTraders(m.ID, tokens), l.day.traders(m.ID)
	l.setPrices(m, &f, last, ago)
	if m.Liquidity != nil {
		f.Liquidity = *m.Liquidity
	}
	if m.BestBid != nil && m.BestAsk != nil && *m.BestBid <= *m.BestAsk {
		f.Spread = *m.BestAsk - *m.BestBid
	}
	return f, windows
}

// twoOutcomes reports whether a market's second outcome is the complement of its first. If nobody
// listed the outcomes, the tokens seen decide.
func (l *Live) twoOutcomes(m *serving.Market, tokens []data.TokenID) bool {
	n := max(len(m.Outcomes), len(m.Payouts), len(m.Prices))
	for _, id := range tokens {
		n = max(n, int(l.tokens[id].outcome)+1)
	}
	return n <= 2
}

// distinctTraders is how many wallets ever traded a market, without the venue's
// own.
func (l *Live) distinctTraders(market int32, tokens []data.TokenID) int32 {
	return countAt(l.traders, market) - int32(len(l.ownTraders(tokens)))
}

// ownTraders are the venue's own wallets that ever traded some tokens, ascending.
func (l *Live) ownTraders(tokens []data.TokenID) []data.WalletID {
	var own []data.WalletID
	for _, token := range tokens {
		own = append(own, l.venueTraded[token]...)
	}
	slices.Sort(own)
	return slices.Compact(own)
}

// countAt is the count of a market; 0 if counts is not long enough to have it.
func countAt(counts []int32, market int32) int32 {
	if int(market) >= len(counts) {
		return 0
	}
	return counts[market]
}

// resolutionHeap has markets by the time of their resolution, the earliest on top: 24 hours later
// the price of a day ago becomes the payout.
type resolutionHeap []struct {
	at     int64
	market int32
}

func (r *resolutionHeap) add(at int64, market int32) {
	*r = append(*r, struct {
		at     int64
		market int32
	}{at, market})
	h := *r
	for i := len(h) - 1; i > 0 && h[i].at < h[(i-1)/2].at; i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
}

// next removes and returns a market that was resolved at or before ts.
func (r *resolutionHeap) next(ts int64) (int32, bool) {
	h := *r
	if len(h) == 0 || h[0].at > ts {
		return 0, false
	}
	market := h[0].market
	h[0] = h[len(h)-1]
	h = h[:len(h)-1]
	for i := 0; ; {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(h) && h[child].at < h[least].at {
				least = child
			}
		}
		if least == i {
			break
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
	*r = h
	return market, true
}

// marketWalletsRow is a row of market_wallets or event_wallets.
type marketWalletsRow struct {
	Market  int32 `sql:"market"`
	Wallets int32 `sql:"wallets"`
}

// addTraders adds a row to counts by market.
func (l *Live) addTraders(counts *[]int32, row *marketWalletsRow) {
	for int(row.Market) >= len(*counts) {
		*counts = append(*counts, 0)
	}
	(*counts)[row.Market] += row.Wallets
	l.catalog.Touch(row.Market)
}
