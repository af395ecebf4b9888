package ingest

import (
	"cmp"
	"errors"

	"pmx/data"
)

// badRow is a record that was staged but cannot be used, or one in conflict.
type badRow struct {
	row      int64 // 1-based number of the record in the file DuckDB read
	reason   string
	conflict string // what it contradicts; "" if it is rejected
	raw      string // what to store instead of the record, if not ""
}

// bad stores a record that is at line of the file.
func (j *fileImport) bad(b badRow, line int64, text string) error {
	if b.conflict != "" {
		return j.rejects.keep(line, "conflict", b.conflict, cmp.Or(b.raw, text))
	}
	return j.rejects.add(line, b.reason, j.explain(b.reason), text)
}

// locateBadRows finds line and text of bad rows by reading the file once more, because DuckDB has
// only their record numbers. next returns them in the order of records, and false after the last.
func (j *fileImport) locateBadRows(next func() (badRow, bool, error)) error {
	if j.release || j.src.feed.Query == nil || j.src.plain.Format == data.Parquet && !j.cleaned {
		return j.rejectByNumber(next)
	}
	bad, more, err := next()
	if err != nil || !more {
		return err
	}
	err = j.eachRecord(func(r *record) error {
		number := r.nth
		if j.cleaned {
			if r.err != nil {
				return nil
			}
			number = r.kept
		}
		for more && bad.row == number {
			if err := j.badRecord(bad, r); err != nil {
				return err
			}
			if bad, more, err = next(); err != nil {
				return err
			}
		}
		if !more {
			return errStop
		}
		return nil
	})
	if errors.Is(err, errStop) {
		return nil
	}
	if err == nil && more {
		return errMissingLines
	}
	return err
}

// badRecord is like bad. If the record itself cannot be used, it is rejected for that, and not for
// its values.
func (j *fileImport) badRecord(b badRow, r *record) error {
	if r.err != nil {
		return j.rejects.add(r.line, r.err.Reason, r.err.Detail, r.text())
	}
	return j.bad(b, r.line, r.text())
}

// rejectByNumber rejects bad rows of a file without lines.
func (j *fileImport) rejectByNumber(next func() (badRow, bool, error)) error {
	bad, more, err := next()
	for ; more && err == nil; bad, more, err = next() {
		if err := j.bad(bad, bad.row, ""); err != nil {
			return err
		}
	}
	return err
}

// errStop stops reading a file when no more is needed.
var errStop = errors.New("enough")

// explain returns the explanation of a reason of the staging or of the feed.
func (j *fileImport) explain(reason string) string {
	if text := reasons[reason]; text != "" {
		return text
	}
	return j.im.Feeds.Explain(reason)
}

// reasons explains the reject reasons of the staging itself.
var reasons = map[string]string{
	"bad_wallet":    "the wallet is not 0x and 40 hexadecimal digits",
	"bad_token":     "the token id is not a decimal uint256",
	"bad_side":      "the side is neither BUY nor SELL",
	"unknown_block": "the time of this block is not known: import the blocks file first",
	"bad_time":      "the time cannot be read or is before 2020",
	"future_time":   "the time is more than a day ahead of this machine's clock",
	"bad_size":      "the size is not a number from 0 to a thousand million",
	"bad_amount":    "price and amount cannot be read, or are above a thousand million dollars",
	"bad_fee":       "the fee is not a number from 0 to a thousand million",
}
