package screen

import (
	"cmp"
	"slices"
)

// Sum is the number of markets of some kind, and what was traded in them.
type Sum struct {
	Markets   int64
	Volume24h int64 // millionths of a dollar
}

func (s *Sum) add(o Sum) {
	s.Markets += o.Markets
	s.Volume24h += o.Volume24h
}

// Facet is the Sum of the markets that share a name; "" has those without one.
type Facet struct {
	Name string
	Sum
}

// PriceBuckets divide the prices from 0 to 1 evenly; the last one includes 1.
const PriceBuckets = 10

// Summary sums up markets. Sums of figures leave out unknown values.
type Summary struct {
	Sum
	Volume7d, Volume30d, Volume int64
	Liquidity, LiquidityKnown   int64 // LiquidityKnown: markets whose liquidity is known
	Categories, Statuses, Tags  []Facet
	Prices                      [PriceBuckets]Sum
	NoPrice                     Sum
	Ends                        []Sum // by the bounds passed to Summarize; the last is after all of them
	NoEnd                       Sum
}

// Summarize sums up the markets that f keeps. ends are ascending times: Ends[i] has the markets
// that end before ends[i] and in no bucket before it.
func (c *Columns) Summarize(f *Filter, ends []int64) *Summary {
	t := &Summary{Ends: make([]Sum, len(ends)+1)}
	if c == nil {
		return t
	}
	classes, tagSets := make([]Sum, len(c.classes)), make([]Sum, len(c.tagSets))
	s := c.filterScan(f)
	for n, chunk := range c.chunks {
		if s.begin(chunk) {
			kept := s.keep(chunk, n)
			t.add(chunk, kept, ends)
			addNames(chunk, kept, classes, tagSets)
		}
	}
	t.facets(c, classes, tagSets)
	return t
}

// addNames adds the rows of kept to the sums of their classes and tag sets.
func addNames(c *chunk, kept []uint16, classes, tagSets []Sum) {
	for _, i := range kept {
		i &= chunkRows - 1
		for _, sum := range [2]*Sum{&classes[c.class[i]], &tagSets[c.tags[i]]} {
			sum.Markets++
			sum.Volume24h += c.values[Volume24h][i]
		}
	}
}

func (t *Summary) add(c *chunk, kept []uint16, ends []int64) {
	v := &c.values
	for _, i := range kept {
		i &= chunkRows - 1
		day := v[Volume24h][i]
		t.Markets++
		t.Volume24h += day
		t.Volume7d += v[Volume7d][i]
		t.Volume30d += v[Volume30d][i]
		t.Volume += v[Volume][i]
		if l := v[Liquidity][i]; l != Null {
			t.Liquidity += l
			t.LiquidityKnown++
		}
		price, end := &t.NoPrice, &t.NoEnd
		if p := v[Price][i]; p != Null {
			price = &t.Prices[min(max(p/(1_000_000/PriceBuckets), 0), PriceBuckets-1)]
		}
		if at := v[EndDate][i]; at != Null {
			n := 0
			for n < len(ends) && at >= ends[n] {
				n++
			}
			end = &t.Ends[n]
		}
		for _, sum := range [2]*Sum{price, end} {
			sum.Markets++
			sum.Volume24h += day
		}
	}
}

// facets sums up the classes by category and by status, and the tag sets by tag.
func (t *Summary) facets(c *Columns, classes, tagSets []Sum) {
	categories, statuses, tags := map[string]Sum{}, map[string]Sum{}, map[string]Sum{}
	for i, sum := range classes {
		if sum.Markets > 0 {
			note(categories, c.classes[i].Category, sum)
			note(statuses, c.classes[i].Status, sum)
		}
	}
	for i, sum := range tagSets {
		if sum.Markets > 0 {
			for _, tag := range c.tagSets[i] {
				note(tags, tag, sum)
			}
		}
	}
	t.Categories, t.Statuses, t.Tags = ranked(categories), ranked(statuses), ranked(tags)
}

func note(m map[string]Sum, name string, sum Sum) {
	sum.add(m[name])
	m[name] = sum
}

// ranked lists facets by markets, ties by name.
func ranked(m map[string]Sum) []Facet {
	list := make([]Facet, 0, len(m))
	for name, sum := range m {
		list = append(list, Facet{name, sum})
	}
	slices.SortFunc(list, func(a, b Facet) int {
		return cmp.Or(cmp.Compare(b.Markets, a.Markets), cmp.Compare(a.Name, b.Name))
	})
	return list
}
