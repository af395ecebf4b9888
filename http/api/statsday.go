package api

import (
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"pmx/http/access"
	"pmx/rollups/serving"
)

// daySheet is the venue day by day, oldest first. Its rows are encoded once, so
// that any number of days is the end of one buffer.
type daySheet struct {
	once    sync.Once
	middle  []byte // from behind as_of to the bracket of the rows
	rows    []byte // each with the comma behind it
	starts  []int  // of each row, and where the last one ends
	replies [access.Nobody + 1][]atomic.Pointer[prepared]
}

func (o *daySheet) encode(v *view) {
	days := v.statsOf().Days
	o.middle = append(v.appendBasis(nil), `,"data":[`...)
	o.starts = make([]int, 1, len(days)+1)
	for i := range days {
		o.rows = append(appendDay(o.rows, &days[i], i == len(days)-1), ',')
		o.starts = append(o.starts, len(o.rows))
	}
	for tier := range o.replies {
		o.replies[tier] = make([]atomic.Pointer[prepared], len(days)+1)
	}
}

// reply gives the answer to n days asked by call, made at its first use.
func (o *daySheet) reply(all *envelopes, v *view, call *Call, n int) *prepared {
	days := v.statsOf().Days
	from := max(0, len(days)-n)
	slot := &o.replies[call.tier][from]
	if r := slot.Load(); r != nil {
		return r
	}
	e := envelope{tier: call.tier, maxRows: dailyStatsRows, hint: access.Nobody}
	if shown := from + older(days[from:], call.historyStart(v.snap), endOfDay); shown > from {
		e.cutHistory(v.snap, endOfDay(&days[from]))
		from = shown
	}
	r := &prepared{rows: o.rows[o.starts[from]:max(o.starts[from], len(o.rows)-1)], tail: "]}"}
	b := all.append([]byte{'{'}, e)
	r.tag = tagOf(chain(xxhash.Sum64(b), xxhash.Sum64(o.middle), xxhash.Sum64(r.rows)))
	r.head = append(append(append(b, `,"as_of":`...), v.asOf...), o.middle...)
	if !slot.CompareAndSwap(nil, r) {
		return slot.Load()
	}
	return r
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
