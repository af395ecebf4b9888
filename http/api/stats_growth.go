package api

import (
	"fmt"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// The maximum number of buckets of each series of GET /stats/growth.
const (
	growthDays   = 90
	growthWeeks  = 53
	growthMonths = 36
)

// averageDays is the number of days of a mean.
const averageDays = 7

// growthBody is the response for one tier, whose history cuts the series; which of them are cut
// does not depend on whether days are requested.
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
	without := call.value(growthWithDays).n
	o := &v.stats.growth[call.tier][without]
	o.once.Do(func() {
		o.e = envelope{tier: call.tier, maxRows: noRows, hint: access.Nobody}
		g := v.growthOf(&o.e, historyStart(call.tier, v.snap))
		if without == 1 {
			g.Days = []wire.GrowthDay{}
		}
		o.encode(dataOf(g))
	})
	return a.sendEncoded(c, call, v, o.bodyFor(a.envelopes, v.asOf, o.e))
}

// newestShown is the part of a series that is shown: its last most buckets, without those whose
// end, or the end of whose first day, is before start.
func newestShown[T any](v *encodedSnapshot, e *envelope, list []T, most int, start int64, end func(*T) int64) []T {
	list = list[max(0, len(list)-most):]
	n := countOlder(list, start, end)
	if n > 0 {
		e.trimHistory(v.snap, lastInstant(end(&list[0])))
	}
	return list[n:]
}

// growthOf is the payload of GET /stats/growth; it notes in e what is cut off by start.
func (v *encodedSnapshot) growthOf(e *envelope, start int64) wire.StatsGrowth {
	s, born := v.statsOf(), v.newWallets()
	g := wire.StatsGrowth{VolumeBasis: string(v.basis()), WeekOverWeek: v.rolling(serving.Week, born), MonthOverMonth: v.rolling(serving.Month, born),
		Average7d: averageOf(s.Days), ActiveWallets: activeOf(s), OpenMarkets: v.openMarkets(), Days: []wire.GrowthDay{}}
	for i := len(s.Days) - len(newestShown(v, e, s.Days, growthDays, start, endOfDay)); i < len(s.Days); i++ {
		g.Days = append(g.Days, growthDayOf(s.Days, i))
	}
	g.Weeks = growthBuckets(s.Weeks, len(newestShown(v, e, s.Weeks, growthWeeks, start, endOfFirstDay(s.Days))), weekName)
	g.Months = growthBuckets(s.Months, len(newestShown(v, e, s.Months, growthMonths, start, endOfFirstDay(s.Days))), monthName)
	return g
}

// newWalletCounts counts the wallets whose first fill is in a window, and in the one before.
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

// rolling compares the last window of p with the one before.
func (v *encodedSnapshot) rolling(p serving.Period, born *newWalletCounts) wire.StatsRolling {
	w, b := &v.statsOf().Windows[p], &born[p]
	r := wire.StatsRolling{
		Volume: w.VolumeUSD, VolumePrevious: w.Previous.VolumeUSD, VolumeChangePct: changeOf(w.VolumeUSD, w.Previous.VolumeUSD),
		Trades: w.Trades, TradesPrevious: w.Previous.Trades, TradesChangePct: changeOf(data.Micro(w.Trades), data.Micro(w.Previous.Trades)),
		NewWallets: b.now, NewWalletsPrevious: b.before, NewWalletsChangePct: changeOf(data.Micro(b.now), data.Micro(b.before)),
	}
	if asOf := v.snap.AsOf; !asOf.IsZero() {
		r.WindowStart, r.WindowEnd = timeOrNull(asOf.Add(-p.Length())), timeOrNull(asOf)
	}
	return r
}

// openMarkets counts the markets that were open at as_of and a week before.
func (v *encodedSnapshot) openMarkets() wire.StatsOpen {
	s := &v.stats
	s.openOnce.Do(func() {
		if v.snap.AsOf.IsZero() {
			return
		}
		asOf := v.snap.AsOf.UnixMicro()
		before := asOf - serving.Week.Length().Microseconds()
		for id := range int32(v.snap.Catalog.Len()) {
			from, to, known := v.snap.Catalog.Market(id).OpenBetween()
			switch {
			case !known:
				s.open.Unknown++
				continue
			case from <= asOf && asOf < to:
				s.open.Count++
			}
			if from <= before && before < to {
				s.open.WeekBefore++
			}
		}
		s.open.ChangePct = changeOf(data.Micro(s.open.Count), data.Micro(s.open.WeekBefore))
	})
	return s.open
}

// averageOf is the mean over the finished days: all but the last.
func averageOf(days []serving.DayStats) wire.StatsAverage {
	last := len(days) - 2
	if last < averageDays-1 {
		return wire.StatsAverage{}
	}
	return wire.StatsAverage{
		FirstDate: new(data.Date(days[last-averageDays+1].Day).String()), LastDate: new(data.Date(days[last].Day).String()),
		Volume: meanOf(days, last, dayVolume), Trades: meanOf(days, last, dayTrades), ActiveWallets: meanOf(days, last, dayWallets),
		NewWallets: meanOf(days, last, dayNewWallets),
	}
}

func dayVolume(d *serving.DayStats) data.Micro     { return d.VolumeUSD }
func dayTrades(d *serving.DayStats) data.Micro     { return data.Micro(d.Trades) * data.One }
func dayWallets(d *serving.DayStats) data.Micro    { return data.Micro(d.ActiveWallets) * data.One }
func dayNewWallets(d *serving.DayStats) data.Micro { return data.Micro(d.NewWallets) * data.One }

// meanOf is the mean of a figure over day i and the six before it, nil if day i is not over, or if
// there are fewer days.
func meanOf(days []serving.DayStats, i int, figure func(*serving.DayStats) data.Micro) *data.Micro {
	if i == len(days)-1 || i < averageDays-1 {
		return nil
	}
	sum := data.Micro(0)
	for j := i - averageDays + 1; j <= i; j++ {
		sum += figure(&days[j])
	}
	return new(data.MulDiv(sum, 1, averageDays))
}

func activeOf(s *serving.Stats) wire.StatsActive {
	day, month := s.Windows[serving.Day].Traders, s.Windows[serving.Month].Traders
	return wire.StatsActive{Last24h: day, Last7d: s.Windows[serving.Week].Traders, Last30d: month, Stickiness: ratioOrNull(data.Micro(day), data.Micro(month))}
}

func growthDayOf(days []serving.DayStats, i int) wire.GrowthDay {
	d := &days[i]
	return wire.GrowthDay{
		Date: data.Date(d.Day).String(), Volume: d.VolumeUSD, VolumeAverage7d: meanOf(days, i, dayVolume),
		Trades: d.Trades, TradesAverage7d: meanOf(days, i, dayTrades), ActiveWallets: d.ActiveWallets, ActiveWalletsAverage7d: meanOf(days, i, dayWallets),
		NewWallets: d.NewWallets, NewMarkets: d.NewMarkets, IsPartial: i == len(days)-1,
	}
}

// growthBuckets are the last n of spans.
func growthBuckets(spans []serving.SpanStats, n int, name func(first time.Time) string) []wire.GrowthBucket {
	rows := make([]wire.GrowthBucket, 0, n)
	for i := len(spans) - n; i < len(spans); i++ {
		s, before := &spans[i], &serving.SpanStats{} // no change from an empty one is known
		partial := i == len(spans)-1
		if i > 0 && !partial {
			before = &spans[i-1]
		}
		first := data.Date(s.First)
		rows = append(rows, wire.GrowthBucket{
			Bucket: name(first.Time()), FirstDate: first.String(), LastDate: data.Date(s.Last).String(),
			Volume: s.VolumeUSD, VolumeChangePct: changeOf(s.VolumeUSD, before.VolumeUSD),
			Trades: s.Trades, TradesChangePct: changeOf(data.Micro(s.Trades), data.Micro(before.Trades)),
			ActiveWallets: s.ActiveWallets, ActiveWalletsChangePct: changeOf(data.Micro(s.ActiveWallets), data.Micro(before.ActiveWallets)),
			NewWallets: s.NewWallets, NewWalletsChangePct: changeOf(data.Micro(s.NewWallets), data.Micro(before.NewWallets)),
			NewMarkets: s.NewMarkets, IsPartial: partial,
		})
	}
	return rows
}

// weekName is the ISO name of the week that begins on a Monday: 2026-W11.
func weekName(monday time.Time) string {
	year, week := monday.ISOWeek()
	return fmt.Sprintf("%04d-W%02d", year, week)
}

// monthName is the name of a month: 2026-03.
func monthName(first time.Time) string { return first.Format("2006-01") }
