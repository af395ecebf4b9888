package server

import (
	"io"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/rs/zerolog"

	"pmx/http/api"
)

const (
	flushEvery  = 200 * time.Millisecond
	flushBuffer = 64 << 10
)

// requestLog collects request lines and writes them out five times a second: a
// system call per line would cost more than most answers.
type requestLog struct {
	zerolog.Logger
	out   io.Writer
	mu    sync.Mutex
	lines []byte
	err   error
	quit  chan struct{}
	done  chan struct{}
	once  sync.Once
}

func newRequestLog(out io.Writer) *requestLog {
	l := &requestLog{
		out: out, lines: make([]byte, 0, flushBuffer),
		quit: make(chan struct{}), done: make(chan struct{}),
	}
	l.Logger = zerolog.New(l)
	go l.run()
	return l
}

// Write takes one line. It is written out with the next flush.
func (l *requestLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines)+len(line) > flushBuffer {
		l.flush()
	}
	l.lines = append(l.lines, line...)
	return len(line), nil
}

// flush writes out what is there; the caller holds mu.
func (l *requestLog) flush() {
	if len(l.lines) > 0 {
		_, l.err = l.out.Write(l.lines)
		l.lines = l.lines[:0]
	}
}

func (l *requestLog) run() {
	defer close(l.done)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-l.quit:
			return
		case <-tick.C:
			l.mu.Lock()
			l.flush()
			l.mu.Unlock()
		}
	}
}

// close writes out the rest and gives the last error of writing. A nil log closes well.
func (l *requestLog) close() error {
	if l == nil {
		return nil
	}
	l.once.Do(func() { close(l.quit) })
	<-l.done
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush()
	return l.err
}

// record counts a finished request and writes its line. Paths are logged as
// their pattern, client addresses without their last part.
func (s *Server) record(c *fiber.Ctx, call *api.Call) {
	res := c.Response()
	status, took := res.StatusCode(), s.api.Since(call)
	s.metrics.observe(call.RouteIndex(), status, took)
	if s.requests == nil {
		return
	}
	level := zerolog.InfoLevel
	if status >= fiber.StatusInternalServerError {
		level = zerolog.ErrorLevel
	}
	var client [48]byte
	e := s.requests.WithLevel(level).Time("time", call.Start.UTC()).
		Bytes("request_id", res.Header.Peek(fiber.HeaderXRequestID)).
		Str("method", c.Method()).Str("route", call.Route()).Int("status", status).
		Int64("duration_us", took.Microseconds()).Int("bytes", bodySize(c)).
		Bytes("client", appendMasked(client[:0], call.Addr))
	if id := call.KeyID(); id != "" {
		e = e.Str("key_id", id).Str("plan", call.Plan())
	}
	if code := call.Code(); code != "" {
		e = e.Str("code", code)
	}
	e.Msg("request")
}

// bodySize is how many bytes of body go out.
func bodySize(c *fiber.Ctx) int {
	if c.Method() == fiber.MethodHead {
		return 0
	}
	return len(c.Response().Body())
}
