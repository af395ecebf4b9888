package engine

/*
#include <stdlib.h>

void pmxRowsBind(void *info);
void pmxRowsInit(void *info);
void pmxRowsNext(void *info, void *chunk);
typedef void (*pmxOfInfo)(void *);
typedef void (*pmxOfChunk)(void *, void *);
*/
import "C"

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/cgo"
	"strconv"
	"unsafe"

	"github.com/duckdb/duckdb-go/v2/mapping"

	"pmx/engine/guard"
)

// rowsFunction is the table function that the statement InsertRows reads. It is known to every connection of the database.
const rowsFunction = "rows_of_go"

// rowSource has the rows of one InsertRows. It belongs to the thread that runs the statement, which is one at a time.
type rowSource struct {
	types []mapping.LogicalType
	rows  *ChunkRows
	next  func(to *ChunkRows) error
	err   error // of next
}

// InsertRows adds rows to a table of the database by one statement, as part of the transaction of the connection. next
// writes the rows of one chunk, at most as many as it has room for; if it writes none, there are no more. It may be
// called on any thread, one call at a time, and its error ends the statement and is returned. Unlike those of a ChunkAppender, rows are not
// copied before they get into the table.
func InsertRows(ctx context.Context, on *sql.Conn, table string, next func(to *ChunkRows) error) error {
	s := &rowSource{next: next}
	defer s.close()
	err := on.Raw(func(dc any) (err error) {
		a, err := TableChunkAppender(dc, table)
		if err != nil {
			return err
		}
		s.types = a.types()
		s.rows, err = newChunkRows(s.types)
		return errors.Join(err, a.Close())
	})
	if err != nil {
		return err
	}
	handle := cgo.NewHandle(s)
	defer handle.Delete()
	_, err = on.ExecContext(ctx, statements.Get("InsertRows", "@table", table, "@rows", strconv.FormatUint(uint64(handle), 10)))
	if s.err != nil {
		return s.err
	}
	return err
}

func (s *rowSource) close() {
	destroyTypes(s.types)
	if s.rows != nil {
		s.rows.free()
	}
}

// offerRows makes rowsFunction known to the database.
func (p *pools) offerRows(ctx context.Context) error {
	on, err := p.writer.Conn(ctx)
	if err != nil {
		return err
	}
	return errors.Join(on.Raw(offerRows), on.Close())
}

func offerRows(dc any) error {
	connection, err := connectionOf(dc)
	if err != nil {
		return err
	}
	f := mapping.CreateTableFunction()
	defer mapping.DestroyTableFunction(&f)
	number := mapping.CreateLogicalType(mapping.TypeBigInt)
	defer mapping.DestroyLogicalType(&number)
	mapping.TableFunctionSetName(f, rowsFunction)
	mapping.TableFunctionAddParameter(f, number)
	mapping.TableFunctionSetBind(f, unsafe.Pointer(C.pmxOfInfo(C.pmxRowsBind)))
	mapping.TableFunctionSetInit(f, unsafe.Pointer(C.pmxOfInfo(C.pmxRowsInit)))
	mapping.TableFunctionSetFunction(f, unsafe.Pointer(C.pmxOfChunk(C.pmxRowsNext)))
	if mapping.RegisterTableFunction(connection, f) == mapping.StateError {
		return fmt.Errorf("the table function %s cannot be registered", rowsFunction)
	}
	return nil
}

// sourceOf returns the source of a handle. A handle that is of none is an error: a statement may name any number.
func sourceOf(handle cgo.Handle) (s *rowSource, err error) {
	err = guard.Do(func() error {
		var ok bool
		if s, ok = handle.Value().(*rowSource); !ok {
			return errors.New("not a number of rows")
		}
		return nil
	})
	return s, err
}

// pmxRowsBind tells DuckDB the columns.
//
//export pmxRowsBind
func pmxRowsBind(at unsafe.Pointer) {
	info := mapping.BindInfo{Ptr: at}
	number := mapping.BindGetParameter(info, 0)
	defer mapping.DestroyValue(&number)
	handle := cgo.Handle(mapping.GetInt64(number))
	s, err := sourceOf(handle)
	if err != nil {
		mapping.BindSetError(info, rowsFunction+": "+err.Error())
		return
	}
	for i := range s.types {
		mapping.BindAddResultColumn(info, "column"+strconv.Itoa(i), s.types[i])
	}
	kept := C.malloc(C.size_t(unsafe.Sizeof(handle)))
	*(*cgo.Handle)(kept) = handle
	mapping.BindSetBindData(info, kept, unsafe.Pointer(C.pmxOfInfo(C.free)))
}

// pmxRowsInit says that one thread at a time reads rows, in order.
//
//export pmxRowsInit
func pmxRowsInit(at unsafe.Pointer) {
	mapping.InitSetMaxThreads(mapping.InitInfo{Ptr: at}, 1)
}

// pmxRowsNext writes the next chunk.
//
//export pmxRowsNext
func pmxRowsNext(at, to unsafe.Pointer) {
	info, chunk := mapping.FunctionInfo{Ptr: at}, mapping.DataChunk{Ptr: to}
	s, err := sourceOf(*(*cgo.Handle)(mapping.FunctionGetBindData(info)))
	if err == nil {
		err = s.fill(chunk)
	}
	if err != nil {
		mapping.FunctionSetError(info, rowsFunction+": "+err.Error())
	}
}

// fill writes the next chunk. A panic is an error: it must not pass through C.
func (s *rowSource) fill(chunk mapping.DataChunk) error {
	if s.err == nil {
		s.err = guard.Do(func() error {
			s.rows.begin(chunk)
			if err := cmp.Or(s.next(s.rows), s.rows.err); err != nil {
				return err
			}
			s.rows.end(chunk)
			return nil
		})
	}
	return s.err
}
