package api

import (
	"context"
	"errors"
	"strconv"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/wire"
)

// problem is an error as it is shown to a caller.
type problem struct {
	status int
	code   string
	detail string
	param  string // the parameter at fault, "" for none
	retry  int    // Retry-After in seconds, 0 for none
	allow  string // Allow of a 405
}

// Error returns the code and the detail.
func (p *problem) Error() string { return p.code + ": " + p.detail }

func invalid(param, detail string) *problem {
	return &problem{status: fiber.StatusBadRequest, code: "invalid_parameter", param: param, detail: detail}
}

func missing(code, detail string) *problem {
	return &problem{status: fiber.StatusNotFound, code: code, detail: detail}
}

func notReady(detail string, retry int) *problem {
	return &problem{status: fiber.StatusServiceUnavailable, code: "not_ready", detail: detail, retry: retry}
}

func internal() *problem {
	return &problem{
		status: fiber.StatusInternalServerError, code: "internal",
		detail: "An internal error occurred. Try again. If the error persists, report the request id.",
	}
}

// HTTPSRequired is the problem of a request that came over plain HTTP if that is refused.
func HTTPSRequired() error {
	return &problem{
		status: fiber.StatusForbidden, code: "https_required",
		detail: "Use https://. A key that was sent over plain HTTP should be replaced.",
	}
}

// MethodNotAllowed is the problem of a request to a path that has only the methods in allow, such as "GET, HEAD".
func MethodNotAllowed(allow string) error {
	p := transportProblem(fiber.ErrMethodNotAllowed)
	p.allow = allow
	return p
}

// OriginNotAllowed is the problem of a request by a page of an origin that is not allowed; ""
// stands for an invalid origin.
func OriginNotAllowed(origin string) error {
	p := &problem{status: fiber.StatusForbidden, code: "origin_not_allowed"}
	if origin == "" {
		p.detail = "Serve the page over http:// or https://: local files and sandboxed frames have no origin that could be allowed. " +
			"The origin is then allowed with pmx serve --cors-origin."
		return p
	}
	p.detail = "Ask whoever runs this server to allow pages of this origin: pmx serve --cors-origin " + origin + ". Or call the API from a server of your own."
	return p
}

// problemOf turns any error into what the caller is shown: for a timeout, that the server is busy.
// An unexpected error becomes internal and reveals nothing.
func problemOf(err error) *problem {
	switch e := err.(type) {
	case *problem:
		return e
	case *fiber.Error:
		return transportProblem(e)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return notReady("The server is too busy to answer this in time. Retry after the number of seconds in Retry-After.", busyRetry)
	}
	if errors.Is(err, data.ErrElsewhere) {
		return &problem{status: fiber.StatusNotImplemented, code: "fills_elsewhere",
			detail: "This server has figures that were computed elsewhere and not the single trades that they are of. Ask the server that has them."}
	}
	return internal()
}

// busyRetry is the Retry-After, in seconds, of requests that took too long.
const busyRetry = 5

// transportProblem is for requests that Fiber refuses before routing.
func transportProblem(e *fiber.Error) *problem {
	p := &problem{status: e.Code}
	switch e.Code {
	case fiber.StatusRequestEntityTooLarge:
		p.code, p.detail = "body_too_large", "The request body is too large: the maximum is 64 KB."
	case fiber.StatusRequestHeaderFieldsTooLarge:
		p.code, p.detail = "headers_too_large", "Send fewer or shorter headers, or a shorter URL."
	case fiber.StatusRequestTimeout:
		p.code, p.detail = "request_timeout", "Send the whole request without pausing."
	case fiber.StatusMethodNotAllowed:
		p.code, p.detail, p.allow = "method_not_allowed", "Use one of the methods in Allow.", "GET, HEAD"
	case fiber.StatusNotFound:
		p.code, p.detail = "not_found", "There is nothing at this path. Endpoints are below "+wire.Base+"."
	default:
		if e.Code >= fiber.StatusInternalServerError {
			return internal()
		}
		p.status, p.code, p.detail = fiber.StatusBadRequest, "invalid_request", "Send a well-formed HTTP/1.1 request."
	}
	return p
}

// Fail answers call with the problem for err.
func (a *API) Fail(c *fiber.Ctx, call *Call, err error) {
	p := problemOf(err)
	call.code = p.code
	call.buf = p.append(call.buf[:0], call.RequestID(), a.envelopes, call.tier)
	p.answer(c.Response(), call.buf)
}

// FailKnown is Fail for a request that is refused before it reaches its endpoint, but whose headers
// were read: it counts for its key, and the response has the key's plan and what is left. A key
// that has used up its requests gets that problem instead.
func (a *API) FailKnown(c *fiber.Ctx, call *Call, err error) {
	if p := a.authenticate(c, call, true); p != nil {
		err = p
	}
	a.Fail(c, call, err)
}

// append adds the problem as wire.Problem.
func (p *problem) append(b []byte, id string, all *envelopes, tier access.Tier) []byte {
	b = append(b, `{"type":"/docs/problems/`...)
	b = append(append(b, p.code...), `","title":`...)
	b = append(appendString(b, wire.ProblemTitle(p.code)), `,"status":`...)
	b = append(strconv.AppendInt(b, int64(p.status), 10), `,"detail":`...)
	b = append(appendString(b, p.detail), `,"instance":`...)
	b = append(appendString(b, id), `,"code":"`...)
	b = append(append(b, p.code...), '"')
	if p.param != "" {
		b = appendString(append(b, `,"param":`...), p.param)
	}
	return append(all.append(append(b, ','), envelope{tier: tier}), '}')
}

// answer makes res the response with the problem, whose encoded text is body.
func (p *problem) answer(res *fasthttp.Response, body []byte) {
	res.ResetBody()
	h := &res.Header
	h.SetContentEncodingBytes(nil)
	res.SetStatusCode(p.status)
	h.SetContentType(wire.ProblemType)
	setHeader(h, headerCacheControl, "no-store")
	setHeader(h, headerVary, varyOn)
	if p.status == fiber.StatusUnauthorized {
		setHeader(h, "Www-Authenticate", `ApiKey realm="`+wire.Base+`", header="`+wire.KeyHeader+`"`)
	}
	if p.retry > 0 {
		setHeader(h, fiber.HeaderRetryAfter, strconv.Itoa(p.retry))
	}
	if p.allow != "" {
		setHeader(h, fiber.HeaderAllow, p.allow)
	}
	h.Del(headerETag)
	res.SetBody(body)
}
