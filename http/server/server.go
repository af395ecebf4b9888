// Package server runs the API on a Fiber app: listeners and TLS, the rules about proxies and plain
// HTTP, request logging, metrics and a graceful stop.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"github.com/valyala/fasthttp"

	"pmx/engine/guard"
	"pmx/http/acme"
	"pmx/http/api"
	"pmx/http/wire"
)

const (
	bodyLimit    = 64 << 10
	headerLimit  = 16 << 10 // request line and headers together
	writeBuffer  = 4 << 10  // a response that fits is copied once; of a longer one, only the beginning (gather)
	secureBuffer = 64 << 10 // the same with TLS, which copies everything: what is flushed is a record of its own, and a system call
	readTimeout  = 10 * time.Second
	writeTimeout = 60 * time.Second
	idleTimeout  = 75 * time.Second
	defaultDrain = 10 * time.Second
)

// Config says where and how to serve.
type Config struct {
	API      *api.API
	Listen   string    // HOST:PORT; port 0 picks a free one
	Listener *Listener // result of Listen for this Config; nil: New binds the address

	// TLSCert and TLSKey are PEM files, read again when they change. Without them the server speaks
	// plain HTTP, which is allowed on a loopback address or with a TrustedProxy.
	TLSCert, TLSKey string

	// ACME orders certificates instead, if it has domains. Its Log is ignored: Log of this Config
	// is used.
	ACME acme.Config

	// TrustedProxy are the addresses whose X-Forwarded-Proto and X-Forwarded-For are believed. A
	// request through them that did not come over HTTPS is refused.
	TrustedProxy []netip.Prefix

	// Origins are the sites whose pages may read responses in a browser, such as
	// https://dash.example; "*" alone allows all sites. If it is empty, pages of other sites
	// cannot.
	Origins []string

	// Waitlist stores requests from a form with which anybody can request a key; nil: there is no
	// form.
	Waitlist Waitlist

	// Files is how many files the process may have open; zero means the limit of the system.
	// Connections leave some of them for other uses.
	Files int

	// Drain is how long running requests may take once the server is to stop; zero means 10 s.
	Drain time.Duration

	// Log gets events and failures; RequestLog gets one JSON line per request, buffered. If
	// RequestLog is nil, requests are not logged.
	Log        zerolog.Logger
	RequestLog io.Writer

	// Watch supervises background work, the server's own and everything that the metrics show; nil:
	// none.
	Watch *guard.Watch
}

// Server is a listener and the app that answers its requests.
type Server struct {
	api       *api.API
	app       *fiber.App
	parsed    fasthttp.RequestHandler // handles requests that are not ambiguous
	listener  net.Listener
	transport transport
	origins   *origins
	conns     *connSet
	drain     time.Duration
	log       zerolog.Logger
	requests  *requestLog
	metrics   *metrics
	scheme    string
	pages     *pages
	watch     *guard.Watch
}

// New listens on cfg.Listen. Connections are accepted from then on, and answered once Serve runs.
// If cfg is not safe, the error says what to change.
func New(cfg Config) (*Server, error) {
	if cfg.Files == 0 {
		cfg.Files = openFiles()
	}
	open := newConnSet(cfg.Files)
	s := &Server{
		api: cfg.API, conns: open, drain: cfg.Drain, log: cfg.Log, scheme: "http", watch: cfg.Watch,
		transport: transport{trusted: cfg.TrustedProxy},
		metrics:   newMetrics(cfg.API, cfg.Watch, open), pages: newPages(cfg.API.OpenPages()),
	}
	if s.drain == 0 {
		s.drain = defaultDrain
	}
	if cfg.RequestLog != nil {
		s.requests = newRequestLog(cfg.RequestLog, cfg.Watch)
	}
	l, err := cfg.Listener, error(nil)
	if l == nil {
		if l, err = Listen(cfg); err != nil {
			return nil, err
		}
	}
	s.origins = l.origins
	if s.listener, err = l.take(open); err != nil {
		return nil, err
	}
	if l.secure != nil {
		s.scheme, s.transport.tls, s.metrics.certificate = "https", true, l.secure.certificate
	}
	s.app = s.newApp(cfg.Waitlist)
	return s, nil
}

// secure has what the server needs for TLS.
type secure struct {
	config      *tls.Config
	certificate certificates
}

// certificates provides the certificates for new connections.
type certificates interface {
	Get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) // for tls.Config.GetCertificate
	Run(ctx context.Context, ticks <-chan time.Time) error    // keeps them up to date until ctx ends
	Expires() (at time.Time, known bool)                      // the earliest; not known if one is missing
	Fails() bool                                              // whether one cannot be renewed
}

// tlsConfig returns the settings of TLS with certificates c, and with these protocols above it.
func tlsConfig(c certificates, protocols ...string) *secure {
	return &secure{certificate: c, config: &tls.Config{GetCertificate: c.Get, MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS13, NextProtos: protocols}}
}

// newACME prepares the ordering of certificates; nil if none is configured.
func newACME(cfg Config) (*secure, error) {
	order := cfg.ACME
	if len(order.Domains) == 0 {
		if order.Email != "" || order.Directory != "" && order.Directory != acme.LetsEncrypt {
			return nil, errors.New("an e-mail address or an authority is given, but no host name: give the host name for the certificate")
		}
		return nil, nil
	}
	if cfg.TLSCert != "" || cfg.TLSKey != "" {
		return nil, errors.New("certificates are either ordered or read from files: give --acme-domain, or --tls-cert and --tls-key")
	}
	if err := order.Check(); err != nil {
		return nil, err
	}
	order.Log, order.Now = cfg.Log, time.Now
	return tlsConfig(acme.New(order), "http/1.1", acme.Protocol), nil
}

// newSecure reads the certificate; nil if none is configured.
func newSecure(cfg Config) (*secure, error) {
	if cfg.TLSCert == "" && cfg.TLSKey == "" {
		return nil, nil
	}
	if cfg.TLSCert == "" || cfg.TLSKey == "" {
		return nil, errors.New("TLS needs both the certificate and its key: give --tls-cert and --tls-key")
	}
	cert, err := readCertificate(cfg.TLSCert, cfg.TLSKey, cfg.Log, time.Now)
	if err != nil {
		return nil, err
	}
	return tlsConfig(cert, "http/1.1"), nil
}

// plainAllowed returns an error if plain HTTP on this address could be intercepted.
func plainAllowed(listen string, behindProxy bool) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("listen address %q: give HOST:PORT: %w", listen, err)
	}
	addr, err := netip.ParseAddr(host)
	if behindProxy || host == "localhost" || err == nil && addr.IsLoopback() {
		return nil
	}
	return fmt.Errorf("plain HTTP on %s would send API keys in the clear: give --tls-cert and --tls-key, "+
		"or --acme-domain, or --trusted-proxy CIDR if a proxy in front speaks TLS, or listen on 127.0.0.1", listen)
}

// newApp builds the Fiber app: handle, pages, then the routes of the API.
func (s *Server) newApp(list Waitlist) *fiber.App {
	buffer := writeBuffer
	if s.transport.tls {
		buffer = secureBuffer
	}
	app := fiber.New(fiber.Config{
		DisableStartupMessage: true,
		StrictRouting:         true,
		CaseSensitive:         true,
		BodyLimit:             bodyLimit,
		ReadBufferSize:        headerLimit,
		WriteBufferSize:       buffer,
		ErrorHandler:          s.transportFailed,
	})
	app.Use(s.handle)
	s.mountPages(app)
	s.mountKeyForm(app, list)
	s.api.Mount(app)
	inner := app.Server()
	inner.NoDefaultServerHeader = true
	inner.CloseOnShutdown = true
	s.parsed = s.answerUnknownMethods(app, app.Handler())
	inner.Handler = rejectAmbiguous(app, s.parsed)
	return app
}

// answerUnknownMethods answers methods that Fiber does not know like those that no route has; Fiber would answer in plain text.
func (s *Server) answerUnknownMethods(app *fiber.App, next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		switch string(ctx.Method()) {
		case fiber.MethodGet, fiber.MethodHead, fiber.MethodPost, fiber.MethodPut, fiber.MethodDelete,
			fiber.MethodConnect, fiber.MethodOptions, fiber.MethodTrace, fiber.MethodPatch:
			next(ctx)
			return
		}
		c := app.AcquireCtx(ctx)
		defer app.ReleaseCtx(c)
		_ = s.respond(c, s.unknownMethod) // it answers and returns nil
	}
}

// unknownMethod refuses a request whose method no path has: 404 if there is nothing at its path, else 405.
func (s *Server) unknownMethod(c *fiber.Ctx) error {
	if strings.HasPrefix(c.Path(), wire.Base+"/") {
		return s.api.Unrouted(c)
	}
	return s.notRead(c)
}

// Handler returns the whole app as a fasthttp handler, for tests and benchmarks without a socket.
// It does not check for ambiguous requests, because their headers have no raw text.
func (s *Server) Handler() fasthttp.RequestHandler { return s.parsed }

// Addr returns the address that the server listens on.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// URL returns the base URL of the server as it can be opened on this machine: scheme, host and
// port. If the server listens on all addresses, the host is the loopback address.
func (s *Server) URL() string {
	at := s.listener.Addr().String()
	if tcp, ok := s.listener.Addr().(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		at = net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port)) // a socket for [::] accepts it too
	}
	return s.scheme + "://" + at
}

// Collector returns the request metrics for a Prometheus registry.
func (s *Server) Collector() prometheus.Collector { return s.metrics }

// Serve answers requests until ctx ends, then gives running requests the drain time to finish. It
// returns nil after a clean stop.
func (s *Server) Serve(ctx context.Context) error {
	stopped := guard.Start(func() error {
		return s.watch.Supervise(ctx, "listener", func(context.Context) error { return s.app.Listener(s.listener) })
	})
	var err error
	select {
	case err = <-stopped:
		err = fmt.Errorf("serve on %s: %w", s.listener.Addr(), err)
	case <-ctx.Done():
		deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.drain)
		defer cancel()
		if err = s.app.ShutdownWithContext(deadline); err != nil {
			err = fmt.Errorf("requests still running after %s: %w", s.drain, err)
		}
		// If the stop came before the first accept, nothing has been closed yet; a second close
		// does no harm.
		_ = s.listener.Close()
		err = errors.Join(err, <-stopped)
	}
	return errors.Join(err, s.requests.close())
}

// Close closes the listener without serving.
func (s *Server) Close() error { return errors.Join(s.listener.Close(), s.requests.close()) }
