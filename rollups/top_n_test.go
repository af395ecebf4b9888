package rollups

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestTopIsTheBeginningOfAll: it keeps the first of all rows that are added, in order.
func TestTopIsTheBeginningOfAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfDistinct(rapid.IntRange(0, 1000), rapid.ID).Draw(t, "all")
		h := top[int]{n: rapid.IntRange(1, 20).Draw(t, "n"), less: func(a, b *int) int { return cmp.Compare(*a, *b) }}
		for i := range all {
			h.offer(&all[i])
			if h.full() && h.items[0] != slices.Max(h.items) {
				t.Fatalf("%d is on top of %v", h.items[0], h.items)
			}
		}
		slices.Sort(all)
		if got, want := h.sorted(), all[:min(h.n, len(all))]; !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}
