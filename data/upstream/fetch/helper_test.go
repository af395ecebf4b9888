package fetch_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pmx/data/upstream/fetch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a clock that advances when somebody sleeps.
type clock struct {
	mu    sync.Mutex
	now   time.Time
	slept []time.Duration // without those of length 0
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d > 0 {
		c.now = c.now.Add(d)
		c.slept = append(c.slept, d)
	}
	return ctx.Err()
}

// waits returns the sleeps since the last call.
func (c *clock) waits() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.slept
	c.slept = nil
	return w
}

// host returns a Host of a server with the handler f, and its clock. Jitter has its maximum.
func host(t *testing.T, f http.HandlerFunc, change ...func(o *fetch.Options)) (*fetch.Host, *clock) {
	t.Helper()
	s := httptest.NewServer(f)
	c := newClock()
	o := fetch.Options{
		Name: "source", Base: s.URL, Contact: "ops@example.org", Version: "1.2.3",
		Budget: fetch.Budget{PerSecond: 1000, Burst: 1000, InFlight: 4},
		Now:    c.Now, Sleep: c.Sleep, Jitter: func() float64 { return 1 },
	}
	for _, f := range change {
		f(&o)
	}
	h, err := fetch.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.Close()
		s.Close()
	})
	return h, c
}

// say responds with JSON.
func say(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text)
}

// get requests /x.
func get(t *testing.T, h *fetch.Host) (fetch.Answer, error) {
	t.Helper()
	return h.Do(t.Context(), fetch.Request{Path: "/x"})
}
