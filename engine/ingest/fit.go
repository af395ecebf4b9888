package ingest

import (
	"fmt"

	"pmx/data"
)

// dropUnfit takes out the payouts of the file that do not fit the outcomes of their
// market.
func (j *fileImport) dropUnfit() error {
	found, err := j.unfit(statements.Get("Unfit"), "the market has %d outcomes: these payouts are not taken")
	if err != nil || !found {
		return err
	}
	if err := j.exec("SpareUnfit", "@columns", spareColumns("n")); err != nil {
		return err
	}
	return j.exec("DropUnfit")
}

// dropOther takes out the payouts of the file that give way to known ones of another
// length, where the outcomes of the market are not known.
func (j *fileImport) dropOther() error {
	n, err := j.changed("SpareOther", nil, "@ncolumns", spareColumns("n"), "@ocolumns", spareColumns("o"))
	if err != nil || n == 0 {
		return err
	}
	return j.exec("DropOther", resolutionArgs()...)
}

func spareColumns(of string) string { return statements.Get("SpareColumns", "@w", of) }

// keepSpare keeps the payouts that were put aside, for the day on which the outcomes of their
// market turn out to be as many.
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

// unresolved keeps payouts that were known before the outcomes that they do not fit.
func (j *fileImport) unresolved(unfit, gone int64) error {
	// No delta tells the rollups that a market is open again.
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

// unfit keeps the payouts that a query gives as conflicts, and reports whether there are any.
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
func spareRow(condition data.Hash, r *data.Resolution) []any {
	c := payoutColumns(r, nil)
	return []any{append([]byte(nil), condition[:]...), c[0], c[1], c[2], c[9], c[3], c[6], c[7]}
}
