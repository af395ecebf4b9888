// Package records splits CSV files into records. A stray quote affects only its own line: a quoted
// cell ends on its line, or, if cells may contain line ends, a record has a maximum length and
// contains no other record. Reading continues at the next line, and every line of the file is in
// some record.
package records

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Limit is the maximum size of a record in bytes, including line breaks inside it.
const Limit = 2 << 20

// Reasons why a record cannot be used.
var (
	// ErrTooLong is the error of a line of more than Limit bytes.
	ErrTooLong = fmt.Errorf("the line is longer than %d MB", Limit>>20)
	// ErrQuote is the error of a line with a quote that opens a cell, if cells may contain line
	// ends: it is not closed within the limit, not with the header's number of cells, or only after
	// other records.
	ErrQuote = errors.New("a quote opens a cell that does not end")
	// ErrOneLine is ErrQuote if cells may not contain line ends: the quote is not closed on its
	// line.
	ErrOneLine = fmt.Errorf("%w on its line: in a file of this feed, a row is one line", ErrQuote)
	// ErrCut is the error of the last line of a file if it has no line end: it may be the beginning
	// of a longer line.
	ErrCut = errors.New("the file ends inside this row: no line end follows it")
	// ErrWidth is the error of a record that does not have the header's number of cells.
	ErrWidth = errors.New("the row does not have the header's number of cells")
)

// Record is one record of a file, or an invalid line.
type Record struct {
	Line  int64    // 1-based line at which it begins
	Lines int64    // number of lines: more than one if a quoted cell contains line ends
	Cells []string // valid until the next Read
	Raw   string   // if Err is set: the line as it is, or its beginning
	Err   error    // why it cannot be used: one of the errors above; nil if it can
}

// Reader reads the records of a CSV file. A quote inside an unquoted cell is taken literally. So is
// one inside a quoted cell that is not followed by a comma or line end, but only on the line on
// which the cell begins. Empty lines are skipped.
type Reader struct {
	// AnyWidth allows records to differ in their number of cells. Without it, all must have as many
	// as the first.
	AnyWidth bool
	// LineEnds allows quoted cells to contain line ends, but not whole records: see swallows.
	// Without it, a quoted cell ends on the line on which it begins.
	LineEnds bool
	// Remark, if set, recognises lines of text around the rows. At the end of a file such a line
	// does not count as a truncated row.
	Remark func(cells []string) bool
	// Longest is the maximum size of a record in bytes; 0, or more than Limit: Limit.
	Longest int

	src   io.Reader
	buf   []byte
	start int   // start of the bytes that were not returned yet
	eof   bool  // src is at its end
	line  int64 // lines returned
	blank int64 // number of empty lines among them
	width int   // of the header; 0 before it

	out   []byte // concatenated cells of the current record
	ends  []int
	cells []string
}

// NewReader returns a Reader of src, whose byte-order mark must have been skipped.
func NewReader(src io.Reader) *Reader { return &Reader{src: src} }

// Above says that src begins after n lines of the file. It must be called before the first Read.
func (r *Reader) Above(n int64) { r.line += n }

// Blank is the number of empty lines skipped so far.
func (r *Reader) Blank() int64 { return r.blank }

// clipped is how many bytes are shown of a line that is too long.
const clipped = 2000

// Read returns the next record; io.EOF after the last one, or an error of the source.
func (r *Reader) Read() (Record, error) {
	for {
		end, err := r.lineEnd(r.start)
		if err != nil {
			return Record{}, err
		}
		switch {
		case end < 0:
			return r.skipLong()
		case end == r.start:
			return Record{}, io.EOF
		case len(body(r.buf[r.start:end])) == 0:
			r.start, r.line, r.blank = end, r.line+1, r.blank+1
			continue
		}
		return r.record(end)
	}
}

// lineEnd returns the end of the line that begins at from, including its line break. It is from at
// the end of the file and -1 for a line that exceeds the limit.
func (r *Reader) lineEnd(from int) (int, error) {
	offset, seen := from-r.start, from-r.start
	for {
		if i := bytes.IndexByte(r.buf[r.start+seen:], '\n'); i >= 0 {
			if seen+i+1-offset > r.longest() {
				return -1, nil
			}
			return r.start + seen + i + 1, nil
		}
		seen = len(r.buf) - r.start
		if seen-offset > r.longest() {
			return -1, nil
		}
		if r.eof {
			return len(r.buf), nil
		}
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
}

func (r *Reader) longest() int {
	if r.Longest > 0 {
		return min(r.Longest, Limit)
	}
	return Limit
}

// chunk is the number of bytes that are read at once.
const chunk = 256 << 10

// fill reads more of src. Offsets relative to r.start stay valid; r.start itself moves.
func (r *Reader) fill() error {
	if r.start > 0 && len(r.buf)+chunk > cap(r.buf) {
		r.buf = r.buf[:copy(r.buf, r.buf[r.start:])]
		r.start = 0
	}
	if len(r.buf)+chunk > cap(r.buf) {
		r.buf = append(make([]byte, 0, 2*cap(r.buf)+chunk), r.buf...)
	}
	n, err := r.src.Read(r.buf[len(r.buf) : len(r.buf)+chunk])
	r.buf = r.buf[:len(r.buf)+n]
	if errors.Is(err, io.EOF) {
		r.eof, err = true, nil
	}
	return err
}

// skipLong skips a line that is longer than the limit without keeping it in memory.
func (r *Reader) skipLong() (Record, error) {
	r.line++
	rec := Record{Line: r.line, Lines: 1, Err: ErrTooLong, Raw: strings.ToValidUTF8(string(r.buf[r.start:][:clipped]), "") + "…"}
	for {
		if i := bytes.IndexByte(r.buf[r.start:], '\n'); i >= 0 {
			r.start += i + 1
			return rec, nil
		}
		r.start = len(r.buf)
		if r.eof {
			return rec, nil
		}
		if err := r.fill(); err != nil {
			return Record{}, err
		}
	}
}

// body returns a line without its line break.
func body(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// record parses the record whose first line ends at end. If it is invalid, only its first line is
// returned, and reading continues after that line.
func (r *Reader) record(end int) (Record, error) {
	first := end - r.start
	length, lines, err := r.parse(first)
	if err != nil {
		return Record{}, err
	}
	line := r.buf[r.start : r.start+first]
	rec := Record{Line: r.line + 1, Cells: r.texts()}
	switch {
	case length < 0 && !r.LineEnds:
		rec.Err = ErrOneLine
	case length < 0:
		rec.Err = ErrQuote
	case lines > 1 && (r.wrong() || r.swallows(rec.Cells, length)):
		rec.Err = ErrQuote
	case r.wrong():
		rec.Err = ErrWidth
	}
	if r.eof && r.start+max(length, first) == len(r.buf) && r.buf[len(r.buf)-1] != '\n' && !whole(rec.Cells) &&
		(r.Remark == nil || rec.Err != nil || !r.Remark(rec.Cells)) {
		rec.Err = ErrCut
	}
	if rec.Err != nil && !errors.Is(rec.Err, ErrWidth) {
		length, lines = first, 1
	}
	if rec.Err != nil {
		rec.Raw = string(body(line))
	} else if r.width == 0 {
		r.width = len(rec.Cells)
	}
	rec.Lines = lines
	r.start += length
	r.line += lines
	return rec, nil
}

func (r *Reader) wrong() bool { return !r.AnyWidth && r.width > 0 && len(r.ends) != r.width }

// texts returns the parsed cells, as parts of one string.
func (r *Reader) texts() []string {
	all, from := string(r.out), 0
	r.cells = r.cells[:0]
	for _, end := range r.ends {
		r.cells = append(r.cells, all[from:end])
		from = end
	}
	return r.cells
}

// parse parses the record at r.start, whose first line is first bytes long. It returns the length
// of the record, -1 if a quote is not closed, and its number of lines.
func (r *Reader) parse(first int) (length int, lines int64, err error) {
	r.out, r.ends = r.out[:0], r.ends[:0]
	end, at := first, 0 // from r.start: end of the current line, and the current position
	lines = 1
	for {
		text := body(r.buf[r.start+at : r.start+end])
		if len(text) == 0 || text[0] != '"' {
			i := bytes.IndexByte(text, ',')
			if i < 0 {
				r.out = append(r.out, text...)
				r.ends = append(r.ends, len(r.out))
				return end, lines, nil
			}
			r.out = append(r.out, text[:i]...)
			r.ends = append(r.ends, len(r.out))
			at += i + 1
			continue
		}
		at++
		more, err := r.quoted(&at, &end, &lines)
		if err != nil || at < 0 {
			return -1, 1, err
		}
		r.ends = append(r.ends, len(r.out))
		if !more {
			return end, lines, nil
		}
	}
}

// quoted parses a cell after its opening quote. at becomes -1 if the cell does not end. more
// reports whether another cell follows.
func (r *Reader) quoted(at, end *int, lines *int64) (more bool, err error) {
	for {
		text := body(r.buf[r.start+*at : r.start+*end])
		i := bytes.IndexByte(text, '"')
		if i < 0 && !r.LineEnds {
			*at = -1
			return false, nil
		}
		if i < 0 {
			r.out = append(append(r.out, text...), '\n')
			next, err := r.lineEnd(r.start + *end)
			if err != nil {
				return false, err
			}
			if next < 0 || next-r.start == *end || next-r.start > r.longest() {
				*at = -1
				return false, nil
			}
			*at, *end = *end, next-r.start
			*lines++
			continue
		}
		r.out = append(r.out, text[:i]...)
		*at += i + 1
		switch rest := text[i+1:]; {
		case len(rest) == 0:
			return false, nil
		case rest[0] == ',':
			*at++
			return true, nil
		case rest[0] == '"':
			r.out = append(r.out, '"')
			*at++
		case *lines > 1:
			*at = -1
			return false, nil
		default:
			r.out = append(r.out, '"')
		}
	}
}

// whole reports whether the last cell of a file is certainly complete: a hexadecimal value with the
// length of an address or a hash. A closing quote proves nothing: it may be the first of two.
func whole(cells []string) bool {
	if len(cells) == 0 {
		return false
	}
	s := cells[len(cells)-1]
	if !strings.HasPrefix(s, "0x") || len(s) != 42 && len(s) != 66 {
		return false
	}
	return strings.Trim(s[2:], "0123456789abcdefABCDEF") == ""
}
