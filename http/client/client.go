// Package client calls the v3 REST API from Go: a method per endpoint, responses as the types of
// package wire, errors of the API as *wire.Problem, and iterators over lists with pages. It needs
// no C compiler.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pmx/engine/guard"
	"pmx/http/wire"
)

// maxBody is the maximum size of a JSON response in bytes.
const maxBody = 64 << 20

// ErrTooLarge is returned for a response of more than 64 MB.
var ErrTooLarge = errors.New("the response is larger than 64 MB")

// Client calls one service with one key. Its fields must not change after the first call; then it
// may be used by several goroutines at once.
type Client struct {
	// Base is the address of the API with its prefix: https://host/api/v3.
	Base string
	// Key is the API key; empty for endpoints that need no key.
	Key string
	// HTTP sends the requests; nil means http.DefaultClient.
	HTTP *http.Client
	// Patience is the maximum time that a call waits for the rate limit's next window before it
	// retries once. 0 means 61 s, which is always enough; a negative value means that it does not
	// wait.
	Patience time.Duration
}

// defaultPatience is longer than any window of the rate limit.
const defaultPatience = 61 * time.Second

// request is the HTTP request of a method.
type request struct {
	method string
	path   string // below Base, escaped
	query  url.Values
	header http.Header
	body   any // sent as JSON; nil for none
}

// call sends r and decodes the response. If the key has reached its rate limit, it waits as long as
// the service says and retries once, unless ctx ends before that or the time is longer than
// Patience. An error of the API is a *wire.Problem.
func call[T any](ctx context.Context, c *Client, r request) (*T, error) {
	res, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("%s %s: read the response: %w", r.method, r.path, err)
	}
	if len(text) > maxBody {
		return nil, fmt.Errorf("%s %s: %w", r.method, r.path, ErrTooLarge)
	}
	out := new(T)
	if err := json.Unmarshal(text, out); err != nil {
		return nil, fmt.Errorf("%s %s: read the response: %w", r.method, r.path, err)
	}
	return out, nil
}

// send returns the response to r if it is successful.
func (c *Client) send(ctx context.Context, r request) (*http.Response, error) {
	res, err := c.once(ctx, r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusTooManyRequests && c.wait(ctx, res) {
		if res, err = c.once(ctx, r); err != nil {
			return nil, err
		}
	}
	if res.StatusCode < 300 {
		return res, nil
	}
	return nil, problem(r, res)
}

// once sends r once.
func (c *Client) once(ctx context.Context, r request) (*http.Response, error) {
	var body io.Reader
	if r.body != nil {
		text, err := json.Marshal(r.body)
		if err != nil {
			return nil, fmt.Errorf("%s %s: write the body: %w", r.method, r.path, err)
		}
		body = bytes.NewReader(text)
	}
	target := strings.TrimSuffix(c.Base, "/") + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	for name, values := range r.header {
		req.Header[name] = values
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.Key != "" {
		req.Header.Set(wire.KeyHeader, c.Key)
	}
	sender := c.HTTP
	if sender == nil {
		sender = http.DefaultClient
	}
	res, err := sender.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	return res, nil
}

// wait waits for the next window and reports whether to retry. If not, the body of res is still
// unread.
func (c *Client) wait(ctx context.Context, res *http.Response) bool {
	patience := c.Patience
	if patience == 0 {
		patience = defaultPatience
	}
	seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
	pause := time.Duration(seconds) * time.Second
	if err != nil || seconds < 0 || pause > patience {
		return false
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < pause {
		return false // fail now rather than at the deadline
	}
	if guard.Sleep(ctx, pause) != nil {
		return false
	}
	_ = res.Body.Close()
	return true
}

// problem returns the error in a response: a *wire.Problem, or another error with the status and
// the start of the body if something between the client and the service answered.
func problem(r request, res *http.Response) error {
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("%s %s: %s: read the response: %w", r.method, r.path, res.Status, err)
	}
	media, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	p := &wire.Problem{}
	if media != wire.ProblemType || json.Unmarshal(text, p) != nil {
		return fmt.Errorf("%s %s: %s: %.200q", r.method, r.path, res.Status, text)
	}
	return p
}

// File is a running download. The caller closes Body.
type File struct {
	Body   io.ReadCloser
	Header http.Header // Content-Length, ETag, Content-Disposition and more
}

// download starts the download that r requests.
func download(ctx context.Context, c *Client, r request) (*File, error) {
	res, err := c.send(ctx, r) //nolint:bodyclose // the caller reads and closes it
	if err != nil {
		return nil, err
	}
	return &File{Body: res.Body, Header: res.Header}, nil
}
