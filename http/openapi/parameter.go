package openapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"pmx/data"
	"pmx/http/api"
)

// Parameter is one parameter of an operation, or a reference to a shared one.
type Parameter struct {
	Ref         string  `json:"$ref,omitempty"`
	Name        string  `json:"name,omitempty"`
	In          string  `json:"in,omitempty"`
	Required    bool    `json:"required,omitempty"`
	Description string  `json:"description,omitempty"`
	Explode     bool    `json:"explode,omitempty"`
	Schema      *Schema `json:"schema,omitempty"`
}

// parameter describes a parameter of the route table.
func parameter(p *api.Param) (Parameter, error) {
	out := Parameter{Name: p.Name, In: "query", Required: p.Required, Description: p.Doc}
	switch {
	case p.InPath:
		out.In, out.Required = "path", true
	case p.InHeader:
		out.In = "header"
	}
	schema, err := parameterSchema(p)
	if err != nil {
		return out, fmt.Errorf("parameter %s: %w", p.Name, err)
	}
	if p.Many > 1 {
		schema = &Schema{Type: "array", Items: schema, MinItems: 1, MaxItems: p.Many}
		out.Explode = true
	}
	out.Schema = schema
	return out, nil
}

func parameterSchema(p *api.Param) (*Schema, error) {
	s := &Schema{Type: "string"}
	switch p.Kind {
	case api.Integer:
		s = &Schema{Type: "integer", Minimum: p.Min, Maximum: p.Max}
	case api.Decimal:
		s = &Schema{Type: "number", Format: decimal, Minimum: number(data.Micro(p.Min)), Maximum: number(data.Micro(p.Max))}
	case api.Choice:
		for _, choice := range p.Choices {
			s.Enum = append(s.Enum, choice)
		}
	case api.Text:
		s.MinLength, s.MaxLength, s.Pattern = &p.Min, &p.Max, textPattern(p)
	case api.WalletArg:
		s.Pattern = "^0[xX][0-9a-fA-F]{40}$"
	case api.ConditionArg:
		s.Pattern = "^0[xX]([0-9a-fA-F]{62}|[0-9a-fA-F]{64})$"
	case api.Moment:
		s.AnyOf = []*Schema{{Format: "date-time"}, {Format: "date"}}
	case api.DayArg:
		s.Format = "date"
	case api.CursorArg:
		most := int64(api.MaxCursor)
		s.MaxLength, s.Pattern = &most, "^[A-Za-z0-9_-]+$"
	default:
		return nil, fmt.Errorf("kind %d is not described", p.Kind)
	}
	if p.Default != "" {
		s.Default = p.Default
		if p.Kind == api.Integer || p.Kind == api.Decimal {
			s.Default = json.Number(p.Default)
		}
	}
	return s, nil
}

// textPattern is what the characters of a text are: none of them a control
// character, and none a slash in a path, which it would end there.
func textPattern(p *api.Param) string {
	switch {
	case p.Pattern != "":
		return p.Pattern
	case p.InPath:
		return `^[^/\x00-\x1f\x7f-\x9f]+$`
	}
	return `^[^\x00-\x1f\x7f-\x9f]+$`
}

// number is an exact JSON number.
func number(m data.Micro) json.Number { return json.Number(m.Append(nil)) }

// The parameters that every operation has.
const (
	requestIDParam   = "RequestID"
	ifNoneMatchParam = "IfNoneMatch"
	rangeParam       = "Range"
	ifRangeParam     = "IfRange"
)

func sharedParameters() ordered[Parameter] {
	return ordered[Parameter]{
		{requestIDParam, Parameter{
			Name: "X-Request-ID", In: "header", Description: "your own name for the request, which is sent back with the answer: 1 to 128 visible ASCII characters. " +
				"Any other is no error: it is passed over, and the answer has an id that the server made",
			Schema: &Schema{Type: "string"},
		}},
		{ifNoneMatchParam, Parameter{
			Name: "If-None-Match", In: "header", Description: "an ETag of an earlier answer; where it still holds, the answer is 304 without a body",
			Schema: &Schema{Type: "string"},
		}},
		{rangeParam, Parameter{
			Name: "Range", In: "header", Description: "the bytes of the file that are wanted, one range of them; others are passed over and the whole file is sent",
			Schema: &Schema{Type: "string"},
		}},
		{ifRangeParam, Parameter{
			Name: "If-Range", In: "header", Description: "the ETag or Last-Modified of a download that broke off: if the file is another one, the whole of it is sent",
			Schema: &Schema{Type: "string"},
		}},
	}
}

const schemeName = "ApiKey"

// Header is a header of a response, or a reference to a shared one.
type Header struct {
	Ref         string  `json:"$ref,omitempty"`
	Description string  `json:"description,omitempty"`
	Required    bool    `json:"required,omitempty"`
	Schema      *Schema `json:"schema,omitempty"`
}

// headers are the headers that responses refer to.
func headers() ordered[Header] {
	text := func(description, pattern string) Header {
		return Header{Description: description, Required: true, Schema: &Schema{Type: "string", Pattern: pattern}}
	}
	count := func(description string) Header {
		return Header{Description: description, Required: true, Schema: &Schema{Type: "integer", Minimum: 0}}
	}
	return ordered[Header]{
		{"X-Request-ID", text("the id of the request: yours where you sent a usable one, else one that the server made; report it when something is wrong", "^[!-~]{1,128}$")},
		{"ETag", text("changes when and only when something in the body but as_of would", "")},
		{"Cache-Control", text("how many seconds the answer stays good: until the next scheduled refresh", "")},
		{"Vary", text("the request headers that the answer depends on", "")},
		{"RateLimit-Policy", text("the limit of the key: requests a window, and the window in seconds", `^"minute";q=\d+;w=60$`)},
		{"RateLimit", text("what is left of the window, and the seconds until the next one", `^"minute";r=\d+;t=\d+$`)},
		{"X-RateLimit-Limit", count("requests a minute that the key has")},
		{"X-RateLimit-Remaining", count("how many of them are left")},
		{"X-RateLimit-Reset", count("unix second at which the next minute begins")},
		{"Retry-After", count("seconds to wait before asking again")},
		{"WWW-Authenticate", text("names the header that carries the key", "")},
		{"Accept-Ranges", text("`bytes`: parts of the file can be asked for", "^bytes$")},
		{"Location", text("where to ask instead: the same path with the thing's own name, and the same query", "^/api/v3/")},
		{"Content-Disposition", text("the name to keep the file under", "^attachment; filename=")},
		{"Content-Digest", text("SHA-256 of the body, in the form of RFC 9530", "^sha-256=:.*:$")},
		{"Repr-Digest", text("SHA-256 of the whole file, in the form of RFC 9530", "^sha-256=:.*:$")},
		{"Last-Modified", text("when the file was finished", "")},
		{"Content-Range", text("which bytes of how many the body holds", "^bytes ")},
		{"Allow", text("the methods that the path answers to", "")},
	}
}

func headerRefs(names ...string) ordered[Header] {
	var refs ordered[Header]
	for _, name := range names {
		refs.add(name, Header{Ref: "#/components/headers/" + name})
	}
	return refs
}

// successHeaders are those of a 200 or 304.
func successHeaders(route *api.Route) ordered[Header] {
	names := []string{"X-Request-ID", "Cache-Control", "Vary"}
	if route.Method == http.MethodGet {
		names = append(names, "ETag")
	}
	if len(route.Media) > 0 {
		names = append(names, "Accept-Ranges", "Content-Disposition", "Content-Digest", "Repr-Digest", "Last-Modified")
	}
	if !route.Public {
		names = append(names, "RateLimit-Policy", "RateLimit", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
	}
	return headerRefs(names...)
}

// problemHeaders are those of a problem with that status.
func problemHeaders(status int) ordered[Header] {
	names := []string{"X-Request-ID", "Cache-Control", "Vary"}
	switch strconv.Itoa(status) {
	case "401":
		names = append(names, "WWW-Authenticate")
	case "405":
		names = append(names, "Allow")
	case "429", "503":
		names = append(names, "Retry-After")
	}
	return headerRefs(names...)
}
