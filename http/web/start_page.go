package web

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"

	"pmx/http/openapi"
	"pmx/http/wire"
)

// shortcut is where the index leads to.
type shortcut struct{ Name, Path, About string }

// shortcuts are what a visitor of the bare address looks for.
func shortcuts() []shortcut {
	return []shortcut{
		{"docs", "/docs", "the reference, with a form to try each endpoint"},
		{"status", "/status", "how fresh the data is now and was before"},
		{"openapi", "/openapi.json", "every endpoint, field and error as an OpenAPI document"},
		{"health", wire.Base + "/health", "health of the service, for programs"},
	}
}

// index is what stands at the bare address and at the API's base, which people open
// before they know any other: JSON for programs, a page for browsers.
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
		return fmt.Errorf("page of what is missing: %w", err)
	}
	s.index.missing = newPage(htmlType, html, 0)
	s.index.missing.status = fiber.StatusNotFound
	return nil
}

// LooksForPage reports whether c is a browser's request for a page outside the API.
func LooksForPage(c *fiber.Ctx) bool {
	return (c.Method() == fiber.MethodGet || c.Method() == fiber.MethodHead) && c.Path() != "/api" && !strings.HasPrefix(c.Path(), "/api/") && forBrowser(c)
}

// Missing answers with the page for addresses that are none.
func (s *Site) Missing(c *fiber.Ctx) error {
	err := s.index.missing.Send(c)
	c.Set(fiber.HeaderVary, fiber.HeaderAccept+", "+fiber.HeaderAcceptEncoding)
	return err
}

// forBrowser reports whether the caller takes a page before JSON.
func forBrowser(c *fiber.Ctx) bool {
	return c.Accepts(fiber.MIMEApplicationJSON, fiber.MIMETextHTML) == fiber.MIMETextHTML
}

// send answers with the form that the caller takes first; with JSON if it does not matter. At the
// bare address a browser is shown the venue.
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
