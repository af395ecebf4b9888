package rollups

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"pmx/data"
	"pmx/rollups/serving"
)

// marketSet lists the markets that were traded in a window, densely.
type marketSet struct {
	rows []int32 // market ids
	at   []int32 // by market id: 1 + its place in rows, 0 for none
}

// set says whether a market was traded.
func (b *marketSet) set(market int32, traded bool) {
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
	best := top[int32]{n: serving.LeaderboardSize, less: func(a, b *int32) int {
		return cmp.Compare(c.Figures(*b).Volume(p), c.Figures(*a).Volume(p))
	}}
	rows := l.tradedMarkets[p].rows
	least := data.Micro(math.MinInt64) // of a full leaderboard: most markets are below
	for i := range rows {
		if c.Figures(rows[i]).Volume(p) < least {
			continue
		}
		if best.offer(&rows[i]); best.full() {
			least = c.Figures(best.items[0]).Volume(p)
		}
	}
	ids := slices.Clone(best.items)
	if len(ids) == best.n {
		ids = l.withTies(c, p, ids)
	}
	slices.SortFunc(ids, func(a, b int32) int {
		x, y := c.Figures(a), c.Figures(b)
		j, k := &c.Market(a).Condition, &c.Market(b).Condition
		return cmp.Or(cmp.Compare(y.Volume(p), x.Volume(p)), cmp.Compare(y.VolumeUSD, x.VolumeUSD), bytes.Compare(j[:], k[:]))
	})
	return l.marketRows(c, p, ids[:min(len(ids), serving.LeaderboardSize)])
}

// withTies keeps every market that ties with the last of a full leaderboard, whose root
// is the first of ids: which of them stays is decided by the other orders.
func (l *Live) withTies(c *serving.Catalog, p serving.Period, ids []int32) []int32 {
	edge := c.Figures(ids[0]).Volume(p)
	ids = slices.DeleteFunc(ids, func(id int32) bool { return c.Figures(id).Volume(p) == edge })
	for _, id := range l.tradedMarkets[p].rows {
		if c.Figures(id).Volume(p) == edge {
			ids = append(ids, id)
		}
	}
	return ids
}

func (l *Live) marketRows(c *serving.Catalog, p serving.Period, ids []int32) []serving.MarketRow {
	out := make([]serving.MarketRow, 0, len(ids))
	for i, id := range ids {
		m, f := c.Market(id), c.Figures(id)
		var period legs
		for _, token := range c.Tokens(id) {
			if w := l.tokenWindows[p].rows[token]; w != nil {
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
