package serving_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pmx/data"
	"pmx/rollups/serving"
)

// BenchmarkEventTraders ranks the traders of a large event, of ten markets with two tokens each.
func BenchmarkEventTraders(b *testing.B) {
	for _, wallets := range []int32{1_000, 100_000} {
		rng := rand.New(rand.NewPCG(1, 2))
		tokens, all := make([][]serving.WalletSum, 20), 0
		for i := range tokens {
			for w := range wallets {
				if rng.IntN(10) == 0 {
					tokens[i] = append(tokens[i], serving.WalletSum{Wallet: data.WalletID(w * 3), EventSum: serving.EventSum{Fills: 1 + rng.Int64N(5), Net: data.Micro(rng.Int64N(1e9)), BuyUSD: data.Micro(rng.Int64N(1e9)), SellUSD: data.Micro(rng.Int64N(1e9))}})
				}
			}
			all += len(tokens[i])
		}
		snap := &serving.Snapshot{}
		b.Run(fmt.Sprint(all), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tally := serving.NewTraderTally(nil)
				for i, sums := range tokens {
					if i%2 == 0 {
						tally.NextMarket()
					}
					tally.Add(data.Micro(i%2)*data.One, sums)
				}
				tally.First(snap, 250)
			}
		})
	}
}
