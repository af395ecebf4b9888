package engine

import (
	"database/sql/driver"
	"reflect"
	"strings"
	"unsafe"

	"github.com/duckdb/duckdb-go/v2/mapping"
)

// chunkReader reads a result chunk by chunk, each column where DuckDB has it in memory. The
// driver's Next boxes every value in an interface, which allocates for most of them.
type chunkReader struct {
	result  *mapping.Result
	columns []chunkColumn
}

// chunkColumn is a column of the chunk that is read, and where its values go.
type chunkColumn struct {
	to   *field
	typ  mapping.Type
	way  way
	data unsafe.Pointer
	mask unsafe.Pointer // a bit for each row that is not NULL; nil: none is
}

// resultOf returns DuckDB's result behind rows that were not read yet. The driver keeps it in an
// unexported field: nil if it is not where this package expects it.
func resultOf(rows driver.Rows) *mapping.Result {
	v := reflect.ValueOf(rows)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return nil
	}
	f := v.Elem().FieldByName("res")
	if !f.IsValid() || f.Type() != reflect.TypeFor[mapping.Result]() {
		return nil
	}
	return (*mapping.Result)(unsafe.Pointer(f.UnsafeAddr()))
}

// newChunkReader makes a reader of rows that were not read yet; nil if a column has a type that
// only the driver decodes.
func newChunkReader(rows driver.Rows, fields []field) *chunkReader {
	result := resultOf(rows)
	if result == nil {
		return nil
	}
	return newResultReader(result, fields)
}

// newResultReader is newChunkReader of DuckDB's result.
func newResultReader(result *mapping.Result, fields []field) *chunkReader {
	r := &chunkReader{result: result, columns: make([]chunkColumn, len(fields))}
	for i := range fields {
		typ := mapping.ColumnType(result, mapping.IdxT(i))
		switch typ {
		case mapping.TypeBoolean, mapping.TypeTinyInt, mapping.TypeSmallInt, mapping.TypeInteger, mapping.TypeBigInt, mapping.TypeDouble, mapping.TypeBlob:
		case mapping.TypeVarchar:
			if hasAlias(result, i) { // such as JSON, which the driver parses
				return nil
			}
		default:
			return nil
		}
		r.columns[i] = chunkColumn{to: &fields[i], typ: typ, way: wayOf(typ, &fields[i])}
	}
	return r
}

func hasAlias(result *mapping.Result, column int) bool {
	t := mapping.ColumnLogicalType(result, mapping.IdxT(column))
	defer mapping.DestroyLogicalType(&t)
	return mapping.LogicalTypeGetAlias(t) != ""
}

// each sets the fields of every row and calls f.
func (r *chunkReader) each(f func() error) error {
	for {
		chunk := mapping.FetchChunk(*r.result)
		if chunk.Ptr == nil {
			return nil
		}
		r.open(chunk)
		err := r.readEach(uintptr(mapping.DataChunkGetSize(chunk)), f)
		mapping.DestroyDataChunk(&chunk)
		if err != nil {
			return err
		}
	}
}

// open finds the values of a chunk.
func (r *chunkReader) open(chunk mapping.DataChunk) {
	for i := range r.columns {
		v := mapping.DataChunkGetVector(chunk, mapping.IdxT(i))
		r.columns[i].data, r.columns[i].mask = mapping.VectorGetData(v), mapping.VectorGetValidity(v)
	}
}

// readEach sets the fields of every row of an open chunk and calls f.
func (r *chunkReader) readEach(rows uintptr, f func() error) error {
	for row := range rows {
		for i := range r.columns {
			if err := r.columns[i].read(row); err != nil {
				return err
			}
		}
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

func (c *chunkColumn) isNull(row uintptr) bool {
	return c.mask != nil && *(*uint64)(unsafe.Add(c.mask, row/64*8))&(1<<(row%64)) == 0
}

// way is how a value gets to its field.
type way uint8

const (
	asDriver way = iota // as the driver would return it
	asLong
	asShort
	asShorter
	asShortest
	asText
	asView
	asTruth
	asFlag
	asBytes
)

// wayOf is the direct way, if the types have one.
func wayOf(typ mapping.Type, f *field) way {
	switch {
	case typ == mapping.TypeBigInt && f.long != nil:
		return asLong
	case typ == mapping.TypeInteger && f.short != nil:
		return asShort
	case typ == mapping.TypeSmallInt && f.shorter != nil:
		return asShorter
	case typ == mapping.TypeTinyInt && f.shortest != nil:
		return asShortest
	case typ == mapping.TypeVarchar && f.view:
		return asView
	case typ == mapping.TypeVarchar && f.text != nil:
		return asText
	case typ == mapping.TypeBoolean && f.truth != nil:
		return asTruth
	case typ == mapping.TypeBoolean && f.flag != nil:
		return asFlag
	case typ == mapping.TypeBlob && f.bytes != nil:
		return asBytes
	}
	return asDriver
}

// read writes the value of a row to its field.
func (c *chunkColumn) read(row uintptr) error {
	f := c.to
	if c.isNull(row) {
		return f.setNull()
	}
	switch c.way {
	case asLong:
		*f.long = at[int64](c, row)
	case asShort:
		*f.short = at[int32](c, row)
	case asShorter:
		*f.shorter = at[int16](c, row)
	case asShortest:
		*f.shortest = at[int8](c, row)
	case asText:
		if text := c.text(row); *f.text != text { // equal texts one after another are kept once
			*f.text = strings.Clone(text)
		}
	case asView:
		*f.text = c.text(row)
	case asTruth:
		*f.truth = sharedBool(at[bool](c, row))
	case asFlag:
		*f.flag = at[bool](c, row)
	case asBytes:
		blob := c.text(row)
		if len(blob) != len(f.bytes) {
			return f.set([]byte(blob))
		}
		copy(f.bytes, blob)
	default:
		return f.set(c.value(row))
	}
	return nil
}

// value is a value as the driver returns it.
func (c *chunkColumn) value(row uintptr) driver.Value {
	switch c.typ {
	case mapping.TypeBoolean:
		return at[bool](c, row)
	case mapping.TypeTinyInt:
		return at[int8](c, row)
	case mapping.TypeSmallInt:
		return at[int16](c, row)
	case mapping.TypeInteger:
		return at[int32](c, row)
	case mapping.TypeBigInt:
		return at[int64](c, row)
	case mapping.TypeDouble:
		return at[float64](c, row)
	case mapping.TypeBlob:
		return []byte(c.text(row))
	}
	return strings.Clone(c.text(row)) // newChunkReader takes no other type
}

func at[T any](c *chunkColumn, row uintptr) T {
	var size T
	return *(*T)(unsafe.Add(c.data, row*unsafe.Sizeof(size)))
}

// inlined is the length of the longest string that DuckDB keeps in the vector itself, after its
// length. Of a longer one it keeps a pointer.
const inlined = 12

// text returns a string in DuckDB's memory, which is valid only as long as the chunk.
func (c *chunkColumn) text(row uintptr) string {
	p := unsafe.Add(c.data, row*16)
	n := *(*uint32)(p)
	if n <= inlined {
		return unsafe.String((*byte)(unsafe.Add(p, 4)), int(n))
	}
	return unsafe.String(*(**byte)(unsafe.Add(p, 8)), int(n))
}
