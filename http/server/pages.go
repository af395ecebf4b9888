package server

import (
	"fmt"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"pmx/http/api"
	"pmx/http/web"
)

// statusFresh is how long a rendered status page is served before it is rendered again.
const statusFresh = 5 * time.Second

// pages are everything that the server serves outside the API. They are made at the first request
// for one: a server that is used only for its API does not need them.
type pages struct {
	site func() (*web.Site, error)
	form bool // there is a form for requests of keys

	mu     sync.Mutex
	status *web.Page
	at     time.Time // when status was made
}

func newPages(open bool) *pages {
	return &pages{site: sync.OnceValues(func() (*web.Site, error) { return web.New(open) })}
}

// mountPages registers the pages before the routes of the API.
func (s *Server) mountPages(app *fiber.App) {
	for _, path := range web.Paths() {
		app.All(path, s.page)
	}
	app.Get(web.AnswersPath, s.answers)
}

// page answers with the page at the path of c. A page can only be read.
func (s *Server) page(c *fiber.Ctx) error {
	if c.Method() != fiber.MethodGet && c.Method() != fiber.MethodHead {
		return s.notRead(c)
	}
	if c.Path() == "/status" {
		page, err := s.statusPage()
		if err != nil {
			return err
		}
		return page.Send(c)
	}
	site, err := s.pages.site()
	if err != nil {
		return fmt.Errorf("make pages: %w", err)
	}
	if done, err := site.Serve(c); done || err != nil {
		return err
	}
	return fiber.ErrNotFound
}

// notRead refuses a request outside the API that is to do something else than read: 405 for a page, else 404.
func (s *Server) notRead(c *fiber.Ctx) error {
	if s.pages.form && c.Path() == web.RequestKeyPath {
		return api.MethodNotAllowed("GET, HEAD, POST")
	}
	site, err := s.pages.site()
	if err != nil {
		return fmt.Errorf("make pages: %w", err)
	}
	if site.Has(c.Path()) {
		return fiber.ErrMethodNotAllowed
	}
	return fiber.ErrNotFound
}

// missing sends a browser a page instead of the problem "not found". If the pages cannot be made,
// the problem is sent.
func (s *Server) missing(c *fiber.Ctx) {
	if !web.LooksForPage(c) {
		return
	}
	site, err := s.pages.site()
	if err == nil {
		err = site.Missing(c)
	}
	if err != nil {
		s.log.Error().Err(err).Msg("make pages")
	}
}

// statusPage returns the status page, rendered at most statusFresh ago.
func (s *Server) statusPage() (*web.Page, error) {
	s.pages.mu.Lock()
	defer s.pages.mu.Unlock()
	now := s.api.StatusNow()
	if age := now.CheckedAt.Sub(s.pages.at); s.pages.status != nil && age >= 0 && age < statusFresh {
		return s.pages.status, nil
	}
	site, err := s.pages.site()
	if err != nil {
		return nil, fmt.Errorf("make pages: %w", err)
	}
	page, err := site.Status(now, s.api.StatusHistory())
	if err != nil {
		return nil, err
	}
	s.pages.status, s.pages.at = page, now.CheckedAt
	return page, nil
}
