package ingest

import (
	"database/sql/driver"
	"fmt"

	"pmx/data"
)

// dropUnfit removes the payouts of the file that do not fit the outcomes of their market.
func (j *fileImport) dropUnfit() error {
	found, err := j.unfit(statements.Get("Unfit"), "the market has %d outcomes: these payouts are not used")
	if err != nil || !found {
		return err
	}
	if err := j.exec("SpareUnfit", "@columns", spareColumns("n")); err != nil {
		return err
	}
	return j.exec("DropUnfit")
}

// dropOther removes the payouts of the file that lose against known ones with another length, if
// the outcomes of the market are not known.
func (j *fileImport) dropOther() error {
	n, err := j.changed("SpareOther", nil, "@ncolumns", spareColumns("n"), "@ocolumns", spareColumns("o"))
	if err != nil || n == 0 {
		return err
	}
	return j.exec("DropOther", resolutionArgs()...)
}

func spareColumns(of string) string { return statements.Get("SpareColumns", "@w", of) }

// keepSpare stores payouts that do not fit, in case the number of the market's outcomes turns out
// to be theirs.
func (j *fileImport) keepSpare() error {
	if found, err := j.count("s_spare"); err != nil || found == 0 {
		return err
	}
	word := statements.Get("Word", "@version", statements.Get("WordVersion", "@w", "w"), "@w", "w")
	if err := j.exec("SpareBest", "@word", word); err != nil {
		return err
	}
	return j.execAll("DropSpare", "AddSpare", "SpareEmpty")
}

// unresolved stores known payouts that do not fit outcomes that have become known.
func (j *fileImport) unresolved(unfit, gone int64) error {
	// Deltas cannot make a market open again in the rollups.
	j.ousted = j.ousted || gone > 0
	if unfit == 0 {
		return nil
	}
	_, err := j.unfit(statements.Get("Unresolved"), "the market of this row has %d outcomes: these known payouts are no longer used")
	if err == nil {
		err = j.exec("SpareUnresolved", "@columns", spareColumns("o"))
	}
	if err != nil {
		return err
	}
	return j.keepSpare()
}

// unfit stores the payouts that a query returns as conflicts, and reports whether there are any.
func (j *fileImport) unfit(query, detail string) (found bool, err error) {
	var (
		row      disputedRow
		outcomes int64
	)
	err = j.pages(query, "line, condition").each(func() error {
		found = true
		return j.disputed(&row, fmt.Sprintf(detail, outcomes))
	}, append(row.columns(), &outcomes)...)
	return found, err
}

// spareRow returns the values of s_spare's columns.
func spareRow(condition data.Hash, r *data.Resolution) []driver.Value {
	c := payoutColumns(r, nil)
	return []driver.Value{append([]byte(nil), condition[:]...), c[0], c[1], c[2], c[9], c[3], c[6], c[7]}
}
