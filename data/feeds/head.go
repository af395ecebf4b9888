package feeds

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"pmx/data"
)

// headSize is how many bytes of a file detection reads.
const headSize = 64 << 10

// Open opens a file and decompresses gzip or zstd, which it recognises by the first bytes and not
// by the name.
func Open(path string) (io.ReadCloser, error) {
	file, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	r, err := unpack(file)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return r, nil
}

// openRegular opens a file to import. Its error says how to import from a pipe.
func openRegular(path string) (*os.File, error) {
	file, err := data.OpenRegular(path)
	if errors.Is(err, data.ErrNotRegular) {
		return nil, fmt.Errorf("%w; give standard input as -", err)
	}
	return file, err
}

// ReadHead determines the format of the file at path and the shape of its first record. Compressed
// files are decompressed, except that a compressed Parquet file must be decompressed before,
// because its footer is at the end.
func ReadHead(path string) (data.Head, error) {
	r, err := Open(path)
	if err != nil {
		return data.Head{}, err
	}
	h, err := HeadOf(r)
	if err := errors.Join(err, r.Close()); err != nil {
		return data.Head{}, fmt.Errorf("%s: %w", path, err)
	}
	if h.Format == data.Parquet {
		if err := readFooter(path, &h); err != nil {
			return data.Head{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	return h, nil
}

// HeadOf is like ReadHead for a stream; a Parquet stream has no Columns.
func HeadOf(r io.Reader) (data.Head, error) {
	b, err := io.ReadAll(io.LimitReader(r, headSize))
	if err != nil {
		return data.Head{}, err
	}
	b = bytes.TrimPrefix(b, []byte("\xEF\xBB\xBF"))
	h := data.Head{Bytes: b}
	text := bytes.TrimLeft(b, " \t\r\n")
	switch {
	case bytes.HasPrefix(b, []byte("PAR1")):
		h.Format = data.Parquet
	case len(text) == 0:
		h.Format = data.CSV
	case text[0] == '[':
		h.Format, h.Keys = data.JSON, keysOf(text)
	case text[0] == '{':
		h.Format, h.Keys = objectFormat(text), keysOf(text)
	default:
		if err := binary(text); err != nil {
			return data.Head{}, err
		}
		h.Format = data.CSV
		h.Columns = csvHeader(b)
	}
	return h, nil
}

// binary returns an error for archives and other files that are not text.
func binary(b []byte) error {
	for magic, name := range map[string]string{
		"PK\x03\x04": "a zip archive", "SQLite format 3": "an SQLite database", "7z\xBC\xAF": "a 7z archive",
		"%PDF": "a PDF document", "ARROW1": "an Arrow file", "BZh": "a bzip2 file", "\xFD7zXZ": "an xz file",
	} {
		if bytes.HasPrefix(b, []byte(magic)) {
			return fmt.Errorf("this is %s: unpack it or export CSV, JSON or Parquet from it", name)
		}
	}
	if bytes.IndexByte(b, 0) >= 0 {
		return errors.New("this is a binary file: only CSV, NDJSON, JSON and Parquet can be imported")
	}
	return nil
}

// objectFormat distinguishes NDJSON, whose first line is a complete object, from JSON. A single
// line with records inside is a page of JSON. A first line longer than the head counts as JSON,
// too, which may consist of several objects.
func objectFormat(text []byte) data.Format {
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	alone := len(bytes.TrimSpace(rest)) == 0
	page := slices.ContainsFunc(keysOf(line), func(k string) bool { return strings.Contains(k, "[].") })
	if !json.Valid(bytes.TrimSpace(line)) || alone && page {
		return data.JSON
	}
	return data.NDJSON
}

func csvHeader(b []byte) []string {
	cr := csv.NewReader(bytes.NewReader(b))
	cr.LazyQuotes = true
	cols, err := cr.Read()
	if err != nil {
		return nil
	}
	return cols
}

// readFooter adds what only the footer of a Parquet file has: columns, their types, and the number
// of rows.
func readFooter(path string, h *data.Head) error {
	file, err := openRegular(path)
	if err != nil {
		return err
	}
	return errors.Join(footer(file, h), file.Close())
}

func footer(file *os.File, h *data.Head) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	f, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		var begin [4]byte
		if _, short := file.ReadAt(begin[:], 0); short == nil && string(begin[:]) != "PAR1" {
			return fmt.Errorf("it does not begin as a Parquet file does (a compressed one must be decompressed first): %w", err)
		}
		return fmt.Errorf("the file is cut off or damaged: it does not end as a Parquet file does: %w", err)
	}
	for _, field := range f.Schema().Fields() {
		kind := "GROUP"
		if field.Leaf() {
			kind = field.Type().String()
		}
		h.Columns, h.Types = append(h.Columns, field.Name()), append(h.Types, kind)
	}
	h.Rows = f.NumRows()
	return nil
}

// keyDepth is the maximum depth of key paths: a page, its list, a record, its list.
const keyDepth = 4

// keysOf returns the key paths of the first record of text: "id", "events[].slug",
// "data[].condition_id", "data.orderFilledEvents[].id". Text may end anywhere.
func keysOf(text []byte) []string {
	k := keyReader{dec: json.NewDecoder(bufio.NewReader(bytes.NewReader(text)))}
	tok, err := k.dec.Token()
	if err != nil {
		return nil
	}
	if tok == json.Delim('[') {
		if !k.dec.More() {
			return nil
		}
		if tok, err = k.dec.Token(); err != nil {
			return nil
		}
	}
	if tok == json.Delim('{') {
		k.object("", 1)
	}
	return k.keys
}

type keyReader struct {
	dec  *json.Decoder
	keys []string
}

// object adds the keys of an object after its opening bracket; false if the text ends.
func (k *keyReader) object(prefix string, depth int) bool {
	for k.dec.More() {
		tok, err := k.dec.Token()
		key, ok := tok.(string)
		if err != nil || !ok {
			return false
		}
		k.keys = append(k.keys, prefix+key)
		if !k.member(prefix+key, depth) {
			return false
		}
	}
	_, err := k.dec.Token()
	return err == nil
}

func (k *keyReader) member(path string, depth int) bool {
	tok, err := k.dec.Token()
	if err != nil {
		return false
	}
	switch tok {
	case json.Delim('{'):
		if depth >= keyDepth {
			return k.skip(1)
		}
		return k.object(path+".", depth+1)
	case json.Delim('['):
		return k.list(path, depth)
	}
	return true
}

func (k *keyReader) list(path string, depth int) bool {
	if !k.dec.More() {
		_, err := k.dec.Token()
		return err == nil
	}
	tok, err := k.dec.Token()
	if err != nil {
		return false
	}
	switch {
	case tok == json.Delim('{') && depth < keyDepth:
		if !k.object(path+"[].", depth+1) {
			return false
		}
	case tok == json.Delim('{'), tok == json.Delim('['):
		return k.skip(2)
	}
	return k.skip(1)
}

// skip reads on until n open brackets are closed.
func (k *keyReader) skip(n int) bool {
	for n > 0 {
		tok, err := k.dec.Token()
		if err != nil {
			return false
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			n++
		case json.Delim('}'), json.Delim(']'):
			n--
		}
	}
	return true
}
