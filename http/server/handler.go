package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"pmx/engine/guard"
	"pmx/http/api"
	"pmx/http/wire"
)

// hsts tells browsers to keep to HTTPS for a year.
const hsts = "max-age=31536000"

// handle is what every request passes first: its id, a net under the handlers,
// one log line, the transport rules, browsers that ask first.
func (s *Server) handle(c *fiber.Ctx) error {
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
	answer := s.api.Direct(c)
	if answer == nil {
		answer = (*fiber.Ctx).Next
	}
	if err := answer(c); err != nil {
		s.fail(c, call, err)
		if errors.Is(err, fiber.ErrNotFound) {
			s.missing(c)
		}
	}
	return nil
}

// notePeer notes where c came from.
func (s *Server) notePeer(c *fiber.Ctx, call *api.Call) peer {
	peer := s.transport.peer(c)
	call.Addr = peer.addr
	if peer.secure {
		c.Response().Header.SetCanonical([]byte("Strict-Transport-Security"), []byte(hsts))
	}
	return peer
}

// fail answers with err and logs it if it is the server's own.
func (s *Server) fail(c *fiber.Ctx, call *api.Call, err error) {
	s.api.Fail(c, call, err)
	if call.Code() == "internal" || errors.Is(err, context.DeadlineExceeded) {
		s.log.Error().Str("request_id", call.RequestID()).Str("route", call.Route()).Err(err).Msg("request_failed")
	}
}

// finish ends a request: a panic becomes a 500, then it is counted and logged.
func (s *Server) finish(c *fiber.Ctx, call *api.Call) {
	if p := guard.Recovered(recover()); p != nil {
		s.log.Error().Str("request_id", call.RequestID()).Str("route", call.Route()).
			Str("panic", fmt.Sprint(p.Value)).Str("stack", p.Stack).Msg("request_panicked")
		s.api.Fail(c, call, nil)
	}
	s.end(c, call)
}

// end is the last of every answer, whatever gave it.
func (s *Server) end(c *fiber.Ctx, call *api.Call) {
	c.Response().Header.SetCanonical([]byte(fiber.HeaderXContentTypeOptions), []byte("nosniff"))
	s.origins.mark(c.Context())
	if call.Guest() { // a page of another site would be refused
		c.Response().Header.Add(fiber.HeaderVary, "Sec-Fetch-Site")
	}
	if call.Keyed() {
		keyGiven(c.Context().Conn())
	}
	s.record(c, call)
	s.api.End(call)
}

// transportFailed answers what was refused before handle: headers too large, a
// body too large, a malformed request.
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

// headersRead reports whether the headers of a refused request are there as a whole: only its body
// was too large, or did not come.
func headersRead(err error) bool {
	var e *fiber.Error
	return errors.As(err, &e) && (e.Code == fiber.StatusRequestEntityTooLarge || e.Code == fiber.StatusRequestTimeout)
}

// refuseKnown answers with err under the transport rules of handle, and for the key
// that the request carries.
func (s *Server) refuseKnown(c *fiber.Ctx, call *api.Call, err error) {
	peer := s.notePeer(c, call)
	if !peer.ok {
		s.api.Fail(c, call, api.HTTPSRequired())
		return
	}
	s.api.FailKnown(c, call, err)
}
