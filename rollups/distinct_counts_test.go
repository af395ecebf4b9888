package rollups_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/rollups"
	"pmx/rollups/pnl"
	"pmx/rollups/serving"
)

// bucket has the expected figures of a period, computed fill by fill.
type bucket struct {
	taker, maker        serving.Activity
	wallets, newWallets map[data.Address]bool
	markets, newMarkets map[data.Hash]bool
}

// bucketOf computes the figures of the fills in a period. firstOf has the first fill of each
// wallet, and of each market.
func bucketOf(fills []pnl.Fill, in func(ts int64) bool, firstOf map[data.Address]int64, firstIn map[data.Hash]int64) bucket {
	b := bucket{wallets: map[data.Address]bool{}, newWallets: map[data.Address]bool{}, markets: map[data.Hash]bool{}, newMarkets: map[data.Hash]bool{}}
	for _, f := range fills {
		if !in(f.TS) {
			continue
		}
		a := &b.taker
		if f.Role == data.Maker {
			a = &b.maker
		}
		a.Trades++
		a.VolumeUSD += f.USD
		a.VolumeShares += f.Shares
		if f.Wallet != address(0) {
			b.wallets[f.Wallet] = true
			if firstOf[f.Wallet] == f.TS {
				b.newWallets[f.Wallet] = true
			}
		}
		if !f.Market.IsZero() {
			b.markets[f.Market] = true
			if firstIn[f.Market] == f.TS {
				b.newMarkets[f.Market] = true
			}
		}
	}
	return b
}

func (b bucket) activity(basis serving.VolumeBasis) serving.Activity {
	if basis == serving.MakerUSD {
		return b.maker
	}
	return b.taker
}

// compareStats compares the series of a snapshot with the fills.
func compareStats(t *rapid.T, fills []pnl.Fill, payouts map[data.Hash]pnl.Payout, snap *serving.Snapshot) {
	firstOf, firstIn, asOf, first := map[data.Address]int64{}, map[data.Hash]int64{}, int64(0), int64(0)
	basis := serving.MakerUSD
	for _, f := range fills {
		if at, seen := firstOf[f.Wallet]; !seen || f.TS < at {
			firstOf[f.Wallet] = f.TS
		}
		if at, seen := firstIn[f.Market]; !seen || f.TS < at {
			firstIn[f.Market] = f.TS
		}
		if asOf = max(asOf, f.TS); first == 0 || f.TS < first {
			first = f.TS
		}
		if f.Role != data.Maker {
			basis = serving.TakerUSD
		}
	}
	of := func(in func(ts int64) bool) bucket { return bucketOf(fills, in, firstOf, firstIn) }
	within := func(text func(time.Time) string) func(want string) bucket {
		return func(want string) bucket {
			return of(func(ts int64) bool { return text(time.UnixMicro(ts).UTC()) == want })
		}
	}
	isoWeek := func(at time.Time) string { y, w := at.ISOWeek(); return fmt.Sprint(y, w) }
	month := func(at time.Time) string { return at.Format("2006-01") }
	got := snap.Stats
	want := &serving.Stats{Traders: int64(len(firstOf)), FirstTS: first, LastTS: asOf, Sums: sumsOf(fills, payouts, asOf)}
	if _, venueTraded := firstOf[address(0)]; venueTraded {
		want.Traders--
	}
	for p := range serving.Periods {
		length := p.Length().Microseconds()
		b := of(func(ts int64) bool { return ts > asOf-length })
		want.Windows[p] = serving.Rolling{Activity: b.activity(basis), Traders: int64(len(b.wallets)), Markets: int64(len(b.markets))}
		if p != serving.Day {
			want.Windows[p].Previous = of(func(ts int64) bool { return ts > asOf-2*length && ts <= asOf-length }).activity(basis)
		}
	}
	for _, h := range got.Hours {
		b := of(func(ts int64) bool { return ts/3_600_000_000 == h.Start })
		want.Hours = append(want.Hours, serving.HourStats{Start: h.Start, Activity: b.activity(basis), ActiveWallets: int64(len(b.wallets))})
	}
	if n := len(got.Hours); n != 24 || got.Hours[0].Start != asOf/3_600_000_000-23 || got.Hours[23].Start != asOf/3_600_000_000 {
		t.Fatalf("%d hours up to %d", n, asOf/3_600_000_000)
	}
	for d := first / day; d <= asOf/day; d++ {
		b := of(func(ts int64) bool { return ts/day == d })
		want.Days = append(want.Days, serving.DayStats{Day: d, Activity: b.activity(basis), ActiveWallets: int64(len(b.wallets)),
			NewWallets: int64(len(b.newWallets)), NewMarkets: int64(len(b.newMarkets)), ActiveMarkets: int64(len(b.markets))})
	}
	want.Weeks = wantSpans(first, asOf, isoWeek, within(isoWeek), basis)
	want.Months = wantSpans(first, asOf, month, within(month), basis)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("stats (-fills +snapshot):\n%s", diff)
	}
}

// sumsOf adds up all wallets.
func sumsOf(fills []pnl.Fill, payouts map[data.Hash]pnl.Payout, asOf int64) serving.Totals {
	s := serving.Totals{LastTS: asOf}
	for _, t := range pnl.Wallets(fills, payouts) {
		s.Fills += t.Fills
		s.MakerFills += t.MakerFills
		s.TakerFills += t.TakerFills
		s.UnmappedFills += t.UnmappedFills
		s.NegativeLegs += t.NegativeLegs
		s.BuyUSD += t.BuyUSD
		s.SellUSD += t.SellUSD
		s.FeeUSD += t.FeeUSD
		s.NetCash += t.NetCash()
		s.Redemption += t.Redemption
		s.UnresolvedCash += t.UnresolvedCash
	}
	return s
}

// wantSpans goes through the days around first to last and starts a span whenever its name changes.
func wantSpans(first, last int64, name func(time.Time) string, of func(string) bucket, basis serving.VolumeBasis) []serving.SpanStats {
	at := func(d int64) string { return name(time.UnixMicro(d * day).UTC()) }
	start := first / day
	for at(start-1) == at(start) {
		start--
	}
	var out []serving.SpanStats
	for start <= last/day {
		end := start
		for at(end+1) == at(start) {
			end++
		}
		b := of(at(start))
		out = append(out, serving.SpanStats{First: start, Last: end, Activity: b.activity(basis), ActiveWallets: int64(len(b.wallets)),
			NewWallets: int64(len(b.newWallets)), NewMarkets: int64(len(b.newMarkets))})
		start = end + 1
	}
	return out
}

// Market 0 trades token a on day 0 and b on day 1, market 1 token c on day 1: two markets trade on
// day 1, and one is new on each day. Then a and b turn out to belong to market 1: it is new on day
// 0 and the only one on both. A late fill of token e makes market 0 trade on day 0 again, and one
// of c on day 0 changes nothing.
func TestATokenThatMovesKeepsItsDays(t *testing.T) {
	testfiles.InLong(t, "TestIndexFollowsATokenFromMarketToMarket moves one")
	fill := func(n, d int, tokenID string) data.Fill {
		return data.Fill{Tx: tx(n), LogIndex: int32(n), TS: start.UnixMicro() + int64(d)*day, Wallet: address(n), TokenID: tokenID,
			Role: data.Taker, Shares: data.One, USD: data.One / 2, Outcome: data.NoIndex}
	}
	market := func(n int, tokens ...string) data.Market {
		return data.Market{Condition: condition(n), Question: "?", UpdatedAt: start, Outcomes: []string{"x", "y"}, TokenIDs: tokens}
	}
	newer := func(m data.Market) data.Market { // of two lists with a token, the newer one has it
		m.UpdatedAt = m.UpdatedAt.Add(time.Hour)
		return m
	}
	steps := []step{
		{markets: []data.Market{market(0, "a", "b", "e"), market(1, "c", "d")}},
		{fills: []data.Fill{fill(1, 0, "a"), fill(2, 1, "b"), fill(3, 1, "c")}},
		{markets: []data.Market{newer(market(1, "a", "b", "c"))}},
		{fills: []data.Fill{fill(4, 0, "e"), fill(5, 0, "c")}},
	}
	for _, warm := range []bool{false, true} {
		v := newVenue(t, steps)
		if warm {
			v.write(func(ctx context.Context, conn *sql.Conn) error { return v.merger.Warm(ctx, conn) })
		}
		for i, want := range [][]serving.DayStats{
			nil, {{NewMarkets: 1, ActiveMarkets: 1}, {NewMarkets: 1, ActiveMarkets: 2}},
			{{NewMarkets: 1, ActiveMarkets: 1}, {NewMarkets: 0, ActiveMarkets: 1}},
			{{NewMarkets: 2, ActiveMarkets: 2}, {NewMarkets: 0, ActiveMarkets: 1}},
		} {
			v.importStep(i)
			days := v.live.Snapshot().Stats.Days
			for d := range want {
				if days[d].NewMarkets != want[d].NewMarkets || days[d].ActiveMarkets != want[d].ActiveMarkets {
					t.Errorf("warm %t, step %d, day %d: days[d] = %+v, want %+v", warm, i, d, days[d], want[d])
				}
			}
		}
		v.proved()
		v.close()
	}
}

func (v *venue) proved() {
	v.t.Helper()
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		checks, err := rollups.Verify(ctx, conn, nil, nil, nil)
		for _, c := range checks {
			if !c.OK && c.Name != "zero_sum_markets" {
				v.t.Errorf("verify: %+v", c)
			}
		}
		return err
	})
}

// Ann trades in January and on 2 March. Then a late fill of hers in February is imported, and Bob's
// first. Late or not, the wallets of every week and month are counted the same, whether a merge has
// the last days in memory or reads them.
func TestLateDaysBeginWeeksAndMonths(t *testing.T) {
	at := func(month time.Month, d int) int64 {
		return time.Date(2026, month, d, 12, 0, 0, 0, time.UTC).UnixMicro()
	}
	fill := func(n, wallet int, ts int64) data.Fill {
		return data.Fill{Tx: tx(n), LogIndex: int32(n), TS: ts, Wallet: address(wallet), TokenID: "a", Role: data.Taker,
			Shares: data.One, USD: data.One / 2, Outcome: data.NoIndex}
	}
	steps := []step{
		{fills: []data.Fill{fill(1, 1, at(1, 5)), fill(2, 1, at(3, 2))}},
		{fills: []data.Fill{fill(3, 1, at(2, 24)), fill(4, 1, at(3, 3)), fill(5, 2, at(3, 3))}},
		{fills: []data.Fill{fill(6, 2, at(2, 23)), fill(7, 2, at(3, 9))}},
	}
	for _, warm := range []bool{false, true} {
		v := newVenue(t, steps)
		if warm {
			v.write(func(ctx context.Context, conn *sql.Conn) error { return v.merger.Warm(ctx, conn) })
		}
		for i, want := range [][]int64{{1, 0, 1}, {1, 1, 2}, {1, 2, 2}} { // January to March
			v.importStep(i)
			var got []int64
			for _, m := range v.live.Snapshot().Stats.Months {
				got = append(got, m.ActiveWallets)
			}
			if !slices.Equal(got, want) {
				t.Errorf("warm %t, step %d: months %v, want %v", warm, i, got, want)
			}
		}
		weeks := v.live.Snapshot().Stats.Weeks // of 23 February, 2 and 9 March: both, both, Bob
		for i, want := range []int64{2, 2, 1} {
			if got := weeks[len(weeks)-3+i].ActiveWallets; got != want {
				t.Errorf("warm %t: week %d has %d wallets, want %d", warm, i, got, want)
			}
		}
		v.proved()
		v.close()
	}
}
