package guard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"pmx/engine/guard"
)

func blowUp() error { panic("boom") }

func TestAPanicBecomesAnErrorWithItsStack(t *testing.T) {
	err := guard.Do(blowUp)
	var p *guard.Panic
	if !errors.As(err, &p) || p.Value != "boom" || !strings.Contains(p.Stack, "blowUp") {
		t.Fatalf("err = %v", err)
	}
	handedOn := guard.Do(func() error { return guard.Repanic(<-guard.Start(blowUp)) })
	if !errors.As(handedOn, &p) || !strings.Contains(p.Stack, "blowUp") {
		t.Errorf("handed on to the caller: %v, stack %s", handedOn, p.Stack)
	}
	if !guard.IsPanic(fmt.Errorf("wrapped: %w", errors.Join(errors.New("other"), err))) || guard.IsPanic(errors.New("panic: no")) || guard.IsPanic(nil) {
		t.Error("IsPanic")
	}
	cause := errors.New("cause")
	if err := guard.Do(func() error { panic(cause) }); !errors.Is(err, cause) {
		t.Errorf("%v hides the error that was panicked with", err)
	}
	if err := guard.Do(func() error { return cause }); !errors.Is(err, cause) || guard.IsPanic(err) {
		t.Errorf("err = %v", err)
	}
	var group errgroup.Group
	guard.InGroup(&group, blowUp)
	if err := group.Wait(); !guard.IsPanic(err) {
		t.Errorf("in a group: %v", err)
	}
}

func TestAGoroutineThatExitsIsNotWaitedFor(t *testing.T) {
	select {
	case err := <-guard.Start(func() error { runtime.Goexit(); return nil }):
		if !guard.IsPanic(err) {
			t.Errorf("err = %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("nothing came back")
	}
}

// A page of a mapped file that is gone ends a process without a guard.
func TestAPageThatCannotBeReadIsAPanic(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	size := 4 * os.Getpagesize()
	if err := f.Truncate(int64(size)); err != nil {
		t.Fatal(err)
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Skip("no mapped files here:", err)
	}
	defer func() { _ = syscall.Munmap(b) }()
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	sum := byte(0)
	if err := <-guard.Start(func() error { sum += b[size-1]; return nil }); !guard.IsPanic(err) {
		t.Errorf("%v, read %d", err, sum)
	}
}

func TestWorkThatPanicsIsLoggedShownAndRetried(t *testing.T) {
	var log bytes.Buffer
	w := guard.New(zerolog.New(&log)).WithPauses(time.Millisecond, 4*time.Millisecond)
	var all sync.WaitGroup
	var tries atomic.Int32
	w.Begin(&all, "begun", func() {
		err := w.Supervise(t.Context(), "kept", func(context.Context) error {
			if tries.Add(1) <= 3 {
				return blowUp()
			}
			return errors.New("an error is no panic")
		})
		if err == nil || guard.IsPanic(err) {
			t.Errorf("Keep gives %v", err)
		}
		panic("after all")
	})
	all.Wait()
	if tries.Load() != 4 {
		t.Errorf("tried %d times, want 4", tries.Load())
	}
	parts := w.Statuses()
	if len(parts) != 2 || parts[0].Name != "begun" || !parts[0].Failing || parts[0].Panics != 1 || parts[0].Text != "panic: after all" ||
		parts[1].Name != "kept" || parts[1].Failing || parts[1].Panics != 3 || parts[1].Last.IsZero() {
		t.Errorf("parts = %+v", parts)
	}
	lines := bytes.Split(bytes.TrimSpace(log.Bytes()), []byte("\n"))
	if len(lines) != 4 {
		t.Fatalf("%d lines: %s", len(lines), log.Bytes())
	}
	var line struct{ Level, Work, Panic, Stack string }
	if err := json.Unmarshal(lines[0], &line); err != nil || line.Level != "error" || line.Work != "kept" || line.Panic != "boom" || !strings.Contains(line.Stack, "blowUp") {
		t.Errorf("line = %+v, err = %v", line, err)
	}
}

func TestKeepingEndsWithItsContext(t *testing.T) {
	w := guard.New(zerolog.Nop()).WithPauses(time.Hour, time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	done := guard.Start(func() error { return w.Supervise(ctx, "x", func(context.Context) error { return blowUp() }) })
	for w.Statuses() == nil || len(w.Statuses()) == 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-done; !guard.IsPanic(err) {
		t.Errorf("err = %v", err)
	}
}

func TestPausesGrow(t *testing.T) {
	w := guard.New(zerolog.Nop())
	before := time.Duration(0)
	for n := 1; n < 100; n++ {
		pause := w.Pause(n)
		if pause < before || pause <= 0 || pause > 10*time.Minute {
			t.Fatalf("after %d panics %s, before %s", n, pause, before)
		}
		before = pause
	}
	if before != 10*time.Minute {
		t.Errorf("in the end %s", before)
	}
}

func TestANilWatchGuards(t *testing.T) {
	var w *guard.Watch
	if err := w.Do("x", blowUp); !guard.IsPanic(err) || w.Statuses() != nil || w.Pause(1) <= 0 {
		t.Errorf("err = %v", err)
	}
	var all sync.WaitGroup
	w.Begin(&all, "x", func() { _ = blowUp() })
	all.Wait()
}

func TestSleepEndsWithItsContext(t *testing.T) {
	if err := guard.Sleep(t.Context(), time.Millisecond); err != nil {
		t.Errorf("over: %v", err)
	}
	cause := errors.New("cause")
	ctx, end := context.WithCancelCause(t.Context())
	end(cause)
	if err := guard.Sleep(ctx, time.Hour); !errors.Is(err, cause) {
		t.Errorf("ended before: %v, want why", err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	if err := guard.Sleep(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ended meanwhile: %v", err)
	}
}

// TestAReaderEndsWithItsContext: what was read before is kept.
func TestAReaderEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, some := guard.Reader(ctx, strings.NewReader("abcd")), make([]byte, 2)
	if n, err := r.Read(some); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	cancel()
	if n, err := r.Read(some); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %d, %v", n, err)
	}
}
