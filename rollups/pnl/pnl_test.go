package pnl_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/rollups/pnl"
)

var (
	ann    = data.Address{19: 1}
	bob    = data.Address{19: 2}
	market = data.Hash{31: 1}
)

const usd = data.One

func buy(w data.Address, outcome int, shares, dollars, fee data.Micro) pnl.Fill {
	return pnl.Fill{TS: 1, Wallet: w, Market: market, Outcome: outcome, Side: data.Buy, Shares: shares, USD: dollars, Fee: fee}
}

func sell(w data.Address, outcome int, shares, dollars, fee data.Micro) pnl.Fill {
	f := buy(w, outcome, shares, dollars, fee)
	f.Side = data.Sell
	return f
}

func TestRealPnLByHand(t *testing.T) {
	yes := pnl.Payout{PerToken: []data.Micro{data.One, 0}}
	half := pnl.Payout{PerToken: []data.Micro{500_000, 500_000}}
	for _, c := range []struct {
		name  string
		fills []pnl.Fill
		paid  *pnl.Payout
		want  pnl.Totals // times and counts of fills are left out of the comparison
		total data.Micro
	}{
		{
			// 100 Yes for 40 dollars, 60 sold for 30: −40 + 30 + 40 × 1 = 30.
			name:  "the rest of a position redeems",
			fills: []pnl.Fill{buy(ann, 0, 100*usd, 40*usd, 0), sell(ann, 0, 60*usd, 30*usd, 0)}, paid: &yes,
			want: pnl.Totals{Markets: 1, ResolvedMarkets: 1, WinningMarkets: 1, BuyUSD: 40 * usd, SellUSD: 30 * usd,
				Redemption: 40 * usd}, total: 30 * usd,
		},
		{
			// A set is split for 10 dollars, which is not seen: 10 Yes are sold for 7, No is kept.
			// The split costs 10 and No pays nothing: 7 − 10 = −3.
			name:  "selling what was never bought is a liability",
			fills: []pnl.Fill{sell(ann, 0, 10*usd, 7*usd, 0)}, paid: &yes,
			want: pnl.Totals{Markets: 1, ResolvedMarkets: 1, NegativeLegs: 1, SellUSD: 7 * usd, Redemption: -10 * usd}, total: -3 * usd,
		},
		{
			// 0.000003 tokens at half a dollar are 1.5 micro-dollars, rounded away from zero to 2.
			name:  "50-50 rounds half a micro-dollar away from zero",
			fills: []pnl.Fill{buy(ann, 0, 3, 1, 0)}, paid: &half,
			want: pnl.Totals{Markets: 1, ResolvedMarkets: 1, WinningMarkets: 1, BuyUSD: 1, Redemption: 2}, total: 1,
		},
		{
			// A fee of 1 token on the buy, of 0.50 dollars on the sell: 100 − 1 − 50 = 49 tokens
			// are redeemed.
			name:  "fees are taken in what is received",
			fills: []pnl.Fill{buy(ann, 0, 100*usd, 40*usd, usd), sell(ann, 0, 50*usd, 30*usd, usd/2)}, paid: &yes,
			want: pnl.Totals{Markets: 1, ResolvedMarkets: 1, WinningMarkets: 1, BuyUSD: 40 * usd, SellUSD: 30 * usd,
				FeeUSD: usd / 2, Redemption: 49 * usd}, total: 38*usd + usd/2,
		},
		{
			name:  "an open position is cash out",
			fills: []pnl.Fill{buy(ann, 0, 100*usd, 40*usd, 0)},
			want:  pnl.Totals{Markets: 1, BuyUSD: 40 * usd, UnresolvedCash: -40 * usd}, total: -40 * usd,
		},
	} {
		payouts := map[data.Hash]pnl.Payout{}
		if c.paid != nil {
			payouts[market] = *c.paid
		}
		got := pnl.Wallets(c.fills, payouts)[ann]
		if got.RealPnL() != c.total {
			t.Errorf("%s: real_pnl %s, want %s", c.name, got.RealPnL(), c.total)
		}
		got.Fills, got.Days, got.FirstTS, got.LastTS = 0, 0, 0, 0
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// Ann buys 10 Yes from Bob, who splits for them: one of them wins what the other loses.
func TestBothSidesOfAMatchCancelOut(t *testing.T) {
	fills := []pnl.Fill{buy(ann, 0, 10*usd, 6*usd, 0), sell(bob, 0, 10*usd, 6*usd, 0)}
	for _, paid := range [][]data.Micro{{data.One, 0}, {0, data.One}, {500_000, 500_000}} {
		totals := pnl.Wallets(fills, map[data.Hash]pnl.Payout{market: {PerToken: paid}})
		if sum := totals[ann].RealPnL() + totals[bob].RealPnL(); sum != 0 {
			t.Errorf("payouts %v: the sum is %s, want 0", paid, sum)
		}
	}
}

func TestWindowIsOpenAtItsStartAndClosedAtItsEnd(t *testing.T) {
	at := func(ts int64) pnl.Fill { f := buy(ann, 0, usd, usd/2, 0); f.TS = ts; return f }
	fills := []pnl.Fill{at(10), at(11), at(20), at(21)}
	paid := map[data.Hash]pnl.Payout{market: {PerToken: []data.Micro{data.One, 0}, ResolvedAt: 20}}
	got := pnl.Window(fills, paid, 10, 20)[ann]
	if got.Fills != 2 || got.Redemption != 4*usd {
		t.Errorf("(10, 20]: %d fills, redemption %s; want 2 and 4, for the market was resolved in it", got.Fills, got.Redemption)
	}
	if got := pnl.Window(fills, paid, 20, 30)[ann]; got.Fills != 1 || got.Redemption != 0 {
		t.Errorf("(20, 30]: %d fills, redemption %s; want 1 and 0", got.Fills, got.Redemption)
	}
}
