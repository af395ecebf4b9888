package shape

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"pmx/data"
)

// PlainCSV reads the lines of a CSV file in its plainest form: in ASCII and without quotes.
type PlainCSV struct {
	header  []string
	columns []int // by cell: the index of its column; -1 for others
	cells   [][]byte
	end     []byte // of each line, before the line feed
}

// NewPlainCSV returns a reader of files with a header. Each column has the names that it may have, of which the first that
// the file has counts.
func NewPlainCSV(header []string, columns ...[]string) *PlainCSV {
	p := &PlainCSV{header: header, columns: slices.Repeat([]int{-1}, len(header)), cells: make([][]byte, len(columns))}
	for column, names := range columns {
		for _, name := range names {
			if i := slices.Index(header, name); i >= 0 {
				p.columns[i] = column
				break
			}
		}
	}
	return p
}

// Read calls parse with the cells of each line after the header, by the index of their column: nil where the file does not have it. They
// are valid until parse returns. It returns false at a line that is not plain, and if parse does.
func (p *PlainCSV) Read(from io.Reader, parse func(cells [][]byte) (bool, error)) (plain bool, err error) {
	r := bufio.NewReaderSize(from, 1<<20)
	for first := true; ; first = false {
		line, err := r.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			return len(line) == 0 && !first, nil // the last line may be incomplete
		case errors.Is(err, bufio.ErrBufferFull):
			return false, nil
		case err != nil:
			return false, err
		}
		line = line[:len(line)-1]
		if first {
			if !p.isHeader(line) {
				return false, nil
			}
			continue
		}
		line, ended := bytes.CutSuffix(line, p.end)
		if !ended || !p.split(line) {
			return false, nil
		}
		if plain, err := parse(p.cells); err != nil || !plain {
			return false, err
		}
	}
}

func (p *PlainCSV) isHeader(line []byte) bool {
	p.end = nil
	if rest, cut := bytes.CutSuffix(line, []byte("\r")); cut {
		line, p.end = rest, []byte("\r")
	}
	cells := bytes.Split(bytes.TrimPrefix(line, []byte("\ufeff")), []byte(","))
	return slices.EqualFunc(cells, p.header, func(cell []byte, name string) bool { return string(cell) == name })
}

// split divides a line into its cells. Cells that are not read must be plain as well: quotes would join them.
func (p *PlainCSV) split(line []byte) bool {
	last := len(p.columns) - 1
	for i, column := range p.columns {
		cell := line
		if end := bytes.IndexByte(line, ','); i < last {
			if end < 0 {
				return false
			}
			cell, line = line[:end], line[end+1:]
		} else if end >= 0 {
			return false
		}
		if column >= 0 {
			p.cells[column] = cell
		} else if slices.ContainsFunc(cell, func(c byte) bool { return c < ' ' || c > '~' || c == '"' }) {
			return false
		}
	}
	return true
}

// PlainDecimal returns an amount in millionths, as Decimal does: a decimal number that is not below 0, also with an exponent.
func PlainDecimal(text []byte) (data.Micro, bool) {
	units, fraction, point := bytes.Cut(text, []byte("."))
	if n, ok := PlainNumber(units, 999_999_999_999); ok && !point {
		return data.Micro(n) * data.One, true
	} else if part, fine := plainFraction(fraction); ok && fine {
		return data.Micro(n)*data.One + data.Micro(part), true
	}
	if len(text) == 0 || len(text) > 40 || text[0] < '0' || text[0] > '9' || slices.ContainsFunc(text, func(c byte) bool {
		return (c < '0' || c > '9') && c != '.' && c != 'e' && c != '-'
	}) {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(text), 64)
	if err != nil || n >= 1_000_000_000 {
		return 0, false
	}
	return data.Micro(math.Round(n * 1_000_000)), true
}

// plainFraction reads up to six digits after the point.
func plainFraction(text []byte) (n int64, ok bool) {
	if len(text) == 0 || len(text) > 6 {
		return 0, false
	}
	for i := range 6 {
		n *= 10
		if i >= len(text) {
			continue
		}
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		n += int64(text[i] - '0')
	}
	return n, true
}

// PlainTime returns a time as unix µs, as Time does: a whole number, or RFC 3339 in UTC.
func PlainTime(text []byte) (us int64, ok bool) {
	if len(text) >= len("2006-01-02T15:04:05Z") && text[len(text)-1] == 'Z' {
		at, err := time.Parse(time.RFC3339, string(text))
		return at.UnixMicro(), err == nil && len(text) <= len("2006-01-02T15:04:05.000000Z") && text[13] == ':' && text[19] != ','
	}
	n, ok := PlainNumber(text, math.MaxInt64)
	switch {
	case !ok || n < 100_000:
		return 0, false
	case n < 100_000_000_000:
		return n * 1_000_000, true
	case n < 100_000_000_000_000:
		return n * 1_000, true
	case n < 100_000_000_000_000_000:
		return n, true
	}
	return n / 1_000, true
}
