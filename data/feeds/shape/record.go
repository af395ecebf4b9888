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

// Record is called with every record of a file as one JSON object, and the line
// (CSV, NDJSON) or the record number it starts at. Its error ends the reading.
type Record func(line int64, raw json.RawMessage) error

// Reading is how a feed walks a file.
type Reading struct {
	// Lists names the keys a page wraps its records in, such as "data". A JSON
	// object that has one of them is a page, any other is a record itself.
	Lists []string
	Sink  data.Sink
	// NoList is called where something else than a list stands under one of Lists, and an
	// object that has none of them; nil: it is no record.
	NoList func(line int64) error
	// LineEnds is set for CSV files whose cells may hold line ends, such as descriptions.
	LineEnds bool
	// Above is how many lines of the file were read before the header.
	Above int64
}

// Each walks the records of r. A CSV or Parquet row becomes an object of its
// columns. A line of NDJSON that is not JSON, or a CSV row that cannot be taken
// apart, goes to the Sink's Reject; a broken JSON array is an error that names
// the record.
func (rd Reading) Each(ctx context.Context, src data.Source, r io.Reader, fn Record) error {
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
		return eachParquet(src, r, rd.Sink, checked)
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

// EachCSV walks the records of cr and tells sink what the lines are. header gets the first one; it
// is nil if the file has none. What cannot be taken apart, or is not UTF-8, goes to sink's Reject,
// all else but remarks to fn.
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

// RejectRecord hands a record that cannot be used to sink.
func RejectRecord(sink data.Sink, rec records.Record) error {
	return sink.Reject(rec.Line, RecordReason(rec.Err), rec.Err.Error(), rec.Raw)
}

// RecordReason is the reject reason of an error of package records.
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

// MaxRecord is the most bytes that a record of JSON may have.
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

// onLine is rd of the JSON of one line.
func (rd Reading) onLine(line int64) Reading {
	if odd := rd.NoList; odd != nil {
		rd.NoList = func(int64) error { return odd(line) }
	}
	return rd
}

// EachLine walks the lines of NDJSON that are not blank, and numbers them from 1; line is that of
// the file. A line that is not one JSON object comes with the reason, and of one that is too long
// the beginning. The text is good until fn returns. It returns how many lines are blank.
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
		case len(text) > 0 && (!json.Valid(text) || text[0] != '{'):
			err = fn(line, text, Bad("bad_json", "the line is not one JSON object"))
		case len(text) > 0:
			err = fn(line, text, nil)
		}
		if last || err != nil {
			return blank, err
		}
	}
}

// unreadable reports why the text of JSON cannot be read, nil if it can: it is not UTF-8, or
// escapes half of a surrogate pair. Readers of JSON put U+FFFD in the place of both without a word.
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

// escaped reads the escape that text begins with: the code unit of one of the form
// \uXXXX, else 0, and how long it is; 0 and 0 where text begins with none.
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

// oneOf reads a line. Of one that is longer than MaxRecord it gives the beginning.
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
			return fmt.Errorf("record %d: %w", w.n+1, noEOF(err))
		}
	}
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// fnError carries an error of the callback past the errors of the decoder.
type fnError struct{ err error }

func (e *fnError) Error() string { return e.err.Error() }

// recordReader streams records out of arrays and page objects without holding a page.
type recordReader struct {
	dec    *json.Decoder
	lists  []string
	fn     Record
	noList func(int64) error
	n      int64
	limit  *lengthLimit
}

// lengthLimit ends the reading of a record that is too long, so that a quote nobody
// closed does not bring the rest of the file into memory.
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

// value reads the JSON value that begins with tok: the records of an array, the pages of an object,
// or with top the object itself.
func (w *recordReader) value(tok json.Token, top bool) error {
	delim, ok := tok.(json.Delim)
	if !ok {
		if !top {
			return w.odd() // a null where a list may stand
		}
		return errors.New("a bare value where a record should be")
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

// object reads a page: the members named in lists hold records. With whole, an
// object without any of them is a record, put together again from its members.
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

// odd counts what stands in the place of a list, where somebody wants to know.
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
			return br // cannot be: the three bytes were just seen
		}
	}
	return br
}
