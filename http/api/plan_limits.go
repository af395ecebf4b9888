package api

import (
	"time"

	"pmx/http/access"
	"pmx/rollups/serving"
)

// listEnvelope returns the envelope of a list and how many of total rows it shows: limit rows as
// requested, at most what the tier and the endpoint allow. The envelope says if the tier cut the
// list short.
func (call *Call) listEnvelope(limit, total int) (envelope, int) {
	most := call.route.MaxRows
	e := envelope{tier: call.tier, maxRows: min(call.tier.Caps().Rows, most), hint: access.Nobody}
	n := min(limit, total)
	if n > e.maxRows {
		n = e.maxRows
		e.trimmed = true
		if better, ok := access.LowestWithRows(min(limit, total)); ok {
			e.hint = better
		}
	}
	return e, n
}

// pageRows is how many rows a page of a scan has at most.
func (call *Call) pageRows(limit int) int {
	return min(limit, call.tier.Caps().Rows, call.route.MaxRows)
}

// pageEnvelope returns the envelope of a page of a scan. more says that rows follow it: then the
// envelope of a page that the tier made shorter than requested says so, while a full page is not
// truncated.
func (call *Call) pageEnvelope(limit int, more bool) envelope {
	e := envelope{tier: call.tier, maxRows: min(call.tier.Caps().Rows, call.route.MaxRows), hint: access.Nobody}
	if more && limit > e.maxRows {
		e.trimmed = true
		if better, ok := access.LowestWithRows(limit); ok {
			e.hint = better
		}
	}
	return e
}

// historyStart is the oldest time, in unix µs, that a plan shows: rows before it are left out, one
// at exactly that time is shown. 0: all history.
func historyStart(tier access.Tier, snap *serving.Snapshot) int64 {
	days := tier.Caps().HistoryDays
	if days == 0 || snap.AsOf.IsZero() {
		return 0
	}
	return snap.AsOf.Add(-time.Duration(days) * 24 * time.Hour).UnixMicro()
}

// trimHistory marks a response from which rows were left out for their age, and hints at the lowest
// plan that shows a row of a time, in unix µs. For a complete list, pass the time of the oldest
// row; at the end of a scan, that of the next row. A bucket's time is its last instant: see
// lastInstant.
func (e *envelope) trimHistory(snap *serving.Snapshot, ts int64) {
	for _, t := range access.Tiers() {
		if historyStart(t, snap) <= ts {
			e.trimFor(t)
			return
		}
	}
}

// lastInstant is the last instant of a bucket that ends before end: a bucket is shown
// while any part of it is within the history.
func lastInstant(end int64) int64 { return end - 1 }

// trimDays is trimHistory for a row that a plan with so many days shows.
func (e *envelope) trimDays(days int) { e.trimFor(access.LowestWithHistory(days)) }

// trimFor marks a response from which rows were left out that a better plan shows.
func (e *envelope) trimFor(better access.Tier) {
	if !e.trimmed || better > e.hint && e.hint != access.Nobody {
		e.hint = better
	}
	e.trimmed = true
}
