package rollups

import (
	"context"
	"database/sql"

	"pmx/rollups/serving"
)

// vertical is what one area of the API is made from: its rollups, what merging and rebuilding them
// needs in addition to their statements, and its section of the snapshot. Every field is optional.
type vertical struct {
	tables []table
	// before reads what depends on the state without the batch.
	before func(m *merge) error
	// after makes the temporary tables that the deltas read. By then the batch is in the facts, and
	// held_before and held_after exist.
	after func(m *merge) error
	// inputs makes the temporary tables that the definitions read.
	inputs func(b *rebuilder) error
	// holdings makes those of them that follow from held_all, which is dropped afterwards.
	holdings func(b *rebuilder) error
	// temporary names the tables of inputs, dropped when all is built.
	temporary []string
	// rebuilt is called when all rollups were rebuilt, in their transaction.
	rebuilt func(b *rebuilder) error
	// check verifies the tables of the vertical that are not rollups.
	check   func(v *verifier) (Check, error)
	section func() section
}

// section is what one area keeps in memory for its fields of the snapshot.
type section interface {
	// follow adds rows: all of them (whole, dropping the former ones) or those of the batch merged
	// last. from returns the query of the rows to add of a rollup, in the order of its columns.
	follow(ctx context.Context, conn *sql.Conn, l *Live, from func(table) string, whole bool) error
	// publish writes its current fields to snap.
	publish(ctx context.Context, conn *sql.Conn, l *Live, snap *serving.Snapshot) error
}

// earlySection has work that needs only the descriptions of the markets.
type earlySection interface {
	// begin starts it, once these are loaded, and returns a function that waits for its end.
	begin(l *Live) (wait func())
}

// catalogSection is a section that publishes what follows from the catalog of the snapshot alone.
type catalogSection interface {
	section
	needsOnlyCatalog()
}

// verticals are all verticals, each after those whose rollups it reads.
func verticals() []vertical {
	return []vertical{marketVertical(), candleVertical(), eventVertical(), growthVertical(), whaleVertical(), indexVertical(), oracleVertical(), screenerVertical(), deskVertical(), deskTraderVertical(), leadVertical()}
}

func allTables() []table {
	all := coreTables()
	for _, v := range verticals() {
		all = append(all, v.tables...)
	}
	return all
}

func newSections() []section {
	var all []section
	for _, v := range verticals() {
		if v.section != nil {
			all = append(all, v.section())
		}
	}
	return all
}

func (m *merge) each(f func(v vertical) func(*merge) error) error {
	for _, v := range verticals() {
		if run := f(v); run != nil {
			if err := run(m); err != nil {
				return err
			}
		}
	}
	return nil
}

// verticalHoldings runs the holdings of all verticals.
func (b *rebuilder) verticalHoldings() error {
	for _, v := range verticals() {
		if v.holdings != nil {
			if err := v.holdings(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// verticalInputs runs the inputs of the vertical whose first table is t.
func (b *rebuilder) verticalInputs(t table) error {
	for _, v := range verticals() {
		if v.inputs != nil && len(v.tables) > 0 && v.tables[0].name == t.name {
			return v.inputs(b)
		}
	}
	return nil
}
