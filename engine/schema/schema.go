// Package schema holds the database's migrations and brings a file up to date.
package schema

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"

	"pmx/engine/statement"
)

//go:generate go test pmx/engine/schema -run ^TestANewDatabaseIsAsMigrationsMakeIt$ -count=1 -update

//go:embed migrations/*.sql
var migrations embed.FS

// newest is the schema that all migrations lead to. It is generated from them.
//
//go:embed schema.sql
var newest string

//go:embed sql/*.sql
var sqlFiles embed.FS

var statements = statement.MustLoad(sqlFiles)

// ErrNewer is returned for a file whose version is above the newest migration
// this program knows.
var ErrNewer = errors.New("schema version is newer than this program supports")

// Migrate applies the missing migrations to a database; changed reports whether there were any. A
// database of a newer program is left unchanged: ErrNewer. Before an older one is changed, begin is called with its
// version and the newest one, unless it is nil: some migrations rewrite whole tables.
func Migrate(ctx context.Context, db *sql.DB, begin func(at, newest int64)) (changed bool, err error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return false, err
	}
	provider, err := goose.NewProvider("", db, files, goose.WithStore(store{}))
	if err != nil {
		return false, err
	}
	known := provider.ListSources()
	last := known[len(known)-1].Version
	if empty, err := isEmpty(ctx, db); err != nil {
		return false, fmt.Errorf("look for tables: %w", err)
	} else if empty {
		return true, create(ctx, db, newest, known)
	}
	at, err := provider.GetDBVersion(ctx)
	if err != nil {
		return false, fmt.Errorf("read schema version: %w", err)
	}
	if at > last {
		return false, fmt.Errorf("version %d, newest known %d: %w", at, last, ErrNewer)
	}
	if at < last && begin != nil {
		begin(at, last)
	}
	done, err := provider.Up(ctx)
	return len(done) > 0, err
}

// isEmpty reports whether a database has no table yet, not even that of versions.
func isEmpty(ctx context.Context, db *sql.DB) (empty bool, err error) {
	err = db.QueryRowContext(ctx, statements.Get("IsEmpty")).Scan(&empty)
	return empty, err
}

// create gives an empty database the schema that the migrations lead to, in one transaction:
// running them takes three times the processor time. If it fails, the file is unchanged.
func create(ctx context.Context, db *sql.DB, schema string, all []*goose.Source) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := createIn(ctx, tx, schema, all); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func createIn(ctx context.Context, tx *sql.Tx, schema string, all []*goose.Source) error {
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	if err := (store{}).CreateVersionTable(ctx, tx); err != nil {
		return err
	}
	versions := []int64{0} // as goose does
	for _, source := range all {
		versions = append(versions, source.Version)
	}
	_, err := tx.ExecContext(ctx, statements.Get("AddVersions"), versions)
	return err
}

// Versions returns the version of a database, and the newest migration that this program knows. It
// changes nothing.
func Versions(ctx context.Context, db *sql.DB) (at, newest int64, err error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return 0, 0, err
	}
	provider, err := goose.NewProvider("", db, files, goose.WithStore(store{}))
	if err != nil {
		return 0, 0, err
	}
	known := provider.ListSources()
	if at, err = (store{}).GetLatestVersion(ctx, db); err != nil {
		return 0, 0, fmt.Errorf("read schema version: %w", err)
	}
	return at, known[len(known)-1].Version, nil
}

// store keeps the version table in DuckDB, for which goose has no dialect.
type store struct{}

var _ database.Store = store{}

// Tablename is the version table.
func (store) Tablename() string { return "schema_version" }

// CreateVersionTable makes the version table.
func (store) CreateVersionTable(ctx context.Context, db database.DBTxConn) error {
	_, err := db.ExecContext(ctx, statements.Get("CreateVersions"))
	return err
}

// Insert records an applied version.
func (store) Insert(ctx context.Context, db database.DBTxConn, req database.InsertRequest) error {
	_, err := db.ExecContext(ctx, statements.Get("AddVersion"), req.Version)
	return err
}

// Delete removes a version.
func (store) Delete(ctx context.Context, db database.DBTxConn, version int64) error {
	_, err := db.ExecContext(ctx, statements.Get("DeleteVersion"), version)
	return err
}

// GetMigration returns when a version was applied.
func (store) GetMigration(ctx context.Context, db database.DBTxConn, version int64) (*database.GetMigrationResult, error) {
	res := &database.GetMigrationResult{IsApplied: true}
	err := db.QueryRowContext(ctx, statements.Get("AppliedAt"), version).Scan(&res.Timestamp)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, database.ErrVersionNotFound
	}
	return res, err
}

// GetLatestVersion is the highest applied version.
func (store) GetLatestVersion(ctx context.Context, db database.DBTxConn) (int64, error) {
	var version sql.NullInt64
	if err := db.QueryRowContext(ctx, statements.Get("NewestVersion")).Scan(&version); err != nil {
		return 0, err
	}
	if !version.Valid {
		return 0, database.ErrVersionNotFound
	}
	return version.Int64, nil
}

// ListMigrations lists what was applied, newest first.
func (store) ListMigrations(ctx context.Context, db database.DBTxConn) ([]*database.ListMigrationsResult, error) {
	rows, err := db.QueryContext(ctx, statements.Get("Versions"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var list []*database.ListMigrationsResult
	for rows.Next() {
		m := &database.ListMigrationsResult{IsApplied: true}
		if err := rows.Scan(&m.Version); err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, rows.Err()
}
