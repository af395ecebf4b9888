package rollups

import (
	"database/sql"
	"fmt"
	"strconv"
)

// indexVertical keeps what the PMX index is computed from.
func indexVertical() vertical {
	return vertical{
		tables:  []table{indexFlow()},
		before:  indexBefore,
		after:   indexAfter,
		rebuilt: indexRebuilt,
		check:   indexCheck,
		section: func() section { return &indexSection{} },
	}
}

func indexFlow() table {
	return table{name: "index_flow", delta: "DeltaIndexFlow", rebuild: "RebuildIndexFlow", with: withFills | withMarkets, keys: []string{"bucket"},
		sums: []string{"fills", "taker_usd", "whale_usd", "politics_usd", "crypto_usd", "first_usd", "mapped_usd"}}
}

// indexBefore reads the history of tokens whose market, outcome or category the batch changes. It
// scans facts only if they were traded.
func indexBefore(m *merge) error {
	if !m.has(withMarkets) {
		return nil
	}
	for _, name := range []string{"IndexMovedEmpty", "IndexMovedFlowEmpty"} {
		if err := m.exec(name); err != nil {
			return err
		}
	}
	if err := m.exec("IndexMoved"); err != nil {
		return err
	}
	var lo, hi sql.NullInt64
	if err := m.conn.QueryRowContext(m.ctx, statements.Get("IndexMovedSpan")).Scan(&lo, &hi); err != nil {
		return fmt.Errorf("IndexMovedSpan: %w", err)
	}
	if !lo.Valid {
		return nil
	}
	return m.exec("IndexMovedFlow", "@lo", strconv.FormatInt(lo.Int64, 10), "@hi", strconv.FormatInt(hi.Int64, 10))
}

// indexAfter notes the days whose stored snapshots must be recomputed.
func indexAfter(m *merge) error {
	if !m.has(withFills|withMarkets) || m.sums != nil && !m.sums.late(m.indexStored) {
		return nil
	}
	return m.exec("IndexLate", "@moved", statementIf(m.has(withMarkets), "IndexLateMoved"))
}
