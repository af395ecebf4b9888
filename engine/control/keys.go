package control

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pmx/engine/control/record"
)

// Key is one API key as it is listed. The key itself is kept nowhere.
type Key struct {
	ID         string     `json:"id"` // first 8 hex digits of the hash
	Label      string     `json:"label"`
	Tier       string     `json:"tier"`
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at"` // minute resolution; nil: never
	RevokedAt  *time.Time `json:"revoked_at"`   // nil: valid
	Requests   int64      `json:"requests"`     // all time
}

func checkTier(tier string) error {
	if !slices.Contains([]string{"free", "explorer", "trader", "alpha"}, tier) {
		return fmt.Errorf("%w tier %q: use free, explorer, trader or alpha", ErrInvalid, tier)
	}
	return nil
}

// IssueKey records the key whose SHA-256 is hash. ErrInvalid for a tier that
// does not exist or an empty label, ErrConflict when the short id is taken
// already: make another key then.
func (d *DB) IssueKey(ctx context.Context, hash [32]byte, tier, label string) (Key, error) {
	var k Key
	err := d.write(ctx, "issue key", func(tx *sql.Tx) (err error) {
		k, err = d.issue(ctx, tx, hash, tier, label)
		return err
	})
	return k, err
}

func (d *DB) issue(ctx context.Context, tx *sql.Tx, hash [32]byte, tier, label string) (Key, error) {
	label = strings.TrimSpace(label)
	if err := checkTier(tier); err != nil {
		return Key{}, err
	}
	if label == "" {
		return Key{}, fmt.Errorf("%w label: say whose key this is", ErrInvalid)
	}
	k := Key{ID: hex.EncodeToString(hash[:4]), Label: label, Tier: tier, CreatedAt: d.now().UTC().Truncate(time.Second)}
	res, err := tx.ExecContext(ctx,
		`INSERT INTO api_keys (id, hash, label, tier, created_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		k.ID, hash[:], k.Label, k.Tier, k.CreatedAt.Unix())
	if err != nil {
		return Key{}, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return k, err
	}
	return Key{}, fmt.Errorf("%w: key id %s is taken", ErrConflict, k.ID)
}

const selectKeys = `
SELECT k.id, k.label, k.tier, k.created_at, k.last_used_at, k.revoked_at,
       COALESCE((SELECT SUM(u.requests) FROM usage u WHERE u.key_id = k.id), 0)
  FROM api_keys k`

func scanKey(row interface{ Scan(...any) error }) (Key, error) {
	var k Key
	var created int64
	var used, revoked sql.NullInt64
	err := row.Scan(&k.ID, &k.Label, &k.Tier, &created, &used, &revoked, &k.Requests)
	k.CreatedAt, k.LastUsedAt, k.RevokedAt = time.Unix(created, 0).UTC(), unix(used), unix(revoked)
	return k, err
}

// ListKeys gives all keys, oldest first, the revoked ones too.
func (d *DB) ListKeys(ctx context.Context) ([]Key, error) {
	rows, err := d.sql.QueryContext(ctx, selectKeys+` ORDER BY k.created_at, k.id`)
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	defer rows.Close()
	keys := []Key{}
	for rows.Next() {
		k, err := scanKey(rows)
		if err != nil {
			return nil, fmt.Errorf("list keys: %w", err)
		}
		keys = append(keys, k)
	}
	return keys, rows.Err()
}

func keyByID(ctx context.Context, tx *sql.Tx, id string) (Key, error) {
	k, err := scanKey(tx.QueryRowContext(ctx, selectKeys+` WHERE k.id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return k, fmt.Errorf("key %q: %w: see pmx keys list", id, ErrNotFound)
	}
	return k, err
}

// SetTier moves a key to another tier. ErrNotFound for an unknown id,
// ErrConflict for a revoked key.
func (d *DB) SetTier(ctx context.Context, id, tier string) (Key, error) {
	return d.change(ctx, "set tier", id, func(tx *sql.Tx) error {
		if err := checkTier(tier); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE api_keys SET tier = ? WHERE id = ?`, tier, id)
		return err
	})
}

// RevokeKey ends a key for good. ErrNotFound for an unknown id, ErrConflict when
// it is revoked already.
func (d *DB) RevokeKey(ctx context.Context, id string) (Key, error) {
	return d.change(ctx, "revoke key", id, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE api_keys SET revoked_at = ? WHERE id = ?`, d.now().Unix(), id)
		return err
	})
}

// change runs update on a key that exists and is valid, and gives it as it is after.
func (d *DB) change(ctx context.Context, what, id string, update func(tx *sql.Tx) error) (Key, error) {
	var k Key
	err := d.write(ctx, what, func(tx *sql.Tx) (err error) {
		if k, err = keyByID(ctx, tx, id); err != nil {
			return err
		}
		if k.RevokedAt != nil {
			return fmt.Errorf("%w: key %s is revoked", ErrConflict, id)
		}
		if err := update(tx); err != nil {
			return err
		}
		k, err = keyByID(ctx, tx, id)
		return err
	})
	return k, err
}

// Revision is a counter that moves with every change of a key, whoever made it.
func (d *DB) Revision(ctx context.Context) (int64, error) {
	var n int64
	if err := d.sql.QueryRowContext(ctx, `SELECT revision FROM key_revision`).Scan(&n); err != nil {
		return 0, fmt.Errorf("read key revision: %w", err)
	}
	return n, nil
}

// Keys gives all keys as the server needs them, the revoked ones too.
func (d *DB) Keys(ctx context.Context) ([]record.Key, error) {
	rows, err := d.sql.QueryContext(ctx, `SELECT hash, tier, revoked_at IS NOT NULL FROM api_keys`)
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	defer rows.Close()
	var records []record.Key
	for rows.Next() {
		var r record.Key
		var hash []byte
		if err := rows.Scan(&hash, &r.Tier, &r.Revoked); err != nil {
			return nil, fmt.Errorf("read keys: %w", err)
		}
		copy(r.Hash[:], hash)
		records = append(records, r)
	}
	return records, rows.Err()
}
