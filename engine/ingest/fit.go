package ingest

import "fmt"

func outcomesNext() string { return statements.Get("OutcomesNext") }

// dropUnfit takes out the payouts of the file that do not fit the outcomes of their
// market.
func (j *fileImport) dropUnfit() error {
	unfit := statements.Get("Unfit", "@outcomes", outcomesNext())
	found, err := j.unfit(unfit, "the market has %d outcomes: these payouts are not taken")
	if err != nil || !found {
		return err
	}
	return j.exec("DropUnfit", "@unfit", unfit)
}

// unresolved keeps payouts that were known before the outcomes that they do not fit.
func (j *fileImport) unresolved(unfit, gone int64) error {
	// No delta tells the rollups that a market is open again.
	j.ousted = j.ousted || gone > 0
	if unfit == 0 {
		return nil
	}
	_, err := j.unfit(statements.Get("Unresolved"), "the market of this row has %d outcomes: these payouts, which were known, are no more taken")
	return err
}

// unfit keeps the payouts that a query gives as conflicts, and tells whether there are any.
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
