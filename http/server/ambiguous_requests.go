package server

import (
	"bytes"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// rejectAmbiguous refuses requests that two servers could read differently, which fasthttp
// takes: what one of them holds for a body, another may hold for the next request
// (https://www.rfc-editor.org/rfc/rfc9112#section-11.2). Nothing more is read of their
// connection.
func rejectAmbiguous(app *fiber.App, next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if unambiguous(&ctx.Request.Header) {
			next(ctx)
			return
		}
		c := app.AcquireCtx(ctx)
		defer app.ReleaseCtx(c)
		_ = app.ErrorHandler(c, fiber.ErrBadRequest) // it answers and gives nil
		ctx.SetConnectionClose()
	}
}

// unambiguous tells whether a request says once what it must and nothing twice: its
// version, its host, how long its body is. Characters, the path and numbers fasthttp
// has checked.
func unambiguous(h *fasthttp.RequestHeader) bool {
	var hosts, lengths, codings int
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
			return false // folded onto the line before, or a name with a space
		}
		name := line[:colon]
		switch {
		case len(name) == len(fiber.HeaderHost) && bytes.EqualFold(name, []byte(fiber.HeaderHost)):
			hosts++
			if !hostOnly(bytes.TrimSpace(line[colon+1:])) {
				return false
			}
		case len(name) == len(fiber.HeaderContentLength) && bytes.EqualFold(name, []byte(fiber.HeaderContentLength)):
			lengths++
		case len(name) == len(fiber.HeaderTransferEncoding) && bytes.EqualFold(name, []byte(fiber.HeaderTransferEncoding)):
			codings++
			if !bytes.EqualFold(bytes.TrimSpace(line[colon+1:]), []byte("chunked")) {
				return false
			}
		}
	}
	if lengths+codings > 1 || hosts > 1 {
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

// hostOnly tells whether text is a host, with or without a port: no path, no user.
func hostOnly(text []byte) bool {
	return len(text) > 0 && !bytes.ContainsAny(text, " \t/\\@?#,")
}
