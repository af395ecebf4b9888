package weather

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
)

// TestPricesApplyUntilABracketIsTradedAgain, and the first outcome's price has precedence over the
// second's. After hour 1 two of three brackets have a price, so the mean is that of these two: 0.2
// and 0.5 as shares of 0.7 are 0.285714 and 0.714286, so 22·0.285714 + 23·0.714286 = 22.714286. In
// hour 3 the third one's second outcome is traded at 0.6, so the bracket is at 0.4, and the sum of
// 0.2, 0.5 and 0.4 is 1.1: 22·0.181818 + 23·0.454545 + 24·0.363637 = 23.181819. In hour 4 both of
// its outcomes are traded, and the price of the first one counts.
func TestPricesApplyUntilABracketIsTradedAgain(t *testing.T) {
	ladder := []Bracket{cLow(22), c(23, 23), cHigh(24)}
	var got []Implied
	for _, so := range ImpliedBy(ladder, HalfUp, []Close{{4, 2, true, 500_000}, {4, 2, false, 300_000}, {1, 1, false, 500_000}, {1, 0, false, 200_000}, {3, 2, true, 600_000}}) {
		so.Probabilities = nil
		got = append(got, so)
	}
	temp := func(hundredths int64) *data.Temp { return new(data.Temp(hundredths * 9)) }
	want := []Implied{
		{Start: 1, Prices: []*data.Micro{micro(200_000), micro(500_000), nil}, Priced: 2, PricedSum: 700_000, PricedMean: new(data.Temp(20_443)), Market: Market{Mode: 1}},
		{Start: 3, Prices: []*data.Micro{micro(200_000), micro(500_000), micro(400_000)}, Priced: 3, PricedSum: 1_100_000, PricedMean: new(data.Temp(20_864)), Market: Market{Overround: micro(1_100_000), Mean: new(data.Temp(20_864)), Mode: 1}},
		{Start: 4, Prices: []*data.Micro{micro(200_000), micro(500_000), micro(300_000)}, Priced: 3, PricedSum: 1_000_000, PricedMean: temp(2310), Market: Market{Overround: micro(1_000_000), Mean: temp(2310), Mode: 1}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if ImpliedBy(ladder, HalfUp, nil) != nil {
		t.Error("without a trade there are rows")
	}
}

// TestTheOrderOfClosesDoesNotMatter: each row equals the result of the closes up to it alone.
func TestTheOrderOfClosesDoesNotMatter(t *testing.T) {
	ladder := []Bracket{cLow(22), c(23, 23), c(24, 24), cHigh(25)}
	rapid.Check(t, func(t *rapid.T) {
		type place struct {
			start   int64
			bracket int
			against bool
		}
		closes := rapid.SliceOfDistinct(rapid.Custom(func(t *rapid.T) Close {
			return Close{Start: rapid.Int64Range(0, 5).Draw(t, "start"), Bracket: rapid.IntRange(0, 3).Draw(t, "bracket"), Against: rapid.Bool().Draw(t, "against"),
				Price: data.Micro(rapid.IntRange(0, 1_000_000).Draw(t, "price"))}
		}), func(c Close) place { return place{c.Start, c.Bracket, c.Against} }).Draw(t, "closes")
		all := ImpliedBy(ladder, HalfUp, closes)
		if diff := cmp.Diff(all, ImpliedBy(ladder, HalfUp, rapid.Permutation(closes).Draw(t, "order"))); diff != "" {
			t.Fatal(diff)
		}
		for _, so := range all {
			newest, sum := map[int]Close{}, data.Micro(0)
			for _, c := range closes {
				if old, known := newest[c.Bracket]; c.Start <= so.Start && (!known || c.Start > old.Start || c.Start == old.Start && !c.Against) {
					newest[c.Bracket] = c
				}
			}
			for k := range ladder {
				c, known := newest[k]
				if known && c.Against {
					c.Price = data.One - c.Price
				}
				sum += c.Price
				if known != (so.Prices[k] != nil) || known && *so.Prices[k] != c.Price {
					t.Fatalf("hour %d, bracket %d: so.Prices[k] = %v, want %v", so.Start, k, so.Prices[k], c)
				}
			}
			if so.PricedSum != sum || (so.PricedMean == nil) != (sum == 0) || so.Mean != nil && *so.Mean != *so.PricedMean {
				t.Fatalf("hour %d: sum of those with a price %d, their mean %v", so.Start, so.PricedSum, so.PricedMean)
			}
			if so.Priced != len(newest) || (so.Overround != nil) != (len(newest) == len(ladder)) || so.Overround != nil && *so.Overround != sum {
				t.Fatalf("hour %d: %d have a price, their sum is %v", so.Start, so.Priced, so.Overround)
			}
		}
	})
}
