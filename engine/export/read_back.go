package export

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"

	"pmx/data"
)

// readBack checks a finished file: a Parquet file by its footer and a row of every row group, a CSV
// file by counting its records.
func readBack(f *os.File, form data.Format, r *frozenRows) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if form == data.Parquet {
		return checkParquet(f, st.Size(), r.count, len(r.dataset.columns))
	}
	return checkCSV(io.NewSectionReader(f, 0, st.Size()), r.count)
}

func checkParquet(r io.ReaderAt, size, rows int64, columns int) error {
	file, err := parquet.OpenFile(r, size, parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
	if err != nil {
		return err
	}
	if n := file.NumRows(); n != rows {
		return fmt.Errorf("%d rows, want %d", n, rows)
	}
	if n := len(file.Schema().Fields()); n != columns {
		return fmt.Errorf("%d columns, want %d", n, columns)
	}
	for i, group := range file.RowGroups() {
		if err := firstRow(group); err != nil {
			return fmt.Errorf("row group %d: %w", i, err)
		}
	}
	return nil
}

func firstRow(group parquet.RowGroup) (err error) {
	all := group.Rows()
	defer func() { err = errors.Join(err, all.Close()) }()
	if n, err := all.ReadRows(make([]parquet.Row, 1)); n != 1 {
		return fmt.Errorf("no row: %w", err)
	}
	return nil
}

func checkCSV(r io.Reader, rows int64) error {
	records, quoted := int64(0), false
	in := bufio.NewReaderSize(r, 1<<20)
	for {
		line, err := in.ReadSlice('\n')
		if bytes.Count(line, []byte{'"'})%2 == 1 {
			quoted = !quoted
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			if len(line) > 0 || quoted {
				return errors.New("the last record is truncated")
			}
			if records != rows+1 {
				return fmt.Errorf("%d records, want a header and %d", records, rows)
			}
			return nil
		case err != nil:
			return err
		}
		if !quoted {
			records++
		}
	}
}
