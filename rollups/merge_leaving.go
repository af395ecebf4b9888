package rollups

import (
	"fmt"

	"pmx/engine"
)

// leavingAhead is for how much longer than a batch the facts that leave windows are read at once, in µs of as_of: planning
// the statement takes longer than the rows of a few batches.
const leavingAhead = 15_000_000

// leavingFills are the facts that leave each window, and each long one, while as_of moves from from to until, unix µs. They
// hold until a merge changes older facts. The zero value holds none.
type leavingFills struct {
	from, until int64
	fills       []batchFill // by span, as LeavingFills gives them
}

// leavingSpan is the length of what a span of LeavingFills leaves.
func leavingSpan(span int) int64 {
	if span < len(windows) {
		return windows[span]
	}
	return longWindows[span-len(windows)]
}

// read reads what leaves until as_of is ahead of to.
func (l *leavingFills) read(m *merge) error {
	*l = leavingFills{}
	next := leavingFills{from: m.from, until: m.to + leavingAhead}
	var parts []string
	for span := range len(windows) + len(longWindows) {
		length := leavingSpan(span)
		parts = append(parts, statements.Get("LeavingFills", spanArgs(span, "-1", next.from-length, min(next.until-length, next.from))...))
	}
	err := engine.EachRow(m.ctx, m.conn, unionAll(parts), func(f *batchFill) error {
		next.fills = append(next.fills, *f)
		return nil
	})
	if err != nil {
		return fmt.Errorf("LeavingFills: %w", err)
	}
	*l = next
	return nil
}

// between returns what leaves while as_of moves as m says, which is within what was read.
func (l *leavingFills) between(m *merge) (left []batchFill) {
	for i := range l.fills {
		f := &l.fills[i]
		if length := leavingSpan(int(f.Span)); f.TS > m.from-length && f.TS <= min(m.to-length, m.from) {
			left = append(left, *f)
		}
	}
	return left
}

// readLeaving reads what leaves the windows as as_of moves on, before the batch is added.
func (m *merge) readLeaving() error {
	if l := m.leaving; m.from < l.from || m.to > l.until || l.until == 0 {
		if err := l.read(m); err != nil {
			return err
		}
	}
	m.sums.left = m.leaving.between(m)
	// The span that as_of advances by is in all windows: sumUp accepts no longer one.
	redemptions := []string{statements.Get("RedemptionBetween", spanArgs(len(windows), "", m.from, m.to)...)}
	for span, length := range windows {
		redemptions = append(redemptions, statements.Get("RedemptionBetween", spanArgs(span, "-1", m.from-length, m.to-length)...))
	}
	return m.readRedemption(redemptions)
}
