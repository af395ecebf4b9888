package server

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/valyala/fasthttp"
)

// timedTLS serves a small answer over TLS with the certificate of f.
func timedTLS(t *testing.T, f *certFiles, limits timeouts) (addr string, s *secure) {
	t.Helper()
	tcp, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	if s, err = newSecure(Config{TLSCert: f.cert, TLSKey: f.key, Log: zerolog.New(&f.log)}); err != nil {
		t.Fatal(err)
	}
	l := newSecureListener(newTimedListener(tcp, limits, newConnSet(100), nil), s, nil)
	served := &fasthttp.Server{Logger: quiet{}, Handler: func(ctx *fasthttp.RequestCtx) { ctx.SetBodyString("body") }}
	done := make(chan error, 1)
	go func() { done <- served.Serve(l) }()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return tcp.Addr().String(), s
}

// dialTLS connects and does the handshake.
func dialTLS(t *testing.T, addr string, cfg *tls.Config) *tls.Conn {
	t.Helper()
	cfg.InsecureSkipVerify = true // the whole certificate is compared
	c := tls.Client(dial(t, addr), cfg)
	if err := c.Handshake(); err != nil {
		t.Fatal(err)
	}
	return c
}

func answers(t *testing.T, c net.Conn) {
	t.Helper()
	if b, err := io.ReadAll(ask(t, c, bufio.NewReader(c), "/").Body); err != nil || string(b) != "body" {
		t.Errorf("b = %q, err = %v", b, err)
	}
}

// stalling is a connection that sends nothing after the first writes.
type stalling struct {
	net.Conn
	writes int
}

func (s *stalling) Write(b []byte) (int, error) {
	if s.writes--; s.writes < 0 {
		return len(b), nil
	}
	return s.Conn.Write(b)
}

// A handshake has the time limit of one request from its beginning to its end, wherever it stalls,
// and not that of a connection waiting for its next request.
func TestAStalledHandshakeTimesOut(t *testing.T) {
	f := newCertFiles(t, issue(t, "pmx.example", -1, 30))
	addr, _ := timedTLS(t, f, timeouts{read: 200 * time.Millisecond, write: time.Minute, idle: time.Minute})
	for name, c := range map[string]struct {
		writes  int // writes of the client before it stalls
		version uint16
	}{
		"before it begins":             {0, tls.VersionTLS13},
		"in the middle":                {1, tls.VersionTLS13},
		"in the middle, version 1.2":   {1, tls.VersionTLS12},
		"when it is over":              {2, tls.VersionTLS13},
		"when it is over, version 1.2": {2, tls.VersionTLS12},
	} {
		t.Run(name, func(t *testing.T) {
			raw := dial(t, addr) // its deadline is 20 s
			client := tls.Client(&stalling{raw, c.writes}, &tls.Config{InsecureSkipVerify: true, MinVersion: c.version, MaxVersion: c.version})
			err := client.Handshake()
			if err == nil {
				_, err = io.Copy(io.Discard, client) // the error says why
			}
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("still open: %v", err)
			}
		})
	}
}

// Sending a byte of the handshake now and then does not extend the time.
func TestASlowHandshakeTimesOut(t *testing.T) {
	f := newCertFiles(t, issue(t, "pmx.example", -1, 30))
	addr, _ := timedTLS(t, f, timeouts{read: 200 * time.Millisecond, write: time.Minute, idle: time.Minute})
	c := dial(t, addr)
	for i, b := range append([]byte{22, 3, 1, 1, 0, 1, 0, 0, 252, 3, 3}, make([]byte, 240)...) {
		if _, err := c.Write([]byte{b}); err != nil {
			return
		}
		if i > 200 {
			t.Fatal("the connection is still open")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestASecureConnectionMayBeIdleBetweenRequests(t *testing.T) {
	f := newCertFiles(t, issue(t, "pmx.example", -1, 30))
	addr, _ := timedTLS(t, f, timeouts{read: 100 * time.Millisecond, write: time.Minute, idle: time.Minute})
	c := dialTLS(t, addr, &tls.Config{})
	for range 3 {
		answers(t, c)
		time.Sleep(300 * time.Millisecond) // longer than a request or a handshake may take
	}
}

// Clients may offer more than the server supports, and get what it supports.
func TestWhatAHandshakeAgreesOn(t *testing.T) {
	f := newCertFiles(t, issue(t, "pmx.example", -1, 30))
	addr, _ := timedTLS(t, f, timeouts{read: time.Minute, write: time.Minute, idle: time.Minute})
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		c := dialTLS(t, addr, &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: version, NextProtos: []string{"h2", "http/1.1"}})
		if state := c.ConnectionState(); state.Version != version || state.NegotiatedProtocol != "http/1.1" {
			t.Errorf("tls.VersionName(state.Version) = %s, state.NegotiatedProtocol = %q", tls.VersionName(state.Version), state.NegotiatedProtocol)
		}
	}
	for _, cfg := range []*tls.Config{{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, {NextProtos: []string{"h2"}}} {
		cfg.InsecureSkipVerify = true
		if err := tls.Client(dial(t, addr), cfg).Handshake(); err == nil {
			t.Errorf("agreed with %+v", cfg)
		}
	}
}

// A connection with a key is kept while others are closed, over TLS too.
func TestAKeyOnASecureConnectionIsNoted(t *testing.T) {
	set := newConnSet(10)
	timed := &timedConn{set: set}
	set.add(timed, 1)
	keyGiven(&secureConn{timed: timed})
	if keyed, unkeyed, _ := set.count(); keyed != 1 || unkeyed != 0 {
		t.Errorf("%d with a key, %d without", keyed, unkeyed)
	}
}
