package serving_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pmx/data"
	"pmx/rollups/serving"
)

// BenchmarkEventTraders ranks what the database has of a large event.
func BenchmarkEventTraders(b *testing.B) {
	for _, wallets := range []int32{1_000, 100_000} {
		var tokens []serving.TokenPayout
		for i := range 20 {
			tokens = append(tokens, serving.TokenPayout{Token: data.TokenID(i), Market: int32(i / 2), Outcome: int8(i % 2), Payout: data.Micro(i%2) * data.One})
		}
		rng := rand.New(rand.NewPCG(1, 2))
		type position struct {
			token  data.TokenID
			wallet data.WalletID
			sum    serving.EventSum
		}
		var positions []position
		for _, t := range tokens {
			for w := range wallets {
				if rng.IntN(10) == 0 {
					positions = append(positions, position{t.Token, data.WalletID(w * 3), serving.EventSum{Fills: 1 + rng.Int64N(5), Net: data.Micro(rng.Int64N(1e9)), BuyUSD: data.Micro(rng.Int64N(1e9)), SellUSD: data.Micro(rng.Int64N(1e9))}})
				}
			}
		}
		snap := &serving.Snapshot{}
		b.Run(fmt.Sprint(len(positions)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tally := serving.NewEventTally(tokens, nil)
				for i := range positions {
					tally.Add(positions[i].token, positions[i].wallet, positions[i].sum)
				}
				traders := tally.Traders()
				traders.Sort(snap, 250)
			}
		})
	}
}
