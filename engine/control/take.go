package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// takenTables are the tables that TakeKeys makes equal to another file's; ownTables are what each server
// keeps for itself: usage and jobs.
var (
	takenTables = []takenTable{{name: "api_keys", keys: 1}, {name: "secrets", keys: 1}, {name: "status_days", keys: 2, whole: true},
		{name: "status_events", keys: 3, whole: true}}
	ownTables = []string{"usage", "waitlist", "export_jobs", "status_samples", "key_revision", "goose_db_version"}
)

// takenTable is a table that is taken over: keyed by its first columns, and, if it is taken as a whole, without
// rows that the other file does not have.
type takenTable struct {
	name  string
	keys  int
	whole bool
}

// TakeKeys replaces the keys, secrets and the daily status history by those of the control.db at
// path, a copy that belongs to the caller, in one transaction. "" means an empty file. A key that
// is not in it is revoked, not deleted, because usage and jobs refer to its row. Usage, and when
// and by whom a key was last used here, are kept.
func (d *DB) TakeKeys(ctx context.Context, path string) error {
	if path == "" {
		return d.revokeOthers(ctx)
	}
	from, err := Open(ctx, path, d.now) // which migrates it
	if err != nil {
		return err
	}
	if err := errors.Join(from.Check(ctx), from.Close()); err != nil {
		return err
	}
	conn, err := d.sql.Conn(ctx)
	if err != nil {
		return fmt.Errorf("take keys: %w", d.explain(err))
	}
	if _, err := conn.ExecContext(ctx, statements.Get("Attach"), path); err != nil {
		return errors.Join(fmt.Errorf("take keys: %w", d.explain(err)), conn.Close())
	}
	err = takeTables(ctx, conn)
	_, detached := conn.ExecContext(context.WithoutCancel(ctx), statements.Get("Detach"))
	if err = errors.Join(err, detached, conn.Close()); err != nil {
		return fmt.Errorf("take keys: %w", d.explain(err))
	}
	return nil
}

func takeTables(ctx context.Context, conn *sql.Conn) error {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for _, table := range takenTables {
		if err := table.take(ctx, tx); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", table.name, err), tx.Rollback())
		}
	}
	if _, err := tx.ExecContext(ctx, statements.Get("RevokeOthers")); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// take takes the rows that differ, whatever the columns of the table are.
func (t takenTable) take(ctx context.Context, tx *sql.Tx) error {
	columns, err := columnsOf(ctx, tx, t.name)
	if err != nil {
		return err
	}
	keys := strings.Join(columns[:t.keys], ", ")
	if t.whole {
		if _, err := tx.ExecContext(ctx, statements.Get("DeleteOthers", "@table", t.name, "@keys", keys)); err != nil {
			return err
		}
	}
	var sets, differs []string
	for _, c := range columns[t.keys:] {
		if c == "last_used_at" || c == "last_used_from" {
			continue
		}
		sets = append(sets, fmt.Sprintf("%s = excluded.%s", c, c))
		differs = append(differs, fmt.Sprintf("%s.%s IS NOT excluded.%s", t.name, c, c))
	}
	_, err = tx.ExecContext(ctx, statements.Get("TakeRows", "@table", t.name, "@columns", strings.Join(columns, ", "), "@keys", keys,
		"@sets", strings.Join(sets, ", "), "@differs", strings.Join(differs, " OR ")))
	return err
}

// columnsOf lists the columns of a table.
func columnsOf(ctx context.Context, tx *sql.Tx, table string) ([]string, error) {
	rows, err := tx.QueryContext(ctx, statements.Get("TableColumns"), table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var columns []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		columns = append(columns, name)
	}
	return columns, rows.Err()
}

// revokeOthers revokes all keys.
func (d *DB) revokeOthers(ctx context.Context) error {
	return d.write(ctx, "take keys", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, statements.Get("RevokeAll"))
		return err
	})
}
