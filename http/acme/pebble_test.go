package acme_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
	"github.com/miekg/dns"
	"github.com/rs/zerolog"

	"pmx/http/acme"
)

// names is a DNS server that answers every query for an address with the loopback address.
func names(t *testing.T) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") // for the authority's queries
	if err != nil {
		t.Fatal(err)
	}
	ready := make(chan struct{})
	s := &dns.Server{Listener: l, NotifyStartedFunc: func() { close(ready) }, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		a := new(dns.Msg).SetReply(q)
		if q.Question[0].Qtype == dns.TypeA {
			a.Answer = []dns.RR{&dns.A{Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET}, A: net.IPv4(127, 0, 0, 1)}}
		}
		_ = w.WriteMsg(a)
	})}
	ended := make(chan error, 1)
	go func() { ended <- s.ActivateAndServe() }()
	<-ready
	t.Cleanup(func() {
		_ = s.Shutdown()
		<-ended
	})
	return l.Addr().String()
}

// authority is an authority that connects to servers on a port of this machine, and issues
// certificates that are valid for life.
func authority(t *testing.T, port int, life time.Duration) (directory string, to http.RoundTripper, roots *x509.CertPool) {
	t.Helper()
	t.Setenv("PEBBLE_VA_NOSLEEP", "1")
	quiet, store := log.New(io.Discard, "", 0), db.NewMemoryStore()
	signer := ca.New(quiet, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {ValidityPeriod: uint64(life.Seconds())}})
	front := wfe.New(quiet, store, va.New(quiet, 1, port, true, names(t), store), signer, []string{"authority.test"}, true, false, 1, 1)
	web := httptest.NewTLSServer(front.Handler())
	t.Cleanup(web.Close)
	roots = x509.NewCertPool()
	roots.AddCert(signer.GetRootCert(0).Cert)
	return web.URL + wfe.DirectoryPath, web.Client().Transport, roots
}

// safeLog is a log that can be read while it is written.
type safeLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *safeLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *safeLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// served is a server that uses certificates from an authority.
type served struct {
	certificates *acme.Certificates
	log          safeLog
	address      string
	roots        *x509.CertPool
}

// serve starts one for domains. dir is the folder of its certificates.
func serve(t *testing.T, dir string, domains ...string) *served {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &served{address: l.Addr().String()}
	addr, _ := l.Addr().(*net.TCPAddr)
	directory, to, roots := authority(t, addr.Port, 90*24*time.Hour)
	s.roots = roots
	cfg := acme.Config{Domains: domains, Email: "me@example.org", Directory: directory, Dir: dir, Log: zerolog.New(&s.log), Now: time.Now, Transport: to}
	if err := cfg.Check(); err != nil {
		t.Fatal(err)
	}
	s.certificates = acme.New(cfg)
	web := &http.Server{Handler: http.NotFoundHandler(), ErrorLog: log.New(io.Discard, "", 0), TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}}
	ended := make(chan struct{})
	go func() {
		_ = web.Serve(tls.NewListener(l, &tls.Config{GetCertificate: s.certificates.Get, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1", acme.Protocol}}))
		close(ended)
	}()
	t.Cleanup(func() {
		_ = web.Close()
		<-ended
	})
	return s
}

// dial connects as a client that trusts the authority.
func (s *served) dial(name string) (*x509.Certificate, error) {
	conn, err := tls.Dial("tcp", s.address, &tls.Config{ServerName: name, RootCAs: s.roots})
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0], nil
}

// run orders until there are all certificates.
func (s *served) run(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.certificates.Run(ctx, make(chan time.Time)) }()
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, all := s.certificates.Expires(); all {
			break
		}
		if time.Now().After(end) || s.certificates.Fails() {
			t.Errorf("no certificates: %s", &s.log)
			break
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestCertificatesAreOrderedAndKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "certificates")
	s := serve(t, dir, "api.pmx.test", "www.pmx.test")
	if _, err := s.dial("api.pmx.test"); err == nil {
		t.Error("there is a certificate before any was ordered")
	}
	s.run(t)
	expires, _ := s.certificates.Expires()
	if left := time.Until(expires); left < 80*24*time.Hour || s.certificates.Fails() {
		t.Errorf("%v are left, failing %v", left, s.certificates.Fails())
	}
	for _, name := range []string{"api.pmx.test", "www.pmx.test"} {
		if leaf, err := s.dial(name); err != nil || leaf.VerifyHostname(name) != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"other.pmx.test", "127.0.0.1"} {
		if _, err := s.dial(name); err == nil {
			t.Errorf("%s has a certificate", name)
		}
	}
	if got := strings.Count(s.log.String(), "certificate_ready"); got != 2 {
		t.Errorf("%d certificates in the log: %s", got, &s.log)
	}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	refuses := acme.New(acme.Config{Domains: []string{"api.pmx.test"}, Dir: dir, Log: zerolog.Nop(), Now: time.Now, Transport: noAuthority{t}})
	again := &served{certificates: refuses}
	again.run(t) // from the folder, without an order
	hello := &tls.ClientHelloInfo{ServerName: "API.pmx.test."}
	if pair, err := refuses.Get(hello); err != nil || pair.Leaf.VerifyHostname("api.pmx.test") != nil {
		t.Errorf("after a restart: %v", err)
	}
}

// noAuthority fails the test at any request.
type noAuthority struct{ t *testing.T }

func (n noAuthority) RoundTrip(req *http.Request) (*http.Response, error) {
	n.t.Errorf("%s was requested", req.URL)
	return nil, net.ErrClosed
}
