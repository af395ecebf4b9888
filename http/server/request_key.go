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

// Errors that a Waitlist gives.
var (
	// ErrNotUnderstood: what was filled in cannot be kept.
	ErrNotUnderstood = errors.New("the request for a key cannot be kept")
	// ErrListFull: no more requests are taken.
	ErrListFull = errors.New("the waitlist is full")
)

// Waitlist takes a request for a key.
type Waitlist func(ctx context.Context, contact, useCase string) error

// keyRequestTime bounds how long a request may take to be written.
const keyRequestTime = 5 * time.Second

// keyForm is the form on which anybody may ask for a key.
type keyForm struct {
	list  Waitlist
	asked *access.KeyRequests
	site  func() (*web.Site, error)
	pages sync.Map // of *web.Page by web.KeyRequestEnd
}

// mountKeyForm puts the form where the server has one.
func (s *Server) mountKeyForm(app *fiber.App, list Waitlist) {
	if list == nil {
		return
	}
	f := &keyForm{list: list, asked: access.NewKeyRequests(), site: s.pages.site}
	app.Get(web.RequestKeyPath, func(c *fiber.Ctx) error { return f.show(c, web.NotAsked) })
	app.Post(web.RequestKeyPath, f.take)
}

// take takes a form that was filled in. Pages of other sites may not send it for their visitors.
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
	if err != nil { // only what is kept is counted
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

// show answers with a page, which is made once.
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
