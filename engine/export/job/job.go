// Package job keeps the queue of export jobs: one pool of workers, fair across the keys that ask,
// and the files that come from it until they expire. What a job writes, and where jobs are kept,
// others know.
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

// Status is where a job stands: queued, running, then done, failed or canceled;
// done ends in expired.
type Status string

// The states.
const (
	Queued   Status = "queued"
	Running  Status = "running"
	Done     Status = "done"
	Failed   Status = "failed"
	Canceled Status = "canceled"
	Expired  Status = "expired"
)

// Decisions that callers take on errors.
var (
	// ErrNotFound: the key has no job of that id and kind.
	ErrNotFound = errors.New("no such export job")
	// ErrTooMany: the key has as many jobs queued and running as it may have.
	ErrTooMany = errors.New("too many export jobs")
	// ErrReused: the idempotency key was given with another request before.
	ErrReused = errors.New("the idempotency key belongs to another request")
	// ErrGone: the job is done but its file is not there any more.
	ErrGone = errors.New("the export's file is gone")
)

// Request is what a job is to write. Equal requests of equal data give equal files.
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

// Result is what a finished job came to.
type Result struct {
	File      string // name in the folder of exports
	Rows      int64
	Bytes     int64
	SHA256    string    // of the whole file, lower-case hex
	AsOf      time.Time // up to when the data reaches; zero on an empty database
	Version   string    // of the state of the data; equal versions, equal bytes
	Truncated bool      // rows were left out: there were too many
}

// Job is one export job of one API key.
type Job struct {
	ID       string
	Owner    string // short id of the key
	Request  Request
	Status   Status
	Progress float64 // 0…1
	Attempts int     // how often it was begun
	// Created is never zero; the others are where they do not apply.
	Created, Started, Finished, Expires time.Time
	Result                              // of a job that is done or expired
	Failure                             // of a job that failed
}

// Store keeps jobs across restarts. Its methods may be called concurrently.
type Store interface {
	// AddJob adds a queued job, or one that is done at once where a file of the same request and
	// version is kept. A repeat of an idempotency key ("": none) gives the job it made. ErrTooMany
	// if the owner has limit jobs waiting or running, ErrReused.
	AddJob(ctx context.Context, j Job, idempotencyKey, version string, limit int) (Job, error)
	// Job returns a job of the owner; ErrNotFound.
	Job(ctx context.Context, owner, id string) (Job, error)
	// NextJob takes the next job that waits and marks it running: of the owner who was served least
	// recently. ErrNotFound if none waits.
	NextJob(ctx context.Context) (Job, error)
	// SameFile returns the result of a kept file of the same request and version; ErrNotFound.
	SameFile(ctx context.Context, r Request, version string) (Result, error)
	// EndJob marks a running job done or failed, or queued as if it had not begun; false if it is
	// not running any more.
	EndJob(ctx context.Context, j Job) (bool, error)
	// CancelJob ends a job of the owner: canceled where it waits or runs, expired
	// where it is done, as it is otherwise. ErrNotFound.
	CancelJob(ctx context.Context, owner, id string) (Job, error)
	// Requeue makes every running job wait again, and fails those begun too often.
	Requeue(ctx context.Context, attempts int, why Failure) error
	// ExpireJobs marks done jobs expired that are older than now or, oldest first,
	// whose files take more than quota bytes together. It forgets jobs that ended
	// before forget.
	ExpireJobs(ctx context.Context, quota int64, forget time.Time) error
	// KeptFiles lists the files of jobs that are done.
	KeptFiles(ctx context.Context) ([]string, error)
}

// Work does what a job asks for.
type Work interface {
	// Version tells the state of the data: equal versions give equal files.
	Version(ctx context.Context) (string, error)
	// WriteJob writes the file of r to path, which it has only when it is whole.
	WriteJob(ctx context.Context, r Request, path string, progress func(float64)) (Result, error)
	// Explain returns what to tell the caller about an error of WriteJob.
	Explain(err error) Failure
}
