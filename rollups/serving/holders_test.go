package serving_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pmx/data"
	"pmx/rollups/serving"
)

func TestHoldersAreThoseWhoseTokensDoNotComeToZero(t *testing.T) {
	// Two tokens belong to the second outcome; the market paid 0.333333 and 0.666667.
	b := serving.NewEventTally([]serving.TokenPayout{{Token: 20, Outcome: 0, Payout: 333_333}, {Token: 21, Outcome: 1, Payout: 666_667},
		{Token: 22, Outcome: 1, Payout: 666_667}}, []data.WalletID{7})
	// Wallet 1 has 2 millionths of the first and 1 of the second: 0.666666 + 0.666667 = 1.333333 millionths pay 1.
	b.Add(20, 1, serving.EventSum{Fills: 2, Net: 2, BuyShares: 3, BuyUSD: 5, SellUSD: 1, FeeUSD: 1})
	b.Add(21, 1, serving.EventSum{Fills: 1, Net: -1, SellUSD: 3})
	b.Add(22, 1, serving.EventSum{Fills: 1, Net: 2, BuyShares: 2, BuyUSD: 2})
	// Wallet 2 sold all that it had bought of the first and is short of two of the second: it owes
	// 1.333334 millionths.
	b.Add(20, 2, serving.EventSum{Fills: 2, BuyShares: 9, BuyUSD: 4, SellUSD: 6})
	b.Add(21, 2, serving.EventSum{Fills: 1, Net: -2, SellUSD: 1})
	// Of wallet 3 everything is subtracted; wallet 7 is the venue's own; token 99 belongs to
	// another market.
	b.Add(20, 3, serving.EventSum{Fills: 1, Net: 4, BuyShares: 4, BuyUSD: 2})
	b.Add(20, 3, serving.EventSum{Fills: -1, Net: -4, BuyShares: -4, BuyUSD: -2})
	b.Add(20, 7, serving.EventSum{Fills: 1, Net: 1})
	b.Add(99, 1, serving.EventSum{Fills: 1, Net: 1})
	want := serving.Holders{
		{Wallet: 1, Outcome: 0, Net: 2, BuyShares: 3, BuyUSD: 5, SellUSD: 1, NetCash: -5, RealPnL: -5 + 1 + 1},
		{Wallet: 1, Outcome: 1, Net: 1, BuyShares: 2, BuyUSD: 2, SellUSD: 3, NetCash: 1, RealPnL: -5 + 1 + 1},
		{Wallet: 2, Outcome: 1, Net: -2, SellUSD: 1, NetCash: 1, RealPnL: 2 + 1 - 1},
	}
	got := b.Holders()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if none := serving.NewEventTally(nil, nil).Holders(); len(none) != 0 {
		t.Errorf("a market nobody traded is held: %+v", none)
	}
}
