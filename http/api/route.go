package api

import (
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"

	"pmx/http/wire"
	"pmx/rollups/serving"
)

// Route is one endpoint: the single source of its routing, its parameter checks
// and its description.
type Route struct {
	Method  string
	Path    string // below wire.Base, parameters as {name}
	Section wire.Section
	Summary string
	Public  bool // answers without a key
	MaxRows int  // the endpoint's own row maximum; 0 for single objects
	Params  []Param

	serve      func(a *API, c *fiber.Ctx, call *Call) error
	index      int // in the table, from 1
	defaults   [maxParams]value
	knownQuery string
}

// periodParam is the rolling window of a leaderboard.
func periodParam() Param {
	p := Param{Name: "period", Kind: Choice, Default: serving.Week.String(), Doc: "rolling window that ends at as_of"}
	for period := range serving.Periods {
		p.Choices = append(p.Choices, period.String())
	}
	return p
}

func limitParam(def string, most int64) Param {
	return Param{Name: "limit", Kind: Integer, Default: def, Min: 1, Max: most, Doc: "rows wanted; the plan's row cap may trim it"}
}

func addressParam() Param {
	return Param{Name: "address", InPath: true, Kind: WalletArg, Doc: "wallet address, in any letter case"}
}

// boardParams are the places of a leaderboard's parameters.
const (
	boardPeriod = iota
	boardLimit
)

// Routes is the table of all endpoints.
func Routes() []Route {
	return []Route{
		{
			Method: fiber.MethodGet, Path: "/health", Section: wire.Status, Public: true,
			Summary: "Liveness and database reachability", serve: (*API).health,
		},
		{
			Method: fiber.MethodGet, Path: "/status", Section: wire.Status, Public: true,
			Summary: "Alias of /health", serve: (*API).health,
		},
		{
			Method: fiber.MethodGet, Path: "/status/public", Section: wire.Status, Public: true,
			Summary: "Freshness grade of every subsystem", serve: (*API).publicStatus,
		},
		{
			Method: fiber.MethodGet, Path: "/trader/{address}/stats", Section: wire.Trader,
			Summary: "Lifetime summary of a wallet", serve: (*API).traderStats,
			Params: []Param{addressParam()},
		},
		{
			Method: fiber.MethodGet, Path: "/leaderboard/traders", Section: wire.Leaderboard, MaxRows: boardRows,
			Summary: "Top traders by real_pnl", serve: (*API).traderBoard,
			Params: []Param{boardPeriod: periodParam(), boardLimit: limitParam("50", boardRows)},
		},
		{
			Method: fiber.MethodGet, Path: "/leaderboard/markets", Section: wire.Leaderboard, MaxRows: boardRows,
			Summary: "Top markets by volume", serve: (*API).marketBoard,
			Params: []Param{boardPeriod: periodParam(), boardLimit: limitParam("50", boardRows)},
		},
	}
}

// prepare works out what the table implies: parsed defaults and advice.
func prepare(routes []Route) ([]Route, error) {
	for i := range routes {
		r := &routes[i]
		r.index = i + 1
		r.knownQuery = describeQuery(r.Params)
		if len(r.Params) > maxParams {
			return nil, fmt.Errorf("route %s: %d parameters, at most %d", r.Path, len(r.Params), maxParams)
		}
		for j := range r.Params {
			p := &r.Params[j]
			if p.InPath || p.Default == "" {
				continue
			}
			v, bad := p.parse(p.Default)
			if bad != nil {
				return nil, fmt.Errorf("route %s: default of %w", r.Path, bad)
			}
			v.given = false
			r.defaults[j] = v
		}
	}
	return routes, nil
}

// fiberPath is the route's path in Fiber's syntax.
func (r *Route) fiberPath() string {
	return wire.Base + strings.NewReplacer("{", ":", "}", "").Replace(r.Path)
}

// matches tells whether path, below wire.Base, has the shape of the route.
func (r *Route) matches(path string) bool {
	want, have := strings.Split(r.Path, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return false
	}
	for i, segment := range want {
		if segment != have[i] && (!strings.HasPrefix(segment, "{") || have[i] == "") {
			return false
		}
	}
	return true
}

// allowed lists the methods that path answers to; "" where there is no such path.
func allowed(routes []Route, path string) (methods string, public bool) {
	for i := range routes {
		r := &routes[i]
		if !r.matches(path) {
			continue
		}
		public = public || r.Public
		if methods != "" {
			methods += ", "
		}
		methods += r.Method
		if r.Method == fiber.MethodGet {
			methods += ", " + fiber.MethodHead
		}
	}
	return methods, public
}
