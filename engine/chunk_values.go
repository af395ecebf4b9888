package engine

// #include <stdlib.h>
import "C"

import (
	"bytes"
	"fmt"
	"unicode/utf8"
	"unsafe"

	"github.com/duckdb/duckdb-go/v2/mapping"
)

// ChunkRows are rows of a table that are written where DuckDB has a chunk of them in memory, column by column. A column
// that a row does not set is NULL. A setter whose width differs from its column's is an error of EndRow.
type ChunkRows struct {
	columns []chunkRowsColumn
	rows    uintptr // of the chunk
	most    uintptr // how many rows a chunk has room for
	width   int     // bytes of a row
	texts   unsafe.Pointer
	used    uintptr // of texts
	kept    int     // bytes that were written, of all chunks
	err     error
}

// chunkRowsColumn is a column of the chunk.
type chunkRowsColumn struct {
	width  uintptr
	huge   bool // a HUGEINT, which is as wide as a text
	vector mapping.Vector
	data   unsafe.Pointer
	set    []uint64 // a bit for each row that is not NULL
}

const (
	textWidth = 16        // of a string in a vector: the string itself, or a pointer to it
	textsRoom = 512 << 10 // for the long texts of a chunk
)

// newChunkRows returns rows of these types. They have to be freed.
func newChunkRows(types []mapping.LogicalType) (*ChunkRows, error) {
	r := &ChunkRows{most: uintptr(mapping.VectorSize())}
	for i := range types {
		id := mapping.GetTypeId(types[i])
		width := widthOf(id)
		if width == 0 {
			return nil, fmt.Errorf("column %d has a type that only the driver can append", i)
		}
		r.width += int(width)
		r.columns = append(r.columns, chunkRowsColumn{width: width, huge: id == mapping.TypeHugeInt, set: make([]uint64, (r.most+63)/64)})
	}
	return r, nil
}

// widthOf is the size in bytes of a value of a type in a vector, 0 for types that are not appended.
func widthOf(t mapping.Type) uintptr {
	switch t {
	case mapping.TypeBoolean, mapping.TypeTinyInt:
		return 1
	case mapping.TypeSmallInt:
		return 2
	case mapping.TypeInteger:
		return 4
	case mapping.TypeBigInt:
		return 8
	case mapping.TypeVarchar, mapping.TypeBlob, mapping.TypeHugeInt:
		return textWidth
	}
	return 0
}

// begin gets the memory of a chunk, in which everything is NULL.
func (r *ChunkRows) begin(chunk mapping.DataChunk) {
	r.rows, r.used = 0, 0
	for i := range r.columns {
		c := &r.columns[i]
		c.vector = mapping.DataChunkGetVector(chunk, mapping.IdxT(i))
		c.data = mapping.VectorGetData(c.vector)
		clear(c.set)
	}
}

// end tells DuckDB how many rows the chunk has, and what is NULL. A vector without NULL has no mask, which saves DuckDB to look at it
// for every value.
func (r *ChunkRows) end(chunk mapping.DataChunk) {
	for i := range r.columns {
		c := &r.columns[i]
		if c.isSet(r.rows) {
			continue
		}
		mapping.VectorEnsureValidityWritable(c.vector)
		copy(unsafe.Slice((*uint64)(mapping.VectorGetValidity(c.vector)), len(c.set)), c.set)
	}
	mapping.DataChunkSetSize(chunk, mapping.IdxT(r.rows))
}

// isSet reports whether the first rows are not NULL.
func (c *chunkRowsColumn) isSet(rows uintptr) bool {
	for _, word := range c.set[:rows/64] {
		if word != 1<<64-1 {
			return false
		}
	}
	return rows%64 == 0 || c.set[rows/64] == 1<<(rows%64)-1
}

func (r *ChunkRows) free() {
	C.free(r.texts)
	r.texts = nil
}

// EndRow ends a row. It fails if the chunk has no room for it.
func (r *ChunkRows) EndRow() error {
	if r.err == nil && r.rows == r.most {
		r.err = fmt.Errorf("a chunk has room for %d rows", r.most)
	}
	if r.err != nil {
		return r.err
	}
	r.kept += r.width
	r.rows++
	return nil
}

// at marks a column of this row as not NULL and returns where its value belongs; nil if the column
// has another width.
func (r *ChunkRows) at(column int, width uintptr) unsafe.Pointer {
	c := &r.columns[column]
	if r.rows == r.most {
		return nil // EndRow says so
	}
	if c.width != width {
		r.err = fmt.Errorf("a value of %d bytes for column %d, which has %d", width, column, c.width)
		return nil
	}
	c.set[r.rows/64] |= 1 << (r.rows % 64)
	return unsafe.Add(c.data, r.rows*width)
}

// Int8 sets a TINYINT.
func (r *ChunkRows) Int8(column int, v int8) {
	if p := r.at(column, 1); p != nil {
		*(*int8)(p) = v
	}
}

// Bool sets a BOOLEAN.
func (r *ChunkRows) Bool(column int, v bool) {
	if p := r.at(column, 1); p != nil {
		*(*bool)(p) = v
	}
}

// Int16 sets a SMALLINT.
func (r *ChunkRows) Int16(column int, v int16) {
	if p := r.at(column, 2); p != nil {
		*(*int16)(p) = v
	}
}

// Int32 sets an INTEGER.
func (r *ChunkRows) Int32(column int, v int32) {
	if p := r.at(column, 4); p != nil {
		*(*int32)(p) = v
	}
}

// Int64 sets a BIGINT.
func (r *ChunkRows) Int64(column int, v int64) {
	if p := r.at(column, 8); p != nil {
		*(*int64)(p) = v
	}
}

// Int sets a column of whole numbers of any width. A number that does not fit is an error of EndRow.
func (r *ChunkRows) Int(column int, v int64) {
	c := &r.columns[column]
	if c.huge {
		r.Huge(column, v>>63, uint64(v))
		return
	}
	fits := true
	switch c.width {
	case 1:
		fits = v == int64(int8(v))
		r.Int8(column, int8(v))
	case 2:
		fits = v == int64(int16(v))
		r.Int16(column, int16(v))
	case 4:
		fits = v == int64(int32(v))
		r.Int32(column, int32(v))
	default:
		r.Int64(column, v)
	}
	if !fits {
		r.err = fmt.Errorf("column %d is too narrow for %d", column, v)
	}
}

// Huge sets a HUGEINT of two's complement.
func (r *ChunkRows) Huge(column int, upper int64, lower uint64) {
	if !r.columns[column].huge {
		r.err = fmt.Errorf("column %d is no HUGEINT", column)
	} else if p := r.at(column, textWidth); p != nil {
		*(*uint64)(p), *(*int64)(unsafe.Add(p, 8)) = lower, upper
	}
}

// ChunkNumbers returns the values of a column of whole numbers for this row and those after it, n in total, which are not NULL then.
// It is a setter for all of them: each of the rows has to be ended.
func ChunkNumbers[T int8 | int16 | int32 | int64](r *ChunkRows, column, n int) []T {
	var one T
	c := &r.columns[column]
	switch {
	case uintptr(n) > r.most-r.rows:
		r.err = fmt.Errorf("%d rows for a chunk with room for %d", n, r.most-r.rows)
	case c.width != unsafe.Sizeof(one):
		r.err = fmt.Errorf("values of %d bytes for column %d, which has %d", unsafe.Sizeof(one), column, c.width)
	}
	if r.err != nil {
		return make([]T, n)
	}
	c.setRows(r.rows, uintptr(n))
	return unsafe.Slice((*T)(unsafe.Add(c.data, r.rows*c.width)), n)
}

// setRows marks n rows as not NULL.
func (c *chunkRowsColumn) setRows(from, n uintptr) {
	for at := from; at < from+n; {
		if at%64 == 0 && from+n-at >= 64 {
			c.set[at/64] = 1<<64 - 1
			at += 64
			continue
		}
		c.set[at/64] |= 1 << (at % 64)
		at++
	}
}

// atText is at for a text.
func (r *ChunkRows) atText(column int) unsafe.Pointer {
	if r.columns[column].huge {
		r.err = fmt.Errorf("a text for column %d, which has numbers", column)
		return nil
	}
	return r.at(column, textWidth)
}

// Bytes sets a BLOB. It copies v.
func (r *ChunkRows) Bytes(column int, v []byte) {
	if p := r.atText(column); p != nil && !r.place(p, v) {
		r.assign(column, v)
	}
}

// Text sets a VARCHAR. A text that is not UTF-8 is left for DuckDB to judge.
func (r *ChunkRows) Text(column int, v string) {
	p := r.atText(column)
	if p == nil {
		return
	}
	b := unsafe.Slice(unsafe.StringData(v), len(v))
	if !utf8.ValidString(v) || !r.place(p, b) {
		r.assign(column, b)
	}
}

// assign passes a copy of a string to DuckDB, which makes it NULL if it is a VARCHAR that is not UTF-8. Without the copy v would
// escape, and strings that are placed would be on the heap, too.
func (r *ChunkRows) assign(column int, v []byte) {
	r.kept += len(v)
	c := &r.columns[column]
	mapping.VectorAssignStringElementLen(c.vector, mapping.IdxT(r.rows), bytes.Clone(v))
	if mask := mapping.VectorGetValidity(c.vector); mask != nil && *(*uint64)(unsafe.Add(mask, r.rows/64*8))&(1<<(r.rows%64)) == 0 {
		c.set[r.rows/64] &^= 1 << (r.rows % 64)
	}
}

// place writes a string in DuckDB's layout of a vector: its length, then the whole string, or its
// first four bytes and a pointer. It reports whether there was room.
func (r *ChunkRows) place(p unsafe.Pointer, v []byte) bool {
	n := uintptr(len(v))
	if n > inlined && n > textsRoom-r.used {
		return false
	}
	r.kept += len(v)
	*(*[2]uint64)(p) = [2]uint64{}
	*(*uint32)(p) = uint32(n)
	if n <= inlined {
		copy(unsafe.Slice((*byte)(unsafe.Add(p, 4)), n), v)
		return true
	}
	if r.texts == nil {
		r.texts = C.malloc(textsRoom)
	}
	to := unsafe.Add(r.texts, r.used)
	copy(unsafe.Slice((*byte)(to), n), v)
	copy(unsafe.Slice((*byte)(unsafe.Add(p, 4)), 4), v)
	*(*uintptr)(unsafe.Add(p, 8)) = uintptr(to) // a pointer into C memory, hidden from Go's collector
	r.used += n
	return true
}
