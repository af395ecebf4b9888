package ingest

import (
	"math/rand/v2"
	"testing"
)

// TestHashesAreFoundAgain compares hashIDs with a map, for hashes that are spread and for ones that belong in the same slots.
func TestHashesAreFoundAgain(t *testing.T) {
	for _, step := range []int64{1, 1 << 20, 1 << 62} {
		r := rand.New(rand.NewPCG(uint64(step), 103))
		var h hashIDs
		if h.find(1) != nil {
			t.Fatal("something has a hash before any was added")
		}
		want := map[int64]int32{}
		for range 5000 {
			hash := r.Int64N(4000) * step
			if _, twice := want[hash]; h.add(hash) == twice {
				t.Fatalf("step %d: %d was added before: %v", step, hash, twice)
			}
			if _, twice := want[hash]; !twice {
				want[hash] = int32(len(want) + 1)
				h.find(hash).id = -want[hash]
			}
		}
		for hash := range int64(4000) {
			found := h.find(hash * step)
			nth, added := want[hash*step]
			if added != (found != nil) || added && (found.mark != uint32(nth) || found.id != -nth) {
				t.Fatalf("step %d: %d is %+v; want the %dth", step, hash*step, found, nth)
			}
		}
	}
}
