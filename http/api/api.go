// Package api answers the v3 REST API: one route table, strict parameters, the
// tariff envelope, and handlers that read immutable snapshots. Bodies that many callers
// get are encoded once per snapshot; a request copies a prefix of them.
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
	// Freshness is what the status grades are computed from.
	Freshness() serving.Freshness
}

// Config is what an API is made of. All fields but Exports and Now are needed.
type Config struct {
	Source    Source
	Reader    Reader
	Exports   Exports // nil: no exports are made
	Gate      *access.Gate
	CursorKey []byte           // at least 32 secret bytes; the same after a restart, so that cursors stay good
	Version   string           // of the program
	Now       func() time.Time // nil: the wall clock
	Watch     *guard.Watch     // over what runs in the background; nil: none
	// Historical tells that the venue is so on purpose: its trades and markets are
	// graded against its own as_of.
	Historical bool
	// Copies tells that the history of the service by days is another server's, which the store has:
	// nothing is added to it.
	Copies bool
	// Sources gives the sources that are followed, in the order in which they are shown;
	// nil: none is. It is called by any number of goroutines.
	Sources func() []serving.Source
	// Newest are trades that are not final; nil: none are followed.
	Newest *serving.NewestTrades
	// OpenPages tells that pages of this server may ask without a key: as on the plan free,
	// with a limit per client address.
	OpenPages bool
}

// API answers requests from the snapshot that was published last.
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
	copies     bool                     // days are another server's
	forgot     string                   // the day on which the store forgot what is too old; of the sampler alone
	direct     map[string]fiber.Handler // of GET endpoints whose path has no parameter
	scratch    scratchPool
	published  atomic.Pointer[encodedSnapshot]
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
	wall := cfg.Now == nil
	if wall {
		cfg.Now = time.Now
	}
	a := &API{
		wall: wall, watch: cfg.Watch,
		source: cfg.Source, reader: cfg.Reader, exports: cfg.Exports, readCache: reads, leaderboards: newLeaderboardSets(), cursorKey: cfg.CursorKey, gate: cfg.Gate, version: cfg.Version, historical: cfg.Historical, copies: cfg.Copies, sources: cfg.Sources, newest: cfg.Newest, now: cfg.Now, started: cfg.Now(),
		routes: routes, envelopes: newEnvelopes(), compress: compress, calls: newCalls(), pinned: newPinnedEpochs(cfg.Now()), pinnedHoldings: newPinnedEpochs(cfg.Now()), rowMembers: rowMembers(),
		direct: map[string]fiber.Handler{},
	}
	a.pinger.ping = cfg.Source.Ping
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

// Publish makes snap what every later request is answered from. A snapshot older
// than the published one is passed over.
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

// OpenPages tells that pages of this server may ask without a key.
func (a *API) OpenPages() bool { return a.guests != nil }

// Epoch is that of the published snapshot; false before the first one.
func (a *API) Epoch() (uint64, bool) {
	v := a.published.Load()
	if v == nil {
		return 0, false
	}
	return v.snap.Epoch, true
}

// Mount registers every route, and an answer for all that is none.
func (a *API) Mount(app fiber.Router) {
	for i := range a.routes {
		r := &a.routes[i]
		app.Add(r.Method, r.fiberPath(), a.handler(r))
		if r.Method == fiber.MethodGet {
			app.Add(fiber.MethodHead, r.fiberPath(), a.handler(r))
		}
	}
	app.Use(a.notFound)
}

// Direct returns the handler of the endpoint that c asks for with GET, where its path has no
// parameter; else nil. It saves the busiest endpoints the router, which tries one route after
// another.
func (a *API) Direct(c *fiber.Ctx) fiber.Handler {
	if c.Method() != fiber.MethodGet {
		return nil
	}
	return a.direct[c.Path()]
}

// CallOf returns the Call that Begin attached to c.
func CallOf(c *fiber.Ctx) *Call { return c.Locals(callKey{}).(*Call) }

// handler is the way of a request through route r.
func (a *API) handler(r *Route) fiber.Handler {
	return func(c *fiber.Ctx) error {
		call := CallOf(c)
		call.route = r
		if p := a.authenticate(c, call, r.Public); p != nil {
			return p
		}
		if p := r.readParams(c, call); p != nil {
			return p
		}
		return r.serve(a, c, call)
	}
}

// notFound answers what no route took: 405 where another method would do, else 404.
func (a *API) notFound(c *fiber.Ctx) error {
	path, below := strings.CutPrefix(c.Path(), wire.Base)
	if !below || path == "" || path[0] != '/' {
		return fiber.ErrNotFound
	}
	methods, public := allowed(a.routes, path)
	if p := a.authenticate(c, CallOf(c), public); p != nil {
		return p
	}
	if methods == "" {
		return fiber.ErrNotFound
	}
	p := *transportProblem(fiber.ErrMethodNotAllowed)
	p.allow = methods
	return &p
}

// current returns the published snapshot, or the problem that there is none.
func (a *API) current() (*encodedSnapshot, error) {
	v := a.published.Load()
	if v == nil {
		return nil, notReady("The first refresh has not finished yet. Retry after the number of seconds in Retry-After.", 2)
	}
	return v, nil
}
