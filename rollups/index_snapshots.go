package rollups

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"slices"
	"strconv"

	"pmx/data"
	"pmx/engine"
	"pmx/rollups/index"
)

// fineBuckets is how many buckets back snapshots of every five minutes are kept: 90 days. Those of
// full hours are kept forever.
const fineBuckets = 90 * index.DayBuckets

func keptSnapshot(bucket, at int32) bool {
	return bucket%index.HourBuckets == 0 || bucket > at-fineBuckets
}

// StoreIndex writes the index snapshots that are due: for the instants that as_of has passed since
// the last call, and again for those that late fills and other changes of history affect. A call
// with nothing to do costs one small read.
func StoreIndex(ctx context.Context, conn *sql.Conn) error {
	s, err := readProgress(ctx, conn)
	if err != nil || s.stale {
		return err
	}
	st := &indexStore{ctx: ctx, conn: conn, at: index.At(s.asOf)}
	due, err := st.due()
	if err != nil || !due {
		return err
	}
	if err := engine.InTx(ctx, conn, st.store); err != nil {
		return fmt.Errorf("store index: %w", err)
	}
	return nil
}

// indexRebuilt stores the snapshots of all history.
func indexRebuilt(b *rebuilder) error {
	for _, query := range []string{statements.Get("IndexForget"), statements.Get("IndexLateDone"), statements.Get("IndexStored", "@to", "0")} {
		if err := b.exec(query); err != nil {
			return fmt.Errorf("forget index: %w", err)
		}
	}
	st := &indexStore{ctx: b.ctx, conn: b.conn, at: index.At(b.asOf)}
	if _, err := st.due(); err != nil {
		return err
	}
	if err := st.store(); err != nil {
		return fmt.Errorf("store index: %w", err)
	}
	return nil
}

// indexStore updates index_snapshot up to the instant at. It lives for one call, whose context it
// keeps.
type indexStore struct {
	ctx              context.Context
	conn             *sql.Conn
	at, stored, late int32 // late: how many days are to be recomputed
	first            int32 // bucket of the first fill
}

func (st *indexStore) due() (bool, error) {
	err := st.conn.QueryRowContext(st.ctx, statements.Get("IndexToStore")).Scan(&st.stored, &st.late)
	return err == nil && (st.at > st.stored || st.late > 0), err
}

func (st *indexStore) exec(name string, replace ...string) error {
	if _, err := st.conn.ExecContext(st.ctx, statements.Get(name, replace...)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (st *indexStore) store() error {
	spans, err := st.spans()
	if err != nil {
		return err
	}
	for _, s := range mergeSpans(append(spans, span{max(st.stored+1, st.first), st.at})) {
		if err := st.write(s); err != nil {
			return err
		}
	}
	if err := st.exec("IndexThin", "@first", bucketText(st.first), "@fine", bucketText(st.at-fineBuckets)); err != nil {
		return err
	}
	if err := st.exec("IndexStored", "@to", bucketText(st.at)); err != nil {
		return err
	}
	return st.exec("IndexLateDone")
}

// spans are the instants up to the stored one whose snapshots may be wrong.
func (st *indexStore) spans() ([]span, error) {
	var oldest int32
	flow := indexFlow().merged("")
	if err := st.conn.QueryRowContext(st.ctx, statements.Get("IndexEnds", "@flow", flow)).Scan(&st.first, &oldest); err != nil {
		return nil, fmt.Errorf("IndexEnds: %w", err)
	}
	spans := []span{{st.first, min(oldest-1, st.stored)}}
	late, err := st.lateSpans()
	return append(spans, late...), err
}

func (st *indexStore) lateSpans() (spans []span, err error) {
	err = engine.EachValue(st.ctx, st.conn, statements.Get("IndexLateDays"), func(day int32) error {
		lo := day * index.DayBuckets
		spans = append(spans, span{max(lo, st.first), min(lo+index.DayBuckets+index.Reach, st.stored)})
		return nil
	})
	return spans, err
}

// write recomputes the snapshots of a span.
func (st *indexStore) write(s span) error {
	h, err := st.history(fmt.Sprintf("bucket BETWEEN %d AND %d", s.lo-index.Reach, s.hi))
	if err != nil {
		return err
	}
	var rows [][]driver.Value
	for b := s.lo; b <= s.hi; b++ {
		if keptSnapshot(b, st.at) {
			rows = append(rows, snapshotRow(b, h.Inputs(b)))
		}
	}
	if err := st.exec("IndexReplace", "@lo", bucketText(s.lo), "@hi", bucketText(s.hi)); err != nil {
		return err
	}
	if err := st.exec("IndexNewEmpty"); err != nil {
		return err
	}
	if err := engine.AppendTemp(st.conn, "index_new", len(rows), func(i int) []driver.Value { return rows[i] }); err != nil {
		return err
	}
	return st.exec("IndexAdd")
}

// history reads the flow of the buckets under a condition.
func (st *indexStore) history(where string) (*index.History, error) {
	changes, err := readFlow(st.ctx, st.conn, indexFlow().merged(where))
	h := &index.History{}
	h.Apply(changes)
	return h, err
}

// snapshotRow returns the columns of index_snapshot.
func snapshotRow(bucket int32, in index.Inputs) []driver.Value {
	row := []driver.Value{bucket}
	for _, v := range in.Values() {
		if v == index.None {
			row = append(row, nil)
		} else {
			row = append(row, int64(v))
		}
	}
	row = append(row, int8(in.Windows))
	for _, usd := range []data.Micro{in.Last.Taker, in.Base.Taker, in.Last.Whale, in.Base.Whale, in.Last.Politics, in.Base.Politics,
		in.Last.Crypto, in.Base.Crypto, in.Last.First, in.Last.Mapped} {
		row = append(row, int64(usd))
	}
	return row
}

func bucketText(b int32) string { return strconv.Itoa(int(b)) }

// indexCheck verifies that every snapshot that should be stored is there and equals one computed
// from the flow, except those that the next call of StoreIndex recomputes.
func indexCheck(v *verifier) (Check, error) {
	c := Check{Name: "index_snapshots"}
	st := &indexStore{ctx: v.ctx, conn: v.conn}
	if _, err := st.due(); err != nil {
		return c, err
	}
	late, err := st.spans()
	if err != nil {
		return c, err
	}
	late = mergeSpans(late)
	h, err := st.history("")
	if err != nil {
		return c, err
	}
	next := st.first
	skip := func(b int32) bool {
		return !keptSnapshot(b, st.stored) || slices.ContainsFunc(late, func(s span) bool { return b >= s.lo && b <= s.hi })
	}
	missing := func(until int32) {
		for ; next < until; next++ {
			if !skip(next) {
				c.Bad++
			}
		}
	}
	err = engine.Each(v.ctx, v.conn, statements.Get("IndexSnapshots"), func(row []driver.Value) error {
		b := int32(engine.Int(row[0]))
		missing(b)
		if c.Rows++; !skip(b) && (b < next || b > st.stored || !slices.Equal(row, snapshotRow(b, h.Inputs(b)))) {
			c.Bad++
		}
		next = max(next, b+1)
		return nil
	})
	if err == nil && st.first <= st.stored {
		missing(st.stored + 1)
	}
	if c.OK = c.Bad == 0; !c.OK {
		c.Detail = "a stored index snapshot is missing or differs from one computed from the flow: run pmx rebuild"
	}
	return c, err
}
