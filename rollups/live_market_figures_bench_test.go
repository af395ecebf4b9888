package rollups

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"pmx/data"
	"pmx/rollups/serving"
)

// BenchmarkCatalogOfABatch computes the figures of the markets that a batch of 10,000 fills
// touches, among 300,000, and publishes the catalog.
func BenchmarkCatalogOfABatch(b *testing.B) {
	const markets, fills = 300_000, 10_000
	for _, shape := range []struct {
		name    string
		markets int // that the batch and what leaves the windows touch
	}{{"in 2,000 markets", 2000}, {"in 10,000 markets", 10_000}} {
		b.Run(shape.name, func(b *testing.B) {
			l := &Live{liveData: liveData{catalog: serving.NewCatalogBuilder(), day: newDayTraders(), whaleFlows: map[data.TokenID]data.Micro{}}}
			for id := range int32(markets) {
				m := &serving.Market{ID: id, Question: "Will it?", EventSlug: fmt.Sprint("event-", id/4), Outcomes: []string{"Yes", "No"}}
				binary.BigEndian.PutUint32(m.Condition[8:], uint32(id))
				l.catalog.Set(m)
				for outcome := range int8(2) {
					token := data.TokenID(len(l.tokens))
					t := tokenLifetime{market: id, outcome: outcome, legs: legs{TakerFills: 1, TakerUSD: 5, TakerShares: 9}, firstTS: 1, lastTS: 2}
					l.tokens = append(l.tokens, t)
					l.catalog.Map(token, serving.TokenRef{Market: id, Outcome: outcome, ID: "1"})
					if id > markets/2 {
						*l.tokenWindows[serving.Month].rows.edit(int32(token)) = legs{TakerFills: 1, TakerUSD: 5, TakerShares: 9}
					}
				}
			}
			l.refresh()
			l.catalog.Seal()
			rng := rand.New(rand.NewPCG(1, 2))
			b.ReportAllocs()
			for b.Loop() {
				for range fills {
					token := data.TokenID(rng.IntN(2*shape.markets)) * data.TokenID(markets/shape.markets)
					l.tokens[token].TakerUSD++
					l.catalog.Touch(l.tokens[token].market)
				}
				l.refresh()
				l.catalog.Seal()
			}
		})
	}
}
