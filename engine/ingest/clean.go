package ingest

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"

	"pmx/data"
	"pmx/data/feeds/shape"
)

// cleanCSV copies the usable records of a file that DuckDB reads and rejects the others.
func (j *fileImport) cleanCSV() (data.Source, error) {
	clean := j.src.plain
	j.cleaned = true
	clean.Path = filepath.Join(j.src.dir, "clean."+string(clean.Format))
	f, err := os.Create(clean.Path)
	if err != nil {
		return clean, err
	}
	buf := bufio.NewWriterSize(f, 1<<20)
	write, end, err := j.writer(buf)
	j.receipt.Lines = Lines{Total: j.receipt.Lines.Total}
	if err == nil {
		err = j.eachRecord(func(r *record) error {
			kind := data.LineRecord
			if r.nth == 0 {
				kind = data.LineHeader
			}
			j.receipt.Lines.add(kind, 1)
			if r.err != nil {
				j.receipt.Read++
				return j.badRecord(badRow{}, r)
			}
			if r.kept > 0 {
				j.kept = r.kept
			}
			return write(r)
		})
		j.receipt.Lines.add(data.LineBlank, j.blank)
		err = errors.Join(err, end())
	}
	if err = errors.Join(err, buf.Flush(), f.Close()); err != nil {
		return clean, err
	}
	st, err := os.Stat(clean.Path)
	if err == nil {
		clean.Size = st.Size()
	}
	return clean, err
}

// writer returns functions that write a record in the format of the file and that end the file.
func (j *fileImport) writer(to io.Writer) (write func(*record) error, end func() error, err error) {
	switch j.src.plain.Format {
	case data.CSV:
		w := csv.NewWriter(to)
		return func(r *record) error { return w.Write(r.cells) }, func() error { w.Flush(); return w.Error() }, nil
	case data.NDJSON:
		write = func(r *record) error {
			if err := beginNumbered(to, r.kept, r.raw); err != nil {
				return err
			}
			_, err := to.Write([]byte("\n"))
			return err
		}
		return write, func() error { return nil }, nil
	case data.Parquet:
		file, closer, err := shape.Parquet(j.src.plain, nil)
		if err != nil {
			return nil, nil, err
		}
		w := parquet.NewWriter(to, file.Schema())
		write = func(r *record) error {
			_, err := w.WriteRows([]parquet.Row{r.row})
			return err
		}
		return write, func() error { return errors.Join(w.Close(), closer.Close()) }, nil
	}
	return nil, nil, fmt.Errorf("a file of %s cannot be copied row by row", j.src.plain.Format)
}
