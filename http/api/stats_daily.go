package api

import (
	"pmx/data"
	"pmx/http/access"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// daysReply returns the response with the n days that call requests.
func (a *API) daysReply(v *encodedSnapshot, call *Call, n int) *encodedBody {
	days, o := v.statsOf().Days, &v.stats.days
	o.once.Do(func() {
		o.encode(append(v.appendBasis(nil), `,"data":[`...), len(days), func(i int) any { return dayOf(&days[i], i == len(days)-1) })
	})
	e := envelope{tier: call.tier, maxRows: dailyStatsRows, hint: access.Nobody}
	return o.bodyFor(a.envelopes, v.asOf, n, e, func(from int, e *envelope) int {
		shown := from + countOlder(days[from:], historyStart(call.tier, v.snap), endOfDay)
		if shown > from {
			e.trimHistory(v.snap, lastInstant(endOfDay(&days[from])))
		}
		return shown
	})
}

func dayOf(d *serving.DayStats, partial bool) wire.StatsDay {
	return wire.StatsDay{Date: data.Date(d.Day).String(), Volume: d.VolumeUSD, VolumeShares: d.VolumeShares, Trades: d.Trades, ActiveWallets: d.ActiveWallets,
		NewWallets: d.NewWallets, NewMarkets: d.NewMarkets, ActiveMarkets: d.ActiveMarkets, IsPartial: partial}
}
