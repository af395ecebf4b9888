package serving_test

import (
	"bytes"
	gocmp "cmp"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
	"pmx/rollups/pnl"
	"pmx/rollups/serving"
)

const oneDay = int64(86_400_000_000)

// drawnWorld is a catalog of four markets, the last of which is unknown, and random fills of one
// wallet, as fills and as token sums.
type drawnWorld struct {
	catalog *serving.Catalog
	payouts map[data.Hash]pnl.Payout
	fills   []pnl.Fill
	tokens  []serving.TokenSum
}

func drawWorld(t *rapid.T) drawnWorld {
	w := drawnWorld{payouts: map[data.Hash]pnl.Payout{}}
	b := serving.NewCatalogBuilder()
	for m := range int32(3) {
		market := &serving.Market{ID: m, Condition: data.Hash{byte(m + 1)}, Category: []string{"sports", "", "sports"}[m]}
		pay := rapid.SampledFrom([][]data.Micro{nil, {data.One, 0, 0}, {0, data.One, 0}, {500_000, 500_000, 0},
			{333_334, 333_333, 333_333}}).Draw(t, "payouts")
		if pay != nil {
			at := rapid.SampledFrom([]int64{0, oneDay + 5, oneDay + 7, 9 * oneDay}).Draw(t, "resolved")
			market.Payouts, market.ResolvedTS = pay, at
			w.payouts[market.Condition] = pnl.Payout{PerToken: pay, ResolvedAt: at}
		}
		b.Set(market)
	}
	sums := map[data.TokenID]*serving.TokenSum{}
	for market := range int32(4) {
		for outcome := range int8(3) {
			for twin := range int32(2) { // two tokens may stand for one outcome
				token := data.TokenID(market*6 + int32(outcome)*2 + twin)
				ref := serving.TokenRef{Market: market, Outcome: outcome, ID: fmt.Sprint(token)}
				if market == 3 {
					ref.Market = -1
				}
				b.Map(token, ref)
			}
		}
	}
	w.catalog = b.Seal()
	for range rapid.IntRange(1, 40).Draw(t, "fills") {
		token := data.TokenID(rapid.IntRange(0, 23).Draw(t, "token"))
		f := serving.Fill{TS: int64(rapid.IntRange(1, 9).Draw(t, "ts")) * oneDay / 3, Token: token, Side: data.Side(rapid.IntRange(0, 1).Draw(t, "side")),
			Shares: data.Micro(rapid.IntRange(0, 5).Draw(t, "shares")) * 333_333, Fee: data.Micro(rapid.IntRange(0, 1).Draw(t, "fee"))}
		f.USD = f.Shares / 3
		if sums[token] == nil {
			sums[token] = &serving.TokenSum{}
		}
		sums[token].Add(&f)
		p := pnl.Fill{TS: f.TS, Token: fmt.Sprint(token), Side: f.Side, Shares: f.Shares, USD: f.USD, Fee: f.Fee, Outcome: int(token % 6 / 2)}
		if market := token / 6; market < 3 {
			p.Market = data.Hash{byte(market + 1)}
		}
		w.fills = append(w.fills, p)
	}
	for _, token := range slices.Sorted(maps.Keys(sums)) {
		w.tokens = append(w.tokens, *sums[token])
	}
	return w
}

func TestAPortfolioIsTheDefinition(t *testing.T) {
	var b serving.Portfolio
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt)
		b.Fill(w.catalog, w.tokens)
		want := pnl.Wallets(w.fills, w.payouts)[data.Address{}]
		got := pnl.Totals{Fills: b.Totals.Fills, BuyUSD: b.Totals.BuyUSD, SellUSD: b.Totals.SellUSD, FeeUSD: b.Totals.FeeUSD, Days: want.Days,
			Markets: b.Totals.Markets, ResolvedMarkets: b.Totals.ResolvedMarkets, WinningMarkets: b.Totals.WinningMarkets, NegativeLegs: b.Totals.NegativeLegs,
			UnmappedFills: b.Totals.UnmappedFills, Redemption: b.Totals.Redemption, UnresolvedCash: b.Totals.UnresolvedCash,
			FirstTS: b.Totals.FirstTS, LastTS: b.Totals.LastTS}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("totals (-definition +portfolio):\n%s", diff)
		}
		for market, h := range pnl.Holdings(w.fills)[data.Address{}] {
			i := slices.IndexFunc(b.Holdings, func(o serving.Holding) bool {
				return o.Market == nil && market.IsZero() || o.Market != nil && o.Market.Condition == market
			})
			if i < 0 || b.Holdings[i].NetCash() != h.Cash || !market.IsZero() && b.Holdings[i].Redemption != h.Redemption(w.payouts[market]) {
				rt.Fatalf("market %s: want %+v, have %+v", market, h, b.Holdings)
			}
		}
		var sum serving.Totals
		for _, c := range b.ByCategory() {
			sum = plus(sum, c.Totals)
		}
		if diff := cmp.Diff(b.Totals, sum); diff != "" {
			rt.Fatalf("categories (-portfolio +sum):\n%s", diff)
		}
		drawnPages(rt, &b)
	})
}

// plus adds up two totals of different markets.
func plus(x, y serving.Totals) serving.Totals {
	first := min(x.FirstTS, y.FirstTS)
	if x.FirstTS == 0 {
		first = y.FirstTS
	}
	return serving.Totals{Fills: x.Fills + y.Fills, UnmappedFills: x.UnmappedFills + y.UnmappedFills, Markets: x.Markets + y.Markets,
		ResolvedMarkets: x.ResolvedMarkets + y.ResolvedMarkets, WinningMarkets: x.WinningMarkets + y.WinningMarkets, NegativeLegs: x.NegativeLegs + y.NegativeLegs,
		FirstTS: first, LastTS: max(x.LastTS, y.LastTS), BuyUSD: x.BuyUSD + y.BuyUSD, SellUSD: x.SellUSD + y.SellUSD, FeeUSD: x.FeeUSD + y.FeeUSD,
		NetCash: x.NetCash + y.NetCash, Redemption: x.Redemption + y.Redemption, UnresolvedCash: x.UnresolvedCash + y.UnresolvedCash}
}

// figureOf is the figure by which a holding is sorted; false if it is unknown.
func figureOf(by serving.HoldingFigure, h *serving.Holding) (int64, bool) {
	switch by {
	case serving.HoldingRealPnL:
		return int64(h.RealPnL()), true
	case serving.HoldingAbsRealPnL:
		return max(int64(h.RealPnL()), -int64(h.RealPnL())), true
	case serving.HoldingLastTrade:
		return h.LastTS, true
	case serving.HoldingResolved:
		return h.ResolvedTS(), h.ResolvedTS() != 0
	}
	return int64(h.Volume()), true
}

// drawnPages reads the resolved holdings, or all, page by page: together they are those of the
// whole portfolio, in order.
func drawnPages(rt *rapid.T, b *serving.Portfolio) {
	q := serving.HoldingQuery{Most: rapid.IntRange(1, 4).Draw(rt, "page"), Order: serving.HoldingOrder{
		By:        serving.HoldingFigure(rapid.IntRange(0, int(serving.HoldingFigures)-1).Draw(rt, "by")),
		Ascending: rapid.Bool().Draw(rt, "ascending")}}
	if rapid.Bool().Draw(rt, "filtered") {
		q.Keep = func(h *serving.Holding) bool { return h.Resolved }
	}
	want := slices.Clone(b.Holdings)
	if q.Keep != nil {
		want = slices.DeleteFunc(want, func(h serving.Holding) bool { return !q.Keep(&h) })
	}
	slices.SortFunc(want, func(x, y serving.Holding) int {
		m, known := figureOf(q.Order.By, &x)
		n, other := figureOf(q.Order.By, &y)
		switch {
		case known != other:
			if known {
				return -1
			}
			return 1
		case m != n && q.Order.Ascending:
			return gocmp.Compare(m, n)
		case m != n:
			return gocmp.Compare(n, m)
		case x.Volume() != y.Volume():
			return gocmp.Compare(y.Volume(), x.Volume())
		case x.Market == nil || y.Market == nil:
			return gocmp.Compare(fmt.Sprint(x.Market == nil), fmt.Sprint(y.Market == nil))
		}
		return bytes.Compare(x.Market.Condition[:], y.Market.Condition[:])
	})
	var got []serving.Holding
	for {
		p := b.Select(q)
		if p.Left != len(want)-len(got) || p.Total != len(want) || p.Totals.Markets != int64(len(want))-unmapped(want) {
			rt.Fatalf("%d left of %d after %d, want %d; %+v", p.Left, p.Total, len(got), len(want), p.Totals)
		}
		got = append(got, p.Rows...)
		if p.Left <= len(p.Rows) {
			break
		}
		q.After = new(q.Order.PlaceOf(&p.Rows[len(p.Rows)-1]))
	}
	for i := range want {
		if i >= len(got) || got[i].Market != want[i].Market {
			rt.Fatalf("row %d of %d differs", i, len(got))
		}
	}
}

func unmapped(list []serving.Holding) (n int64) {
	for i := range list {
		if list[i].Market == nil {
			n++
		}
	}
	return n
}

// A day's redemption is that of the window of this day; one without a time counts on the day of the
// last trade.
func TestRedemptionsFallOnTheirDays(t *testing.T) {
	var b serving.Portfolio
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt)
		const upTo = 4 * oneDay
		got := map[int32]serving.DayPaid{}
		for _, p := range b.PaidByDay(nil, w.catalog, w.tokens, upTo) {
			got[p.Day] = p
		}
		// What was last traded on a day is what was traded from that day on, minus what was traded
		// from the next day on.
		since := func(day int64) pnl.Period {
			return pnl.Window(w.fills, w.payouts, day*oneDay-1, 1<<62)[data.Address{}]
		}
		want := map[int32]serving.DayPaid{}
		for day := range upTo / oneDay {
			p := serving.DayPaid{Day: int32(day), Undated: since(day).Undated - since(day+1).Undated,
				UndatedMarkets: since(day).UndatedMarkets - since(day+1).UndatedMarkets}
			if day > 0 {
				p.USD = pnl.Window(w.fills, w.payouts, day*oneDay-1, (day+1)*oneDay-1)[data.Address{}].Redemption
			}
			if p.USD != 0 || p.UndatedMarkets != 0 {
				want[p.Day] = p
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("-definition +book:\n%s", diff)
		}
	})
}

// The largest of many are the first ones after sorting all.
func TestTheTopOfManyHoldings(t *testing.T) {
	c := serving.NewCatalogBuilder()
	var tokens []serving.TokenSum
	for i := range int32(3000) {
		c.Set(&serving.Market{ID: i, Condition: data.Hash{byte(i * 7), byte(i >> 8), byte(i)}})
		c.Map(data.TokenID(i), serving.TokenRef{Market: i, ID: fmt.Sprint(i)})
		tokens = append(tokens, serving.TokenSum{Token: data.TokenID(i), Fills: 1, BuyUSD: data.Micro(i * 7919 % 101)}) // many ties
	}
	var b serving.Portfolio
	b.Fill(c.Seal(), tokens)
	all := slices.Clone(b.Holdings)
	slices.SortFunc(all, func(x, y serving.Holding) int {
		return gocmp.Or(gocmp.Compare(y.Volume(), x.Volume()), bytes.Compare(x.Market.Condition[:], y.Market.Condition[:]))
	})
	for _, n := range []int{1, 7, 200, 2999, 3000, 4000} {
		top := b.Select(serving.HoldingQuery{Most: n}).Rows
		if len(top) != min(n, 3000) {
			t.Fatalf("%d of the top %d", len(top), n)
		}
		for i := range top {
			if top[i].Market != all[i].Market {
				t.Fatalf("top %d: number %d differs", n, i)
			}
		}
	}
}
