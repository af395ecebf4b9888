package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"

	"pmx/engine/guard"
	"pmx/http/api"
	"pmx/http/wire"
)

// hsts makes browsers use only HTTPS for a year.
const hsts = "max-age=31536000"

// handle is the first handler of every request whose method Fiber knows.
func (s *Server) handle(c *fiber.Ctx) error {
	answer := s.api.Direct(c)
	if answer == nil {
		answer = (*fiber.Ctx).Next
	}
	return s.respond(c, answer)
}

// respond runs answer with everything around it. It assigns the request id, recovers from panics,
// logs one line, applies the transport rules and answers CORS preflights.
func (s *Server) respond(c *fiber.Ctx, answer fiber.Handler) error {
	call := s.api.Begin(c)
	defer s.finish(c, call)
	if peer := s.notePeer(c, call); !peer.ok {
		s.api.Fail(c, call, api.HTTPSRequired())
		return nil
	}
	if isPreflight(&c.Request().Header) {
		if err := s.origins.preflight(c.Context()); err != nil {
			s.fail(c, call, err)
		}
		return nil
	}
	if !s.api.IsOpen() && !belowBase(c.Path()) { // else the API says what it answers already
		s.api.Fail(c, call, api.StillOpening())
		return nil
	}
	if err := answer(c); err != nil {
		s.fail(c, call, err)
		if errors.Is(err, fiber.ErrNotFound) {
			s.missing(c)
		}
	}
	return nil
}

// belowBase reports whether a path is below that of the API.
func belowBase(path string) bool {
	return strings.HasPrefix(path, wire.Base+"/") && len(path) > len(wire.Base+"/")
}

// notePeer stores the client's address in call.
func (s *Server) notePeer(c *fiber.Ctx, call *api.Call) peer {
	peer := s.transport.peer(c)
	call.Addr = peer.addr
	if peer.secure {
		c.Response().Header.SetCanonical([]byte("Strict-Transport-Security"), []byte(hsts))
	}
	return peer
}

// fail answers with err, and logs it if it is the server's fault.
func (s *Server) fail(c *fiber.Ctx, call *api.Call, err error) {
	s.api.Fail(c, call, err)
	if call.Code() == "internal" || errors.Is(err, context.DeadlineExceeded) {
		s.log.Error().Str("request_id", call.RequestID()).Str("route", call.Route()).Err(err).Msg("request_failed")
	}
}

// finish ends a request: a panic becomes a 500, and the request is counted and logged.
func (s *Server) finish(c *fiber.Ctx, call *api.Call) {
	if p := guard.Recovered(recover()); p != nil {
		s.log.Error().Str("request_id", call.RequestID()).Str("route", call.Route()).
			Str("panic", fmt.Sprint(p.Value)).Str("stack", p.Stack).Msg("request_panicked")
		s.api.Fail(c, call, nil)
	}
	s.end(c, call)
}

// end completes every response, whichever handler made it.
func (s *Server) end(c *fiber.Ctx, call *api.Call) {
	c.Response().Header.SetCanonical([]byte(fiber.HeaderXContentTypeOptions), []byte("nosniff"))
	s.origins.mark(c.Context())
	if call.Guest() { // a page of another site would get an error
		c.Response().Header.Add(fiber.HeaderVary, "Sec-Fetch-Site")
	}
	if call.Keyed() {
		keyGiven(c.Context().Conn())
	}
	if plain, ok := c.Context().Conn().(*timedConn); ok && c.Method() != fiber.MethodHead && !c.Response().IsBodyStream() && len(c.Response().Body()) >= writeBuffer {
		plain.gather()
	}
	s.record(c, call)
	s.api.End(call)
}

// transportFailed answers requests that were refused before handle: headers too large, a body too
// large, or malformed.
func (s *Server) transportFailed(c *fiber.Ctx, err error) error {
	call := s.api.BeginRefusal(c)
	call.Addr = remote(c.Context().RemoteAddr())
	if len(c.Request().Header.Peek(wire.KeyHeader)) > 0 && headersRead(err) {
		s.refuseKnown(c, call, err)
	} else {
		s.fail(c, call, err)
	}
	s.end(c, call)
	return nil
}

// headersRead reports whether the headers of a refused request were read completely: only its body
// was too large or did not arrive.
func headersRead(err error) bool {
	var e *fiber.Error
	return errors.As(err, &e) && (e.Code == fiber.StatusRequestEntityTooLarge || e.Code == fiber.StatusRequestTimeout)
}

// refuseKnown answers with err according to the transport rules of handle, and counts the request
// for its key.
func (s *Server) refuseKnown(c *fiber.Ctx, call *api.Call, err error) {
	peer := s.notePeer(c, call)
	if !peer.ok {
		s.api.Fail(c, call, api.HTTPSRequired())
		return
	}
	s.api.FailKnown(c, call, err)
}
