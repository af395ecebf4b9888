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
	LastUsedAt *time.Time `json:"last_used_at"`        // to the minute; nil: never
	LastFrom   *string    `json:"last_used_from"`      // the address of a client that used it around that time; nil: not known
	Rate       *int64     `json:"requests_per_minute"` // a limit of its own; nil: that of its tier
	RevokedAt  *time.Time `json:"revoked_at"`          // nil: valid
	ExpiresAt  *time.Time `json:"expires_at"`          // when it expires; nil: never
	Replaces   *string    `json:"replaces"`            // the id of the key that it replaces; nil: none
	Requests   int64      `json:"requests"`            // all time
}

// Expired reports whether the key has expired at a time.
func (k *Key) Expired(now time.Time) bool { return k.ExpiresAt != nil && !now.Before(*k.ExpiresAt) }

func checkTier(tier string) error {
	if !slices.Contains([]string{"free", "explorer", "trader", "alpha"}, tier) {
		return fmt.Errorf("%w tier %q: use free, explorer, trader or alpha", ErrInvalid, tier)
	}
	return nil
}

// IssueKey records the key whose SHA-256 is hash. ErrInvalid for a tier that does not exist or an
// empty label, ErrConflict if the short id is taken: make another key then.
func (d *DB) IssueKey(ctx context.Context, hash [32]byte, tier, label string) (Key, error) {
	return d.IssueKeyUntil(ctx, hash, tier, label, time.Time{})
}

// IssueKeyUntil is IssueKey for a key that expires, at a time in the future; zero: it does not
// expire.
func (d *DB) IssueKeyUntil(ctx context.Context, hash [32]byte, tier, label string, until time.Time) (Key, error) {
	var k Key
	err := d.write(ctx, "issue key", func(tx *sql.Tx) (err error) {
		if k, err = d.issue(ctx, tx, hash, tier, label); err != nil || until.IsZero() {
			return err
		}
		k, err = d.expire(ctx, tx, k.ID, until)
		return err
	})
	return k, err
}

// ExpireKey sets when a key expires; zero: never. ErrNotFound for an unknown id, ErrConflict for a
// revoked key, ErrInvalid for a time that has passed: to end a key at once, revoke it. A key that
// has expired becomes valid again.
func (d *DB) ExpireKey(ctx context.Context, id string, until time.Time) (Key, error) {
	return d.change(ctx, "set expiry of key", id, func(tx *sql.Tx) error {
		if until.IsZero() {
			_, err := tx.ExecContext(ctx, statements.Get("NeverExpires"), id)
			return err
		}
		_, err := d.expire(ctx, tx, id, until)
		return err
	})
}

// lastYear is the last year that RFC 3339 can represent.
const lastYear = 9999

func (d *DB) expire(ctx context.Context, tx *sql.Tx, id string, until time.Time) (Key, error) {
	switch {
	case until.Unix() <= d.now().Unix():
		return Key{}, fmt.Errorf("%w expiry %s: it has passed", ErrInvalid, until.UTC().Format(time.RFC3339))
	case until.UTC().Year() > lastYear:
		return Key{}, fmt.Errorf("%w expiry in the year %d: give one up to %d, or none", ErrInvalid, until.UTC().Year(), lastYear)
	}
	if _, err := tx.ExecContext(ctx, statements.Get("ExpiresAt"), until.Unix(), id); err != nil {
		return Key{}, err
	}
	return keyByID(ctx, tx, id)
}

// RotateKey replaces a key by a new one, whose SHA-256 is hash, with the same tier, label and limit.
// The old key expires after overlap, or earlier if it was to. The new one expires at until; if that is
// zero, it lives as long as the old one was to live, or forever. ErrNotFound for an unknown id,
// ErrConflict for a key that is revoked, expired or, if until is zero, replaced already, or if the
// short id is taken.
func (d *DB) RotateKey(ctx context.Context, id string, hash [32]byte, overlap time.Duration, until time.Time) (next, old Key, err error) {
	if overlap < 0 {
		return next, old, fmt.Errorf("%w overlap %s", ErrInvalid, overlap)
	}
	err = d.write(ctx, "rotate key", func(tx *sql.Tx) (err error) {
		now := d.now().UTC()
		if old, err = validKey(ctx, tx, id); err != nil {
			return err
		}
		if old.Expired(now) {
			return fmt.Errorf("%w: key %s has expired", ErrConflict, id)
		}
		if next, err = d.issue(ctx, tx, hash, old.Tier, old.Label); err != nil {
			return err
		}
		if until.IsZero() {
			if until, err = lifeOf(ctx, tx, &old, now); err != nil {
				return err
			}
		}
		if !until.IsZero() {
			if _, err = d.expire(ctx, tx, next.ID, until); err != nil {
				return err
			}
		}
		if _, err = tx.ExecContext(ctx, statements.Get("Replaces"), id, next.ID); err != nil {
			return err
		}
		if _, err = tx.ExecContext(ctx, statements.Get("ExpiresBy"), now.Add(overlap).Unix(), id); err != nil {
			return err
		}
		if next, err = keyByID(ctx, tx, next.ID); err == nil {
			old, err = keyByID(ctx, tx, id)
		}
		return err
	})
	return next, old, err
}

// lifeOf returns when a key expires that replaces another at now: it lives as long as the other was
// to. ErrConflict if that one was replaced already, because its own life was cut short then.
func lifeOf(ctx context.Context, tx *sql.Tx, old *Key, now time.Time) (time.Time, error) {
	var by string
	err := tx.QueryRowContext(ctx, statements.Get("ReplacedBy"), old.ID).Scan(&by)
	switch {
	case err == nil:
		return time.Time{}, fmt.Errorf("%w: key %s was replaced by %s: rotate that one, revoke it first, or say when the new one expires", ErrConflict, old.ID, by)
	case !errors.Is(err, sql.ErrNoRows):
		return time.Time{}, err
	case old.ExpiresAt == nil:
		return time.Time{}, nil
	}
	return now.Add(old.ExpiresAt.Sub(old.CreatedAt)), nil
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
	res, err := tx.ExecContext(ctx, statements.Get("AddKey"),
		k.ID, hash[:], k.Label, k.Tier, k.CreatedAt.Unix())
	if err != nil {
		return Key{}, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return k, err
	}
	return Key{}, fmt.Errorf("%w: key id %s is taken", ErrConflict, k.ID)
}

// keyQuery returns a statement whose rows scanKey reads.
func keyQuery(name string) string {
	return statements.Get(name, "@columns", statements.Get("KeyColumns"))
}

func scanKey(row interface{ Scan(...any) error }) (Key, error) {
	var k Key
	var created int64
	var used, revoked, expires sql.NullInt64
	err := row.Scan(&k.ID, &k.Label, &k.Tier, &created, &used, &revoked, &expires, &k.Replaces, &k.LastFrom, &k.Rate, &k.Requests)
	k.CreatedAt, k.LastUsedAt, k.RevokedAt, k.ExpiresAt = time.Unix(created, 0).UTC(), unix(used), unix(revoked), unix(expires)
	return k, err
}

// ListKeys returns all keys, oldest first, the revoked ones too.
func (d *DB) ListKeys(ctx context.Context) ([]Key, error) {
	rows, err := d.sql.QueryContext(ctx, keyQuery("KeyList"))
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
	k, err := scanKey(tx.QueryRowContext(ctx, keyQuery("KeyByID"), id))
	if errors.Is(err, sql.ErrNoRows) {
		return k, fmt.Errorf("key %q: %w: see pmx keys list", id, ErrNotFound)
	}
	return k, err
}

// validKey is keyByID for a key that is not revoked.
func validKey(ctx context.Context, tx *sql.Tx, id string) (Key, error) {
	k, err := keyByID(ctx, tx, id)
	if err == nil && k.RevokedAt != nil {
		err = fmt.Errorf("%w: key %s is revoked", ErrConflict, id)
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
		_, err := tx.ExecContext(ctx, statements.Get("SetTier"), tier, id)
		return err
	})
}

// MaxRate is the largest limit of a key, in requests a minute.
const MaxRate = 1_000_000

// LimitKey sets a key's own limit, in requests a minute; 0: that of its tier. ErrNotFound for an
// unknown id, ErrConflict for a revoked key, ErrInvalid for a limit out of range.
func (d *DB) LimitKey(ctx context.Context, id string, rate int64) (Key, error) {
	if rate < 0 || rate > MaxRate {
		return Key{}, fmt.Errorf("set limit of key: %w limit %d: give 1 to %d requests a minute", ErrInvalid, rate, MaxRate)
	}
	return d.change(ctx, "set limit of key", id, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, statements.Get("SetRate"), rate, id)
		return err
	})
}

// RevokeKey ends a key for good. ErrNotFound for an unknown id, ErrConflict if it is revoked
// already.
func (d *DB) RevokeKey(ctx context.Context, id string) (Key, error) {
	return d.change(ctx, "revoke key", id, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, statements.Get("Revoke"), d.now().Unix(), id)
		return err
	})
}

// change runs update on a key that exists and is valid, and returns the changed key.
func (d *DB) change(ctx context.Context, what, id string, update func(tx *sql.Tx) error) (Key, error) {
	var k Key
	err := d.write(ctx, what, func(tx *sql.Tx) (err error) {
		if k, err = validKey(ctx, tx, id); err != nil {
			return err
		}
		if err := update(tx); err != nil {
			return err
		}
		k, err = keyByID(ctx, tx, id)
		return err
	})
	return k, err
}

// Revision is a counter that increases with every change of a key by any process.
func (d *DB) Revision(ctx context.Context) (int64, error) {
	var n int64
	if err := d.sql.QueryRowContext(ctx, statements.Get("KeyRevision")).Scan(&n); err != nil {
		return 0, fmt.Errorf("read key revision: %w", err)
	}
	return n, nil
}

// Keys returns all keys as the server needs them, the revoked ones too.
func (d *DB) Keys(ctx context.Context) ([]record.Key, error) {
	rows, err := d.sql.QueryContext(ctx, statements.Get("KeyRecords"))
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	defer rows.Close()
	var records []record.Key
	for rows.Next() {
		var r record.Key
		var hash []byte
		if err := rows.Scan(&hash, &r.Tier, &r.Revoked, &r.Expires, &r.Rate); err != nil {
			return nil, fmt.Errorf("read keys: %w", err)
		}
		copy(r.Hash[:], hash)
		records = append(records, r)
	}
	return records, rows.Err()
}
