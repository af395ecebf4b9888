// Package job runs the queue of export jobs: one pool of workers that is fair across keys, and the
// finished files until they expire. What a job writes and where jobs are stored are interfaces.
package job

import (
	"context"
	"errors"
	"time"
)

// Kind is what a job exports.
type Kind string

// The kinds.
const (
	Research Kind = "research" // a dataset
	Trader   Kind = "trader"   // all about one wallet
)

// Status is the status of a job: queued, running, then done, failed or canceled; a done job becomes
// expired.
type Status string

// The statuses.
const (
	Queued   Status = "queued"
	Running  Status = "running"
	Done     Status = "done"
	Failed   Status = "failed"
	Canceled Status = "canceled"
	Expired  Status = "expired"
)

// Errors that callers base decisions on.
var (
	// ErrNotFound: the key has no job of that id and kind.
	ErrNotFound = errors.New("no such export job")
	// ErrTooMany: the key has as many jobs queued and running as it may have.
	ErrTooMany = errors.New("too many export jobs")
	// ErrReused: the idempotency key was given with another request before.
	ErrReused = errors.New("the idempotency key belongs to another request")
	// ErrGone: the job is done but its file is gone.
	ErrGone = errors.New("the export's file is gone")
)

// Request says what a job writes. Equal requests on equal data give equal files.
type Request struct {
	Kind        Kind
	Dataset     string // of a research export
	Address     string // of a trader export: 0x and 40 lower-case hex digits
	Format      string // parquet or csv
	Period      string // all
	HistoryDays int    // how far back the rows of a trader export reach; 0: all history
}

// Failure is why a job failed.
type Failure struct {
	Code   string // stable, snake_case
	Detail string // what happened and what to do
}

// Result is the result of a finished job.
type Result struct {
	File      string // name in the folder of exports
	Rows      int64
	Bytes     int64
	SHA256    string    // of the whole file, lower-case hex
	AsOf      time.Time // up to when the data reaches; zero on an empty database
	Version   string    // of the data; equal versions mean equal bytes
	Truncated bool      // rows beyond the limit were left out
}

// Job is one export job of one API key.
type Job struct {
	ID       string
	Owner    string // short id of the key
	Request  Request
	Status   Status
	Progress float64 // 0…1
	Attempts int     // how often it was started
	// Created is never zero; the others are if they do not apply.
	Created, Started, Finished, Expires time.Time
	Result                              // of a job that is done or expired
	Failure                             // of a job that failed
}

// Store keeps jobs across restarts. Its methods may be called concurrently.
type Store interface {
	// AddJob adds a queued job, or one that is done at once if a file of the same request and
	// version is kept. A repeated idempotency key ("": none) returns the job that it made.
	// ErrTooMany if the owner has limit jobs waiting or running, ErrReused.
	AddJob(ctx context.Context, j Job, idempotencyKey, version string, limit int) (Job, error)
	// Job returns a job of the owner; ErrNotFound.
	Job(ctx context.Context, owner, id string) (Job, error)
	// NextJob takes the next queued job, of the owner who was served least recently, and marks it
	// running. ErrNotFound if none waits.
	NextJob(ctx context.Context) (Job, error)
	// SameFile returns the result of a kept file of the same request and version; ErrNotFound.
	SameFile(ctx context.Context, r Request, version string) (Result, error)
	// EndJob marks a running job done or failed, or queued as if it had not started; false if it is
	// no longer running.
	EndJob(ctx context.Context, j Job) (bool, error)
	// CancelJob ends a job of the owner: a queued or running one becomes canceled, a done one
	// expired; others stay as they are. ErrNotFound.
	CancelJob(ctx context.Context, owner, id string) (Job, error)
	// Requeue queues every running job again, and fails those that were started too often.
	Requeue(ctx context.Context, attempts int, why Failure) error
	// ExpireJobs marks done jobs as expired whose time is over or, oldest first, whose files take
	// more than quota bytes together. It deletes jobs that ended before forget.
	ExpireJobs(ctx context.Context, quota int64, forget time.Time) error
	// KeptFiles lists the files of jobs that are done.
	KeptFiles(ctx context.Context) ([]string, error)
}

// Work does what a job requests.
type Work interface {
	// Version identifies the state of the data: equal versions give equal files.
	Version(ctx context.Context) (string, error)
	// WriteJob writes the file of r, which appears at path only when it is complete.
	WriteJob(ctx context.Context, r Request, path string, progress func(float64)) (Result, error)
	// Explain returns what to tell the caller about an error of WriteJob.
	Explain(err error) Failure
}
