package apitest

import (
	"pmx/data"
	"pmx/rollups/serving"
)

// Stats returns synthetic activity of a venue over the given number of days, which end with the day
// of AsOf: day i, from 0, has a volume of i+1 dollars, i+2 trades, i+3 active wallets, 2 new ones
// and 1 new market.
func Stats(days int) *serving.Stats {
	asOf := AsOf.UnixMicro()
	last := asOf / 86_400_000_000
	s := &serving.Stats{Traders: int64(2 * days), FirstTS: (last-int64(days)+1)*86_400_000_000 + 1, LastTS: asOf,
		Sums: serving.Totals{Fills: 100, TakerFills: 40, MakerFills: 50, UnmappedFills: 3, NegativeLegs: 2, BuyUSD: 70_000_000,
			SellUSD: 30_000_001, FeeUSD: 500_000, NetCash: -40_499_999, Redemption: 40_000_000, UnresolvedCash: -9_000_000}}
	for p := range serving.Periods {
		n := int64(p) + 1
		s.Windows[p] = serving.Rolling{Activity: activity(10 * n), Traders: 5 * n, Markets: 3 * n}
		if p != serving.Day {
			s.Windows[p].Previous = activity(16 * (n - 2))
		}
	}
	for h := range int64(24) {
		s.Hours = append(s.Hours, serving.HourStats{Start: asOf/3_600_000_000 - 23 + h, Activity: activity(h), ActiveWallets: h / 2})
	}
	for i := range int64(days) {
		day := last - int64(days) + 1 + i
		s.Days = append(s.Days, serving.DayStats{Day: day, Activity: activity(i + 1), ActiveWallets: i + 3, NewWallets: 2, NewMarkets: 1, ActiveMarkets: i})
	}
	s.Weeks = spans(s.Days, func(day int64) int64 { return (day+3)/7*7 - 3 }, 7)
	s.Months = spans(s.Days, func(day int64) int64 { return day / 30 * 30 }, 30)
	return s
}

func activity(n int64) serving.Activity {
	return serving.Activity{VolumeUSD: data.Micro(n) * data.One, VolumeShares: data.Micro(n) * 2_500_000, Trades: n + 1}
}

// spans sums days by spans; begin returns the first day of a day's span.
func spans(days []serving.DayStats, begin func(day int64) int64, length int64) []serving.SpanStats {
	var out []serving.SpanStats
	for i := range days {
		d := &days[i]
		if first := begin(d.Day); len(out) == 0 || out[len(out)-1].First != first {
			out = append(out, serving.SpanStats{First: first, Last: first + length - 1, ActiveWallets: d.ActiveWallets})
		}
		s := &out[len(out)-1]
		s.VolumeUSD += d.VolumeUSD
		s.VolumeShares += d.VolumeShares
		s.Trades += d.Trades
		s.NewWallets += d.NewWallets
		s.NewMarkets += d.NewMarkets
	}
	return out
}
