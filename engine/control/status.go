package control

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pmx/engine/control/record"
)

// AddStatus keeps a sample and forgets those older than keep before it.
func (d *DB) AddStatus(ctx context.Context, s record.Status, keep time.Duration) error {
	return d.write(ctx, "add status sample", func(tx *sql.Tx) error {
		var lags [3]sql.NullInt64
		for i, lag := range s.Lags {
			lags[i] = sql.NullInt64{Int64: lag, Valid: lag >= 0}
		}
		if _, err := tx.ExecContext(ctx,
			`INSERT OR REPLACE INTO status_samples (at, grades, serving_lag, trades_lag, markets_lag) VALUES (?, ?, ?, ?, ?)`,
			s.At.Unix(), string(s.Grades[:]), lags[0], lags[1], lags[2]); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM status_samples WHERE at <= ?`, s.At.Add(-keep).Unix())
		return err
	})
}

// StatusSince gives the samples after since, oldest first.
func (d *DB) StatusSince(ctx context.Context, since time.Time) ([]record.Status, error) {
	rows, err := d.sql.QueryContext(ctx,
		`SELECT at, grades, serving_lag, trades_lag, markets_lag FROM status_samples WHERE at > ? ORDER BY at`, since.Unix())
	if err != nil {
		return nil, fmt.Errorf("read status samples: %w", err)
	}
	defer rows.Close()
	var all []record.Status
	for rows.Next() {
		var at int64
		var grades string
		var lags [3]sql.NullInt64
		if err := rows.Scan(&at, &grades, &lags[0], &lags[1], &lags[2]); err != nil {
			return nil, fmt.Errorf("read status samples: %w", err)
		}
		s := record.Status{At: time.Unix(at, 0).UTC()}
		copy(s.Grades[:], grades)
		for i, lag := range lags {
			s.Lags[i] = -1
			if lag.Valid {
				s.Lags[i] = lag.Int64
			}
		}
		all = append(all, s)
	}
	return all, rows.Err()
}
