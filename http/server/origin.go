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

// preflightAge is how long, in seconds, a browser may keep what a preflight was
// answered: two hours, the most that Chromium takes.
const preflightAge = "7200"

// requestMethods are those of all endpoints.
const requestMethods = "GET, HEAD, POST, DELETE"

// requestHeaders are those that endpoints read and that a browser asks about first.
const requestHeaders = wire.KeyHeader + ", Content-Type, Idempotency-Key, If-None-Match, If-Range, Range, X-Request-ID"

// exposedHeaders are those of answers that a page may read, beside the seven that every
// page may (https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name).
const exposedHeaders = "ETag, Retry-After, RateLimit, RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, " +
	"X-Request-ID, Allow, Location, WWW-Authenticate, Content-Disposition, Content-Range, Accept-Ranges, Content-Digest, Repr-Digest, Date"

// origins are the sites whose pages may read answers in a browser: the server's side of
// https://fetch.spec.whatwg.org/#http-cors-protocol. A nil *origins allows none.
//
// Fiber's middleware is not used: what it adds to Vary the answers replace, it accepts
// a preflight that it does not allow with 204 and no reason, and it would answer before
// requests are logged and counted.
type origins struct {
	all    bool
	listed map[string]struct{}
}

// parseOrigins reads the origins that are allowed: "*" alone for all, else as browsers write them,
// such as https://dash.example. It returns nil for none.
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

// checkOrigin refuses what no browser sends as the origin of a page.
func checkOrigin(text string) error {
	if text == "null" {
		return errors.New("null is any page without an origin, such as a local file: serve the page over http:// or https:// and name that")
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return errors.New(exampleOrigin)
	}
	if strings.Contains(text, "*") {
		return errors.New("name every origin in full; only * alone stands for others")
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
		return fmt.Errorf("browsers send scheme, host and unusual port only: give %s", exact)
	}
	return nil
}

// allows reports whether pages of origin may read answers.
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

// isPreflight reports whether a browser asks if a page may send another request.
func isPreflight(h *fasthttp.RequestHeader) bool {
	return h.IsOptions() && len(h.Peek(fiber.HeaderOrigin)) > 0 && len(h.Peek(fiber.HeaderAccessControlRequestMethod)) > 0
}

// preflight answers a request that isPreflight, as far as mark does not. The error says
// what to set where the page's origin is not allowed.
func (o *origins) preflight(ctx *fasthttp.RequestCtx) error {
	if origin := ctx.Request.Header.Peek(fiber.HeaderOrigin); !o.allows(origin) {
		// What is no origin is not repeated: nobody could allow it.
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

// mark is the last of every answer: it says which pages may read it. Where that depends
// on the page, caches are told so, in answers to other requests too.
func (o *origins) mark(ctx *fasthttp.RequestCtx) {
	if o == nil {
		return
	}
	h := &ctx.Response.Header
	if !o.all {
		h.Add(fiber.HeaderVary, fiber.HeaderOrigin)
	}
	origin := ctx.Request.Header.Peek(fiber.HeaderOrigin)
	if !o.allows(origin) || len(h.Peek(fiber.HeaderAccessControlAllowOrigin)) > 0 { // of a file that is for everyone
		return
	}
	if o.all {
		origin = []byte("*")
	}
	h.SetBytesV(fiber.HeaderAccessControlAllowOrigin, origin)
	h.Set(fiber.HeaderAccessControlExposeHeaders, exposedHeaders)
}
