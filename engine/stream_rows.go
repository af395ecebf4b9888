package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"time"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"
	duckdb "github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"

	"pmx/engine/guard"
)

// StreamRows is EachRow for a result that is larger than memory: DuckDB computes rows while f is called, and holds a
// few chunks of them. The columns must have types that are read by chunks.
func StreamRows[T any](ctx context.Context, on *sql.Conn, query string, f func(row *T) error) error {
	err := on.Raw(func(dc any) error {
		c, ok := dc.(*conn)
		if !ok {
			return fmt.Errorf("driver %T cannot stream", dc)
		}
		if err := c.begin(ctx, query); err != nil {
			return err
		}
		connection, err := connectionOf(dc)
		if err != nil {
			return err
		}
		defer interruptWith(ctx, connection)()
		s, err := newStream(connection, query)
		defer s.close()
		if err != nil {
			return errors.Join(ctx.Err(), err) // errors while it is planned have no type
		}
		var rows [rowsAtOnce]T
		fields, err := bind(reflect.ValueOf(&rows[0]).Elem(), s.columns())
		if err != nil {
			return err
		}
		r := newResultReader(&s.result, fields)
		if r == nil {
			return fmt.Errorf("%v: a column has a type that cannot be streamed", reflect.TypeFor[T]())
		}
		read := 0
		err = r.eachByColumns(unsafe.Sizeof(rows[0]), func(i int) error {
			if read++; read%rowsBetweenChecks == 0 {
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			return f(&rows[i])
		})
		if err != nil {
			return err
		}
		return s.fault() // at its end and after an error alike there is no more chunk
	})
	return stopped(ctx, err)
}

// interruptEach is how often a stream is interrupted whose context ended: an interrupt before a query begins is lost.
const interruptEach = 50 * time.Millisecond

// interruptWith interrupts what runs on a connection once ctx has ended, until end is called.
func interruptWith(ctx context.Context, connection mapping.Connection) (end func()) {
	ended := make(chan struct{})
	left := guard.Start(func() error {
		select {
		case <-ended:
			return nil
		case <-ctx.Done():
		}
		for {
			mapping.Interrupt(connection)
			select {
			case <-ended:
				return nil
			case <-time.After(interruptEach):
			}
		}
	})
	return func() {
		close(ended)
		<-left // or it could interrupt the next statement
	}
}

// rowsBetweenChecks is after how many rows it is checked whether the context ended.
const rowsBetweenChecks = 1024

// stream is a query whose result is computed while it is read.
type stream struct {
	statement mapping.PreparedStatement
	pending   mapping.PendingResult
	result    mapping.Result
}

// newStream begins a query. The stream has to be closed after an error, too.
func newStream(connection mapping.Connection, query string) (s *stream, err error) {
	s = &stream{}
	if mapping.Prepare(connection, query, &s.statement) == mapping.StateError {
		return s, &duckdb.Error{Msg: mapping.PrepareError(s.statement)}
	}
	if bindings.PendingPreparedStreaming(s.statement, &s.pending) == mapping.StateError {
		return s, &duckdb.Error{Msg: mapping.PendingError(s.pending)}
	}
	if bindings.ExecutePending(s.pending, &s.result) == mapping.StateError { // whose error keeps its type, unlike work_asleep's
		return s, s.fault()
	}
	return s, nil
}

// fault is nil, or what ended the query.
func (s *stream) fault() error {
	if said := mapping.ResultError(&s.result); said != "" {
		return &duckdb.Error{Type: duckdb.ErrorType(mapping.ResultErrorType(&s.result)), Msg: said}
	}
	return nil
}

func (s *stream) columns() []string {
	names := make([]string, mapping.ColumnCount(&s.result))
	for i := range names {
		names[i] = mapping.ColumnName(&s.result, mapping.IdxT(i))
	}
	return names
}

func (s *stream) close() {
	mapping.DestroyResult(&s.result)
	mapping.DestroyPending(&s.pending)
	mapping.DestroyPrepare(&s.statement)
}
