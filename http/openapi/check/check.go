// Package check compares every reply in a test with the OpenAPI document: status, media type,
// headers and body must be as documented for the endpoint, and the body may not have a field that
// is not documented.
package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/valyala/fasthttp"

	"pmx/http/api"
	"pmx/http/openapi"
	"pmx/http/wire"
)

// resource is the URI of the document for the schema compiler.
const resource = "urn:openapi"

// Checker checks replies. It may be used by several goroutines at once.
type Checker struct {
	doc      *openapi.Document
	paths    [][]string // the document's, split
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema
}

// New makes a checker for the route table.
func New() (*Checker, error) {
	doc, err := openapi.Build(api.Routes(), nil)
	if err != nil {
		return nil, err
	}
	text, err := doc.JSON()
	if err != nil {
		return nil, err
	}
	plain, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	closeObjects(plain, false)
	openEnvelope(plain)
	c := &Checker{doc: doc, compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	c.compiler.AssertFormat()
	c.compiler.RegisterFormat(&jsonschema.Format{Name: "decimal", Validate: checkDecimal})
	for _, width := range []string{"int64", "double"} {
		c.compiler.RegisterFormat(&jsonschema.Format{Name: width, Validate: func(any) error { return nil }})
	}
	if err := c.compiler.AddResource(resource, plain); err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	for _, p := range doc.Paths {
		c.paths = append(c.paths, strings.Split(p.Name, "/"))
	}
	return c, nil
}

// closeObjects makes every schema below node refuse members that it does not name. The parts of an
// allOf are closed only together; part says that node is such a part.
func closeObjects(node any, part bool) {
	switch n := node.(type) {
	case []any:
		for _, child := range n {
			closeObjects(child, part)
		}
	case map[string]any:
		for key, child := range n {
			if key != "example" {
				closeObjects(child, key == "allOf")
			}
		}
		_, whole := n["allOf"].([]any)
		_, named := n["properties"].(map[string]any)
		_, isSchema := n["type"].(string)
		if !part && (whole || named && isSchema) {
			n["unevaluatedProperties"] = false
		}
	}
}

// openEnvelope undoes this for the envelope, which is always a part of another schema.
func openEnvelope(doc any) {
	for _, key := range []string{"components", "schemas", "Envelope"} {
		m, _ := doc.(map[string]any)
		doc = m[key]
	}
	if envelope, ok := doc.(map[string]any); ok {
		delete(envelope, "unevaluatedProperties")
	}
}

// checkDecimal accepts numbers with at most 6 decimals and no exponent.
func checkDecimal(v any) error {
	n, ok := v.(json.Number)
	if !ok {
		return nil
	}
	_, fraction, _ := strings.Cut(n.String(), ".")
	if len(fraction) > 6 || strings.ContainsAny(n.String(), "eE") {
		return fmt.Errorf("%s is not a decimal of at most 6 places", n)
	}
	return nil
}

// find returns the document's path that matches a path below wire.Base; if there are several, the
// one with the most fixed segments; "" if there is none.
func (c *Checker) find(path string) string {
	segments := strings.Split(path, "/")
	best, most := "", -1
	for i, want := range c.paths {
		if len(want) != len(segments) {
			continue
		}
		fixed := 0
		for j := range want {
			switch {
			case want[j] == segments[j]:
				fixed++
			case !strings.HasPrefix(want[j], "{") || segments[j] == "":
				fixed = -len(want)
			}
		}
		if fixed >= 0 && fixed > most {
			best, most = c.doc.Paths[i].Name, fixed
		}
	}
	return best
}

// Reply returns how the response to a request for path, which may have a query, differs from the
// document; nil if it does not.
func (c *Checker) Reply(method, path string, res *fasthttp.Response) error {
	path, _, _ = strings.Cut(path, "?")
	below, inside := strings.CutPrefix(path, wire.Base)
	head := method == http.MethodHead
	if head {
		method = http.MethodGet
	}
	if strings.Trim(below, "/") == "" {
		inside = false // the index
	}
	if inside {
		// Methods are case-sensitive (RFC 9110, section 9.1): GEt is not in the document.
		if pattern := c.find(below); pattern != "" && method == strings.ToUpper(method) && c.doc.Operation(method, pattern) != nil {
			return c.operation(method, pattern, head, res)
		}
	}
	if res.StatusCode() < 400 {
		if inside {
			return fmt.Errorf("status %d of a path that the document does not have", res.StatusCode())
		}
		return nil // a page
	}
	return c.problem(head, res)
}

// operation checks a response of the operation at a path of the document.
func (c *Checker) operation(method, pattern string, head bool, res *fasthttp.Response) error {
	status := strconv.Itoa(res.StatusCode())
	response, place := c.doc.Response(method, pattern, status)
	if response == nil {
		return fmt.Errorf("status %s is not in the document", status)
	}
	for _, name := range response.HeaderNames() {
		if len(res.Header.Peek(name)) == 0 {
			return fmt.Errorf("status %s without the header %s", status, name)
		}
	}
	if status == "304" || head {
		return nil
	}
	media := mediaOf(res)
	if !slices.Contains(response.Media(), media) {
		return fmt.Errorf("status %s has media type %q, the document says %v", status, media, response.Media())
	}
	if media != "application/json" && media != wire.ProblemType {
		return nil
	}
	if err := c.body(openapi.SchemaPlace(place, media), res); err != nil || media != wire.ProblemType {
		return err
	}
	return kindHolds(res)
}

// problem checks a problem that does not belong to an endpoint.
func (c *Checker) problem(head bool, res *fasthttp.Response) error {
	if media := mediaOf(res); media != wire.ProblemType {
		return fmt.Errorf("status %d has media type %q", res.StatusCode(), media)
	}
	if head {
		return nil
	}
	if err := c.body("/components/schemas/Problem", res); err != nil {
		return err
	}
	return kindHolds(res)
}

// kindHolds checks a problem against the table of problems.
func kindHolds(res *fasthttp.Response) error {
	body, err := plainBody(res)
	if err != nil || body == nil {
		return err
	}
	var p wire.Problem
	if err := json.Unmarshal(body, &p); err != nil {
		return err
	}
	kind, known := wire.KindOf(p.Code)
	if !known {
		return fmt.Errorf("problem code %q is not in wire.ProblemKinds", p.Code)
	}
	if kind.Status != res.StatusCode() || p.Status != kind.Status || p.Title != kind.Title() || p.Type != "/docs/problems/"+p.Code {
		return fmt.Errorf("problem %s differs from wire.ProblemKinds: %+v", p.Code, p)
	}
	return nil
}

// body checks the body with the schema at a place of the document.
func (c *Checker) body(at string, res *fasthttp.Response) error {
	body, err := plainBody(res)
	if err != nil || body == nil {
		return err
	}
	schema, err := c.schema(at)
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("body is not JSON: %w", err)
	}
	return schema.Validate(v)
}

func (c *Checker) schema(at string) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.schemas[at]; s != nil {
		return s, nil
	}
	s, err := c.compiler.Compile(resource + "#" + at)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", at, err)
	}
	c.schemas[at] = s
	return s, nil
}

// plainBody returns the body without its content coding; nil if the coding is not supported here.
func plainBody(res *fasthttp.Response) ([]byte, error) {
	body, err := res.BodyUncompressed()
	if errors.Is(err, fasthttp.ErrContentEncodingUnsupported) {
		return nil, nil
	}
	return body, err
}

func mediaOf(res *fasthttp.Response) string {
	media, _, _ := strings.Cut(string(res.Header.ContentType()), ";")
	return media
}

// shared is the checker for all handlers of a process, so that each schema is compiled once.
var shared = sync.OnceValues(New)

// Handler returns next with every reply checked; t fails if a reply differs from the document.
func Handler(t testing.TB, next fasthttp.RequestHandler) fasthttp.RequestHandler {
	t.Helper()
	c, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx *fasthttp.RequestCtx) {
		method, path := string(ctx.Method()), string(ctx.URI().PathOriginal())
		next(ctx)
		if err := c.Reply(method, path, &ctx.Response); err != nil {
			t.Errorf("%s %s differs from the OpenAPI document: %v\n%.2000s", method, ctx.RequestURI(), err, ctx.Response.Body())
		}
	}
}
