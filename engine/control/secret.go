package control

import (
	"context"
	"crypto/rand"
	"database/sql"
)

// Secret returns the 32 bytes kept under name, made at random when first asked for.
func (d *DB) Secret(ctx context.Context, name string) ([]byte, error) {
	fresh := make([]byte, 32)
	if _, err := rand.Read(fresh); err != nil {
		return nil, err
	}
	var value []byte
	err := d.write(ctx, "read secret", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, statements.Get("AddSecret"), name, fresh)
		if err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, statements.Get("Secret"), name).Scan(&value)
	})
	return value, err
}
