package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"pmx/data"
	"pmx/data/feeds/shape"
	"pmx/engine/guard"
)

// numbered copies an NDJSON file and adds the number of its record to every line that is not blank:
// see shape.NumberMember. It also counts the lines of the file.
func (j *fileImport) numbered(src data.Source) (data.Source, Lines, error) {
	var lines Lines
	in, err := os.Open(src.Path)
	if err != nil {
		return src, lines, err
	}
	defer func() { _ = in.Close() }()
	src.Path = filepath.Join(j.src.dir, "numbered."+string(src.Format))
	out, err := os.Create(src.Path)
	if err != nil {
		return src, lines, err
	}
	r, w := &countReader{r: guard.Reader(j.ctx, in)}, bufio.NewWriterSize(out, 1<<20)
	lines.Records, err = number(w, shape.SkipBOM(r))
	if err = errors.Join(err, w.Flush(), out.Close()); err != nil {
		return src, lines, err
	}
	lines.Total = r.lines()
	lines.Blank = lines.Total - lines.Records
	st, err := os.Stat(src.Path)
	if err == nil {
		src.Size = st.Size()
	}
	return src, lines, err
}

// number copies the lines that are not blank, numbered from 1, and returns their number.
func number(w *bufio.Writer, r io.Reader) (records int64, err error) {
	br := bufio.NewReaderSize(r, 1<<16)
	begun := false // a part of the line is copied
	for {
		piece, err := br.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF) {
			return records, err
		}
		ended := err == nil || errors.Is(err, io.EOF)
		piece = bytes.TrimSuffix(piece, []byte("\n"))
		var failed error
		if begun {
			_, failed = w.Write(piece)
		} else if piece = bytes.TrimLeft(piece, " \t\r"); len(piece) > 0 {
			records++
			begun = true
			failed = beginNumbered(w, records, piece)
		}
		if failed == nil && begun && ended {
			begun, failed = false, w.WriteByte('\n')
		}
		if failed != nil || errors.Is(err, io.EOF) {
			return records, failed
		}
	}
}

// beginNumbered writes the beginning of a line, or all of it, with the number of its record. Of a
// line that is not an object, only the number is written.
func beginNumbered(w io.Writer, n int64, line []byte) error {
	rest, ok := bytes.CutPrefix(line, []byte("{"))
	if rest = bytes.TrimLeft(rest, " \t\r"); !ok {
		rest = []byte("}")
	}
	comma := ","
	if bytes.HasPrefix(rest, []byte("}")) {
		comma = ""
	}
	_, err := fmt.Fprintf(w, "{%q:%d%s%s", shape.NumberMember, n, comma, rest)
	return err
}

// numberUnread sets the numbers of rows that DuckDB could not read.
func (j *fileImport) numberUnread() error {
	if unread, err := j.count("s_raw WHERE row IS NULL"); err != nil || unread == 0 {
		return err
	}
	return j.exec("NumberUnread")
}

// insertOrder returns the ORDER BY that facts need: none if the file is already in time order.
func (j *fileImport) insertOrder() (string, error) {
	if !j.src.hasFills() {
		return "", nil
	}
	back := j.held.backwards
	if !j.held.numbered {
		if err := j.conn.QueryRowContext(j.ctx, statements.Get("Unsorted")).Scan(&back); err != nil {
			return "", err
		}
	}
	if !back && j.receipt.Replaced == 0 {
		return "", nil
	}
	return " ORDER BY ts, row", nil
}
