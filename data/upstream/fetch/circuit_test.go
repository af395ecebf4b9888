package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/data/upstream/fetch"
)

func html(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, "<!DOCTYPE html><title>Just a moment...</title>")
	}
}

// down responds with a proxy's page about the host behind it.
func down(code int, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		_, _ = fmt.Fprintf(w, "<!DOCTYPE html><html><head><title>example.org | %d</title></head><body>Error code %[1]d, Ray ID 10150a: try again in 1020 seconds</body></html>", code)
	}
}

// TestBlockedHostIsLeftAlone: after an HTML page instead of a response, no requests are sent to the
// host for a minute, then for two, up to a quarter of an hour, until a probe is answered.
func TestBlockedHostIsLeftAlone(t *testing.T) {
	for name, f := range map[string]http.HandlerFunc{
		"200": html(200), "403": html(403), "429": html(429), "503": html(503), "502": html(502),
		"403 without a challenge": down(403), "503 with a challenge's header": down(503, "Cf-Mitigated", "challenge"),
		"1020 of 503": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(503)
			_, _ = io.WriteString(w, "error code: 1020")
		},
		"HTML as JSON": func(w http.ResponseWriter, _ *http.Request) { say(w, 200, "\n <html>") },
		"1015": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(429)
			_, _ = io.WriteString(w, "error code: 1015")
		},
	} {
		var asked atomic.Int64
		faults := []http.HandlerFunc{f, f, f, f, f, f}
		h, c := host(t, after(&asked, faults...))
		for i, minutes := range []int{1, 2, 4, 8, 15, 15} {
			_, err := get(t, h)
			var shape *fetch.ShapeError
			if !errors.As(err, &shape) || shape.Why != fetch.Turned {
				t.Fatalf("%s, time %d: %v", name, i, err)
			}
			until := c.Now().Add(time.Duration(minutes) * time.Minute)
			if s := h.Stats(); s.State != fetch.Blocked || !s.Until.Equal(until) {
				t.Fatalf("%s, time %d: %s until %v", name, i, s.State, s.Until)
			}
			_ = c.Sleep(t.Context(), time.Duration(minutes)*time.Minute-1)
			var closed *fetch.ClosedError
			if _, err := get(t, h); !errors.Is(err, fetch.ErrCircuitOpen) || !errors.As(err, &closed) || !closed.Until.Equal(until) || closed.State != fetch.Blocked {
				t.Fatalf("%s, time %d, too soon: %v", name, i, err)
			}
			_ = c.Sleep(t.Context(), 1)
		}
		if _, err := get(t, h); err != nil || h.Stats().State != fetch.Ready || asked.Load() != 7 {
			t.Errorf("%s: %d requests: %v", name, asked.Load(), err)
		}
	}
}

// TestAPageOfAnOutageIsNoBlock: a proxy's page about an outage of the host is an ordinary failure.
// The request is repeated after the usual pauses or the one in the response, and ten in a row open
// the circuit.
func TestAPageOfAnOutageIsNoBlock(t *testing.T) {
	var asked atomic.Int64
	h, _ := host(t, after(&asked, down(502), down(503), down(504), down(500), down(522)))
	if _, err := get(t, h); err != nil || asked.Load() != 6 || h.Stats().State != fetch.Ready {
		t.Errorf("asked %d times: %v, %s", asked.Load(), err, h.Stats().State)
	}
	h, c := host(t, after(&atomic.Int64{}, down(503, "Retry-After", "100")))
	_, err := get(t, h)
	if waits := c.waits(); err != nil || len(waits) == 0 || waits[len(waits)-1] < 99*time.Second {
		t.Errorf("waited for %v: %v", waits, err)
	}
	h, _ = host(t, down(503))
	var refused *fetch.StatusError
	for range 2 {
		if _, err := get(t, h); !errors.As(err, &refused) || refused.Code != 503 {
			t.Error(err)
		}
	}
	if s := h.Stats(); s.State != fetch.Open || s.Requests[503] != 10 {
		t.Errorf("%+v", s)
	}
	h, _ = host(t, down(404))
	if _, err := get(t, h); !errors.As(err, &refused) || refused.Body != "example.org | 404" || strings.Contains(err.Error(), "<") {
		t.Error(err)
	}
	for page, want := range map[string]string{
		"<HTML><Title lang=en>\n Gone &amp; lost\n</Title>": "Gone & lost",
		"<html><body>gone</body></html>":                    "an HTML page without a title",
		"<html><title> </title></html>":                     "an HTML page without a title",
	} {
		h, _ = host(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(410)
			_, _ = io.WriteString(w, page)
		})
		if _, err := get(t, h); !errors.As(err, &refused) || refused.Body != want {
			t.Errorf("%s: %v", page, err)
		}
	}
}

// TestCircuitOpensAfterFailures: seven failures of the first request and three of the second make
// ten.
func TestCircuitOpensAfterFailures(t *testing.T) {
	var asked atomic.Int64
	faults := make([]http.HandlerFunc, 12)
	for i := range faults {
		faults[i] = status(500)
	}
	h, c := host(t, after(&asked, faults...))
	_, _ = get(t, h)
	_, err := get(t, h)
	var failed *fetch.StatusError
	if s := h.Stats(); !errors.As(err, &failed) || asked.Load() != 10 || s.State != fetch.Open || s.Until.Sub(c.Now()) != 30*time.Second {
		t.Fatalf("asked %d times: %v %+v", asked.Load(), err, s)
	}
	if _, err := get(t, h); !errors.Is(err, fetch.ErrCircuitOpen) || asked.Load() != 10 {
		t.Fatal(err)
	}
	_ = c.Sleep(t.Context(), 30*time.Second)
	for i, seconds := range []int{60, 120} { // a probe fails, and the circuit stays open for longer
		_, err := get(t, h)
		if s := h.Stats(); !errors.As(err, &failed) || asked.Load() != int64(11+i) || s.State != fetch.Open || s.Until.Sub(c.Now()) != time.Duration(seconds)*time.Second {
			t.Fatalf("asked %d times: %v %+v", asked.Load(), err, s)
		}
		_ = c.Sleep(t.Context(), time.Duration(seconds)*time.Second)
	}
	if _, err := get(t, h); err != nil || h.Stats().State != fetch.Ready {
		t.Fatal(err)
	}
}

// TestOneRequestTries: while a probe is in flight, no other requests are sent.
func TestOneRequestTries(t *testing.T) {
	var asked atomic.Int64
	here, goOn := make(chan struct{}), make(chan struct{})
	h, c := host(t, after(&asked, html(200), func(w http.ResponseWriter, _ *http.Request) {
		close(here)
		<-goOn
		say(w, 200, `{}`)
	}))
	_, _ = get(t, h)
	_ = c.Sleep(t.Context(), time.Minute)
	done := make(chan error)
	go func() {
		_, err := h.Do(t.Context(), fetch.Request{})
		done <- err
	}()
	<-here
	if _, err := get(t, h); !errors.Is(err, fetch.ErrCircuitOpen) {
		t.Errorf("%v", err)
	}
	close(goOn)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := get(t, h); err != nil || asked.Load() != 3 {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
}

// TestRetryAfterIsObeyed in all its formats, by all requests to the host.
func TestRetryAfterIsObeyed(t *testing.T) {
	body := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { say(w, 429, text) }
	}
	for name, c := range map[string]struct {
		f    http.HandlerFunc
		want []time.Duration // after a back-off of half a second, which counts as part of it
	}{
		"seconds": {status(429, "Retry-After", "17"), []time.Duration{16500 * time.Millisecond}},
		"a date":  {status(429, "Retry-After", "Mon, 02 Nov 2026 12:00:40 GMT", "Date", "Mon, 02 Nov 2026 12:00:10 GMT"), []time.Duration{29500 * time.Millisecond}},
		"a date, no Date": {func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Date"] = nil
			status(429, "Retry-After", "Mon, 02 Nov 2026 12:00:40 GMT")(w, r)
		}, []time.Duration{39500 * time.Millisecond}},
		"in the body":    {body(`{"error":"slow down","retry_after_seconds":5}`), []time.Duration{4500 * time.Millisecond}},
		"quoted":         {body(`{"retry_after_seconds":"2.5"}`), []time.Duration{2000 * time.Millisecond}},
		"absent":         {status(429), nil},
		"a date gone by": {status(429, "Retry-After", "Mon, 02 Nov 2020 12:00:40 GMT"), nil},
		"nonsense":       {status(429, "Retry-After", "soon"), nil},
		"below zero":     {status(429, "Retry-After", "-5"), nil},
		"503":            {status(503, "Retry-After", "100"), []time.Duration{99500 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			h, clock := host(t, after(&asked, c.f))
			if _, err := get(t, h); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(append([]time.Duration{500 * time.Millisecond}, c.want...), clock.waits()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLongPauseIsNotWaitedFor: the request fails, and no other is sent before the end of the pause,
// an hour at most.
func TestLongPauseIsNotWaitedFor(t *testing.T) {
	for header, want := range map[string]time.Duration{"600": 10 * time.Minute, "86400": time.Hour, "Sat, 02 Nov 2199 12:00:40 GMT": time.Hour, "1e300": time.Hour} {
		var asked atomic.Int64
		h, c := host(t, after(&asked, status(429, "Retry-After", header)))
		_, err := get(t, h)
		var refused *fetch.StatusError
		if s := h.Stats(); !errors.As(err, &refused) || refused.RetryAfter != want || s.State != fetch.Throttled || s.Until.Sub(c.Now()) != want {
			t.Fatalf("%s: %v %+v", header, err, s)
		}
		if _, err := get(t, h); !errors.Is(err, fetch.ErrCircuitOpen) {
			t.Fatalf("%s: %v", header, err)
		}
		_ = c.Sleep(t.Context(), want)
		if _, err := get(t, h); err != nil || asked.Load() != 2 {
			t.Errorf("%s: %d requests: %v", header, asked.Load(), err)
		}
	}
}

// TestTooManyRequestsHalveTheBudget; a tenth of it is restored per minute.
func TestTooManyRequestsHalveTheBudget(t *testing.T) {
	var asked atomic.Int64
	h, c := host(t, after(&asked, status(429), status(429)), func(o *fetch.Options) { o.Budget.PerSecond = 8 })
	if _, err := get(t, h); err != nil {
		t.Fatal(err)
	}
	// 8, halved: 4; half a second later 4.0067, halved: 2.0033; a second later 2.0167
	check := func(want float64) {
		t.Helper()
		if got := h.Stats().PerSecond; got < want-0.001 || got > want+0.001 {
			t.Errorf("%v a second, not %v", got, want)
		}
	}
	check(2.0167)
	_ = c.Sleep(t.Context(), time.Minute)
	check(2.8167)
	_ = c.Sleep(t.Context(), 5*time.Minute)
	check(6.8167)
	_ = c.Sleep(t.Context(), time.Hour)
	check(8)
	for range 20 {
		h.TooMuch(time.Second)
		_ = c.Sleep(t.Context(), time.Millisecond)
	}
	if got := h.Stats(); got.PerSecond < 0.12 || got.PerSecond > 0.13 || got.State != fetch.Throttled {
		t.Errorf("%+v", got)
	}
}

// TestRequestsUnderWayTogetherHalveOnce: four requests that are refused at the same time halve the
// budget once.
func TestRequestsUnderWayTogetherHalveOnce(t *testing.T) {
	var asked atomic.Int64
	all := make(chan struct{})
	h, _ := host(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 4 {
			close(all)
		}
		<-all
		status(429)(w, r)
	}, func(o *fetch.Options) { o.Now, o.Sleep = nil, nil })
	done := make(chan error)
	for range 4 {
		go func() {
			_, err := h.Do(t.Context(), fetch.Request{NoRetry: true})
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err == nil {
			t.Error("no error")
		}
	}
	if got := h.Stats().PerSecond; got < 500 || got > 510 {
		t.Errorf("%v a second", got)
	}
}

// TestBlockThatShowsOtherwiseIsABlock: if a probe of a blocked host fails in another way, the host
// stays blocked.
func TestBlockThatShowsOtherwiseIsABlock(t *testing.T) {
	var asked atomic.Int64
	h, c := host(t, after(&asked, html(403), status(500)))
	_, _ = get(t, h)
	_ = c.Sleep(t.Context(), time.Minute)
	_, err := get(t, h)
	if s := h.Stats(); err == nil || asked.Load() != 2 || s.State != fetch.Blocked || s.Until.Sub(c.Now()) != 2*time.Minute {
		t.Errorf("asked %d times: %v %+v", asked.Load(), err, s)
	}
}

// TestPauseHoldsThoseThatWait: a request that is waiting for the budget when the host asks for a
// pause also waits for the end of the pause.
func TestPauseHoldsThoseThatWait(t *testing.T) {
	var h *fetch.Host
	var c *clock
	h, c = host(t, func(w http.ResponseWriter, _ *http.Request) { say(w, 200, `{}`) }, func(o *fetch.Options) {
		o.Budget = fetch.Budget{PerSecond: 1, Burst: 1}
		inner, first := o.Sleep, true
		o.Sleep = func(ctx context.Context, d time.Duration) error {
			err := inner(ctx, d)
			if first {
				first = false
				h.TooMuch(20 * time.Second)
			}
			return err
		}
	})
	for range 2 {
		if _, err := get(t, h); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]time.Duration{time.Second, 20 * time.Second}, c.waits()); diff != "" {
		t.Error(diff)
	}
}

// The error of a request that is not sent says in plain words until when, and why.
func TestAPauseIsExplained(t *testing.T) {
	until := time.Date(2026, 11, 28, 14, 0, 0, 0, time.FixedZone("", 3600))
	for state, want := range map[fetch.Condition]string{
		fetch.Open:      "requests are paused until 2026-11-28T13:00:00Z: too many requests in a row failed",
		fetch.Throttled: "requests are paused until 2026-11-28T13:00:00Z: the host asked for this pause",
		fetch.Blocked:   "requests are paused until 2026-11-28T13:00:00Z: a proxy in front of the host refuses this program",
	} {
		if err := (&fetch.ClosedError{State: state, Until: until}); err.Error() != want {
			t.Errorf("%s: %q", state, err)
		}
	}
}
