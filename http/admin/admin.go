// Package admin is how commands reach a running server: named operations over a
// unix socket that only the owner of the data directory can open. Replies are
// NDJSON: any number of {"event":…} lines, then one {"result":…} or {"error":…}.
// Prometheus metrics are served there too.
package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rs/zerolog"

	"pmx/engine/guard"
)

const (
	// maxPath is the longest path a unix socket can have: sun_path less its
	// closing zero, see unix(7).
	maxPath = 107
	// maxRequest bounds the body of a call in bytes: all paths that a command line can
	// have, made absolute.
	maxRequest = 256 << 20
	callPrefix = "/call/"
	// dialTimeout is how long a command waits to be let in. Where no server is, the socket refuses at once: only one that
	// has no time makes a command wait.
	dialTimeout = 20 * time.Second
	// internalCode is the code of a panic in an operation.
	internalCode = "internal"
	// CodeCanceled is the code of an operation that ended because the server stopped or
	// the command went away.
	CodeCanceled = "canceled"
	// failedCode is the code of an error that has none of its own.
	failedCode = "failed"
)

// ErrRunning is returned when another server answers on the socket.
var ErrRunning = errors.New("another server is running on this data directory")

// Error is an error as it travels to the command. Operations may return one to
// choose its code.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Operation does something for a command. It may emit events on the way, from
// any goroutine until it returns. ctx ends when the command goes away or the
// server stops.
type Operation func(ctx context.Context, req json.RawMessage, emit func(event any)) (result any, err error)

// Server offers operations on a unix socket.
type Server struct {
	log      zerolog.Logger
	listener net.Listener
	http     http.Server
	mux      *http.ServeMux
	mu       sync.RWMutex
	ops      map[string]Operation
}

// CheckPath reports whether a socket can have the path.
func CheckPath(path string) error {
	if len(path) > maxPath {
		return fmt.Errorf("admin socket %s: the path has %d bytes, the system allows %d: use a --data-dir with a shorter path", path, len(path), maxPath)
	}
	return nil
}

// Listen makes the socket at path, readable by its owner alone. A socket that
// nobody answers on is replaced; ErrRunning if somebody does. metrics may be nil.
func Listen(path string, metrics prometheus.Gatherer, log zerolog.Logger) (*Server, error) {
	if err := CheckPath(path); err != nil {
		return nil, err
	}
	if Running(path) {
		return nil, fmt.Errorf("admin socket %s: %w", path, ErrRunning)
	}
	if info, err := os.Lstat(path); err == nil {
		if info.Mode().Type() != os.ModeSocket {
			return nil, fmt.Errorf("admin socket %s: a file that is not a socket is in the way", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("remove stale admin socket: %w", err)
		}
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("admin socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("admin socket: %w", err), listener.Close())
	}
	s := &Server{log: log, listener: listener, mux: http.NewServeMux(), ops: map[string]Operation{}}
	s.mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	s.mux.HandleFunc("POST "+callPrefix+"{name}", s.call)
	if metrics != nil {
		s.mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	}
	return s, nil
}

// Handle offers op under name. A name taken twice is a mistake in the program.
func (s *Server) Handle(name string, op Operation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ops[name] != nil {
		panic("admin: operation " + name + " registered twice")
	}
	s.ops[name] = op
}

// Serve answers until ctx ends, cancels the operations under way, waits for
// them and removes the socket.
func (s *Server) Serve(ctx context.Context) error {
	s.http = http.Server{
		Handler: s.mux, ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stopped := guard.Start(func() error { return s.http.Serve(s.listener) })
	select {
	case err := <-stopped:
		return fmt.Errorf("admin socket: %w", err)
	case <-ctx.Done():
	}
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err := s.http.Shutdown(deadline)
	<-stopped
	if err != nil {
		return errors.Join(fmt.Errorf("admin socket: operations still under way: %w", err), s.http.Close())
	}
	return nil
}

// line is one line of a reply.
type line struct {
	Event  any    `json:"event,omitempty"`
	Result any    `json:"result,omitempty"`
	Error  *Error `json:"error,omitempty"`
}

// reply writes lines to the command as they come.
type reply struct {
	mu     sync.Mutex
	w      http.ResponseWriter
	closed bool
}

// send writes one line and nothing after the last one. A command that went away
// shows in its context, so a failed write is none of the operation's business.
func (r *reply) send(l any, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.closed = last
	text, err := json.Marshal(l)
	if err != nil {
		text, _ = json.Marshal(line{Error: &Error{Code: internalCode, Message: "encode reply: " + err.Error()}})
		r.closed = true
	}
	if _, err := r.w.Write(append(text, '\n')); err == nil {
		_ = http.NewResponseController(r.w).Flush()
	}
}

// call runs the operation that the path names.
func (s *Server) call(w http.ResponseWriter, req *http.Request) {
	name := req.PathValue("name")
	s.mu.RLock()
	op := s.ops[name]
	s.mu.RUnlock()
	w.Header().Set("Content-Type", "application/x-ndjson")
	out := &reply{w: w}
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxRequest))
	switch {
	case err != nil:
		out.send(line{Error: &Error{Code: "invalid_request", Message: err.Error()}}, true)
		return
	case op == nil:
		out.send(line{Error: &Error{Code: "unknown_operation", Message: "the running server does not know " + name + ": restart it with this version of pmx"}}, true)
		return
	}
	result, err := s.run(req.Context(), name, op, body, func(event any) { out.send(line{Event: event}, false) })
	if err != nil {
		out.send(line{Error: errorOf(err)}, true)
		return
	}
	out.send(map[string]any{"result": result}, true) // {"result":null} where there is nothing to say
}

// run calls op and turns a panic into an error.
func (s *Server) run(ctx context.Context, name string, op Operation, body []byte, emit func(any)) (result any, err error) {
	defer func() {
		if p := guard.Recovered(recover()); p != nil {
			s.log.Error().Str("operation", name).Str("panic", fmt.Sprint(p.Value)).Str("stack", p.Stack).Msg("admin_operation_panicked")
			err = &Error{Code: internalCode, Message: name + " failed inside the server: see its log"}
		}
	}()
	return op(ctx, body, emit)
}

func errorOf(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return &Error{Code: e.Code, Message: err.Error()}
	}
	if errors.Is(err, context.Canceled) {
		return &Error{Code: CodeCanceled, Message: err.Error()}
	}
	return &Error{Code: failedCode, Message: err.Error()}
}
