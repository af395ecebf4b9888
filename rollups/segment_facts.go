package rollups

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"pmx/engine"
	"pmx/rollups/query"
	"pmx/rollups/segments"
	"pmx/rollups/segments/fillseg"
	"pmx/rollups/serving"
)

// factsPerRead is about how many facts are read at once.
const factsPerRead = 250_000

// NewestFills is how many of a token's fills are kept in a segment: more than an overview of its market
// shows, and all of them for nine markets in ten.
const NewestFills = 50

// signedFill is a row of SegmentBatch.
type signedFill struct {
	query.FillRow
	Sign int8 `sql:"sign"`
}

// factRow is a row of FactRange.
type factRow struct {
	query.FillRow
	Batch int64 `sql:"batch"`
}

// SegmentBatch returns what the batch merged last on conn changed, for segments of fills. number is
// the last import.
func SegmentBatch(ctx context.Context, conn *sql.Conn, number int64) (b fillseg.Batch, err error) {
	b.Number = number
	err = eachRow(statements.Get("SegmentBatch"), func(row *signedFill) {
		if row.Sign < 0 {
			b.Replaced = append(b.Replaced, row.Fill())
		} else {
			b.Fills = append(b.Fills, row.Fill())
		}
	})(ctx, conn)
	if err != nil {
		return b, fmt.Errorf("SegmentBatch: %w", err)
	}
	return b, nil
}

// MissedImport returns the last import, and reports whether an import with any rows lies between
// after and it.
func MissedImport(ctx context.Context, conn *sql.Conn, after int64) (last int64, passed bool, err error) {
	if last, err = LastBatch(ctx, conn, after); err != nil || last <= after+1 {
		return last, false, err
	}
	err = conn.QueryRowContext(ctx, statements.Get("MissedImport", "@after", itoa(after))).Scan(&passed)
	return last, passed, err
}

// ImportLogHash is the fingerprint of the imports up to batch.
func ImportLogHash(ctx context.Context, conn *sql.Conn, batch int64) (sum uint64, err error) {
	var n int64
	err = conn.QueryRowContext(ctx, statements.Get("ImportLogHash", "@batch", itoa(batch))).Scan(&n)
	return uint64(n), err
}

// FactCount is how many facts the imports after one and up to another added.
func FactCount(ctx context.Context, conn *sql.Conn, after, upTo int64) (n int64, err error) {
	err = conn.QueryRowContext(ctx, statements.Get("FactCount", "@after", itoa(after), "@batch", itoa(upTo))).Scan(&n)
	return n, err
}

// sameHistory reports whether a segment was made from this database's imports.
func sameHistory(ctx context.Context, conn *sql.Conn, c segments.Coverage) (bool, error) {
	last, err := LastBatch(ctx, conn, -1)
	if err != nil || last < c.Batch {
		return false, err
	}
	ledger, err := ImportLogHash(ctx, conn, c.Batch)
	return ledger == c.ImportLogHash, err
}

// FillSegmentFits reports whether a segment is of this database and still holds its facts.
func FillSegmentFits(ctx context.Context, conn *sql.Conn, c segments.Coverage) (bool, error) {
	if ours, err := sameHistory(ctx, conn, c); !ours || err != nil {
		return false, err
	}
	n, err := FactCount(ctx, conn, -1, c.Batch)
	return n == c.Facts, err
}

// FactQuery says which facts to read.
type FactQuery struct {
	Batch, After int64        // those of imports after the one and up to the other,
	Again        fillseg.Keys // and all up to Batch of these
}

// QueryFor combines the queries of several plans of segments.
func QueryFor(plans ...fillseg.Plan) FactQuery {
	q := FactQuery{Batch: plans[0].Batch, After: plans[0].After}
	for _, p := range plans {
		q.Batch, q.After = max(q.Batch, p.Batch), min(q.After, p.After)
		q.Again.Wallets, q.Again.Tokens = append(q.Again.Wallets, p.Reread.Wallets...), append(q.Again.Tokens, p.Reread.Tokens...)
	}
	return q
}

func (w *FactQuery) args() []string {
	which := "batch > " + itoa(w.After) + orIn("wallet", w.Again.Wallets) + orIn("token", w.Again.Tokens)
	return []string{"@batch", itoa(w.Batch), "@which", which}
}

// orIn is an OR condition that a column is in a list.
func orIn[T ~int32](column string, ids []T) string {
	if len(ids) == 0 {
		return ""
	}
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = itoa(int64(id))
	}
	return " OR " + column + " IN (" + strings.Join(list, ", ") + ")"
}

// EachFact passes every wanted fact to add, with its batch: the newest spans of time first, in no
// order within a span.
func EachFact(ctx context.Context, conn *sql.Conn, want FactQuery, add func(batch int64, f *serving.Fill) error) error {
	return eachFactBySpan(ctx, conn, want, add, func() {})
}

// eachFactBySpan is EachFact, and calls read after each span. Spans are whole hours.
func eachFactBySpan(ctx context.Context, conn *sql.Conn, want FactQuery, add func(batch int64, f *serving.Fill) error, read func()) error {
	args := want.args()
	spans, err := factSpans(ctx, conn, args)
	if err != nil {
		return fmt.Errorf("FactHours: %w", err)
	}
	for _, s := range spans {
		span := statements.Get("FactRange", append([]string{"@lo", itoa(s[0]), "@hi", itoa(s[1])}, args...)...)
		err := engine.EachRow(ctx, conn, span, func(row *factRow) error {
			f := row.Fill()
			return add(row.Batch, &f)
		})
		if err != nil {
			return fmt.Errorf("FactRange: %w", err)
		}
		read()
	}
	return nil
}

// SegmentBatches returns the imports after one and up to another, for segments of fills, oldest
// first.
func SegmentBatches(ctx context.Context, conn *sql.Conn, after, upTo int64) ([]fillseg.Batch, error) {
	found := map[int64][]serving.Fill{upTo: nil}
	err := EachFact(ctx, conn, FactQuery{Batch: upTo, After: after}, func(batch int64, f *serving.Fill) error {
		found[batch] = append(found[batch], *f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]fillseg.Batch, 0, len(found))
	for _, number := range slices.Sorted(maps.Keys(found)) {
		out = append(out, fillseg.Batch{Number: number, Fills: found[number]})
	}
	return out, nil
}

// factHour is a row of FactHours.
type factHour struct {
	Hour  int64 `sql:"hour"`
	Facts int64 `sql:"facts"`
}

// factSpans cuts time into spans of about factsPerRead facts, the newest first.
func factSpans(ctx context.Context, conn *sql.Conn, args []string) (spans [][2]int64, err error) {
	const hour = 3_600_000_000
	facts := int64(0)
	err = engine.EachRow(ctx, conn, statements.Get("FactHours", args...), func(row *factHour) error {
		lo := row.Hour * hour
		if len(spans) == 0 || facts+row.Facts > factsPerRead {
			spans, facts = append(spans, [2]int64{lo, lo + hour}), 0
		}
		spans[len(spans)-1][0] = lo
		facts += row.Facts
		return nil
	})
	return spans, err
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
