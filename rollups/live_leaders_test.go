package rollups

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pmx/data"
)

// However figures change, appear and disappear, many of them equal, the result equals a complete
// ranking.
func TestLeadersEqualAFullRanking(t *testing.T) {
	const size = 5
	looked := 0 // how often everybody was ranked
	calls := 0
	rapid.Check(t, func(rt *rapid.T) {
		figures := map[int32]data.Micro{}
		span := rapid.SampledFrom([]int64{3, 1000}).Draw(rt, "span")
		figure := rapid.Int64Range(-span, span)
		for id := range int32(rapid.IntRange(0, 60).Draw(rt, "at first")) {
			figures[id] = data.Micro(figure.Draw(rt, "figure"))
		}
		ranks := 0
		var b leaders
		c := &contest{
			all: func(yield func(int32, data.Micro) bool) {
				ranks++
				for id, f := range figures {
					if !yield(id, f) {
						return
					}
				}
			},
			figure:  func(id int32) (data.Micro, bool) { f, there := figures[id]; return f, there },
			compare: func(x, y int32) int { return cmp.Or(cmp.Compare(figures[y], figures[x]), cmp.Compare(x, y)) },
		}
		for range rapid.IntRange(1, 20).Draw(rt, "batches") {
			for range rapid.IntRange(0, 12).Draw(rt, "changes") {
				id := rapid.Int32Range(0, 80).Draw(rt, "id")
				if rapid.IntRange(0, 4).Draw(rt, "gone") == 0 {
					delete(figures, id)
				} else {
					figures[id] = data.Micro(figure.Draw(rt, "figure"))
				}
				b.touch(id)
			}
			want := make([]int32, 0, len(figures))
			for id := range figures {
				want = append(want, id)
			}
			slices.SortFunc(want, c.compare)
			want = want[:min(size, len(want))]
			if got := b.first(size, c); !slices.Equal(got, want) {
				rt.Fatalf("%v come first, want %v of %v", got, want, figures)
			}
			calls++
		}
		looked += ranks / 2
	})
	if calls > 100 && looked >= calls/2 { // a short run has few
		t.Errorf("everybody was looked at for %d of %d lists", looked, calls)
	}
}
