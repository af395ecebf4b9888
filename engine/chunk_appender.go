package engine

// #include <stdlib.h>
import "C"

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"
	"unsafe"

	duckdb "github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"
)

// ChunkAppender adds rows to a table. It writes each value where DuckDB has the column in
// memory: the driver's appender boxes every value in an interface, and calls DuckDB for every text
// and every NULL. A column that a row does not set is NULL. If a setter's width differs from its
// column's, EndRow fails.
type ChunkAppender struct {
	appender mapping.Appender
	chunk    mapping.DataChunk
	columns  []appendedColumn
	rows     uintptr // of the chunk
	most     uintptr // how many rows a chunk has room for
	texts    unsafe.Pointer
	used     uintptr // of texts
	kept     int     // bytes that DuckDB holds beside the table
	err      error
}

// appendedColumn is a column of the chunk.
type appendedColumn struct {
	width  uintptr
	huge   bool // a HUGEINT, which is as wide as a text
	vector mapping.Vector
	data   unsafe.Pointer
	mask   unsafe.Pointer // a bit for each row that is not NULL
}

const (
	textWidth   = 16        // of a string in a vector: the string itself, or a pointer to it
	textsRoom   = 512 << 10 // for the long texts of a chunk
	appendBytes = 8 << 20   // that DuckDB holds before it writes them to the table; its default is a second copy of 200,000 rows
)

// TempChunkAppender returns an appender to a temporary table of a driver's connection, as
// sql.Conn.Raw passes it. It must be closed.
func TempChunkAppender(dc any, table string) (*ChunkAppender, error) {
	return newChunkAppender(dc, "temp", table)
}

// TableChunkAppender is TempChunkAppender for a table of the database. Its rows belong to the transaction of the
// connection.
func TableChunkAppender(dc any, table string) (*ChunkAppender, error) {
	return newChunkAppender(dc, "", table)
}

func newChunkAppender(dc any, catalog, table string) (*ChunkAppender, error) {
	connection, err := connectionOf(dc)
	if err != nil {
		return nil, err
	}
	a := &ChunkAppender{most: uintptr(mapping.VectorSize())}
	if mapping.AppenderCreateExt(connection, catalog, "main", table, &a.appender) == mapping.StateError {
		return nil, errors.Join(fmt.Errorf("append to %s: %w", table, a.fault()), a.destroy())
	}
	types := make([]mapping.LogicalType, mapping.AppenderColumnCount(a.appender))
	for i := range types {
		types[i] = mapping.AppenderColumnType(a.appender, mapping.IdxT(i))
		width := widthOf(mapping.GetTypeId(types[i]))
		if width == 0 {
			err = fmt.Errorf("append to %s: column %d has a type that only the driver can append", table, i)
		}
		a.columns = append(a.columns, appendedColumn{width: width, huge: mapping.GetTypeId(types[i]) == mapping.TypeHugeInt})
	}
	if err == nil {
		a.chunk = mapping.CreateDataChunk(types)
		a.begin()
	}
	for i := range types {
		mapping.DestroyLogicalType(&types[i])
	}
	if err != nil {
		return nil, errors.Join(err, a.destroy())
	}
	return a, nil
}

// connectionOf returns DuckDB's connection under a driver's connection, which keeps it in an
// unexported field.
func connectionOf(dc any) (mapping.Connection, error) {
	if c, ok := dc.(*conn); ok {
		f := reflect.ValueOf(c.Conn).Elem().FieldByName("conn")
		if f.IsValid() && f.Type() == reflect.TypeFor[mapping.Connection]() {
			return *(*mapping.Connection)(f.Addr().UnsafePointer()), nil
		}
	}
	return mapping.Connection{}, fmt.Errorf("driver %T has an unknown layout: nothing can be appended", dc)
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

// begin gets the memory of the next chunk, in which everything is NULL.
func (a *ChunkAppender) begin() {
	a.rows, a.used = 0, 0
	for i := range a.columns {
		c := &a.columns[i]
		c.vector = mapping.DataChunkGetVector(a.chunk, mapping.IdxT(i))
		mapping.VectorEnsureValidityWritable(c.vector)
		c.data, c.mask = mapping.VectorGetData(c.vector), mapping.VectorGetValidity(c.vector)
		clear(unsafe.Slice((*uint64)(c.mask), (a.most+63)/64))
	}
}

// at marks a column of this row as not NULL and returns where its value belongs; nil if the column
// has another width.
func (a *ChunkAppender) at(column int, width uintptr) unsafe.Pointer {
	c := &a.columns[column]
	if c.width != width {
		a.err = fmt.Errorf("a value of %d bytes for column %d, which has %d", width, column, c.width)
		return nil
	}
	*(*uint64)(unsafe.Add(c.mask, a.rows/64*8)) |= 1 << (a.rows % 64)
	return unsafe.Add(c.data, a.rows*width)
}

// Int8 sets a TINYINT.
func (a *ChunkAppender) Int8(column int, v int8) {
	if p := a.at(column, 1); p != nil {
		*(*int8)(p) = v
	}
}

// Bool sets a BOOLEAN.
func (a *ChunkAppender) Bool(column int, v bool) {
	if p := a.at(column, 1); p != nil {
		*(*bool)(p) = v
	}
}

// Int16 sets a SMALLINT.
func (a *ChunkAppender) Int16(column int, v int16) {
	if p := a.at(column, 2); p != nil {
		*(*int16)(p) = v
	}
}

// Int32 sets an INTEGER.
func (a *ChunkAppender) Int32(column int, v int32) {
	if p := a.at(column, 4); p != nil {
		*(*int32)(p) = v
	}
}

// Int64 sets a BIGINT.
func (a *ChunkAppender) Int64(column int, v int64) {
	if p := a.at(column, 8); p != nil {
		*(*int64)(p) = v
	}
}

// Int sets a column of whole numbers of any width. A number that does not fit is an error of EndRow.
func (a *ChunkAppender) Int(column int, v int64) {
	c := &a.columns[column]
	if c.huge {
		a.Huge(column, v>>63, uint64(v))
		return
	}
	fits := true
	switch c.width {
	case 1:
		fits = v == int64(int8(v))
		a.Int8(column, int8(v))
	case 2:
		fits = v == int64(int16(v))
		a.Int16(column, int16(v))
	case 4:
		fits = v == int64(int32(v))
		a.Int32(column, int32(v))
	default:
		a.Int64(column, v)
	}
	if !fits {
		a.err = fmt.Errorf("column %d is too narrow for %d", column, v)
	}
}

// Huge sets a HUGEINT of two's complement.
func (a *ChunkAppender) Huge(column int, upper int64, lower uint64) {
	if !a.columns[column].huge {
		a.err = fmt.Errorf("column %d is no HUGEINT", column)
	} else if p := a.at(column, textWidth); p != nil {
		*(*uint64)(p), *(*int64)(unsafe.Add(p, 8)) = lower, upper
	}
}

// atText is at for a text.
func (a *ChunkAppender) atText(column int) unsafe.Pointer {
	if a.columns[column].huge {
		a.err = fmt.Errorf("a text for column %d, which has numbers", column)
		return nil
	}
	return a.at(column, textWidth)
}

// Bytes sets a BLOB. It copies v.
func (a *ChunkAppender) Bytes(column int, v []byte) {
	if p := a.atText(column); p != nil && !a.place(p, v) {
		a.assign(column, v)
	}
}

// Text sets a VARCHAR. A text that is not UTF-8 is left for DuckDB to judge.
func (a *ChunkAppender) Text(column int, v string) {
	p := a.atText(column)
	if p == nil {
		return
	}
	b := unsafe.Slice(unsafe.StringData(v), len(v))
	if !utf8.ValidString(v) || !a.place(p, b) {
		a.assign(column, b)
	}
}

// assign passes a copy of a string to DuckDB. Without the copy v would escape, and strings that are
// placed would be on the heap, too.
func (a *ChunkAppender) assign(column int, v []byte) {
	a.kept += len(v)
	mapping.VectorAssignStringElementLen(a.columns[column].vector, mapping.IdxT(a.rows), bytes.Clone(v))
}

// place writes a string in DuckDB's layout of a vector: its length, then the whole string, or its
// first four bytes and a pointer. It reports whether there was room.
func (a *ChunkAppender) place(p unsafe.Pointer, v []byte) bool {
	n := uintptr(len(v))
	if n > inlined && n > textsRoom-a.used {
		return false
	}
	a.kept += len(v)
	*(*[2]uint64)(p) = [2]uint64{}
	*(*uint32)(p) = uint32(n)
	if n <= inlined {
		copy(unsafe.Slice((*byte)(unsafe.Add(p, 4)), n), v)
		return true
	}
	if a.texts == nil {
		a.texts = C.malloc(textsRoom)
	}
	to := unsafe.Add(a.texts, a.used)
	copy(unsafe.Slice((*byte)(to), n), v)
	copy(unsafe.Slice((*byte)(unsafe.Add(p, 4)), 4), v)
	*(*uintptr)(unsafe.Add(p, 8)) = uintptr(to) // a pointer into C memory, hidden from Go's collector
	a.used += n
	return true
}

// EndRow ends a row. Its values are in the table once the appender is closed.
func (a *ChunkAppender) EndRow() error {
	if a.err != nil {
		return a.err
	}
	for i := range a.columns {
		a.kept += int(a.columns[i].width)
	}
	if a.rows++; a.rows < a.most {
		return nil
	}
	if err := a.append(); err != nil || a.kept < appendBytes {
		return err
	}
	return a.flush()
}

// append hands the chunk to DuckDB, which copies it.
func (a *ChunkAppender) append() error {
	if a.rows == 0 {
		return nil
	}
	mapping.DataChunkSetSize(a.chunk, mapping.IdxT(a.rows))
	if mapping.AppendDataChunk(a.appender, a.chunk) == mapping.StateError {
		a.err = a.fault()
		return a.err
	}
	mapping.DataChunkReset(a.chunk)
	a.begin()
	return nil
}

// flush makes DuckDB write the rows that it holds to the table.
func (a *ChunkAppender) flush() error {
	a.kept = 0
	if mapping.AppenderFlush(a.appender) == mapping.StateError {
		a.err = a.fault()
	}
	return a.err
}

// Close adds what is left, unless something failed before, and frees everything.
func (a *ChunkAppender) Close() error {
	if a.err == nil && a.append() == nil {
		_ = a.flush()
	}
	if a.err != nil {
		mapping.AppenderClear(a.appender) // or it would try once more
	}
	return errors.Join(a.err, a.destroy())
}

func (a *ChunkAppender) destroy() error {
	if a.chunk.Ptr != nil {
		mapping.DestroyDataChunk(&a.chunk)
	}
	C.free(a.texts)
	a.texts = nil
	if mapping.AppenderDestroy(&a.appender) == mapping.StateError && a.err == nil {
		return errors.New("the appender cannot be closed")
	}
	return nil
}

// fault is what DuckDB says went wrong.
func (a *ChunkAppender) fault() error {
	said := mapping.AppenderErrorData(a.appender)
	defer mapping.DestroyErrorData(&said)
	return &duckdb.Error{Type: duckdb.ErrorType(mapping.ErrorDataErrorType(said)), Msg: mapping.ErrorDataMessage(said)}
}
