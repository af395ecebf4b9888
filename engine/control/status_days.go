package control

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pmx/engine/control/record"
)

// AddStatusChange stores changes of the daily history.
func (d *DB) AddStatusChange(ctx context.Context, change record.StatusChange) error {
	return d.write(ctx, "add to the status history", func(tx *sql.Tx) error { return addChange(ctx, tx, change) })
}

func addChange(ctx context.Context, tx *sql.Tx, change record.StatusChange) error {
	for _, day := range change.Days {
		m := day.Minutes
		if _, err := tx.ExecContext(ctx, statements.Get("AddStatusDay"),
			day.Day, day.Subsystem, m[0], m[1], m[2], m[3], m[4], sql.NullInt64{Int64: day.LagMax, Valid: day.LagMax >= 0}); err != nil {
			return err
		}
	}
	for _, e := range change.Events {
		grade := sql.NullString{String: string(rune(e.Grade)), Valid: e.Grade != 0}
		if _, err := tx.ExecContext(ctx, statements.Get("AddStatusEvent"),
			e.At.Unix(), e.Kind, e.Subsystem, sql.NullInt64{Int64: e.Until.Unix(), Valid: !e.Until.IsZero()}, grade, e.Text); err != nil {
			return err
		}
	}
	return nil
}

// StatusDays returns the daily history from a day on: rows by day and subsystem, and the newest events up to
// a number, oldest first. It deletes what is older, or more.
func (d *DB) StatusDays(ctx context.Context, first time.Time, events int) (record.StatusChange, error) {
	day := first.UTC().Format(time.DateOnly)
	err := d.write(ctx, "forget old status history", func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, statements.Get("ForgetStatusDays"), day); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, statements.Get("ForgetStatusEvents"), day, events)
		return err
	})
	if err != nil {
		return record.StatusChange{}, err
	}
	var all record.StatusChange
	if all.Days, err = rowsOf(ctx, d, statements.Get("StatusDays"), scanStatusDay); err == nil {
		all.Events, err = rowsOf(ctx, d, statements.Get("StatusEvents"), scanStatusEvent)
	}
	return all, err
}

// rowsOf reads all rows of a query.
func rowsOf[T any](ctx context.Context, d *DB, query string, scan func(*sql.Rows) (T, error)) ([]T, error) {
	rows, err := d.sql.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("read the status history: %w", err)
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		row, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("read the status history: %w", err)
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

func scanStatusDay(rows *sql.Rows) (day record.StatusDay, err error) {
	var lag sql.NullInt64
	m := &day.Minutes
	err = rows.Scan(&day.Day, &day.Subsystem, &m[0], &m[1], &m[2], &m[3], &m[4], &lag)
	if day.LagMax = -1; lag.Valid {
		day.LagMax = lag.Int64
	}
	return day, err
}

func scanStatusEvent(rows *sql.Rows) (e record.StatusEvent, err error) {
	var at int64
	var until sql.NullInt64
	var grade sql.NullString
	err = rows.Scan(&at, &e.Kind, &e.Subsystem, &until, &grade, &e.Text)
	e.At = time.Unix(at, 0).UTC()
	if until.Valid {
		e.Until = time.Unix(until.Int64, 0).UTC()
	}
	if len(grade.String) == 1 {
		e.Grade = grade.String[0]
	}
	return e, err
}
