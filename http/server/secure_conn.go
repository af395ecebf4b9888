package server

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"

	"pmx/engine/guard"
)

// secureListener uses TLS on the connections of a timedListener.
type secureListener struct {
	timedListener
	config *tls.Config
	stop   context.CancelFunc
	look   *sync.WaitGroup
}

// newSecureListener takes over l and keeps its certificates up to date until Close.
func newSecureListener(l timedListener, secure *secure, watch *guard.Watch) secureListener {
	ctx, stop := context.WithCancel(context.Background())
	s := secureListener{l, secure.config, stop, &sync.WaitGroup{}}
	watch.Begin(s.look, "certificate", func() {
		ticks := time.NewTicker(certificateLook)
		defer ticks.Stop()
		_ = watch.Supervise(ctx, "certificate", func(ctx context.Context) error { return secure.certificate.Run(ctx, ticks.C) })
	})
	return s
}

// Accept waits for the next connection. The first read or write does its handshake.
func (l secureListener) Accept() (net.Conn, error) {
	timed, err := l.accept()
	if err != nil {
		return nil, err
	}
	timed.handshaking = true
	return &secureConn{tls.Server(timed, l.config), timed}, nil
}

// Close releases the address.
func (l secureListener) Close() error {
	l.stop()
	l.look.Wait()
	return l.timedListener.Close()
}

// secureConn is TLS on a timedConn.
type secureConn struct {
	*tls.Conn
	timed *timedConn
}

// Handshake does the handshake, which must finish within the time limit of one request. fasthttp
// calls it before it reads.
func (c *secureConn) Handshake() error {
	if !c.timed.handshaking {
		return c.Conn.Handshake()
	}
	if err := c.timed.SetDeadline(time.Now().Add(c.timed.limits.read)); err != nil {
		return err
	}
	if err := c.Conn.Handshake(); err != nil {
		return err // every read returns it too
	}
	return c.timed.handshaken()
}
