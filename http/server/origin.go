package server

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"
	"github.com/valyala/fasthttp"

	"pmx/http/api"
	"pmx/http/wire"
)

// preflightAge is how long, in seconds, a browser may cache the response to a preflight: two hours,
// the maximum of Chromium.
const preflightAge = "7200"

// requestMethods are the methods of all endpoints.
const requestMethods = "GET, HEAD, POST, DELETE"

// requestHeaders are the headers that endpoints read and that need a preflight.
const requestHeaders = wire.KeyHeader + ", Content-Type, Idempotency-Key, If-None-Match, If-Range, Range, X-Request-ID"

// exposedHeaders are the response headers that a page may read, in addition to the seven that every
// page may read (https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name).
const exposedHeaders = "ETag, Retry-After, RateLimit, RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, " +
	"X-Request-ID, Allow, Location, WWW-Authenticate, Content-Disposition, Content-Range, Accept-Ranges, Content-Digest, Repr-Digest, Date"

// origins are the sites whose pages may read responses in a browser: the server's side of
// https://fetch.spec.whatwg.org/#http-cors-protocol. A nil *origins allows none.
//
// Fiber's middleware is not used: responses would overwrite what it adds to Vary, it answers a
// preflight that it does not allow with 204 and no reason, and it would answer before requests are
// logged and counted.
type origins struct {
	all    bool
	listed map[string]struct{}
}

// parseOrigins parses the allowed origins: "*" alone for all, otherwise origins as browsers send
// them, such as https://dash.example. It returns nil if there are none.
func parseOrigins(texts []string) (*origins, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	if slices.Contains(texts, "*") {
		if len(texts) > 1 {
			return nil, errors.New("* already allows every origin: give it alone, or name the origins without it")
		}
		return &origins{all: true}, nil
	}
	o := &origins{listed: map[string]struct{}{}}
	for _, text := range texts {
		if err := checkOrigin(text); err != nil {
			return nil, fmt.Errorf("origin %q: %w", text, err)
		}
		o.listed[text] = struct{}{}
	}
	return o, nil
}

const exampleOrigin = "give scheme and host as the browser shows them, such as https://dash.example or http://localhost:3000"

// checkOrigin returns an error for a text that no browser sends as the origin of a page.
func checkOrigin(text string) error {
	if text == "null" {
		return errors.New("null is every page without an origin, such as a local file: serve the page over http:// or https:// and give that origin")
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return errors.New(exampleOrigin)
	}
	if strings.Contains(text, "*") {
		return errors.New("write every origin in full; a * is allowed only alone, for all origins")
	}
	host := strings.ToLower(u.Host)
	for _, c := range host {
		if c > '~' {
			return errors.New("write the host in its ASCII form, which begins with xn--, as browsers send it")
		}
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-._:[]", c) {
			return errors.New(exampleOrigin)
		}
	}
	if port, err := strconv.ParseUint(u.Port(), 10, 16); u.Port() != "" && (err != nil || port == 0) {
		return fmt.Errorf("there is no port %s", u.Port())
	}
	if port := u.Port(); u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" || port == "" {
		host = strings.TrimSuffix(host, ":"+port)
	}
	if exact := u.Scheme + "://" + host; exact != text {
		return fmt.Errorf("browsers send only the scheme, the host and a non-default port: give %s", exact)
	}
	return nil
}

// allows reports whether pages of origin may read responses.
func (o *origins) allows(origin []byte) bool {
	if o == nil || len(origin) == 0 {
		return false
	}
	if o.all {
		return true
	}
	_, listed := o.listed[utils.UnsafeString(origin)]
	return listed
}

// isPreflight reports whether a request is a CORS preflight: a browser asks whether a page may send
// another request.
func isPreflight(h *fasthttp.RequestHeader) bool {
	return h.IsOptions() && len(h.Peek(fiber.HeaderOrigin)) > 0 && len(h.Peek(fiber.HeaderAccessControlRequestMethod)) > 0
}

// preflight answers a CORS preflight, except for the headers that mark sets. If the page's origin
// is not allowed, the error says what to set.
func (o *origins) preflight(ctx *fasthttp.RequestCtx) error {
	if origin := ctx.Request.Header.Peek(fiber.HeaderOrigin); !o.allows(origin) {
		// A text that is not an origin is not repeated: nobody could allow it.
		if err := checkOrigin(string(origin)); err != nil {
			return api.OriginNotAllowed("")
		}
		return api.OriginNotAllowed(string(origin))
	}
	h := &ctx.Response.Header
	ctx.SetStatusCode(fasthttp.StatusNoContent)
	h.Set(fiber.HeaderAccessControlAllowMethods, requestMethods)
	h.Set(fiber.HeaderAccessControlAllowHeaders, requestHeaders)
	h.Set(fiber.HeaderAccessControlMaxAge, preflightAge)
	return nil
}

// mark completes every response with the headers that say which pages may read it. If that depends
// on the page, Vary tells caches so, also in responses to other requests.
func (o *origins) mark(ctx *fasthttp.RequestCtx) {
	if o == nil {
		return
	}
	h := &ctx.Response.Header
	if !o.all {
		h.Add(fiber.HeaderVary, fiber.HeaderOrigin)
	}
	origin := ctx.Request.Header.Peek(fiber.HeaderOrigin)
	if !o.allows(origin) || len(h.Peek(fiber.HeaderAccessControlAllowOrigin)) > 0 { // a file that is for everyone
		return
	}
	if o.all {
		origin = []byte("*")
	}
	h.SetBytesV(fiber.HeaderAccessControlAllowOrigin, origin)
	h.Set(fiber.HeaderAccessControlExposeHeaders, exposedHeaders)
}
