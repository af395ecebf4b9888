package ingest

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"pmx/data"
)

// badRow is a record that was staged but cannot be used.
type badRow struct {
	row    int64 // 1-based number of the record in the file DuckDB read
	reason string
}

// locate finds line and text of bad rows, which DuckDB knows by record number
// only, by reading the file once more.
func (j *job) locate(bad []badRow) error {
	if j.src.plain.Format != data.CSV || j.src.feed.Query == nil {
		for _, b := range bad {
			if err := j.rejects.add(b.row, b.reason, j.explain(b.reason), ""); err != nil {
				return err
			}
		}
		return nil
	}
	next := 0
	return eachRecord(j.ctx, j.src.plain.Path, func(r record) error {
		number := r.nth
		if j.cleaned {
			if r.err != nil {
				return nil
			}
			number = r.kept
		}
		for next < len(bad) && bad[next].row == number {
			if err := j.rejects.add(r.line, bad[next].reason, j.explain(bad[next].reason), strings.Join(r.cells, ",")); err != nil {
				return err
			}
			next++
		}
		return nil
	})
}

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

// clean copies the records of a CSV file that have the header's number of cells
// and rejects the others.
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
		if r.err != nil {
			j.receipt.Read++
			return j.rejects.add(r.line, "bad_row", r.err.Error(), strings.Join(r.cells, ","))
		}
		return w.Write(r.cells)
	})
	w.Flush()
	return clean, errors.Join(err, w.Error(), buf.Flush(), f.Close())
}

// record is one CSV record; err says why it cannot be used. The header has
// number 0 in both counts; kept counts the usable records only.
type record struct {
	line  int64
	nth   int64
	kept  int64
	cells []string
	err   error
}

var errColumns = errors.New("the row does not have the header's number of columns")

// eachRecord reads a CSV file leniently: quotes inside a bare cell are taken as
// they are, and a record that cannot be read is given with its error.
func eachRecord(ctx context.Context, path string, f func(record) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	r := csv.NewReader(bufio.NewReaderSize(&cancelReader{ctx: ctx, r: file}, 1<<20))
	r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = -1, true, true
	width, kept := -1, int64(-1)
	for nth := int64(0); ; nth++ {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var parse *csv.ParseError
		rec := record{nth: nth, cells: cells, err: err}
		if errors.As(err, &parse) {
			rec.line = int64(parse.StartLine)
		} else if err != nil {
			return err
		} else {
			line, _ := r.FieldPos(0)
			rec.line = int64(line)
		}
		if width < 0 {
			width = len(cells)
		}
		if err == nil && len(cells) != width {
			rec.err = errColumns
		}
		if rec.err == nil {
			kept++
			rec.kept = kept
		}
		if err := f(rec); err != nil {
			return err
		}
	}
}
