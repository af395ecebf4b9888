package web

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"

	"pmx/http/openapi"
	"pmx/http/wire"
)

// shortcut is an address that the index links to.
type shortcut struct{ Name, Path, About string }

// shortcuts returns what a visitor of the root address may look for.
func shortcuts() []shortcut {
	return []shortcut{
		{"docs", "/docs", "the reference, with a form to try each endpoint"},
		{"status", "/status", "how fresh the data is now and was before"},
		{"openapi", "/openapi.json", "every endpoint, field and error as an OpenAPI document"},
		{"health", wire.Base + "/health", "health of the service, for programs"},
	}
}

// index is the page at the root address and at the API's base, which people open first: JSON for
// programs, a page for browsers.
type index struct{ data, page, home, missing *Page }

func (s *Site) addIndex() error {
	about := struct {
		Name    string            `json:"name"`
		Version string            `json:"version"`
		Base    string            `json:"base"`
		Paths   map[string]string `json:"paths"`
	}{"pmx", openapi.DocVersion, wire.Base, map[string]string{}}
	for _, p := range shortcuts() {
		about.Paths[p.Name] = p.Path
	}
	text, err := json.Marshal(about)
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	s.index.data = newPage(jsonType, text, pageAge)
	html, err := s.render("index", struct {
		frame
		Places []shortcut
	}{s.plainFrame("Start"), shortcuts()})
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	s.index.home = s.pages["/"]
	s.index.page = newPage(htmlType, html, pageAge)
	if html, err = s.render("missing", s.plainFrame("Nothing here")); err != nil {
		return fmt.Errorf("page for unknown paths: %w", err)
	}
	s.index.missing = newPage(htmlType, html, 0)
	s.index.missing.status = fiber.StatusNotFound
	return nil
}

// LooksForPage reports whether c is a browser's request for a page outside the API.
func LooksForPage(c *fiber.Ctx) bool {
	return (c.Method() == fiber.MethodGet || c.Method() == fiber.MethodHead) && c.Path() != "/api" && !strings.HasPrefix(c.Path(), "/api/") && forBrowser(c)
}

// Missing answers with the page for unknown paths.
func (s *Site) Missing(c *fiber.Ctx) error {
	err := s.index.missing.Send(c)
	c.Set(fiber.HeaderVary, fiber.HeaderAccept+", "+fiber.HeaderAcceptEncoding)
	return err
}

// forBrowser reports whether the client prefers HTML to JSON.
func forBrowser(c *fiber.Ctx) bool {
	return c.Accepts(fiber.MIMEApplicationJSON, fiber.MIMETextHTML) == fiber.MIMETextHTML
}

// send answers in the form that the client prefers; with JSON if it has no preference. At the root
// address a browser gets the overview of the venue.
func (x *index) send(c *fiber.Ctx) error {
	p := x.data
	if forBrowser(c) {
		p = x.page
		if c.Path() == "/" {
			p = x.home
		}
	}
	if err := p.Send(c); err != nil {
		return err
	}
	c.Set(fiber.HeaderVary, fiber.HeaderAccept+", "+fiber.HeaderAcceptEncoding)
	return nil
}
