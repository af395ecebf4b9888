// Package api serves the v3 REST API: one route table, strict parameters, the tariff envelope, and
// handlers that read immutable snapshots. Bodies that many callers get are encoded once per
// snapshot; a request copies a prefix of them.
package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"

	"pmx/engine/guard"
	"pmx/http/access"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// Source is what the API needs of the engine.
type Source interface {
	// Snapshot is the newest snapshot; nil while there is none.
	Snapshot() *serving.Snapshot
	// Ping reports whether the database answers.
	Ping(ctx context.Context) error
	// Freshness has the values that the status grades are computed from.
	Freshness() serving.Freshness
}

// Config has the dependencies and settings of an API. All fields but Exports and Now are required.
type Config struct {
	Source    Source
	Reader    Reader
	Exports   Exports // nil: no exports are made
	Gate      *access.Gate
	CursorKey []byte           // at least 32 secret bytes; the same after a restart, so that cursors stay valid
	Version   string           // of the program
	Now       func() time.Time // nil: the wall clock
	Watch     *guard.Watch     // watches background work; nil: none
	// GoMemory is Go's part of the memory in bytes as it is divided at the start; 0 and MaxInt64: no limit. The rows behind
	// leaderboards may take a share of it.
	GoMemory int64
	// LeaderboardsRead is called each time KeepLeaderboards has read leaderboards, could not, or finds them read; nil: nothing is.
	LeaderboardsRead func()
	// Historical says that the venue is historical on purpose: its trades and markets are graded
	// against its own as_of.
	Historical bool
	// Copies says that the daily status history in the store is another server's: nothing is added
	// to it.
	Copies bool
	// Sources gives the sources that are followed, in the order in which they are shown;
	// nil: none is. It is called by any number of goroutines.
	Sources func() []serving.Source
	// Newest are trades that are not final; nil: none are followed.
	Newest *serving.NewestTrades
	// Opening says that Source is still reading its data: until Open is called, requests get 503, but for those that PublishTraders
	// suffices for.
	Opening bool
	// OpenPages says that pages of this server may send requests without a key: as on the plan
	// free, with a limit per client address.
	OpenPages bool
}

// API serves requests from the snapshot that was published last.
type API struct {
	source         Source
	reader         Reader
	exports        Exports
	readCache      *readCache
	leaderboards   *leaderboardSets
	cursorKey      []byte
	gate           *access.Gate
	watch          *guard.Watch
	version        string
	historical     bool
	sources        func() []serving.Source
	newest         *serving.NewestTrades // nil: none are followed
	guests         *access.Guests        // nil: every request needs a key
	now            func() time.Time
	wall           bool // now is the wall clock
	started        time.Time
	routes         []Route
	envelopes      *envelopes
	compress       *compressor
	calls          *calls
	pinned         *pinnedEpochs // by scans of the screener
	pinnedHoldings *pinnedEpochs // by scans of wallets' markets
	// rowMembers are the members of a market's row.
	rowMembers []rowMember
	pinger     pinger
	history    statusHistory
	days       statusDays
	copies     bool                     // the daily history is another server's
	forgot     string                   // the day on which the store last deleted what is too old; used only by the sampler
	direct     map[string]fiber.Handler // of GET endpoints whose path has no parameter
	scratch    scratchPool
	published  atomic.Pointer[encodedSnapshot]
	opening    opening

	leaderboardsRead func() // see Config
}

// New makes an API and publishes the source's snapshot, if it has one already.
func New(cfg Config) (*API, error) {
	routes := Routes()
	compress, err := newCompressor()
	if err != nil {
		return nil, fmt.Errorf("prepare compression: %w", err)
	}
	reads, err := newReadCache()
	if err != nil {
		return nil, err
	}
	if err := cfg.Gate.Name(endpointNames(routes)); err != nil {
		return nil, fmt.Errorf("prepare routes: %w", err)
	}
	if len(cfg.CursorKey) < 32 {
		return nil, errors.New("cursor key: 32 bytes or more are needed")
	}
	if cfg.LeaderboardsRead == nil {
		cfg.LeaderboardsRead = func() {}
	}
	wall := cfg.Now == nil
	if wall {
		cfg.Now = time.Now
	}
	a := &API{
		wall: wall, watch: cfg.Watch,
		source: cfg.Source, reader: cfg.Reader, exports: cfg.Exports, readCache: reads, leaderboards: newLeaderboardSets(cfg.GoMemory), leaderboardsRead: cfg.LeaderboardsRead, cursorKey: cfg.CursorKey, gate: cfg.Gate, version: cfg.Version, historical: cfg.Historical, copies: cfg.Copies, sources: cfg.Sources, newest: cfg.Newest, now: cfg.Now, started: cfg.Now(),
		routes: routes, envelopes: newEnvelopes(), compress: compress, calls: newCalls(), pinned: newPinnedEpochs(cfg.Now()), pinnedHoldings: newPinnedEpochs(cfg.Now()), rowMembers: rowMembers(),
		direct: map[string]fiber.Handler{},
	}
	a.pinger.ping = cfg.Source.Ping
	a.opening.on.Store(cfg.Opening)
	if cfg.OpenPages {
		a.guests = access.NewGuests()
	}
	for i := range a.routes {
		if r := &a.routes[i]; r.Method == fiber.MethodGet && r.fixed() {
			a.direct[r.fiberPath()] = a.handler(r)
		}
	}
	if snap := cfg.Source.Snapshot(); snap != nil {
		a.Publish(snap)
	}
	return a, nil
}

// Publish makes snap the source of all later responses. A snapshot older than the published one is
// ignored.
func (a *API) Publish(snap *serving.Snapshot) {
	next := newEncodedSnapshot(snap)
	for {
		old := a.published.Load()
		if old != nil && old.snap.Epoch > snap.Epoch {
			return
		}
		if a.published.CompareAndSwap(old, next) {
			a.pinned.sweep(next.markets, a.now())
			a.pinnedHoldings.sweep(next.holdings, a.now())
			a.leaderboards.nudge()
			return
		}
	}
}

// OpenPages reports whether pages of this server may send requests without a key.
func (a *API) OpenPages() bool { return a.guests != nil }

// Epoch is the epoch of the published snapshot; false before the first one.
func (a *API) Epoch() (uint64, bool) {
	v := a.published.Load()
	if v == nil {
		return 0, false
	}
	return v.snap.Epoch, true
}

// Mount registers every route, and a handler for unknown paths.
func (a *API) Mount(app fiber.Router) {
	for i := range a.routes {
		r := &a.routes[i]
		app.Add(r.Method, r.fiberPath(), a.handler(r))
		if r.Method == fiber.MethodGet {
			app.Add(fiber.MethodHead, r.fiberPath(), a.handler(r))
		}
	}
	app.Use(a.Unrouted)
}

// Direct returns the handler of the endpoint that c requests with GET, if its path has no
// parameter; else nil. It spares the busiest endpoints the router, which tries one route after
// another.
func (a *API) Direct(c *fiber.Ctx) fiber.Handler {
	if c.Method() != fiber.MethodGet {
		return nil
	}
	return a.direct[c.Path()]
}

// CallOf returns the Call that Begin attached to c.
func CallOf(c *fiber.Ctx) *Call { return c.Locals(callKey{}).(*Call) }

// handler is the handler of route r with everything around it.
func (a *API) handler(r *Route) fiber.Handler {
	return func(c *fiber.Ctx) error {
		call := CallOf(c)
		call.route = r
		if p := a.refuseOpening(r); p != nil {
			return p
		}
		if p := a.authenticate(c, call, r.Public); p != nil {
			return p
		}
		if p := r.readParams(c, call); p != nil {
			return p
		}
		return r.serve(a, c, call)
	}
}

// Unrouted answers requests that no route matches: 405 if another method would match, else 404.
func (a *API) Unrouted(c *fiber.Ctx) error {
	path, below := strings.CutPrefix(c.Path(), wire.Base)
	if !below || path == "" || path[0] != '/' {
		return fiber.ErrNotFound
	}
	if p := a.refuseOpening(nil); p != nil {
		return p
	}
	methods, public := allowed(a.routes, path)
	if p := a.authenticate(c, CallOf(c), public); p != nil {
		return p
	}
	if methods == "" {
		return fiber.ErrNotFound
	}
	return MethodNotAllowed(methods)
}

// current returns the published snapshot, or the problem that there is none.
func (a *API) current() (*encodedSnapshot, error) {
	if !a.IsOpen() {
		return nil, stillOpening()
	}
	v := a.published.Load()
	if v == nil {
		return nil, notReady("The first refresh has not finished yet. Retry after the number of seconds in Retry-After.", 2)
	}
	return v, nil
}
