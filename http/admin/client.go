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
)

// ErrLost is returned when the server went away before it gave a result.
var ErrLost = errors.New("the server went away before it gave a result")

// ErrNotRunning is returned when nobody answers on the socket.
var ErrNotRunning = errors.New("no server is running on this data directory")

// client speaks HTTP over the socket at path, one connection per call.
func client(path string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "unix", path)
		},
	}}
}

// Running tells whether a server accepts connections on the socket at path.
func Running(path string) bool {
	conn, err := net.DialTimeout("unix", path, dialTimeout)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// Call runs the operation name with req as its request, hands its events to
// onEvent (which may be nil) in order, and gives its result. The operation's own
// failure is an *Error; ErrNotRunning and ErrLost say what else went wrong.
func Call(ctx context.Context, path, name string, req any, onEvent func(json.RawMessage)) (json.RawMessage, error) {
	body, err := json.Marshal(req)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", name, err)
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://admin"+callPrefix+name, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", name, err)
	}
	res, err := client(path).Do(post)
	if err != nil {
		var dial *net.OpError
		if errors.As(err, &dial) && dial.Op == "dial" {
			return nil, fmt.Errorf("call %s: %w (%w)", name, ErrNotRunning, err)
		}
		return nil, fmt.Errorf("call %s: %w", name, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("call %s: the server answered %s: it may be of another version", name, res.Status)
	}
	result, err := read(res.Body, onEvent)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", name, err)
	}
	return result, nil
}

// read takes the lines of a reply up to the one with the result.
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
