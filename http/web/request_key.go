package web

import (
	"fmt"

	"github.com/gofiber/fiber/v2"
)

// RequestKeyPath is where anybody may ask for a key, where the server has such a form.
const RequestKeyPath = "/request-key"

// Limits of what the form takes, in characters.
const (
	maxContact = 200
	maxUseCase = 2_000
)

// KeyRequestEnd is how a request for a key ended.
type KeyRequestEnd int

// The ends. NotAsked is the empty form.
const (
	NotAsked KeyRequestEnd = iota
	Asked
	NotUnderstood
	AskedTooOften
	ListFull
)

// KeyRequest is the page with the form, and what became of it.
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
		page.Said = "Your request is on the waitlist. You will be written to at the address that you gave."
	case NotUnderstood:
		page.Form, status = true, fiber.StatusBadRequest
		page.Said = fmt.Sprintf("Fill in both fields: at most %d characters to reach you by, and at most %d on what you need the data for, without control characters.", maxContact, maxUseCase)
	case AskedTooOften:
		status = fiber.StatusTooManyRequests
		page.Said = "Too many requests came from your address. Try again in an hour."
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
