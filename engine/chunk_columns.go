package engine

import (
	"unsafe"

	"github.com/duckdb/duckdb-go/v2/mapping"
)

// rowsAtOnce is how many rows are read at once, column by column: they stay in the processor's cache.
const rowsAtOnce = 64

// eachByColumns is each for rows of an array of rowsAtOnce, of which the fields are in the first one. It calls f with the index of
// the row. Chunks with NULL, and columns of other types than numbers, flags and views, are read row by row into the first one.
func (r *chunkReader) eachByColumns(stride uintptr, f func(i int) error) error {
	first := func() error { return f(0) }
	direct := r.isDirect()
	for {
		chunk := mapping.FetchChunk(*r.result)
		if chunk.Ptr == nil {
			return nil
		}
		rows := uintptr(mapping.DataChunkGetSize(chunk))
		r.open(chunk)
		var err error
		if direct && !r.hasNull(rows) {
			err = r.readByColumns(rows, stride, f)
		} else {
			err = r.readEach(rows, first)
		}
		mapping.DestroyDataChunk(&chunk)
		if err != nil {
			return err
		}
	}
}

// isDirect reports whether all columns can be read by readRows.
func (r *chunkReader) isDirect() bool {
	for i := range r.columns {
		switch r.columns[i].way {
		case asLong, asShort, asShorter, asShortest, asView, asFlag:
		default:
			return false
		}
	}
	return true
}

// hasNull reports whether a value of the chunk is NULL.
func (r *chunkReader) hasNull(rows uintptr) bool {
	for i := range r.columns {
		mask := r.columns[i].mask
		if mask == nil {
			continue
		}
		words := unsafe.Slice((*uint64)(mask), (rows+63)/64)
		for j, word := range words {
			want := ^uint64(0)
			if rest := rows - uintptr(j)*64; rest < 64 {
				want = 1<<rest - 1
			}
			if word&want != want {
				return true
			}
		}
	}
	return false
}

func (r *chunkReader) readByColumns(rows, stride uintptr, f func(i int) error) error {
	for from := uintptr(0); from < rows; from += rowsAtOnce {
		n := min(rows-from, rowsAtOnce)
		for i := range r.columns {
			r.columns[i].readRows(from, n, stride)
		}
		for i := range n {
			if err := f(int(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// readRows writes the values of n rows to the fields of as many.
func (c *chunkColumn) readRows(from, n, stride uintptr) {
	f := c.to
	switch c.way {
	case asLong:
		spread(c, f.long, from, n, stride)
	case asShort:
		spread(c, f.short, from, n, stride)
	case asShorter:
		spread(c, f.shorter, from, n, stride)
	case asShortest:
		spread(c, f.shortest, from, n, stride)
	case asFlag:
		spread(c, f.flag, from, n, stride)
	case asView:
		to := unsafe.Pointer(f.text)
		for i := range n {
			*(*string)(unsafe.Add(to, i*stride)) = c.text(from + i)
		}
	}
}

// spread copies n values to fields.
func spread[T int64 | int32 | int16 | int8 | bool](c *chunkColumn, first *T, from, n, stride uintptr) {
	values, to := unsafe.Slice((*T)(c.data), from+n)[from:], unsafe.Pointer(first)
	for i, v := range values {
		*(*T)(unsafe.Add(to, uintptr(i)*stride)) = v
	}
}
