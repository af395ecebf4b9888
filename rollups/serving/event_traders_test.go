package serving_test

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
	"pmx/rollups/serving"
)

// For few wallets among many as for a venue's first ones.
func TestAnEventTallyValuesEachMarketOnceAndEachWalletOverAll(t *testing.T) {
	for _, first := range []data.WalletID{0, 1_000_000} {
		checkEventTally(t, first)
	}
}

// checkEventTally adds up the fills of wallets whose ids are above first.
func checkEventTally(t *testing.T, first data.WalletID) {
	t.Helper()
	// Market 1 paid its first outcome in full; market 2 paid 0.333333 and 0.666667;
	// market 3 is not resolved.
	tokens := []serving.TokenPayout{
		{Token: 10, Market: 1, Outcome: 0, Payout: 1_000_000}, {Token: 11, Market: 1, Outcome: 1, Payout: 0},
		{Token: 20, Market: 2, Outcome: 0, Payout: 333_333}, {Token: 21, Market: 2, Outcome: 1, Payout: 666_667},
		{Token: 30, Market: 3, Outcome: 0, Payout: serving.NoValue},
	}
	b := serving.NewEventTally(tokens, []data.WalletID{first + 7})
	// Wallet 1 won 3 tokens for 2 dollars, kept half a millionth of 1 dollar and a
	// half in market 2, which is rounded once: 2·0.333333 + 1·0.666667 millionths.
	b.Add(10, first+1, serving.EventSum{Fills: 2, Net: 3_000_000, BuyUSD: 2_000_000})
	b.Add(20, first+1, serving.EventSum{Fills: 1, Net: 2, BuyUSD: 5})
	b.Add(21, first+1, serving.EventSum{Fills: 1, Net: 1, SellUSD: 3, FeeUSD: 1})
	// Wallet 2 sold outcomes short that paid, in two sums of one token, and holds tokens of market
	// 3.
	b.Add(10, first+2, serving.EventSum{Fills: 1, Net: -1_500_000, SellUSD: 900_000})
	b.Add(10, first+2, serving.EventSum{Fills: 1, Net: 500_000, BuyUSD: 250_000})
	b.Add(30, first+2, serving.EventSum{Fills: 4, Net: 9_000_000, BuyUSD: 4_500_000})
	// Of wallet 3 everything is subtracted, of wallet 4 one of two markets.
	b.Add(11, first+3, serving.EventSum{Fills: 1, Net: 1_000_000, BuyUSD: 600_000})
	b.Add(11, first+3, serving.EventSum{Fills: -1, Net: -1_000_000, BuyUSD: -600_000})
	b.Add(11, first+4, serving.EventSum{Fills: 1, Net: 1_000_000, BuyUSD: 600_000})
	b.Add(30, first+4, serving.EventSum{Fills: 1, Net: 1_000_000, BuyUSD: 500_000})
	b.Add(30, first+4, serving.EventSum{Fills: -1, Net: -1_000_000, BuyUSD: -500_000})
	// Wallet 7 is the venue's own, token 99 belongs to another event.
	b.Add(10, first+7, serving.EventSum{Fills: 1, Net: 1_000_000, BuyUSD: 1})
	b.Add(99, first+1, serving.EventSum{Fills: 1, Net: 1_000_000, BuyUSD: 1})

	want := serving.EventTraders{Total: 3, Rows: []serving.EventTrader{
		// 0.666666 + 0.666667 = 1.333333 millionths are 1; cash in market 2 is −3.
		{Wallet: first + 1, NetCash: -2_000_003, Redemption: 3_000_001, BuyUSD: 2_000_005, SellUSD: 3, Fills: 4, Markets: 2, ResolvedMarkets: 2, WinningMarkets: 1},
		{Wallet: first + 4, NetCash: -600_000, BuyUSD: 600_000, Fills: 1, Markets: 1, ResolvedMarkets: 1},
		// 0.65 dollars of cash minus one token owed at 1 dollar.
		{Wallet: first + 2, NetCash: 650_000 - 4_500_000, Redemption: -1_000_000, BuyUSD: 4_750_000, SellUSD: 900_000, Fills: 6, Markets: 2, ResolvedMarkets: 1},
	}}
	got := b.First(&serving.Snapshot{}, 10)
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The first traders are the first of all in order, however many are requested.
func TestTheFirstTradersOfAnEventAreThoseOfAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		snap := &serving.Snapshot{}
		wallets := serving.NewWalletBuilder(0)
		rows := make([]serving.EventTrader, rapid.IntRange(0, 60).Draw(t, "traders"))
		for i := range rows {
			wallets.Wallets().Add(data.Address{byte(i * 37), byte(i)})
			rows[i] = serving.EventTrader{Wallet: data.WalletID(i), Fills: 1, Redemption: data.Micro(rapid.IntRange(0, 5).Draw(t, "redemption")),
				BuyUSD: data.Micro(rapid.IntRange(0, 2).Draw(t, "volume"))}
		}
		wallets.Seal(snap)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "deal"), 3))
		sorted := func(n int) []serving.EventTrader {
			all := serving.EventTraders{Rows: slices.Clone(rows)}
			rng.Shuffle(len(rows), func(i, j int) { all.Rows[i], all.Rows[j] = all.Rows[j], all.Rows[i] })
			all.Sort(snap, n)
			return all.Rows
		}
		all := sorted(100)
		if len(all) != len(rows) {
			t.Fatalf("%d of %d are left", len(all), len(rows))
		}
		for i := 1; i < len(all); i++ {
			x, y := all[i-1], all[i]
			a, b := snap.WalletAt(x.Wallet), snap.WalletAt(y.Wallet)
			if cmp.Or(-cmp.Compare(x.RealPnL(), y.RealPnL()), -cmp.Compare(x.Volume(), y.Volume()), bytes.Compare(a[:], b[:])) >= 0 {
				t.Fatalf("%+v before %+v", x, y)
			}
		}
		n := rapid.IntRange(1, 40).Draw(t, "first")
		if got := sorted(n); !slices.Equal(got, all[:min(n, len(all))]) {
			t.Fatalf("the first %d are %+v, of all %+v", n, got, all)
		}
	})
}

func TestAnEventTallyWithoutFillsHasNoTraders(t *testing.T) {
	b := serving.NewEventTally([]serving.TokenPayout{{Token: 1, Market: 1}}, nil)
	if got := b.First(&serving.Snapshot{}, 10); got.Total != 0 || len(got.Rows) != 0 {
		t.Errorf("%+v", got)
	}
}

// Of one market, however many wallets traded it.
func TestAMarketOfManyTradersIsAddedUp(t *testing.T) {
	const wallets = 60_000
	b := serving.NewEventTally([]serving.TokenPayout{{Token: 1, Market: 1}}, nil)
	for i := range wallets {
		b.Add(1, data.WalletID(i), serving.EventSum{Fills: 1, BuyUSD: data.Micro(i)})
	}
	if n := b.First(&serving.Snapshot{}, 1).Total; n != wallets {
		t.Errorf("%d traders of %d", n, wallets)
	}
}

// Sums are added up by wallet in any order and in parts, however many there are and whatever the
// tally was used for before.
func TestTradersOfAnEventAreTheSumsByWallet(t *testing.T) {
	snap := &serving.Snapshot{}
	wallets := serving.NewWalletBuilder(0)
	for i := range 5_000 {
		wallets.Wallets().Add(data.Address{byte(i >> 8), byte(i)})
	}
	wallets.Seal(snap)
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "deal"), 5))
		spread := rapid.SampledFrom([]int32{1, 3, 700, 5_000}).Draw(t, "wallets")
		without := []data.WalletID{data.WalletID(rng.Int32N(spread)), 4_999}
		tally, want := serving.NewTraderTally(without), map[data.WalletID]serving.EventTrader{}
		for range rapid.IntRange(0, 4).Draw(t, "markets") {
			tally.NextMarket()
			fills := map[data.WalletID]int64{}
			for range rapid.IntRange(1, 3).Draw(t, "tokens") {
				sums := make([]serving.WalletSum, rapid.SampledFrom([]int{0, 1, 20, 3_000}).Draw(t, "sums"))
				for i := range sums {
					sums[i] = serving.WalletSum{Wallet: data.WalletID(rng.Int32N(spread)), EventSum: serving.EventSum{Fills: rng.Int64N(3), Net: 7, BuyUSD: data.Micro(rng.Int64N(9))}}
					fills[sums[i].Wallet] += sums[i].Fills
					if sums[i].Fills == 0 {
						sums[i].EventSum = serving.EventSum{} // no fills, no sums
					}
					w := want[sums[i].Wallet]
					w.Wallet, w.Fills, w.BuyUSD, w.NetCash = sums[i].Wallet, w.Fills+sums[i].Fills, w.BuyUSD+sums[i].BuyUSD, w.NetCash-sums[i].BuyUSD
					want[sums[i].Wallet] = w
				}
				tally.Add(serving.NoValue, sums)
			}
			for wallet, n := range fills {
				if n > 0 {
					w := want[wallet]
					w.Markets++
					want[wallet] = w
				}
			}
		}
		all := serving.EventTraders{}
		for wallet, w := range want {
			if w.Fills > 0 && !slices.Contains(without, wallet) {
				all.Rows = append(all.Rows, w)
			}
		}
		all.Total = len(all.Rows)
		n := rapid.IntRange(1, 300).Draw(t, "first")
		all.Sort(snap, n)
		if diff := gocmp.Diff(all, tally.First(snap, n)); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
	})
}
