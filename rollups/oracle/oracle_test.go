package oracle_test

import (
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/rollups/oracle"
)

func wallet(n byte) data.Address { return data.Address{19: n} }

var rain = data.Hash{31: 1}

func buy(w byte, outcome int, role data.Role, shares, usd data.Micro) oracle.Fill {
	return oracle.Fill{Wallet: wallet(w), Market: rain, Outcome: outcome, Side: data.Buy, Role: role, Shares: shares * data.One, USD: usd * data.One}
}

func sell(w byte, outcome int, role data.Role, shares, usd data.Micro) oracle.Fill {
	f := buy(w, outcome, role, shares, usd)
	f.Side = data.Sell
	return f
}

// Ann buys 10 Yes for 4 and 10 for 8, which is 0.6 on average, and sells 5: her forecast remains
// 0.6. Takers traded 10 for 4, 10 for 8 and 5 for 3: 15 ÷ 25 = 0.6. Bob sold tokens that he had not
// bought, Cat bought back all that she had sold, Dan sold all that he had bought: none of them
// holds any.
func TestForecastsByHand(t *testing.T) {
	fills := []oracle.Fill{
		buy(1, 0, data.Taker, 10, 4), sell(2, 0, data.Maker, 10, 4),
		buy(1, 0, data.Taker, 10, 8), sell(3, 0, data.Maker, 10, 8),
		sell(1, 0, data.Taker, 5, 3), buy(3, 0, data.Maker, 5, 3), buy(3, 0, data.Maker, 5, 3),
		buy(4, 1, data.Maker, 1, 2), sell(4, 1, data.Maker, 1, 1),
	}
	got := oracle.Forecasts(fills, map[data.Hash][]data.Micro{rain: {data.One, 0}})
	want := []oracle.Forecast{{Wallet: wallet(1), Market: rain, P: 600_000, Payout: data.One, Baseline: 600_000, BuyUSD: 12 * data.One}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if open := oracle.Forecasts(fills, nil); len(open) != 0 {
		t.Errorf("an open market has forecasts: %+v", open)
	}
}

// 2 dollars for 3 tokens is 0.666667, 7 for 3 is more than 1. Only makers traded the second
// outcome: their price is its average.
func TestPricesAreRoundedAndClipped(t *testing.T) {
	got := oracle.Forecasts([]oracle.Fill{buy(1, 0, data.Taker, 3, 2), buy(1, 1, data.Maker, 3, 7)},
		map[data.Hash][]data.Micro{rain: {500_000, 500_000}})
	for _, f := range got {
		want := []data.Micro{666_667, data.One}[f.Outcome]
		if f.P != want || f.Baseline != want {
			t.Errorf("outcome %d: p %s, baseline %s, want %s", f.Outcome, f.P, f.Baseline, want)
		}
	}
	if len(got) != 2 {
		t.Errorf("got %d forecasts, want 2", len(got))
	}
}

func TestBinsTakeTheirLowerBound(t *testing.T) {
	for p, want := range map[data.Micro]int{0: 0, 99_999: 0, 100_000: 1, 899_999: 8, 900_000: 9, 999_999: 9, data.One: 9} {
		if got := oracle.Bin(p); got != want {
			t.Errorf("%s is in bin %d, want %d", p, got, want)
		}
	}
}

// Forecasts 0.2 → 0, 0.25 → 1, 0.8 → 1, 0.8 → 1: errors 0.04, 0.5625, 0.04, 0.04; their mean is 0.170625.
// Bins: (0.2, 0.25) with p 0.225, o 0.5; (0.8, 0.8) with p 0.8, o 1; the mean payout is 0.75.
// Reliability (2×0.275² + 2×0.2²)/4 = 0.0578125; resolution (2×0.25² + 2×0.25²)/4 = 0.0625; uncertainty 0.75×0.25 = 0.1875.
// What is left: 0.170625 − 0.0578125 + 0.0625 − 0.1875 = −0.0121875.
func TestMurphyByHand(t *testing.T) {
	forecasts := []oracle.Forecast{{P: 200_000}, {P: 250_000, Payout: data.One}, {P: 800_000, Payout: data.One}, {P: 800_000, Payout: data.One}}
	reliability, resolution, uncertainty, within := oracle.Murphy(forecasts)
	for i, c := range []struct {
		got  *big.Rat
		want string
	}{
		{oracle.Brier(forecasts), "0.170625"}, {reliability, "0.0578125"}, {resolution, "0.0625"},
		{uncertainty, "0.1875"}, {within, "-0.0121875"},
	} {
		if want, _ := new(big.Rat).SetString(c.want); c.got.Cmp(want) != 0 {
			t.Errorf("part %d is %s, want %s", i, c.got.FloatString(7), c.want)
		}
	}
}

func TestBinsAddUp(t *testing.T) {
	got := oracle.Bins([]oracle.Forecast{
		{Wallet: wallet(1), P: 200_000, Payout: 500_000, Baseline: 300_000, BuyUSD: 5}, // half is not more than half
		{Wallet: wallet(1), P: 250_000, Payout: data.One, Baseline: data.One, BuyUSD: 7},
	})
	want := map[oracle.Key]oracle.Sums{{Wallet: wallet(1), Bin: 2}: {Forecasts: 2, Correct: 1, Probability: 450_000, Payout: 1_500_000,
		Error: 90_000_000_000 + 562_500_000_000, BaselineError: 40_000_000_000, BuyUSD: 12}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
