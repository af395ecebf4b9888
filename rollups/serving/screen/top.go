package screen

import (
	"bytes"
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sync"

	"pmx/data"
)

// Order is by a figure, ties by lifetime volume, the greatest first, then by condition id. Markets
// whose figure is not known come last, whether or not Ascending is set.
type Order struct {
	Field     Field
	Ascending bool
}

// Place is a market's position in an order.
type Place struct {
	Value, Volume int64 // Value may be Null
	Condition     data.Hash
}

// key maps a value to one whose greatest comes first.
func (o Order) key(v int64) int64 {
	if o.Ascending && v != Null {
		return ^v
	}
	return v
}

// bound is the greatest key that chunk c may have.
func (o Order) bound(c *chunk) int64 {
	switch {
	case c.most[o.Field] == Null:
		return Null
	case o.Ascending:
		return ^c.least[o.Field]
	}
	return c.most[o.Field]
}

// last is the smallest key that chunk c may have.
func (o Order) last(c *chunk) int64 {
	switch {
	case c.nulls[o.Field]:
		return Null
	case o.Ascending:
		return ^c.most[o.Field]
	}
	return c.least[o.Field]
}

// PlaceOf returns the place of a market, which must exist.
func (c *Columns) PlaceOf(id int32, o Order, condition data.Hash) Place {
	return Place{Value: c.Value(id, o.Field), Volume: c.Value(id, Volume), Condition: condition}
}

// entry is a market while the first ones are picked.
type entry struct {
	key, volume     int64
	conditionPrefix uint64 // of the condition id
	id              int32
}

// picker keeps the first n of the entries passed to it, the last of them on top of a heap.
type picker struct {
	order       Order
	n           int
	heap        []entry
	condition   func(id int32) data.Hash
	after       *Place      // nil: from the start
	from        entry       // after
	tied        int64       // the last key that kept few rows out
	selectivity selectivity // of sift in the last chunk
	list        [chunkRows]uint16
}

// Top returns the first n markets that f keeps, in order o, after the place after unless that is
// nil. condition returns the condition id of a market.
func (c *Columns) Top(f *Filter, o Order, after *Place, n int, condition func(id int32) data.Hash) []int32 {
	return c.top(f, o, after, n, condition, parallelFrom)
}

// parallelFrom is the number of chunks from which a second processor pays.
const parallelFrom = 64

func (c *Columns) top(f *Filter, o Order, after *Place, n int, condition func(id int32) data.Hash, alone int) []int32 {
	if c == nil || n <= 0 {
		return nil
	}
	p := &picker{order: o, n: n, heap: make([]entry, 0, n), condition: condition, after: after}
	if after != nil {
		p.from = entry{key: o.key(after.Value), volume: after.Volume, conditionPrefix: conditionPrefix(after.Condition), id: -1}
	}
	s, list := c.filterScan(f), c.byBound(p)
	begin := min(alone, len(list))
	if p.scan(c, s, list[:begin]) && begin < len(list) {
		p.share(c, [2]*filterScan{s, c.filterScan(f)}, list[begin:])
	}
	slices.SortFunc(p.heap, p.compare)
	ids := make([]int32, len(p.heap))
	for i := range p.heap {
		ids[i] = p.heap[i].id
	}
	return ids
}

// share scans the chunks of list together with a second picker, which gets every other chunk, and
// merges what that one found.
func (p *picker) share(c *Columns, sieves [2]*filterScan, list []limit) {
	var halves [2][]limit
	for i, next := range list {
		halves[i%2] = append(halves[i%2], next)
	}
	other := *p
	other.heap = append(make([]entry, 0, p.n), p.heap...)
	var failed any
	var done sync.WaitGroup
	done.Go(func() {
		defer func() { failed = recover() }()
		other.scan(c, sieves[1], halves[1])
	})
	func() {
		defer done.Wait() // also if this one fails: the other reads what the caller releases
		p.scan(c, sieves[0], halves[0])
	}()
	if failed != nil {
		panic(failed) // in the goroutine that recovers
	}
	all := append(p.heap, other.heap...)
	slices.SortFunc(all, p.compare)
	all = slices.CompactFunc(all, func(a, b entry) bool { return a.id == b.id })
	p.heap = all[:min(p.n, len(all))]
}

// scan passes the rows of the chunks of list to p and reports whether chunks with later bounds may
// still have rows that get in.
func (p *picker) scan(c *Columns, s *filterScan, list []limit) bool {
	for _, next := range list {
		if p.full() && next.worse(&p.heap[0]) {
			return false
		}
		if chunk := c.chunks[next.chunk]; s.begin(chunk) {
			list := s.within(chunk, next.chunk)
			if p.full() && p.selectivity.below(s.selectivity) { // the more selective test goes first
				list = s.apply(chunk, p.sift(chunk, list))
			} else {
				list = p.sift(chunk, s.apply(chunk, list))
			}
			p.show(chunk, int32(next.chunk)<<chunkBits, list)
		}
	}
	return true
}

// limit is a bound that no row of a chunk comes before.
type limit struct {
	key, volume int64
	chunk       int
}

func (l *limit) worse(e *entry) bool {
	return l.key < e.key || l.key == e.key && l.volume < e.volume
}

// byBound lists the chunks that may have a row after p.after, ordered by the first row that they
// may have.
func (c *Columns) byBound(p *picker) []limit {
	list := make([]limit, 0, len(c.chunks))
	for i, chunk := range c.chunks {
		key := p.order.bound(chunk)
		if p.after != nil {
			if p.order.last(chunk) > p.from.key {
				continue
			}
			key = min(key, p.from.key)
		}
		list = append(list, limit{key, chunk.most[Volume], i})
	}
	slices.SortFunc(list, func(a, b limit) int {
		return cmp.Or(cmp.Compare(b.key, a.key), cmp.Compare(b.volume, a.volume))
	})
	return list
}

func (p *picker) full() bool { return len(p.heap) == p.n }

// compare is negative where a comes before b.
func (p *picker) compare(a, b entry) int {
	switch {
	case a.key != b.key:
		return cmp.Compare(b.key, a.key)
	case a.volume != b.volume:
		return cmp.Compare(b.volume, a.volume)
	case a.conditionPrefix != b.conditionPrefix:
		return cmp.Compare(a.conditionPrefix, b.conditionPrefix)
	}
	x, y := p.conditionOf(a.id), p.conditionOf(b.id)
	return bytes.Compare(x[:], y[:])
}

func (p *picker) conditionOf(id int32) data.Hash {
	if id < 0 {
		return p.after.Condition
	}
	return p.condition(id)
}

// edges are the first and the last place with which a row gets in, as far as the prefixes of
// condition ids decide.
func (p *picker) edges() (first, last entry) {
	first = entry{key: math.MaxInt64}
	last = entry{key: math.MinInt64, volume: math.MinInt64, conditionPrefix: math.MaxUint64}
	if p.after != nil {
		first = p.from
	}
	if p.full() {
		last = p.heap[0]
	}
	return first, last
}

// sift keeps the rows of list that may get in. It does so without branches: if most keys are equal,
// the outcome of comparisons cannot be predicted.
func (p *picker) sift(c *chunk, list []uint16) []uint16 {
	if p.after == nil && !p.full() {
		return list
	}
	all := len(list)
	first, last := p.edges()
	if last.key != p.tied {
		if list = p.siftKeys(c, list, first.key, last.key); len(list) > all/2 {
			p.tied = last.key
		}
	}
	if len(list) > fewRows {
		list = p.siftTies(c, list, first, last)
	}
	if all > 0 {
		p.selectivity = selectivity{seen: all, passed: len(list)}
	}
	return list
}

// show takes the rows of list, which are of a chunk whose first id is base.
func (p *picker) show(c *chunk, base int32, list []uint16) {
	values, volumes := c.values[p.order.Field], c.values[Volume]
	for _, i := range list {
		i &= chunkRows - 1
		p.take(entry{p.order.key(values[i]), volumes[i], c.conditions[i], base + int32(i)})
	}
}

// fewRows are looked at one by one.
const fewRows = 8

// siftKeys keeps the rows whose key lies between last and first.
func (p *picker) siftKeys(c *chunk, list []uint16, first, last int64) []uint16 {
	values, width := c.values[p.order.Field], uint64(first)-uint64(last)
	flip := int64(0)
	if p.order.Ascending {
		flip = -1
	}
	n := 0
	for _, i := range list {
		v := values[i&(chunkRows-1)]
		key := v ^ flip
		if v == Null {
			key = Null
		}
		p.list[n&(chunkRows-1)] = i
		n += one(uint64(key)-uint64(last) <= width)
	}
	return p.list[:n]
}

// siftTies keeps the rows that are neither before first nor after last. A place is one long number
// here, the greatest of which comes first.
func (p *picker) siftTies(c *chunk, list []uint16, first, last entry) []uint16 {
	const sign = 1 << 63
	values, volumes, conditions := c.values[p.order.Field], c.values[Volume], c.conditions
	flip := int64(0)
	if p.order.Ascending {
		flip = -1
	}
	f0, f1, f2 := uint64(first.key)^sign, uint64(first.volume)^sign, ^first.conditionPrefix
	l0, l1, l2 := uint64(last.key)^sign, uint64(last.volume)^sign, ^last.conditionPrefix
	n := 0
	for _, i := range list {
		v := values[i&(chunkRows-1)]
		key := v ^ flip
		if v == Null {
			key = Null
		}
		r0, r1, r2 := uint64(key)^sign, uint64(volumes[i&(chunkRows-1)])^sign, ^conditions[i&(chunkRows-1)]
		_, before := bits.Sub64(f2, r2, 0)
		_, before = bits.Sub64(f1, r1, before)
		_, before = bits.Sub64(f0, r0, before)
		_, behind := bits.Sub64(r2, l2, 0)
		_, behind = bits.Sub64(r1, l1, behind)
		_, behind = bits.Sub64(r0, l0, behind)
		p.list[n&(chunkRows-1)] = i
		n += int(1 ^ (before | behind))
	}
	return p.list[:n]
}

// take keeps e if it comes after p.after and is one of the first.
func (p *picker) take(e entry) {
	if p.after != nil && p.compare(p.from, e) >= 0 {
		return
	}
	if !p.full() {
		p.heap = append(p.heap, e)
		for i := len(p.heap) - 1; i > 0; {
			parent := (i - 1) / 2
			if p.compare(p.heap[i], p.heap[parent]) <= 0 {
				return
			}
			p.heap[i], p.heap[parent] = p.heap[parent], p.heap[i]
			i = parent
		}
		return
	}
	if p.compare(e, p.heap[0]) >= 0 {
		return
	}
	p.heap[0] = e
	for i := 0; ; {
		last := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(p.heap) && p.compare(p.heap[child], p.heap[last]) > 0 {
				last = child
			}
		}
		if last == i {
			return
		}
		p.heap[i], p.heap[last] = p.heap[last], p.heap[i]
		i = last
	}
}
