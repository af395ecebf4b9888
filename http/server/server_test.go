package server_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
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

// rig is a server with its stand-ins. stop ends it and gives what Serve gave.
type rig struct {
	*server.Server
	key      string
	log, req *buffer
	stop     func() error
}

// moody is a source that can be made to panic or to wait.
type moody struct {
	*apitest.Source
	onFreshness func()
}

func (m *moody) Freshness() serving.Freshness {
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
	a, err := api.New(api.Config{Source: source, Gate: gate, Version: "v1", Now: time.Now})
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

// serve builds a server over 60 rows and runs it until the test is over or stop.
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

// ask sends one request over its own connection.
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

const board = wire.Base + "/leaderboard/traders"

func TestHeadIsGetWithoutBody(t *testing.T) {
	r := serve(t, nil, nil)
	for _, path := range []string{"/health", "/leaderboard/traders", "/trader/" + apitest.Wallet(1).String() + "/stats", "/nowhere"} {
		get, body := ask(t, http.DefaultClient, "GET", r.URL()+wire.Base+path, wire.KeyHeader+": "+r.key, "Accept-Encoding: identity")
		head, none := ask(t, http.DefaultClient, "HEAD", r.URL()+wire.Base+path, wire.KeyHeader+": "+r.key, "Accept-Encoding: identity")
		if head.StatusCode != get.StatusCode || none != "" || head.ContentLength != int64(len(body)) || head.Header.Get("ETag") != get.Header.Get("ETag") || head.Header.Get("Content-Type") != get.Header.Get("Content-Type") {
			t.Errorf("%s: %v %q", path, head.Header, none)
		}
	}
	get, _ := ask(t, http.DefaultClient, "GET", r.URL()+board, wire.KeyHeader+": "+r.key)
	not, body := ask(t, http.DefaultClient, "GET", r.URL()+board, wire.KeyHeader+": "+r.key, "If-None-Match: "+get.Header.Get("ETag"))
	if not.StatusCode != 304 || body != "" || not.Header.Get("Content-Type") != "" || not.Header.Get("ETag") == "" {
		t.Errorf("304: %v %q", not.Header, body)
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
		go func() { _, _ = io.WriteString(conn, text) }() // the server may hang up first
		head := make([]byte, 4096)
		n, _ := conn.Read(head)
		_ = conn.Close()
		got := string(head[:n])
		if !strings.HasPrefix(got, "HTTP/1.1 "+status) || !strings.Contains(got, `"code":"`+code+`"`) || !strings.Contains(got, wire.ProblemType) || !strings.Contains(got, "X-Request-Id") {
			t.Errorf("%s: %s", want, got)
		}
	}
}

func TestAPanicIsA500ThatTellsNothing(t *testing.T) {
	source := &moody{Source: apitest.NewSource(apitest.Snapshot(1, 1, 1)), onFreshness: func() { panic("secret detail") }}
	r := serve(t, source, nil)
	res, body := ask(t, http.DefaultClient, "GET", r.URL()+board, wire.KeyHeader+": "+r.key, "X-Request-ID: find-me")
	var p wire.Problem
	if err := json.Unmarshal([]byte(body), &p); err != nil || res.StatusCode != 500 || p.Code != "internal" || p.Instance != "find-me" || strings.Contains(body, "secret") || res.Header.Get("ETag") != "" {
		t.Errorf("%d %s %v", res.StatusCode, body, err)
	}
	if log := r.log.String(); !strings.Contains(log, "find-me") || !strings.Contains(log, "secret detail") || !strings.Contains(log, "moody") {
		t.Errorf("log: %s", log)
	}
}

func TestRequestLogHasOneLineEachAndNoSecrets(t *testing.T) {
	r := serve(t, nil, nil)
	wallet := apitest.Wallet(1).String()
	ask(t, http.DefaultClient, "GET", r.URL()+wire.Base+"/trader/"+wallet+"/stats", wire.KeyHeader+": "+r.key, "X-Request-ID: one")
	ask(t, http.DefaultClient, "GET", r.URL()+board+"?limit=0", wire.KeyHeader+": "+r.key)
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
	for key, want := range map[string]any{"request_id": "one", "route": "/trader/{address}/stats", "status": 200.0, "plan": "alpha", "client": "127.0.0.0/24", "method": "GET", "level": "info"} {
		if lines[0][key] != want {
			t.Errorf("%s is %v, want %v", key, lines[0][key], want)
		}
	}
	if lines[1]["code"] != "invalid_parameter" || lines[2]["status"] != 404.0 || lines[2]["key_id"] != nil {
		t.Errorf("%v", lines[1:])
	}
}

func TestMetricsCountPerRoute(t *testing.T) {
	r := serve(t, nil, nil)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(r.Collector())
	for range 3 {
		ask(t, http.DefaultClient, "GET", r.URL()+board, wire.KeyHeader+": "+r.key)
	}
	ask(t, http.DefaultClient, "GET", r.URL()+"/elsewhere")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
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
	for name, want := range map[string]float64{
		"pmx_http_published_epoch": 1, "pmx_http_requests_total /leaderboard/traders 200": 3, "pmx_http_requests_total none 404": 1,
		"pmx_http_request_duration_seconds /leaderboard/traders": 3, "pmx_http_request_duration_seconds /health": 0,
	} {
		if value, ok := got[name]; !ok || value != want {
			t.Errorf("%s is %v, want %v; there are %v", name, value, want, got)
		}
	}
}

// A request under way when the server is told to stop gets its answer.
func TestDrain(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	source := &moody{Source: apitest.NewSource(apitest.Snapshot(1, 1, 1)), onFreshness: func() {
		once.Do(func() { close(entered) })
		<-release
	}}
	r := serve(t, source, nil)
	answer := make(chan int, 1)
	go func() {
		res, _ := ask(t, http.DefaultClient, "GET", r.URL()+board, wire.KeyHeader+": "+r.key)
		answer <- res.StatusCode
	}()
	<-entered
	stopped := make(chan error, 1)
	go func() { stopped <- r.stop() }()
	select {
	case err := <-stopped:
		t.Errorf("stopped with a request under way: %v", err)
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

func TestDrainGivesUpAfterItsDeadline(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	source := &moody{Source: apitest.NewSource(apitest.Snapshot(1, 1, 1)), onFreshness: func() {
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
		ask(t, http.DefaultClient, "GET", r.URL()+board, wire.KeyHeader+": "+r.key)
	}()
	<-entered
	cancel()
	if err := <-done; err == nil || !strings.Contains(err.Error(), "still under way after 20ms") {
		t.Errorf("got %v", err)
	}
	close(release)
	<-answered
}

// certificate writes a self-signed certificate for 127.0.0.1.
func certificate(t *testing.T) (certFile, keyFile string, pool *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "pmx.test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for name, text := range map[string][]byte{certFile: certPEM, keyFile: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(certPEM)
	return certFile, keyFile, pool
}

func TestTLS(t *testing.T) {
	certFile, keyFile, pool := certificate(t)
	r := serve(t, nil, func(c *server.Config) { c.TLSCert, c.TLSKey = certFile, keyFile })
	client := func(most uint16) *http.Client {
		return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MaxVersion: most}}}
	}
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		res, _ := ask(t, client(version), "GET", r.URL()+wire.Base+"/health")
		if res.StatusCode != 200 || res.TLS.Version != version || res.Header.Get("Strict-Transport-Security") == "" || res.Proto != "HTTP/1.1" {
			t.Errorf("%x: %d %v", version, res.StatusCode, res.Header)
		}
	}
	old := client(tls.VersionTLS11)
	old.Transport.(*http.Transport).TLSClientConfig.MinVersion = tls.VersionTLS10
	if res, err := old.Get(r.URL() + wire.Base + "/health"); err == nil {
		_ = res.Body.Close()
		t.Error("TLS 1.1 was accepted")
	}
}

func TestUnsafeListenersAreRefusedAtStart(t *testing.T) {
	certFile, keyFile, _ := certificate(t)
	anyone := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	cases := []struct {
		name   string
		change func(*server.Config)
		want   string // part of the error; "" is fine
	}{
		{"plain on all addresses", func(c *server.Config) { c.Listen = "0.0.0.0:0" }, "--trusted-proxy"},
		{"plain on no address", func(c *server.Config) { c.Listen = ":0" }, "in the clear"},
		{"plain on another", func(c *server.Config) { c.Listen = "192.0.2.1:80" }, "--tls-cert"},
		{"plain behind a proxy", func(c *server.Config) { c.Listen, c.TrustedProxy = "0.0.0.0:0", anyone }, ""},
		{"TLS on all addresses", func(c *server.Config) { c.Listen, c.TLSCert, c.TLSKey = "0.0.0.0:0", certFile, keyFile }, ""},
		{"loopback", func(c *server.Config) { c.Listen = "localhost:0" }, ""},
		{"IPv6 loopback by name", func(c *server.Config) { c.Listen = "127.9.9.9:0" }, ""},
		{"no port", func(c *server.Config) { c.Listen = "127.0.0.1" }, "HOST:PORT"},
		{"half of TLS", func(c *server.Config) { c.TLSCert = certFile }, "both"},
		{"no certificate", func(c *server.Config) { c.TLSCert, c.TLSKey = keyFile, keyFile }, "read TLS certificate"},
	}
	for _, c := range cases {
		r, err := build(t, apitest.NewSource(nil), func(cfg *server.Config) { cfg.RequestLog = nil; c.change(cfg) })
		if err == nil {
			err = r.Close()
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestForwardedHeadersCountFromTheProxyOnly(t *testing.T) {
	r, err := build(t, apitest.NewSource(apitest.Snapshot(1, 1, 1)), func(c *server.Config) {
		c.Listen, c.TrustedProxy = "127.0.0.1:0", []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	})
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name, from string
		headers    []string
		status     int
		hsts       bool
		client     string
	}{
		{"proxy over https", "10.0.0.1", []string{"X-Forwarded-Proto: https", "X-Forwarded-For: 198.51.100.7"}, 200, true, "198.51.100.0/24"},
		{"proxy over http", "10.0.0.1", []string{"X-Forwarded-Proto: http", "X-Forwarded-For: 198.51.100.7"}, 403, false, "198.51.100.0/24"},
		{"proxy that does not say", "10.0.0.1", nil, 403, false, "10.0.0.0/24"},
		{"made-up left part", "10.0.0.1", []string{"X-Forwarded-Proto: https", "X-Forwarded-For: 1.2.3.4, 198.51.100.7, 10.9.9.9"}, 200, true, "198.51.100.0/24"},
		{"two lines", "10.0.0.1", []string{"X-Forwarded-Proto: https", "X-Forwarded-For: 1.2.3.4", "X-Forwarded-For: 198.51.100.7:99"}, 200, true, "198.51.100.0/24"},
		{"IPv6 client", "10.0.0.1", []string{"X-Forwarded-Proto: https", "X-Forwarded-For: 2001:db8:1:2::3"}, 200, true, "2001:db8:1::/48"},
		{"garbage", "10.0.0.1", []string{"X-Forwarded-Proto: https", "X-Forwarded-For: nobody"}, 200, true, "10.0.0.0/24"},
		{"stranger who claims https", "203.0.113.5", []string{"X-Forwarded-Proto: https", "X-Forwarded-For: 198.51.100.7"}, 403, false, "203.0.113.0/24"},
		{"someone on this machine", "127.0.0.1", []string{"X-Forwarded-For: 198.51.100.7"}, 200, false, "127.0.0.0/24"},
	}
	for _, c := range cases {
		req := &fasthttp.Request{}
		req.SetRequestURI(wire.Base + "/health")
		for _, h := range append(c.headers, "X-Request-ID: "+strings.ReplaceAll(c.name, " ", "-")) {
			name, value, _ := strings.Cut(h, ": ")
			req.Header.Add(name, value)
		}
		res := apitest.Do(r.Handler(), req, &net.TCPAddr{IP: net.ParseIP(c.from), Port: 1})
		if res.StatusCode() != c.status || len(res.Header.Peek("Strict-Transport-Security")) > 0 != c.hsts {
			t.Errorf("%s: %d %s", c.name, res.StatusCode(), res.Header.String())
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		found := false
		for l := range strings.Lines(r.req.String()) {
			found = found || strings.Contains(l, `"`+strings.ReplaceAll(c.name, " ", "-")+`"`) && strings.Contains(l, `"client":"`+c.client+`"`)
		}
		if !found {
			t.Errorf("%s: not logged as %s: %s", c.name, c.client, r.req.String())
		}
	}
}
