package fetch_test

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/data/upstream/fetch"
)

func TestContactIsRequired(t *testing.T) {
	good := fetch.Options{Name: "source", Base: "https://example.org", Contact: "ops@example.org"}
	if _, err := fetch.New(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(o *fetch.Options){
		"no contact":        func(o *fetch.Options) { o.Contact = "  " },
		"a second header":   func(o *fetch.Options) { o.Contact = "a\r\nCookie: b" },
		"no name":           func(o *fetch.Options) { o.Name = "" },
		"no base":           func(o *fetch.Options) { o.Base = "" },
		"no host":           func(o *fetch.Options) { o.Base = "https:///path" },
		"another scheme":    func(o *fetch.Options) { o.Base = "ftp://example.org" },
		"a fragment":        func(o *fetch.Options) { o.Base = "https://example.org/#x" },
		"a port of letters": func(o *fetch.Options) { o.Base = "https://user:secret9@example.org:port" },
	} {
		o := good
		change(&o)
		if _, err := fetch.New(o); err == nil || strings.Contains(err.Error(), "secret9") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRequestSaysWhoAsksAndForWhat(t *testing.T) {
	var seen *http.Request
	var body string
	h, _ := host(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		seen, body = r, string(b)
		say(w, http.StatusOK, `{}`)
	}, func(o *fetch.Options) { o.Base += "/v2/key?auth=abcdef" })
	_, err := h.Do(t.Context(), fetch.Request{Path: "/a b/c", Query: url.Values{"id": {"1", "2"}}, Body: []byte(`[1]`)})
	if err != nil {
		t.Fatal(err)
	}
	got := []string{seen.Method, seen.RequestURI, body}
	for _, name := range []string{"User-Agent", "Accept", "Accept-Encoding", "Content-Type"} {
		got = append(got, seen.Header.Get(name))
	}
	want := []string{"POST", "/v2/key/a%20b/c?auth=abcdef&id=1&id=2", "[1]", "pmx/1.2.3 (+ops@example.org)", "application/json", "zstd, gzip", "application/json"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := h.Do(t.Context(), fetch.Request{Accept: []string{"text/csv", "text/*"}}); err == nil {
		t.Error("JSON was read as CSV")
	}
	if seen.Method != "GET" || seen.RequestURI != "/v2/key?auth=abcdef" || seen.Header.Get("Accept") != "text/csv, text/*" || seen.Header.Get("Content-Type") != "" {
		t.Errorf("%s %s %v", seen.Method, seen.RequestURI, seen.Header)
	}
}

// TestWhatIsKnownIsNotSentAgain: an ETag or a date is sent, and a 304 is then a valid response.
func TestWhatIsKnownIsNotSentAgain(t *testing.T) {
	h, _ := host(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == `"v1"` || r.Header.Get("If-Modified-Since") != "" || r.URL.Path == "/odd" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("ETag", `"v1"`)
		say(w, http.StatusOK, `{"a":1}`)
	})
	a, err := get(t, h)
	if err != nil || a.NotModified || string(a.Body) != `{"a":1}` || a.Header.Get("ETag") != `"v1"` {
		t.Fatalf("%+v %v", a, err)
	}
	for _, r := range []fetch.Request{{ETag: `"v1"`}, {LastModified: "Mon, 02 Nov 2026 00:00:00 GMT"}} {
		if a, err := h.Do(t.Context(), r); err != nil || !a.NotModified || a.Body != nil || a.Status != http.StatusNotModified {
			t.Errorf("%+v %v", a, err)
		}
	}
	var shape *fetch.ShapeError
	if _, err := h.Do(t.Context(), fetch.Request{Path: "/odd"}); !errors.As(err, &shape) || shape.Why != fetch.NotModified {
		t.Errorf("a 304 without an ETag: %v", err)
	}
}

func TestPackedBodiesAreUnpacked(t *testing.T) {
	text := `{"a":"` + strings.Repeat("b", 10_000) + `"}`
	h, _ := host(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, text)
		_ = z.Close()
	}, func(o *fetch.Options) { o.MaxBody = 10_008 })
	a, err := get(t, h)
	if err != nil || string(a.Body) != text {
		t.Fatalf("%d bytes: %v", len(a.Body), err)
	}
	if s := h.Stats(); s.Bytes <= 0 || s.Bytes > 1000 || s.Requests[200] != 1 || s.State != fetch.Ready {
		t.Errorf("%+v", s)
	}
}

// TestRoomIsUsed for a body that fits into it, compressed or not; a longer body is not truncated.
func TestRoomIsUsed(t *testing.T) {
	text := `"` + strings.Repeat("a", 3000) + `"`
	h, _ := host(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/plain" {
			say(w, http.StatusOK, text)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/zstd" {
			w.Header().Set("Content-Encoding", "zstd")
			_, _ = w.Write(zstdPacked(text, 1<<20))
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, text)
		_ = z.Close()
	})
	for _, path := range []string{"/plain", "/packed", "/zstd", "/packed", "/zstd"} {
		for _, size := range []int{0, 100, 8192} {
			room := make([]byte, size)
			a, err := h.Do(t.Context(), fetch.Request{Path: path, Room: room})
			if err != nil || string(a.Body) != text {
				t.Fatalf("%s in %d bytes: %q, %v", path, size, a.Body, err)
			}
			if used := size > 0 && &a.Body[0] == &room[0]; used != (size == 8192) {
				t.Errorf("%s: room of %d bytes, used: %v", path, size, used)
			}
		}
	}
}

// TestBudgetIsKept: with a budget of 2 a second and a burst of 3, five requests wait for 0, 0, 0,
// 0.5 and 0.5 seconds.
func TestBudgetIsKept(t *testing.T) {
	h, c := host(t, func(w http.ResponseWriter, r *http.Request) { say(w, http.StatusOK, `{}`) },
		func(o *fetch.Options) { o.Budget = fetch.Budget{PerSecond: 2, Burst: 3} })
	for range 5 {
		if _, err := get(t, h); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]time.Duration{500 * time.Millisecond, 500 * time.Millisecond}, c.waits()); diff != "" {
		t.Error(diff)
	}
	if s := h.Stats(); s.Paced != time.Second || s.Throttled != 0 || s.Requests[200] != 5 || s.Retries != 0 {
		t.Errorf("%+v", s)
	}
}

func TestNoMoreThanAllowedAreInFlight(t *testing.T) {
	var now, most atomic.Int64
	h, _ := host(t, func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		for i := 0; i == 0 || most.Load() < 2 && i < 6_000; i++ { // the second comes eventually
			time.Sleep(5 * time.Millisecond)
		}
		now.Add(-1)
		say(w, http.StatusOK, `{}`)
	}, func(o *fetch.Options) { o.Budget.InFlight = 2 })
	done := make(chan error)
	for range 8 {
		go func() {
			_, err := h.Do(t.Context(), fetch.Request{})
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if most.Load() != 2 {
		t.Errorf("%d were in flight", most.Load())
	}
}
