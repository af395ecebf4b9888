package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pmx/engine/export/job"
)

var _ job.Store = (*DB)(nil)

// jobQuery returns a statement whose rows scanJob reads.
func jobQuery(name string) string {
	return statements.Get(name, "@columns", statements.Get("JobColumns"))
}

func scanJob(row interface{ Scan(...any) error }) (job.Job, error) {
	var j job.Job
	var created int64
	var started, finished, expires, asOf sql.NullInt64
	r := &j.Request
	err := row.Scan(&j.ID, &j.Owner, &r.Kind, &r.Dataset, &r.Address, &r.Format, &r.Period, &r.HistoryDays, &j.Status, &j.Attempts,
		&created, &started, &finished, &expires, &j.File, &j.Rows, &j.Bytes, &j.SHA256, &asOf, &j.Version, &j.Truncated,
		&j.Code, &j.Detail)
	if errors.Is(err, sql.ErrNoRows) {
		return j, job.ErrNotFound
	}
	j.Created, j.Started, j.Finished = time.UnixMicro(created).UTC(), micros(started), micros(finished)
	j.Expires, j.AsOf = micros(expires), micros(asOf)
	if j.Status == job.Done || j.Status == job.Expired {
		j.Progress = 1
	}
	return j, err
}

func micros(us sql.NullInt64) time.Time {
	if !us.Valid {
		return time.Time{}
	}
	return time.UnixMicro(us.Int64).UTC()
}

// stored is a time as it is stored: NULL for the zero time.
func stored(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMicro(), Valid: !t.IsZero()}
}

// AddJob adds a job of an API key: see job.Store.
func (d *DB) AddJob(ctx context.Context, j job.Job, idempotencyKey, version string, limit int) (job.Job, error) {
	var out job.Job
	err := d.write(ctx, "add export job", func(tx *sql.Tx) (err error) {
		if idempotencyKey != "" {
			out, err = scanJob(tx.QueryRowContext(ctx, jobQuery("JobByIdempotencyKey"), j.Owner, idempotencyKey))
			if err == nil && out.Request != j.Request {
				return job.ErrReused
			}
			if !errors.Is(err, job.ErrNotFound) {
				return err
			}
		}
		out, err = d.insertJob(ctx, tx, j, idempotencyKey, version, limit)
		return err
	})
	return out, err
}

func (d *DB) insertJob(ctx context.Context, tx *sql.Tx, j job.Job, idempotencyKey, version string, limit int) (job.Job, error) {
	res, err := sameFile(ctx, tx, j.Request, version, d.now())
	switch {
	case err == nil:
		j.Status, j.Result, j.Started, j.Finished = job.Done, res, j.Created, j.Created
	case !errors.Is(err, job.ErrNotFound):
		return j, err
	default:
		j.Status, j.Expires = job.Queued, time.Time{}
		var active int
		err := tx.QueryRowContext(ctx, statements.Get("ActiveJobs"), j.Owner).Scan(&active)
		if err != nil {
			return j, err
		}
		if active >= limit {
			return j, job.ErrTooMany
		}
	}
	r := j.Request
	_, err = tx.ExecContext(ctx, statements.Get("AddJob"),
		j.ID, j.Owner, idempotencyKey, r.Kind, r.Dataset, r.Address, r.Format, r.Period, r.HistoryDays, j.Status, stored(j.Created),
		stored(j.Started), stored(j.Finished), stored(j.Expires), j.File, j.Rows, j.Bytes, j.SHA256, stored(j.AsOf), j.Version, j.Truncated)
	if err != nil {
		return j, err
	}
	return scanJob(tx.QueryRowContext(ctx, jobQuery("JobByID"), j.ID))
}

// SameFile returns the kept file of an equal request: see job.Store.
func (d *DB) SameFile(ctx context.Context, r job.Request, version string) (job.Result, error) {
	return sameFile(ctx, d.sql, r, version, d.now())
}

func sameFile(ctx context.Context, q interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}, r job.Request, version string, now time.Time) (job.Result, error) {
	j, err := scanJob(q.QueryRowContext(ctx, jobQuery("JobWithSameFile"), version, now.UnixMicro(), r.Kind, r.Dataset, r.Address, r.Format, r.Period, r.HistoryDays))
	return j.Result, err
}

// Job returns a job of an API key; job.ErrNotFound.
func (d *DB) Job(ctx context.Context, owner, id string) (job.Job, error) {
	return scanJob(d.sql.QueryRowContext(ctx, jobQuery("JobOfKey"), id, owner))
}

// NextJob takes the next job that waits: see job.Store.
func (d *DB) NextJob(ctx context.Context) (job.Job, error) {
	return scanJob(d.sql.QueryRowContext(ctx, jobQuery("NextJob"), d.now().UnixMicro()))
}

// EndJob ends a running job: see job.Store.
func (d *DB) EndJob(ctx context.Context, j job.Job) (bool, error) {
	res, err := d.sql.ExecContext(ctx, statements.Get("EndJob"),
		j.Status, stored(j.Finished), stored(j.Expires), j.File, j.Rows, j.Bytes, j.SHA256, stored(j.AsOf), j.Version, j.Truncated,
		j.Code, j.Detail, j.Status, j.ID)
	if err != nil {
		return false, fmt.Errorf("end export job: %w", err)
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

// CancelJob ends a job of an API key: see job.Store.
func (d *DB) CancelJob(ctx context.Context, owner, id string) (job.Job, error) {
	var j job.Job
	err := d.write(ctx, "cancel export job", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, statements.Get("CancelJob"),
			d.now().UnixMicro(), d.now().UnixMicro(), id, owner)
		if err != nil {
			return err
		}
		j, err = scanJob(tx.QueryRowContext(ctx, jobQuery("JobOfKey"), id, owner))
		return err
	})
	return j, err
}

// Requeue makes every running job wait again: see job.Store.
func (d *DB) Requeue(ctx context.Context, attempts int, why job.Failure) error {
	return d.write(ctx, "requeue export jobs", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, statements.Get("FailJobs"), d.now().UnixMicro(), why.Code, why.Detail, attempts)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, statements.Get("RequeueJobs"))
		return err
	})
}

// ExpireJobs expires files that are old or exceed the quota: see job.Store.
func (d *DB) ExpireJobs(ctx context.Context, quota int64, forget time.Time) error {
	return d.write(ctx, "expire export jobs", func(tx *sql.Tx) error {
		now := d.now().UnixMicro()
		if _, err := tx.ExecContext(ctx, statements.Get("ExpireOldJobs"), now); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, statements.Get("ExpireOverQuota"), now, quota); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, statements.Get("ForgetJobs"), forget.UnixMicro())
		return err
	})
}

// KeptFiles lists the files of jobs that are done.
func (d *DB) KeptFiles(ctx context.Context) ([]string, error) {
	rows, err := d.sql.QueryContext(ctx, statements.Get("KeptFiles"))
	if err != nil {
		return nil, fmt.Errorf("list export files: %w", err)
	}
	defer rows.Close()
	var files []string
	for rows.Next() {
		var file string
		if err := rows.Scan(&file); err != nil {
			return nil, fmt.Errorf("list export files: %w", err)
		}
		files = append(files, file)
	}
	return files, rows.Err()
}

// JobCounts returns how many jobs have each status, including 0, and when the oldest queued job was
// created; the zero time if none is queued.
func (d *DB) JobCounts(ctx context.Context) (counts map[job.Status]int, oldest time.Time, err error) {
	counts = map[job.Status]int{job.Queued: 0, job.Running: 0, job.Done: 0, job.Failed: 0, job.Canceled: 0, job.Expired: 0}
	rows, err := d.sql.QueryContext(ctx, statements.Get("JobCounts"))
	if err != nil {
		return nil, oldest, fmt.Errorf("count export jobs: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var status job.Status
		var n int
		var first int64
		if err := rows.Scan(&status, &n, &first); err != nil {
			return nil, oldest, fmt.Errorf("count export jobs: %w", err)
		}
		counts[status] = n
		if status == job.Queued {
			oldest = time.UnixMicro(first).UTC()
		}
	}
	return counts, oldest, rows.Err()
}
