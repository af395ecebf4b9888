package shape

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"pmx/data"
	"pmx/data/feeds/records"
)

// Record is called with every record of a file as one JSON object, and the line at which it starts
// (CSV, NDJSON) or its number. An error ends the reading.
type Record func(line int64, raw json.RawMessage) error

// Reading describes how a feed reads a file.
type Reading struct {
	// Lists are the keys under which a page has its records, such as "data". A JSON object with one
	// of them is a page; any other is a record.
	Lists []string
	Sink  data.Sink
	// NoList is called if the value of one of Lists is not a list, and for an object without any of
	// them; nil: the object is a record.
	NoList func(line int64) error
	// LineEnds is set for CSV files whose cells, such as descriptions, may contain line ends.
	LineEnds bool
	// Above is the number of lines before the header that were already read.
	Above int64
}

// Each calls fn with the records of r. A CSV or Parquet row becomes an object of its columns. A
// line of NDJSON that is not JSON, or a CSV row that cannot be parsed, is passed to the sink's
// Reject. A broken JSON array is an error with the number of the record.
func (rd Reading) Each(ctx context.Context, src data.Source, r io.Reader, fn Record) error {
	live := func(line int64, raw json.RawMessage) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return fn(line, raw)
	}
	checked := func(line int64, raw json.RawMessage) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := unreadable(raw); err != nil {
			return Reject(rd.Sink, line, raw, err)
		}
		return fn(line, raw)
	}
	counted := func(line int64, raw json.RawMessage) error {
		if err := checked(line, raw); err != nil {
			return err
		}
		return rd.Sink.Lines(data.LineRecord, 1)
	}
	switch src.Format {
	case data.CSV:
		return rd.eachCSV(ctx, r, checked)
	case data.Parquet:
		return eachParquet(src, r, rd.Sink, live) // it writes the JSON itself
	case data.NDJSON:
		return rd.eachLine(r, checked)
	}
	if odd := rd.NoList; odd != nil {
		rd.NoList = func(line int64) error {
			if err := odd(line); err != nil {
				return err
			}
			return rd.Sink.Lines(data.LineRecord, 1)
		}
	}
	return rd.eachJSON(r, counted)
}

func (rd Reading) eachCSV(ctx context.Context, r io.Reader, fn Record) error {
	cr := records.NewReader(SkipBOM(r))
	cr.LineEnds = rd.LineEnds
	cr.Above(rd.Above)
	var keys [][]byte
	header := func(names []string) (err error) {
		keys, err = keysOf(names)
		return err
	}
	return EachCSV(ctx, cr, rd.Sink, header, func(rec records.Record) error { return csvRow(rec, keys, fn) })
}

// EachCSV reads the records of cr and reports to sink what the lines are. header is called with the
// first record; it is nil if the file has no header. Records that cannot be parsed or are not UTF-8
// are passed to sink's Reject, all others except remarks to fn.
func EachCSV(ctx context.Context, cr *records.Reader, sink data.Sink, header func([]string) error, fn func(records.Record) error) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		rec, err := cr.Read()
		if errors.Is(err, io.EOF) {
			return sink.Lines(data.LineBlank, cr.Blank())
		}
		if err != nil {
			return fmt.Errorf("CSV: %w", err)
		}
		kind := data.LineRecord
		switch {
		case rec.Err != nil:
			err = RejectRecord(sink, rec)
		case header != nil:
			kind, err, header = data.LineHeader, header(rec.Cells), nil
		case cr.Remark != nil && cr.Remark(rec.Cells):
			kind = data.LineRemark
		case slices.ContainsFunc(rec.Cells, func(c string) bool { return !utf8.ValidString(c) }):
			err = Reject(sink, rec.Line, []byte(strings.Join(rec.Cells, ",")), Known("bad_utf8"))
		default:
			err = fn(rec)
		}
		if err == nil {
			err = sink.Lines(kind, rec.Lines)
		}
		if err != nil {
			return err
		}
	}
}

// RejectRecord passes an invalid record to sink.
func RejectRecord(sink data.Sink, rec records.Record) error {
	return sink.Reject(rec.Line, RecordReason(rec.Err), rec.Err.Error(), rec.Raw)
}

// RecordReason returns the reject reason for an error of package records.
func RecordReason(err error) string {
	if errors.Is(err, records.ErrCut) {
		return "cut_off"
	}
	return "bad_row"
}

func keysOf(header []string) (keys [][]byte, err error) {
	keys = make([][]byte, len(header))
	for i, name := range header {
		if keys[i], err = json.Marshal(name); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

func csvRow(rec records.Record, keys [][]byte, fn Record) error {
	obj := []byte{'{'}
	for i, cell := range rec.Cells {
		if i > 0 {
			obj = append(obj, ',')
		}
		text, err := json.Marshal(cell)
		if err != nil {
			return err
		}
		obj = append(append(append(obj, keys[i]...), ':'), text...)
	}
	return fn(rec.Line, append(obj, '}'))
}

// MaxRecord is the maximum size of a JSON record in bytes.
const MaxRecord = 64 << 20

func (rd Reading) eachLine(r io.Reader, fn Record) error {
	blank, err := lines(SkipBOM(r), func(line int64, text []byte, bad *RowError) (err error) {
		switch {
		case bad != nil:
			err = Reject(rd.Sink, line, text, bad)
		case rd.mayWrap(text):
			err = rd.onLine(line).eachJSON(bytes.NewReader(text), func(_ int64, raw json.RawMessage) error { return fn(line, raw) })
		default:
			err = fn(line, text)
		}
		if err != nil {
			return err
		}
		return rd.Sink.Lines(data.LineRecord, 1)
	})
	if err != nil {
		return err
	}
	return rd.Sink.Lines(data.LineBlank, blank)
}

// onLine returns rd for the JSON of a line.
func (rd Reading) onLine(line int64) Reading {
	if odd := rd.NoList; odd != nil {
		rd.NoList = func(int64) error { return odd(line) }
	}
	return rd
}

// EachLine calls fn with the lines of NDJSON that are not blank. nth counts them from 1; line is
// the line of the file. bad is the reason if a line is not one JSON object. Of a line that is too
// long, text is the beginning. The text is valid until fn returns. EachLine returns the number of
// blank lines.
func EachLine(r io.Reader, fn func(line, nth int64, text []byte, bad *RowError) error) (blank int64, err error) {
	nth := int64(0)
	return lines(r, func(line int64, text []byte, bad *RowError) error {
		if nth++; bad == nil {
			bad = unreadable(text)
		}
		return fn(line, nth, text, bad)
	})
}

func lines(r io.Reader, fn func(line int64, text []byte, bad *RowError) error) (blank int64, err error) {
	br := bufio.NewReaderSize(r, 1<<16)
	for line := int64(1); ; line++ {
		text, long, err := oneOf(br)
		if err != nil && !errors.Is(err, io.EOF) {
			return blank, fmt.Errorf("line %d: %w", line, err)
		}
		last, ended := err != nil, len(text) == 0
		text = bytes.TrimSpace(text)
		err = nil
		switch {
		case long:
			err = fn(line, []byte(clip(string(text), 2000)), &RowError{Reason: "bad_row", Detail: errLong.Error()})
		case len(text) == 0 && !ended:
			blank++
		case len(text) > 0 && (text[0] != '{' || !validJSON(text)):
			err = fn(line, text, Bad("bad_json", "the line is not one JSON object"))
		case len(text) > 0:
			err = fn(line, text, nil)
		}
		if last || err != nil {
			return blank, err
		}
	}
}

// unreadable reports why JSON text is invalid, nil if it is valid: it is not UTF-8, or has an
// escape of half a surrogate pair. JSON decoders silently replace both with U+FFFD.
func unreadable(raw []byte) *RowError {
	if !utf8.Valid(raw) {
		return Known("bad_utf8")
	}
	for rest := raw; ; {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 {
			return nil
		}
		unit, n := escaped(rest[i:])
		if utf16.IsSurrogate(unit) {
			low, m := escaped(rest[i+n:])
			if utf16.DecodeRune(unit, low) == utf8.RuneError {
				return Bad("bad_json", "the text has an escape that is half of a pair")
			}
			n += m
		}
		rest = rest[i+n:]
	}
}

// escaped parses the escape at the beginning of text. It returns the code unit of a \uXXXX escape,
// else 0, and the length of the escape; 0 and 0 if there is none.
func escaped(text []byte) (unit rune, n int) {
	if len(text) == 0 || text[0] != '\\' {
		return 0, 0
	}
	if len(text) < 6 || text[1] != 'u' {
		return 0, min(len(text), 2)
	}
	u, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return 0, 2
	}
	return rune(u), 6
}

var errLong = fmt.Errorf("the record is longer than %d MB", MaxRecord>>20)

// oneOf reads a line. If it is longer than MaxRecord, text is its beginning.
func oneOf(br *bufio.Reader) (text []byte, long bool, err error) {
	for {
		part, err := br.ReadSlice('\n')
		if len(text)+len(part) > MaxRecord {
			long, text, part = true, text[:min(len(text), 1<<12):1<<12], nil
		}
		if !long {
			text = append(text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, long, err
		}
	}
}

func (rd Reading) mayWrap(text []byte) bool {
	return slices.ContainsFunc(rd.Lists, func(l string) bool { return bytes.Contains(text, []byte(`"`+l+`"`)) })
}

func (rd Reading) eachJSON(r io.Reader, fn Record) error {
	g := &lengthLimit{r: SkipBOM(r), left: MaxRecord}
	w := &recordReader{dec: json.NewDecoder(g), lists: rd.Lists, fn: fn, noList: rd.NoList, limit: g}
	for {
		tok, err := w.dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = w.value(tok, true)
		}
		if err != nil {
			var sink *fnError
			if errors.As(err, &sink) {
				return sink.err
			}
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return fmt.Errorf("record %d: %w", w.n+1, errCutOff)
			}
			return fmt.Errorf("record %d: %w", w.n+1, err)
		}
	}
}

var errCutOff = errors.New("the file is cut off there: copy or download it again")

// fnError marks an error of the callback, so that it is not taken for one of the decoder.
type fnError struct{ err error }

func (e *fnError) Error() string { return e.err.Error() }

// recordReader reads records from arrays and page objects without having a whole page in memory.
type recordReader struct {
	dec    *json.Decoder
	lists  []string
	fn     Record
	noList func(int64) error
	n      int64
	limit  *lengthLimit
}

// lengthLimit stops reading a record that is too long, so that an unclosed quote does not load the
// rest of the file into memory.
type lengthLimit struct {
	r    io.Reader
	left int
}

func (g *lengthLimit) Read(p []byte) (int, error) {
	if g.left <= 0 {
		return 0, errLong
	}
	n, err := g.r.Read(p[:min(len(p), g.left)])
	g.left -= n
	return n, err
}

func (w *recordReader) emit(raw json.RawMessage) error {
	w.n++
	w.limit.left = MaxRecord
	if err := w.fn(w.n, raw); err != nil {
		return &fnError{err}
	}
	return nil
}

// value reads the JSON value that begins with tok: the records of an array, the lists of a page,
// or, if top is set, the object itself.
func (w *recordReader) value(tok json.Token, top bool) error {
	delim, ok := tok.(json.Delim)
	if !ok {
		if !top {
			return w.odd() // null instead of a list
		}
		return errors.New("a plain value instead of a record")
	}
	if delim == '[' {
		return w.array()
	}
	return w.object(top)
}

func (w *recordReader) array() error {
	for w.dec.More() {
		var raw json.RawMessage
		if err := w.dec.Decode(&raw); err != nil {
			return err
		}
		if err := w.emit(raw); err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return err
}

// object reads a page, whose records are in the members named in lists. If whole is set, an object
// without any of them is a record, which is put together again from its members.
func (w *recordReader) object(whole bool) error {
	obj, page := []byte{'{'}, false
	for w.dec.More() {
		tok, err := w.dec.Token()
		if err != nil {
			return err
		}
		key, _ := tok.(string)
		if slices.Contains(w.lists, key) {
			page = true
			if tok, err = w.dec.Token(); err != nil {
				return err
			}
			if err := w.value(tok, false); err != nil {
				return err
			}
			continue
		}
		var raw json.RawMessage
		if err := w.dec.Decode(&raw); err != nil {
			return err
		}
		if page || !whole {
			continue
		}
		name, err := json.Marshal(key)
		if err != nil {
			return err
		}
		if len(obj) > 1 {
			obj = append(obj, ',')
		}
		obj = append(append(append(obj, name...), ':'), raw...)
	}
	if _, err := w.dec.Token(); err != nil {
		return err
	}
	switch {
	case page:
		return nil
	case !whole:
		return w.odd()
	}
	return w.emit(append(obj, '}'))
}

// odd calls NoList, if it is set, for a value that is not a list.
func (w *recordReader) odd() error {
	if w.noList == nil {
		return nil
	}
	w.n++
	if err := w.noList(w.n); err != nil {
		return &fnError{err}
	}
	return nil
}

// SkipBOM returns r without a leading UTF-8 byte-order mark.
func SkipBOM(r io.Reader) io.Reader {
	br := bufio.NewReaderSize(r, 1<<16)
	if b, err := br.Peek(3); err == nil && b[0] == 0xEF && b[1] == 0xBB && b[2] == 0xBF {
		if _, err := br.Discard(3); err != nil {
			return br // cannot fail: the three bytes were just peeked
		}
	}
	return br
}
