package api

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pmx/data"
	"pmx/rollups/serving"
	"pmx/rollups/serving/screen"
	"pmx/rollups/serving/search"
)

// The first rows of a search are the first of all matches, whatever the limit: the test matches
// each market separately and sorts all.
func TestSearchGivesTheFirstOfAllThatMatch(t *testing.T) {
	words := []string{"trump", "trumps", "turmp", "win", "wins", "will", "w", "election", "elections", "2026"}
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 4).Draw(t, "text"), " ")
	})
	rapid.Check(t, func(t *rapid.T) {
		catalog, screener := serving.NewCatalogBuilder(), serving.NewScreenerBuilder()
		query := search.Words(text.Draw(t, "query"))
		status := rapid.Bool().Draw(t, "closed ones only")
		var class func(*screen.Class) bool
		if status {
			class = func(c *screen.Class) bool { return c.Status == string(serving.Closed) }
		}
		type match struct {
			hit
			day, ever data.Micro
			condition data.Hash
		}
		var want []match
		var w *marketEpoch
		for batch := range rapid.IntRange(1, 3).Draw(t, "batches") {
			for i := range rapid.IntRange(1, 25).Draw(t, "markets") {
				closed := rapid.Bool().Draw(t, "closed")
				id := int32(batch*2000 + i*50)
				m := &serving.Market{ID: id, Condition: data.Hash{byte(id * 7), byte(i), byte(batch)}, Question: text.Draw(t, "question"), EventTitle: text.Draw(t, "event"), Closed: &closed}
				f := serving.NewFigures(serving.TakerUSD)
				f.Volume24h, f.VolumeUSD = data.Micro(rapid.IntRange(0, 2).Draw(t, "day")), data.Micro(rapid.IntRange(2, 4).Draw(t, "ever"))
				catalog.Set(m)
				catalog.SetFigures(id, f)
				alone := search.NewBuilder()
				alone.Set(0, m.Question, m.EventTitle)
				found := alone.Seal().Find(query)
				for l := range search.Levels {
					if found.Level(l).Has(0) && (closed || !status) {
						want = append(want, match{hit{id, l}, f.Volume24h, f.VolumeUSD, m.Condition})
					}
				}
			}
			snap := &serving.Snapshot{Catalog: catalog.Seal()}
			snap.Screener = screener.Next(snap.Catalog)
			w = newMarketEpoch(snap, nil)
		}
		slices.SortFunc(want, func(a, b match) int {
			return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(b.day, a.day), cmp.Compare(b.ever, a.ever), bytes.Compare(a.condition[:], b.condition[:]))
		})
		n := rapid.IntRange(1, 40).Draw(t, "n")
		hits, total := w.find(query, class, n)
		if total != len(want) || len(hits) != min(n, len(want)) {
			t.Fatalf("%q: %d hits of %d, want %d", query, len(hits), total, len(want))
		}
		for i, h := range hits {
			if h != want[i].hit {
				t.Fatalf("%q: hit %d is %+v, want %+v", query, i, h, want[i].hit)
			}
		}
	})
}
