package rollups_test

import (
	"strings"
	"time"

	"pgregory.net/rapid"

	"pmx/data"
)

// venues generates venues with fees of both kinds, times within a second, tokens of unknown markets
// or of several, payouts that are fractions, three outcomes, events, and the desk's markets.
var venues = rapid.Custom(func(t *rapid.T) []step {
	w := drawWorld(t)
	for i := range w.markets {
		if m := &w.markets[i]; !m.Stub {
			m.EventSlug = rapid.SampledFrom([]string{"", "one", "two"}).Draw(t, "slug")
			m.EventID = rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "event id")
		}
	}
	all, early := rare(t, w.fills), step{} // some fills come before all else
	late := step{markets: all.markets, refs: all.refs}
	settled(&early, &late)
	for i, f := range all.fills {
		if i%3 == 1 && f.Tx != tx(100) && f.Tx != tx(101) {
			early.fills = append(early.fills, f)
		} else {
			late.fills = append(late.fills, f)
		}
	}
	return append(append(append([]step{early}, w.split(t)...), drawDesk(t)...), late)
})

// settled adds markets that ended long before all others: one does not change later, one gets
// another fill, one turns out to have ended when another did, and one when it did not; each has an
// unchanged market next to it.
func settled(early, late *step) {
	paid := func(s *step, m, months int, version time.Time) {
		s.markets = append(s.markets, data.Market{Condition: condition(m), Stub: true, Resolution: &data.Resolution{Condition: condition(m),
			Payouts: []data.Micro{data.One, 0}, ResolvedAt: start.AddDate(0, -months, 0), Source: data.ResolvedByAPI, Version: version}})
	}
	traded := func(s *step, m, wallet int) {
		n := int32(len(s.fills))
		s.fills = append(s.fills, data.Fill{Tx: tx(300 + int(n)), LogIndex: n, TS: start.AddDate(-1, 0, m).UnixMicro(), Wallet: address(wallet), Role: data.Taker,
			TokenID: token(m, 0), Shares: data.One, USD: data.One / 3, Outcome: data.NoIndex})
	}
	const same, again, found, moved = 70, 71, 72, 74
	for i, months := range []int{3, 5, 0, 7, 9, 9} {
		m := same + i
		early.markets = append(early.markets, data.Market{Condition: condition(m), Question: "settled", Outcomes: []string{"a", "b"},
			TokenIDs: []string{token(m, 0), token(m, 1)}, UpdatedAt: start})
		traded(early, m, 95)
		if months > 0 {
			paid(early, m, months, start)
		}
	}
	traded(late, again, 96)
	paid(late, found, 7, start)
	paid(late, moved, 11, start.Add(time.Hour))
}

// rare has what few random venues have: markets that paid at an unknown time, and fills, orders,
// prices, payouts and resolutions exactly at the limits of a definition or next to them. It
// includes the newest fill, a large order.
func rare(t *rapid.T, fills []data.Fill) step {
	newest := start.UnixMicro()
	for _, f := range fills {
		newest = max(newest, f.TS)
	}
	grain := rapid.SampledFrom([]int64{1, day, day / 288, day}).Draw(t, "newest on the edge of")
	newest = (newest + grain) / grain * grain
	const (
		undated = iota + 7
		paid    // when a window begins, and next to it
		unpaid
		half
		large
	)
	var s step
	for i, pay := range [][]data.Micro{{data.One, 0}, {0, data.One}, nil, {data.One / 2, data.One / 2}, {data.One/2 + 1, data.One/2 - 1}} {
		m := data.Market{Condition: condition(undated + i), Question: "rare", Outcomes: []string{"a", "b"}, TokenIDs: []string{token(undated+i, 0), token(undated+i, 1)},
			EventSlug: "one", Category: []string{"politics", "crypto", "", "sports", "crypto"}[i], UpdatedAt: start}
		s.markets = append(s.markets, m)
		if pay != nil {
			s.markets = append(s.markets, data.Market{Condition: m.Condition, Stub: true, Resolution: &data.Resolution{Condition: m.Condition,
				Payouts: pay, Source: data.ResolvedByAPI, Version: start}})
		}
	}
	n := int32(0)
	add := func(at int64, wallet, market, outcome int, side data.Side, role data.Role, shares, usd data.Micro) *data.Fill {
		n++
		s.fills = append(s.fills, data.Fill{Tx: tx(200 + int(n)), LogIndex: n, TS: at, Wallet: address(wallet), Side: side, Role: role, TokenID: token(market, outcome),
			Shares: shares, USD: usd, Outcome: data.NoIndex})
		return &s.fills[len(s.fills)-1]
	}
	add(newest, 1, undated, 0, data.Buy, data.Taker, 9*data.One, 3*data.One+1)
	// At the smallest whale move, in two fills, and just below it.
	for i, usd := range []data.Micro{whaleMark / 2, whaleMark / 2, whaleMark / 2, whaleMark/2 - 1} {
		f := add(newest-1, 2, unpaid, i/2, data.Sell, data.Taker, 5*data.One, usd)
		f.Tx = tx(100 + i/2)
	}
	// Where windows begin, and just after: fills, and the last fills of wallets in markets that
	// paid at an unknown time.
	for i, hours := range []int64{24, 168, 720} {
		add(newest-hours*day/24, 6, undated, 0, data.Buy, data.Taker, 2*data.One, data.One/5)
		for later := range int64(2) {
			at := newest - hours*day/24 + later
			wallet := 10 + 2*i + int(later)
			add(at, wallet, undated, 0, data.Buy, data.Taker, 2*data.One, data.One+data.Micro(i))
			add(at, wallet, unpaid, 0, data.Buy, data.Maker, 3*data.One, data.One).Fee = 654_321
		}
	}
	// Limits of days, hours and five minutes; a first and a last trade of an hour at the same time.
	for i, at := range []int64{newest/day*day - 9*day, newest/day*day - 9*day + 5*day/288} {
		for beside := int64(-1); beside < 2; beside++ {
			add(at+beside, 3, unpaid, 0, data.Buy, data.Role(i+1), 4*data.One, data.One+data.Micro(beside))
			add(at+beside, 3, unpaid, 0, data.Sell, data.Taker, 4*data.One, 3*data.One+data.Micro(beside))
		}
	}
	// Prices of zero, of one and more, between two millionths, and just below that.
	for i, usd := range []data.Micro{0, 2 * data.One, 2*data.One - 1, 2*data.One - 2, 3 * data.One, 1, 3} {
		add(newest-11*day+int64(i)*day/24, 20+i, paid, i%2, data.Buy, data.Taker, 2*data.One, usd).Fee = data.Micro(i) * 500_000
		add(newest-11*day+int64(i)*day/24, 20+i, half, i%2, data.Buy, data.Taker, 2*data.One-1+data.Micro(i%3), usd)
	}
	// Without shares: alone in its hour, with a price of another, and next to makers with shares.
	for i, role := range []data.Role{data.Taker, data.Maker, data.Taker} {
		add(newest-13*day, 4, paid, 0, data.Buy, role, data.Micro(i%2)*data.One, data.Micro(i)*data.One/2)
	}
	add(newest-14*day, 4, unpaid, 0, data.Buy, data.Taker, 0, 5)
	// Quotients that floating point rounds to one too many and to one too few.
	for i, few := range []int64{0, 1} {
		shares, usd := data.Micro(4_200_820_000_000), data.Micro(1_400_269_832_650)
		if few == 1 {
			shares, usd = 20_000_000_000_000_000, 10_485_769_999_999_999
		}
		add(newest-10*day, 90+i, paid, 0, data.Sell, data.Maker, 1, 1).Fee = 7_654_321
		add(newest-10*day, 90+i, large, i, data.Buy, data.Taker, shares, usd)
	}
	// A day of the desk on which one wallet repeatedly trades both outcomes of a market, and an
	// outcome with two tokens.
	for m := 40; m < 43; m++ {
		bracket := listed("london", m)
		bracket.EventID, bracket.EventSlug = "70", "highest-temperature-in-london-on-january-9-2026"
		for _, text := range []*string{&bracket.EventTitle, &bracket.Question} {
			*text = strings.ReplaceAll(*text, "January 5", "January 9")
		}
		bracket.TokenIDs, bracket.UpdatedAt, bracket.EndAt = []string{token(m, 0), token(m, 1)}, start, bracket.EndAt.AddDate(0, 0, 4)
		s.markets = append(s.markets, bracket)
	}
	s.refs = append(s.refs, data.TokenRef{TokenID: token(40, 5), Condition: condition(40), Outcome: 0})
	for i := range 4 {
		add(newest-(40-13*int64(i))*day, 5, 40, 0, data.Buy, data.Taker, data.One, data.One/4)
		add(newest-(33-3*int64(i))*day, 5, 40, 1, data.Buy, data.Taker, data.One, data.One/4)
		add(newest-(44-14*int64(i))*day, 5, 40, 5, data.Buy, data.Taker, data.One, data.One/4)
	}
	pays := func(m int, pay ...data.Micro) {
		s.markets = append(s.markets, data.Market{Condition: condition(m), Stub: true, Resolution: &data.Resolution{Condition: condition(m),
			Payouts: pay, ResolvedAt: time.UnixMicro(newest - 3*day), Source: data.ResolvedByAPI, Version: start}})
	}
	pays(41, data.One, 0)
	add(newest-8*day, 92, 41, 0, data.Buy, data.Taker, 2*data.One, 2*data.One) // nothing won
	// Events by slug, by id, by the first slug of an id, by a text that is a slug here and an id
	// there, and none.
	for i, of := range [][2]string{{"", "50"}, {"zz", "50"}, {"aa", "50"}, {"", ""}, {"", ""}, {"51", ""}, {"", "51"}, {"aa", ""}, {"zz", ""}} {
		m := 50 + i
		s.markets = append(s.markets, data.Market{Condition: condition(m), Question: "event", Outcomes: []string{"a", "b"},
			TokenIDs: []string{token(m, 0), token(m, 1)}, EventSlug: of[0], EventID: of[1], UpdatedAt: start})
		add(newest-8*day, 93, m, 0, data.Buy, data.Maker, data.One, data.One/3)
		add(newest-8*day, 100+i%4, m, 1, data.Buy, data.Maker, data.One, 2*data.One) // nobody takes, and at more than one
	}
	pays(50, data.One, 0)
	pays(51, 0, data.One)
	// Probabilities at the limits of bins, on both sides; everything sold again, and more than
	// that; nothing won, and the smallest amount.
	for i := range 10 {
		usd := data.Micro(i+1) * data.One / 10
		add(newest-12*day, 40+i, paid, 1, data.Buy, data.Taker, data.One, usd-data.Micro(i%2))
		add(newest-12*day, 40+i, half, 0, data.Buy, data.Taker, 2*data.One, data.One-1+data.Micro(i%3))
		add(newest-12*day+1, 30+i, paid, i%2, data.Buy, data.Taker, 7, 3)
		add(newest-12*day+2, 30+i, paid, i%2, data.Sell, data.Maker, data.Micro(6+i%3), 2+data.Micro(i%4))
		add(newest-12*day+3, 30+i, half, i%2, data.Side(i/2%2), data.Maker, data.Micro(1+i%3), 1)
	}
	// Resolved where windows begin and end, and just after.
	for i, ago := range []int64{day, 7 * day, 30 * day, 0} {
		for later := range int64(2) {
			m := 20 + 2*i + int(later)
			s.markets = append(s.markets, data.Market{Condition: condition(m), Question: "edge", Outcomes: []string{"a", "b"}, TokenIDs: []string{token(m, 0), token(m, 1)}, UpdatedAt: start},
				data.Market{Condition: condition(m), Stub: true, Resolution: &data.Resolution{Condition: condition(m), Payouts: []data.Micro{0, data.One},
					ResolvedAt: time.UnixMicro(newest - ago + later), Source: data.ResolvedByAPI, Version: start}})
			add(newest-2*day, 60+m, m, 1, data.Buy, data.Taker, data.One, data.One/3)
		}
	}
	return s
}
