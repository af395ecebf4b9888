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

// ChunkAppender adds rows to a temporary table. It writes each value where DuckDB has the column in
// memory: the driver's appender makes an interface of every value, and calls DuckDB for every text
// and every NULL. A column that a row sets nothing of is NULL. A setter of another width than its
// column's has EndRow fail.
type ChunkAppender struct {
	appender mapping.Appender
	chunk    mapping.DataChunk
	columns  []appendedColumn
	rows     uintptr // of the chunk
	most     uintptr // rows of a chunk
	texts    unsafe.Pointer
	used     uintptr // of texts
	kept     int     // bytes that DuckDB holds beside the table
	err      error
}

// appendedColumn is a column of the chunk.
type appendedColumn struct {
	width  uintptr
	vector mapping.Vector
	data   unsafe.Pointer
	mask   unsafe.Pointer // a bit for each row that is not NULL
}

const (
	textWidth   = 16        // of a string in a vector, which is there itself or points elsewhere
	textsRoom   = 512 << 10 // for the long texts of a chunk
	appendBytes = 8 << 20   // that DuckDB holds before they go to the table, where it would have a second copy of 200,000 rows
)

// TempChunkAppender returns what adds rows to a temporary table of a driver's connection, as
// sql.Conn.Raw hands it out. It must be closed.
func TempChunkAppender(dc any, table string) (*ChunkAppender, error) {
	connection, err := connectionOf(dc)
	if err != nil {
		return nil, err
	}
	a := &ChunkAppender{most: uintptr(mapping.VectorSize())}
	if mapping.AppenderCreateExt(connection, "temp", "main", table, &a.appender) == mapping.StateError {
		return nil, errors.Join(fmt.Errorf("append to %s: %w", table, a.fault()), a.destroy())
	}
	types := make([]mapping.LogicalType, mapping.AppenderColumnCount(a.appender))
	for i := range types {
		types[i] = mapping.AppenderColumnType(a.appender, mapping.IdxT(i))
		width := widthOf(mapping.GetTypeId(types[i]))
		if width == 0 {
			err = fmt.Errorf("append to %s: column %d is of a type that only the driver appends", table, i)
		}
		a.columns = append(a.columns, appendedColumn{width: width})
	}
	if err == nil {
		a.chunk = mapping.CreateDataChunk(types)
		a.texts = C.malloc(textsRoom)
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

// connectionOf is DuckDB's own connection of a driver's, which has it in no exported field.
func connectionOf(dc any) (mapping.Connection, error) {
	if c, ok := dc.(*conn); ok {
		f := reflect.ValueOf(c.Conn).Elem().FieldByName("conn")
		if f.IsValid() && f.Type() == reflect.TypeFor[mapping.Connection]() {
			return *(*mapping.Connection)(f.Addr().UnsafePointer()), nil
		}
	}
	return mapping.Connection{}, fmt.Errorf("driver %T keeps its connection elsewhere: nothing can be appended", dc)
}

// widthOf is how many bytes a value of a type takes in a vector, 0 for types that are not appended.
func widthOf(t mapping.Type) uintptr {
	switch t {
	case mapping.TypeTinyInt:
		return 1
	case mapping.TypeInteger:
		return 4
	case mapping.TypeBigInt:
		return 8
	case mapping.TypeVarchar, mapping.TypeBlob:
		return textWidth
	}
	return 0
}

// begin finds the room of the next chunk, in which everything is NULL.
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

// at is where the value of a column of this row belongs, which is not NULL from here on; nil if it is
// not so wide.
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

// Bytes sets a BLOB, of which it takes a copy.
func (a *ChunkAppender) Bytes(column int, v []byte) {
	if p := a.at(column, textWidth); p != nil && !a.place(p, v) {
		a.assign(column, v)
	}
}

// Text sets a VARCHAR. DuckDB decides about what is not UTF-8.
func (a *ChunkAppender) Text(column int, v string) {
	p := a.at(column, textWidth)
	if p == nil {
		return
	}
	b := unsafe.Slice(unsafe.StringData(v), len(v))
	if !utf8.ValidString(v) || !a.place(p, b) {
		a.assign(column, b)
	}
}

// assign has DuckDB keep a string. It gets a copy, so that what is placed need not be on the heap.
func (a *ChunkAppender) assign(column int, v []byte) {
	a.kept += len(v)
	mapping.VectorAssignStringElementLen(a.columns[column].vector, mapping.IdxT(a.rows), bytes.Clone(v))
}

// place writes a string as DuckDB has it in a vector: its length, and behind that all of it, or its
// first four bytes and where it is. It reports whether there was room.
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
	to := unsafe.Add(a.texts, a.used)
	copy(unsafe.Slice((*byte)(to), n), v)
	copy(unsafe.Slice((*byte)(unsafe.Add(p, 4)), 4), v)
	*(*uintptr)(unsafe.Add(p, 8)) = uintptr(to) // of C's memory: it is not Go's to follow
	a.used += n
	return true
}

// EndRow ends a row. What was set of it is there by the time that the appender is closed.
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

// flush has DuckDB add to the table what it holds.
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
