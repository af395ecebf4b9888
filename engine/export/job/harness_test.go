package job_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmx/engine/control"
	"pmx/engine/export/job"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// works is a job.Work that waits until the test says how each job ends.
type works struct {
	mu      sync.Mutex
	version string
	began   chan job.Request
	end     chan error // nil: the file is written
}

func newWorks() *works {
	return &works{version: "v1", began: make(chan job.Request), end: make(chan error)}
}

func (w *works) Version(context.Context) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.version, nil
}

func (w *works) setVersion(v string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.version = v
}

func (w *works) WriteJob(ctx context.Context, r job.Request, path string, progress func(float64)) (job.Result, error) {
	if err := os.WriteFile(path+".part", []byte("half"), 0o600); err != nil {
		return job.Result{}, err
	}
	progress(0.25)
	var err error
	select {
	case w.began <- r:
	case <-ctx.Done():
		return job.Result{}, ctx.Err()
	}
	select {
	case err = <-w.end:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return job.Result{}, errors.Join(err, os.Remove(path+".part"))
	}
	text := fmt.Sprintf("%s of %s", r.Dataset, w.version)
	if err := errors.Join(os.Remove(path+".part"), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		return job.Result{}, err
	}
	return job.Result{Rows: 3, Bytes: int64(len(text)), SHA256: "abc", AsOf: noon.Add(-time.Minute), Version: w.version}, nil
}

func (w *works) Explain(err error) job.Failure {
	return job.Failure{Code: "broken", Detail: "It broke: " + err.Error()}
}

// heard is a store that signals when a job ends and when a worker looks for the next one, and so
// has finished the previous one.
type heard struct {
	*control.DB
	moved chan struct{}
}

func (h heard) tell() {
	select {
	case h.moved <- struct{}{}:
	default:
	}
}

func (h heard) EndJob(ctx context.Context, j job.Job) (bool, error) {
	defer h.tell()
	return h.DB.EndJob(ctx, j)
}

func (h heard) NextJob(ctx context.Context) (job.Job, error) {
	defer h.tell()
	return h.DB.NextJob(ctx)
}

// driver drives a pool with its store, its work and a clock.
type driver struct {
	*job.Pool
	t     *testing.T
	moved chan struct{}
	store *control.DB
	works *works
	dir   string
	mu    sync.Mutex
	now   time.Time
	stop  func()
}

func (d *driver) time() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = d.now.Add(time.Millisecond) // no two events at once
	return d.now
}

func (d *driver) later(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = d.now.Add(by)
}

func newDriver(t *testing.T, limits job.Limits) *driver {
	t.Helper()
	d := &driver{t: t, moved: make(chan struct{}, 1), works: newWorks(), dir: t.TempDir(), now: noon}
	d.open(filepath.Join(t.TempDir(), "control.db"))
	for i, label := range []string{"ann", "bob"} {
		if _, err := d.store.IssueKey(t.Context(), [32]byte{byte(i + 1)}, "trader", label); err != nil {
			t.Fatal(err)
		}
	}
	d.Pool = job.NewPool(job.Config{Store: heard{d.store, d.moved}, Work: d.works, Dir: d.dir, Now: d.time, Log: zerolog.Nop(), Limits: limits})
	return d
}

func (d *driver) open(path string) {
	var err error
	if d.store, err = control.Open(d.t.Context(), path, d.time); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = d.store.Close() })
}

const (
	ann = "01000000"
	bob = "02000000"
)

// start runs the pool until the test ends or stop is called.
func (d *driver) start() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	d.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			d.t.Error(err)
		}
	})
	d.t.Cleanup(d.stop)
}

func research(dataset string) job.Request {
	return job.Request{Kind: job.Research, Dataset: dataset, Format: "csv", Period: "all"}
}

func (d *driver) create(owner, dataset string) job.Job {
	d.t.Helper()
	j, err := d.Create(context.Background(), owner, research(dataset), "")
	if err != nil {
		d.t.Fatal(err)
	}
	return j
}

func (d *driver) job(j job.Job) job.Job {
	d.t.Helper()
	now, err := d.Job(context.Background(), j.Owner, job.Research, j.ID)
	if err != nil {
		d.t.Fatal(err)
	}
	return now
}

// until waits until done returns true.
func (d *driver) until(what string, done func() bool) {
	d.t.Helper()
	deadline := time.After(20 * time.Second)
	for !done() {
		select {
		case <-d.moved:
		case <-deadline:
			d.t.Fatalf("%s did not happen", what)
		}
	}
}

func (d *driver) becomes(j job.Job, want job.Status) (now job.Job) {
	d.t.Helper()
	d.until(string(want), func() bool { now = d.job(j); return now.Status == want })
	return now
}

func (d *driver) files() []string {
	d.t.Helper()
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		d.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func (d *driver) text(j job.Job) string {
	d.t.Helper()
	f, err := d.Open(j)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(f)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}
