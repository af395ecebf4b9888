// Package web is what people look at in a browser: the OpenAPI document, the
// reference made from it, and the status page. Everything is embedded and comes
// from the host itself; pages are finished once and sent as they are.
package web

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"pmx/http/openapi"
)

// pageAge is how long, in seconds, a browser may keep a page without asking: a
// new version of the program may change any of them.
const pageAge = 300

// Site is all pages, by path.
type Site struct{ pages map[string]*page }

// Paths are the patterns of all paths that pages may have.
func Paths() []string { return []string{"/openapi.json"} }

// New makes the pages of this program's API.
func New() (*Site, error) {
	s := &Site{pages: map[string]*page{}}
	doc, err := openapi.Current()
	if err != nil {
		return nil, err
	}
	text, err := doc.JSON()
	if err != nil {
		return nil, err
	}
	var small bytes.Buffer
	if err := json.Compact(&small, text); err != nil {
		return nil, fmt.Errorf("pack the OpenAPI document: %w", err)
	}
	if err := s.add("/openapi.json", jsonType, small.Bytes()); err != nil {
		return nil, err
	}
	s.pages["/openapi.json"].anyone = true
	return s, nil
}

func (s *Site) add(path, kind string, body []byte) error {
	p, err := newPage(kind, body, pageAge)
	if err != nil {
		return err
	}
	s.pages[path] = p
	return nil
}

// Serve answers c if its path is that of a page; false leaves it untouched.
func (s *Site) Serve(c *fiber.Ctx) (bool, error) {
	p := s.pages[c.Path()]
	if p == nil {
		return false, nil
	}
	return true, p.send(c)
}
