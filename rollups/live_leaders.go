package rollups

import (
	"iter"
	"math"
	"slices"

	"pmx/data"
)

// leaders keeps those with the greatest figures in order, at a cost proportional to the changes. Of
// all others it knows only that their figure is at most bound. The zero value has ranked nobody
// yet.
type leaders struct {
	ranked  []int32    // all whose figure is greater than bound, in order
	bound   data.Micro // math.MinInt64: nobody is left out
	touched []int32    // ids whose figure, or whose order among equal figures, may have changed
	ready   bool
}

// contest is what leaders are ranked by.
type contest struct {
	// all gives every id once, with its figure.
	all iter.Seq2[int32, data.Micro]
	// figure gives the figure of an id; false if it is no longer ranked.
	figure func(id int32) (data.Micro, bool)
	// compare is a total order, the greatest figure first.
	compare func(a, b int32) int
}

// mostTouched is the number of changes above which everybody is ranked again.
const mostTouched = 1 << 17

// touch notes that the place of id may have changed.
func (b *leaders) touch(id int32) {
	if b.ready {
		b.touched = append(b.touched, id)
	}
}

// first returns the first n, in order. The list must not be changed, and is valid until the next
// call.
func (b *leaders) first(n int, c *contest) []int32 {
	if b.ready && len(b.touched) <= mostTouched {
		b.follow(n, c)
	}
	if !b.ready || len(b.touched) > 0 || len(b.ranked) < n && b.bound > math.MinInt64 {
		b.rank(n, c)
	}
	return b.ranked[:min(n, len(b.ranked))]
}

// follow moves what was touched to its new place.
func (b *leaders) follow(n int, c *contest) {
	if len(b.touched) == 0 {
		return
	}
	slices.Sort(b.touched)
	b.touched = slices.Compact(b.touched)
	if len(b.touched) > 8*n { // inserting them one by one would take longer
		b.rank(n, c)
		return
	}
	b.ranked = slices.DeleteFunc(b.ranked, func(id int32) bool {
		_, changed := slices.BinarySearch(b.touched, id)
		return changed
	})
	for _, id := range b.touched {
		if figure, there := c.figure(id); there && (figure > b.bound || b.bound == math.MinInt64) {
			at, _ := slices.BinarySearchFunc(b.ranked, id, c.compare)
			b.ranked = slices.Insert(b.ranked, at, id)
		}
	}
	b.touched = b.touched[:0]
	if len(b.ranked) > 4*n {
		b.cut(n, c)
	}
}

// cut drops most of those after the first n.
func (b *leaders) cut(n int, c *contest) {
	bound, _ := c.figure(b.ranked[2*n])
	end, _ := slices.BinarySearchFunc(b.ranked, bound, func(id int32, bound data.Micro) int {
		if figure, _ := c.figure(id); figure > bound {
			return -1
		}
		return 1
	})
	if end >= n { // else too many are equal to bound
		b.ranked, b.bound = b.ranked[:end], bound
	}
}

// rank ranks everybody.
func (b *leaders) rank(n int, c *contest) {
	b.ranked, b.touched, b.bound, b.ready = nil, nil, math.MinInt64, true
	most := top[data.Micro]{n: 2*n + 1, less: func(x, y *data.Micro) int { return int(min(max(*y-*x, -1), 1)) }}
	for _, figure := range c.all {
		if !most.full() || figure > most.items[0] {
			most.offer(&figure)
		}
	}
	if most.full() {
		b.bound = most.items[0]
		above := 0
		for _, figure := range most.items {
			if figure > b.bound {
				above++
			}
		}
		if above < n && b.bound > math.MinInt64 { // keep those that are equal to it, too
			b.bound--
		}
	}
	for id, figure := range c.all {
		if figure > b.bound || b.bound == math.MinInt64 {
			b.ranked = append(b.ranked, id)
		}
	}
	slices.SortFunc(b.ranked, c.compare)
}
