package engine

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	duckdb "github.com/duckdb/duckdb-go/v2"
)

// sharedConnector opens the connections of a database. It hides the connector's Close from sql.DB: the
// pools share it, and it must be closed once, after them.
type sharedConnector struct {
	driver.Connector
	tell   func(text string) // called with every statement; nil: it is not called
	before func() error      // called before every statement, which it may refuse, for ErrDiskFull unless it only reads; nil: it is not called
	// ends is held while a writing connection ends a transaction, or makes a checkpoint, from before on: otherwise a checkpoint of another one
	// could come between. nil: there is no writing connection.
	ends *sync.Mutex
}

// Connect opens one.
func (c sharedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	own, ok := opened.(*duckdb.Conn)
	if !ok {
		return nil, fmt.Errorf("driver %T is not DuckDB's", opened)
	}
	return &conn{own, c}, nil
}

// conn is a connection of DuckDB that leaves no statement behind. The driver drops a statement whose
// context ends between planning it and running it, but DuckDB ends it only with the next one of the
// connection: until then its threads work on it and its transaction stays open. If the connection is
// closed first, the statement and the connection keep each other and the closed database alive, and
// its file cannot be opened again: DuckDB waits in a loop, forever.
type conn struct {
	*duckdb.Conn
	of sharedConnector
}

// begin reports a statement, or refuses one that may not run.
func (c *conn) begin(ctx context.Context, query string) error {
	if err := permits(ctx, query); err != nil {
		return err
	}
	if c.of.tell != nil {
		c.of.tell(query)
	}
	if c.of.before == nil || query == rollback {
		return nil
	}
	err := c.of.before()
	if errors.Is(err, ErrDiskFull) && onlyReads(query) {
		return nil // what is stored can still be served
	}
	return err
}

// onlyReads reports whether a statement certainly changes no table of the database and makes no checkpoint: a query, as there
// are no sequences, or one that makes a temporary table.
func onlyReads(query string) bool { return reading.MatchString(query) && !changing.MatchString(query) }

var (
	reading  = regexp.MustCompile(`^\s*(SELECT|WITH|FROM|CREATE OR REPLACE TEMP TABLE)\s`)
	changing = regexp.MustCompile(`(?i)\b(INSERT|UPDATE|DELETE|MERGE|TRUNCATE)\b|checkpoint|;`)
)

// rollback must always run: it ends a transaction whose statements are refused.
const rollback = "ROLLBACK"

// limiting marks contexts whose statements may change DuckDB's memory limit, the only setting that
// is not locked.
type limiting struct{}

var errLimit = errors.New("DuckDB's memory limit is a setting of the process: a statement may read it, but not set it")

// setsLimit is a statement that sets the limit. File names may contain the word.
var setsLimit = regexp.MustCompile(`(?i)\b(set|reset|pragma)\s+((global|session|local|variable)\s+)?"?(memory_limit|max_memory)\b`)

// permits returns an error if a statement sets the limit and is not one of ReleaseBlocks, BoundMemory or
// LimitMemory. It guards against mistakes in the program's own statements: a comment between the words would get
// past it.
func permits(ctx context.Context, query string) error {
	if !namesLimit(query) || ctx.Value(limiting{}) != nil || !setsLimit.MatchString(query) {
		return nil
	}
	return errLimit
}

// namesLimit reports whether a statement contains the name of the limit, in upper or lower case.
func namesLimit(query string) bool {
	for i := range len(query) {
		if query[i] == '_' && (around(query, i, "memory", "limit") || around(query, i, "max", "memory")) {
			return true
		}
	}
	return false
}

// around reports whether the words are on both sides of a byte of the text.
func around(text string, at int, before, after string) bool {
	return at >= len(before) && at+1+len(after) <= len(text) &&
		strings.EqualFold(text[at-len(before):at], before) && strings.EqualFold(text[at+1:at+1+len(after)], after)
}

// ExecContext runs a command.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if c.of.ends != nil && (query == "COMMIT" || query == "CHECKPOINT") {
		c.of.ends.Lock()
		defer c.of.ends.Unlock()
	}
	if err := c.begin(ctx, query); err != nil {
		return nil, err
	}
	result, err := c.Conn.ExecContext(ctx, query, args)
	if err != nil && ctx.Err() != nil {
		c.endStatement()
	}
	return result, err
}

// QueryContext runs a query.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.begin(ctx, query); err != nil {
		return nil, err
	}
	rows, err := c.Conn.QueryContext(ctx, query, args)
	if err != nil && ctx.Err() != nil {
		c.endStatement()
	}
	return rows, err
}

// PrepareContext prepares a statement. It is reported once, however often it is run.
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if err := c.begin(ctx, query); err != nil {
		return nil, err
	}
	return c.Conn.PrepareContext(ctx, query)
}

// Close closes the connection.
func (c *conn) Close() error {
	c.endStatement() // a prepared statement may have been dropped
	return c.Conn.Close()
}

// endStatement makes DuckDB end a statement that was planned and not run, which it does before it
// plans the next one.
func (c *conn) endStatement() {
	if other, err := c.Conn.Prepare("SELECT 1"); err == nil {
		_ = other.Close()
	}
}

// TempAppender returns an appender to a temporary table of a driver's connection, as sql.Conn.Raw
// passes it. It runs no statement.
func TempAppender(dc any, table string) (*duckdb.Appender, error) {
	c, ok := dc.(*conn)
	if !ok {
		return nil, fmt.Errorf("driver %T has no appender", dc)
	}
	return duckdb.NewAppender(c.Conn, "temp", "main", table)
}
