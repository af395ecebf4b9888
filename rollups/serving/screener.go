package serving

import (
	"slices"
	"sync"

	"pmx/engine/guard"
	"pmx/rollups/serving/screen"
	"pmx/rollups/serving/search"
)

// Screener has the index of all markets for search and the screener.
type Screener struct {
	Columns *screen.Columns
	Titles  *search.Index
}

// UnsharedBytes is about how many bytes s holds that o does not share.
func (s *Screener) UnsharedBytes(o *Screener) int64 {
	return s.Columns.UnsharedBytes(o.Columns) + s.Titles.UnsharedBytes(o.Titles)
}

// ScreenerBuilder makes successive Screeners at a cost proportional to what changed between two
// Catalogs. It belongs to one goroutine.
type ScreenerBuilder struct {
	columns *screen.Builder
	titles  *search.Builder
	reading func() error `image:"-"` // waits for Begin's goroutine, which has titles; nil: there is none
	begun   []*Market    `image:"-"` // those of Begin, by id, until Next
}

// NewScreenerBuilder returns a builder of no markets.
func NewScreenerBuilder() *ScreenerBuilder {
	return &ScreenerBuilder{columns: screen.NewBuilder(), titles: search.NewBuilder()}
}

// Restored completes a builder that was read from an image.
func (b *ScreenerBuilder) Restored() { b.titles.Restored() }

// Begin indexes the titles of markets in a goroutine of its own, so that Next need not. Next waits
// for it; a caller that does not get to Next must call wait.
func (b *ScreenerBuilder) Begin(markets []*Market) (wait func()) {
	done := guard.Start(func() error {
		for _, m := range markets {
			b.setTitle(m)
			for int(m.ID) >= len(b.begun) {
				b.begun = append(b.begun, nil)
			}
			b.begun[m.ID] = m
		}
		b.titles.Seal()
		return nil
	})
	b.reading = sync.OnceValue(func() error { return <-done })
	return func() { _ = b.reading() }
}

// Next returns the Screener of c, which must follow the Catalog given last.
func (b *ScreenerBuilder) Next(c *Catalog) *Screener {
	if b.reading != nil {
		_ = guard.Repanic(b.reading())
	}
	for _, id := range c.Changed() {
		b.set(c, id)
	}
	b.begun = nil
	return &Screener{Columns: b.columns.Seal(), Titles: b.titles.Seal()}
}

func (b *ScreenerBuilder) set(c *Catalog, id int32) {
	m := c.Market(id)
	if m == nil {
		return
	}
	row := screenRow(m, c.Figures(id))
	b.columns.Set(id, &row)
	if int(id) < len(b.begun) && b.begun[id] == m {
		return // markets are not written to once they are in a catalog
	}
	b.setTitle(m)
}

func (b *ScreenerBuilder) setTitle(m *Market) {
	b.titles.Set(m.ID, m.Question, m.Slug, m.EventTitle, m.EventSlug)
}

// screenRow is m's row of the columns.
func screenRow(m *Market, f *Figures) screen.Row {
	return screen.Row{
		Condition: m.Condition,
		Class:     screen.Class{Category: m.Category, Status: string(m.Status()), NegRisk: m.NegRisk},
		Tags:      sortedTags(m.Tags),
		Values: [screen.Fields]int64{
			screen.Volume24h: int64(f.Volume24h), screen.Volume7d: int64(f.Volume7d), screen.Volume30d: int64(f.Volume30d),
			screen.Volume: int64(f.VolumeUSD), screen.Liquidity: int64(f.Liquidity), screen.Spread: int64(f.Spread),
			screen.Traders24h: int64(f.Traders24h), screen.Traders: int64(f.Traders), screen.Trades: f.Trades,
			screen.Price: int64(f.Price), screen.PriceChange24h: int64(f.PriceChange24h), screen.WhaleFlow24h: int64(f.WhaleFlow24h),
			screen.CreatedAt: timeOrNull(m.CreatedTS), screen.EndDate: timeOrNull(m.EndTS),
			screen.ResolvedAt: timeOrNull(m.ResolvedTS), screen.LastTradeAt: timeOrNull(f.LastTS),
		},
	}
}

func timeOrNull(ts int64) int64 {
	if ts == 0 {
		return screen.Null
	}
	return ts
}

// sortedTags returns tags in order, each once.
func sortedTags(tags []string) []string {
	if len(tags) < 2 {
		return tags
	}
	sorted := slices.Clone(tags)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

// compare counts the markets of s, and those that differ in o; the words of all
// titles are one row more.
func (s *Screener) compare(o *Screener, markets int) (rows, differ int64) {
	if s == nil || o == nil {
		if s != o {
			return 1, 1
		}
		return 1, 0
	}
	note := func(same bool) {
		rows++
		if !same {
			differ++
		}
	}
	for id := range int32(markets) {
		note(s.Columns.Equal(o.Columns, id))
	}
	note(s.Columns.Len() == o.Columns.Len() && s.Titles.Equal(o.Titles))
	return rows, differ
}
