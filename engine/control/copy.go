package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// CopyTo writes the committed data to a new file at path, as one consistent state, while others
// read and write.
func (d *DB) CopyTo(ctx context.Context, path string) error {
	if _, err := d.sql.ExecContext(ctx, statements.Get("CopyInto"), path); err != nil {
		return fmt.Errorf("copy %s: %w", d.path, d.explain(err))
	}
	return nil
}

// Check reads the whole file and reports what is wrong with it.
func (d *DB) Check(ctx context.Context) error {
	var said sql.NullString
	if err := d.sql.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&said); err != nil {
		return fmt.Errorf("check %s: %w", d.path, d.explain(err))
	}
	if said.String != "ok" {
		return fmt.Errorf("%s is damaged: %s", d.path, said.String)
	}
	return nil
}

// Examine is Check for a file of any version; it does not migrate the file.
func Examine(ctx context.Context, path string) error {
	connect, err := newConnector(path)
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	d := &DB{sql: sql.OpenDB(connect), path: path}
	return errors.Join(d.Check(ctx), d.Close())
}
