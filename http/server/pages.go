package server

import (
	"fmt"

	"github.com/gofiber/fiber/v2"

	"pmx/http/web"
)

// mountPages puts the pages outside the API before its routes. They are made at
// the first request for one: a server that is only asked for data has no use
// for them.
func (s *Server) mountPages(app *fiber.App) {
	serve := func(c *fiber.Ctx) error {
		site, err := s.site()
		if err != nil {
			return fmt.Errorf("make pages: %w", err)
		}
		if done, err := site.Serve(c); done || err != nil {
			return err
		}
		return fiber.ErrNotFound
	}
	for _, path := range web.Paths() {
		app.Get(path, serve) // HEAD too
	}
}
