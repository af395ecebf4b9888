package engine

import (
	"context"
	"database/sql/driver"
	"fmt"

	duckdb "github.com/duckdb/duckdb-go/v2"
)

// toldConnector opens connections that tell of their statements.
type toldConnector struct {
	driver.Connector
	tell func(text string)
}

// Connect opens one.
func (c toldConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	own, ok := conn.(*duckdb.Conn)
	if !ok {
		return nil, fmt.Errorf("driver %T does not tell of its statements", conn)
	}
	return &toldConn{own, c.tell}, nil
}

// toldConn is a connection of DuckDB that tells of its statements.
type toldConn struct {
	*duckdb.Conn
	tell func(text string)
}

// ExecContext tells of a command and runs it.
func (c *toldConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.tell(query)
	return c.Conn.ExecContext(ctx, query, args)
}

// QueryContext tells of a query and runs it.
func (c *toldConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.tell(query)
	return c.Conn.QueryContext(ctx, query, args)
}

// PrepareContext tells of a statement once, however often it is run.
func (c *toldConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.tell(query)
	return c.Conn.PrepareContext(ctx, query)
}

// TempAppender gives what adds rows to a temporary table of a driver's connection, as
// sql.Conn.Raw hands it out, without a statement.
func TempAppender(dc any, table string) (*duckdb.Appender, error) {
	return newAppender(dc, "temp", table)
}

// newAppender is TempAppender for a table of any catalog, "" for that of the database.
func newAppender(dc any, catalog, table string) (*duckdb.Appender, error) {
	if told, ok := dc.(*toldConn); ok {
		dc = told.Conn
	}
	conn, ok := dc.(driver.Conn)
	if !ok {
		return nil, fmt.Errorf("driver %T has no appender", dc)
	}
	return duckdb.NewAppender(conn, catalog, "main", table)
}
