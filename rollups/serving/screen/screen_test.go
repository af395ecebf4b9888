package screen_test

import (
	"bytes"
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"pmx/data"
	"pmx/rollups/serving/screen"
)

// venue is the markets of a test by id; nil if there is none.
type venue []*screen.Row

func (v venue) condition(id int32) data.Hash { return v[id].Condition }

// ids lists the markets that f selects, by testing each.
func (v venue) ids(f *screen.Filter) []int32 {
	var list []int32
	for id, r := range v {
		if r != nil && keeps(f, int32(id), r) {
			list = append(list, int32(id))
		}
	}
	return list
}

func keeps(f *screen.Filter, id int32, r *screen.Row) bool {
	if f.Class != nil && !f.Class(&r.Class) {
		return false
	}
	has := func(tag string) bool { return slices.Contains(r.Tags, tag) }
	if f.Tags != nil && !slices.ContainsFunc(f.Tags, has) || slices.ContainsFunc(f.NoTags, has) {
		return false
	}
	for _, set := range f.Within {
		if int(id/64) >= len(set) || set[id/64]>>(id%64)&1 == 0 {
			return false
		}
	}
	for _, r2 := range f.Ranges {
		if v := r.Values[r2.Field]; v == screen.Null || v < r2.Least || v > r2.Most {
			return false
		}
	}
	return true
}

// sorted puts ids in order o.
func (v venue) sorted(ids []int32, o screen.Order) []int32 {
	slices.SortFunc(ids, func(a, b int32) int {
		x, y := v[a], v[b]
		p, q := x.Values[o.Field], y.Values[o.Field]
		byValue := cmp.Compare(q, p)
		switch {
		case p == q:
			byValue = 0
		case p == screen.Null:
			byValue = 1
		case q == screen.Null:
			byValue = -1
		case o.Ascending:
			byValue = -byValue
		}
		return cmp.Or(byValue, cmp.Compare(y.Values[screen.Volume], x.Values[screen.Volume]), bytes.Compare(x.Condition[:], y.Condition[:]))
	})
	return ids
}

// hash returns condition ids, many of which have the same first eight bytes.
func hash(id int, salt byte) data.Hash {
	return data.Hash{0: salt % 3, 20: byte(id >> 8), 31: byte(id)}
}

func drawRow(t *rapid.T, id int) *screen.Row {
	r := &screen.Row{Condition: hash(id, byte(rapid.IntRange(0, 5).Draw(t, "salt")))}
	value := rapid.OneOf(rapid.Int64Range(-2, 3), rapid.Just(int64(screen.Null)), rapid.Int64Range(-1e18, 1e18))
	for f := range r.Values {
		r.Values[f] = value.Draw(t, "value")
	}
	for _, f := range []screen.Field{screen.Volume, screen.Volume24h, screen.Volume7d, screen.Volume30d} {
		r.Values[f] = rapid.Int64Range(0, 4).Draw(t, "volume")
	}
	r.Class = screen.Class{
		Category: rapid.SampledFrom([]string{"", "crypto", "politics"}).Draw(t, "category"),
		Status:   rapid.SampledFrom([]string{"open", "closed"}).Draw(t, "status"),
	}
	r.Tags = [][]string{nil, {"a"}, {"a", "b"}, {"b"}}[rapid.IntRange(0, 3).Draw(t, "tags")]
	return r
}

func drawFilter(t *rapid.T, markets int) *screen.Filter {
	f := &screen.Filter{}
	if rapid.Bool().Draw(t, "by class") {
		category := rapid.SampledFrom([]string{"", "crypto", "chess"}).Draw(t, "category")
		f.Class = func(c *screen.Class) bool { return c.Category == category }
	}
	tags := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 2)
	if rapid.IntRange(0, 3).Draw(t, "by tags") == 0 {
		f.Tags = tags.Draw(t, "tags")
	}
	if rapid.IntRange(0, 3).Draw(t, "by no tags") == 0 {
		f.NoTags = tags.Draw(t, "no tags")
	}
	for range rapid.IntRange(0, 1).Draw(t, "sets") {
		f.Within = append(f.Within, rapid.SliceOfN(rapid.Uint64(), 0, markets/64+2).Draw(t, "set"))
	}
	for range rapid.IntRange(0, 3).Draw(t, "ranges") {
		least := rapid.Int64Range(-3, 3).Draw(t, "least")
		f.Ranges = append(f.Ranges, screen.Range{
			Field: screen.Field(rapid.IntRange(0, int(screen.Fields)-1).Draw(t, "field")),
			Least: least, Most: rapid.SampledFrom([]int64{least, least + 2, 1 << 62}).Draw(t, "most"),
		})
	}
	return f
}

// Any page of any filter in any order equals that after sorting everything, and published contents
// never change.
func TestPagesAreThoseOfSortingEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, now := screen.NewBuilder(), venue{}
		type sealed struct {
			c *screen.Columns
			v venue
		}
		var all []sealed
		for range rapid.IntRange(1, 4).Draw(t, "batches") {
			for range rapid.IntRange(0, 30).Draw(t, "markets") {
				id := rapid.OneOf(rapid.IntRange(0, 20), rapid.IntRange(2040, 2060), rapid.IntRange(4090, 4100), rapid.IntRange(8190, 8200)).Draw(t, "id")
				for id >= len(now) {
					now = append(now, nil)
				}
				r := drawRow(t, id)
				if now[id] != nil {
					r.Condition = now[id].Condition
				}
				now[id] = r
				b.Set(int32(id), r)
			}
			all = append(all, sealed{b.Seal(), slices.Clone(now)})
		}
		s := rapid.SampledFrom(all).Draw(t, "columns")
		f := drawFilter(t, len(s.v))
		o := screen.Order{Field: screen.Field(rapid.IntRange(0, int(screen.Fields)-1).Draw(t, "sort")), Ascending: rapid.Bool().Draw(t, "ascending")}
		want := s.v.sorted(s.v.ids(f), o)
		n := rapid.IntRange(1, 12).Draw(t, "page")
		top := rapid.SampledFrom([]func(*screen.Filter, screen.Order, *screen.Place, int, func(int32) data.Hash) []int32{s.c.Top, s.c.TopShared}).Draw(t, "top")
		var got []int32
		var after *screen.Place
		for {
			page := top(f, o, after, n, s.v.condition)
			got = append(got, page...)
			if len(page) < n {
				break
			}
			last := page[len(page)-1]
			place := s.c.PlaceOf(last, o, s.v[last].Condition)
			after = &place
		}
		if !slices.Equal(got, want) {
			t.Fatalf("order %+v, pages of %d: got %v, want %v", o, n, got, want)
		}
		if n := s.c.Count(f); n != len(want) {
			t.Fatalf("counted %d, want %d", n, len(want))
		}
		checkSummary(t, s.c.Summarize(f, []int64{-1, 2}), s.v, f)
		markets := 0
		for _, r := range s.v {
			if r != nil {
				markets++
			}
		}
		if s.c.Len() != markets {
			t.Fatalf("got %d markets, want %d", s.c.Len(), markets)
		}
	})
}

// checkSummary compares a summary with one computed market by market.
func checkSummary(t *rapid.T, got *screen.Summary, v venue, f *screen.Filter) {
	want := &screen.Summary{Ends: make([]screen.Sum, 3)}
	categories, tags := map[string]int64{}, map[string]int64{}
	note := func(s *screen.Sum, volume int64) { s.Markets++; s.Volume24h += volume }
	for _, id := range v.ids(f) {
		r := v[id]
		day := r.Values[screen.Volume24h]
		note(&want.Sum, day)
		want.Volume7d += r.Values[screen.Volume7d]
		want.Volume30d += r.Values[screen.Volume30d]
		want.Volume += r.Values[screen.Volume]
		if l := r.Values[screen.Liquidity]; l != screen.Null {
			want.Liquidity += l
			want.LiquidityKnown++
		}
		switch p := r.Values[screen.Price]; {
		case p == screen.Null:
			note(&want.NoPrice, day)
		case p < 100_000:
			note(&want.Prices[0], day)
		default:
			note(&want.Prices[min(p/100_000, 9)], day)
		}
		switch e := r.Values[screen.EndDate]; {
		case e == screen.Null:
			note(&want.NoEnd, day)
		case e < -1:
			note(&want.Ends[0], day)
		case e < 2:
			note(&want.Ends[1], day)
		default:
			note(&want.Ends[2], day)
		}
		categories[r.Class.Category]++
		for _, tag := range r.Tags {
			tags[tag]++
		}
	}
	if got.Sum != want.Sum || got.Volume7d != want.Volume7d || got.Volume30d != want.Volume30d || got.Volume != want.Volume ||
		got.Liquidity != want.Liquidity || got.LiquidityKnown != want.LiquidityKnown || got.Prices != want.Prices ||
		got.NoPrice != want.NoPrice || !slices.Equal(got.Ends, want.Ends) || got.NoEnd != want.NoEnd {
		t.Fatalf("summary %+v, want %+v", got, want)
	}
	for _, c := range []struct {
		got  []screen.Facet
		want map[string]int64
	}{{got.Categories, categories}, {got.Tags, tags}} {
		if len(c.got) != len(c.want) {
			t.Fatalf("facets %v, want %v", c.got, c.want)
		}
		for i, facet := range c.got {
			if facet.Markets != c.want[facet.Name] || i > 0 && (c.got[i-1].Markets < facet.Markets ||
				c.got[i-1].Markets == facet.Markets && c.got[i-1].Name >= facet.Name) {
				t.Fatalf("facet %d of %v, want %v", i, c.got, c.want)
			}
		}
	}
}

func TestNoColumnsHoldNothing(t *testing.T) {
	var c *screen.Columns
	if c.Len() != 0 || c.Top(&screen.Filter{}, screen.Order{}, nil, 5, nil) != nil || c.Summarize(&screen.Filter{}, nil).Markets != 0 {
		t.Error("columns that are not there hold something")
	}
}
