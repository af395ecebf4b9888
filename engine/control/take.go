package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// takenTables are those that TakeKeys makes equal to another file's, by their first column; ownTables are what each server keeps for
// itself: what it was used for, and the work that it was given.
var (
	takenTables = []string{"api_keys", "secrets"}
	ownTables   = []string{"usage", "waitlist", "export_jobs", "status_samples", "key_revision", "goose_db_version"}
)

// TakeKeys makes the keys and secrets those of the control.db at path, a copy that belongs to the caller, in one transaction. "" stands for a
// file without any. A key that is not in it is revoked: no row goes, because usage and jobs refer to it. Usage, and when and by whom a key was last used here,
// stay.
func (d *DB) TakeKeys(ctx context.Context, path string) error {
	if path == "" {
		return d.revokeOthers(ctx)
	}
	from, err := Open(ctx, path, d.now) // which brings its tables up to date
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
	if _, err := conn.ExecContext(ctx, "ATTACH ? AS taken", path); err != nil {
		return errors.Join(fmt.Errorf("take keys: %w", d.explain(err)), conn.Close())
	}
	err = takeTables(ctx, conn)
	_, detached := conn.ExecContext(context.WithoutCancel(ctx), "DETACH taken")
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
		text, err := upsert(ctx, tx, table)
		if err == nil {
			_, err = tx.ExecContext(ctx, text)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("%s: %w", table, err), tx.Rollback())
		}
	}
	if _, err := tx.ExecContext(ctx, `UPDATE api_keys SET revoked_at = unixepoch() WHERE revoked_at IS NULL AND id NOT IN (SELECT id FROM taken.api_keys)`); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// upsert is the statement that takes the rows of a table that differ, whatever its columns are.
func upsert(ctx context.Context, tx *sql.Tx, table string) (string, error) {
	rows, err := tx.QueryContext(ctx, `SELECT name FROM pragma_table_info(?) ORDER BY cid`, table)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var columns []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return "", err
		}
		columns = append(columns, name)
	}
	if err := rows.Err(); err != nil {
		return "", err
	}
	var sets, differs []string
	for _, c := range columns[1:] {
		if c == "last_used_at" || c == "last_used_from" {
			continue
		}
		sets = append(sets, fmt.Sprintf("%s = excluded.%s", c, c))
		differs = append(differs, fmt.Sprintf("%s.%s IS NOT excluded.%s", table, c, c))
	}
	all := strings.Join(columns, ", ")
	return fmt.Sprintf("INSERT INTO main.%s (%s) SELECT %s FROM taken.%s WHERE true ON CONFLICT (%s) DO UPDATE SET %s WHERE %s",
		table, all, all, table, columns[0], strings.Join(sets, ", "), strings.Join(differs, " OR ")), nil
}

// revokeOthers revokes all keys.
func (d *DB) revokeOthers(ctx context.Context) error {
	return d.write(ctx, "take keys", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE api_keys SET revoked_at = unixepoch() WHERE revoked_at IS NULL`)
		return err
	})
}
