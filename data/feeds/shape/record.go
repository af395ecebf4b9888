package shape

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"pmx/data"
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
}

// Each walks the records of r. A CSV or Parquet row becomes an object of its
// columns. A line of NDJSON that is not JSON, or a CSV row that cannot be taken
// apart, goes to the Sink's Reject; a broken JSON array is an error that names
// the record.
func (rd Reading) Each(ctx context.Context, src data.Source, r io.Reader, fn Record) error {
	counted := func(line int64, raw json.RawMessage) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return fn(line, raw)
	}
	switch src.Format {
	case data.CSV:
		return rd.eachCSV(r, counted)
	case data.Parquet:
		return eachParquet(src, r, counted)
	case data.NDJSON:
		return rd.eachLine(r, counted)
	default:
		return rd.eachJSON(r, counted)
	}
}

func (rd Reading) eachCSV(r io.Reader, fn Record) error {
	cr := csv.NewReader(SkipBOM(r))
	cr.FieldsPerRecord = -1
	cr.LazyQuotes = true
	header, err := cr.Read()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("header: %w", err)
	}
	keys := make([][]byte, len(header))
	for i, name := range header {
		if keys[i], err = json.Marshal(name); err != nil {
			return err
		}
	}
	for {
		row, err := cr.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("CSV: %w", err)
		}
		line, _ := cr.FieldPos(0)
		if err := rd.csvRow(int64(line), keys, row, fn); err != nil {
			return err
		}
	}
}

func (rd Reading) csvRow(line int64, keys [][]byte, row []string, fn Record) error {
	if len(row) != len(keys) {
		detail := fmt.Sprintf("the row has %d cells where the header has %d", len(row), len(keys))
		return rd.Sink.Reject(line, "bad_row", detail, joinCSV(row))
	}
	obj := []byte{'{'}
	for i, cell := range row {
		if i > 0 {
			obj = append(obj, ',')
		}
		text, err := json.Marshal(cell)
		if err != nil {
			return err
		}
		obj = append(append(append(obj, keys[i]...), ':'), text...)
	}
	return fn(line, append(obj, '}'))
}

func joinCSV(row []string) string {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if w.Write(row) == nil {
		w.Flush()
	}
	return string(bytes.TrimRight(b.Bytes(), "\n"))
}

func (rd Reading) eachLine(r io.Reader, fn Record) error {
	br := bufio.NewReaderSize(SkipBOM(r), 1<<16)
	for line := int64(1); ; line++ {
		text, err := br.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("line %d: %w", line, err)
		}
		last := err != nil
		if text = bytes.TrimSpace(text); len(text) > 0 {
			if err := rd.oneLine(line, text, fn); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
	}
}

func (rd Reading) oneLine(line int64, text []byte, fn Record) error {
	if !json.Valid(text) || text[0] != '{' {
		return rd.Sink.Reject(line, "bad_json", "the line is not one JSON object", string(text))
	}
	if !rd.mayWrap(text) {
		return fn(line, text)
	}
	return rd.eachJSON(bytes.NewReader(text), func(_ int64, raw json.RawMessage) error { return fn(line, raw) })
}

func (rd Reading) mayWrap(text []byte) bool {
	return slices.ContainsFunc(rd.Lists, func(l string) bool { return bytes.Contains(text, []byte(`"`+l+`"`)) })
}

func (rd Reading) eachJSON(r io.Reader, fn Record) error {
	w := &walker{dec: json.NewDecoder(SkipBOM(r)), lists: rd.Lists, fn: fn}
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

// walker streams records out of arrays and page objects without holding a page.
type walker struct {
	dec   *json.Decoder
	lists []string
	fn    Record
	n     int64
}

func (w *walker) emit(raw json.RawMessage) error {
	w.n++
	if err := w.fn(w.n, raw); err != nil {
		return &fnError{err}
	}
	return nil
}

// value reads the JSON value that begins with tok: the records of an array, the pages of an object,
// or with top the object itself.
func (w *walker) value(tok json.Token, top bool) error {
	delim, ok := tok.(json.Delim)
	if !ok {
		if !top {
			return nil // a null where a list may stand
		}
		return errors.New("a bare value where a record should be")
	}
	if delim == '[' {
		return w.array()
	}
	return w.object(top)
}

func (w *walker) array() error {
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
func (w *walker) object(whole bool) error {
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
	if page || !whole {
		return nil
	}
	return w.emit(append(obj, '}'))
}

// SkipBOM gives r without a leading UTF-8 byte-order mark.
func SkipBOM(r io.Reader) io.Reader {
	br := bufio.NewReaderSize(r, 1<<16)
	if b, err := br.Peek(3); err == nil && b[0] == 0xEF && b[1] == 0xBB && b[2] == 0xBF {
		if _, err := br.Discard(3); err != nil {
			return br // cannot be: the three bytes were just seen
		}
	}
	return br
}
