package api

import (
	"fmt"
	"slices"
	"strings"
	"sync"

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
	MaxRows int  // maximum of limit, and max_rows of a plan without a cap; 0 for single objects
	// MaxItems is the maximum number of rows if limit counts things with several rows each, such as
	// days; 0: MaxRows.
	MaxItems int
	Params   []*Param
	Doc      string   // more than the summary has room for, in Markdown
	Reply    any      // a value of the wire type that a 200 carries; nil for a file
	Media    []string // media types of a 200 that is a file and not JSON
	Codes    []string // problem codes beyond those that every endpoint has
	// Body is a value of the wire type of the request's JSON body; nil for a request without one.
	// With BodyOptional an empty body stands for the type's zero value.
	Body         any
	BodyOptional bool
	// needsTraders says that the snapshot of PublishTraders suffices for most requests.
	needsTraders bool
	// Aliases says that other names in the path are answered with 308 and the right path.
	Aliases bool

	serve      func(a *API, c *fiber.Ctx, call *Call) error
	index      int     // in the table, from 1
	defaults   []value // of Params
	knownQuery string
}

func limitParam(def string, most int64) *Param {
	return &Param{Name: "limit", Kind: Integer, Default: def, Min: 1, Max: most, Doc: "maximum number of rows; the plan's row limit may reduce it"}
}

// about replaces a parameter's description.
func (p *Param) about(doc string) *Param {
	p.Doc = doc
	return p
}

// offsetParam skips rows of a ranked list.
func offsetParam() *Param {
	return &Param{Name: "offset", Kind: Integer, Default: "0", Min: 0, Max: 10_000, Doc: "number of rows to skip"}
}

// cursorParam continues where an earlier page ended.
func cursorParam() *Param {
	return &Param{Name: "cursor", Kind: CursorArg, Doc: "`next_cursor` of the previous page; all other parameters must stay the same"}
}

// periodParam is the rolling window of a ranking.
func periodParam() *Param {
	p := &Param{Name: "period", Kind: Choice, Default: serving.Week.String(), Doc: "length of the rolling window, which ends at as_of"}
	for period := range serving.Periods {
		p.Choices = append(p.Choices, period.String())
	}
	return p
}

// Routes is the table of all endpoints, in the order of the reference. It is shared and
// must not be changed.
func Routes() []Route { return routeTable() }

// routeTable makes the table once: its parameters are variables of the package.
var routeTable = sync.OnceValue(func() []Route {
	return prepareRoutes(slices.Concat(statusRoutes(), traderRoutes(), leaderboardRoutes(), marketRoutes(), newestRoutes(), searchRoutes(), eventRoutes(), statsRoutes(),
		indexRoutes(), oracleRoutes(), whaleRoutes(), screenerRoutes(), researchRoutes(), exportRoutes(), weatherRoutes(), weatherSeriesRoutes(), weatherTraderRoutes(),
		accountRoutes()))
})

// transportCodes are the codes with which any request may be answered before it reaches its
// endpoint: see transportProblem, HTTPSRequired and Opening.
func transportCodes() []string {
	return []string{"invalid_request", "https_required", "request_timeout", "body_too_large", "headers_too_large", "not_ready"}
}

// ProblemCodes lists every code that a request for the endpoint may be answered
// with: its own Codes, then those of the transport, last.
func (r *Route) ProblemCodes() []string {
	var codes []string
	if len(r.Params) > 0 {
		codes = append(codes, "invalid_parameter")
	}
	codes = append(codes, "unknown_parameter")
	if slices.ContainsFunc(r.Params, func(p *Param) bool { return p.Kind == CursorArg }) {
		codes = append(codes, "invalid_cursor")
	}
	if r.Body != nil {
		codes = append(codes, "invalid_body", "unsupported_media_type")
	}
	if !r.Public {
		codes = append(codes, "missing_api_key", "invalid_api_key", "revoked_api_key", "expired_api_key")
	}
	codes = append(codes, "rate_limited", "internal")
	for _, code := range slices.Concat(r.Codes, transportCodes()) {
		if !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	return codes
}

// prepareRoutes works out what the table implies: the places of parameters, parsed defaults and
// advice. It panics on an invalid table, which is a bug.
func prepareRoutes(routes []Route) []Route {
	for i := range routes {
		for place, p := range routes[i].Params {
			p.place = place
		}
	}
	for i := range routes {
		r := &routes[i]
		r.index, r.knownQuery, r.defaults = i+1, describeQuery(r.Params), make([]value, len(r.Params))
		if len(r.Params) > maxParams {
			panic(fmt.Sprintf("route %s: %d parameters, at most %d", r.Path, len(r.Params), maxParams))
		}
		for place, p := range r.Params {
			if p.place != place {
				panic(fmt.Sprintf("route %s: parameter %s has another place in a route that lists it too", r.Path, p.Name))
			}
			if p.InPath || p.Default == "" {
				continue
			}
			v, bad := p.parse(p.Default)
			if bad != nil {
				panic(fmt.Sprintf("route %s: default of %v", r.Path, bad))
			}
			v.given = false
			r.defaults[place] = v
		}
	}
	return routes
}

// fixed reports whether the path has no parameter.
func (r *Route) fixed() bool { return !strings.Contains(r.Path, "{") }

// fiberPath is the route's path in Fiber's syntax.
func (r *Route) fiberPath() string {
	return wire.Base + strings.NewReplacer("{", ":", "}", "").Replace(r.Path)
}

// matches reports whether path, below wire.Base, has the shape of the route.
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

// allowed lists the methods that path answers to; "" if there is no such path.
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
