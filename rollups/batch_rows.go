package rollups

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"pmx/engine"
)

// sums are rows by key, in order of first appearance.
type sums[K comparable, R any] struct {
	index map[K]int
	rows  []R
}

// at returns the row of a key, adding first if there is none. The pointer holds until the next
// call.
func (s *sums[K, R]) at(key K, first R) *R {
	i, known := s.index[key]
	if !known {
		if s.index == nil {
			s.index = map[K]int{}
		}
		i = len(s.rows)
		s.index[key] = i
		s.rows = append(s.rows, first)
	}
	return &s.rows[i]
}

// appendRows appends rows to the delta of t, without those that change nothing. Rows are structs
// with a field for each column, as for engine.EachRow.
func appendRows[R any](m *merge, t table, rows []R) error {
	if len(rows) == 0 {
		return nil
	}
	columns, err := columnsOf(reflect.TypeFor[R](), t)
	if err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	row := func(i int) unsafe.Pointer { return unsafe.Pointer(&rows[i]) }
	first := 0
	for first < len(rows) && !changes(columns, row(first)) {
		first++
	}
	if first == len(rows) {
		return nil
	}
	return m.conn.Raw(func(dc any) error {
		to, err := engine.TableChunkAppender(dc, t.deltaTable())
		if err != nil {
			return err
		}
		for i := first; i < len(rows) && err == nil; i++ {
			if !changes(columns, row(i)) {
				continue
			}
			for c := range columns {
				columns[c].set(to, c, row(i))
			}
			err = to.EndRow()
		}
		return errors.Join(err, to.Close())
	})
}

// rowColumn is a column of a delta, and where a row has its value.
type rowColumn struct {
	offset    uintptr
	kind      reflect.Kind // of a whole number, an array of bytes, or a pointer to a big.Int
	size      uintptr
	counts    bool // a row of which no such column has a value changes nothing
	zeroIsNil bool
}

// columnsOf returns the columns of t in rows of a type.
func columnsOf(row reflect.Type, t table) ([]rowColumn, error) {
	fields, err := columnFields(row, t.columns())
	if err != nil {
		return nil, err
	}
	summed, columns := len(t.keys)+len(t.sums), make([]rowColumn, len(fields))
	for c, index := range fields {
		var offset uintptr
		of := row
		for _, i := range index {
			f := of.Field(i)
			offset, of = offset+f.Offset, f.Type
		}
		bytes := of.Kind() == reflect.Array && of.Elem().Kind() == reflect.Uint8
		if !bytes && of != reflect.TypeFor[*big.Int]() && (of.Kind() < reflect.Int || of.Kind() > reflect.Uint64) {
			return nil, fmt.Errorf("column %q cannot be appended from %v", t.columns()[c], of)
		}
		columns[c] = rowColumn{offset: offset, kind: of.Kind(), size: of.Size(), counts: c >= len(t.keys) && (c < summed || !t.extremes),
			zeroIsNil: c >= summed || bytes} // among keys, a transaction may be NULL; no sum is
	}
	return columns, nil
}

// changes reports whether a row changes anything.
func changes(columns []rowColumn, row unsafe.Pointer) bool {
	for i := range columns {
		if columns[i].counts && !columns[i].isZero(row) {
			return true
		}
	}
	return false
}

// bytes is the value of a row.
func (c *rowColumn) bytes(row unsafe.Pointer) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(row, c.offset)), c.size)
}

func (c *rowColumn) isZero(row unsafe.Pointer) bool {
	return !slices.ContainsFunc(c.bytes(row), func(b byte) bool { return b != 0 })
}

// set sets the column of the row that is appended.
func (c *rowColumn) set(to *engine.ChunkAppender, column int, row unsafe.Pointer) {
	if c.zeroIsNil && c.isZero(row) {
		return
	}
	p := unsafe.Add(row, c.offset)
	switch c.kind {
	case reflect.Array:
		to.Bytes(column, c.bytes(row))
	case reflect.Int8:
		to.Int(column, int64(*(*int8)(p)))
	case reflect.Int16:
		to.Int(column, int64(*(*int16)(p)))
	case reflect.Int32:
		to.Int(column, int64(*(*int32)(p)))
	case reflect.Int, reflect.Int64:
		to.Int(column, *(*int64)(p))
	case reflect.Uint8:
		to.Int(column, int64(*(*uint8)(p)))
	case reflect.Uint16:
		to.Int(column, int64(*(*uint16)(p)))
	case reflect.Uint32:
		to.Int(column, int64(*(*uint32)(p)))
	case reflect.Pointer:
		upper, lower := halves(*(**big.Int)(p))
		to.Huge(column, upper, lower)
	default:
		to.Int(column, int64(*(*uint64)(p)))
	}
}

// halves returns a number of up to 127 bits in two's complement.
func halves(n *big.Int) (upper int64, lower uint64) {
	var room [16]byte
	n.FillBytes(room[:]) // of the absolute value
	high, low := binary.BigEndian.Uint64(room[:8]), binary.BigEndian.Uint64(room[8:])
	if n.Sign() < 0 {
		low = -low
		if high = ^high; low == 0 {
			high++
		}
	}
	return int64(high), low
}

// columnFields finds the field of each column.
func columnFields(row reflect.Type, columns []string) ([][]int, error) {
	fields := make([][]int, len(columns))
	for _, f := range reflect.VisibleFields(row) {
		name, _, _ := strings.Cut(f.Tag.Get("sql"), ",")
		if i := slices.Index(columns, name); i >= 0 {
			fields[i] = f.Index
		}
	}
	if i := slices.IndexFunc(fields, func(f []int) bool { return f == nil }); i >= 0 {
		return nil, fmt.Errorf("%v has no field for column %q", row, columns[i])
	}
	return fields, nil
}

// tradeKey is a trade as statement PriceKey has it; nil if there is none.
func (q pricedTrade) key() *big.Int {
	if q == (pricedTrade{}) {
		return nil
	}
	key := new(big.Int).Lsh(big.NewInt(q.ts), 52)
	return key.Add(key, big.NewInt((int64(q.log)+1)<<20+int64(q.price)))
}
