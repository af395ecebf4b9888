package web

import (
	"fmt"

	"github.com/gofiber/fiber/v2"
)

// RequestKeyPath is the path of the form with which anybody can request a key, if the server has
// one.
const RequestKeyPath = "/request-key"

// Limits of the form's fields, in characters.
const (
	maxContact = 200
	maxUseCase = 2_000
)

// KeyRequestEnd is the outcome of a request for a key.
type KeyRequestEnd int

// The outcomes. NotAsked is the empty form.
const (
	NotAsked KeyRequestEnd = iota
	Asked
	NotUnderstood
	AskedTooOften
	ListFull
)

// KeyRequest returns the page with the form, or with the outcome.
func (s *Site) KeyRequest(end KeyRequestEnd) (*Page, error) {
	page := struct {
		frame
		Said                   string
		Form                   bool
		MaxContact, MaxUseCase int
	}{frame: s.plainFrame("Request a key"), MaxContact: maxContact, MaxUseCase: maxUseCase}
	status := fiber.StatusOK
	switch end {
	case NotAsked:
		page.Form = true
	case Asked:
		page.Said = "Your request is on the waitlist. The answer will be sent to the address that you entered."
	case NotUnderstood:
		page.Form, status = true, fiber.StatusBadRequest
		page.Said = fmt.Sprintf("Fill in both fields: at most %d characters for how to reach you, and at most %d for what you need the data for, without control characters.", maxContact, maxUseCase)
	case AskedTooOften:
		status = fiber.StatusTooManyRequests
		page.Said = "There were too many requests from your address. Try again in an hour."
	case ListFull:
		status = fiber.StatusServiceUnavailable
		page.Said = "The waitlist is full. Try again another day."
	}
	body, err := s.render("request-key", page)
	if err != nil {
		return nil, fmt.Errorf("page %s: %w", RequestKeyPath, err)
	}
	p := newPage(htmlType, body, 0)
	p.status = status
	return p, nil
}
