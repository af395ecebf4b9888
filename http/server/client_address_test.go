package server_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/valyala/fasthttp"

	"pmx/http/access"
	"pmx/http/api"
	"pmx/http/api/apitest"
	"pmx/http/server"
	"pmx/http/wire"
)

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
			t.Errorf("%x: status = %d, res.Header = %v", version, res.StatusCode, res.Header)
		}
	}
	old := client(tls.VersionTLS11)
	old.Transport.(*http.Transport).TLSClientConfig.MinVersion = tls.VersionTLS10
	if res, err := old.Get(r.URL() + wire.Base + "/health"); err == nil {
		_ = res.Body.Close()
		t.Error("TLS 1.1 was accepted")
	}
}

// records counts the records of TLS that arrive on a connection.
type records struct {
	net.Conn
	head []byte // of the current record, five bytes or fewer
	left int    // bytes until the next one
	n    int
}

func (c *records) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	for rest := b[:n]; len(rest) > 0; {
		if c.left > 0 {
			part := min(c.left, len(rest))
			rest, c.left = rest[part:], c.left-part
			continue
		}
		c.head, rest = append(c.head, rest[0]), rest[1:]
		if len(c.head) == 5 {
			c.left, c.head = int(c.head[3])<<8|int(c.head[4]), c.head[:0]
			c.n++
		}
	}
	return n, err
}

// With TLS, a response is cut into records only by their length.
func TestATLSResponseOfTenKilobytesIsOneRecord(t *testing.T) {
	certFile, keyFile, pool := certificate(t)
	r := serve(t, apitest.NewSource(apitest.Snapshot(1, 10, 200)), func(c *server.Config) { c.TLSCert, c.TLSKey = certFile, keyFile })
	counted := &records{Conn: connect(t, r.Addr().String())}
	c := tls.Client(counted, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"})
	in := bufio.NewReader(c)
	for _, rows := range []int{200, 200, 200, 20} { // after 128 kB records are long
		counted.n = 0
		if _, err := fmt.Fprintf(c, "GET %s?limit=%d HTTP/1.1\r\nHost: x\r\n%s: %s\r\n\r\n", leaderboard, rows, wire.KeyHeader, r.key); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != 200 || len(body) < 500*rows {
			t.Fatalf("status %d, %d bytes, %v", res.StatusCode, len(body), err)
		}
	}
	if counted.n != 1 {
		t.Errorf("the last response has %d records", counted.n)
	}
}

func TestUnsafeListenersAreRefusedAtStart(t *testing.T) {
	certFile, keyFile, _ := certificate(t)
	anyone := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	cases := []struct {
		name   string
		change func(*server.Config)
		want   string // part of the error; "" for none
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

// forwardedCases are headers that a peer sends, and what is believed.
var forwardedCases = []struct {
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
	{"https in two lines", "10.0.0.1", []string{"X-Forwarded-Proto: https", "X-Forwarded-Proto: http", "X-Forwarded-For: 198.51.100.7"}, 403, false, "198.51.100.0/24"},
	{"https in the second line", "10.0.0.1", []string{"X-Forwarded-Proto: http", "X-Forwarded-Proto: https"}, 403, false, "10.0.0.0/24"},
	{"https twice", "10.0.0.1", []string{"X-Forwarded-Proto: https", "X-Forwarded-Proto: https"}, 403, false, "10.0.0.0/24"},
	{"two lines", "10.0.0.1", []string{"X-Forwarded-Proto: https", "X-Forwarded-For: 1.2.3.4", "X-Forwarded-For: 198.51.100.7:99"}, 200, true, "198.51.100.0/24"},
	{"IPv6 client", "10.0.0.1", []string{"X-Forwarded-Proto: https", "X-Forwarded-For: 2001:db8:1:2::3"}, 200, true, "2001:db8:1::/48"},
	{"garbage", "10.0.0.1", []string{"X-Forwarded-Proto: https", "X-Forwarded-For: nobody"}, 200, true, "10.0.0.0/24"},
	{"stranger who claims https", "203.0.113.5", []string{"X-Forwarded-Proto: https", "X-Forwarded-For: 198.51.100.7"}, 403, false, "203.0.113.0/24"},
	{"someone on this machine", "127.0.0.1", []string{"X-Forwarded-For: 198.51.100.7"}, 200, false, "127.0.0.0/24"},
}

func TestForwardedHeadersCountFromTheProxyOnly(t *testing.T) {
	r, err := build(t, apitest.NewSource(apitest.Snapshot(1, 1, 1)), func(c *server.Config) {
		c.Listen, c.TrustedProxy = "127.0.0.1:0", []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range forwardedCases {
		req := &fasthttp.Request{}
		req.SetRequestURI(wire.Base + "/health")
		for _, h := range append(c.headers, "X-Request-ID: "+strings.ReplaceAll(c.name, " ", "-")) {
			name, value, _ := strings.Cut(h, ": ")
			req.Header.Add(name, value)
		}
		res := apitest.Do(r.Handler(), req, &net.TCPAddr{IP: net.ParseIP(c.from), Port: 1})
		if res.StatusCode() != c.status || len(res.Header.Peek("Strict-Transport-Security")) > 0 != c.hsts {
			t.Errorf("%s: status = %d, res.Header = %s", c.name, res.StatusCode(), res.Header.String())
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range forwardedCases {
		found := false
		for l := range strings.Lines(r.req.String()) {
			found = found || strings.Contains(l, `"`+strings.ReplaceAll(c.name, " ", "-")+`"`) && strings.Contains(l, `"client":"`+c.client+`"`)
		}
		if !found {
			t.Errorf("%s: not logged as %s: %s", c.name, c.client, r.req.String())
		}
	}
}

// The address is bound while the data is being opened: requests get 503, and the server answers on
// the same address once it is ready.
func TestRequestsDuringAStartAreToldToRetry(t *testing.T) {
	for _, secure := range []bool{false, true} {
		cfg, client, url := server.Config{Listen: "127.0.0.1:0", Log: zerolog.Nop()}, http.DefaultClient, "http://"
		if secure {
			var pool *x509.CertPool
			cfg.TLSCert, cfg.TLSKey, pool = certificate(t)
			client, url = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}, "https://"
		}
		l, err := server.Listen(cfg)
		if err != nil {
			t.Fatal(err)
		}
		l.Refuse()
		url += l.Addr().String()
		for _, path := range []string{"/api/v3/health", "/api/v3/leaderboard/traders", "/docs"} {
			res, body := ask(t, client, "GET", url+path, "X-Request-ID: mine")
			var p wire.Problem
			if err := json.Unmarshal([]byte(body), &p); err != nil {
				t.Fatal(err)
			}
			if res.StatusCode != 503 || res.Header.Get("Retry-After") != "2" || res.Header.Get("X-Request-ID") != "mine" ||
				res.Header.Get("Content-Type") != wire.ProblemType || p.Code != "not_ready" || p.Instance != "mine" || len(p.LockedSections) != 12 {
				t.Errorf("%s: status = %d, res.Header = %v, body = %s", path, res.StatusCode, res.Header, body)
			}
		}
		if _, err := server.Listen(server.Config{Listen: l.Addr().String()}); err == nil || !strings.HasPrefix(err.Error(), "address in use: "+l.Addr().String()) {
			t.Errorf("a second listener: %v", err)
		}
		r := serve(t, nil, func(c *server.Config) { c.Listener, c.TLSCert, c.TLSKey = l, cfg.TLSCert, cfg.TLSKey })
		if res, _ := ask(t, client, "GET", url+"/api/v3/health"); res.StatusCode != 200 || r.URL() != url {
			t.Errorf("%s: %d on %s", url, res.StatusCode, r.URL())
		}
		if err := r.stop(); err != nil {
			t.Error(err)
		}
		l.Close()
	}
}

func TestAnUnusedListenerIsClosed(t *testing.T) {
	l, err := server.Listen(server.Config{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	l.Refuse()
	l.Close()
	if conn, err := net.Dial("tcp", l.Addr().String()); err == nil {
		_ = conn.Close()
		t.Error("the address is still taken")
	}
}

// The URL of a server on all addresses can be opened on this machine.
func TestTheWildcardAddressOpens(t *testing.T) {
	gate, err := access.NewGate(t.Context(), &apitest.Store{}, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	a, err := api.New(api.Config{Source: apitest.NewSource(apitest.Snapshot(1, 1, 1)), Gate: gate, Version: "v1", CursorKey: make([]byte, 32), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for _, listen := range []string{"0.0.0.0:0", ":0"} {
		s, err := server.New(server.Config{API: a, Listen: listen, Log: zerolog.Nop(), TrustedProxy: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
		if err != nil {
			t.Fatal(err)
		}
		if url := s.URL(); !strings.HasPrefix(url, "http://127.0.0.1:") {
			t.Errorf("%s: url = %s", listen, url)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
