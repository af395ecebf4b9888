// Package control keeps what the operator decides in control.db, a small SQLite file: API keys
// (their hashes only), their usage, and the waitlist. Several processes may have it open at once,
// such as the command line and the server.
package control

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"github.com/pressly/goose/v3"

	"pmx/engine/statement"
)

//go:embed migrations/*.sql
var migrations embed.FS

//go:embed sql/*.sql
var sqlFiles embed.FS

var statements = statement.MustLoad(sqlFiles)

// Errors that callers base decisions on.
var (
	// ErrNotFound: no key or waitlist entry of that id.
	ErrNotFound = errors.New("not found")
	// ErrConflict: the key or request is not in a state that allows this.
	ErrConflict = errors.New("conflict")
	// ErrInvalid: a value that cannot be stored.
	ErrInvalid = errors.New("invalid")
	// ErrNewer: the file was written by a newer program.
	ErrNewer = errors.New("control.db is newer than this program")
)

// DB is an open control.db. All methods may be called concurrently.
type DB struct {
	sql    *sql.DB
	path   string
	now    func() time.Time
	folded atomic.Pointer[string] // usage before this day was added up already
}

// openAttempts is how often Open tries to migrate a file that another process
// may be migrating at the same moment.
const openAttempts = 5

// Open opens or creates the file at path, readable only by its owner, and migrates its schema. It
// fails with ErrNewer on a file of a later version.
func Open(ctx context.Context, path string, now func() time.Time) (*DB, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open control database: %w", err)
	}
	if err := file.Close(); err != nil {
		return nil, fmt.Errorf("open control database: %w", err)
	}
	connect, err := newConnector(path)
	if err != nil {
		return nil, fmt.Errorf("open control database: %w", err)
	}
	handle := sql.OpenDB(connect)
	handle.SetMaxOpenConns(4)
	for attempt := 1; ; attempt++ {
		err = migrate(ctx, handle)
		if err == nil {
			return &DB{sql: handle, path: path, now: now}, nil
		}
		if attempt == openAttempts || errors.Is(err, ErrNewer) || ctx.Err() != nil {
			return nil, errors.Join(fmt.Errorf("open control database %s: %w", path, explain(err, path)), handle.Close())
		}
	}
}

func migrate(ctx context.Context, handle *sql.DB) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, handle, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	have, want, err := provider.GetVersions(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("read schema version: %w", err)
	case have > want:
		return fmt.Errorf("%w: the file has schema %d, and this program supports up to %d; run the newer pmx, or restore a backup made before the upgrade", ErrNewer, have, want)
	case have == want:
		return nil
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate from schema %d to %d: %w", have, want, err)
	}
	return nil
}

// Close closes the file.
func (d *DB) Close() error { return d.sql.Close() }

// Ping reports whether the file can be read.
func (d *DB) Ping(ctx context.Context) error { return d.sql.PingContext(ctx) }

// write runs fn in one transaction and commits it unless fn fails.
func (d *DB) write(ctx context.Context, what string, fn func(tx *sql.Tx) error) error {
	tx, err := d.sql.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", what, d.explain(err))
	}
	if err := fn(tx); err != nil {
		return fmt.Errorf("%s: %w", what, errors.Join(d.explain(err), tx.Rollback()))
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("%s: %w", what, d.explain(err))
	}
	return nil
}

// unix turns a stored number of seconds into a time, nil for NULL.
func unix(sec sql.NullInt64) *time.Time {
	if !sec.Valid {
		return nil
	}
	t := time.Unix(sec.Int64, 0).UTC()
	return &t
}
