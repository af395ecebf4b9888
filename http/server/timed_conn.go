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

// tick is the resolution of connection timeouts. A server that sets three deadlines per request, as
// fasthttp does, reads the clock and moves a timer of the runtime three times, which is a tenth of
// the cost of a small response.
const tick = time.Second

// timeouts are the time limits of a connection.
type timeouts struct {
	read  time.Duration // from the first bytes of a request to its last
	write time.Duration // for a write, or a chunk of a file
	idle  time.Duration // until the next request begins
}

// timedListener accepts connections that enforce their own timeouts.
type timedListener struct {
	*net.TCPListener
	limits timeouts
	clock  *clock
	set    *connSet
}

// newTimedListener takes over tcp; Close stops its clock.
func newTimedListener(tcp *net.TCPListener, limits timeouts, set *connSet, watch *guard.Watch) timedListener {
	return timedListener{tcp, limits, newClock(watch), set}
}

// Accept waits for the next connection that can be admitted. It also waits if the system has run
// out of file descriptors or buffers: that is no reason for a server to stop.
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
		_ = c.Close() // it is already closed, or there are too many
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

// Close releases the address.
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

// writeChunk is how much of a file is sent under one deadline: a client that reads less than this
// in the time limit of a write is considered gone.
const writeChunk = 32 << 10

// timedConn is a connection that enforces its timeouts, each up to a tick early. One goroutine at a
// time reads or writes, as in HTTP/1.1.
type timedConn struct {
	*net.TCPConn
	limits timeouts
	clock  *clock

	begun   bool  // part of a request was read, and nothing of its response was written yet
	limited bool  // the read deadline is that of the request
	idle    int64 // the tick in which the read deadline was set for waiting for the next request; 0: it is another deadline
	sent    int64 // the tick in which the write deadline was set

	// handshaking says that a handshake is running, which has its own deadline.
	handshaking bool

	gathers bool        // the response that is being written is longer than writeBuffer
	held    []byte      // its beginning, which is sent with what is written next; empty: none
	vectors [2][]byte   // held and that
	vector  net.Buffers // of vectors

	set     *connSet     // the set that it belongs to
	used    atomic.Int64 // orders connections by when they were opened or last written to
	waiting atomic.Bool  // for the next request
	keyed   atomic.Bool  // a key was sent on it
}

// newTimedConn returns a connection. Its first request has the time limit of a request, not of an
// idle connection.
func newTimedConn(tcp *net.TCPConn, limits timeouts, clock *clock) (*timedConn, error) {
	return &timedConn{TCPConn: tcp, limits: limits, clock: clock, begun: true, limited: true}, tcp.SetReadDeadline(time.Now().Add(limits.read))
}

// handshaken ends a handshake. The first request has the time limit of a request, as after
// newTimedConn.
func (c *timedConn) handshaken() error {
	c.handshaking, c.begun, c.limited = false, true, true
	return c.SetReadDeadline(time.Now().Add(c.limits.read))
}

// Read reads into b.
func (c *timedConn) Read(b []byte) (int, error) {
	c.gathers = false
	if len(c.held) > 0 { // never, as fasthttp writes; else the client would wait for it
		if _, err := c.sendHeld(nil); err != nil {
			return 0, err
		}
	}
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

// Close closes the connection and removes it from its set.
func (c *timedConn) Close() error {
	c.set.remove(c)
	return c.TCPConn.Close()
}

// Write writes b.
func (c *timedConn) Write(b []byte) (int, error) {
	if err := c.sending(); err != nil {
		return 0, err
	}
	switch {
	case len(c.held) > 0:
		return c.sendHeld(b)
	case c.gathers && len(b) == writeBuffer: // the buffer is full: more follows at once
		c.gathers, c.held = false, append(c.held, b...)
		return len(b), nil
	}
	return c.TCPConn.Write(b)
}

// gather says that the response that is written next, or is in the buffer already, is longer than writeBuffer. Its beginning is then
// sent together with the rest, with one system call, and the rest is not copied: it comes from where the body is.
func (c *timedConn) gather() { c.gathers = true }

// sendHeld writes what is held, and then b. It returns how much of b was written. What comes after this is sent when it is written: if
// requests came together, b may have the beginning of the next long response, whose end, if it is a full buffer, nothing follows.
func (c *timedConn) sendHeld(b []byte) (int, error) {
	held := len(c.held)
	c.gathers = false
	c.vectors = [2][]byte{c.held, b}
	c.vector = c.vectors[:]
	n, err := c.vector.WriteTo(c.TCPConn)
	c.held, c.vectors = c.held[:0], [2][]byte{}
	return max(0, int(n)-held), err
}

// sending sets the deadline of a write.
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

// ReadFrom sends everything from r as long as each chunk is accepted in time. Without it, a
// download would be one write with one deadline.
func (c *timedConn) ReadFrom(r io.Reader) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{c}, struct{ io.Reader }{r}, make([]byte, writeChunk))
}
