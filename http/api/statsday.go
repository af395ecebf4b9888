package api

import (
	"strconv"

	"pmx/http/access"
	"pmx/rollups/serving"
)

// encodeDays writes the venue day by day.
func encodeDays(o *timeline, v *view) {
	days := v.statsOf().Days
	o.encode(append(v.appendBasis(nil), `,"data":[`...), len(days), func(b []byte, i int) []byte {
		return appendDay(b, &days[i], i == len(days)-1)
	})
}

// shownDays gives the first day that a plan shows of those from one on, and says in
// e what it leaves out.
func (v *view) shownDays(call *Call, from int, e *envelope) int {
	days := v.statsOf().Days
	shown := from + older(days[from:], call.historyStart(v.snap), endOfDay)
	if shown > from {
		e.cutHistory(v.snap, endOfDay(&days[from]))
	}
	return shown
}

// daysReply gives the answer to n days asked by call.
func (a *API) daysReply(v *view, call *Call, n int) *prepared {
	o := &v.stats.days
	o.once.Do(func() { encodeDays(o, v) })
	return o.reply(a.envelopes, v.asOf, n, envelope{tier: call.tier, maxRows: dailyStatsRows, hint: access.Nobody},
		func(from int, e *envelope) int { return v.shownDays(call, from, e) })
}

// appendDay writes wire.StatsDay.
func appendDay(b []byte, d *serving.DayStats, partial bool) []byte {
	b = appendDate(append(b, `{"date":`...), int32(d.Day))
	b = d.VolumeUSD.Append(append(b, `,"volume":`...))
	b = d.VolumeShares.Append(append(b, `,"volume_shares":`...))
	b = strconv.AppendInt(append(b, `,"trades":`...), d.Trades, 10)
	b = strconv.AppendInt(append(b, `,"active_wallets":`...), d.ActiveWallets, 10)
	b = strconv.AppendInt(append(b, `,"new_wallets":`...), d.NewWallets, 10)
	b = strconv.AppendInt(append(b, `,"new_markets":`...), d.NewMarkets, 10)
	b = strconv.AppendInt(append(b, `,"active_markets":`...), d.ActiveMarkets, 10)
	return append(appendBool(append(b, `,"is_partial":`...), partial), '}')
}
