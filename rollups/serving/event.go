package serving

import (
	"bytes"
	"cmp"
	"slices"

	"pmx/data"
)

// Event sums up the markets of one event. Texts are those of the market with the newest
// description; "" if no market has one.
type Event struct {
	ID, Slug, Title, SeriesSlug, Category string
	Markets                               []int32 // by lifetime volume, ties by condition id
	Open, Closed, Resolved                int     // markets in each state

	VolumeUSD, VolumeShares         data.Micro
	Volume24h, Volume7d, Volume30d  data.Micro
	Trades                          int64
	Traders                         int        // distinct wallets over all markets, lifetime, without the venue's own
	TakerMarkets, MakerMarkets      int        // traded markets by the basis of their volume
	Liquidity                       data.Micro // of the markets whose liquidity is known; NoValue: none
	NegRisk                         *bool      // nil: unknown
	StartTS, EndTS, FirstTS, LastTS int64      // unix µs: earliest start, latest end, first and last fill; 0: unknown
}

// Status is open while a market of the event is open, resolved once all of them are, else closed.
func (e *Event) Status() Status {
	switch {
	case e.Open > 0:
		return Open
	case e.Closed > 0:
		return Closed
	}
	return Resolved
}

// Basis is what the sums of volume count: a VolumeBasis, "mixed" if the markets differ, "" without
// a trade.
func (e *Event) Basis() string {
	switch {
	case e.TakerMarkets > 0 && e.MakerMarkets > 0:
		return "mixed"
	case e.MakerMarkets > 0:
		return string(MakerUSD)
	case e.TakerMarkets > 0:
		return string(TakerUSD)
	}
	return ""
}

// Event returns the event with that slug or id, nil if no market carries it. Markets with only an
// id belong to the event whose slug another market with that id carries; if there are several
// slugs, to the first in the alphabet.
func (c *Catalog) Event(key string) *Event {
	ids := c.eventMarkets(key)
	if len(ids) == 0 {
		return nil
	}
	e := &Event{Liquidity: NoValue}
	newest := map[*string]*Market{}
	for _, id := range ids {
		m, f := c.Market(id), c.Figures(id)
		e.describe(m, newest)
		e.add(m, f)
	}
	e.Traders = c.eventTraders(ids)
	e.Markets = slices.Clone(ids)
	slices.SortFunc(e.Markets, func(x, y int32) int {
		a, b := c.Market(x), c.Market(y)
		return cmp.Or(cmp.Compare(c.Figures(y).VolumeUSD, c.Figures(x).VolumeUSD), bytes.Compare(a.Condition[:], b.Condition[:]))
	})
	return e
}

// eventMarkets lists the markets of an event.
func (c *Catalog) eventMarkets(key string) []int32 {
	if c == nil || key == "" {
		return nil
	}
	if own := c.slugs.of(key); len(own) > 0 {
		return c.withLoose(key, own)
	}
	carriers := c.ids.of(key)
	if slug := c.slugAmong(carriers); slug != "" {
		return c.withLoose(slug, c.slugs.of(slug))
	}
	return carriers
}

// slugAmong is the first event slug in the alphabet that one of some markets
// carries.
func (c *Catalog) slugAmong(ids []int32) string {
	slug := ""
	for _, id := range ids {
		if s := c.Market(id).EventSlug; s != "" && (slug == "" || s < slug) {
			slug = s
		}
	}
	return slug
}

// withLoose adds to the markets that carry a slug those that carry only the id of one of them.
func (c *Catalog) withLoose(slug string, own []int32) []int32 {
	all, seen := slices.Clone(own), map[string]bool{"": true}
	for _, id := range own {
		event := c.Market(id).EventID
		if seen[event] {
			continue
		}
		seen[event] = true
		carriers := c.ids.of(event)
		if c.slugAmong(carriers) != slug {
			continue
		}
		for _, other := range carriers {
			if c.Market(other).EventSlug == "" {
				all = append(all, other)
			}
		}
	}
	return all
}

// describe takes each text of m if m's description is the newest that has that text.
func (e *Event) describe(m *Market, newest map[*string]*Market) {
	for _, f := range []struct {
		dst  *string
		text string
	}{{&e.ID, m.EventID}, {&e.Slug, m.EventSlug}, {&e.Title, m.EventTitle}, {&e.SeriesSlug, m.SeriesSlug}, {&e.Category, m.Category}} {
		best := newest[f.dst]
		if f.text != "" && (best == nil || m.UpdatedTS > best.UpdatedTS ||
			m.UpdatedTS == best.UpdatedTS && bytes.Compare(m.Condition[:], best.Condition[:]) < 0) {
			*f.dst, newest[f.dst] = f.text, m
		}
	}
}

func (e *Event) add(m *Market, f *Figures) {
	switch m.Status() {
	case Open:
		e.Open++
	case Closed:
		e.Closed++
	case Resolved:
		e.Resolved++
	}
	if m.NegRisk != nil && (e.NegRisk == nil || *m.NegRisk) {
		e.NegRisk = m.NegRisk
	}
	e.StartTS, e.EndTS = earlier(e.StartTS, m.StartTS), max(e.EndTS, m.EndTS)
	e.FirstTS, e.LastTS = earlier(e.FirstTS, f.FirstTS), max(e.LastTS, f.LastTS)
	e.VolumeUSD += f.VolumeUSD
	e.VolumeShares += f.VolumeShares
	e.Volume24h += f.Volume24h
	e.Volume7d += f.Volume7d
	e.Volume30d += f.Volume30d
	e.Trades += f.Trades
	switch {
	case f.FirstTS == 0:
	case f.makers:
		e.MakerMarkets++
	default:
		e.TakerMarkets++
	}
	if f.Liquidity != NoValue {
		e.Liquidity = max(e.Liquidity, 0) + f.Liquidity
	}
}

// earlier is the smaller of two times, of which 0 is none.
func earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
