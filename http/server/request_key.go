package server

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"pmx/http/access"
	"pmx/http/api"
	"pmx/http/web"
)

// Errors that a Waitlist returns.
var (
	// ErrNotUnderstood means that the contents of the form cannot be stored.
	ErrNotUnderstood = errors.New("the request for a key cannot be kept")
	// ErrListFull means that no more requests are accepted.
	ErrListFull = errors.New("the waitlist is full")
)

// Waitlist stores a request for a key.
type Waitlist func(ctx context.Context, contact, useCase string) error

// keyRequestTime is how long storing a request may take.
const keyRequestTime = 5 * time.Second

// keyForm is the form with which anybody can request a key.
type keyForm struct {
	list  Waitlist
	asked *access.KeyRequests
	site  func() (*web.Site, error)
	pages sync.Map // of *web.Page by web.KeyRequestEnd
}

// mountKeyForm registers the form if there is a waitlist.
func (s *Server) mountKeyForm(app *fiber.App, list Waitlist) {
	if list == nil {
		return
	}
	f := &keyForm{list: list, asked: access.NewKeyRequests(), site: s.pages.site}
	app.Get(web.RequestKeyPath, func(c *fiber.Ctx) error { return f.show(c, web.NotAsked) })
	app.Post(web.RequestKeyPath, f.take)
	app.All(web.RequestKeyPath, s.notRead)
	s.pages.form = true
}

// take handles a submitted form. Pages of other sites may not submit it for their visitors.
func (f *keyForm) take(c *fiber.Ctx) error {
	if site := c.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return f.show(c, web.NotUnderstood)
	}
	call := api.CallOf(c)
	if ok, retry := f.asked.Take(call.Addr, call.Start); !ok {
		c.Set(fiber.HeaderRetryAfter, strconv.FormatInt(retry, 10))
		return f.show(c, web.AskedTooOften)
	}
	ctx, cancel := context.WithTimeout(context.Background(), keyRequestTime)
	defer cancel()
	err := f.list(ctx, strings.Clone(c.FormValue("contact")), strings.Clone(c.FormValue("use_case")))
	if err != nil { // only requests that are stored are counted
		f.asked.Return(call.Addr, call.Start)
	}
	switch {
	case errors.Is(err, ErrNotUnderstood):
		return f.show(c, web.NotUnderstood)
	case errors.Is(err, ErrListFull):
		return f.show(c, web.ListFull)
	case err != nil:
		return fmt.Errorf("request for a key: %w", err)
	}
	return f.show(c, web.Asked)
}

// show answers with a page, which is rendered once.
func (f *keyForm) show(c *fiber.Ctx, end web.KeyRequestEnd) error {
	page, ok := f.pages.Load(end)
	if !ok {
		site, err := f.site()
		if err != nil {
			return fmt.Errorf("make pages: %w", err)
		}
		if page, err = site.KeyRequest(end); err != nil {
			return err
		}
		f.pages.Store(end, page)
	}
	if err := page.(*web.Page).Send(c); err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return nil
}
