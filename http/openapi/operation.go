package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"pmx/http/api"
	"pmx/http/wire"
)

// Operation is one endpoint of a document.
type Operation struct {
	OperationID string                `json:"operationId"`
	Tags        []string              `json:"tags"`
	Summary     string                `json:"summary"`
	Description string                `json:"description,omitempty"`
	Security    []map[string][]string `json:"security,omitempty"`
	Parameters  []Parameter           `json:"parameters,omitempty"`
	RequestBody *RequestBody          `json:"requestBody,omitempty"`
	Responses   ordered[*Response]    `json:"responses"`
}

// RequestBody is the body of a request.
type RequestBody struct {
	Description string             `json:"description,omitempty"`
	Required    bool               `json:"required,omitempty"`
	Content     ordered[MediaType] `json:"content"`
}

// Response is the response of an operation with one status.
type Response struct {
	Ref         string             `json:"$ref,omitempty"`
	Description string             `json:"description,omitempty"`
	Headers     ordered[Header]    `json:"headers,omitempty"`
	Content     ordered[MediaType] `json:"content,omitempty"`
}

// MediaType is a body in one media type.
type MediaType struct {
	Schema  *Schema         `json:"schema,omitempty"`
	Example json.RawMessage `json:"example,omitempty"`
}

// OperationID returns the operation id of a route: the method as a verb and the words of the path
// without parameters, such as getTraderActivityDaily.
func OperationID(method, path string) string {
	verb := map[string]string{http.MethodGet: "get", http.MethodPost: "create", http.MethodDelete: "delete"}[method]
	if verb == "" {
		verb = lower(method)
	}
	var b strings.Builder
	b.WriteString(verb)
	for _, segment := range strings.Split(path, "/") {
		if segment == "" || segment[0] == '{' {
			continue
		}
		for _, word := range strings.FieldsFunc(segment, func(r rune) bool { return r == '-' || r == '_' }) {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

func lower(method string) string { return strings.ToLower(method) }

// operation describes one route.
func (r *reflector) operation(route *api.Route, examples map[string]Example) (*Operation, error) {
	op := &Operation{
		OperationID: OperationID(route.Method, route.Path), Tags: []string{string(route.Section)},
		Summary: route.Summary, Description: route.Doc,
	}
	if route.Public {
		op.Security = []map[string][]string{{}, {schemeName: {}}}
	}
	for _, param := range route.Params {
		p, err := parameter(param)
		if err != nil {
			return nil, err
		}
		op.Parameters = append(op.Parameters, p)
	}
	shared := []string{requestIDParam}
	if route.Method == http.MethodGet {
		shared = append(shared, ifNoneMatchParam)
	}
	if len(route.Media) > 0 {
		shared = append(shared, rangeParam, ifRangeParam)
	}
	for _, name := range shared {
		op.Parameters = append(op.Parameters, Parameter{Ref: "#/components/parameters/" + name})
	}
	if err := r.body(op, route); err != nil {
		return nil, err
	}
	ok, err := r.success(route, examples[op.OperationID].Reply)
	if err != nil {
		return nil, err
	}
	op.Responses.add("200", ok)
	if len(route.Media) > 0 {
		op.Responses.add("206", partial(ok))
	}
	if route.Method == http.MethodGet {
		op.Responses.add("304", &Response{Description: "Not changed since the ETag in If-None-Match; no body", Headers: without(successHeaders(route), "Content-Digest")})
	}
	if route.Aliases {
		if err := r.moved(op, route); err != nil {
			return nil, err
		}
	}
	return op, r.problems(op, route)
}

// moved describes the response to a path with another name of its resource.
func (r *reflector) moved(op *Operation, route *api.Route) error {
	schema, err := r.component(reflect.TypeFor[wire.Moved]())
	if err != nil {
		return err
	}
	headers := append(headerRefs("Location"), without(successHeaders(route), "ETag")...)
	op.Responses.add("308", &Response{Description: "The path uses another name of the same resource: request the URL in Location",
		Headers: headers, Content: ordered[MediaType]{{jsonType, MediaType{Schema: schema}}}})
	return nil
}

func (r *reflector) body(op *Operation, route *api.Route) error {
	if route.Body == nil {
		return nil
	}
	schema, err := r.component(reflect.TypeOf(route.Body))
	if err != nil {
		return err
	}
	r.components[componentName(reflect.TypeOf(route.Body))].AdditionalProperties = false // readBody does the same
	op.RequestBody = &RequestBody{Required: !route.BodyOptional, Content: ordered[MediaType]{{jsonType, MediaType{Schema: schema}}}}
	return nil
}

const jsonType = "application/json"

// success describes the 200 of a route: its reply, or the files it sends.
func (r *reflector) success(route *api.Route, example json.RawMessage) (*Response, error) {
	ok := &Response{Description: "OK", Headers: successHeaders(route)}
	for _, media := range route.Media {
		ok.Content.add(media, MediaType{})
	}
	if route.Reply == nil {
		return ok, nil
	}
	schema, err := r.object(reflect.TypeOf(route.Reply))
	if err != nil {
		return nil, err
	}
	if list := payload(schema); list != nil && list.Items != nil {
		list.MaxItems = cmp.Or(route.MaxItems, route.MaxRows)
	}
	ok.Content.add(jsonType, MediaType{Schema: schema, Example: example})
	return ok, nil
}

// partial describes the 206 of a route that sends files; whole is its 200.
func partial(whole *Response) *Response {
	headers := append(without(whole.Headers, "Content-Digest"), headerRefs("Content-Range")...)
	return &Response{Description: "The requested range of the file", Headers: headers, Content: whole.Content}
}

// without removes a header that only complete responses have.
func without(headers ordered[Header], name string) (rest ordered[Header]) {
	for _, h := range headers {
		if h.Name != name {
			rest = append(rest, h)
		}
	}
	return rest
}

// payload returns the schema of data in that of a reply; nil if there is none.
func payload(reply *Schema) *Schema {
	for _, s := range append([]*Schema{reply}, reply.AllOf...) {
		if found, ok := s.Properties.get("data"); ok {
			return found
		}
	}
	return nil
}

// problems adds a response for each status of the problem codes of a route.
func (r *reflector) problems(op *Operation, route *api.Route) error {
	base, err := r.component(reflect.TypeFor[wire.Problem]())
	if err != nil {
		return err
	}
	byStatus := map[int][]wire.ProblemKind{}
	for _, code := range route.ProblemCodes() {
		kind, known := wire.KindOf(code)
		if !known {
			return fmt.Errorf("problem code %s is not in wire.ProblemKinds", code)
		}
		byStatus[kind.Status] = append(byStatus[kind.Status], kind)
	}
	var statuses []int
	for status := range byStatus {
		statuses = append(statuses, status)
	}
	slices.Sort(statuses)
	for _, status := range statuses {
		name := strconv.Itoa(status)
		for _, k := range byStatus[status] {
			name += "-" + k.Code
		}
		if r.responses[name] == nil {
			r.responses[name] = problemResponse(base, status, byStatus[status])
		}
		op.Responses.add(strconv.Itoa(status), &Response{Ref: responsePrefix + name})
	}
	return nil
}

const responsePrefix = "#/components/responses/"

// problemResponse describes the problems of one status.
func problemResponse(base *Schema, status int, kinds []wire.ProblemKind) *Response {
	code := &Schema{Type: "string"}
	var titles []string
	for _, k := range kinds {
		code.Enum = append(code.Enum, k.Code)
		titles = append(titles, fmt.Sprintf("[`%s`](/docs/problems/%s)", k.Code, k.Code))
	}
	return &Response{
		Description: strings.Join(titles, ", "),
		Headers:     problemHeaders(status),
		Content: ordered[MediaType]{{wire.ProblemType, MediaType{Schema: &Schema{AllOf: []*Schema{
			base, {Type: "object", Required: []string{"code", "status"},
				Properties: ordered[*Schema]{{"code", code}, {"status", &Schema{Type: "integer", Enum: []any{status}}}}},
		}}}}},
	}
}

// HeaderNames returns the headers that the response always has.
func (r *Response) HeaderNames() []string { return names(r.Headers) }

// Media returns the media types of the body.
func (r *Response) Media() []string { return names(r.Content) }

func names[T any](o ordered[T]) []string {
	var all []string
	for i := range o {
		all = append(all, o[i].Name)
	}
	return all
}
