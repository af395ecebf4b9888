package serving_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pmx/data"
	"pmx/rollups/serving"
)

func TestAnEventBookValuesEachMarketOnceAndEachWalletOverAll(t *testing.T) {
	// Market 1 paid its first outcome in full; market 2 paid 0.333333 and 0.666667;
	// market 3 is not resolved.
	tokens := []serving.TokenPayout{
		{Token: 10, Market: 1, Outcome: 0, Payout: 1_000_000}, {Token: 11, Market: 1, Outcome: 1, Payout: 0},
		{Token: 20, Market: 2, Outcome: 0, Payout: 333_333}, {Token: 21, Market: 2, Outcome: 1, Payout: 666_667},
		{Token: 30, Market: 3, Outcome: 0, Payout: serving.NoValue},
	}
	b := serving.NewEventTally(tokens, []data.WalletID{7})
	// Wallet 1 won 3 tokens for 2 dollars, kept half a millionth of 1 dollar and a
	// half in market 2, which is rounded once: 2·0.333333 + 1·0.666667 millionths.
	b.Add(10, 1, serving.EventSum{Fills: 2, Net: 3_000_000, BuyUSD: 2_000_000})
	b.Add(20, 1, serving.EventSum{Fills: 1, Net: 2, BuyUSD: 5})
	b.Add(21, 1, serving.EventSum{Fills: 1, Net: 1, SellUSD: 3, FeeUSD: 1})
	// Wallet 2 sold short what paid, in two sums of one token, and holds of market 3.
	b.Add(10, 2, serving.EventSum{Fills: 1, Net: -1_500_000, SellUSD: 900_000})
	b.Add(10, 2, serving.EventSum{Fills: 1, Net: 500_000, BuyUSD: 250_000})
	b.Add(30, 2, serving.EventSum{Fills: 4, Net: 9_000_000, BuyUSD: 4_500_000})
	// Of wallet 3 all is taken off, of wallet 4 one market of two.
	b.Add(11, 3, serving.EventSum{Fills: 1, Net: 1_000_000, BuyUSD: 600_000})
	b.Add(11, 3, serving.EventSum{Fills: -1, Net: -1_000_000, BuyUSD: -600_000})
	b.Add(11, 4, serving.EventSum{Fills: 1, Net: 1_000_000, BuyUSD: 600_000})
	b.Add(30, 4, serving.EventSum{Fills: 1, Net: 1_000_000, BuyUSD: 500_000})
	b.Add(30, 4, serving.EventSum{Fills: -1, Net: -1_000_000, BuyUSD: -500_000})
	// Wallet 7 is the venue's own, token 99 of another event.
	b.Add(10, 7, serving.EventSum{Fills: 1, Net: 1_000_000, BuyUSD: 1})
	b.Add(99, 1, serving.EventSum{Fills: 1, Net: 1_000_000, BuyUSD: 1})

	want := serving.EventTraders{Total: 3, Rows: []serving.EventTrader{
		// 0.666666 + 0.666667 = 1.333333 millionths are 1; cash in market 2 is −3.
		{Wallet: 1, NetCash: -2_000_003, Redemption: 3_000_001, BuyUSD: 2_000_005, SellUSD: 3, Fills: 4, Markets: 2, ResolvedMarkets: 2, WinningMarkets: 1},
		// 0.65 dollars of cash less one token owed at 1 dollar.
		{Wallet: 2, NetCash: 650_000 - 4_500_000, Redemption: -1_000_000, BuyUSD: 4_750_000, SellUSD: 900_000, Fills: 6, Markets: 2, ResolvedMarkets: 1},
		{Wallet: 4, NetCash: -600_000, BuyUSD: 600_000, Fills: 1, Markets: 1, ResolvedMarkets: 1},
	}}
	got := b.Traders()
	if diff := cmp.Diff(want, got, cmpopts.SortSlices(func(x, y serving.EventTrader) bool { return x.Wallet < y.Wallet })); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAnEventBookWithoutFillsHasNoTraders(t *testing.T) {
	b := serving.NewEventTally([]serving.TokenPayout{{Token: 1, Market: 1}}, nil)
	if got := b.Traders(); got.Total != 0 || len(got.Rows) != 0 {
		t.Errorf("%+v", got)
	}
}
