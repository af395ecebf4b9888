package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"github.com/valyala/fasthttp"

	"pmx/engine/guard"
	"pmx/http/api"
)

// Listener is an address that was bound before there is a server, so that an address in use is
// reported before any data is opened.
type Listener struct {
	tcp      *net.TCPListener
	secure   *secure // nil: plain HTTP
	origins  *origins
	watch    *guard.Watch
	refused  bool           // Refuse was called
	refusing sync.WaitGroup // the goroutine that accepts connections
	conns    sync.WaitGroup // connections that are being refused
}

// Refusals are the errors that New would return for a Config, each nil if there is none.
type Refusals struct {
	TLS     error // TLSCert and TLSKey
	ACME    error
	Origins error
	Listen  error // Listen is not an address, or one on which plain HTTP would not be safe
}

// Check returns what New would refuse in cfg. It does not bind the address or log.
func Check(cfg Config) Refusals {
	cfg.Log = zerolog.Nop()
	l, r := prepare(cfg)
	if r.TLS != nil || r.ACME != nil { // it is unknown whether plain HTTP is wanted
		l.secure = &secure{}
	}
	r.Listen = checkListen(cfg, l.secure != nil)
	return r
}

// prepare reads what a Listener needs in addition to its address.
func prepare(cfg Config) (*Listener, Refusals) {
	l, r := &Listener{watch: cfg.Watch}, Refusals{}
	if l.secure, r.ACME = newACME(cfg); l.secure == nil {
		l.secure, r.TLS = newSecure(cfg)
	}
	l.origins, r.Origins = parseOrigins(cfg.Origins)
	return l, r
}

// checkListen returns an error if cfg.Listen is not an address that the server may listen on.
func checkListen(cfg Config, secure bool) error {
	_, port, err := net.SplitHostPort(cfg.Listen)
	if err != nil {
		return fmt.Errorf("listen address %q: give HOST:PORT: %w", cfg.Listen, err)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return fmt.Errorf("listen address %q: give a port from 1 to 65535, or 0 for a free one", cfg.Listen)
	}
	if secure {
		return nil
	}
	return plainAllowed(cfg.Listen, len(cfg.TrustedProxy) > 0)
}

// Listen binds cfg.Listen; cfg.API is not needed yet. If cfg is not safe, the error says what to
// change.
func Listen(cfg Config) (*Listener, error) {
	l, r := prepare(cfg)
	if err := errors.Join(r.TLS, r.ACME, r.Origins); err != nil {
		return nil, err
	}
	if err := checkListen(cfg, l.secure != nil); err != nil {
		return nil, err
	}
	taken, err := net.Listen("tcp", cfg.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("address in use: %s: stop what listens there or give another --listen", cfg.Listen)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", cfg.Listen, err)
	}
	tcp, ok := taken.(*net.TCPListener)
	if !ok {
		return nil, fmt.Errorf("listen on %s: not TCP but %T", cfg.Listen, taken)
	}
	l.tcp = tcp
	return l, nil
}

// Addr returns the address that was bound.
func (l *Listener) Addr() net.Addr { return l.tcp.Addr() }

// maxRefused is the maximum number of connections before there is a server.
const maxRefused = 64

// Refuse answers every request with 503 and Retry-After, until New takes over the listener or Close
// is called.
func (l *Listener) Refuse() {
	l.refused = true
	s := &fasthttp.Server{Handler: l.refusal(), DisableKeepalive: true, ReadBufferSize: headerLimit, MaxRequestBodySize: bodyLimit,
		ReadTimeout: readTimeout, WriteTimeout: readTimeout, NoDefaultServerHeader: true}
	room := make(chan struct{}, maxRefused)
	l.watch.Begin(&l.refusing, "refuse until ready", func() {
		for {
			conn, err := accept(l.tcp)
			if err != nil {
				return // its deadline has passed, or it is closed
			}
			select {
			case room <- struct{}{}:
				l.watch.Begin(&l.conns, "refuse until ready", func() {
					defer func() { <-room }()
					_ = s.ServeConn(l.wrap(conn))
				})
			default:
				_ = conn.Close() // the file descriptors are needed for the data that is being opened
			}
		}
	})
}

// refusal answers every request with 503, except CORS preflights of allowed pages, which succeed so
// that the page can read the 503 of its request.
func (l *Listener) refusal() fasthttp.RequestHandler {
	opening := api.Opening()
	return func(ctx *fasthttp.RequestCtx) {
		if !isPreflight(&ctx.Request.Header) || l.origins.preflight(ctx) != nil {
			opening(ctx)
		}
		l.origins.mark(ctx)
		if l.secure != nil {
			ctx.Response.Header.Set(fasthttp.HeaderStrictTransportSecurity, hsts)
		}
	}
}

func (l *Listener) wrap(conn net.Conn) net.Conn {
	if l.secure == nil {
		return conn
	}
	return tls.Server(conn, l.secure.config)
}

// take stops refusing and returns the listener for a server.
func (l *Listener) take(set *connSet) (net.Listener, error) {
	if l.refused {
		if err := l.tcp.SetDeadline(time.Now()); err != nil {
			return nil, fmt.Errorf("listen: %w", err)
		}
		l.refusing.Wait()
		if err := l.tcp.SetDeadline(time.Time{}); err != nil {
			return nil, fmt.Errorf("listen: %w", err)
		}
	}
	timed := newTimedListener(l.tcp, timeouts{read: readTimeout, write: writeTimeout, idle: idleTimeout}, set, l.watch)
	if l.secure == nil {
		return timed, nil
	}
	return newSecureListener(timed, l.secure, l.watch), nil
}

// Close releases the address. It does no harm after a server has taken the listener and stopped.
func (l *Listener) Close() {
	_ = l.tcp.Close()
	l.refusing.Wait()
	l.conns.Wait()
}
