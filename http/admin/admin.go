// Package admin lets commands call a running server: named operations over a Unix socket that only
// the owner of the data directory can open. Replies are NDJSON: any number of {"event":…} lines,
// then one {"result":…} or {"error":…}. The socket also serves Prometheus metrics.
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
	// maxPath is the maximum length of the path of a Unix socket: sun_path without its terminating
	// zero, see unix(7).
	maxPath = 107
	// maxRequest is the maximum size of a call's body in bytes: enough for all paths that a command
	// line can hold, made absolute.
	maxRequest = 256 << 20
	callPrefix = "/call/"
	// dialTimeout is how long a command waits for a connection. If there is no server, the socket
	// refuses at once: a command waits only for a server that is too busy to accept.
	dialTimeout = 20 * time.Second
	// internalCode is the code of a panic in an operation.
	internalCode = "internal"
	// CodeCanceled is the code of an operation that ended because the server stopped or the command
	// disconnected.
	CodeCanceled = "canceled"
	// failedCode is the code of an error without a code of its own.
	failedCode = "failed"
)

// ErrRunning is returned when another server answers on the socket.
var ErrRunning = errors.New("another server is running on this data directory")

// Error is an error as sent to the command. Operations may return one to choose its code.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Operation does something for a command. It may emit events, from any goroutine, until it returns.
// ctx ends when the command disconnects or the server stops.
type Operation func(ctx context.Context, req json.RawMessage, emit func(event any)) (result any, err error)

// Server serves operations on a Unix socket.
type Server struct {
	log      zerolog.Logger
	listener net.Listener
	http     http.Server
	mux      *http.ServeMux
	mu       sync.RWMutex
	ops      map[string]Operation
}

// CheckPath returns an error if path is too long for a socket.
func CheckPath(path string) error {
	if len(path) > maxPath {
		return fmt.Errorf("admin socket %s: the path has %d bytes, the system allows %d: use a --data-dir with a shorter path", path, len(path), maxPath)
	}
	return nil
}

// Listen creates the socket at path, accessible only to its owner. A socket on which no server
// answers is replaced; ErrRunning if one does. metrics may be nil.
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

// Handle registers op under name. It panics if the name is already registered.
func (s *Server) Handle(name string, op Operation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ops[name] != nil {
		panic("admin: operation " + name + " registered twice")
	}
	s.ops[name] = op
}

// Serve handles calls until ctx ends, then cancels running operations, waits for them and removes
// the socket.
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
		return errors.Join(fmt.Errorf("admin socket: operations still running: %w", err), s.http.Close())
	}
	return nil
}

// line is one line of a reply.
type line struct {
	Event  any    `json:"event,omitempty"`
	Result any    `json:"result,omitempty"`
	Error  *Error `json:"error,omitempty"`
}

// reply writes lines to the command as they are produced.
type reply struct {
	mu     sync.Mutex
	w      http.ResponseWriter
	closed bool
}

// send writes one line, and nothing after the last one. Write errors are ignored: the operation
// notices a disconnected command by its context.
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
	out.send(map[string]any{"result": result}, true) // {"result":null} if there is no result
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
