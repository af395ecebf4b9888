package rollups

import (
	"fmt"
	"strconv"
	"strings"
)

// moveWindows removes from the windows what as_of leaves behind, and adds the batch's fills and the
// resolutions that lay in the future of the old as_of.
func (m *merge) moveWindows() error {
	if m.sums != nil {
		return m.readLeaving()
	}
	var fills, redemptions []string
	for span, length := range windows {
		start := m.to - length
		if m.fills > 0 {
			fills = append(fills, statements.Get("EnteringFills", spanArgs(span, "1", start, m.to)...))
		}
		if m.to == m.from {
			continue
		}
		leaving := spanArgs(span, "-1", m.from-length, min(start, m.from))
		fills = append(fills, statements.Get("WindowFills", leaving...))
		redemptions = append(redemptions, statements.Get("MovingRedemption", leaving...),
			statements.Get("MovingRedemption", spanArgs(span, "1", max(m.from, start), m.to)...))
	}
	if len(fills) > 0 {
		if err := m.exec("IntoWindows", "@rows", unionAll(fills)); err != nil {
			return err
		}
	}
	if len(redemptions) == 0 {
		return nil
	}
	return m.redeem(redemptions)
}

// redeem adds the rows of queries to w_redemption.
func (m *merge) redeem(parts []string) error {
	res, err := m.conn.ExecContext(m.ctx, statements.Get("RedemptionIntoWindows", "@rows", unionAll(parts)))
	if err != nil {
		return fmt.Errorf("RedemptionIntoWindows: %w", err)
	}
	n, err := res.RowsAffected()
	m.redeemed += n
	return err
}

// unionAll is the query of all rows of some.
func unionAll(queries []string) string { return strings.Join(queries, "\nUNION ALL\n") }

func spanArgs(span int, sign string, lo, hi int64) []string {
	return []string{"@span", strconv.Itoa(span), "@sign", sign,
		"@lo", strconv.FormatInt(lo, 10), "@hi", strconv.FormatInt(hi, 10)}
}

// batchRedemption adds what the batch itself redeems.
func (m *merge) batchRedemption() error {
	if m.touched == 0 {
		return nil
	}
	if m.sums != nil {
		m.sums.redeemHeld(m.to)
		return nil
	}
	var parts []string
	for span, length := range windows {
		parts = append(parts, statements.Get("BatchRedemption", spanArgs(span, "1", m.to-length, m.to)...))
	}
	return m.redeem(parts)
}
