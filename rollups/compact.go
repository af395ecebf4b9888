package rollups

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

	"pmx/engine"
)

// Compaction bounds. A step folds the delta of one key range of about stepBaseRows base rows, so
// that it occupies the writer for a fraction of a second. A delta is compacted when it has
// minDeltaRows rows, or an eighth of its base.
const (
	stepBaseRows = 250_000
	minDeltaRows = 100_000
)

// Compact folds one key range of one rollup's delta into its sorted base, in one transaction. It
// does nothing, and returns false, if no delta is long enough. Sums do not change, so readers and
// the snapshot are not affected.
func Compact(ctx context.Context, conn *sql.Conn) (worked bool, err error) {
	for _, t := range tables {
		due, err := t.compactionDue(ctx, conn)
		if err != nil {
			return false, fmt.Errorf("compact %s: %w", t.name, err)
		}
		if !due {
			continue
		}
		if err := t.compactRange(ctx, conn, stepBaseRows); err != nil {
			return false, fmt.Errorf("compact %s: %w", t.name, err)
		}
		return true, nil
	}
	return compactFacts(ctx, conn)
}

// CompactAll folds every delta, however short, in steps of about step base rows.
func CompactAll(ctx context.Context, conn *sql.Conn, step int64) error {
	for _, t := range tables {
		for {
			var left int64
			if err := conn.QueryRowContext(ctx, t.named("DeltaRows")).Scan(&left); err != nil {
				return err
			}
			if left == 0 {
				break
			}
			if err := t.compactRange(ctx, conn, step); err != nil {
				return fmt.Errorf("compact %s: %w", t.name, err)
			}
		}
	}
	return nil
}

// compactionDue reports whether the delta is long, or its compaction has begun: then key ranges
// below the first remaining one are done.
func (t table) compactionDue(ctx context.Context, conn *sql.Conn) (bool, error) {
	var base, delta int64
	err := conn.QueryRowContext(ctx, t.named("BaseAndDeltaRows")).Scan(&base, &delta)
	return delta >= minDeltaRows || (delta >= 1000 && delta*8 >= base), err
}

// compactRange compacts the lowest keys of the delta.
func (t table) compactRange(ctx context.Context, conn *sql.Conn, step int64) error {
	lo, hi, err := t.nextRange(ctx, conn, step)
	if err != nil {
		return err
	}
	where := fmt.Sprintf("%s BETWEEN %d AND %d", t.keys[0], lo, hi)
	return engine.InTx(ctx, conn, func() error {
		for _, name := range []string{"FoldRange", "DropBaseRange", "DropDeltaRange", "PutFolded", "DropFolded"} {
			if _, err := conn.ExecContext(ctx, t.named(name, "@range", where, "@merged", t.merged(where), "@stored", t.stored())); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	})
}

// nextRange picks the key range of the next step: from the lowest key in the delta on, with about
// step rows of the base.
func (t table) nextRange(ctx context.Context, conn *sql.Conn, step int64) (lo, hi int64, err error) {
	var rows int64
	var first, last sql.NullInt64
	err = conn.QueryRowContext(ctx, t.named("KeySpan")).Scan(&first, &last, &rows)
	if err != nil || !first.Valid {
		return 0, 0, err
	}
	lo, hi = first.Int64, last.Int64
	span := hi - lo + 1
	if rows > step {
		span = max(1, int64(float64(span)*float64(step)/float64(rows))) // times in µs times rows overflow int64
	}
	// Keys are skewed: halve until the range is small enough, or a single key.
	for span > 1 {
		var n int64
		query := t.named("RangeRows", "@lo", strconv.FormatInt(lo, 10), "@hi", strconv.FormatInt(lo+span-1, 10))
		if err := conn.QueryRowContext(ctx, query).Scan(&n); err != nil {
			return 0, 0, err
		}
		if n <= 2*step {
			break
		}
		span /= 2
	}
	return lo, min(hi, lo+span-1), nil
}

// compactFacts sorts one day with late fills by time, so that reads by time find each day in few
// places. The next checkpoint frees row groups that become empty.
func compactFacts(ctx context.Context, conn *sql.Conn) (bool, error) {
	var day sql.NullInt64
	if err := conn.QueryRowContext(ctx, statements.Get("ScatteredDay")).Scan(&day); err != nil {
		return false, fmt.Errorf("compact fills: %w", err)
	}
	if !day.Valid {
		return false, nil
	}
	arg := strconv.FormatInt(day.Int64, 10)
	err := engine.InTx(ctx, conn, func() error {
		for _, name := range []string{"TakeDay", "DropDay", "PutDay", "MarkDay", "DropFolded"} {
			if _, err := conn.ExecContext(ctx, statements.Get(name, "@day", arg)); err != nil {
				return fmt.Errorf("compact fills: %s: %w", name, err)
			}
		}
		return nil
	})
	return err == nil, err
}
