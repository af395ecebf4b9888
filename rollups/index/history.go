package index

import "slices"

// Change is what is added to the flow of a bucket.
type Change struct {
	Bucket int32
	Flow   Flow
}

// History is the flow of every bucket from the first one on. The zero History is
// empty. It belongs to one goroutine.
type History struct {
	first int32
	sums  []Flow // sums[i]: all buckets up to first + i
}

// First is the bucket of the first fill; false if there is none.
func (h *History) First() (bucket int32, any bool) { return h.first, len(h.sums) > 0 }

// Apply adds changes, in any order. Its cost is proportional to the history after the oldest of
// them.
func (h *History) Apply(changes []Change) {
	if len(changes) == 0 {
		return
	}
	slices.SortFunc(changes, func(a, b Change) int { return int(a.Bucket) - int(b.Bucket) })
	lo, hi := changes[0].Bucket, changes[len(changes)-1].Bucket
	if len(h.sums) == 0 {
		h.first = lo
	}
	if lo < h.first {
		h.sums = append(make([]Flow, h.first-lo, int(h.first-lo)+len(h.sums)), h.sums...)
		h.first = lo
	}
	for n := h.first + int32(len(h.sums)); n <= hi; n++ {
		h.sums = append(h.sums, h.upTo(n-1))
	}
	running, next := Flow{}, 0
	for i := lo - h.first; int(i) < len(h.sums); i++ {
		for ; next < len(changes) && changes[next].Bucket == h.first+i; next++ {
			running = running.plus(changes[next].Flow)
		}
		h.sums[i] = h.sums[i].plus(running)
	}
	empty := 0 // buckets all of whose fills were removed
	for empty < len(h.sums) && h.sums[empty] == (Flow{}) {
		empty++
	}
	h.sums, h.first = h.sums[empty:], h.first+int32(empty)
}

// upTo is the flow of all buckets up to one.
func (h *History) upTo(bucket int32) Flow {
	if bucket < h.first || len(h.sums) == 0 {
		return Flow{}
	}
	return h.sums[min(int(bucket-h.first), len(h.sums)-1)]
}

// fillsUpTo is the fills of all buckets up to one.
func (h *History) fillsUpTo(bucket int32) int64 {
	if bucket < h.first || len(h.sums) == 0 {
		return 0
	}
	return h.sums[min(int(bucket-h.first), len(h.sums)-1)].Fills
}

// Inputs returns the inputs of the values at the instant of a bucket.
func (h *History) Inputs(bucket int32) Inputs {
	end := h.upTo(bucket - DayBuckets)
	in := Inputs{Last: h.upTo(bucket).minus(end), Base: end.minus(h.upTo(bucket - Reach))}
	later := end.Fills
	for n := int32(2); n <= BaseWindows+1; n++ {
		earlier := h.fillsUpTo(bucket - n*DayBuckets)
		if later != earlier {
			in.Windows++
		}
		later = earlier
	}
	return in
}
