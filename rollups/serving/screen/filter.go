package screen

import "math/bits"

// Set is a set of market ids, one bit each; ids beyond its end are not in it.
type Set = []uint64

// Range keeps the markets whose figure is known and between Least and Most, inclusive.
type Range struct {
	Field       Field
	Least, Most int64
}

// Filter keeps the markets that pass all of its conditions; the zero Filter keeps all.
type Filter struct {
	Class  func(c *Class) bool // nil: any
	Tags   []string            // has any of these; nil: may have none
	NoTags []string            // has none of these
	Within []Set               // is in all of these
	Ranges []Range
}

// predicate is a condition of a filter that is tested row by row.
type predicate struct {
	rows  *Range // nil: by names
	tags  bool   // names are tag sets, not classes
	names []bool
	selectivity
}

// selectivity is how many rows were tested, and how many of them passed.
type selectivity struct{ seen, passed int }

// below reports whether r lets fewer rows through than o.
func (r selectivity) below(o selectivity) bool { return r.passed*o.seen < o.passed*r.seen }

func (r *selectivity) note(seen, passed int) { r.seen, r.passed = r.seen+seen, r.passed+passed }

// filterScan applies a filter chunk by chunk. It tests the most selective predicate so far first.
type filterScan struct {
	filter      *Filter
	predicates  []*predicate
	here        []*predicate      // those of tests that this chunk needs
	selectivity selectivity       // of all tests together
	every       [chunkRows]uint16 // all places of a chunk
	list        [chunkRows]uint16
}

func (c *Columns) filterScan(f *Filter) *filterScan {
	s := &filterScan{filter: f}
	for i := range s.every {
		s.every[i] = uint16(i)
	}
	if f.Class != nil {
		keep := make([]bool, len(c.classes))
		for i := 1; i < len(keep); i++ {
			keep[i] = f.Class(&c.classes[i])
		}
		s.predicates = append(s.predicates, &predicate{names: keep})
	}
	if f.Tags != nil || f.NoTags != nil {
		s.predicates = append(s.predicates, &predicate{tags: true, names: c.tagSetsOf(f)})
	}
	for i := range f.Ranges {
		s.predicates = append(s.predicates, &predicate{rows: &f.Ranges[i]})
	}
	return s
}

// tagSetsOf reports which tag sets f keeps.
func (c *Columns) tagSetsOf(f *Filter) []bool {
	keep := make([]bool, len(c.tagSets))
	if f.Tags == nil {
		for i := range keep {
			keep[i] = true
		}
	}
	for _, tag := range f.Tags {
		for _, i := range c.tagged[tag] {
			keep[i] = true
		}
	}
	for _, tag := range f.NoTags {
		for _, i := range c.tagged[tag] {
			keep[i] = false
		}
	}
	return keep
}

// begin picks the tests that chunk c needs; false if it has no row to keep.
func (s *filterScan) begin(c *chunk) bool {
	s.here = s.here[:0]
	for _, t := range s.predicates {
		if r := t.rows; r != nil {
			least, most := c.least[r.Field], c.most[r.Field]
			if least > r.Most || most < r.Least {
				return false
			}
			if least >= r.Least && most <= r.Most && !c.nulls[r.Field] {
				continue
			}
		}
		s.here = append(s.here, t)
	}
	return c.rows > 0
}

// keep lists the places of the rows of chunk n that the filter keeps.
func (s *filterScan) keep(c *chunk, n int) []uint16 { return s.apply(c, s.within(c, n)) }

// apply keeps the rows of list that pass the predicates of the chunk that was begun.
func (s *filterScan) apply(c *chunk, list []uint16) []uint16 {
	all := len(list)
	for i, t := range s.here {
		if len(list) == 0 {
			break
		}
		before := len(list)
		list = t.apply(c, &s.list, list)
		t.note(before, len(list))
		if i > 0 {
			s.prefer(t)
		}
	}
	s.selectivity.note(all, len(list))
	return list
}

// prefer moves t before its predecessor, if that one lets more rows through.
func (s *filterScan) prefer(t *predicate) {
	for i := 1; i < len(s.predicates); i++ {
		if o := s.predicates[i-1]; s.predicates[i] == t && t.below(o.selectivity) {
			s.predicates[i-1], s.predicates[i] = t, o
		}
	}
}

// within lists the places of the markets that exist and are in the filter's sets.
func (s *filterScan) within(c *chunk, at int) []uint16 {
	list := s.list[:0]
	if len(s.filter.Within) == 0 {
		if c.rows == chunkRows {
			return s.every[:]
		}
		for i, class := range c.class {
			if class != 0 {
				list = append(list, uint16(i))
			}
		}
		return list
	}
	const words = chunkRows / 64
	for w := range words {
		left := ^uint64(0)
		for _, set := range s.filter.Within {
			if i := at*words + w; i < len(set) {
				left &= set[i]
			} else {
				left = 0
			}
		}
		list = s.spread(list, left, w<<6)
	}
	if c.rows == chunkRows {
		return list
	}
	n := 0
	for _, i := range list {
		list[n] = i
		n += one(c.class[i&(chunkRows-1)] != 0)
	}
	return list[:n]
}

// spread adds the places of the bits of word, the first of which is at.
func (s *filterScan) spread(list []uint16, word uint64, at int) []uint16 {
	if bits.OnesCount64(word) < 24 {
		for ; word != 0; word &= word - 1 {
			list = append(list, uint16(at+bits.TrailingZeros64(word)))
		}
		return list
	}
	n := len(list)
	for i := range uint16(64) {
		s.list[n&(chunkRows-1)] = uint16(at) + i
		n += int(word & 1)
		word >>= 1
	}
	return s.list[:n]
}

// apply puts those rows of list that pass into kept, which may overlap list.
func (t *predicate) apply(c *chunk, kept *[chunkRows]uint16, list []uint16) []uint16 {
	n := 0
	if t.rows == nil {
		names, keep := c.class, t.names
		if t.tags {
			names = c.tags
		}
		for _, i := range list {
			kept[n&(chunkRows-1)] = i
			n += one(keep[names[i&(chunkRows-1)]])
		}
		return kept[:n]
	}
	values, least := c.values[t.rows.Field], uint64(t.rows.Least)
	width := uint64(t.rows.Most) - least
	for _, i := range list {
		kept[n&(chunkRows-1)] = i
		n += one(uint64(values[i&(chunkRows-1)])-least <= width)
	}
	return kept[:n]
}

// one is 1 for true, without a branch.
func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Count is how many markets f keeps.
func (c *Columns) Count(f *Filter) int {
	if c == nil {
		return 0
	}
	count, s := 0, c.filterScan(f)
	for n, chunk := range c.chunks {
		if s.begin(chunk) {
			count += len(s.keep(chunk, n))
		}
	}
	return count
}
