package export

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
)

// csvJoiner concatenates CSV files and ends every record with CRLF, as RFC 4180 requires; DuckDB
// writes LF. Line ends inside quotes belong to the cell and are not changed.
type csvJoiner struct {
	out *outputFile
}

func (j *csvJoiner) add(path string, _ bool) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(j.out, 1<<20)
	if err := crlf(w, f); err != nil {
		return err
	}
	return w.Flush()
}

func (j *csvJoiner) finish() error { return nil }

// crlf copies complete records from r to w. An odd number of quotes before a line end means that
// the line end is inside a cell, because a quote in a cell is doubled.
func crlf(w *bufio.Writer, r io.Reader) error {
	buf := make([]byte, 1<<20)
	quoted := false
	for {
		n, err := r.Read(buf)
		if err := crlfChunk(w, buf[:n], &quoted); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func crlfChunk(w *bufio.Writer, chunk []byte, quoted *bool) error {
	for len(chunk) > 0 {
		end := bytes.IndexByte(chunk, '\n')
		line := chunk
		if end >= 0 {
			line = chunk[:end]
		}
		if bytes.Count(line, []byte{'"'})%2 == 1 {
			*quoted = !*quoted
		}
		if _, err := w.Write(line); err != nil || end < 0 {
			return err
		}
		if !*quoted {
			if err := w.WriteByte('\r'); err != nil {
				return err
			}
		}
		if err := w.WriteByte('\n'); err != nil {
			return err
		}
		chunk = chunk[end+1:]
	}
	return nil
}
