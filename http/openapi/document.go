// Package openapi builds the OpenAPI 3.1 document from the route table and the wire types, so that
// nothing is written twice: parameters, caps and problem codes come from the table, fields and
// their meanings from the types and their comments, and examples from actual responses for the
// sample venue.
package openapi

//go:generate go test pmx/cmd/pmx/e2e -run ^TestExamplesAreRepliesOfTheSampleVenue$ -count=1 -update
//go:generate go test pmx/http/openapi -run ^TestGoldenCopyIsCurrent$ -count=1 -update
//go:generate go test pmx/http/openapi -run ^TestClientMethodsAreThoseOfTheRouteTable$ -count=1 -update

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pmx/http/access"
	"pmx/http/api"
	"pmx/http/wire"
)

// DocVersion is the version of the document, following semver.org: the last number changes when
// only wording changes, the middle one when something is added, and the first one when clients
// could break. Names of schemas may change without a new first number: only generated code uses
// them. A test fails if the document changes and the version does not.
const DocVersion = "3.60.1"

// overview is the introduction of the document, in Markdown.
//
//go:embed overview.md
var overview string

// Overview returns the introduction of the document, in Markdown.
func Overview() string { return strings.Replace(overview, "{plans}", plans(), 1) }

// plans returns the table of tiers, in Markdown.
func plans() string {
	var b strings.Builder
	b.WriteString("| plan | requests a minute | rows | history | wallets compared | exports |\n|---|---|---|---|---|---|")
	for _, t := range access.Tiers() {
		c := t.Caps()
		history, export := "all", "no"
		if c.HistoryDays > 0 {
			history = fmt.Sprintf("%d days", c.HistoryDays)
		}
		if c.Export {
			export = "yes"
		}
		fmt.Fprintf(&b, "\n| `%s` | %d | %d | %s | %d | %s |", t, c.Rate, c.Rows, history, c.Compare, export)
	}
	return b.String()
}

// Document is an OpenAPI 3.1 document, as far as this API uses the format.
type Document struct {
	OpenAPI    string                `json:"openapi"`
	Info       Info                  `json:"info"`
	Servers    []Server              `json:"servers"`
	Security   []map[string][]string `json:"security"`
	Tags       []Tag                 `json:"tags"`
	Paths      ordered[PathItem]     `json:"paths"`
	Components Components            `json:"components"`
}

// Info is the title, version and description of a document.
type Info struct {
	Title       string `json:"title"`
	Version     string `json:"version"`
	Description string `json:"description"`
}

// Server is the base URL of a document's paths.
type Server struct {
	URL         string `json:"url"`
	Description string `json:"description"`
}

// Tag is one section of the API.
type Tag struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// PathItem is the operations of one path, by method in lower case.
type PathItem = ordered[*Operation]

// Components are the objects that operations refer to.
type Components struct {
	Schemas         ordered[*Schema]        `json:"schemas"`
	Responses       ordered[*Response]      `json:"responses"`
	Headers         ordered[Header]         `json:"headers"`
	Parameters      ordered[Parameter]      `json:"parameters"`
	SecuritySchemes ordered[SecurityScheme] `json:"securitySchemes"`
}

// SecurityScheme is a way to authenticate.
type SecurityScheme struct {
	Type        string `json:"type"`
	In          string `json:"in"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Build makes the document of routes. examples are by operation id; an operation without one has no
// example.
func Build(routes []api.Route, examples map[string]Example) (*Document, error) {
	types, err := newReflector()
	if err != nil {
		return nil, err
	}
	d := &Document{
		OpenAPI:  "3.1.0",
		Info:     Info{Title: "pmx", Version: DocVersion, Description: Overview()},
		Servers:  []Server{{URL: wire.Base, Description: "the host that served this document"}},
		Security: []map[string][]string{{schemeName: {}}},
		Tags:     tags(),
	}
	ids := map[string]bool{}
	for i := range routes {
		op, err := types.operation(&routes[i], examples)
		if err != nil {
			return nil, fmt.Errorf("describe %s %s: %w", routes[i].Method, routes[i].Path, err)
		}
		if ids[op.OperationID] {
			return nil, fmt.Errorf("describe %s %s: operation id %s is taken", routes[i].Method, routes[i].Path, op.OperationID)
		}
		ids[op.OperationID] = true
		d.add(routes[i].Path, routes[i].Method, op)
	}
	d.Components = Components{
		Headers: headers(), Parameters: sharedParameters(),
		SecuritySchemes: ordered[SecurityScheme]{{schemeName, SecurityScheme{
			Type: "apiKey", In: "header", Name: wire.KeyHeader, Description: "Your API key: `pmx_` and 43 characters.",
		}}},
	}
	for _, name := range slices.Sorted(maps.Keys(types.components)) {
		d.Components.Schemas.add(name, types.components[name])
	}
	for _, name := range slices.Sorted(maps.Keys(types.responses)) {
		d.Components.Responses.add(name, types.responses[name])
	}
	return d, nil
}

// add adds op to its path, which may already have other methods.
func (d *Document) add(path, method string, op *Operation) {
	for i := range d.Paths {
		if d.Paths[i].Name == path {
			d.Paths[i].Value.add(lower(method), op)
			return
		}
	}
	d.Paths.add(path, PathItem{{lower(method), op}})
}

// Operation returns the operation of a route; nil if the document has none.
func (d *Document) Operation(method, path string) *Operation {
	item, _ := d.Paths.get(path)
	op, _ := item.get(lower(method))
	return op
}

// Response returns the description of a status of an operation, and its JSON pointer in the
// document; nil if there is none.
func (d *Document) Response(method, path, status string) (r *Response, place string) {
	op := d.Operation(method, path)
	if op == nil {
		return nil, ""
	}
	r, _ = op.Responses.get(status)
	if r == nil || r.Ref == "" {
		return r, "/paths/" + pointer(path) + "/" + lower(method) + "/responses/" + status
	}
	name := strings.TrimPrefix(r.Ref, responsePrefix)
	r, _ = d.Components.Responses.get(name)
	return r, "/components/responses/" + pointer(name)
}

// pointer escapes a name as a part of a JSON pointer within a URL.
func pointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D", "+", "%2B").Replace(name)
}

// SchemaPlace returns the JSON pointer of the schema that the response at place has for a media
// type.
func SchemaPlace(place, media string) string { return place + "/content/" + pointer(media) + "/schema" }

// JSON returns the document in its canonical form: indented by two spaces, with one newline at the
// end.
func (d *Document) JSON() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(d); err != nil {
		return nil, fmt.Errorf("encode the OpenAPI document: %w", err)
	}
	return out.Bytes(), nil
}

// tags returns the sections with their descriptions.
func tags() []Tag {
	about := map[wire.Section]string{
		wire.Status:      "Health of the service, and what your key may do",
		wire.Trader:      "One wallet: lifetime figures, days, markets, fills, comparisons",
		wire.Leaderboard: "Top wallets and markets of a time window",
		wire.Market:      "One market, and market search",
		wire.Event:       "An event, its markets and its traders",
		wire.Stats:       "The whole venue, by hour and by day",
		wire.Index:       "The PMX index and its five component indices",
		wire.Oracle:      "Which wallets forecast well",
		wire.Whales:      "Large orders, who places them and where the money goes",
		wire.Screener:    "Markets, filtered and sorted by their figures",
		wire.Research:    "Datasets that can be exported",
		wire.Export:      "Jobs that write a file for download",
		wire.Weather:     "The weather desk (temperature markets): cities, forecasts, actuals",
	}
	var all []Tag
	for _, s := range wire.Sections() {
		all = append(all, Tag{string(s), about[s]})
	}
	return all
}
