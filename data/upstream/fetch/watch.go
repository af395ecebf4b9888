package fetch

import (
	"context"
	"errors"
	"io"
	"time"

	"pmx/engine/guard"
)

// watch cancels a request whose response stalls or takes too long.
type watch struct {
	stall  time.Duration
	timer  *time.Timer
	cancel context.CancelCauseFunc
	done   chan struct{}
	ended  <-chan error
}

var (
	errStalled = errors.New("the response stalled for too long")
	errSlow    = errors.New("the response took too long")
)

func newWatch(ctx context.Context, stall, whole time.Duration) (context.Context, *watch) {
	guarded, cancel := context.WithCancelCause(ctx)
	w := &watch{stall: stall, timer: time.NewTimer(stall), cancel: cancel, done: make(chan struct{})}
	end := time.NewTimer(whole)
	w.ended = guard.Start(func() error {
		defer end.Stop()
		select {
		case <-w.timer.C:
			cancel(errStalled)
		case <-end.C:
			cancel(errSlow)
		case <-w.done:
		}
		return nil
	})
	return guarded, w
}

// moves records that bytes of the response came.
func (w *watch) moves() { w.timer.Reset(w.stall) }

// end ends the watch, and cancels the request if it is not complete.
func (w *watch) end() {
	w.timer.Stop()
	close(w.done)
	<-w.ended
	w.cancel(nil)
}

// counted reads a body and counts its bytes.
type counted struct {
	in    io.Reader
	moves func()
	n     int64
	err   error // error of the connection
}

// Read reads from the body.
func (c *counted) Read(b []byte) (int, error) {
	n, err := c.in.Read(b)
	if c.n += int64(n); n > 0 {
		c.moves()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// fault returns the cause of an error of reading: the connection's error, else that of
// decompressing.
func (c *counted) fault(err error) error {
	switch {
	case errors.Is(c.err, io.ErrUnexpectedEOF):
		return &ShapeError{Why: Truncated}
	case c.err != nil:
		return c.err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &ShapeError{Why: Truncated}
	}
	return &ShapeError{Why: NotPacked}
}
