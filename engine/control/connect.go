package control

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"pmx/data"
)

// connector opens connections to control.db. SQLite keeps the index of the write-ahead log in a
// separate file, for which a full disk has no room. In that case the connection keeps the index in
// memory and locks the file for this process alone. It is closed after one use, so that other
// processes get their turn and the next connection notices free space.
type connector struct {
	driver.Connector // the usual ones, with the index in a file
	inMemory         driver.Connector
	path             string
	index            *index
}

// index says where the index of one file is. SQLite has one index per process.
type index struct {
	mu       sync.Mutex
	inMemory int // connections that have it in memory
}

// indexes are those of all files that were opened, by path.
var indexes sync.Map

func newConnector(path string) (*connector, error) {
	usual, err := sqlite.NewConnector(dsn(path, nil))
	if err != nil {
		return nil, err
	}
	inMemory, err := sqlite.NewConnector(dsn(path, url.Values{"vfs": {"unix-excl"}}))
	if err != nil {
		return nil, err
	}
	of, _ := indexes.LoadOrStore(path, &index{})
	return &connector{Connector: usual, inMemory: inMemory, path: path, index: of.(*index)}, nil
}

// dsn turns path into the driver's URL. Transactions begin IMMEDIATE: one that
// reads first and writes later could not wait for the lock otherwise.
func dsn(path string, more url.Values) string {
	q := url.Values{"_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
	}}
	for name, values := range more {
		q[name] = values
	}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String()
}

// Connect opens a connection. All connections of a process keep the index in the same place: if one
// has it in memory, so has the next.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	c.index.mu.Lock()
	defer c.index.mu.Unlock()
	if c.index.inMemory == 0 {
		conn, err := c.Connector.Connect(ctx)
		if err == nil || !isFull(err, c.path) {
			return conn, err
		}
	}
	conn, err := c.inMemory.Connect(ctx)
	if err != nil {
		return nil, err
	}
	whole, ok := conn.(sqliteConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's connection is a %T", conn), conn.Close())
	}
	c.index.inMemory++
	return &briefConn{sqliteConn: whole, index: c.index}, nil
}

// sqliteConn is what database/sql uses of a connection of the driver.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
}

// briefConn is a connection for one use.
type briefConn struct {
	sqliteConn
	index *index
}

// IsValid tells the pool not to keep the connection.
func (*briefConn) IsValid() bool { return false }

// Close closes it.
func (b *briefConn) Close() error {
	b.index.mu.Lock()
	defer b.index.mu.Unlock()
	b.index.inMemory--
	return b.sqliteConn.Close()
}

// isFull reports whether err comes from a full disk. SQLite has an error code for the database file
// itself; for the files next to it, it only reports a failure.
func isFull(err error, path string) bool {
	var own *sqlite.Error
	if !errors.As(err, &own) {
		return data.IsNoSpace(err)
	}
	switch own.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return true
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN:
		return !hasRoom(filepath.Dir(path))
	}
	return false
}

// hasRoom reports whether a file of the size of an index fits into a folder, by writing one.
func hasRoom(dir string) bool {
	f, err := os.CreateTemp(dir, ".room-*")
	if err == nil {
		_, err = f.Write(make([]byte, 64<<10))
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return !data.IsNoSpace(err)
}

// explain adds that the disk is full, or the file damaged, if that caused err.
func (d *DB) explain(err error) error { return explain(err, d.path) }

func explain(err error, path string) error {
	if err != nil && isDamaged(err) {
		return &damagedError{path: path, cause: err}
	}
	if err == nil || !isFull(err, path) {
		return err
	}
	return &data.NoSpace{Text: fmt.Sprintf("the disk of %s is full", path), Cause: err}
}
