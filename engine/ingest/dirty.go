package ingest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"pmx/data"
	"pmx/data/feeds/records"
	"pmx/data/feeds/shape"
)

// badRow is a record that was staged but cannot be used, or one in conflict.
type badRow struct {
	row      int64 // 1-based number of the record in the file DuckDB read
	reason   string
	conflict string // what it contradicts; "" where it is rejected
	raw      string // what to keep of it where it is not the record as it stands
}

// bad keeps a record that is at line of the file.
func (j *job) bad(b badRow, line int64, text string) error {
	if b.conflict != "" {
		return j.rejects.keep(line, "conflict", b.conflict, cmp.Or(b.raw, text))
	}
	return j.rejects.add(line, b.reason, j.explain(b.reason), text)
}

// locate finds line and text of bad rows, which DuckDB knows by record number
// only, by reading the file once more. next gives them in the order of records and
// false behind the last.
func (j *job) locate(next func() (badRow, bool, error)) error {
	if j.src.plain.Format != data.CSV || j.src.feed.Query == nil {
		return j.rejectByNumber(next)
	}
	bad, more, err := next()
	if err != nil || !more {
		return err
	}
	err = eachRecord(j.ctx, j.src.plain.Path, func(r record) error {
		number := r.nth
		if j.cleaned {
			if r.Err != nil {
				return nil
			}
			number = r.kept
		}
		for more && bad.row == number {
			if err := j.bad(bad, r.Line, r.text()); err != nil {
				return err
			}
			if bad, more, err = next(); err != nil {
				return err
			}
		}
		if !more {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// text is the record as it stands in the file, or about so.
func (r *record) text() string {
	if r.Err != nil {
		return r.Raw
	}
	return strings.Join(r.Cells, ",")
}

// rejectByNumber rejects bad rows of a file that has no lines to be found in.
func (j *job) rejectByNumber(next func() (badRow, bool, error)) error {
	bad, more, err := next()
	for ; more && err == nil; bad, more, err = next() {
		if err := j.bad(bad, bad.row, ""); err != nil {
			return err
		}
	}
	return err
}

// errEnough ends the reading of a file of which nothing more is wanted.
var errEnough = errors.New("enough")

// explain gives the sentence of a reason, the staging's own or the feed's.
func (j *job) explain(reason string) string {
	if text := reasons[reason]; text != "" || j.im.Feeds.Explain == nil {
		return text
	}
	return j.im.Feeds.Explain(reason)
}

// reasons explain the reasons that the staging itself finds.
var reasons = map[string]string{
	"bad_wallet":    "the wallet is not 0x and 40 hexadecimal digits",
	"bad_token":     "the token id is not a decimal uint256",
	"bad_side":      "the side is neither BUY nor SELL",
	"unknown_block": "the time of this block is not known: import the blocks file first",
	"bad_time":      "the time cannot be read or lies before 2020",
	"future_time":   "the time lies more than a day ahead of this machine's clock",
	"bad_size":      "the size is not a number from 0 to a thousand million",
	"bad_amount":    "price and amount cannot be read, or are above a thousand million dollars",
	"bad_fee":       "the fee is not a number from 0 to a thousand million",
}

// clean copies the usable records of a CSV file and rejects the others.
func (j *job) clean() (data.Source, error) {
	clean := j.src.plain
	j.cleaned = true
	clean.Path = filepath.Join(j.src.dir, "clean.csv")
	f, err := os.Create(clean.Path)
	if err != nil {
		return clean, err
	}
	buf := bufio.NewWriterSize(f, 1<<20)
	w := csv.NewWriter(buf)
	err = eachRecord(j.ctx, j.src.plain.Path, func(r record) error {
		if r.Err != nil {
			j.receipt.Read++
			return j.rejects.add(r.Line, shape.RecordReason(r.Err), r.Err.Error(), r.Raw)
		}
		return w.Write(r.Cells)
	})
	w.Flush()
	return clean, errors.Join(err, w.Error(), buf.Flush(), f.Close())
}

// record is one CSV record. The header has number 0 in both counts; kept counts
// the usable records only. A short one is usable: the cells it lacks are empty.
type record struct {
	records.Record
	nth  int64
	kept int64
}

func eachRecord(ctx context.Context, path string, f func(record) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	r := records.NewReader(shape.SkipBOM(&cancelReader{ctx: ctx, r: file}))
	kept, width := int64(-1), 0
	for nth := int64(0); ; nth++ {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if nth == 0 {
			width = len(rec.Cells)
		}
		if errors.Is(rec.Err, records.ErrWidth) && len(rec.Cells) < width {
			rec.Err = nil
		}
		if rec.Err == nil {
			kept++
		}
		if err := f(record{rec, nth, kept}); err != nil {
			return err
		}
	}
}

// lines counts the line breaks of a file, and tells whether it ends in one.
func lines(ctx context.Context, path string) (n int64, ended bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, false, err
	}
	defer func() { _ = file.Close() }()
	r, buf := &cancelReader{ctx: ctx, r: file}, make([]byte, 256<<10)
	for {
		got, err := r.Read(buf)
		if got > 0 {
			n += int64(bytes.Count(buf[:got], []byte("\n")))
			ended = buf[got-1] == '\n'
		}
		if errors.Is(err, io.EOF) {
			return n, ended, nil
		}
		if err != nil {
			return 0, false, err
		}
	}
}
