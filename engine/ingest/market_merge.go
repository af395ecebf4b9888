package ingest

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"pmx/engine"
)

// fewMarkets is the maximum number of rows of m_raw that are merged in Go, in half the time of
// MarketsNext or less: DuckDB takes 50 ms to plan that statement, and reads all markets. For more
// rows, both sides would take a lot of memory in Go.
const fewMarkets = 4096

// inMemory reports whether so many rows of m_raw are merged in Go.
func (j *fileImport) inMemory(rows int64) bool {
	return !j.im.byStatement && !j.spilled && rows <= fewMarkets
}

// marketChanges are the changed markets, and what is needed for the next steps.
type marketChanges struct {
	rows, payouts  [][]driver.Value // rows of n_market and n_payout
	fresh, changed int64
	resolutions    int64 // markets that get payouts
	unfit, gone    int64 // whose payouts do not fit the outcomes, and whose payouts are removed
	relabelled     bool  // outcomes of some change
	disputed       bool  // some payouts may not fit, or differ from known ones: checkPayouts decides
	relisted       bool  // some may keep a list of tokens although the newer record has none
}

// mergeFewMarkets is the statement MarketsNext for few rows. The statement is the definition; a
// test compares the two.
func (j *fileImport) mergeFewMarkets() (*marketChanges, error) {
	said, err := j.saidMarkets()
	if err != nil {
		return nil, err
	}
	changes := &marketChanges{}
	err = engine.Each(j.ctx, j.conn, statements.Get("KnownMarkets", "@columns", strings.Join(marketColumns, ", ")), func(row []driver.Value) error {
		o, err := newMarketWord(slices.Clone(row), false)
		if err != nil {
			return err
		}
		key := string(o.cells.condition())
		n := said[key]
		if n == nil {
			return fmt.Errorf("market %s exists twice", hexed(o.cells.condition()))
		}
		delete(said, key)
		o.known = true
		return changes.add(n, o)
	})
	if err == nil && len(said) > 0 {
		err = j.addUnknown(changes, said)
	}
	return changes, err
}

// fewStubs is the maximum number of markets known only by name that are merged like others.
const fewStubs = 100

// mergeStubs is mergeFewMarkets for an m_raw that has only unknown markets with nothing but their
// condition, so that rows differ only in id and condition. If payouts were stored earlier for one
// of them, they are merged like others.
func (j *fileImport) mergeStubs() (*marketChanges, error) {
	stubs, err := j.count("m_raw")
	if err != nil {
		return nil, err
	}
	spare, err := j.count("spare_payouts")
	if err != nil {
		return nil, err
	}
	if spare > 0 {
		if err := j.aloneIf(true); err != nil {
			return nil, err
		}
		return j.mergeMarkets(stubs)
	}
	n := &marketWord{cells: make(marketCells, len(marketColumns)), stub: true, base: -1}
	var first []byte
	if err := j.conn.QueryRowContext(j.ctx, statements.Get("FirstMarket")).Scan(&first); err != nil {
		return nil, err
	}
	n.cells[conditionCell] = first
	m := &marketChanges{}
	if err := errors.Join(j.addUnknown(m, map[string]*marketWord{string(first): n}), j.stageChanges(m)); err != nil {
		return nil, err
	}
	given := ""
	for i, value := range m.rows[0] {
		if i != marketCell && i != conditionCell && value != nil {
			given += ", f." + marketColumns[i]
		}
	}
	if err := j.exec("StubsLikeFirst", "@given", given); err != nil {
		return nil, err
	}
	j.changes, j.receipt.MarketsNew = marketChanges{fresh: stubs}, stubs
	return &j.changes, nil
}

// stageChanges fills n_market and n_payout.
func (j *fileImport) stageChanges(m *marketChanges) error {
	if err := j.empty("MarketsNextNone", "NoPayouts"); err != nil {
		return err
	}
	for table, rows := range map[string][][]driver.Value{"n_market": m.rows, "n_payout": m.payouts} {
		if len(rows) == 0 {
			continue
		}
		if err := engine.AppendTemp(j.conn, table, len(rows), func(i int) []driver.Value { return rows[i] }); err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
	}
	return nil
}

// saidMarkets returns the rows of m_raw by condition.
func (j *fileImport) saidMarkets() (map[string]*marketWord, error) {
	said := map[string]*marketWord{}
	err := engine.Each(j.ctx, j.conn, statements.Get("SaidMarkets", "@columns", strings.Join(marketColumns, ", ")), func(row []driver.Value) error {
		stub, cells := row[0] == true, row[1:]
		n, err := newMarketWord(slices.Clone(cells), stub)
		if err != nil {
			return err
		}
		key := string(n.cells.condition())
		if said[key] != nil {
			return fmt.Errorf("market %s is staged twice", hexed(n.cells.condition()))
		}
		said[key] = n
		return nil
	})
	return said, err
}

// addUnknown gives unknown markets the next ids, in the order of their conditions.
func (j *fileImport) addUnknown(changes *marketChanges, said map[string]*marketWord) error {
	var next int32
	if err := j.conn.QueryRowContext(j.ctx, statements.Get("NextMarket")).Scan(&next); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(said)) {
		o := &marketWord{cells: make(marketCells, len(marketColumns))}
		o.cells[marketCell] = next
		next++
		if err := changes.add(said[key], o); err != nil {
			return err
		}
	}
	return nil
}

// add merges a market, and adds it if it changes.
func (m *marketChanges) add(n, o *marketWord) error {
	next, err := mergeWords(n, o)
	if err != nil {
		return err
	}
	if err := m.compare(n.cells, o.cells, next); err != nil || o.known && reflect.DeepEqual(next, o.cells) {
		return err
	}
	m.rows = append(m.rows, next)
	if o.known {
		m.changed++
	} else {
		m.fresh++
	}
	repaid := !reflect.DeepEqual(next[payoutsCell], o.cells[payoutsCell])
	if repaid || next[resolvedAtCell] != o.cells[resolvedAtCell] {
		m.payouts = append(m.payouts, []driver.Value{next[marketCell], next[payoutsCell], next[sourceCell], next[resolvedAtCell]})
	}
	switch {
	case repaid && next[payoutsCell] != nil:
		m.resolutions++
	case repaid:
		m.gone++
	}
	m.relabelled = m.relabelled || next[outcomesCell] != o.cells[outcomesCell]
	m.relisted = m.relisted || !n.stub && n.cells[tokenIDsCell] == nil && next[tokenIDsCell] != nil
	if outcomes := engine.Text(next[outcomesCell]); outcomes != "" && o.cells[payoutsCell] != nil {
		length, err := listLength(outcomes)
		if err == nil && length != len(cellList(o.cells[payoutsCell])) {
			m.unfit++
		}
		return err
	}
	return nil
}

// compare reports whether the payouts of n have to be compared with the outcomes and with o.
func (m *marketChanges) compare(n, o, next marketCells) error {
	if n[payoutsCell] == nil {
		return nil
	}
	if outcomes := engine.Text(next[outcomesCell]); outcomes != "" {
		length, err := listLength(outcomes)
		if err != nil {
			return err
		}
		m.disputed = m.disputed || length != len(cellList(n[payoutsCell]))
	}
	if o[payoutsCell] != nil {
		same := n[payoutAtCell] == nil || o[payoutAtCell] == nil || n[payoutAtCell] == o[payoutAtCell]
		m.disputed = m.disputed || !same || !reflect.DeepEqual(n[payoutsCell], o[payoutsCell])
	}
	return nil
}
