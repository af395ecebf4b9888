package replay

import (
	"bytes"
	"net"
	"net/http"
	"strconv"
	"time"

	"pmx/engine/guard"
)

// transportFaults are the faults of any source that is served over HTTP.
var transportFaults = []Kind{
	{Name: "429", About: "too many requests, without Retry-After"},
	{Name: "429-seconds", About: "too many requests, Retry-After in seconds", Number: 1},
	{Name: "429-date", About: "too many requests, Retry-After as a date this many seconds in the future", Number: 1},
	{Name: "403", About: "the page of a firewall that refuses the request"},
	{Name: "408", About: "request timeout"},
	{Name: "425", About: "the engine is restarting"},
	{Name: "500", About: "an internal error as JSON"},
	{Name: "502", About: "bad gateway, as an HTML page"},
	{Name: "503", About: "unavailable, as an HTML page"},
	{Name: "html", About: "an HTML page with status 200"},
	{Name: "truncated", About: "half of the JSON, as if it were complete"},
	{Name: "empty-list", About: "[] with status 200"},
	{Name: "errors", About: `{"errors":[]} with status 200`},
	{Name: "empty-body", About: "an empty body with status 200"},
	{Name: "slow", About: "the body is sent in eight parts over this many milliseconds", Number: 400},
	{Name: "stalled", About: "half of the body, then nothing for this many milliseconds, then the end of the connection", Number: 30_000},
	{Name: "reset", About: "half of the body, then the connection is reset"},
	{Name: "closed", About: "the connection is closed without a response"},
	{Name: "wrong-length", About: "the body is shorter than Content-Length says"},
	{Name: "bad-gzip", About: "a body that is declared as gzip but is not"},
}

const page = "<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>Attention Required! | Cloudflare</body></html>"

// downPage is the page of a proxy whose backend does not answer.
const downPage = "<html><head><title>Temporarily unavailable</title></head><body><center><h1>Temporarily unavailable</h1></center><hr><center>nginx</center></body></html>"

// transportFault answers with a fault.
func (s *Server) transportFault(w http.ResponseWriter, r *http.Request, f *Fault, answer source) {
	h := w.Header()
	plain := func(status int, contentType, body string) {
		h.Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body)) // fails only if the caller has disconnected
	}
	const asJSON, asPage = "application/json", "text/html; charset=UTF-8"
	switch f.Name {
	case "429-seconds":
		h.Set("Retry-After", strconv.FormatInt(f.Number, 10))
	case "429-date":
		h.Set("Retry-After", s.options.Now().Add(time.Duration(f.Number)*time.Second).UTC().Format(http.TimeFormat))
	}
	switch f.Name {
	case "429", "429-seconds", "429-date":
		plain(http.StatusTooManyRequests, asJSON, `{"error":"rate limit exceeded","code":"rate_limited","retryable":true}`)
	case "403":
		plain(http.StatusForbidden, asPage, page)
	case "408":
		plain(http.StatusRequestTimeout, asJSON, `{"error":"request timeout"}`)
	case "425":
		plain(http.StatusTooEarly, asJSON, `{"error":"service not ready"}`)
	case "500":
		plain(http.StatusInternalServerError, asJSON, `{"type":"internal error","error":"internal error"}`)
	case "502":
		plain(http.StatusBadGateway, asPage, downPage)
	case "503":
		plain(http.StatusServiceUnavailable, asPage, downPage)
	case "html":
		plain(http.StatusOK, asPage, page)
	case "empty-list":
		plain(http.StatusOK, asJSON, `[]`)
	case "errors":
		plain(http.StatusOK, asJSON, `{"errors":[]}`)
	case "empty-body":
		plain(http.StatusOK, asJSON, "")
	case "bad-gzip":
		h.Set("Content-Encoding", "gzip")
		plain(http.StatusOK, asJSON, "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03this is not deflated")
	case "closed":
		panic(http.ErrAbortHandler)
	default:
		s.broken(w, r, f, answer)
	}
}

// kept is a response that is recorded to be sent in pieces.
type kept struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (k *kept) Header() http.Header { return k.header }

// WriteHeader implements http.ResponseWriter.
func (k *kept) WriteHeader(status int) { k.status = status }

// Write implements http.ResponseWriter.
func (k *kept) Write(b []byte) (int, error) { return k.body.Write(b) }

// broken sends the response of the source in part, or slowly.
func (s *Server) broken(w http.ResponseWriter, r *http.Request, f *Fault, answer source) {
	k := &kept{header: http.Header{}, status: http.StatusOK}
	plain := r.Clone(r.Context())
	plain.Header.Del("Accept-Encoding")
	answer(k, plain, nil)
	for name, values := range k.header {
		w.Header()[name] = values
	}
	body := k.body.Bytes()
	half := body[:len(body)/2]
	switch f.Name {
	case "truncated":
		w.WriteHeader(k.status)
		_, _ = w.Write(half)
	case "slow":
		w.WriteHeader(k.status)
		const pieces = 8
		for i := range pieces {
			if !send(w, body[len(body)*i/pieces:len(body)*(i+1)/pieces]) ||
				guard.Sleep(r.Context(), time.Duration(f.Number)*time.Millisecond/pieces) != nil {
				return
			}
		}
	case "stalled":
		w.WriteHeader(k.status)
		if send(w, half) {
			_ = guard.Sleep(r.Context(), time.Duration(f.Number)*time.Millisecond) // the response ends either way
		}
		panic(http.ErrAbortHandler)
	case "wrong-length":
		w.Header().Set("Content-Length", strconv.Itoa(len(body)+1))
		w.WriteHeader(k.status)
		send(w, half)
		panic(http.ErrAbortHandler)
	default:
		reset(w, k, half)
	}
}

// send writes a piece and flushes it; false if the caller has disconnected.
func send(w http.ResponseWriter, piece []byte) bool {
	if _, err := w.Write(piece); err != nil {
		return false
	}
	return http.NewResponseController(w).Flush() == nil
}

// reset sends part of a body and ends the connection with RST.
func reset(w http.ResponseWriter, k *kept, piece []byte) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	var head bytes.Buffer
	head.WriteString("HTTP/1.1 200 OK\r\nContent-Length: " + strconv.Itoa(k.body.Len()) + "\r\n")
	_ = k.header.Write(&head) // a buffer never fails
	head.WriteString("\r\n")
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // without it the connection would be closed normally
	}
	_, _ = c.Write(append(head.Bytes(), piece...))
	_ = c.Close()
}
