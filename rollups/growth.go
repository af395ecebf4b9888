package rollups

import (
	"strconv"
	"time"
)

// growthVertical is activity over time: distinct wallets by week and month,
// distinct markets by day, and the product behind /stats.
func growthVertical() vertical {
	return vertical{
		tables: []table{
			{name: "week_wallets", delta: "DeltaWeekWallets", rebuild: "RebuildWeekWallets", keys: []string{"week"}, sums: []string{"wallets"}},
			{name: "month_wallets", delta: "DeltaMonthWallets", rebuild: "RebuildMonthWallets", keys: []string{"month"}, sums: []string{"wallets"}},
			{name: "day_markets", delta: "DeltaDayMarkets", rebuild: "RebuildDayMarkets", keys: []string{"day"}, sums: []string{"markets"}},
		},
		before:  growthBefore,
		after:   growthAfter,
		product: func() product { return newGrowth() },
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

// growthBefore finds the weeks, months and market days that the batch begins.
func growthBefore(m *merge) error {
	var first, last int64
	if err := m.conn.QueryRowContext(m.ctx, statements.Get("NewDayRange")).Scan(&first, &last); err != nil {
		return err
	}
	lo, hi := int64(0), int64(-1) // no day
	if first <= last {
		lo = min(weekStart(weekOf(first)), monthStart(monthOf(first)))
		hi = max(weekStart(weekOf(last)+1), monthStart(monthOf(last)+1)) - 1
	}
	if err := m.exec("NewWeeksAndMonths", dayArgs(lo, hi)...); err != nil {
		return err
	}
	if err := m.exec("MovedMarketTokens"); err != nil {
		return err
	}
	err := m.exec("NewMarketDays", "@firstday", strconv.FormatInt(m.firstDay, 10), "@lastday", strconv.FormatInt(m.lastDay, 10))
	if err != nil {
		return err
	}
	return m.movedDays("g_day_before", "(FROM n_fill LIMIT 0)")
}

// growthAfter counts the days of markets that gained or lost a token: by then
// tokens are where they belong, but token_day lacks the batch.
func growthAfter(m *merge) error { return m.movedDays("g_day_after", "n_fill") }

func (m *merge) movedDays(into, batch string) error {
	var lo, hi int64
	if err := m.conn.QueryRowContext(m.ctx, statements.Get("MovedDayRange")).Scan(&lo, &hi); err != nil {
		return err
	}
	return m.exec("MovedMarketDays", append(dayArgs(lo, hi), "@into", into, "@batch", batch)...)
}

func dayArgs(lo, hi int64) []string {
	return []string{"@lo", strconv.FormatInt(lo, 10), "@hi", strconv.FormatInt(hi, 10)}
}
