package fillseg

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
	"pmx/rollups/serving"
)

// anyAmount draws amounts of every size, with and without zeros at their end.
func anyAmount(t *rapid.T, name string) data.Micro {
	if edge := rapid.SampledFrom([]int64{0, 0, 1, -1, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, int64(maxOfPrices), int64(maxOfPrices) - 1}).Draw(t, name); edge != 0 {
		return data.Micro(edge)
	}
	unit := rapid.SampledFrom([]int64{0, 1, 10, 100, 10_000, 1_000_000}).Draw(t, name+" unit")
	return data.Micro((rapid.Int64().Draw(t, name+" amount") >> rapid.IntRange(20, 63).Draw(t, name+" shift")) * unit)
}

// Sums of a wallet are read as they were written, whatever the amounts.
func TestSumsOfAWalletAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tokens := make([]serving.TokenSum, rapid.IntRange(0, 20).Draw(rt, "tokens"))
		days := make([]serving.DaySum, rapid.IntRange(0, 20).Draw(rt, "days"))
		token, day := int64(-1), int64(-1)
		for i := range tokens {
			token += rapid.Int64Range(1, maxID/20).Draw(rt, "step")
			unit := rapid.SampledFrom([]int64{1, second}).Draw(rt, "unit")
			first := epoch*second + rapid.Int64Range(0, maxTime*second/unit).Draw(rt, "first")*unit
			bought, sold := anyShares(rt)
			tokens[i] = serving.TokenSum{Token: data.TokenID(token), Fills: anyFills(rt), BuyShares: bought, SellShares: sold, FeeShares: anyAmount(rt, "fee"),
				BuyUSD: anyDollars(rt, bought), SellUSD: anyDollars(rt, sold), FeeUSD: anyAmount(rt, "fee in dollars"), FirstTS: first, LastTS: first}
			if tokens[i].Fills > 1 {
				tokens[i].LastTS += rapid.Int64Range(0, maxTime*second/unit).Draw(rt, "length") * unit
			}
		}
		for i := range days {
			day += rapid.Int64Range(1, 100_000).Draw(rt, "step")
			days[i] = serving.DaySum{Day: int32(day), Fills: anyFills(rt), BuyUSD: anyAmount(rt, "paid"),
				SellUSD: anyAmount(rt, "received"), FeeUSD: anyAmount(rt, "fee in dollars")}
		}
		byToken := segment{}.readTokens(appendTokens(nil, tokens))
		if got := byToken.allTokens([]serving.TokenSum{}); !cmp.Equal(got, tokens) {
			rt.Errorf("sums by token (-written +read):\n%s", cmp.Diff(tokens, got))
		}
		in := segment{}.readSums(appendDays(nil, days))
		for i := range days {
			var got serving.DaySum
			if in.day(&got); got != days[i] {
				rt.Errorf("sum of a day is %+v, want %+v", got, days[i])
			}
		}
		if in.left > 0 {
			rt.Errorf("%d sums follow the days", in.left)
		}
	})
}

// All numbers of 64 bits are read as they were written, in every field but the key, also dollars without shares and shares without
// dollars.
func TestSumsOfExtremesAreReadAsWritten(t *testing.T) {
	extremes := []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64}
	const fields = 9
	var tokens []serving.TokenSum
	var days []serving.DaySum
	var wallets []serving.WalletSum
	var hours []serving.PartialCandle
	for field := range fields {
		for _, others := range extremes {
			for _, one := range extremes {
				v := slices.Repeat([]int64{others}, fields)
				v[field] = one
				m := func(i int) data.Micro { return data.Micro(v[i]) }
				s := serving.TokenSum{Token: data.TokenID(len(tokens)), Fills: v[0], BuyShares: m(1), SellShares: m(2), FeeShares: m(3), BuyUSD: m(4), SellUSD: m(5), FeeUSD: m(6), FirstTS: v[7], LastTS: v[8]}
				if s.Fills == 1 {
					s.LastTS = s.FirstTS // there is one
				}
				tokens = append(tokens, s)
				days = append(days, serving.DaySum{Day: int32(len(days)), Fills: v[0], BuyUSD: m(1), SellUSD: m(2), FeeUSD: m(3)})
				wallets = append(wallets, serving.WalletSum{Wallet: data.WalletID(len(wallets)), EventSum: serving.EventSum{Fills: v[0], Net: m(1), BuyShares: m(2), BuyUSD: m(3), SellUSD: m(4), FeeUSD: m(5)}})
				p := serving.PartialCandle{Token: 7, Hour: int64(len(hours)), Fills: v[0], USD: m(1), Shares: m(2), First: serving.CandlePlace{TS: v[3], At: v[4]}, Last: serving.CandlePlace{TS: v[5], At: v[6]}, High: m(7), Low: m(8)}
				if p.First.TS < 0 {
					p.First, p.Last, p.High, p.Low = serving.NoPlace, serving.NoPlace, 0, 0
				} else if p.Fills == 1 {
					p.Last, p.High, p.Low = p.First, p.First.Price(), p.First.Price()
				}
				hours = append(hours, p)
			}
		}
	}
	byToken, byDay, gotDays := segment{}.readTokens(appendTokens(nil, tokens)), segment{}.readSums(appendDays(nil, days)), make([]serving.DaySum, len(days))
	if got := byToken.allTokens(nil); !slices.Equal(got, tokens) {
		t.Errorf("by token (-written +read):\n%s", cmp.Diff(tokens, got))
	}
	for i := range gotDays {
		byDay.day(&gotDays[i])
	}
	if !slices.Equal(gotDays, days) {
		t.Errorf("by day (-written +read):\n%s", cmp.Diff(days, gotDays))
	}
	if got := (segment{}).readWallets(nil, appendWallets(nil, wallets)); !slices.Equal(got, wallets) {
		t.Errorf("by wallet (-written +read):\n%s", cmp.Diff(wallets, got))
	}
	if got := (segment{}).readHours(nil, 7, appendHours(nil, hours)); !slices.Equal(got, hours) {
		t.Errorf("by hour (-written +read):\n%s", cmp.Diff(hours, got))
	}
}
