package rollups

import (
	"context"
	"database/sql"
	"slices"

	"pmx/data"
	"pmx/rollups/index"
	"pmx/rollups/serving"
)

// indexSection keeps the flow of every bucket and the hourly bars that follow
// from it.
type indexSection struct {
	history index.History
	at      int32 // the instant up to which there are bars
	hour    int32 // of the first bar
	blocks  [][]index.Bars
	owned   map[int32]bool // blocks made since the last snapshot
}

func (p *indexSection) follow(ctx context.Context, conn *sql.Conn, l *Live, from func(table) string, whole bool) error {
	if whole {
		*p = indexSection{owned: map[int32]bool{}}
	}
	changes, err := flowChanges(ctx, conn, func(add func(row *flowRow)) step {
		return eachAdded(l, func(b *batchSums) []flowRow { return b.flow.rows }, from(indexFlow()), add)
	})
	if err != nil {
		return err
	}
	p.history.Apply(changes)
	p.computeBars(changes, index.At(l.next.asOf))
	return nil
}

func (*indexSection) needsOnlyWallets() {}

// flowRow is a row of index_flow.
type flowRow struct {
	Bucket   int32      `sql:"bucket"`
	Fills    int64      `sql:"fills"`
	Taker    data.Micro `sql:"taker_usd"`
	Whale    data.Micro `sql:"whale_usd"`
	Politics data.Micro `sql:"politics_usd"`
	Crypto   data.Micro `sql:"crypto_usd"`
	First    data.Micro `sql:"first_usd"`
	Mapped   data.Micro `sql:"mapped_usd"`
}

// readFlow reads rows of index_flow.
func readFlow(ctx context.Context, conn *sql.Conn, query string) (changes []index.Change, err error) {
	return flowChanges(ctx, conn, func(add func(row *flowRow)) step { return eachRow(query, add) })
}

func flowChanges(ctx context.Context, conn *sql.Conn, each func(add func(row *flowRow)) step) (changes []index.Change, err error) {
	err = each(func(row *flowRow) {
		changes = append(changes, index.Change{Bucket: row.Bucket, Flow: index.Flow{Fills: row.Fills, Taker: row.Taker, Whale: row.Whale,
			Politics: row.Politics, Crypto: row.Crypto, First: row.First, Mapped: row.Mapped}})
	})(ctx, conn)
	return changes, err
}

// span is a range of instants, both ends in it.
type span struct{ lo, hi int32 }

// mergeSpans returns the spans in order, with adjacent ones joined and empty ones left out.
func mergeSpans(spans []span) []span {
	spans = slices.DeleteFunc(spans, func(s span) bool { return s.lo > s.hi })
	slices.SortFunc(spans, func(a, b span) int { return int(a.lo) - int(b.lo) })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, s.hi)
			continue
		}
		out = append(out, s)
	}
	return out
}

// computeBars recomputes the bars that changes affect, and computes new ones up to the instant at.
func (p *indexSection) computeBars(changes []index.Change, at int32) {
	first, any := p.history.First()
	if !any || first > at {
		p.at, p.blocks = 0, nil
		return
	}
	if p.at == 0 || first/index.HourBuckets != p.hour {
		p.at, p.hour, p.blocks = first-1, first/index.HourBuckets, nil
	}
	spans := []span{{p.at + 1, at}}
	for _, c := range changes {
		spans = append(spans, span{max(c.Bucket, first), min(c.Bucket+index.Reach-1, at)})
	}
	for _, s := range mergeSpans(spans) {
		for hour := s.lo / index.HourBuckets; hour <= s.hi/index.HourBuckets; hour++ {
			p.computeHour(hour, first, at)
		}
	}
	p.at = at
}

func (p *indexSection) computeHour(hour, first, at int32) {
	bars := index.NoBars()
	for b := max(hour*index.HourBuckets, first); b < (hour+1)*index.HourBuckets && b <= at; b++ {
		in := p.history.Inputs(b)
		v := in.Values()
		bars.Add(&v)
	}
	n := (hour - p.hour) / serving.IndexChunk
	if int(n) == len(p.blocks) {
		p.blocks = append(p.blocks, make([]index.Bars, 0, serving.IndexChunk))
		p.owned[n] = true
	}
	if !p.owned[n] {
		p.blocks[n] = append(make([]index.Bars, 0, serving.IndexChunk), p.blocks[n]...)
		p.owned[n] = true
	}
	if i := int((hour - p.hour) % serving.IndexChunk); i < len(p.blocks[n]) {
		p.blocks[n][i] = bars
	} else {
		p.blocks[n] = append(p.blocks[n], bars)
	}
}

func (p *indexSection) publish(_ context.Context, _ *sql.Conn, _ *Live, snap *serving.Snapshot) error {
	snap.Index = &serving.Index{}
	if p.at > 0 {
		*snap.Index = serving.Index{Bucket: p.at, Now: p.history.Inputs(p.at), DayBefore: p.history.Inputs(p.at - index.DayBuckets),
			FirstHour: int64(p.hour), Hours: slices.Clone(p.blocks)}
	}
	clear(p.owned)
	return nil
}
