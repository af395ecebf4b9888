package api

import (
	"sync/atomic"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"pmx/http/access"
	"pmx/rollups/serving"
)

// opening is the state of an API whose data is still being read. The zero value is that of one whose data is there.
type opening struct {
	on atomic.Bool
	// traders has only leaderboards of traders and the totals of wallets; nil: these are not read yet, or everything is.
	traders atomic.Pointer[encodedSnapshot]
}

// PublishTraders makes snap, which has only leaderboards of traders and the totals of wallets, the source of the responses that
// need nothing else, until Open is called.
func (a *API) PublishTraders(snap *serving.Snapshot) {
	a.opening.traders.Store(newEncodedSnapshot(snap))
}

// Open makes an API that was made with Config.Opening answer every request. It counts as started from now on: nothing reads when that was
// before.
func (a *API) Open() {
	a.started = a.now()
	a.opening.on.Store(false)
	a.opening.traders.Store(nil)
}

// IsOpen reports whether every request is answered.
func (a *API) IsOpen() bool { return !a.opening.on.Load() }

// refuseOpening returns the problem of a request for r, nil for a path without an endpoint, while the data is still being read.
// Nobody's key is looked at, so it counts for none.
func (a *API) refuseOpening(r *Route) *problem {
	answered := r != nil && r.needsTraders && a.opening.traders.Load() != nil // before IsOpen: Open changes both, this one last
	if answered || a.IsOpen() {
		return nil
	}
	return stillOpening()
}

// currentTraders is current for responses that need only leaderboards of traders and the totals of wallets.
func (a *API) currentTraders() (*encodedSnapshot, error) {
	if v := a.opening.traders.Load(); v != nil {
		return v, nil
	}
	return a.current()
}

// StillOpening is the problem of a request that comes while the data is still being read.
func StillOpening() error { return stillOpening() }

func stillOpening() *problem {
	return notReady("The service is starting and opening its data. Retry after the number of seconds in Retry-After.", 2)
}

// Opening answers requests that come before there is an API, while the data is still being opened.
func Opening() fasthttp.RequestHandler {
	ids, all, p := newCalls(), newEnvelopes(), stillOpening()
	return func(ctx *fasthttp.RequestCtx) {
		id := ids.appendID(nil, ctx.Request.Header.Peek(headerRequestID))
		p.answer(&ctx.Response, p.append(nil, string(id), all, access.Nobody))
		setHeader(&ctx.Response.Header, headerRequestID, string(id))
		setHeader(&ctx.Response.Header, fiber.HeaderXContentTypeOptions, "nosniff")
	}
}
