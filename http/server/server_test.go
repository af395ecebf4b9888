package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"github.com/valyala/fasthttp"
	"go.uber.org/goleak"

	"pmx/http/access"
	"pmx/http/api"
	"pmx/http/api/apitest"
	"pmx/http/server"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// Started by fasthttp for the Date header and by its listeners; both outlive their server.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
	)
}

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// rig is a server with its fakes. stop stops it and returns the result of Serve.
type rig struct {
	*server.Server
	key      string
	log, req *buffer
	stop     func() error
}

// unreliable is a source that can be made to panic or to wait.
type unreliable struct {
	*apitest.Source
	onFreshness func()
}

func (m *unreliable) Freshness() serving.Freshness {
	if m.onFreshness != nil {
		m.onFreshness()
	}
	return m.Source.Freshness()
}

func build(t *testing.T, source api.Source, change func(*server.Config)) (*rig, error) {
	t.Helper()
	store := &apitest.Store{}
	r := &rig{key: store.Issue(access.Alpha, 1), log: &buffer{}, req: &buffer{}}
	gate, err := access.NewGate(t.Context(), store, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	a, err := api.New(api.Config{Source: source, Gate: gate, Version: "v1", CursorKey: make([]byte, 32), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	cfg := server.Config{API: a, Listen: "127.0.0.1:0", Log: zerolog.New(r.log), RequestLog: r.req}
	if change != nil {
		change(&cfg)
	}
	r.Server, err = server.New(cfg)
	return r, err
}

// serve runs a server with 60 rows until the end of the test or stop.
func serve(t *testing.T, source api.Source, change func(*server.Config)) *rig {
	t.Helper()
	if source == nil {
		source = apitest.NewSource(apitest.Snapshot(1, 10, 60))
	}
	r, err := build(t, source, change)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Serve(ctx) }()
	r.stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// ask sends one request over a new connection.
func ask(t *testing.T, client *http.Client, method, url string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

const leaderboard = wire.Base + "/leaderboard/traders"

func TestHeadIsGetWithoutBody(t *testing.T) {
	r := serve(t, nil, nil)
	for _, path := range []string{"/health", "/leaderboard/traders", "/trader/" + apitest.Wallet(1).String() + "/stats", "/nowhere"} {
		get, body := ask(t, http.DefaultClient, "GET", r.URL()+wire.Base+path, wire.KeyHeader+": "+r.key, "Accept-Encoding: identity")
		head, none := ask(t, http.DefaultClient, "HEAD", r.URL()+wire.Base+path, wire.KeyHeader+": "+r.key, "Accept-Encoding: identity")
		if head.StatusCode != get.StatusCode || none != "" || head.ContentLength != int64(len(body)) || head.Header.Get("ETag") != get.Header.Get("ETag") || head.Header.Get("Content-Type") != get.Header.Get("Content-Type") {
			t.Errorf("%s: head.Header = %v, none = %q", path, head.Header, none)
		}
	}
	get, _ := ask(t, http.DefaultClient, "GET", r.URL()+leaderboard, wire.KeyHeader+": "+r.key)
	not, body := ask(t, http.DefaultClient, "GET", r.URL()+leaderboard, wire.KeyHeader+": "+r.key, "If-None-Match: "+get.Header.Get("ETag"))
	if not.StatusCode != 304 || body != "" || not.Header.Get("Content-Type") != "" || not.Header.Get("ETag") == "" {
		t.Errorf("not.Header = %v, body = %q", not.Header, body)
	}
}

// Responses of every length arrive whole over one connection, whether they are requested one after another or several at once: those
// that fit the buffer, those that do not, and those that are a few bytes shorter or longer than it.
func TestResponsesOfEveryLengthArrive(t *testing.T) {
	r := serve(t, apitest.NewSource(apitest.Snapshot(1, 10, 200)), nil)
	want := r.Handler()
	c, some := connect(t, r.Addr().String()), 0
	var asked []string
	answered := func() {
		t.Helper()
		for _, request := range asked {
			res, err := http.ReadResponse(c.in, nil)
			if err != nil {
				t.Fatalf("%s: %v", request, err)
			}
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatalf("%s: %v", request, err)
			}
			var req fasthttp.Request
			if err := req.Read(bufio.NewReader(strings.NewReader(request))); err != nil {
				t.Fatal(err)
			}
			if is := apitest.Do(want, &req, nil); res.StatusCode != 200 || !bytes.Equal(body, is.Body()) || len(body) == 0 {
				t.Fatalf("%s: status %d, %d bytes, want %d", request, res.StatusCode, len(body), len(is.Body()))
			}
			if len(body) > 3_500 && len(body) < 4_200 {
				some++
			}
		}
		asked = asked[:0]
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 1500 {
		rows := 1 + i%200
		if i > 600 { // bodies of about the length of the buffer
			rows = 6 + i%4
		}
		request := fmt.Sprintf("GET %s?limit=%d HTTP/1.1\r\nHost: x\r\n%s: %s\r\nX-Request-ID: %s\r\n\r\n", leaderboard, rows, wire.KeyHeader, r.key, strings.Repeat("i", 1+i%128))
		if _, err := io.WriteString(c, request); err != nil {
			t.Fatal(err)
		}
		if asked = append(asked, request); random.IntN(3) > 0 || len(asked) > 8 {
			answered()
		}
	}
	answered()
	if some < 200 {
		t.Errorf("only %d responses are about as long as the buffer", some)
	}
}

// Responses to requests that came together arrive whole before the connection is closed, though the last two are longer than the buffer,
// and the end of the last one fills it exactly.
func TestResponsesBeforeACloseArrive(t *testing.T) {
	r := serve(t, apitest.NewSource(apitest.Snapshot(1, 10, 200)), nil)
	send := func(text string) []byte {
		t.Helper()
		c := connect(t, r.Addr().String())
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
		all, err := io.ReadAll(c)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	ask := func(method string, rows, id int, last string) string {
		return fmt.Sprintf("%s %s?limit=%d HTTP/1.1\r\nHost: x\r\n%s: %s\r\nX-Request-ID: %s\r\n%s\r\n", method, leaderboard, rows, wire.KeyHeader, r.key, strings.Repeat("i", id), last)
	}
	const closing, all = "Connection: close\r\n", 3 * 4096
	together := func(rows int, ids []int) string {
		return ask("HEAD", 1, 1+ids[0], "") + ask("HEAD", 1, 1+ids[1], "") + ask("GET", rows, 1+ids[2], "") + ask("GET", 18-rows, 1+ids[3], closing)
	}
	tried := 0
	for rows := 8; rows < 11; rows++ { // of the first list
		missing := all - len(send(together(rows, []int{0, 0, 0, 0})))
		if missing < 0 || missing > 4*127 {
			continue
		}
		tried++
		ids := []int{missing / 4, (missing + 1) / 4, (missing + 2) / 4, (missing + 3) / 4} // the longer an id is, the longer the response
		if got := send(together(rows, ids)); len(got) != all {
			t.Errorf("with %d rows in the first list, %d bytes arrived of %d", rows, len(got), all)
		}
	}
	if tried == 0 {
		t.Error("no responses are of this length")
	}
}

func TestOversizedAndMalformedRequestsGetProblems(t *testing.T) {
	r := serve(t, nil, nil)
	send := map[string]string{
		"413 body_too_large":     "POST /api/v3/health HTTP/1.1\r\nHost: x\r\nContent-Length: 70000\r\n\r\n" + strings.Repeat("x", 70000),
		"431 headers_too_large":  "GET /api/v3/health HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("x", 20000) + "\r\n\r\n",
		"400 invalid_request":    "GET\r\n\r\n",
		"405 method_not_allowed": "BREW /api/v3/health HTTP/1.1\r\nHost: x\r\n\r\n",
	}
	for want, text := range send {
		status, code, _ := strings.Cut(want, " ")
		conn, err := net.Dial("tcp", r.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = io.WriteString(conn, text) }() // the server may close the connection first
		head := make([]byte, 4096)
		n, _ := conn.Read(head)
		_ = conn.Close()
		got := string(head[:n])
		if !strings.HasPrefix(got, "HTTP/1.1 "+status) || !strings.Contains(got, `"code":"`+code+`"`) || !strings.Contains(got, wire.ProblemType) || !strings.Contains(got, "X-Request-Id") {
			t.Errorf("%s: got %s", want, got)
		}
	}
}

// A request that is refused only because of its body counts for its key: the refusal says the plan
// and what is left of the limit.
func TestARefusedBodyCountsForItsKey(t *testing.T) {
	r := serve(t, nil, nil)
	for want, key := range map[string]string{"alpha": r.key, "": "pmx_" + strings.Repeat("A", 43)} {
		last := ""
		for range 2 {
			conn, err := net.Dial("tcp", r.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			// Only the headers are sent: the length is enough.
			if _, err := io.WriteString(conn, "POST /api/v3/research/export-jobs HTTP/1.1\r\nHost: x\r\nX-API-Key: "+key+"\r\nContent-Length: 70000\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			var p wire.Problem
			if err := json.NewDecoder(res.Body).Decode(&p); err != nil || res.StatusCode != 413 || p.Code != "body_too_large" {
				t.Fatalf("status = %d, p = %+v, err = %v", res.StatusCode, p, err)
			}
			plan, left := "", res.Header.Get("X-RateLimit-Remaining")
			if p.Plan != nil {
				plan = *p.Plan
			}
			if plan != want || (left == "") != (want == "") || want != "" && left == last {
				t.Errorf("plan %q, want %q; %s left after %s; %v", plan, want, left, last, res.Header)
			}
			last = left
		}
	}
}

func TestAPanicIsA500WithoutDetails(t *testing.T) {
	source := &unreliable{Source: apitest.NewSource(apitest.Snapshot(1, 1, 1)), onFreshness: func() { panic("secret detail") }}
	r := serve(t, source, nil)
	res, body := ask(t, http.DefaultClient, "GET", r.URL()+leaderboard, wire.KeyHeader+": "+r.key, "X-Request-ID: find-me")
	var p wire.Problem
	if err := json.Unmarshal([]byte(body), &p); err != nil || res.StatusCode != 500 || p.Code != "internal" || p.Instance != "find-me" || strings.Contains(body, "secret") || res.Header.Get("ETag") != "" {
		t.Errorf("status = %d, body = %s, err = %v", res.StatusCode, body, err)
	}
	if log := r.log.String(); !strings.Contains(log, "find-me") || !strings.Contains(log, "secret detail") || !strings.Contains(log, "unreliable") {
		t.Errorf("log: %s", log)
	}
}

func TestRequestLogHasOneLineEachAndNoSecrets(t *testing.T) {
	r := serve(t, nil, nil)
	wallet := apitest.Wallet(1).String()
	ask(t, http.DefaultClient, "GET", r.URL()+wire.Base+"/trader/"+wallet+"/stats", wire.KeyHeader+": "+r.key, "X-Request-ID: one")
	ask(t, http.DefaultClient, "GET", r.URL()+leaderboard+"?limit=0", wire.KeyHeader+": "+r.key)
	ask(t, http.DefaultClient, "GET", r.URL()+"/elsewhere")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	text := r.req.String()
	if strings.Contains(text, r.key) || strings.Contains(text, wallet) || strings.Contains(text, "127.0.0.1") {
		t.Errorf("secrets in the log: %s", text)
	}
	var lines []map[string]any
	for l := range strings.Lines(text) {
		var m map[string]any
		if err := json.Unmarshal([]byte(l), &m); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		lines = append(lines, m)
	}
	if len(lines) != 3 {
		t.Fatalf("%d lines: %s", len(lines), text)
	}
	for key, want := range map[string]any{"request_id": "one", "route": "/trader/{address}/stats", "status": 200.0, "plan": "alpha", "client": "127.0.0.0/24", "method": "GET", "level": "info", "message": "request"} {
		if lines[0][key] != want {
			t.Errorf("%s is %v, want %v", key, lines[0][key], want)
		}
	}
	if at, err := time.Parse("2006-01-02T15:04:05.000Z", fmt.Sprint(lines[0]["time"])); err != nil || time.Since(at).Abs() > time.Minute {
		t.Errorf("time %v: %v", lines[0]["time"], err)
	}
	if lines[1]["code"] != "invalid_parameter" || lines[2]["status"] != 404.0 || lines[2]["key_id"] != nil {
		t.Errorf("%v", lines[1:])
	}
}

// gathered returns the values of metrics by name and labels; for a histogram, its count.
func gathered(t *testing.T, from prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := family.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			got[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return got
}

func TestMetricsCountPerRoute(t *testing.T) {
	r := serve(t, nil, nil)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(r.Collector())
	for range 3 {
		ask(t, http.DefaultClient, "GET", r.URL()+leaderboard, wire.KeyHeader+": "+r.key)
	}
	ask(t, http.DefaultClient, "GET", r.URL()+"/elsewhere")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	got := gathered(t, registry)
	for name, want := range map[string]float64{
		"pmx_http_published_epoch": 1, "pmx_http_requests_total GET /leaderboard/traders 200": 3, "pmx_http_requests_total  none 404": 1,
		"pmx_http_request_duration_seconds GET /leaderboard/traders": 3, "pmx_http_request_duration_seconds GET /health": 0,
	} {
		if value, ok := got[name]; !ok || value != want {
			t.Errorf("%s is %v, want %v; there are %v", name, value, want, got)
		}
	}
}

// A request that is running when the server is asked to stop gets its response.
func TestDrain(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	source := &unreliable{Source: apitest.NewSource(apitest.Snapshot(1, 1, 1)), onFreshness: func() {
		once.Do(func() { close(entered) })
		<-release
	}}
	r := serve(t, source, nil)
	answer := make(chan int, 1)
	go func() {
		res, _ := ask(t, http.DefaultClient, "GET", r.URL()+leaderboard, wire.KeyHeader+": "+r.key)
		answer <- res.StatusCode
	}()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- r.stop() }()
	select {
	case err := <-stopped:
		t.Errorf("stopped with a running request: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(release)
	if status := <-answer; status != 200 {
		t.Errorf("status %d", status)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestStoppedBeforeItStarted(t *testing.T) {
	r, err := build(t, apitest.NewSource(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Serve(ctx); err != nil {
		t.Error(err)
	}
	if conn, err := net.Dial("tcp", r.Addr().String()); err == nil {
		_ = conn.Close()
		t.Error("the listener is still open")
	}
}

func TestDrainGivesUpAfterItsDeadline(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	source := &unreliable{Source: apitest.NewSource(apitest.Snapshot(1, 1, 1)), onFreshness: func() {
		once.Do(func() { close(entered) })
		<-release
	}}
	r, err := build(t, source, func(c *server.Config) { c.Drain = 20 * time.Millisecond })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done, answered := make(chan error, 1), make(chan struct{})
	go func() { done <- r.Serve(ctx) }()
	go func() {
		defer close(answered)
		ask(t, http.DefaultClient, "GET", r.URL()+leaderboard, wire.KeyHeader+": "+r.key)
	}()
	<-entered
	cancel()
	if err := <-done; err == nil || !strings.Contains(err.Error(), "still running after 20ms") {
		t.Errorf("got %v", err)
	}
	close(release)
	<-answered
}
