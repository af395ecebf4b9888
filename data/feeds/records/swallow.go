package records

import (
	"bytes"
	"slices"
	"strings"
)

// swallows reports whether a record of several lines contains other records: if there are two stray
// quotes, the first opens a cell that the second closes many lines later, and the number of cells
// may be right. A line inside is a record if it alone has the header's number of cells, and an
// identifier (0x and 40 or more hexadecimal digits) in a cell in which the whole record has one.
//
// The last line of a description may have as many commas by chance, followed by valid cells. So the
// last line counts only if its identifier comes before the cell that continues over lines, or if
// the first line is also a record once its quote is taken literally.
func (r *Reader) swallows(cells []string, length int) bool {
	ids := identifiers(cells)
	if r.width < 2 || len(ids) == 0 {
		return false
	}
	opened := slices.IndexFunc(cells, func(c string) bool { return strings.Contains(c, "\n") })
	first, rest := cutLine(r.buf[r.start : r.start+length])
	for len(rest) > 0 {
		var line []byte
		line, rest = cutLine(rest)
		at := r.isRecord(bare(line), ids)
		if at >= 0 && (len(rest) > 0 || at < opened) {
			return true
		}
		if at >= 0 && r.isRecord(bareFrom(first, opened), ids) >= 0 {
			return true
		}
	}
	return false
}

// isRecord returns the first index in ids at which cells, those of one line, have an identifier; -1
// if the line is not a record.
func (r *Reader) isRecord(cells []string, ids []int) int {
	if len(cells) != r.width {
		return -1
	}
	for _, i := range ids {
		if identifier(cells[i]) {
			return i
		}
	}
	return -1
}

// identifiers returns the indexes of the cells that are identifiers.
func identifiers(cells []string) (at []int) {
	for i, c := range cells {
		if identifier(c) {
			at = append(at, i)
		}
	}
	return at
}

func identifier(s string) bool {
	s = strings.TrimSpace(s)
	return len(s) >= 42 && strings.HasPrefix(s, "0x") && strings.Trim(s[2:], "0123456789abcdefABCDEF") == ""
}

func cutLine(text []byte) (line, rest []byte) {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return body(text[:i+1]), text[i+1:]
	}
	return body(text), nil
}

// bare returns the cells of one line. A quote that is not closed on it is taken literally.
func bare(line []byte) []string { return bareFrom(line, -1) }

// bareFrom is bare, but takes the quotes of the n-th cell literally.
func bareFrom(line []byte, n int) (cells []string) {
	for rest := line; ; {
		end := -1
		if len(rest) > 0 && rest[0] == '"' && len(cells) != n {
			end = closing(rest)
		}
		if end < 0 {
			if end = bytes.IndexByte(rest, ','); end < 0 {
				end = len(rest)
			}
		}
		cells = append(cells, strings.Trim(string(rest[:end]), `"`))
		if end == len(rest) {
			return cells
		}
		rest = rest[end+1:]
	}
}

// closing returns the end of the quoted cell at the beginning of text: a comma or the end of text;
// -1 if it does not end.
func closing(text []byte) int {
	for i := 1; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		switch {
		case i+1 == len(text) || text[i+1] == ',':
			return i + 1
		case text[i+1] == '"':
			i++
		}
	}
	return -1
}
