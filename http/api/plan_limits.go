package api

import (
	"time"

	"pmx/http/access"
	"pmx/rollups/serving"
)

// listEnvelope returns the envelope of a list and how many of total rows it shows: limit rows asked
// by the caller, at most what the tier and the endpoint allow. A list that the tier cut short says
// so.
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

// pageEnvelope returns the envelope of a page of a scan. more reports whether rows follow it: then
// a page that the tier made shorter than asked says so, while one that is merely full does not.
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

// historyStart is the oldest time, in unix µs, that a plan shows: rows before it are left
// out, one of that very time is shown. 0: all history.
func historyStart(tier access.Tier, snap *serving.Snapshot) int64 {
	days := tier.Caps().HistoryDays
	if days == 0 || snap.AsOf.IsZero() {
		return 0
	}
	return snap.AsOf.Add(-time.Duration(days) * 24 * time.Hour).UnixMicro()
}

// trimHistory marks an answer from which rows were left out for their age and hints
// at the lowest plan that shows one of a time, in unix µs. Of an answer that the
// caller can have as a whole, that is the oldest row; where a scan ends,
// the next one. A bucket's time is its last instant: see lastInstant.
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

// trimDays is trimHistory of a row that a plan with so many days shows.
func (e *envelope) trimDays(days int) { e.trimFor(access.LowestWithHistory(days)) }

// trimFor marks an answer from which rows were left out that a better plan shows.
func (e *envelope) trimFor(better access.Tier) {
	if !e.trimmed || better > e.hint && e.hint != access.Nobody {
		e.hint = better
	}
	e.trimmed = true
}
