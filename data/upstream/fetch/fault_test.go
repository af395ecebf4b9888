package fetch_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"pmx/data/upstream/fetch"
)

// after returns a handler that responds with the faults in turn, then with {"ok":1}.
func after(asked *atomic.Int64, faults ...http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		n := int(asked.Add(1))
		if n <= len(faults) {
			faults[n-1](w, r)
			return
		}
		say(w, http.StatusOK, `{"ok":1}`)
	}
}

// raw responds with text and closes the connection, with a RST if reset is set.
func raw(t *testing.T, text string, reset bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, text)
		if reset {
			_ = conn.(*net.TCPConn).SetLinger(0)
		}
		_ = conn.Close()
	}
}

func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		say(w, code, `{"type":"internal error"}`)
	}
}

func packed(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.Bytes()
}

// zstdPacked compresses text with a window of so many bytes.
func zstdPacked(text string, window int) []byte {
	z, err := zstd.NewWriter(nil, zstd.WithWindowSize(window))
	if err != nil {
		panic(err)
	}
	var b bytes.Buffer // with an unknown size, or the window would be reduced to it
	z.Reset(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.Bytes()
}

func gzipped(body []byte, length int) http.HandlerFunc { return encoded("gzip", body, length) }

func encoded(as string, body []byte, length int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", as)
		w.Header().Set("Content-Length", fmt.Sprint(length))
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	}
}

// slowly writes a byte of a long body every few milliseconds, or none after the first.
func slowly(all bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for {
			_, _ = io.WriteString(w, "[")
			w.(http.Flusher).Flush()
			for wait := true; wait; wait = !all {
				select {
				case <-r.Context().Done():
					return
				case <-time.After(5 * time.Millisecond):
				}
			}
		}
	}
}

func hangs(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// TestWhatMayPassIsAskedAgain: after each fault, the request is repeated and answered.
func TestWhatMayPassIsAskedAgain(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	whole := packed(`{"ok":1,"text":"` + strings.Repeat("abcdefgh", 100) + `"}`)
	broken := bytes.Clone(whole)
	broken[len(broken)-6] ^= 0xff // of its checksum
	zwhole := zstdPacked(`{"ok":1,"text":"`+strings.Repeat("abcdefgh", 100)+`"}`, 1<<20)
	zbroken := bytes.Clone(zwhole)
	zbroken[len(zbroken)-1] ^= 0xff // of its checksum
	wide := zstdPacked(`{"ok":1,"text":"`+strings.Repeat("abcdefgh", 1<<21)+`"}`, 16<<20)
	for name, fault := range map[string]struct {
		f    http.HandlerFunc
		want string
	}{
		"408":                       {status(408), "status 408"},
		"499":                       {status(499), "status 499"},
		"500":                       {status(500), `status 500: {"type":"internal error"}`},
		"502":                       {status(502), "status 502"},
		"503":                       {status(503), "status 503"},
		"504":                       {status(504), "status 504"},
		"520 of a proxy":            {status(520), "status 520"},
		"closed without an answer":  {raw(t, "", false), "EOF"},
		"reset before the answer":   {raw(t, "", true), "reset"},
		"reset in the body":         {raw(t, head+"Content-Length: 100\r\n\r\n{\"a\":", true), ""},
		"no HTTP":                   {raw(t, "SSH-2.0\r\n\r\n", false), "malformed HTTP"},
		"shorter than its length":   {raw(t, head+"Content-Length: 100\r\n\r\n{\"ok\":1}", false), "a part of a body"},
		"chunks without an end":     {raw(t, head+"Transfer-Encoding: chunked\r\n\r\n8\r\n{\"ok\":1}\r\n", false), "a part of a body"},
		"longer than its length":    {raw(t, head+"Content-Length: 7\r\n\r\n{\"ok\":1}", false), "a part of a body"},
		"truncated JSON, no length": {raw(t, head+"\r\n{\"ok\":", false), "a part of a body"},
		"truncated gzip":            {gzipped(whole[:len(whole)/2], len(whole)/2), "a part of a body"},
		"gzip shorter than said":    {raw(t, head+"Content-Encoding: gzip\r\nContent-Length: 9999\r\n\r\n"+string(whole), false), "a part of a body"},
		"gzip of a wrong checksum":  {gzipped(broken, len(broken)), "cannot be unpacked"},
		"no gzip":                   {gzipped([]byte(`{"ok":1} and more`), 17), "cannot be unpacked"},
		"gzip of nothing":           {gzipped(nil, 0), "a part of a body"},
		"truncated zstd":            {encoded("zstd", zwhole[:len(zwhole)/2], len(zwhole)/2), "a part of a body"},
		"zstd of a wrong checksum":  {encoded("zstd", zbroken, len(zbroken)), "cannot be unpacked"},
		"zstd of a wide window":     {encoded("zstd", wide, len(wide)), "cannot be unpacked"},
		"no zstd":                   {encoded("zstd", []byte(`{"ok":1} and more`), 17), "cannot be unpacked"},
		"zstd of nothing":           {encoded("zstd", nil, 0), "no body"},
		"another encoding": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			say(w, 200, `{"ok":1}`)
		}, "content encoding"},
		"no body":    {func(w http.ResponseWriter, _ *http.Request) { say(w, 200, "") }, "no body"},
		"only space": {func(w http.ResponseWriter, _ *http.Request) { say(w, 200, " \n") }, "no body"},
		"plain text": {func(w http.ResponseWriter, _ *http.Request) { say(w, 200, "upstream connect error") }, "no JSON"},
		"an image": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "image/png")
			_, _ = io.WriteString(w, "{}")
		}, "content type"},
		"stalls before the response": {hangs, "the response stalled"},
		"stalls in the body":         {slowly(false), "the response stalled"},
		"a body that drips":          {slowly(true), "too long"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			quick := func(o *fetch.Options) {
				if strings.HasPrefix(name, "stalls") {
					o.Stall = time.Second // the answer that follows has to come within it, on a busy machine too
				}
				if strings.HasPrefix(name, "a body that drips") {
					o.Timeout = time.Second
				}
			}
			h, c := host(t, after(&asked, fault.f, fault.f), quick)
			_, err := h.Do(t.Context(), fetch.Request{Path: "/x", NoRetry: true})
			if err == nil || !strings.Contains(err.Error(), fault.want) || !strings.HasPrefix(err.Error(), "source: GET /x of http://127.0.0.1:") {
				t.Errorf("%v", err)
			}
			if s := h.Stats(); s.State != fetch.Retrying || s.LastError == "" || !s.LastSuccess.IsZero() {
				t.Errorf("%+v", s)
			}
			a, err := get(t, h)
			if err != nil || string(a.Body) != `{"ok":1}` || asked.Load() != 3 {
				t.Errorf("asked %d times: %+v %v", asked.Load(), a, err)
			}
			if diff := cmp.Diff([]time.Duration{500 * time.Millisecond}, c.waits()); diff != "" {
				t.Error(diff)
			}
			if s := h.Stats(); s.State != fetch.Ready || s.Retries != 1 || s.Requests[200] < 1 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestRefusalsAreNotAskedAgain: and they do not open the circuit, however many there are.
func TestRefusalsAreNotAskedAgain(t *testing.T) {
	for _, code := range []int{301, 307, 400, 401, 403, 404, 410, 413, 414, 422} {
		var asked atomic.Int64
		h, c := host(t, func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			w.Header().Set("Location", "https://elsewhere.example/secret")
			say(w, code, `{"error":"`+strings.Repeat("no\n", 1000)+`"}`)
		})
		for range 20 {
			_, err := get(t, h)
			var refused *fetch.StatusError
			if !errors.As(err, &refused) || refused.Code != code || len(refused.Body) > 1024 || strings.Contains(refused.Body, "\n") {
				t.Fatalf("%d: %v", code, err)
			}
		}
		if s := h.Stats(); asked.Load() != 20 || len(c.waits()) > 0 || s.State != fetch.Ready || s.Requests[code] != 20 {
			t.Errorf("%d: asked %d times, %+v", code, asked.Load(), s)
		}
	}
}

func TestRedirectsWithinTheHostAreFollowed(t *testing.T) {
	h, _ := host(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/x" {
			http.Redirect(w, r, "/y", http.StatusMovedPermanently)
			return
		}
		say(w, http.StatusOK, `{}`)
	})
	if _, err := get(t, h); err != nil {
		t.Error(err)
	}
	h, _ = host(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", http.StatusMovedPermanently) })
	var refused *fetch.StatusError
	if _, err := get(t, h); !errors.As(err, &refused) || refused.Code != 301 {
		t.Errorf("a loop: %v", err)
	}
}

// TestTooEarlyWaitsForAnEngineToRestart: it waits 30 to 120 seconds, and does not count a failure
// of the host.
func TestTooEarlyWaitsForAnEngineToRestart(t *testing.T) {
	for jitter, want := range map[float64]time.Duration{0: 30 * time.Second, 1: 120 * time.Second} {
		var asked atomic.Int64
		h, c := host(t, after(&asked, status(425)), func(o *fetch.Options) { o.Jitter = func() float64 { return jitter } })
		if _, err := get(t, h); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]time.Duration{want}, c.waits()); diff != "" {
			t.Error(diff)
		}
	}
}

// TestBackOffDoublesToACap: half a second, doubled with each retry.
func TestBackOffDoublesToACap(t *testing.T) {
	h, c := host(t, status(500))
	_, err := get(t, h)
	var failed *fetch.StatusError
	if !errors.As(err, &failed) || failed.Code != 500 {
		t.Fatal(err)
	}
	const half = 500 * time.Millisecond
	if diff := cmp.Diff([]time.Duration{half, 2 * half, 4 * half, 8 * half, 16 * half, 32 * half}, c.waits()); diff != "" {
		t.Error(diff)
	}
	h, c = host(t, status(500), func(o *fetch.Options) { o.Jitter = func() float64 { return 0.25 } })
	_, _ = get(t, h)
	if waits := c.waits(); len(waits) != 6 || waits[2] != half {
		t.Errorf("with little jitter %v", waits)
	}
}

func TestTooLargeIsNotAskedAgain(t *testing.T) {
	big := strings.Repeat(" ", 1000) + "{}"
	for name, f := range map[string]http.HandlerFunc{
		"with a length": func(w http.ResponseWriter, _ *http.Request) { say(w, 200, big) },
		"in chunks": func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			say(w, 200, big)
		},
		"unpacked": gzipped(packed(big), len(packed(big))),
		"of zstd":  encoded("zstd", zstdPacked(big, 1<<20), len(zstdPacked(big, 1<<20))),
	} {
		var asked atomic.Int64
		h, _ := host(t, func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			f(w, r)
		}, func(o *fetch.Options) { o.MaxBody = 1001 })
		if _, err := get(t, h); !errors.Is(err, fetch.ErrTooLarge) || asked.Load() != 1 {
			t.Errorf("%s: asked %d times: %v", name, asked.Load(), err)
		}
	}
}

// TestBodiesOfOtherKinds: bodies of requested types are accepted, and empty ones if the request
// allows them.
func TestBodiesOfOtherKinds(t *testing.T) {
	for name, c := range map[string]struct {
		kind, body string
		code       int
		r          fetch.Request
		ok         bool
	}{
		"JSON of another kind": {"application/geo+json", "{}", 200, fetch.Request{}, true},
		"JSON as text":         {"text/plain; charset=utf-8", " [1]\n", 200, fetch.Request{}, true},
		"a number":             {"application/json", "12", 200, fetch.Request{}, true},
		"nothing, said so":     {"", "", 204, fetch.Request{}, true},
		"nothing, allowed":     {"application/json", "", 200, fetch.Request{Empty: true}, true},
		"nothing":              {"application/json", "", 200, fetch.Request{}, false},
		"CSV":                  {"text/csv", "a,b\n", 200, fetch.Request{Accept: []string{"text/csv"}}, true},
		"any text":             {"text/csv", "a,b\n", 200, fetch.Request{Accept: []string{"text/*"}}, true},
		"anything":             {"x/y", "a,b\n", 200, fetch.Request{Accept: []string{"*/*"}}, true},
		"another":              {"text/csv", "a,b\n", 200, fetch.Request{Accept: []string{"text/plain"}}, false},
		"HTML instead of text": {"text/plain", "<html>", 200, fetch.Request{Accept: []string{"text/*"}}, false},
		"HTML as requested":    {"text/html", "<html>", 200, fetch.Request{Accept: []string{"text/html"}}, true},
	} {
		h, _ := host(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{c.kind}
			w.WriteHeader(c.code)
			_, _ = io.WriteString(w, c.body)
		})
		c.r.NoRetry = true
		a, err := h.Do(t.Context(), c.r)
		if (err == nil) != c.ok || c.ok && (string(a.Body) != c.body || a.Status != c.code) {
			t.Errorf("%s: %+v %v", name, a, err)
		}
	}
}

// TestErrorsThatAreAnswers: errors that a protocol puts into bodies are returned at once and
// completely, whatever the status.
func TestErrorsThatAreAnswers(t *testing.T) {
	long := `[{"error":"` + strings.Repeat("x", 5000) + `"}]`
	var asked atomic.Int64
	h, _ := host(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		say(w, 500, long)
	})
	a, err := h.Do(t.Context(), fetch.Request{Take: func(code int, body []byte) bool { return code == 500 && body[0] == '[' }})
	if err != nil || a.Status != 500 || string(a.Body) != long || asked.Load() != 1 {
		t.Errorf("%+v %v", a, err)
	}
	if _, err := h.Do(t.Context(), fetch.Request{Take: func(int, []byte) bool { return false }, NoRetry: true}); err == nil {
		t.Error("an error was read as a response")
	}
}

func TestNoHostNoAnswer(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	base := s.URL
	s.Close()
	h, _ := host(t, nil, func(o *fetch.Options) { o.Base = base })
	var lost *fetch.LostError
	if _, err := get(t, h); !errors.As(err, &lost) || lost.Timeout {
		t.Errorf("%v", err)
	}
	if s := h.Stats(); s.Requests[0] != 7 || s.Retries != 6 {
		t.Errorf("%+v", s)
	}
}

// TestTLSClosedInTheHandshake: some blocks look like this: the connection is accepted and then
// closed.
func TestTLSClosedInTheHandshake(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 64))
			_ = conn.(*net.TCPConn).SetLinger(0)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-ended })
	h, _ := host(t, nil, func(o *fetch.Options) { o.Base = "https://" + l.Addr().String() })
	var lost *fetch.LostError
	if _, err := h.Do(t.Context(), fetch.Request{NoRetry: true}); !errors.As(err, &lost) {
		t.Errorf("%v", err)
	}
}

func TestWhoAsksMayGiveUp(t *testing.T) {
	why := errors.New("the day is over")
	ctx, cancel := context.WithCancelCause(t.Context())
	h, _ := host(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel(why)
		<-r.Context().Done()
	})
	if _, err := h.Do(ctx, fetch.Request{}); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	if s := h.Stats(); s.State != fetch.Ready || s.LastError != "" {
		t.Errorf("%+v", s)
	}
}

// TestSlowBodyIsAwaited: a body that keeps coming has not stalled, however long it takes.
func TestSlowBodyIsAwaited(t *testing.T) {
	h, _ := host(t, func(w http.ResponseWriter, _ *http.Request) {
		for _, part := range strings.Split("[1,2,3,4,5,6,7,8,9,10]", "") {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, part)
			w.(http.Flusher).Flush()
			time.Sleep(100 * time.Millisecond)
		}
	}, func(o *fetch.Options) { o.Stall = 2 * time.Second })
	if _, err := h.Do(t.Context(), fetch.Request{NoRetry: true}); err != nil {
		t.Error(err)
	}
}
