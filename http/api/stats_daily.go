package api

import (
	"strconv"

	"pmx/http/access"
	"pmx/rollups/serving"
)

// daysReply gives the answer to n days asked by call.
func (a *API) daysReply(v *encodedSnapshot, call *Call, n int) *encodedBody {
	days, o := v.statsOf().Days, &v.stats.days
	o.once.Do(func() {
		o.encode(append(v.appendBasis(nil), `,"data":[`...), len(days), func(b []byte, i int) []byte {
			return appendDay(b, &days[i], i == len(days)-1)
		})
	})
	e := envelope{tier: call.tier, maxRows: dailyStatsRows, hint: access.Nobody}
	return o.bodyFor(a.envelopes, v.asOf, n, e, func(from int, e *envelope) int {
		shown := from + countOlder(days[from:], call.historyStart(v.snap), endOfDay)
		if shown > from {
			e.trimHistory(v.snap, lastInstant(endOfDay(&days[from])))
		}
		return shown
	})
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
