package engine

import (
	"errors"
	"fmt"
	"reflect"

	duckdb "github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"
)

// ChunkAppender adds rows to a table. It writes each value where DuckDB has the column in
// memory: the driver's appender boxes every value in an interface, and calls DuckDB for every text
// and every NULL.
type ChunkAppender struct {
	ChunkRows
	appender mapping.Appender
	chunk    mapping.DataChunk
}

const appendBytes = 8 << 20 // that DuckDB holds before it writes them to the table; its default is a second copy of 200,000 rows

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
	a := &ChunkAppender{}
	if mapping.AppenderCreateExt(connection, catalog, "main", table, &a.appender) == mapping.StateError {
		return nil, errors.Join(fmt.Errorf("append to %s: %w", table, a.fault()), a.destroy())
	}
	types := a.types()
	defer destroyTypes(types)
	rows, err := newChunkRows(types)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("append to %s: %w", table, err), a.destroy())
	}
	a.ChunkRows, a.chunk = *rows, mapping.CreateDataChunk(types)
	a.begin(a.chunk)
	return a, nil
}

// types returns the types of the columns, which have to be destroyed.
func (a *ChunkAppender) types() []mapping.LogicalType {
	types := make([]mapping.LogicalType, mapping.AppenderColumnCount(a.appender))
	for i := range types {
		types[i] = mapping.AppenderColumnType(a.appender, mapping.IdxT(i))
	}
	return types
}

func destroyTypes(types []mapping.LogicalType) {
	for i := range types {
		mapping.DestroyLogicalType(&types[i])
	}
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

// Chunks appends the rows that next writes, a chunk at a time, until it writes none.
func (a *ChunkAppender) Chunks(next func(to *ChunkRows) error) error {
	for {
		if err := next(&a.ChunkRows); err != nil {
			return err
		}
		if a.rows == 0 {
			return nil
		}
		if err := a.pass(); err != nil {
			return err
		}
	}
}

// EndRow ends a row. Its values are in the table once the appender is closed.
func (a *ChunkAppender) EndRow() error {
	if err := a.ChunkRows.EndRow(); err != nil || a.rows < a.most {
		return err
	}
	return a.pass()
}

// pass hands the chunk to DuckDB, and makes it write what it holds if that is much.
func (a *ChunkAppender) pass() error {
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
	a.end(a.chunk)
	if mapping.AppendDataChunk(a.appender, a.chunk) == mapping.StateError {
		a.err = a.fault()
		return a.err
	}
	mapping.DataChunkReset(a.chunk)
	a.begin(a.chunk)
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
	a.free()
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
