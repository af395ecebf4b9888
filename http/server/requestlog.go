package server

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/rs/zerolog"

	"pmx/engine/guard"
	"pmx/http/api"
)

const (
	flushEvery  = 200 * time.Millisecond
	flushBuffer = 64 << 10
)

// requestLog collects request lines and writes them out five times a second: a system call per line
// would cost more than most requests.
type requestLog struct {
	routes  [][2]zerolog.Logger // by route index: for GET, for other methods
	stamp   atomic.Pointer[stamp]
	out     io.Writer
	mu      sync.Mutex
	lines   []byte
	err     error
	quit    context.CancelFunc
	running sync.WaitGroup
}

// newRequestLog returns a log that writes to out. The fields that all lines of a route have in
// common are encoded once.
func newRequestLog(out io.Writer, watch *guard.Watch) *requestLog {
	l := &requestLog{out: out, lines: make([]byte, 0, flushBuffer)}
	base := zerolog.New(l).With().Str("message", "request")
	add := func(route string) {
		to := base.Logger().With().Str("route", route)
		l.routes = append(l.routes, [2]zerolog.Logger{to.Logger().With().Str("method", fiber.MethodGet).Logger(), to.Logger()})
	}
	add("")
	for _, r := range api.Routes() {
		add(r.Path)
	}
	ctx, quit := context.WithCancel(context.Background())
	l.quit = quit
	watch.Begin(&l.running, "request log", func() { _ = watch.Supervise(ctx, "request log", l.run) })
	return l
}

// Write buffers one line. It is written out with the next flush.
func (l *requestLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines)+len(line) > flushBuffer {
		l.flush()
	}
	l.lines = append(l.lines, line...)
	return len(line), nil
}

// flush writes out the buffer; the caller holds mu.
func (l *requestLog) flush() {
	if len(l.lines) > 0 {
		_, l.err = l.out.Write(l.lines)
		l.lines = l.lines[:0]
	}
}

func (l *requestLog) run(ctx context.Context) error {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			func() {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.flush()
			}()
		}
	}
}

// close writes out the buffer and returns the last write error. A nil log can be closed.
func (l *requestLog) close() error {
	if l == nil {
		return nil
	}
	l.quit()
	l.running.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush()
	return l.err
}

// record counts a finished request and logs it. Paths are logged as the pattern of their route, and
// client addresses without their last part.
func (s *Server) record(c *fiber.Ctx, call *api.Call) {
	res := c.Response()
	status, took := res.StatusCode(), s.api.Since(call)
	s.metrics.observe(call.RouteIndex(), status, took)
	if call.Code() == "rate_limited" {
		s.metrics.limit(call.Plan())
	}
	if s.requests == nil {
		return
	}
	s.requests.line(c, call, status, took)
}

// line writes the log line of a finished request.
func (l *requestLog) line(c *fiber.Ctx, call *api.Call, status int, took time.Duration) {
	level := zerolog.InfoLevel
	if status >= fiber.StatusInternalServerError {
		level = zerolog.ErrorLevel
	}
	method := c.Method()
	var e *zerolog.Event
	if to := &l.routes[call.RouteIndex()]; method == fiber.MethodGet {
		e = to[0].WithLevel(level)
	} else {
		e = to[1].WithLevel(level).Str("method", method)
	}
	var text [48]byte
	e.RawJSON("time", l.appendTime(text[:0], call.Start)).
		Bytes("request_id", c.Response().Header.Peek(fiber.HeaderXRequestID)).
		Int("status", status).Int64("duration_us", took.Microseconds()).Int("bytes", bodySize(c)).
		Bytes("client", appendMasked(text[:0], call.Addr))
	if id := call.KeyID(); id != "" {
		e = e.Str("key_id", id).Str("plan", call.Plan())
	}
	if code := call.Code(); code != "" {
		e = e.Str("code", code)
	}
	e.Send()
}

// stamp is one second as text, without its fraction.
type stamp struct {
	second int64
	text   []byte
}

// appendTime appends t in UTC with milliseconds as JSON. The text of a second is made once.
func (l *requestLog) appendTime(b []byte, t time.Time) []byte {
	now := l.stamp.Load()
	if now == nil || now.second != t.Unix() {
		now = &stamp{second: t.Unix(), text: t.UTC().AppendFormat([]byte{'"'}, "2006-01-02T15:04:05.")}
		l.stamp.Store(now)
	}
	ms := t.Nanosecond() / int(time.Millisecond)
	b = append(b, now.text...)
	return append(b, byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z', '"')
}

// bodySize returns how many bytes of body are sent.
func bodySize(c *fiber.Ctx) int {
	if c.Method() == fiber.MethodHead {
		return 0
	}
	if c.Response().IsBodyStream() { // a file, which is not read for its length
		return c.Response().Header.ContentLength()
	}
	return len(c.Response().Body())
}
