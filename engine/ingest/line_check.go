package ingest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"unicode/utf8"

	"pmx/data"
	"pmx/engine/guard"
)

// look counts the lines of a CSV file, assuming that each except for the header is a record. sound
// reports whether that may be so: the file ends in a line end, has no other kinds of line ends, and
// is UTF-8.
func look(ctx context.Context, src data.Source) (lines Lines, sound bool, err error) {
	file, err := os.Open(src.Path)
	if err != nil {
		return lines, false, err
	}
	defer func() { _ = file.Close() }()
	r := &countReader{r: guard.Reader(ctx, file)}
	buf, l := make([]byte, 256<<10), looked{valid: true}
	for {
		n, err := r.Read(buf[l.carried:])
		l.take(buf, n)
		if errors.Is(err, io.EOF) {
			sound := !r.open && l.valid && l.carried == 0 && l.returns == l.pairs
			return Lines{Total: r.lines(), Records: r.breaks - 1, Header: 1}, sound, nil
		}
		if err != nil {
			return lines, false, err
		}
	}
}

// looked is what is known of a CSV file so far.
type looked struct {
	returns, pairs int64 // carriage returns, and those before a line feed
	behind         bool  // the last byte is a carriage return
	valid          bool  // everything is UTF-8
	carried        int   // bytes of a character that continues in the next piece
}

// take checks n more bytes, which are in buf after those that are carried over.
func (l *looked) take(buf []byte, n int) {
	if n == 0 {
		return
	}
	piece := buf[l.carried : l.carried+n]
	if returns := bytes.Count(piece, []byte("\r")); returns > 0 {
		l.returns += int64(returns)
		l.pairs += int64(bytes.Count(piece, []byte("\r\n")))
	}
	if l.behind && piece[0] == '\n' {
		l.pairs++
	}
	l.behind = piece[n-1] == '\r'
	all := buf[:l.carried+n]
	whole := len(all)
	for i := 1; i < utf8.UTFMax && i <= len(all); i++ {
		if at := len(all) - i; utf8.RuneStart(all[at]) {
			if !utf8.FullRune(all[at:]) {
				whole = at
			}
			break
		}
	}
	l.valid = l.valid && utf8.Valid(all[:whole])
	l.carried = copy(buf, all[whole:])
}
