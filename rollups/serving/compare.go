package serving

import (
	"reflect"
	"slices"

	"pmx/data"
)

// Compare counts the wallets and leaderboard rows of s, and those that differ in o: it compares an
// updated snapshot with one loaded from the database.
func (s *Snapshot) Compare(o *Snapshot) (rows, differ int64) {
	note := func(same bool) {
		rows++
		if !same {
			differ++
		}
	}
	note(s.AsOf.Equal(o.AsOf) && s.Counts == o.Counts && s.walletsLen == o.walletsLen && slices.Equal(s.Venue, o.Venue))
	note(reflect.DeepEqual(s.Stats, o.Stats))
	note(s.Whales.Equal(o.Whales))
	note(s.Index.Equal(o.Index))
	s.Desk.compare(o.Desk, note)
	note(s.DeskTraders.Equal(o.DeskTraders))
	for p := range Periods {
		note(reflect.DeepEqual(s.Traders[p], o.Traders[p]))
		note(reflect.DeepEqual(s.Markets[p], o.Markets[p]))
	}
	for id := range data.WalletID(min(s.walletsLen, o.walletsLen)) {
		a := s.wallets.Address(id)
		x, okX := s.Trader(a)
		y, okY := o.Trader(a)
		note(okX == okY && x.Name == y.Name && (!okX || *x.Totals == *y.Totals))
	}
	catalogRows, catalogDiffer := s.Catalog.compare(o.Catalog)
	screenerRows, screenerDiffer := s.Screener.compare(o.Screener, s.Catalog.Len())
	oracleRows, oracleDiffer := s.Oracle.compareWith(o.Oracle, s.walletsLen, int(s.Counts.Tokens))
	return rows + catalogRows + screenerRows + oracleRows, differ + catalogDiffer + screenerDiffer + oracleDiffer
}

// compare counts the markets and tokens of c, and those that differ in o.
func (c *Catalog) compare(o *Catalog) (rows, differ int64) {
	note := func(same bool) {
		rows++
		if !same {
			differ++
		}
	}
	note(c.Len() == o.Len())
	for id := range int32(max(c.Len(), o.Len())) {
		m, other := c.Market(id), o.Market(id)
		if m == nil || other == nil {
			note(m == other)
			continue
		}
		note(reflect.DeepEqual(m, other) && *c.Figures(id) == *o.Figures(id) && c.Find(m.Condition) == m)
		note(slices.Equal(c.Tokens(id), o.Tokens(id)) && c.eventTraders([]int32{id}) == o.eventTraders([]int32{id}))
		for _, token := range c.Tokens(id) {
			note(c.Token(token) == o.Token(token) && c.OutcomePrice(id, c.Token(token).Outcome) == o.OutcomePrice(id, o.Token(token).Outcome))
		}
		// A long list is compared once, at its first market.
		for _, list := range [][2][]int32{{c.slugs.of(m.EventSlug), o.slugs.of(m.EventSlug)}, {c.ids.of(m.EventID), o.ids.of(m.EventID)}} {
			if len(list[0]) == 0 || list[0][0] == id {
				note(slices.Equal(list[0], list[1]))
			}
		}
	}
	return rows, differ
}
