package job

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/engine/guard"
)

// Limits bound the resources of jobs. Zero fields mean the defaults.
type Limits struct {
	Workers int           // jobs at once; default 1, so that serving stays fast
	PerKey  int           // queued and running jobs of one key; default 10
	Keep    time.Duration // how long a finished file is kept; default 24 hours
	Quota   int64         // bytes of all kept files; default 20 GB
}

const (
	// forgetAfter is how long jobs that ended are still listed.
	forgetAfter = 7 * 24 * time.Hour
	// maxAttempts is how often a job is started that crashes the process each time.
	maxAttempts = 3
)

func (l Limits) orDefaults() Limits {
	return Limits{Workers: cmp.Or(l.Workers, 1), PerKey: cmp.Or(l.PerKey, 10), Keep: cmp.Or(l.Keep, 24*time.Hour), Quota: cmp.Or(l.Quota, 20<<30)}
}

// Config has the parts of a pool. All fields except for Limits and Watch are required.
type Config struct {
	Store  Store
	Work   Work
	Dir    string // the folder of finished files, the pool's own
	Now    func() time.Time
	Log    zerolog.Logger
	Limits Limits
	Watch  *guard.Watch // over the workers; nil: none
	// NoFills says that jobs for single wallets cannot be done.
	NoFills bool
}

// Pool runs export jobs while Run runs.
type Pool struct {
	Config
	wake chan struct{}

	mu      sync.Mutex
	running map[string]*runningJob // by job id
}

// runningJob is a running job.
type runningJob struct {
	cancel   context.CancelFunc
	progress float64
	shared   string // the kept file that the job shares
}

// NewPool returns a pool that does nothing until Run.
func NewPool(cfg Config) *Pool {
	cfg.Limits = cfg.Limits.orDefaults()
	return &Pool{Config: cfg, wake: make(chan struct{}, cfg.Limits.Workers), running: map[string]*runningJob{}}
}

// PerKey returns the maximum number of queued and running jobs of a key.
func (p *Pool) PerKey() int { return p.Limits.PerKey }

// Create adds a job of the key owner. If the file of an equal request for the same data is kept,
// the job is done at once and shares it. Repeating an idempotency key ("": none) gives the job that
// it made first. ErrTooMany, ErrReused; data.ErrElsewhere if there are no fills to do it with.
func (p *Pool) Create(ctx context.Context, owner string, r Request, idempotencyKey string) (Job, error) {
	if p.NoFills && r.Kind == Trader {
		return Job{}, data.ErrElsewhere
	}
	version, err := p.Work.Version(ctx)
	if err != nil {
		return Job{}, err
	}
	now := p.Now().UTC()
	j, err := p.Store.AddJob(ctx, Job{ID: newID(), Owner: owner, Request: r, Created: now, Expires: now.Add(p.Limits.Keep)},
		idempotencyKey, version, p.Limits.PerKey)
	if err == nil {
		p.wakeWorker()
	}
	return p.asOfNow(j), err
}

// newID returns an id of 128 random bits, so that nobody can guess the id of another's job.
func newID() string {
	var bits [16]byte
	_, _ = rand.Read(bits[:]) // never fails
	return "job_" + base64.RawURLEncoding.EncodeToString(bits[:])
}

// wakeWorker wakes a worker that waits for work.
func (p *Pool) wakeWorker() {
	select {
	case p.wake <- struct{}{}:
	default: // all workers are woken already
	}
}

// Job returns a job of the key owner; ErrNotFound also for one of another kind.
func (p *Pool) Job(ctx context.Context, owner string, kind Kind, id string) (Job, error) {
	j, err := p.Store.Job(ctx, owner, id)
	if err == nil && j.Request.Kind != kind {
		err = ErrNotFound
	}
	if err != nil {
		return Job{}, err
	}
	return p.asOfNow(j), nil
}

// asOfNow adds what the store does not know yet: the progress of a job, and that its file has
// expired.
func (p *Pool) asOfNow(j Job) Job {
	if j.Status == Done && !j.Expires.After(p.Now()) {
		j.Status = Expired
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.running[j.ID]; r != nil && j.Status == Running {
		j.Progress = r.progress
	}
	return j
}

// Cancel ends a job of the key owner and returns it: a queued or running one is canceled, a done
// one expired; others are unchanged.
func (p *Pool) Cancel(ctx context.Context, owner string, kind Kind, id string) (Job, error) {
	if _, err := p.Job(ctx, owner, kind, id); err != nil {
		return Job{}, err
	}
	j, err := p.Store.CancelJob(ctx, owner, id)
	if err != nil {
		return Job{}, err
	}
	p.mu.Lock()
	if r := p.running[id]; r != nil {
		r.cancel()
	}
	p.mu.Unlock()
	return j, p.removeFiles(ctx)
}

// Open opens the file of a done job; ErrGone if the job is not done, or its file was removed
// meanwhile. A file that is open can be read to its end even after that.
func (p *Pool) Open(j Job) (*os.File, error) {
	if j.Status != Done {
		return nil, ErrGone
	}
	f, err := os.Open(filepath.Join(p.Dir, j.File))
	if errors.Is(err, os.ErrNotExist) {
		return nil, ErrGone
	}
	return f, err
}

// Run requeues what an earlier process left, then works until ctx ends. Jobs running at that time
// are started again by the next Run.
func (p *Pool) Run(ctx context.Context) error {
	again := Failure{Code: "interrupted", Detail: fmt.Sprintf("The server ended %d times while it wrote this export. Request another one, and inform the operator.", maxAttempts)}
	if err := p.requeue(ctx, again); err != nil && ctx.Err() == nil {
		return err
	}
	p.logged("sweep", p.Sweep(ctx))
	var workers sync.WaitGroup
	for range p.Limits.Workers {
		p.Watch.Begin(&workers, "export worker", func() {
			_ = p.Watch.Supervise(ctx, "export worker", func(ctx context.Context) error { p.work(ctx); return nil })
		})
	}
	workers.Wait()
	return nil
}

// requeueAgain is how often requeue checks whether a full disk has room again.
const requeueAgain = 5 * time.Second

// requeue queues the jobs again that an earlier process left running. On a full disk it has to
// wait, and the workers with it: otherwise it would take their jobs for abandoned ones.
func (p *Pool) requeue(ctx context.Context, again Failure) error {
	for told := false; ; told = true {
		err := p.Store.Requeue(ctx, maxAttempts, again)
		if !data.IsNoSpace(err) {
			return err
		}
		if !told {
			p.Log.Error().Err(err).Msg("export jobs wait until the disk has room")
		}
		if err := guard.Sleep(ctx, requeueAgain); err != nil {
			return err
		}
	}
}

// Maintain is called on a schedule: it sweeps, and wakes a worker, so that a job that a worker
// failed to fetch is not forgotten.
func (p *Pool) Maintain(ctx context.Context) error {
	p.wakeWorker()
	return p.Sweep(ctx)
}

func (p *Pool) logged(what string, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		p.Log.Error().Err(err).Str("job", what).Msg("background work failed")
	}
}

// work does one job after another, and waits to be woken if there is none.
func (p *Pool) work(ctx context.Context) {
	for {
		j, err := p.Store.NextJob(ctx)
		if err == nil {
			p.logged("export", p.do(ctx, j))
			continue
		}
		if !errors.Is(err, ErrNotFound) {
			p.logged("export queue", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		}
	}
}

// do runs j and records how it ended.
func (p *Pool) do(ctx context.Context, j Job) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	p.mu.Lock()
	p.running[j.ID] = &runningJob{cancel: cancel}
	p.mu.Unlock()
	defer func() { // also if the work panics
		p.mu.Lock()
		delete(p.running, j.ID)
		p.mu.Unlock()
	}()
	var res Result
	err := p.Watch.Do("export", func() (err error) {
		res, err = p.makeFile(inner, j)
		return err
	})
	j.Finished = p.Now().UTC()
	switch {
	case err == nil:
		j.Status, j.Result, j.Expires = Done, res, j.Finished.Add(p.Limits.Keep)
	case ctx.Err() != nil: // the server stops: another time
		j.Status, j.Finished = Queued, time.Time{}
	default:
		j.Status, j.Failure = Failed, p.Work.Explain(err)
	}
	recorded, ending := p.end(context.WithoutCancel(ctx), j)
	if ending != nil {
		return ending
	}
	if !recorded || j.Status == Done { // canceled meanwhile, or one file more
		return p.Sweep(context.WithoutCancel(ctx))
	}
	if j.Status == Failed {
		return fmt.Errorf("job %.8s…: %w", j.ID, err)
	}
	return nil
}

// end records how j ended, false if it was canceled meanwhile. To code that removes files,
// recording the job and ending it are one step.
func (p *Pool) end(ctx context.Context, j Job) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	recorded, err := p.Store.EndJob(ctx, j)
	delete(p.running, j.ID)
	return recorded, err
}

// makeFile returns the file of j: one that is kept already or one made now.
func (p *Pool) makeFile(ctx context.Context, j Job) (res Result, err error) {
	version, err := p.Work.Version(ctx)
	if err != nil {
		return Result{}, err
	}
	if res, err := p.share(ctx, j, version); !errors.Is(err, ErrNotFound) {
		return res, err
	}
	name := j.ID[len("job_"):] + extension(j.Request)
	res, err = p.Work.WriteJob(ctx, j.Request, filepath.Join(p.Dir, name), func(done float64) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.running[j.ID].progress = done
	})
	res.File = name
	return res, err
}

// share finds the kept file of an equal request and keeps it from being removed until j is
// recorded.
func (p *Pool) share(ctx context.Context, j Job, version string) (Result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	res, err := p.Store.SameFile(ctx, j.Request, version)
	if err == nil {
		p.running[j.ID].shared = res.File
	}
	return res, err
}

func extension(r Request) string {
	if r.Kind == Trader {
		return ".zip"
	}
	return "." + r.Format
}

// Sweep expires files that are old or exceed the quota, and removes files that belong to no job
// from the folder.
func (p *Pool) Sweep(ctx context.Context) error {
	if err := p.Store.ExpireJobs(ctx, p.Limits.Quota, p.Now().Add(-forgetAfter)); err != nil {
		return err
	}
	return p.removeFiles(ctx)
}

// removeFiles removes files that belong neither to a done nor to a running job.
func (p *Pool) removeFiles(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	entries, err := os.ReadDir(p.Dir)
	if err != nil {
		return fmt.Errorf("exports: %w", err)
	}
	kept, err := p.Store.KeptFiles(ctx)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() || slices.Contains(kept, e.Name()) || p.uses(e.Name()) {
			continue
		}
		if err := os.Remove(filepath.Join(p.Dir, e.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("exports: %w", err)
		}
	}
	return nil
}

// uses reports whether a running job writes or shares the file; the caller holds mu.
func (p *Pool) uses(name string) bool {
	for id, r := range p.running {
		if strings.HasPrefix(name, id[len("job_"):]) || name == r.shared {
			return true
		}
	}
	return false
}
