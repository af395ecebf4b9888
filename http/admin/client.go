package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"pmx/engine/guard"
)

// ErrLost is returned when the connection ended before the server sent a result.
var ErrLost = errors.New("the server stopped before it sent a result")

// ErrNotRunning is returned when no server answers on the socket.
var ErrNotRunning = errors.New("no server is running on this data directory")

// hangUpWait is how long an interrupted command waits for the result of its operation.
const hangUpWait = time.Minute

// client returns an HTTP client for one call over conn.
func client(conn net.Conn) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return conn, nil },
	}}
}

// hangUp closes the command's half of the connection, which cancels the operation. The server can
// still send the result.
func hangUp(conn net.Conn) {
	if half, ok := conn.(*net.UnixConn); !ok || half.CloseWrite() != nil {
		_ = conn.Close()
		return
	}
	_ = conn.SetReadDeadline(time.Now().Add(hangUpWait)) // fails only if the connection is closed
}

// Running reports whether a server accepts connections on the socket at path.
func Running(path string) bool {
	conn, err := net.DialTimeout("unix", path, dialTimeout)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// Call runs the operation name with req as its request, passes its events to onEvent (which may be
// nil) in order, and returns its result. A failure of the operation is an *Error; other failures
// are ErrNotRunning and ErrLost. When ctx ends, the operation is cancelled and Call waits for its
// outcome: a result or an *Error, or ErrLost if the server did not send one.
func Call(ctx context.Context, path, name string, req any, onEvent func(json.RawMessage)) (json.RawMessage, error) {
	body, err := json.Marshal(req)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", name, err)
	}
	post, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodPost, "http://admin"+callPrefix+name, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", name, err)
	}
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w (%w)", name, ErrNotRunning, err)
	}
	defer func() { _ = conn.Close() }()
	over := make(chan struct{})
	left := guard.Start(func() error {
		select {
		case <-ctx.Done():
			hangUp(conn)
		case <-over:
		}
		return nil
	})
	result, err := exchange(conn, post, onEvent)
	close(over)
	err = errors.Join(err, guard.Repanic(<-left))
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w (%w)", err, ctx.Err())
	}
	var said *Error
	switch {
	case errors.As(err, &said):
		return nil, err // the operation's own message
	case err != nil:
		return nil, fmt.Errorf("call %s: %w", name, err)
	}
	return result, nil
}

// exchange sends a call and reads its reply.
func exchange(conn net.Conn, post *http.Request, onEvent func(json.RawMessage)) (json.RawMessage, error) {
	res, err := client(conn).Do(post)
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrLost, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answered %s: it may be of another version", res.Status)
	}
	return read(res.Body, onEvent)
}

// read reads the lines of a reply up to the result.
func read(body io.Reader, onEvent func(json.RawMessage)) (json.RawMessage, error) {
	lines := json.NewDecoder(body)
	for {
		var l struct {
			Event  json.RawMessage `json:"event"`
			Result json.RawMessage `json:"result"`
			Error  *Error          `json:"error"`
		}
		switch err := lines.Decode(&l); {
		case err != nil:
			return nil, fmt.Errorf("%w (%w)", ErrLost, err)
		case l.Error != nil:
			return nil, l.Error
		case l.Result != nil:
			return l.Result, nil
		case l.Event != nil && onEvent != nil:
			onEvent(l.Event)
		}
	}
}
