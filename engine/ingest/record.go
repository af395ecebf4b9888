package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"pmx/data"
	"pmx/data/feeds/records"
	"pmx/data/feeds/shape"
	"pmx/engine/guard"
)

// record is a record of a file that DuckDB reads. It is valid until the next one. The header of a
// CSV file has number 0 in both counts, the first row 1; kept counts only usable records.
type record struct {
	line, nth, kept int64
	err             *shape.RowError // why it cannot be used

	cells []string    // of CSV
	raw   []byte      // of NDJSON, and of an invalid line of CSV
	row   parquet.Row // of Parquet
}

// text returns the text of the record, nearly as in the file.
func (r *record) text() string {
	if r.raw != nil {
		return strings.ToValidUTF8(string(r.raw), "\uFFFD")
	}
	return strings.ToValidUTF8(strings.Join(r.cells, ","), "\uFFFD")
}

// longestRow is the maximum size in bytes of a row of fills in a CSV file. DuckDB reads lines of
// two million bytes, and quotes are doubled when a row is written.
const longestRow = 900_000

// eachRecord calls f with the records of a file that DuckDB reads.
func (j *fileImport) eachRecord(f func(*record) error) error {
	counted := func(r *record) error {
		if r.err == nil {
			j.walked++
		}
		r.kept = j.walked
		return f(r)
	}
	j.walked = 0
	if j.src.plain.Format == data.Parquet {
		return j.eachParquet(counted)
	}
	file, err := os.Open(j.src.plain.Path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	src := shape.SkipBOM(guard.Reader(j.ctx, file))
	if j.src.plain.Format == data.NDJSON {
		j.blank, err = shape.EachLine(src, func(line, nth int64, text []byte, err *shape.RowError) error {
			return counted(&record{line: line, nth: nth, raw: text, err: err})
		})
		return err
	}
	j.walked = -1
	j.blank, err = eachCSV(src, counted)
	return err
}

func eachCSV(src io.Reader, f func(*record) error) (blank int64, err error) {
	r := records.NewReader(src)
	r.Longest = longestRow
	for nth := int64(0); ; nth++ {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			return r.Blank(), nil
		}
		if err != nil {
			return r.Blank(), err
		}
		out := &record{line: rec.Line, nth: nth, cells: rec.Cells}
		switch {
		case nth == 0 && rec.Err != nil:
			return r.Blank(), fmt.Errorf("%w: the header: %w", errMissingLines, rec.Err)
		case nth == 0: // columns are identified by their position
			for i := range out.cells {
				out.cells[i] = strings.ToValidUTF8(out.cells[i], "\uFFFD")
			}
		case rec.Err != nil:
			out.err = &shape.RowError{Reason: shape.RecordReason(rec.Err), Detail: rec.Err.Error()}
			out.raw = []byte(rec.Raw)
		}
		for _, c := range rec.Cells {
			if out.err == nil && !utf8.ValidString(c) {
				out.err = shape.Known("bad_utf8")
			}
		}
		if err := f(out); err != nil {
			return r.Blank(), err
		}
	}
}

// eachParquet calls f with the rows of a Parquet file. A row with text that is not UTF-8 cannot be
// used: DuckDB would refuse the whole file.
func (j *fileImport) eachParquet(f func(*record) error) (err error) {
	file, closer, err := shape.Parquet(j.src.plain, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closer.Close()) }()
	isText := shape.TextColumns(file)
	return shape.EachRow(file, func(n int64, row parquet.Row) error {
		if n%1024 == 0 && j.ctx.Err() != nil {
			return j.ctx.Err()
		}
		out := &record{line: n, nth: n, row: row}
		for _, v := range row {
			if isText[v.Column()] && !v.IsNull() && !utf8.Valid(v.ByteArray()) {
				out.err, out.raw = shape.Known("bad_utf8"), bytes.Clone(v.ByteArray())
			}
		}
		return f(out)
	})
}
