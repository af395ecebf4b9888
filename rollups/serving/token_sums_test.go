package serving_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
	"pmx/rollups/serving"
)

// drawnRand is a source of numbers that a case draws its own from.
func drawnRand(t *rapid.T) *rand.Rand {
	return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "deal"), 11))
}

// Sums of one wallet become one, and wallets ascend, whatever lists in order the sums consist of.
func TestSettledSumsAreInOrderWithOneOfEachWallet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := drawnRand(t)
		var sums []serving.WalletSum
		want := map[data.WalletID]serving.EventSum{}
		for range rapid.IntRange(0, 14).Draw(t, "lists") {
			from := len(sums)
			for range rapid.SampledFrom([]int{0, 1, 2, 9, 60, 400}).Draw(t, "sums") {
				s := serving.WalletSum{Wallet: data.WalletID(rng.Int32N(500)), EventSum: serving.EventSum{Fills: 1, Net: data.Micro(rng.Int64N(9)), BuyUSD: 2, FeeUSD: 1}}
				w := want[s.Wallet]
				w.Merge(&s.EventSum)
				sums, want[s.Wallet] = append(sums, s), w
			}
			if rapid.Bool().Draw(t, "ordered") {
				slices.SortFunc(sums[from:], func(x, y serving.WalletSum) int { return cmp.Compare(x.Wallet, y.Wallet) })
			}
		}
		got := serving.SettleWallets(sums)
		if len(got) != len(want) {
			t.Fatalf("%d sums of %d wallets", len(got), len(want))
		}
		for i, s := range got {
			if s.EventSum != want[s.Wallet] || i > 0 && got[i-1].Wallet >= s.Wallet {
				t.Fatalf("%+v after %+v, want %+v", s, got[max(i-1, 0)], want[s.Wallet])
			}
		}
	})
}

// Holders listed by sums in order are those of a tally: tokens may stand for the same outcome, and wallets may be left out.
func TestHoldersBySumsInOrderAreThoseOfATally(t *testing.T) {
	snap := &serving.Snapshot{}
	wallets := serving.NewWalletBuilder(0)
	for i := range 300 {
		wallets.Wallets().Add(data.Address{byte(i * 37), byte(i >> 3)})
	}
	wallets.Seal(snap)
	rapid.Check(t, func(t *rapid.T) {
		rng := drawnRand(t)
		var tokens []serving.TokenSums
		var payouts []serving.TokenPayout
		paid := map[int8]data.Micro{}
		for i := range rapid.IntRange(0, 4).Draw(t, "tokens") {
			outcome := int8(rapid.IntRange(-1, 2).Draw(t, "outcome"))
			if _, known := paid[outcome]; !known {
				paid[outcome] = rapid.SampledFrom([]data.Micro{serving.NoValue, 0, 333_333, 1_000_000}).Draw(t, "payout")
			}
			p := serving.TokenPayout{Token: data.TokenID(i), Market: 1, Outcome: outcome, Payout: paid[outcome]}
			payouts = append(payouts, p)
			sums := make([]serving.WalletSum, rapid.SampledFrom([]int{0, 1, 40, 600}).Draw(t, "sums"))
			for k := range sums {
				sums[k] = serving.WalletSum{Wallet: data.WalletID(rng.Int32N(300)), EventSum: serving.EventSum{Fills: 1, Net: data.Micro(rng.Int64N(7) - 3),
					BuyShares: data.Micro(rng.Int64N(3)), BuyUSD: data.Micro(rng.Int64N(3)), SellUSD: data.Micro(rng.Int64N(3)), FeeUSD: data.Micro(rng.Int64N(2))}}
			}
			tokens = append(tokens, serving.TokenSums{TokenPayout: p, Sums: serving.SettleWallets(sums)})
		}
		var without []data.WalletID
		for wallet := range data.WalletID(300) {
			if rng.IntN(9) == 0 {
				without = append(without, wallet)
			}
		}
		tally := serving.NewEventTally(payouts, without)
		for _, token := range tokens {
			for _, s := range token.Sums {
				tally.Add(token.Token, s.Wallet, s.EventSum)
			}
		}
		q := serving.HolderQuery{Outcome: rapid.IntRange(-1, 2).Draw(t, "listed"), Short: rapid.Bool().Draw(t, "short"), N: rapid.SampledFrom([]int{0, 1, 7, 1000}).Draw(t, "n")}
		want := tally.Holders().List(snap, q)
		rng.Shuffle(len(tokens), func(i, j int) { tokens[i], tokens[j] = tokens[j], tokens[i] })
		if diff := gocmp.Diff(want, serving.ListHolders(snap, tokens, without, q)); diff != "" {
			t.Fatalf("%+v (-tally +in order):\n%s", q, diff)
		}
		checkHolderOrder(t, snap, want, q)
	})
}

// checkHolderOrder holds the order of a list against its definition.
func checkHolderOrder(t *rapid.T, snap *serving.Snapshot, list serving.HolderList, q serving.HolderQuery) {
	if len(list.Rows) != min(q.N, list.Total) {
		t.Fatalf("%d of %d rows, want at most %d", len(list.Rows), list.Total, q.N)
	}
	for i, h := range list.Rows {
		if (h.Net < 0) != q.Short || h.Net == 0 || q.Outcome >= 0 && int(h.Outcome) != q.Outcome {
			t.Fatalf("%+v is not asked for", h)
		}
		if i == 0 {
			continue
		}
		o := list.Rows[i-1]
		a, b := snap.WalletAt(o.Wallet), snap.WalletAt(h.Wallet)
		if cmp.Or(cmp.Compare(max(h.Net, -h.Net), max(o.Net, -o.Net)), slices.Compare(a[:], b[:]), cmp.Compare(o.Outcome, h.Outcome)) >= 0 {
			t.Fatalf("%+v before %+v", o, h)
		}
	}
}

// Traders ranked by sums in order, block by block or as few among many, are those of a tally.
func TestTradersBySumsInOrderAreThoseOfATally(t *testing.T) {
	const wallets = 10_000
	snap := &serving.Snapshot{}
	builder := serving.NewWalletBuilder(0)
	for i := range wallets {
		builder.Wallets().Add(data.Address{byte(i * 37), byte(i >> 8), byte(i)})
	}
	builder.Seal(snap)
	rapid.Check(t, func(t *rapid.T) {
		rng := drawnRand(t)
		spread := rapid.SampledFrom([]int32{1, 40, 3_000, wallets}).Draw(t, "wallets")
		var without []data.WalletID
		for wallet := range data.WalletID(wallets) {
			if rng.IntN(20) == 0 {
				without = append(without, wallet)
			}
		}
		var tokens []serving.TokenSums
		tally := serving.NewTraderTally(without)
		for market := range rapid.Int32Range(0, 4).Draw(t, "markets") {
			tally.NextMarket()
			payout := rapid.SampledFrom([]data.Micro{serving.NoValue, 0, 333_333, 1_000_000}).Draw(t, "payout")
			for range rapid.IntRange(1, 3).Draw(t, "tokens") {
				sums := make([]serving.WalletSum, rapid.SampledFrom([]int{0, 1, 20, 3_000}).Draw(t, "sums"))
				for i := range sums {
					sums[i] = serving.WalletSum{Wallet: data.WalletID(rng.Int32N(spread))}
					if rng.IntN(3) > 0 { // else all of it was subtracted
						sums[i].EventSum = serving.EventSum{Fills: 1, Net: data.Micro(rng.Int64N(9) - 4), BuyUSD: data.Micro(rng.Int64N(3)), SellUSD: data.Micro(rng.Int64N(3)), FeeUSD: 1}
					}
				}
				sums = serving.SettleWallets(sums)
				tokens = append(tokens, serving.TokenSums{TokenPayout: serving.TokenPayout{Market: market, Payout: payout}, Sums: sums})
				tally.Add(payout, sums)
			}
		}
		n := rapid.SampledFrom([]int{1, 30, 1 << 20}).Draw(t, "first")
		before, from := serving.HalveTraders(tokens)
		halves, others := serving.RankTraders(snap, before, without, n), serving.RankTraders(snap, from, without, n)
		halves.Join(snap, others, n)
		first := serving.RankTraders(snap, tokens, without, n)
		if diff := gocmp.Diff(first, halves); diff != "" {
			t.Fatalf("the first %d (-at once +in halves):\n%s", n, diff)
		}
		if diff := gocmp.Diff(tally.First(snap, n), first); diff != "" {
			t.Fatalf("the first %d (-tally +in order):\n%s", n, diff)
		}
	})
}

// Candles by partial ones in order are those of a tally, from any candle on.
func TestCandlesByHoursInOrderAreThoseOfATally(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := drawnRand(t)
		hours := rapid.SampledFrom([]int64{1, 6, 24}).Draw(t, "hours")
		var tokens []serving.TokenHours
		var outcomes []serving.OutcomeToken
		for i := range rapid.IntRange(0, 4).Draw(t, "tokens") {
			token := serving.OutcomeToken{Token: data.TokenID(i), Outcome: int8(rapid.IntRange(-1, 2).Draw(t, "outcome"))}
			outcomes = append(outcomes, token)
			list := make([]serving.PartialCandle, rapid.IntRange(0, 50).Draw(t, "partials"))
			for k := range list {
				hour, price := rng.Int64N(60), data.Micro(rng.Int64N(9))
				list[k] = serving.PartialCandle{Token: token.Token, Hour: hour, Fills: rng.Int64N(3), First: serving.NoPlace, Last: serving.NoPlace}
				if rng.IntN(5) > 0 {
					at := serving.CandlePlace{TS: hour*3_600_000_000 + rng.Int64N(9), At: rng.Int64N(3)<<20 + int64(price)}
					list[k].First, list[k].Last, list[k].High, list[k].Low = at, at, price, price
				}
			}
			tokens = append(tokens, serving.TokenHours{OutcomeToken: token, Hours: serving.SettleHours(list)})
		}
		var after *serving.Candle
		if rapid.Bool().Draw(t, "after") {
			start := rng.Int64N(60)
			after = &serving.Candle{Start: start - start%hours, Outcome: int8(rng.IntN(4) - 1)}
		}
		tally := serving.NewCandleTally(outcomes, hours, after)
		for _, token := range tokens {
			for k := range token.Hours {
				tally.Add(&token.Hours[k])
			}
		}
		n := rapid.SampledFrom([]int{1, 5, 1000}).Draw(t, "n")
		rng.Shuffle(len(tokens), func(i, j int) { tokens[i], tokens[j] = tokens[j], tokens[i] })
		if diff := gocmp.Diff(tally.Newest(n), serving.NewestCandles(tokens, hours, after, n)); diff != "" {
			t.Fatalf("the first %d of %d hours after %+v (-tally +in order):\n%s", n, hours, after, diff)
		}
	})
}
