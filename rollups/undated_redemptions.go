package rollups

import (
	"fmt"
	"strconv"
	"strings"
)

// undatedTable is the rollup of redemptions whose time is not known.
func undatedTable() table {
	return table{name: "undated", delta: "DeltaUndated", rebuild: "RebuildUndated", by: byUndatedTrade, with: withFills | withHolders, keys: []string{"last_ts", "market", "wallet"},
		sums: []string{"usd", "markets"}}
}

// gone is the start of the longest window that ends at a time.
func gone(to int64) int64 { return to - windows[len(windows)-1] }

// undated makes the temporary tables that the deltas of undated and of the windows read: the new
// values of touched holdings in markets resolved at an unknown time, and what enters and leaves the
// windows because of them.
func (m *merge) undated() error {
	if any, err := m.anyUndated(); err != nil || !any {
		return err
	}
	m.undatedMoves = true
	if err := m.undatedAfter(); err != nil {
		return err
	}
	var parts []string
	for span, length := range windows {
		was, is := m.from-length, m.to-length
		args := []string{"@span", strconv.Itoa(span), "@lo", strconv.FormatInt(is, 10)}
		which := fmt.Sprintf("last_ts > %d AND (last_ts <= %d OR %s)", was, is, m.revaluedUndated())
		parts = append(parts, statements.Get("UndatedLeaves", append(args, "@undated", statements.Get("Undated", "@which", which))...),
			statements.Get("UndatedEnters", args...))
	}
	if m.sums != nil {
		return m.sums.readUndated(m.ctx, m.conn, parts)
	}
	return m.exec("WindowsUndated", "@parts", unionAll(parts))
}

// revaluesUndated reports whether holders of markets resolved at an unknown time are revalued, or,
// if statements do it, any holders.
func (m *merge) revaluesUndated() bool {
	if m.sums != nil {
		return len(m.sums.held.undated[0])+len(m.sums.held.undated[1]) > 0
	}
	return m.touched > 0
}

// anyUndated reports whether the batch may change undated, or moves a row of it out of a window.
func (m *merge) anyUndated() (any bool, err error) {
	if m.revaluesUndated() || m.to == m.from {
		return m.revaluesUndated(), nil
	}
	leaves := []string{fmt.Sprintf("last_ts <= %d", gone(m.to))}
	for _, length := range windows {
		leaves = append(leaves, fmt.Sprintf("last_ts > %d AND last_ts <= %d", m.from-length, m.to-length))
	}
	query := statements.Get("AnyUndated", "@undated", statements.Get("Undated", "@which", strings.Join(leaves, " OR ")))
	err = m.conn.QueryRowContext(m.ctx, query).Scan(&any)
	return any, err
}

func (m *merge) undatedAfter() error {
	if !m.revaluesUndated() {
		return m.exec("NoUndated")
	}
	if m.sums != nil {
		if err := m.keepUndated(); err != nil {
			return err
		}
	}
	tokens := statements.Get("UndatedTokens", "@touched", " AND "+oneOf("t.token", m.touchedTokens))
	list, n, err := m.few(tokens)
	if err != nil {
		return err
	}
	if n == 0 {
		return m.exec("NoUndated")
	}
	_, err = m.keep("undated_after", statements.Get("UndatedHoldings", "@held", "held_after", "@tokens", list, "@gone", strconv.FormatInt(gone(m.to), 10)))
	return err
}

// revaluedUndated is the condition on rows of undated that their holders were revalued.
func (m *merge) revaluedUndated() string {
	if !m.revaluesUndated() {
		return "false"
	}
	return statements.Get("Revalued")
}

// replacedUndated are the rows that the batch removes from undated: those whose holders were
// revalued, and those that are no longer in any window.
func (m *merge) replacedUndated() string {
	return statements.Get("Undated", "@which", fmt.Sprintf("last_ts <= %d OR %s", gone(m.to), m.revaluedUndated()))
}

// undated makes undated_after of all holdings.
func (b *rebuilder) undated() error {
	if err := b.exec(statements.Get("NoUndated")); err != nil {
		return err
	}
	ranges, err := b.chunker.ranges(statements.Get("MarketsUndated"), 2)
	if err != nil {
		return err
	}
	for _, r := range ranges {
		held, tokens := statements.Get("RowsInRange", "@rows", "FROM held_all", "@which", r.of("market")), " AND "+r.of("t.market")
		err := b.into("undated_after", statements.Get("UndatedHoldings", "@held", "("+held+")", "@tokens", statements.Get("UndatedTokens", "@touched", tokens),
			"@gone", strconv.FormatInt(gone(b.asOf), 10)))
		if err != nil {
			return err
		}
	}
	return nil
}

// windowUndated returns the statement that puts undated_after into the windows.
func (b *rebuilder) windowUndated() string {
	var parts []string
	for span, length := range windows {
		parts = append(parts, statements.Get("UndatedEnters", spanArgs(span, "1", b.asOf-length, b.asOf)...))
	}
	return statements.Get("WindowsUndated", "@parts", strings.Join(parts, "\nUNION ALL\n"))
}
