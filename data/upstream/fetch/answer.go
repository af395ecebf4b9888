package fetch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"html"
	"io"
	"math"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// How many bytes of an error's body are read, and how many are shown.
const (
	mostOfError = 64 << 10
	shownBody   = 1 << 10
)

func (r *Request) method() string {
	switch {
	case r.Method != "":
		return r.Method
	case r.Body != nil:
		return http.MethodPost
	}
	return http.MethodGet
}

// accept returns the media types that a response may have.
func (r *Request) accept() string {
	if len(r.Accept) == 0 {
		return "application/json"
	}
	return strings.Join(r.Accept, ", ")
}

// request returns the HTTP request.
func (h *Host) request(ctx context.Context, r *Request) (*http.Request, error) {
	u := *h.base
	if r.Path != "" {
		add := &url.URL{Path: "/" + strings.TrimLeft(r.Path, "/")}
		u.Path = strings.TrimRight(h.base.Path, "/") + add.Path
		u.RawPath = strings.TrimRight(h.base.EscapedPath(), "/") + add.EscapedPath()
	}
	if len(r.Query) > 0 {
		u.RawQuery = strings.TrimLeft(u.RawQuery+"&"+r.Query.Encode(), "&")
	}
	q, err := http.NewRequestWithContext(ctx, r.method(), h.shown, bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	q.URL = &u
	q.Header.Set("User-Agent", h.agent)
	q.Header.Set("Accept", r.accept())
	q.Header.Set("Accept-Encoding", accepted)
	for name, value := range map[string]string{"If-None-Match": r.ETag, "If-Modified-Since": r.LastModified} {
		if value != "" {
			q.Header.Set(name, value)
		}
	}
	if r.Body != nil {
		q.Header.Set("Content-Type", "application/json")
		if r.ContentType != "" {
			q.Header.Set("Content-Type", r.ContentType)
		}
	}
	return q, nil
}

// ask sends a request and returns its response. code is its status; 0 if there was no response.
func (h *Host) ask(ctx context.Context, r Request) (a Answer, code int, err error) {
	guarded, watch := newWatch(ctx, h.o.Stall, h.o.Timeout)
	defer watch.end()
	q, err := h.request(guarded, &r)
	if err != nil {
		return a, 0, errors.New(h.Mask(err.Error()))
	}
	response, err := h.client.Do(q)
	if err != nil {
		return a, 0, h.lost(ctx, guarded, err)
	}
	defer func() { _ = response.Body.Close() }()
	watch.moves()
	a = Answer{Status: response.StatusCode, Header: response.Header}
	if response.StatusCode == http.StatusNotModified {
		if a.NotModified = r.ETag != "" || r.LastModified != ""; a.NotModified {
			return a, a.Status, nil
		}
		return a, a.Status, &ShapeError{Code: a.Status, Why: NotModified}
	}
	success := a.Status >= 200 && a.Status < 300
	limit := h.o.MaxBody
	if !success {
		limit = min(limit, mostOfError)
	} else if response.ContentLength > limit {
		return a, a.Status, ErrTooLarge
	}
	in := &counted{in: response.Body, moves: watch.moves}
	body, err := unpack(in, response.Header.Get("Content-Encoding"), limit, r.Room)
	h.mu.Lock()
	h.stats.Bytes += in.n
	h.mu.Unlock()
	if !success {
		if r.Take != nil && r.Take(a.Status, body) {
			a.Body = body
			return a, a.Status, nil
		}
		return a, a.Status, h.refused(a, body)
	}
	var shape *ShapeError
	switch {
	case errors.As(err, &shape):
		shape.Code = a.Status
		return a, a.Status, shape
	case errors.Is(err, ErrTooLarge):
		return a, a.Status, err
	case err != nil:
		return a, 0, h.lost(ctx, guarded, err)
	}
	if why := r.wrong(response.Header.Get("Content-Type"), body); why != "" && (len(body) > 0 || a.Status != http.StatusNoContent) {
		return a, a.Status, &ShapeError{Code: a.Status, Why: why, Body: h.show(body)}
	}
	a.Body = body
	return a, a.Status, nil
}

// accepted are the encodings that a body may have. Decompressing zstd takes a third of the time of
// gzip.
const accepted = "zstd, gzip"

// mostWindow is the maximum window size of a zstd body, as RFC 9659 specifies for HTTP.
const mostWindow = 8 << 20

// gunzippers and unzstds are pools of unused readers.
var gunzippers, unzstds sync.Pool

// unpacker returns a reader that decompresses in. done must be called at the end.
func unpacker(in io.Reader, encoding string) (packed io.Reader, done func(), err error) {
	if encoding == "zstd" {
		z, used := unzstds.Get().(*zstd.Decoder)
		if used {
			err = z.Reset(in)
		} else { // decode without further goroutines
			z, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(mostWindow))
		}
		if err != nil {
			return nil, nil, err
		}
		return z, func() {
			if z.Reset(nil) == nil { // so that it does not keep the connection
				unzstds.Put(z)
			}
		}, nil
	}
	z, used := gunzippers.Get().(*gzip.Reader)
	if used {
		err = z.Reset(in)
	} else {
		z, err = gzip.NewReader(in)
	}
	if err != nil {
		return nil, nil, err
	}
	return z, func() { gunzippers.Put(z) }, nil
}

// unpack reads a body of up to limit bytes, into room if it fits. For a longer one it returns the
// beginning and ErrTooLarge. Other errors are a *ShapeError, or how the connection failed.
func unpack(in *counted, encoding string, limit int64, room []byte) (body []byte, err error) {
	from := io.Reader(in)
	switch encoding = strings.ToLower(strings.TrimSpace(encoding)); encoding {
	case "", "identity":
	case "gzip", "x-gzip", "zstd":
		packed, done, err := unpacker(in, encoding)
		if err != nil {
			return nil, in.fault(err)
		}
		defer done()
		from = packed
	default:
		return nil, &ShapeError{Why: Encoding}
	}
	body, err = readInto(room[:0], io.LimitReader(from, limit+1))
	switch {
	case err != nil:
		return body, in.fault(err)
	case int64(len(body)) > limit:
		return body[:limit], ErrTooLarge
	}
	return body, nil
}

// readInto appends the data of from to b. If b is too small it grows by half, so bodies of several
// megabytes take not much more memory than their size.
func readInto(b []byte, from io.Reader) ([]byte, error) {
	for {
		if len(b) == cap(b) {
			b = slices.Grow(b, max(bytes.MinRead, len(b)/2))
		}
		n, err := from.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
}

// refused returns the error of a response without a success status. An HTML page with 403 or 429,
// and a challenge with any status, means that this program is blocked. A page with another status,
// such as a proxy's when the host is down, is an error like any response with that status.
func (h *Host) refused(a Answer, body []byte) error {
	page := isHTML(a.Header.Get("Content-Type"), body)
	refuses := a.Status == http.StatusForbidden || a.Status == http.StatusTooManyRequests
	if refuses && page || isChallenge(a.Header, body, page) {
		return &ShapeError{Code: a.Status, Why: Turned, Body: h.show(body)}
	}
	said := h.show(body)
	if page {
		said = h.show(titleOf(body))
	}
	return &StatusError{Code: a.Status, Body: said, RetryAfter: retryAfter(a.Header, body, h.o.Now())}
}

var title = regexp.MustCompile(`(?is)<title[^>]*>\s*(.*?)\s*</title>`)

// titleOf returns the title of an HTML page, which is the only text of it that can serve as a
// message.
func titleOf(page []byte) []byte {
	if found := title.FindSubmatch(page); found != nil && len(found[1]) > 0 {
		return []byte(html.UnescapeString(string(found[1])))
	}
	return []byte("an HTML page without a title")
}

// Signs of a challenge, or of a banned client. Errors with four digits, such as 1015 and 1020, are
// those of a proxy in front of the host; errors with three digits are the host's.
var (
	banned     = regexp.MustCompile(`(?i)\berror code:? ?10\d\d\b`)
	challenged = regexp.MustCompile(`/cdn-cgi/challenge-platform/|<title>(Just a moment|Attention Required)`)
)

func isChallenge(header http.Header, body []byte, page bool) bool {
	return header.Get("Cf-Mitigated") != "" || banned.Match(body) || page && challenged.Match(body)
}

// lost reports how a connection failed. The error of net/http contains the URL, so it is not kept.
func (h *Host) lost(ctx, guarded context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var shown *url.Error
	if errors.As(err, &shown) {
		err = shown.Err
	}
	if cause := context.Cause(guarded); cause != nil {
		return &LostError{Why: cause.Error(), Timeout: true}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return &LostError{Why: "the connection ended before the response did"}
	}
	return &LostError{Why: h.Mask(err.Error())}
}

// show returns the beginning of a body without secrets.
func (h *Host) show(body []byte) string {
	text := strings.ToValidUTF8(h.Mask(string(body[:min(len(body), mostOfError)])), "?")
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	return strings.ToValidUTF8(strings.TrimSpace(text[:min(len(text), shownBody)]), "")
}

// wrong returns why a body is not what was requested; "" if it is.
func (r *Request) wrong(contentType string, body []byte) Wrong {
	if isHTML(contentType, body) && !strings.Contains(r.accept(), "html") {
		return Turned
	}
	text := bytes.TrimLeft(body, " \t\r\n")
	kind, _, _ := mime.ParseMediaType(contentType)
	if len(text) == 0 {
		if r.Empty {
			return ""
		}
		return NoBody
	}
	if len(r.Accept) > 0 {
		for _, want := range r.Accept {
			if front, any := strings.CutSuffix(want, "*"); want == kind || any && (strings.HasPrefix(kind, front) || front == "*/") {
				return ""
			}
		}
		if kind == "" {
			return ""
		}
		return NotAsked
	}
	switch {
	case kind == "application/json", strings.HasSuffix(kind, "+json"):
	case kind != "" && kind != "text/plain" && kind != "application/octet-stream":
		return NotAsked
	}
	if !strings.ContainsRune("{[\"-0123456789tfn", rune(text[0])) {
		return NotJSON
	}
	last := bytes.TrimRight(text, " \t\r\n")
	if end := last[len(last)-1]; text[0] == '{' && end != '}' || text[0] == '[' && end != ']' {
		return Truncated
	}
	return ""
}

func isHTML(contentType string, body []byte) bool {
	kind, _, _ := mime.ParseMediaType(contentType)
	text := bytes.TrimLeft(body, " \t\r\n\ufeff")
	return kind == "text/html" || kind == "application/xhtml+xml" || kind != "application/xml" && kind != "text/xml" && len(text) > 0 && text[0] == '<'
}

// retryAfter returns the time after which a request may be repeated according to a response: from
// the header, as seconds or a date, or retry_after_seconds in a JSON body; 0 if neither is there.
func retryAfter(header http.Header, body []byte, now time.Time) time.Duration {
	text := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		return pause(seconds)
	}
	if at, err := http.ParseTime(text); err == nil {
		if theirs, err := http.ParseTime(header.Get("Date")); err == nil {
			now = theirs // clocks differ
		}
		return pause(at.Sub(now).Seconds())
	}
	var said struct {
		Seconds json.RawMessage `json:"retry_after_seconds"`
	}
	if json.Unmarshal(body, &said) != nil {
		return 0
	}
	seconds, err := strconv.ParseFloat(strings.Trim(string(said.Seconds), `"`), 64)
	if err != nil {
		return 0
	}
	return pause(seconds)
}

func pause(seconds float64) time.Duration {
	if !(seconds > 0) || math.IsInf(seconds, 0) {
		return 0
	}
	return time.Duration(min(seconds, longestPause.Seconds()) * float64(time.Second))
}
