package rollups

import (
	"bytes"
	"cmp"

	"pmx/data"
	"pmx/rollups/serving"
)

// marketSet lists the markets that were traded in a window, densely.
type marketSet struct {
	rows  []int32 // market ids
	at    []int32 // by market id: 1 + its place in rows, 0 for none
	first leaders
}

// set says whether a market was traded. Its figures may have changed.
func (b *marketSet) set(market int32, traded bool) {
	b.first.touch(market)
	for int(market) >= len(b.at) {
		b.at = append(b.at, 0)
	}
	place := b.at[market]
	switch {
	case traded && place == 0:
		b.rows = append(b.rows, market)
		b.at[market] = int32(len(b.rows))
	case !traded && place != 0:
		last := b.rows[len(b.rows)-1]
		b.rows[place-1], b.at[last] = last, place
		b.rows, b.at[market] = b.rows[:len(b.rows)-1], 0
	}
}

// marketLeaderboard ranks the markets of c that were traded in period p by volume, ties
// by lifetime volume, then condition id.
func (l *Live) marketLeaderboard(c *serving.Catalog, p serving.Period) []serving.MarketRow {
	set := &l.tradedMarkets[p]
	first := set.first.first(serving.LeaderboardSize, &contest{
		all: func(yield func(int32, data.Micro) bool) {
			for _, id := range set.rows {
				if !yield(id, c.Figures(id).Volume(p)) {
					return
				}
			}
		},
		figure: func(id int32) (data.Micro, bool) {
			if set.at[id] == 0 {
				return 0, false
			}
			return c.Figures(id).Volume(p), true
		},
		compare: func(a, b int32) int {
			x, y := c.Figures(a), c.Figures(b)
			if c := cmp.Or(cmp.Compare(y.Volume(p), x.Volume(p)), cmp.Compare(y.VolumeUSD, x.VolumeUSD)); c != 0 {
				return c
			}
			j, k := &c.Market(a).Condition, &c.Market(b).Condition
			return bytes.Compare(j[:], k[:])
		},
	})
	return l.marketRows(c, p, first)
}

func (l *Live) marketRows(c *serving.Catalog, p serving.Period, ids []int32) []serving.MarketRow {
	out := make([]serving.MarketRow, 0, len(ids))
	for i, id := range ids {
		m, f := c.Market(id), c.Figures(id)
		var period legs
		for _, token := range c.Tokens(id) {
			if w := l.tokenWindows[p].rows.of(int32(token)); w != nil {
				period.plus(w)
			}
		}
		row := serving.MarketRow{
			Rank: i + 1, Condition: m.Condition, Question: m.Question, Slug: m.Slug, EventID: m.EventID,
			EventSlug: m.EventSlug, Category: m.Category, Outcomes: m.Outcomes, Basis: f.Basis(), VolumeAllTime: f.VolumeUSD,
			Traders: int64(f.Traders), Resolved: m.Resolved(), Closed: m.Closed, EndTS: m.EndTS, LastTS: f.LastTS,
		}
		row.Trades, row.VolumeUSD, row.VolumeShares = period.by(f.Basis())
		if i > 0 && out[i-1].VolumeUSD == row.VolumeUSD {
			row.Rank = out[i-1].Rank
		}
		out = append(out, row)
	}
	return out
}
