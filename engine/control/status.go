package control

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"pmx/engine/control/record"
)

// AddStatus stores a sample and its changes to the daily history, and deletes samples that are older
// than it by more than keep.
func (d *DB) AddStatus(ctx context.Context, s record.Status, change record.StatusChange, keep time.Duration) error {
	sources, err := sourcesJSON(s.Sources)
	if err != nil {
		return fmt.Errorf("add status sample: %w", err)
	}
	return d.write(ctx, "add status sample", func(tx *sql.Tx) error {
		var lags [3]sql.NullInt64
		for i, lag := range s.Lags {
			lags[i] = sql.NullInt64{Int64: lag, Valid: lag >= 0}
		}
		if _, err := tx.ExecContext(ctx, statements.Get("AddSample"),
			s.At.Unix(), string(s.Grades[:]), lags[0], lags[1], lags[2], sources); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, statements.Get("ForgetSamples"), s.At.Add(-keep).Unix()); err != nil {
			return err
		}
		return addChange(ctx, tx, change)
	})
}

// StatusSince returns the samples after since, oldest first.
func (d *DB) StatusSince(ctx context.Context, since time.Time) ([]record.Status, error) {
	rows, err := d.sql.QueryContext(ctx, statements.Get("SamplesSince"), since.Unix())
	if err != nil {
		return nil, fmt.Errorf("read status samples: %w", err)
	}
	defer rows.Close()
	var all []record.Status
	for rows.Next() {
		var at int64
		var grades string
		var lags [3]sql.NullInt64
		var sources sql.NullString
		if err := rows.Scan(&at, &grades, &lags[0], &lags[1], &lags[2], &sources); err != nil {
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
		if s.Sources, err = sourcesOf(sources); err != nil {
			return nil, fmt.Errorf("read the status sample of %s: %w", s.At.Format(time.RFC3339), err)
		}
		all = append(all, s)
	}
	return all, rows.Err()
}

// keptSource is a source in a sample's JSON.
type keptSource struct {
	Grade string `json:"grade"`
	Lag   *int64 `json:"lag,omitempty"`
}

// sourcesJSON is how sources are stored: NULL if there are none.
func sourcesJSON(sources map[string]record.SourceStatus) (sql.NullString, error) {
	if len(sources) == 0 {
		return sql.NullString{}, nil
	}
	kept := make(map[string]keptSource, len(sources))
	for name, s := range sources {
		k := keptSource{Grade: string(rune(s.Grade))}
		if s.Lag >= 0 {
			k.Lag = &s.Lag
		}
		kept[name] = k
	}
	text, err := json.Marshal(kept)
	return sql.NullString{String: string(text), Valid: true}, err
}

func sourcesOf(text sql.NullString) (map[string]record.SourceStatus, error) {
	if !text.Valid {
		return nil, nil
	}
	var kept map[string]keptSource
	if err := json.Unmarshal([]byte(text.String), &kept); err != nil {
		return nil, err
	}
	sources := make(map[string]record.SourceStatus, len(kept))
	for name, k := range kept {
		if len(k.Grade) != 1 {
			return nil, fmt.Errorf("%s has the grade %q", name, k.Grade)
		}
		s := record.SourceStatus{Grade: k.Grade[0], Lag: -1}
		if k.Lag != nil {
			s.Lag = *k.Lag
		}
		sources[name] = s
	}
	return sources, nil
}
