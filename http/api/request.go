package api

import (
	"hash/maphash"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"
	"github.com/valyala/fasthttp"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/wire"
)

const (
	headerRequestID    = "X-Request-Id" // spelled as fasthttp does
	headerETag         = "Etag"
	headerCacheControl = "Cache-Control"
	headerVary         = "Vary"
	headerFetchSite    = "Sec-Fetch-Site"
	varyOn             = "X-API-Key, Accept-Encoding"
	maxRequestID       = 128
)

// Call is the state of one request while it is answered. It is reused afterwards, so nothing of it
// may be kept.
type Call struct {
	Start time.Time
	Addr  netip.Addr // of the client, even behind a trusted proxy

	id     []byte
	key    *access.Key
	tier   access.Tier
	guest  bool          // a request without a key, from a page of this server that is open to everybody
	window access.Window // of key, or of the guest's address, once this request was counted
	route  *Route
	code   string // of the problem that was answered, "" for none
	values [maxParams]value
	buf    []byte // the response under construction
}

// calls is a pool of Calls. Big buffers are not kept.
type calls struct {
	pool sync.Pool
	seed uint64
	next atomic.Uint64
}

const keepBuffer = 256 << 10

func newCalls() *calls {
	c := &calls{seed: new(maphash.Hash).Sum64()}
	c.pool.New = func() any { return &Call{buf: make([]byte, 0, 2048)} }
	return c
}

// callKey is the key under which a request keeps its Call.
type callKey struct{}

// Begin starts the response to c: it gives the request its id and sets the header with it. The
// caller ends it with End.
func (a *API) Begin(c *fiber.Ctx) *Call { return a.begin(c, a.startOf(c)) }

// BeginRefusal is Begin for a request that the server refused before reading it.
func (a *API) BeginRefusal(c *fiber.Ctx) *Call { return a.begin(c, a.now()) }

// startOf is when the server had the whole request: it read the clock then, except for a request
// that it makes itself.
func (a *API) startOf(c *fiber.Ctx) time.Time {
	if at := c.Context().Time(); a.wall && !at.IsZero() {
		return at
	}
	return a.now()
}

func (a *API) begin(c *fiber.Ctx, start time.Time) *Call {
	call := a.calls.pool.Get().(*Call)
	call.Start, call.Addr = start, netip.Addr{}
	call.key, call.tier, call.guest, call.route, call.code = nil, access.Nobody, false, nil, ""
	call.id, call.buf = call.id[:0], call.buf[:0]
	call.id = a.calls.appendID(call.id, c.Request().Header.Peek(headerRequestID))
	setHeader(&c.Response().Header, headerRequestID, utils.UnsafeString(call.id))
	c.Locals(callKey{}, call)
	return call
}

// End releases call, which must not be used any more.
func (a *API) End(call *Call) {
	if cap(call.buf) > keepBuffer {
		call.buf = nil
	}
	a.calls.pool.Put(call)
}

// appendID adds the caller's request id if it is 1 to 128 visible ASCII characters, else 16 hex
// digits that this process has not used before.
func (p *calls) appendID(b, given []byte) []byte {
	if usableID(given) {
		return append(b, given...)
	}
	return appendHex64(b, data.Mix(p.seed+p.next.Add(1)*0x9e3779b97f4a7c15)) // SplitMix64
}

func appendHex64(b []byte, x uint64) []byte {
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, hexDigits[x>>shift&15])
	}
	return b
}

func usableID(id []byte) bool {
	if len(id) == 0 || len(id) > maxRequestID {
		return false
	}
	for _, c := range id {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}

// RequestID is the id of the request, as in X-Request-ID.
func (call *Call) RequestID() string { return string(call.id) }

// Route is the path pattern of the endpoint, "" if no route matched the request.
func (call *Call) Route() string {
	if call.route == nil {
		return ""
	}
	return call.route.Path
}

// RouteIndex is the endpoint's place in Routes, counted from 1; 0 for none.
func (call *Call) RouteIndex() int {
	if call.route == nil {
		return 0
	}
	return call.route.index
}

// KeyID is the short id of the caller's key, "" without a valid one.
func (call *Call) KeyID() string {
	if call.key == nil {
		return ""
	}
	return call.key.ID()
}

// Plan is the caller's tier, "" without a valid key.
func (call *Call) Plan() string { return call.tier.String() }

// Code is the code of the problem that was answered, "" for none.
func (call *Call) Code() string { return call.code }

// Keyed reports whether the request has a valid key.
func (call *Call) Keyed() bool { return call.key != nil }

// Guest reports whether the request was answered without a key because the pages of this server are
// open to everybody.
func (call *Call) Guest() bool { return call.guest }

// authenticate finds the caller's key and counts the request against its window. On a public route
// a key is optional, and an invalid one is ignored.
func (a *API) authenticate(c *fiber.Ctx, call *Call, public bool) *problem {
	secret := c.Request().Header.Peek("X-Api-Key")
	if public && len(secret) == 0 {
		return nil
	}
	if len(secret) == 0 && a.admits(c, call) {
		return a.countGuest(c, call)
	}
	key, verdict := a.gate.Check(secret, call.Addr, call.Start)
	if verdict != access.Allowed {
		if public {
			return nil
		}
		return refusal(verdict, call.Start)
	}
	call.key, call.tier = key, key.Tier()
	window := key.Take(call.Start, call.RouteIndex())
	call.window = window
	policy := &policies[call.tier]
	if own := key.OwnRate(); own > 0 {
		text := newRatePolicy("minute", own)
		policy = &text
	}
	rateHeaders(&c.Response().Header, policy, window)
	if !window.OK {
		return &problem{
			status: fiber.StatusTooManyRequests, code: "rate_limited", retry: window.ResetIn,
			detail: "Wait for the number of seconds in Retry-After: this key has used up its " + strconv.Itoa(window.Limit) + " requests for this minute.",
		}
	}
	return nil
}

// admits reports whether a request without a key is answered: one that a browser sends for a page
// of this server, if these are open to everybody. Exports need a key, to which they belong.
// https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header
func (a *API) admits(c *fiber.Ctx, call *Call) bool {
	return a.guests != nil && string(c.Request().Header.Peek(headerFetchSite)) == "same-origin" &&
		(call.route == nil || call.route.Section != wire.Export)
}

// countGuest counts a request that was admitted without a key against the window of its address.
func (a *API) countGuest(c *fiber.Ctx, call *Call) *problem {
	call.guest, call.tier = true, access.Free
	call.window = a.guests.Take(call.Addr, call.Start)
	rateHeaders(&c.Response().Header, &guestPolicy, call.window)
	if !call.window.OK {
		return &problem{
			status: fiber.StatusTooManyRequests, code: "rate_limited", retry: call.window.ResetIn,
			detail: "Wait for the number of seconds in Retry-After, or use an API key: without one, " + strconv.Itoa(call.window.Limit) +
				" requests a minute are answered to one address.",
		}
	}
	return nil
}

func refusal(v access.Verdict, now time.Time) *problem {
	p := &problem{status: fiber.StatusUnauthorized}
	switch v {
	case access.Missing:
		p.code, p.detail = "missing_api_key", "Send your API key in the X-API-Key header. You can request a key through the waitlist."
	case access.Revoked:
		p.code, p.detail = "revoked_api_key", "This API key was revoked. Ask for a new one."
	case access.Expired:
		p.code, p.detail = "expired_api_key", "This API key has expired. Use the one that replaces it, or ask for a new one."
	case access.Blocked:
		p.status, p.code = fiber.StatusTooManyRequests, "rate_limited"
		p.detail = "Too many requests without a valid key came from this address. Wait for the number of seconds in Retry-After."
		p.retry = int(60 - now.Unix()%60)
	default:
		p.code, p.detail = "invalid_api_key", "This API key is unknown. Check that it was copied in full."
	}
	return p
}

// setHeader sets a header whose name is spelled the way fasthttp would, so that it need not be
// normalised.
func setHeader(h *fasthttp.ResponseHeader, name, value string) {
	h.SetCanonical(utils.UnsafeBytes(name), utils.UnsafeBytes(value))
}

// ratePolicy has the header texts of one limit.
type ratePolicy struct{ number, policy, name string }

func newRatePolicy(name string, rate int) ratePolicy {
	n := strconv.Itoa(rate)
	return ratePolicy{n, `"` + name + `";q=` + n + `;w=60`, `"` + name + `"`}
}

// policies are the ones of the tiers.
var policies = func() (all [access.Nobody]ratePolicy) {
	for _, t := range access.Tiers() {
		all[t] = newRatePolicy("minute", t.Caps().Rate)
	}
	return all
}()

// guestPolicy is the policy of requests without a key.
var guestPolicy = newRatePolicy("guest", access.GuestRate)

// rateHeaders sets headers with the state of the window: RateLimit-Policy and RateLimit as in
// draft-ietf-httpapi-ratelimit-headers, and the widely read X-RateLimit ones, whose Reset is in
// unix seconds.
func rateHeaders(h *fasthttp.ResponseHeader, limit *ratePolicy, w access.Window) {
	setHeader(h, "X-Ratelimit-Limit", limit.number)
	setHeader(h, "Ratelimit-Policy", limit.policy)
	var text [64]byte
	b := append(append(text[:0], limit.name...), ";r="...)
	at := len(b)
	b = strconv.AppendInt(b, int64(w.Remaining), 10)
	setHeader(h, "X-Ratelimit-Remaining", utils.UnsafeString(b[at:]))
	b = strconv.AppendInt(append(b, ";t="...), int64(w.ResetIn), 10)
	setHeader(h, "Ratelimit", utils.UnsafeString(b))
	setHeader(h, "X-Ratelimit-Reset", utils.UnsafeString(strconv.AppendInt(text[:0], w.ResetAt, 10)))
}

// Since is how long call has taken so far.
func (a *API) Since(call *Call) time.Duration { return a.now().Sub(call.Start) }
