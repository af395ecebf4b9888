// Package guard runs background work, so that a panic in it ends neither the process nor,
// permanently, the work. Other packages do not start goroutines, except for the few that a test
// lists.
package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// Panic is a panic as an error.
type Panic struct {
	Value any
	Stack string // of the goroutine, where the panic began
}

// Error says what the panic value was.
func (p *Panic) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Unwrap returns the panic value if it was an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Recovered returns what recover gave as a *Panic, nil if it gave nil. It must be called by the
// deferred function, to capture the stack.
func Recovered(cause any) *Panic {
	if cause == nil {
		return nil
	}
	if p, ok := cause.(*Panic); ok {
		return p // passed on from another goroutine: its stack says more
	}
	return &Panic{Value: cause, Stack: string(debug.Stack())}
}

// Do calls f and returns a panic in it as a *Panic. This includes a page of a mapped file that
// cannot be read, which would otherwise end the process.
func Do(f func() error) (err error) {
	before := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		if p := Recovered(recover()); p != nil {
			err = p
		}
	}()
	return f()
}

// InGroup runs f in group; a panic of f becomes its error.
func InGroup(group interface{ Go(f func() error) }, f func() error) {
	group.Go(func() error { return Do(f) })
}

// Start runs f in a goroutine of its own and sends its error to the channel, a panic as a *Panic.
func Start(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() {
		// The goroutine may end inside f with runtime.Goexit: then nothing after Do runs.
		var err error = &Panic{Value: "the goroutine ended before its work"}
		defer func() { done <- err }()
		err = Do(f)
	}()
	return done
}

// StartThread is Start on an OS thread that ends with f.
func StartThread(f func() error) <-chan error {
	return Start(func() error {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		return f()
	})
}

// Repanic returns err; a *Panic in it is panicked again in the caller.
func Repanic(err error) error {
	if p := panicIn(err); p != nil {
		panic(p)
	}
	return err
}

// WorkStatus is what is known of one piece of background work.
type WorkStatus struct {
	Name    string    `json:"name"`
	Panics  int64     `json:"panics"`  // since the start
	Failing bool      `json:"failing"` // its last run panicked
	Last    time.Time `json:"last"`    // of the last panic; zero: none
	Text    string    `json:"text"`    // of that panic
}

// Watch runs background work by name, and logs and counts panics, with their stacks. A nil Watch
// neither logs nor counts.
type Watch struct {
	log   zerolog.Logger
	first time.Duration // pause after a first panic
	most  time.Duration // longest pause

	mu       sync.Mutex
	statuses map[string]*WorkStatus
}

const (
	firstPause = 5 * time.Second
	mostPause  = 10 * time.Minute
)

// New returns a Watch that logs to log.
func New(log zerolog.Logger) *Watch {
	return &Watch{log: log, first: firstPause, most: mostPause, statuses: map[string]*WorkStatus{}}
}

// WithPauses sets the pauses between tries: first, doubled each time, up to most.
func (w *Watch) WithPauses(first, most time.Duration) *Watch {
	w.first, w.most = first, most
	return w
}

// Do calls f as the work name. A panic is logged, counted, and returned as a *Panic.
func (w *Watch) Do(name string, f func() error) error {
	err := Do(f)
	w.note(name, err)
	return err
}

// Begin does Do in a goroutine that wg waits for. What f returns is dropped: f reports errors
// itself.
func (w *Watch) Begin(wg *sync.WaitGroup, name string, f func()) {
	wg.Go(func() { _ = w.Do(name, func() error { f(); return nil }) })
}

// Supervise calls f until it returns without a panic. After a panic f is called again, after
// growing pauses. It returns what f returned, or the last panic if ctx ended.
func (w *Watch) Supervise(ctx context.Context, name string, f func(context.Context) error) error {
	for tries := 0; ; tries++ {
		began := time.Now()
		err := w.Do(name, func() error { return f(ctx) })
		if !IsPanic(err) || ctx.Err() != nil {
			return err
		}
		if time.Since(began) > w.longest() {
			tries = 0 // it ran well for a long time
		}
		if Sleep(ctx, w.Pause(tries+1)) != nil {
			return err
		}
	}
}

// Sleep waits for d, or until ctx ends: then it returns the cause.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Reader reads from r until ctx ends: then it returns the error of ctx.
func Reader(ctx context.Context, r io.Reader) io.Reader { return &reader{ctx, r} }

type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// Pause is how long to wait after the n-th panic in a row.
func (w *Watch) Pause(n int) time.Duration {
	first := firstPause
	if w != nil {
		first = w.first
	}
	for ; n > 1 && first < w.longest(); n-- {
		first *= 2
	}
	return min(first, w.longest())
}

func (w *Watch) longest() time.Duration {
	if w == nil {
		return mostPause
	}
	return w.most
}

// IsPanic reports whether err is, or has in it, a panic.
func IsPanic(err error) bool { return panicIn(err) != nil }

func panicIn(err error) *Panic {
	var p *Panic
	if !errors.As(err, &p) {
		return nil
	}
	return p
}

func (w *Watch) note(name string, err error) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	status := w.statuses[name]
	if status == nil {
		status = &WorkStatus{Name: name}
		w.statuses[name] = status
	}
	status.Failing = false
	if p := panicIn(err); p != nil {
		status.Failing, status.Last, status.Text = true, time.Now().UTC(), p.Error()
		status.Panics++
		w.log.Error().Str("work", name).Str("panic", fmt.Sprint(p.Value)).Str("stack", p.Stack).Int64("times", status.Panics).
			Msg("background work panicked")
	}
}

// Statuses returns the status of all work that was run so far, by name.
func (w *Watch) Statuses() []WorkStatus {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]WorkStatus, 0, len(w.statuses))
	for _, p := range w.statuses {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b WorkStatus) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
