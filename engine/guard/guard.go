// Package guard runs what goes on in the background, so that a panic there ends
// neither the process nor, for good, the work. No other package of the program
// begins a goroutine of its own but for the few that a test lists.
package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	Stack string // of the goroutine, where it began
}

// Error reports what was panicked with.
func (p *Panic) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Unwrap gives the error that was panicked with, if it was one.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Recovered returns what recover gave as a *Panic, nil if it gave nil. It is to be called by the
// func that recovers, for the stack.
func Recovered(cause any) *Panic {
	if cause == nil {
		return nil
	}
	if p, ok := cause.(*Panic); ok {
		return p // that of another goroutine, handed on: its stack tells more
	}
	return &Panic{Value: cause, Stack: string(debug.Stack())}
}

// Do calls f and gives a panic in it as a *Panic. So does it with a page of a mapped
// file that cannot be read, which would end the process.
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

// InGroup has group run f; a panic of f becomes its error.
func InGroup(group interface{ Go(f func() error) }, f func() error) {
	group.Go(func() error { return Do(f) })
}

// Start runs f in a goroutine of its own and returns how it ended on the channel, a panic as a
// *Panic.
func Start(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() {
		// The goroutine may end inside f with runtime.Goexit: then nothing behind Do runs.
		var err error = &Panic{Value: "the goroutine ended before its work"}
		defer func() { done <- err }()
		err = Do(f)
	}()
	return done
}

// StartThread is Start on a thread of the system that ends with f.
func StartThread(f func() error) <-chan error {
	return Start(func() error {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		return f()
	})
}

// Repanic gives err back; a panic in it goes on in the caller.
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
	Failing bool      `json:"failing"` // it panicked when it was tried last
	Last    time.Time `json:"last"`    // of the last panic; zero: none
	Text    string    `json:"text"`    // of that panic
}

// Watch runs background work by name, logs panics with their stacks and keeps
// count. A nil Watch does so without log and count.
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

// WithPauses makes the pauses between tries first, doubled each time, and most.
func (w *Watch) WithPauses(first, most time.Duration) *Watch {
	w.first, w.most = first, most
	return w
}

// Do calls f as the work name. A panic is logged and counted, and given as a *Panic.
func (w *Watch) Do(name string, f func() error) error {
	err := Do(f)
	w.note(name, err)
	return err
}

// Begin does Do in a goroutine that wg waits for. What f returns is dropped: f says
// itself what is to be known of it.
func (w *Watch) Begin(wg *sync.WaitGroup, name string, f func()) {
	wg.Go(func() { _ = w.Do(name, func() error { f(); return nil }) })
}

// Supervise calls f until it returns without a panic. After a panic f is called again, at
// first soon, then after ever longer pauses. It ends with what f gave, or where ctx
// ended with the last panic.
func (w *Watch) Supervise(ctx context.Context, name string, f func(context.Context) error) error {
	for tries := 0; ; tries++ {
		began := time.Now()
		err := w.Do(name, func() error { return f(ctx) })
		if !IsPanic(err) || ctx.Err() != nil {
			return err
		}
		if time.Since(began) > w.longest() {
			tries = 0 // it went well for long
		}
		if Sleep(ctx, w.Pause(tries+1)) != nil {
			return err
		}
	}
}

// Sleep waits for d, or until ctx ends: then it gives why ctx ended.
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

// Statuses returns what was run so far, by name.
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
