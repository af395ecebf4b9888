package rollups

import (
	"database/sql/driver"
	"strconv"
	"time"

	"pmx/engine"
)

// growthVertical is activity over time: distinct wallets by week and month,
// distinct markets by day, and the section of the snapshot behind /stats.
func growthVertical() vertical {
	return vertical{
		tables: []table{
			{name: "week_wallets", delta: "DeltaWeekWallets", rebuild: "RebuildWeekWallets", by: byWeek, with: withFills, keys: []string{"week"}, sums: []string{"wallets"}},
			{name: "month_wallets", delta: "DeltaMonthWallets", rebuild: "RebuildMonthWallets", by: byMonth, with: withFills, keys: []string{"month"}, sums: []string{"wallets"}},
			{name: "day_markets", delta: "DeltaDayMarkets", rebuild: "RebuildDayMarkets", by: byTokenDay, with: withFills | withMarkets, keys: []string{"day"}, sums: []string{"markets"}},
		},
		before:  growthBefore,
		after:   growthAfter,
		section: func() section { return newGrowth() },
	}
}

// weekOf is the ISO week of a day, counted from Monday 1969-12-29.
func weekOf(day int64) int64 { return (day + 3) / 7 }

// weekStart is the Monday of a week.
func weekStart(week int64) int64 { return week*7 - 3 }

// monthOf is the calendar month of a day, counted from January 1970.
func monthOf(day int64) int64 {
	t := time.Unix(day*86_400, 0).UTC()
	return int64(t.Year()-1970)*12 + int64(t.Month()) - 1
}

// monthStart is the first day of a month.
func monthStart(month int64) int64 {
	return time.Date(1970, time.Month(month+1), 1, 0, 0, 0, 0, time.UTC).Unix() / 86_400
}

// growthBefore finds the weeks, months and market days that are new with the batch.
func growthBefore(m *merge) error {
	if !m.has(withFills|withMarkets) || m.sums != nil {
		return nil
	}
	for _, name := range []string{"SpansEmpty", "ChangesEmpty"} {
		if err := m.exec(name); err != nil {
			return err
		}
	}
	if m.fills > 0 {
		if err := m.newSpans(); err != nil {
			return err
		}
	}
	if m.moved > 0 {
		if err := m.exec("MovedMarketTokens"); err != nil {
			return err
		}
		if err := m.movedDays("g_moved_before", "-1", "(FROM n_fill LIMIT 0)"); err != nil {
			return err
		}
	}
	if m.fills == 0 {
		return nil
	}
	return m.newMarketDays()
}

// growthAfter counts the days of markets that gained or lost a token: by then tokens have their new
// markets, but token_day lacks the batch.
func growthAfter(m *merge) error {
	if m.moved == 0 {
		return nil
	}
	return m.movedDays("g_moved_after", "1", "n_fill")
}

// newSpans counts the wallets that trade in a week or a month for the first time: in memory, if it
// is loaded, those with a day later than all before; the others by their days in the database.
func (m *merge) newSpans() error {
	source := "d_day"
	if m.lastDays.loaded {
		later, late, err := m.lastDays.wallets.split(m.ctx, m.conn, statements.Get("FreshDays"))
		if err != nil {
			return err
		}
		if err := m.countSpans(later); err != nil || len(late) == 0 {
			return err
		}
		if err := fillDayTable(m.ctx, m.conn, "g_late", late); err != nil {
			return err
		}
		source = "(SELECT day, id AS wallet FROM g_late)"
	}
	first, last, err := m.dayRange(source)
	if err != nil || first > last {
		return err
	}
	lo := min(weekStart(weekOf(first)), monthStart(monthOf(first)))
	hi := max(weekStart(weekOf(last)+1), monthStart(monthOf(last)+1)) - 1
	return m.exec("NewWeeksAndMonths", append(dayArgs(lo, hi), "@days", source)...)
}

// countSpans adds to g_span what follows from the last days.
func (m *merge) countSpans(later []idDay) error {
	type span struct{ kind, number int64 }
	counts := map[span]int32{}
	m.lastDays.wallets.eachWithPrevious(later, func(d idDay, before int32) {
		for kind, of := range []func(int64) int64{weekOf, monthOf} {
			if number := of(int64(d.day)); before == noDay || of(int64(before)) != number {
				counts[span{int64(kind), number}]++
			}
		}
	})
	rows := make([][]driver.Value, 0, len(counts))
	for s, n := range counts {
		rows = append(rows, []driver.Value{int8(s.kind), int32(s.number), n})
	}
	return engine.AppendTemp(m.conn, "g_span", len(rows), func(i int) []driver.Value { return rows[i] })
}

// newMarketDays finds the days on which a market that no token moved to or from
// trades for the first time.
func (m *merge) newMarketDays() error {
	moved := ""
	if m.moved > 0 {
		moved = " " + statements.Get("NotMoved")
	}
	source := "(" + statements.Get("BatchMarketDays", "@moved", moved) + ")"
	if m.lastDays.loaded {
		later, late, err := m.lastDays.markets.split(m.ctx, m.conn, statements.Get("MarketDays", "@days", source))
		if err != nil {
			return err
		}
		var fresh []int32
		m.lastDays.markets.eachWithPrevious(later, func(d idDay, before int32) {
			if d.day != before {
				fresh = append(fresh, d.day)
			}
		})
		err = engine.AppendTemp(m.conn, "g_change", len(fresh), func(i int) []driver.Value { return []driver.Value{fresh[i], int32(1)} })
		if err != nil || len(late) == 0 {
			return err
		}
		if err := fillDayTable(m.ctx, m.conn, "g_late", late); err != nil {
			return err
		}
		source = "(SELECT day, id AS market FROM g_late)"
	}
	first, last, err := m.dayRange(source)
	if err != nil || first > last {
		return err
	}
	return m.exec("NewMarketDays", append(dayArgs(first, last), "@days", source)...)
}

func (m *merge) dayRange(days string) (first, last int64, err error) {
	err = m.conn.QueryRowContext(m.ctx, statements.Get("DayRange", "@days", days)).Scan(&first, &last)
	return first, last, err
}

// movedDays adds or subtracts the days of markets that gained or lost a token.
func (m *merge) movedDays(into, sign, batch string) error {
	var lo, hi int64
	if err := m.conn.QueryRowContext(m.ctx, statements.Get("MovedDayRange")).Scan(&lo, &hi); err != nil {
		return err
	}
	if err := m.exec("MovedMarketDays", append(dayArgs(lo, hi), "@into", into, "@batch", batch)...); err != nil {
		return err
	}
	if m.lastDays.loaded {
		err := engine.EachRow(m.ctx, m.conn, statements.Get("MovedLastDays", "@moved", into), func(row *idDayRow) error {
			last := row.idDay()
			last.exact = true
			if sign == "-1" {
				last.day = noDay // unless it has days left
			}
			m.lastDays.markets.pending = append(m.lastDays.markets.pending, last)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return m.exec("MovedChange", "@sign", sign, "@moved", into)
}

func dayArgs(lo, hi int64) []string {
	return []string{"@lo", strconv.FormatInt(lo, 10), "@hi", strconv.FormatInt(hi, 10)}
}
