package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"pmx/engine/guard"
)

// tick is how exact the timeouts of connections are. A server that gives a
// connection three deadlines with every request, as fasthttp does, reads the clock
// and moves a timer of the runtime three times, and that is a tenth of what a
// small answer costs.
const tick = time.Second

// timeouts say how long a connection may take.
type timeouts struct {
	read  time.Duration // from the first bytes of a request to its last
	write time.Duration // for a write, or a piece of a file
	idle  time.Duration // until the next request begins
}

// timedListener gives connections that time out by themselves.
type timedListener struct {
	*net.TCPListener
	limits timeouts
	clock  *clock
	set    *connSet
}

// newTimedListener takes tcp over; Close ends its clock.
func newTimedListener(tcp *net.TCPListener, limits timeouts, set *connSet, watch *guard.Watch) timedListener {
	return timedListener{tcp, limits, newClock(watch), set}
}

// Accept waits for the next connection that there is room for, also while there are
// no more file descriptors or buffers for it: that is no reason for a server to end.
func (l timedListener) Accept() (net.Conn, error) { return l.accept() }

func (l timedListener) accept() (*timedConn, error) {
	for {
		c, err := accept(l.TCPListener)
		if err != nil {
			return nil, err
		}
		timed, err := newTimedConn(c, l.limits, l.clock)
		if err == nil {
			timed.set = l.set
			if l.set.add(timed, l.clock.ticks.Load()) {
				return timed, nil
			}
		}
		_ = c.Close() // it is gone already, or one too many
	}
}

func accept(l *net.TCPListener) (*net.TCPConn, error) {
	c, err := l.AcceptTCP()
	for err != nil && isTemporary(err) {
		time.Sleep(50 * time.Millisecond)
		c, err = l.AcceptTCP()
	}
	if err != nil {
		return nil, fmt.Errorf("accept: %w", err)
	}
	return c, nil
}

func isTemporary(err error) bool {
	for _, errno := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// Close gives the address back.
func (l timedListener) Close() error {
	l.clock.stop()
	return l.TCPListener.Close()
}

// clock counts the ticks since it was made.
type clock struct {
	ticks atomic.Int64
	stop  context.CancelFunc
	done  sync.WaitGroup
}

func newClock(watch *guard.Watch) *clock {
	ctx, stop := context.WithCancel(context.Background())
	c := &clock{stop: stop}
	c.ticks.Store(1)
	watch.Begin(&c.done, "connection clock", func() { _ = watch.Supervise(ctx, "connection clock", c.run) })
	return c
}

func (c *clock) run(ctx context.Context) error {
	every := time.NewTicker(tick)
	defer every.Stop()
	for {
		select {
		case <-every.C:
			c.ticks.Add(1)
		case <-ctx.Done():
			return nil
		}
	}
}

// writeChunk is how much of a file is sent under one deadline: who takes less than this
// in the time for a write is taken for gone.
const writeChunk = 32 << 10

// timedConn is a connection that keeps its timeouts, each up to a tick earlier.
// One goroutine at a time reads or writes, as HTTP/1.1 does.
type timedConn struct {
	*net.TCPConn
	limits timeouts
	clock  *clock

	begun   bool  // something of a request was read that nothing was written to yet
	limited bool  // the deadline for reading is that of the request
	idle    int64 // the tick in which the deadline for reading was set for the next request; 0: it is another
	sent    int64 // the tick in which the deadline for writing was set

	// handshaking tells that a handshake is under way, which has a deadline of its own.
	handshaking bool

	set     *connSet     // that it is one of
	used    atomic.Int64 // when it was opened or last written to, in an order
	waiting atomic.Bool  // for the next request
	keyed   atomic.Bool  // a key was given
}

// newTimedConn returns a connection whose first request must come as fast as if it had begun.
func newTimedConn(tcp *net.TCPConn, limits timeouts, clock *clock) (*timedConn, error) {
	return &timedConn{TCPConn: tcp, limits: limits, clock: clock, begun: true, limited: true}, tcp.SetReadDeadline(time.Now().Add(limits.read))
}

// handshaken ends a handshake: the first request must come as fast as if it had begun.
func (c *timedConn) handshaken() error {
	c.handshaking, c.begun, c.limited = false, true, true
	return c.SetReadDeadline(time.Now().Add(c.limits.read))
}

// Read reads into b.
func (c *timedConn) Read(b []byte) (int, error) {
	if c.handshaking {
		return c.TCPConn.Read(b)
	}
	if now := c.clock.ticks.Load(); !c.begun && c.idle != now {
		if err := c.SetReadDeadline(time.Now().Add(c.limits.idle)); err != nil {
			return 0, err
		}
		c.idle, c.limited = now, false
	} else if c.begun && !c.limited {
		if err := c.SetReadDeadline(time.Now().Add(c.limits.read)); err != nil {
			return 0, err
		}
		c.idle, c.limited = 0, true
	}
	if c.begun {
		return c.TCPConn.Read(b)
	}
	c.waiting.Store(true)
	n, err := c.TCPConn.Read(b)
	c.waiting.Store(false)
	c.begun = n > 0
	return n, err
}

// Close closes the connection, for good.
func (c *timedConn) Close() error {
	c.set.remove(c)
	return c.TCPConn.Close()
}

// Write writes b.
func (c *timedConn) Write(b []byte) (int, error) {
	if err := c.sending(); err != nil {
		return 0, err
	}
	return c.TCPConn.Write(b)
}

// sending sets the deadline for a write.
func (c *timedConn) sending() error {
	if c.handshaking {
		return nil
	}
	c.begun = false
	now := c.clock.ticks.Load()
	if c.sent == now {
		return nil
	}
	c.sent = now
	c.used.Store(now << 32)
	return c.SetWriteDeadline(time.Now().Add(c.limits.write))
}

// ReadFrom sends what r has, for as long as its pieces are taken in time. Without
// it a download would be one write with one deadline.
func (c *timedConn) ReadFrom(r io.Reader) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{c}, struct{ io.Reader }{r}, make([]byte, writeChunk))
}
