package api

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/access"
	"pmx/rollups/serving"
)

// The most buckets of each series of GET /stats/growth.
const (
	growthDays   = 90
	growthWeeks  = 53
	growthMonths = 36
)

// averageDays is over how many days a mean is taken.
const averageDays = 7

// growthBody is the answer to one tier, whose history cuts the series.
type growthBody struct {
	objectBody
	once sync.Once
	e    envelope
}

// statsGrowth answers GET /stats/growth.
func (a *API) statsGrowth(c *fiber.Ctx, call *Call) error {
	v, err := a.current()
	if err != nil {
		return err
	}
	o := &v.stats.growth[call.tier]
	o.once.Do(func() {
		o.e = envelope{tier: call.tier, maxRows: noRows, hint: access.Nobody}
		o.encode(appendGrowth([]byte(`,"data":`), v, &o.e, call.historyStart(v.snap)))
	})
	return a.sendEncoded(c, call, v, o.bodyFor(a.envelopes, v.asOf, o.e))
}

// newestShown is the part of a series that is shown: its last most buckets, less
// those whose end, or that of whose first day, lies before start.
func newestShown[T any](v *encodedSnapshot, e *envelope, list []T, most int, start int64, end func(*T) int64) []T {
	list = list[max(0, len(list)-most):]
	n := countOlder(list, start, end)
	if n > 0 {
		e.trimHistory(v.snap, lastInstant(end(&list[0])))
	}
	return list[n:]
}

// appendGrowth writes wire.StatsGrowth and notes in e what start cuts off.
func appendGrowth(b []byte, v *encodedSnapshot, e *envelope, start int64) []byte {
	s := v.statsOf()
	b = append(append(b, `{"volume_basis":"`...), v.basis()...)
	born := v.newWallets()
	b = v.appendRolling(append(b, `","week_over_week":`...), serving.Week, born)
	b = v.appendRolling(append(b, `,"month_over_month":`...), serving.Month, born)
	b = appendAverage(append(b, `,"average_7d":`...), s.Days)
	b = appendActive(append(b, `,"active_wallets":`...), s)
	days := newestShown(v, e, s.Days, growthDays, start, endOfDay)
	b = append(b, `,"days":[`...)
	for i := range days {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendGrowthDay(b, s.Days, len(s.Days)-len(days)+i)
	}
	b = append(b, `],"weeks":[`...)
	weeks := newestShown(v, e, s.Weeks, growthWeeks, start, endOfFirstDay(s.Days))
	b = appendSpans(b, s.Weeks, len(s.Weeks)-len(weeks), weekName)
	b = append(b, `],"months":[`...)
	months := newestShown(v, e, s.Months, growthMonths, start, endOfFirstDay(s.Days))
	b = appendSpans(b, s.Months, len(s.Months)-len(months), monthName)
	return append(b, "]}"...)
}

// newWalletCounts counts the wallets whose first fill lies in a window and in the one
// before.
type newWalletCounts [serving.Periods]struct{ now, before int64 }

// newWallets counts the new wallets of every window.
func (v *encodedSnapshot) newWallets() *newWalletCounts {
	s := &v.stats
	s.newWalletsOnce.Do(func() {
		var times []int64
		for p := range serving.Periods {
			times = append(times, v.snap.AsOf.Add(-p.Length()).UnixMicro(), v.snap.AsOf.Add(-2*p.Length()).UnixMicro())
		}
		counts := v.snap.FirstTradesAfter(times)
		for p := range serving.Periods {
			now := counts[2*p]
			s.newWallets[p].now, s.newWallets[p].before = now, counts[2*p+1]-now
		}
	})
	return &s.newWallets
}

// appendRolling writes wire.StatsRolling.
func (v *encodedSnapshot) appendRolling(b []byte, p serving.Period, born *newWalletCounts) []byte {
	w := &v.statsOf().Windows[p]
	b = append(b, '{')
	if v.snap.AsOf.IsZero() {
		b = append(b, `"window_start":null,"window_end":null`...)
	} else {
		b = appendTime(append(b, `"window_start":`...), v.snap.AsOf.Add(-p.Length()))
		b = appendTime(append(b, `,"window_end":`...), v.snap.AsOf)
	}
	b = w.VolumeUSD.Append(append(b, `,"volume":`...))
	b = w.Previous.VolumeUSD.Append(append(b, `,"volume_previous":`...))
	b = appendChange(append(b, `,"volume_change_pct":`...), w.VolumeUSD, w.Previous.VolumeUSD)
	b = strconv.AppendInt(append(b, `,"trades":`...), w.Trades, 10)
	b = strconv.AppendInt(append(b, `,"trades_previous":`...), w.Previous.Trades, 10)
	b = appendChange(append(b, `,"trades_change_pct":`...), data.Micro(w.Trades), data.Micro(w.Previous.Trades))
	b = strconv.AppendInt(append(b, `,"new_wallets":`...), born[p].now, 10)
	b = strconv.AppendInt(append(b, `,"new_wallets_previous":`...), born[p].before, 10)
	b = appendChange(append(b, `,"new_wallets_change_pct":`...), data.Micro(born[p].now), data.Micro(born[p].before))
	return append(b, '}')
}

// appendAverage writes wire.StatsAverage of the finished days: all but the last.
func appendAverage(b []byte, days []serving.DayStats) []byte {
	if len(days) <= averageDays {
		return append(b, `{"first_date":null,"last_date":null,"volume":null,"trades":null,"active_wallets":null,"new_wallets":null}`...)
	}
	last := len(days) - 2
	b = appendDate(append(b, `{"first_date":`...), int32(days[last-averageDays+1].Day))
	b = appendDate(append(b, `,"last_date":`...), int32(days[last].Day))
	b = appendMean(append(b, `,"volume":`...), days, last, dayVolume)
	b = appendMean(append(b, `,"trades":`...), days, last, dayTrades)
	b = appendMean(append(b, `,"active_wallets":`...), days, last, dayWallets)
	b = appendMean(append(b, `,"new_wallets":`...), days, last, dayNewWallets)
	return append(b, '}')
}

func dayVolume(d *serving.DayStats) data.Micro     { return d.VolumeUSD }
func dayTrades(d *serving.DayStats) data.Micro     { return data.Micro(d.Trades) * data.One }
func dayWallets(d *serving.DayStats) data.Micro    { return data.Micro(d.ActiveWallets) * data.One }
func dayNewWallets(d *serving.DayStats) data.Micro { return data.Micro(d.NewWallets) * data.One }

// appendMean adds the mean of a figure over day i and the six before it, null
// where day i is not over or where there are fewer.
func appendMean(b []byte, days []serving.DayStats, i int, figure func(*serving.DayStats) data.Micro) []byte {
	if i == len(days)-1 || i < averageDays-1 {
		return append(b, "null"...)
	}
	sum := data.Micro(0)
	for j := i - averageDays + 1; j <= i; j++ {
		sum += figure(&days[j])
	}
	return data.MulDiv(sum, 1, averageDays).Append(b)
}

// appendActive writes wire.StatsActive.
func appendActive(b []byte, s *serving.Stats) []byte {
	day, month := s.Windows[serving.Day].Traders, s.Windows[serving.Month].Traders
	b = strconv.AppendInt(append(b, `{"last_24h":`...), day, 10)
	b = strconv.AppendInt(append(b, `,"last_7d":`...), s.Windows[serving.Week].Traders, 10)
	b = strconv.AppendInt(append(b, `,"last_30d":`...), month, 10)
	b = appendRatio(append(b, `,"stickiness":`...), data.Micro(day), data.Micro(month))
	return append(b, '}')
}

// appendGrowthDay writes wire.GrowthDay of day i.
func appendGrowthDay(b []byte, days []serving.DayStats, i int) []byte {
	d := &days[i]
	b = appendDate(append(b, `{"date":`...), int32(d.Day))
	b = d.VolumeUSD.Append(append(b, `,"volume":`...))
	b = appendMean(append(b, `,"volume_average_7d":`...), days, i, dayVolume)
	b = strconv.AppendInt(append(b, `,"trades":`...), d.Trades, 10)
	b = appendMean(append(b, `,"trades_average_7d":`...), days, i, dayTrades)
	b = strconv.AppendInt(append(b, `,"active_wallets":`...), d.ActiveWallets, 10)
	b = appendMean(append(b, `,"active_wallets_average_7d":`...), days, i, dayWallets)
	b = strconv.AppendInt(append(b, `,"new_wallets":`...), d.NewWallets, 10)
	b = strconv.AppendInt(append(b, `,"new_markets":`...), d.NewMarkets, 10)
	return append(appendBool(append(b, `,"is_partial":`...), i == len(days)-1), '}')
}

// appendSpans writes a wire.GrowthBucket for every span from the from-th on.
func appendSpans(b []byte, spans []serving.SpanStats, from int, name func(first time.Time) string) []byte {
	for i := from; i < len(spans); i++ {
		if i > from {
			b = append(b, ',')
		}
		s, before := &spans[i], &serving.SpanStats{} // no change is known to an empty one
		partial := i == len(spans)-1
		if i > 0 && !partial {
			before = &spans[i-1]
		}
		b = append(append(b, `{"bucket":"`...), name(time.Unix(s.First*86_400, 0).UTC())...)
		b = appendDate(append(b, `","first_date":`...), int32(s.First))
		b = appendDate(append(b, `,"last_date":`...), int32(s.Last))
		b = s.VolumeUSD.Append(append(b, `,"volume":`...))
		b = appendChange(append(b, `,"volume_change_pct":`...), s.VolumeUSD, before.VolumeUSD)
		b = strconv.AppendInt(append(b, `,"trades":`...), s.Trades, 10)
		b = appendChange(append(b, `,"trades_change_pct":`...), data.Micro(s.Trades), data.Micro(before.Trades))
		b = strconv.AppendInt(append(b, `,"active_wallets":`...), s.ActiveWallets, 10)
		b = appendChange(append(b, `,"active_wallets_change_pct":`...), data.Micro(s.ActiveWallets), data.Micro(before.ActiveWallets))
		b = strconv.AppendInt(append(b, `,"new_wallets":`...), s.NewWallets, 10)
		b = appendChange(append(b, `,"new_wallets_change_pct":`...), data.Micro(s.NewWallets), data.Micro(before.NewWallets))
		b = strconv.AppendInt(append(b, `,"new_markets":`...), s.NewMarkets, 10)
		b = append(appendBool(append(b, `,"is_partial":`...), partial), '}')
	}
	return b
}

// weekName is the ISO name of the week that begins on a Monday: 2026-W11.
func weekName(monday time.Time) string {
	year, week := monday.ISOWeek()
	return fmt.Sprintf("%04d-W%02d", year, week)
}

// monthName is the name of a month: 2026-03.
func monthName(first time.Time) string { return first.Format("2006-01") }
