package fillseg

import (
	"pmx/data"
	"pmx/rollups/serving"
)

// older is a fill that is no longer among the newest of its key, and its batch: it still counts for sums. It
// has no transaction hash, which would take as much space as the rest.
type older struct {
	batch, ts        int64
	shares, usd, fee data.Micro
	other, logIndex  int32
	side             data.Side
	role             data.Role
}

// outdated returns the fill of a batch as an older one.
func (t *memtable) outdated(f *serving.Fill, batch int64) older {
	return older{batch: batch, ts: f.TS, shares: f.Shares, usd: f.USD, fee: f.Fee, other: t.other(f), logIndex: f.LogIndex, side: f.Side, role: f.Role}
}

// unpackTo sets the fields that sums need.
func (o *older) unpackTo(f *serving.Fill) {
	*f = serving.Fill{TS: o.ts, Shares: o.shares, USD: o.usd, Fee: o.fee, LogIndex: o.logIndex, Side: o.side, Role: o.role}
}
