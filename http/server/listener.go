package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"

	"pmx/engine/guard"
	"pmx/http/api"
)

// Listener is an address that was taken before there is a server to answer on it:
// an address that is in use is known of before any data is opened.
type Listener struct {
	tcp     *net.TCPListener
	secure  *tls.Config // nil: plain HTTP
	watch   *guard.Watch
	refused bool           // Refuse was called
	refusal sync.WaitGroup // its accepting
	conns   sync.WaitGroup // being refused
}

// Listen takes cfg.Listen; the API is not needed yet. The error says what to
// change where cfg is not safe.
func Listen(cfg Config) (*Listener, error) {
	secure, err := tlsConfig(cfg)
	if err != nil {
		return nil, err
	}
	if secure == nil {
		if err := plainAllowed(cfg.Listen, len(cfg.TrustedProxy) > 0); err != nil {
			return nil, err
		}
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
	return &Listener{tcp: tcp, secure: secure, watch: cfg.Watch}, nil
}

// Addr is the address that was taken.
func (l *Listener) Addr() net.Addr { return l.tcp.Addr() }

// maxRefused is how many connections there are at once before there is a server.
const maxRefused = 64

// Refuse answers every request with 503 and Retry-After, until New takes the
// listener over or Close.
func (l *Listener) Refuse() {
	l.refused = true
	s := &fasthttp.Server{Handler: api.Opening(), DisableKeepalive: true, ReadBufferSize: headerLimit, MaxRequestBodySize: bodyLimit,
		ReadTimeout: readTimeout, WriteTimeout: readTimeout, NoDefaultServerHeader: true}
	room := make(chan struct{}, maxRefused)
	l.watch.Begin(&l.refusal, "refuse until ready", func() {
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
				_ = conn.Close() // the descriptors are for the data that is being opened
			}
		}
	})
}

func (l *Listener) wrap(conn net.Conn) net.Conn {
	if l.secure == nil {
		return conn
	}
	return tls.Server(conn, l.secure)
}

// take ends the refusal and gives the listener to a server.
func (l *Listener) take(set *connSet) (net.Listener, error) {
	if l.refused {
		if err := l.tcp.SetDeadline(time.Now()); err != nil {
			return nil, fmt.Errorf("listen: %w", err)
		}
		l.refusal.Wait()
		if err := l.tcp.SetDeadline(time.Time{}); err != nil {
			return nil, fmt.Errorf("listen: %w", err)
		}
	}
	timed := newTimedListener(l.tcp, timeouts{read: readTimeout, write: writeTimeout, idle: idleTimeout}, set, l.watch)
	if l.secure == nil {
		return timed, nil
	}
	return tls.NewListener(timed, l.secure), nil
}

// Close gives the address back. It is harmless once a server has the listener and
// has ended.
func (l *Listener) Close() {
	_ = l.tcp.Close()
	l.refusal.Wait()
	l.conns.Wait()
}
