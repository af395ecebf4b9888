package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pmx/engine/control/record"
)

// detailDays is the number of days for which usage is kept by endpoint. Older days have one sum
// each.
const detailDays = 90

// AddUse adds requests to the keys' daily counters and moves their last use forward, in one
// transaction. Unknown hashes are skipped.
func (d *DB) AddUse(ctx context.Context, uses []record.Use) error {
	return d.write(ctx, "add key usage", func(tx *sql.Tx) error {
		for _, u := range uses {
			if _, err := tx.ExecContext(ctx, statements.Get("AddUse"),
				u.LastUsed.UTC().Format(time.DateOnly), u.Endpoint, u.Requests, u.Hash[:]); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, statements.Get("LastUse"), u.LastUsed.Unix(), u.From, u.Hash[:]); err != nil {
				return err
			}
		}
		return d.foldUsage(ctx, tx)
	})
}

// foldUsage adds up the endpoints of days older than detailDays to one sum a day. It runs once a
// day; otherwise usage would grow forever.
func (d *DB) foldUsage(ctx context.Context, tx *sql.Tx) error {
	before := d.now().UTC().AddDate(0, 0, -detailDays).Format(time.DateOnly)
	if last := d.folded.Load(); last != nil && *last == before {
		return nil
	}
	if _, err := tx.ExecContext(ctx, statements.Get("FoldUsage"), before); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, statements.Get("ForgetUsage"), before); err != nil {
		return err
	}
	d.folded.Store(&before)
	return nil
}

// Account returns what is stored about the key with that hash, with its usage from day since on.
// ErrNotFound for an unknown hash.
func (d *DB) Account(ctx context.Context, hash [32]byte, since string) (record.Account, error) {
	var a record.Account
	var created int64
	var expires sql.NullInt64
	err := d.sql.QueryRowContext(ctx, statements.Get("Account"), hash[:]).Scan(&a.Label, &created, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return record.Account{}, fmt.Errorf("read key: %w", err)
	}
	a.CreatedAt = time.Unix(created, 0).UTC()
	if at := unix(expires); at != nil {
		a.ExpiresAt = *at
	}
	rows, err := d.sql.QueryContext(ctx, statements.Get("UsageOfKey"), hash[:], since)
	if err != nil {
		return record.Account{}, fmt.Errorf("read key usage: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var u record.Usage
		if err := rows.Scan(&u.Day, &u.Endpoint, &u.Requests); err != nil {
			return record.Account{}, fmt.Errorf("read key usage: %w", err)
		}
		a.Usage = append(a.Usage, u)
	}
	return a, rows.Err()
}
