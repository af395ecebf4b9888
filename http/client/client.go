// Package client asks the v3 REST API from Go: a method per endpoint, answers as
// the types of package wire, errors of the API as *wire.Problem, and iterators
// over what comes in pages. It needs no C compiler.
//
//	c := &client.Client{Base: "https://host/api/v3", Key: os.Getenv("PMX_KEY")}
//	stats, err := c.TraderStats(ctx, "0x…")
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

// maxBody is the largest JSON answer that is read.
const maxBody = 64 << 20

// ErrTooLarge is returned for an answer of more than 64 MB.
var ErrTooLarge = errors.New("the answer is larger than 64 MB")

// Client asks one service with one key. Its fields must not change once it is in
// use; then it may be used by several goroutines at once.
type Client struct {
	// Base is the address of the API with its prefix: https://host/api/v3.
	Base string
	// Key is the API key; empty for the endpoints that need none.
	Key string
	// HTTP sends the requests; nil means http.DefaultClient.
	HTTP *http.Client
	// Patience is how long a call waits when the key has used up its minute,
	// before it asks once more. 0 means 61 s, which is always enough; less than 0
	// means not at all.
	Patience time.Duration
}

// defaultPatience outlasts any window of the rate limit.
const defaultPatience = 61 * time.Second

// request is what a method asks for.
type request struct {
	method string
	path   string // below Base, escaped
	query  url.Values
	header http.Header
	body   any // sent as JSON; nil for none
}

// call sends r and decodes the answer. If the key has used up its minute, it waits as long as the
// service says and asks once more, unless ctx ends before that or Patience is less. An error of the
// API is a *wire.Problem.
func call[T any](ctx context.Context, c *Client, r request) (*T, error) {
	res, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("%s %s: read the answer: %w", r.method, r.path, err)
	}
	if len(text) > maxBody {
		return nil, fmt.Errorf("%s %s: %w", r.method, r.path, ErrTooLarge)
	}
	out := new(T)
	if err := json.Unmarshal(text, out); err != nil {
		return nil, fmt.Errorf("%s %s: read the answer: %w", r.method, r.path, err)
	}
	return out, nil
}

// send returns the response to r if it is a success.
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

// once sends r one time.
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

// wait waits for the next window and reports whether to ask again. res stays whole where not.
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
		return false // the caller learns now what it would learn too late
	}
	if guard.Sleep(ctx, pause) != nil {
		return false
	}
	_ = res.Body.Close()
	return true
}

// problem is the error that a response stands for: a *wire.Problem, or what could
// be learned where something in between answered.
func problem(r request, res *http.Response) error {
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("%s %s: %s: read the answer: %w", r.method, r.path, res.Status, err)
	}
	media, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	p := &wire.Problem{}
	if media != wire.ProblemType || json.Unmarshal(text, p) != nil {
		return fmt.Errorf("%s %s: %s: %.200q", r.method, r.path, res.Status, text)
	}
	return p
}

// File is a download under way. The caller closes Body.
type File struct {
	Body   io.ReadCloser
	Header http.Header // Content-Length, ETag, Content-Disposition and more
}

// download begins the download that r asks for.
func download(ctx context.Context, c *Client, r request) (*File, error) {
	res, err := c.send(ctx, r) //nolint:bodyclose // the caller reads and closes it
	if err != nil {
		return nil, err
	}
	return &File{Body: res.Body, Header: res.Header}, nil
}
