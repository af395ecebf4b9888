// Package fetch sends HTTP requests to a host considerately: below its limits, with back-off after
// failures, not at all while the host refuses requests, and always with a contact. It returns only
// complete bodies of the requested type, and never shows secrets of the host's URL.
package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"pmx/engine/guard"
)

// Budget limits the requests to a host. A field that is not above zero counts as one.
type Budget struct {
	PerSecond float64
	Burst     int // requests that may be sent at once after a pause
	InFlight  int // maximum number of requests in flight
}

// Options configure a Host. Name, Base and Contact are required.
type Options struct {
	Name    string // of the source, for display: "gamma", "rpc 1"
	Base    string // URL; its user info, path and query are never shown
	Contact string // of the operator of this program: an e-mail address or a web page
	Version string // of this program; "": dev
	Budget  Budget

	Transport http.RoundTripper // nil: a new one
	Now       func() time.Time
	Sleep     func(ctx context.Context, d time.Duration) error
	Jitter    func() float64 // in [0, 1)
	MaxBody   int64          // maximum size of a decompressed body in bytes; 0: 64 MB
	Timeout   time.Duration  // for a request and its whole response; 0: 2 minutes
	Stall     time.Duration  // maximum time without a byte of the response; 0: 30 seconds
	// Changed is called when the host begins to fail, with the error of the second failed request
	// in a row, or of the first if none was ever answered. It is called with nil when the host
	// answers again. It must not block. It may be nil.
	Changed func(err error)
}

// Request is a request. Path and Query are added to those of the host's Base.
type Request struct {
	Method       string // "": GET, or POST if there is a Body
	Path         string // "/markets/keyset", not escaped
	Query        url.Values
	Body         []byte
	ContentType  string // of Body; "": application/json
	ETag         string // of the known version, with its quotes
	LastModified string // of the known version, as the host wrote it
	// Accept are the media types that a response may have; the last part may be "*". None: JSON.
	Accept  []string
	Empty   bool // an empty body is valid
	NoRetry bool // the first failure is returned without retries
	// Room is a buffer for the response's body, which is used if the body fits. It may be nil.
	Room []byte
	// Take reports whether a response with an error status counts as an answer, for protocols that
	// have their own errors in the body. body is valid during the call only.
	Take func(status int, body []byte) bool

	caller *Caller // nil: no caller in particular
}

// Answer is a response. Body is complete, decompressed and of a requested type; the caller has to
// check whether JSON is valid.
type Answer struct {
	Status      int
	Header      http.Header
	Body        []byte
	NotModified bool // the version with the request's ETag or LastModified is current; no Body
}

// Condition is the condition of a host.
type Condition string

// The conditions of a host.
const (
	Ready     Condition = "ready"     // the last request was answered, or there was none
	Retrying  Condition = "retrying"  // the last request failed
	Throttled Condition = "throttled" // the host said when to send requests again
	Open      Condition = "open"      // too many requests failed: it is tried again later
	Blocked   Condition = "blocked"   // a proxy in front of the host blocks this program
)

// Stats are figures of a host since the start.
type Stats struct {
	Name      string
	Host      string        // scheme and host
	Requests  map[int]int64 // by status; 0: no complete response
	Retries   int64
	Throttled time.Duration // time waited because the host asked for it
	Paced     time.Duration // additional time waited for the budget
	Bytes     int64         // of bodies, as received
	PerSecond float64       // the budget, which is halved if the host reports too many requests
	State     Condition
	Until     time.Time // when requests are sent again: for Throttled, Open and Blocked
	// LastSuccess and LastFailure are zero if there was none.
	LastSuccess time.Time
	LastFailure time.Time
	LastError   string // the last failure
}

// Host sends requests to a host. It may be used by several goroutines.
type Host struct {
	o      Options
	base   *url.URL
	shown  string // scheme and host
	agent  string
	mask   *strings.Replacer
	client *http.Client
	slots  chan struct{}

	mu      sync.Mutex
	budget  budget
	circuit circuit
	stats   Stats
	failing bool // the last request failed
	inRow   int  // number of failed requests in a row
	told    bool // Changed was called with an error
}

// Waits. A host may ask for a pause of any length. Up to longestWait a request waits for its end;
// beyond that it fails. No pause is longer than longestPause.
const (
	retries       = 6
	firstBackOff  = 500 * time.Millisecond
	longestOff    = time.Minute
	longestWait   = 2 * time.Minute
	longestPause  = time.Hour
	shortestEarly = 30 * time.Second // 425: the venue's matching engine restarts
	longestEarly  = 120 * time.Second
)

// New returns a Host. A contact is required, so that operators of the host can ask for fewer
// requests.
func New(o Options) (*Host, error) {
	base, err := checkBase(o.Base)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name, err)
	}
	if o.Name == "" {
		return nil, errors.New("a host needs a name")
	}
	if strings.TrimSpace(o.Contact) == "" {
		return nil, fmt.Errorf("%s: no contact: give an e-mail address or a web page, so that the service can reach you", o.Name)
	}
	if !plain(o.Contact + o.Version) {
		return nil, fmt.Errorf("%s: contact and version must be plain text without brackets", o.Name)
	}
	o.Budget.Burst, o.Budget.InFlight = max(o.Budget.Burst, 1), max(o.Budget.InFlight, 1)
	if !(o.Budget.PerSecond > 0) {
		o.Budget.PerSecond = 1
	}
	o.MaxBody = cmp.Or(o.MaxBody, 64<<20)
	o.Timeout, o.Stall = cmp.Or(o.Timeout, 2*time.Minute), cmp.Or(o.Stall, 30*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = guard.Sleep
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	if o.Transport == nil {
		o.Transport = newTransport(o.Budget.InFlight)
	}
	h := &Host{
		o:      o,
		base:   base,
		shown:  base.Scheme + "://" + base.Host,
		agent:  fmt.Sprintf("pmx/%s (+%s)", cmp.Or(o.Version, "dev"), strings.TrimSpace(o.Contact)),
		mask:   newMask(base),
		client: &http.Client{Transport: o.Transport, CheckRedirect: sameHost},
		slots:  make(chan struct{}, o.Budget.InFlight),
		budget: budget{limiter: rate.NewLimiter(rate.Limit(o.Budget.PerSecond), o.Budget.Burst), full: o.Budget, share: 1},
	}
	h.stats = Stats{Name: o.Name, Host: h.shown, Requests: map[int]int64{}}
	return h, nil
}

// CheckURL checks whether a text is the URL of a host; the error does not contain the text.
func CheckURL(text string) error {
	_, err := checkBase(text)
	return err
}

// CheckContact checks whether a text can be sent as a contact.
func CheckContact(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return errors.New("it is empty")
	case !plain(text):
		return errors.New("it must be one line of plain text without brackets")
	}
	return nil
}

// plain reports whether a text may be in the comment of a header.
func plain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' || r == '(' || r == ')' })
}

func checkBase(text string) (*url.URL, error) {
	base, err := url.Parse(text)
	if err != nil { // the error's text has the URL with its secrets
		return nil, errors.New("its URL cannot be read")
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Hostname() == "" || base.Fragment != "" {
		return nil, errors.New("its URL must be http:// or https:// with a host, and without a fragment")
	}
	if port, err := strconv.ParseUint(base.Port(), 10, 16); base.Port() != "" && (err != nil || port == 0) {
		return nil, errors.New("its URL has an invalid port")
	}
	return base, nil
}

// newTransport returns a transport that does not decompress responses: this package does, to report
// errors in them.
func newTransport(inFlight int) http.RoundTripper {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		ForceAttemptHTTP2:   true,
		DisableCompression:  true,
		MaxIdleConns:        inFlight,
		MaxIdleConnsPerHost: inFlight,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 15 * time.Second,
	}
}

// sameHost follows a few redirects within the host; others are returned as responses.
func sameHost(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	if r.URL.Host != first.Host || r.URL.Scheme != first.Scheme || len(via) > 3 {
		return http.ErrUseLastResponse
	}
	return nil
}

// Name returns the name of the source.
func (h *Host) Name() string { return h.o.Name }

// Close closes idle connections.
func (h *Host) Close() { h.client.CloseIdleConnections() }

// Mask returns text with secrets of the host's URL removed.
func (h *Host) Mask(text string) string { return h.mask.Replace(text) }

// Stats returns the current figures.
func (h *Host) Stats() Stats {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.o.Now()
	s := h.stats
	s.Requests = make(map[int]int64, len(h.stats.Requests))
	for code, n := range h.stats.Requests {
		s.Requests[code] = n
	}
	h.budget.restore(now)
	s.PerSecond = float64(h.budget.limiter.Limit())
	s.State, s.Until = h.circuit.condition(now)
	if s.State == Ready && h.budget.notBefore.After(now) {
		s.State, s.Until = Throttled, h.budget.notBefore
	}
	if s.State == Ready && h.failing {
		s.State = Retrying
	}
	return s
}

// Do sends a request once the budget allows it, and repeats it after a temporary failure. The error
// is a *StatusError, a *ShapeError, a *LostError, a *ClosedError, which matches ErrCircuitOpen,
// ErrTooLarge, or that of ctx, prefixed with the source's name and the request.
func (h *Host) Do(ctx context.Context, r Request) (Answer, error) {
	for try := 0; ; try++ {
		a, err := h.attempt(ctx, r)
		if err == nil {
			return a, nil
		}
		wait, again := h.next(err, try)
		if again && !r.NoRetry && ctx.Err() == nil {
			if err = h.o.Sleep(ctx, wait); err == nil {
				h.mu.Lock()
				h.stats.Retries++
				r.caller.add(func(s *Stats) { s.Retries++ })
				h.mu.Unlock()
				continue
			}
		}
		return Answer{}, fmt.Errorf("%s: %s %s of %s: %w", h.o.Name, r.method(), cmp.Or(r.Path, "/"), h.shown, err)
	}
}

// next reports whether a failed request is repeated, and after how long.
func (h *Host) next(err error, try int) (wait time.Duration, again bool) {
	wait = time.Duration(h.o.Jitter() * float64(min(firstBackOff<<try, longestOff)))
	h.mu.Lock()
	state, _ := h.circuit.condition(h.o.Now())
	h.mu.Unlock()
	var status *StatusError
	var shape *ShapeError
	var lost *LostError
	switch {
	case try >= retries || state != Ready:
		return 0, false
	case errors.As(err, &status):
		if status.Code == http.StatusTooEarly {
			wait = shortestEarly + time.Duration(h.o.Jitter()*float64(longestEarly-shortestEarly))
		}
		return wait, status.passes()
	default:
		return wait, errors.As(err, &shape) || errors.As(err, &lost)
	}
}

// attempt sends a request once.
func (h *Host) attempt(ctx context.Context, r Request) (Answer, error) {
	if err := h.closed(); err != nil {
		return Answer{}, err
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-ctx.Done():
		return Answer{}, context.Cause(ctx)
	}
	if err := h.turn(ctx, r.caller); err != nil {
		return Answer{}, err
	}
	h.mu.Lock()
	began := h.o.Now()
	probe, err := h.circuit.enter(began)
	h.mu.Unlock()
	if err != nil {
		return Answer{}, err
	}
	a, code, err := h.ask(ctx, r)
	h.settle(began, probe, code, err, ctx.Err() != nil, r.caller)
	return a, err
}

func (h *Host) closed() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if condition, until := h.circuit.condition(h.o.Now()); condition != Ready {
		return &ClosedError{State: condition, Until: until}
	}
	return nil
}

// turn waits until the budget and the host allow a request.
func (h *Host) turn(ctx context.Context, caller *Caller) error {
	h.mu.Lock()
	now := h.o.Now()
	h.budget.restore(now)
	place := h.budget.limiter.ReserveN(now, 1)
	wait, until := place.DelayFrom(now), h.budget.notBefore
	h.mu.Unlock()
	for {
		if wait = max(wait, until.Sub(now)); wait > 0 {
			wait = min(wait, longestPause)
			h.mu.Lock()
			told := min(max(until.Sub(now), 0), wait)
			h.stats.Throttled += told
			caller.add(func(s *Stats) { s.Throttled += told })
			h.stats.Paced += wait - told
			h.mu.Unlock()
			if err := h.o.Sleep(ctx, wait); err != nil {
				place.CancelAt(h.o.Now())
				return err
			}
		}
		h.mu.Lock()
		later := h.budget.notBefore
		now, wait = h.o.Now(), 0
		h.mu.Unlock()
		if !later.After(until) {
			return nil
		}
		until = later
	}
}

// settle counts an attempt and updates budget and circuit.
func (h *Host) settle(began time.Time, probe bool, code int, err error, cancelled bool, caller *Caller) {
	h.mu.Lock()
	was := h.inRow
	if h.conclude(began, probe, code, err, cancelled); !cancelled || err == nil {
		caller.add(func(s *Stats) { s.Requests[code]++ })
	}
	if h.inRow++; !h.failing {
		h.inRow = 0
	} else if cancelled {
		h.inRow = was
	}
	fails := h.inRow >= failingFrom || h.inRow > 0 && h.stats.LastSuccess.IsZero()
	changed := fails && !h.told || h.told && h.inRow == 0
	if changed {
		h.told = fails
	}
	last := h.stats.LastError
	h.mu.Unlock()
	switch {
	case h.o.Changed == nil || !changed:
	case fails:
		h.o.Changed(errors.New(last))
	default:
		h.o.Changed(nil)
	}
}

// failingFrom is the number of failures in a row from which on a host counts as failing.
const failingFrom = 2

// conclude is like settle; the host must be locked.
func (h *Host) conclude(began time.Time, probe bool, code int, err error, cancelled bool) {
	now := h.o.Now()
	if cancelled && err != nil {
		h.circuit.leave(probe)
		return
	}
	h.stats.Requests[code]++
	if err == nil {
		h.stats.LastSuccess, h.failing = now, false
		h.circuit.works(now)
		return
	}
	h.stats.LastFailure, h.stats.LastError, h.failing = now, h.Mask(err.Error()), true
	var status *StatusError
	var shape *ShapeError
	switch {
	case errors.As(err, &shape) && shape.Why == Turned:
		h.circuit.open(now, Blocked, probe)
	case errors.As(err, &status) && status.passes():
		if status.Code == http.StatusTooManyRequests {
			h.budget.halve(began, now)
		}
		switch {
		case status.RetryAfter > longestWait:
			h.circuit.pause(now.Add(status.RetryAfter))
		case status.RetryAfter > 0:
			h.budget.pause(now.Add(status.RetryAfter))
		}
		if status.Code == http.StatusTooManyRequests || status.Code == http.StatusTooEarly {
			h.circuit.leave(probe)
			return
		}
		h.circuit.failed(now, probe)
	case errors.As(err, &status), errors.Is(err, ErrTooLarge):
		h.failing = false
		h.circuit.works(now) // a refusal is a response
	default:
		h.circuit.failed(now, probe)
	}
}

// TooMuch halves the host's budget because the body of a response says that there were too many
// requests. after is when requests may be sent again; 0: unknown.
func (h *Host) TooMuch(after time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.o.Now()
	h.budget.halve(now, now)
	h.budget.pause(now.Add(min(after, longestWait)))
}

// Pause delays requests for d, two minutes at most. It is for failures in a body, which only the
// caller can see.
func (h *Host) Pause(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.budget.pause(h.o.Now().Add(min(d, longestWait)))
}
