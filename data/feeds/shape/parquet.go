package shape

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"pmx/data"
)

// Parquet opens the footer of a Parquet file: r itself if it can be read at an offset, else the
// file at src.Path. The caller must close the Closer.
func Parquet(src data.Source, r io.Reader) (*parquet.File, io.Closer, error) {
	if at, ok := r.(io.ReaderAt); ok && src.Size > 0 {
		f, err := parquet.OpenFile(at, src.Size)
		return f, io.NopCloser(nil), err
	}
	file, err := os.Open(src.Path)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil {
		var f *parquet.File
		if f, err = parquet.OpenFile(file, info.Size()); err == nil {
			return f, file, nil
		}
	}
	return nil, nil, errors.Join(fmt.Errorf("parquet footer: %w", err), file.Close())
}

// EachRow calls fn with the rows of a Parquet file, in file order; row is 1-based. The values are
// valid until fn returns.
func EachRow(f *parquet.File, fn func(row int64, values parquet.Row) error) error {
	n := int64(0)
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		err := eachOf(rows, &n, fn)
		if err = errors.Join(err, rows.Close()); err != nil {
			return err
		}
	}
	return nil
}

func eachOf(rows parquet.Rows, n *int64, fn func(int64, parquet.Row) error) error {
	buf := make([]parquet.Row, 256)
	for {
		got, err := rows.ReadRows(buf)
		for _, row := range buf[:got] {
			*n++
			if err := fn(*n, row); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("row %d: %w", *n+1, err)
		}
	}
}

// TextColumns reports for each leaf column of a Parquet file whether it has text.
func TextColumns(f *parquet.File) []bool {
	var out []bool
	for _, leaf := range leavesOf(f.Schema()) {
		t := leaf.node.Type()
		_, text := leaf.logical().(*format.StringType)
		out = append(out, text || t.ConvertedType() != nil && *t.ConvertedType() == deprecated.UTF8)
	}
	return out
}

func eachParquet(src data.Source, r io.Reader, sink data.Sink, fn Record) (err error) {
	f, c, err := Parquet(src, r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	leaves, isText := leavesOf(f.Schema()), TextColumns(f)
	obj := newParquetObject(leaves)
	return EachRow(f, func(n int64, row parquet.Row) error {
		obj.empty()
		for _, v := range row {
			if isText[v.Column()] && !v.IsNull() && !utf8.Valid(v.ByteArray()) {
				return errors.Join(Reject(sink, n, v.ByteArray(), Known("bad_utf8")), sink.Lines(data.LineRecord, 1))
			}
			obj.add(v)
		}
		if err := fn(n, obj.json()); err != nil {
			return err
		}
		return sink.Lines(data.LineRecord, 1)
	})
}

// Leaf is a column of a Parquet file that can convert its values to text.
type Leaf struct {
	name     string
	repeated bool
	element  int // for lists: the definition level from which on there is an element
	node     parquet.Node
}

// leavesOf returns the leaf columns in column order, each with the name of its top-level field.
func leavesOf(s *parquet.Schema) []Leaf {
	var out []Leaf
	for _, path := range s.Columns() {
		col, _ := s.Lookup(path...)
		leaf := Leaf{name: path[0], node: col.Node, repeated: col.MaxRepetitionLevel > 0, element: elementLevel(s, path)}
		out = append(out, leaf)
	}
	return out
}

// elementLevel returns the definition level at which the innermost list that contains a leaf has an
// element: each optional or repeated node up to it counts as one.
// https://parquet.apache.org/docs/file-format/nestedencoding/
func elementLevel(n parquet.Node, path []string) (element int) {
	level := 0
	for _, name := range path {
		i := slices.IndexFunc(n.Fields(), func(f parquet.Field) bool { return f.Name() == name })
		if i < 0 {
			break
		}
		n = n.Fields()[i]
		if n.Optional() || n.Repeated() {
			level++
		}
		if n.Repeated() {
			element = level
		}
	}
	return element
}

// LeafOf returns the flat column with that name and its index; false if the file has none.
func LeafOf(f *parquet.File, name string) (Leaf, int, bool) {
	col, ok := f.Schema().Lookup(name)
	return Leaf{name: name, node: col.Node}, col.ColumnIndex, ok
}

// IsBinary reports whether the column has bytes, not text or numbers.
func (l Leaf) IsBinary() bool {
	k := l.node.Type().Kind()
	return (k == parquet.ByteArray || k == parquet.FixedLenByteArray) && l.logical() == nil &&
		l.node.Type().ConvertedType() == nil
}

// IsInteger reports whether the column has plain integers.
func (l Leaf) IsInteger() bool {
	k := l.node.Type().Kind()
	_, plain := l.logical().(*format.IntType)
	return (k == parquet.Int32 || k == parquet.Int64) && (plain || l.logical() == nil && l.node.Type().ConvertedType() == nil)
}

// Value returns v as text that this package can read back (RFC 3339 for times, exact decimals, 0x
// hex for bytes that are not text), a bool, or nil for null.
func (l Leaf) Value(v parquet.Value) any {
	if v.IsNull() {
		return nil
	}
	switch v.Kind() {
	case parquet.Boolean:
		return v.Boolean()
	case parquet.Int32:
		return l.integer(int64(v.Int32()))
	case parquet.Int64:
		return l.integer(v.Int64())
	case parquet.Int96:
		return int96(v).UTC().Format(time.RFC3339Nano)
	case parquet.Float:
		return strconv.FormatFloat(float64(v.Float()), 'f', -1, 32)
	case parquet.Double:
		return strconv.FormatFloat(v.Double(), 'f', -1, 64)
	default:
		return l.bytes(v.ByteArray())
	}
}

// int96 converts the deprecated timestamp type: nanoseconds of the day and the Julian day.
func int96(v parquet.Value) time.Time {
	i := v.Int96()
	nanos := int64(i[1])<<32 | int64(i[0])
	return time.Unix((int64(i[2])-2440588)*86400, nanos)
}

func (l Leaf) integer(n int64) string {
	switch t := l.logical().(type) {
	case *format.TimestampType:
		return unixIn(n, t.Unit.Value).Format(time.RFC3339Nano)
	case *format.DateType:
		return time.Unix(n*86400, 0).UTC().Format(time.DateOnly)
	case *format.DecimalType:
		return decimal(n, int(t.Scale))
	case *format.IntType:
		if !t.IsSigned {
			return strconv.FormatUint(uint64(n), 10)
		}
	}
	return strconv.FormatInt(n, 10)
}

func (l Leaf) logical() format.LogicalTypeValue {
	if lt := l.node.Type().LogicalType(); lt != nil {
		return lt.Value
	}
	return nil
}

func unixIn(n int64, unit format.TimeUnitValue) time.Time {
	switch unit.(type) {
	case *format.MilliSeconds:
		return time.UnixMilli(n).UTC()
	case *format.NanoSeconds:
		return time.Unix(0, n).UTC()
	default:
		return time.UnixMicro(n).UTC()
	}
}

func (l Leaf) bytes(b []byte) string {
	if t, ok := l.logical().(*format.DecimalType); ok {
		n := new(big.Int).SetBytes(b)
		if len(b) > 0 && b[0]&0x80 != 0 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		return scaled(n, int(t.Scale))
	}
	if l.IsBinary() && (len(b) == 20 || len(b) == 32) || !utf8.Valid(b) {
		return "0x" + hex.EncodeToString(b)
	}
	return string(b)
}

// decimal is scaled for numbers of 64 bits.
func decimal(n int64, scale int) string {
	if scale <= 0 {
		return strconv.FormatInt(n, 10)
	}
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	whole := len(digits) - scale
	return sign + digits[:whole] + "." + digits[whole:]
}

// scaled formats n / 10^scale exactly.
func scaled(n *big.Int, scale int) string {
	if scale <= 0 {
		return n.String()
	}
	return new(big.Rat).SetFrac(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)).FloatString(scale)
}
