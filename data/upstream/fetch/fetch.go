// Package fetch asks one host over HTTP with manners: below its limits, with back-off if it fails,
// not at all while it does not want to be asked, and always saying who asks. It gives no body that
// is not whole and of the kind that was asked for, and shows nothing of what may be secret in the
// host's URL.
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

// Budget is what a host is asked at most. What is not above zero is one.
type Budget struct {
	PerSecond float64
	Burst     int // requests that may go at once after a rest
	InFlight  int // requests that wait for their answers together
}

// Options say whom to ask, and how. Name, Base and Contact are required.
type Options struct {
	Name    string // of the source, as it is shown: "gamma", "rpc 1"
	Base    string // URL; its user info, path and query are never shown
	Contact string // of who runs this program: an address of mail or of a page
	Version string // of this program; "": dev
	Budget  Budget

	Transport http.RoundTripper // nil: one of its own
	Now       func() time.Time
	Sleep     func(ctx context.Context, d time.Duration) error
	Jitter    func() float64 // in [0, 1)
	MaxBody   int64          // bytes of a body as it is read, unpacked; 0: 64 MB
	Timeout   time.Duration  // of a request with its whole answer; 0: 2 minutes
	Stall     time.Duration  // without a byte of the answer; 0: 30 seconds
	// Changed is called when the host begins to fail, with the error of the second request in
	// a row that failed, of the first where none was ever answered, and with nil once it
	// answers again. It must not block. May be nil.
	Changed func(err error)
}

// Request is one question. Path and Query are added to those of the host's Base.
type Request struct {
	Method       string // "": GET, or POST where there is a Body
	Path         string // "/markets/keyset", not escaped
	Query        url.Values
	Body         []byte
	ContentType  string // of Body; "": application/json
	ETag         string // of what is known, with its quotes
	LastModified string // of what is known, as the host wrote it
	// Accept are the media types that an answer may have, the last part possibly "*";
	// none: JSON.
	Accept  []string
	Empty   bool // an empty body is an answer
	NoRetry bool // the first failure is handed back
	// Room is what the body of the answer is written over, as far as it fits: it may be nil.
	Room []byte
	// Take reports whether an answer of an error's status is an answer all the same, for protocols
	// that say more in the body. It is not kept: body is good for the call only.
	Take func(status int, body []byte) bool

	caller *Caller // that asks; nil: nobody in particular
}

// Answer is what a host answered. Body is whole, unpacked, and of a kind that was asked for;
// whether JSON is valid is for the caller to see.
type Answer struct {
	Status      int
	Header      http.Header
	Body        []byte
	NotModified bool // what the request's ETag or LastModified stands for is current; no Body
}

// State is how it goes with a host.
type State string

// The states.
const (
	Ready     State = "ready"     // the last request was answered, or there was none
	Retrying  State = "retrying"  // the last failed
	Throttled State = "throttled" // the host said when to ask again
	Open      State = "open"      // too many failed: it is asked again later
	Blocked   State = "blocked"   // something in front of it turns this program away
)

// Stats are figures of a host since the start.
type Stats struct {
	Name      string
	Host      string        // scheme and host
	Requests  map[int]int64 // by status; 0: not answered as a whole
	Retries   int64
	Throttled time.Duration // waited because the host said so
	Paced     time.Duration // waited for the budget, in addition
	Bytes     int64         // of bodies, as they came
	PerSecond float64       // the budget, which is halved where the host says that it is too much
	State     State
	Until     time.Time // when it is asked again: Throttled, Open, Blocked
	// LastSuccess and LastFailure are zero if there was none.
	LastSuccess time.Time
	LastFailure time.Time
	LastError   string // the last failure
}

// Host is one host to ask. It is for any number of goroutines.
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
	inRow   int  // how many have
	told    bool // Changed was called with an error
}

// What waits are like. A host may ask for a pause of any length: up to longestWait a request
// waits for it, for more it fails, and no pause is longer than longestPause.
const (
	retries       = 6
	firstBackOff  = 500 * time.Millisecond
	longestOff    = time.Minute
	longestWait   = 2 * time.Minute
	longestPause  = time.Hour
	shortestEarly = 30 * time.Second // 425: an engine restarts
	longestEarly  = 120 * time.Second
)

// New returns a Host. It fails without a contact: who is asked must be able to say that it is too
// much.
func New(o Options) (*Host, error) {
	base, err := checkBase(o.Base)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name, err)
	}
	if o.Name == "" {
		return nil, errors.New("a host to ask needs a name")
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

// CheckURL reports whether a text is the URL of a host; the error does not repeat it.
func CheckURL(text string) error {
	_, err := checkBase(text)
	return err
}

// CheckContact reports whether a text can be sent as who asks.
func CheckContact(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return errors.New("it is empty")
	case !plain(text):
		return errors.New("it must be one line of plain text without brackets")
	}
	return nil
}

// plain reports whether a text may stand in the comment of a header.
func plain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' || r == '(' || r == ')' })
}

func checkBase(text string) (*url.URL, error) {
	base, err := url.Parse(text)
	if err != nil { // its text has the URL, and that its secrets
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

// newTransport returns a transport whose answers are decompressed here, where errors in them are
// reported.
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

// sameHost follows a few redirects within the host; others are answers.
func sameHost(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	if r.URL.Host != first.Host || r.URL.Scheme != first.Scheme || len(via) > 3 {
		return http.ErrUseLastResponse
	}
	return nil
}

// Name returns the name of the source.
func (h *Host) Name() string { return h.o.Name }

// Close closes connections that nothing waits for.
func (h *Host) Close() { h.client.CloseIdleConnections() }

// Mask returns text without what is secret in the host's URL, should it repeat it.
func (h *Host) Mask(text string) string { return h.mask.Replace(text) }

// Stats returns the figures as they are now.
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
	s.State, s.Until = h.circuit.state(now)
	if s.State == Ready && h.budget.notBefore.After(now) {
		s.State, s.Until = Throttled, h.budget.notBefore
	}
	if s.State == Ready && h.failing {
		s.State = Retrying
	}
	return s
}

// Do asks, once the budget allows it, and again where what failed may pass. The errors are a
// *StatusError, a *ShapeError, a *LostError, a *ClosedError, which is ErrCircuitOpen,
// ErrTooLarge, or that of ctx, with the name of the source and the request before it.
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

// next reports whether a failed request is asked again, and after how long.
func (h *Host) next(err error, try int) (wait time.Duration, again bool) {
	wait = time.Duration(h.o.Jitter() * float64(min(firstBackOff<<try, longestOff)))
	h.mu.Lock()
	state, _ := h.circuit.state(h.o.Now())
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

// attempt asks once.
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
	if state, until := h.circuit.state(h.o.Now()); state != Ready {
		return &ClosedError{State: state, Until: until}
	}
	return nil
}

// turn waits until the budget, and what the host said last, allow a request.
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

// settle counts an attempt and draws the conclusions for those that follow.
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

// failingFrom is how many failures in a row make a host one that fails.
const failingFrom = 2

// conclude is settle with the host locked.
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
		h.circuit.works(now) // a refusal is an answer
	default:
		h.circuit.failed(now, probe)
	}
}

// TooMuch tells the host's budget what an answer says in its body: that it was asked too
// much, and after how long it may be asked again, 0: it does not say.
func (h *Host) TooMuch(after time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.o.Now()
	h.budget.halve(now, now)
	h.budget.pause(now.Add(min(after, longestWait)))
}

// Pause keeps requests back for so long, two minutes at most: for failures that only who asks
// can see, in a body.
func (h *Host) Pause(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.budget.pause(h.o.Now().Add(min(d, longestWait)))
}
