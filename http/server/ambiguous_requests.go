package server

import (
	"bytes"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"pmx/http/wire"
)

// rejectAmbiguous refuses requests that fasthttp accepts but that two servers could read
// differently: what one of them takes for a body, another may take for the next request
// (https://www.rfc-editor.org/rfc/rfc9112#section-11.2). It closes the connection afterwards.
func rejectAmbiguous(app *fiber.App, next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if unambiguous(&ctx.Request.Header) {
			next(ctx)
			return
		}
		c := app.AcquireCtx(ctx)
		defer app.ReleaseCtx(c)
		_ = app.ErrorHandler(c, fiber.ErrBadRequest) // it answers and returns nil
		ctx.SetConnectionClose()
	}
}

// unambiguous reports whether a request has a known version, exactly one host, and at most one body
// length and one key. fasthttp has already checked characters, the path and numbers.
func unambiguous(h *fasthttp.RequestHeader) bool {
	var hosts, lengths, codings, keys int
	for raw := h.RawHeaders(); len(raw) > 0; {
		line := raw
		if end := bytes.IndexByte(raw, '\n'); end >= 0 {
			line, raw = raw[:end], raw[end+1:]
		} else {
			raw = nil
		}
		if line = bytes.TrimSuffix(line, []byte{'\r'}); len(line) == 0 {
			break
		}
		colon := bytes.IndexByte(line, ':')
		if colon <= 0 || line[0] == '\t' || bytes.IndexByte(line[:colon], ' ') >= 0 {
			return false // a continuation of the previous line, or a name with a space
		}
		name := line[:colon]
		switch {
		case len(name) == len(fiber.HeaderHost) && bytes.EqualFold(name, []byte(fiber.HeaderHost)):
			hosts++
			if host := bytes.TrimSpace(line[colon+1:]); !hostOnly(host) || !sameHost(h.RequestURI(), host) {
				return false
			}
		case len(name) == len(wire.KeyHeader) && bytes.EqualFold(name, []byte(wire.KeyHeader)):
			keys++
		case len(name) == len(fiber.HeaderContentLength) && bytes.EqualFold(name, []byte(fiber.HeaderContentLength)):
			lengths++
		case len(name) == len(fiber.HeaderTransferEncoding) && bytes.EqualFold(name, []byte(fiber.HeaderTransferEncoding)):
			codings++
			if !bytes.EqualFold(bytes.TrimSpace(line[colon+1:]), []byte("chunked")) {
				return false
			}
		}
	}
	if lengths+codings > 1 || hosts > 1 || keys > 1 {
		return false
	}
	switch string(h.Protocol()) {
	case "HTTP/1.1":
		return hosts == 1
	case "HTTP/1.0":
		return codings == 0
	}
	return false
}

// sameHost reports whether a target that names a host, as in requests to proxies, names the same
// one as the Host header.
func sameHost(target, host []byte) bool {
	_, rest, absolute := bytes.Cut(target, []byte("://"))
	if !absolute || target[0] == '/' {
		return true
	}
	if end := bytes.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return bytes.EqualFold(rest, host)
}

// hostOnly reports whether text is a host, with or without a port, and without a path or user.
func hostOnly(text []byte) bool {
	return len(text) > 0 && !bytes.ContainsAny(text, " \t/\\@?#,")
}
