package openapi_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"pmx/http/api"
	"pmx/http/openapi"
	"pmx/http/wire"
)

var update = flag.Bool("update", false, "rewrite docs/openapi.json")

// golden is the copy of the document in the repository.
var golden = filepath.Join("..", "..", "docs", "openapi.json")

func current(t *testing.T) *openapi.Document {
	t.Helper()
	d, err := openapi.Current()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestGoldenCopyIsCurrent(t *testing.T) {
	kept, err := os.ReadFile(golden)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	text, err := openapi.Release(kept, current(t))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(text, kept) {
		t.Error("docs/openapi.json does not match the routes: run go generate ./http/openapi and commit")
	}
}

func TestGoldenCopyHasEveryRoute(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	routes := api.Routes()
	for _, r := range routes {
		if doc.Paths[r.Path][strings.ToLower(r.Method)] == nil {
			t.Errorf("%s %s is missing from docs/openapi.json: run go generate ./http/openapi", r.Method, r.Path)
		}
	}
	operations := 0
	for _, item := range doc.Paths {
		operations += len(item)
	}
	if operations != len(routes) {
		t.Errorf("docs/openapi.json has %d operations, there are %d routes", operations, len(routes))
	}
}

// An independent parser accepts the document as valid.
func TestDocumentIsValidOpenAPI(t *testing.T) {
	text, err := current(t).JSON()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAChangeNeedsAVersion(t *testing.T) {
	d := current(t)
	kept, err := d.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openapi.Release(kept, d); err != nil {
		t.Errorf("unchanged: %v", err)
	}
	d.Paths[0].Value[0].Value.Summary += " or so"
	if _, err := openapi.Release(kept, d); !errors.Is(err, openapi.ErrVersion) {
		t.Errorf("changed under the same version: %v", err)
	}
	d.Info.Version = "99.0.0"
	if _, err := openapi.Release(kept, d); err != nil {
		t.Errorf("changed under a new version: %v", err)
	}
}

func TestExamplesAreNoPartOfTheContract(t *testing.T) {
	plain, err := openapi.Build(api.Routes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := plain.JSON()
	if err != nil {
		t.Fatal(err)
	}
	r := api.Routes()[0]
	with, err := openapi.Build(api.Routes(), map[string]openapi.Example{
		openapi.OperationID(r.Method, r.Path): {Reply: json.RawMessage(`{"x":1}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := openapi.Release(kept, with)
	if err != nil || bytes.Equal(text, kept) {
		t.Errorf("another example: %v", err)
	}
}

// The document explains every field and parameter.
func TestEverythingIsExplained(t *testing.T) {
	d := current(t)
	for _, c := range d.Components.Schemas {
		explained(t, c.Name, c.Value)
	}
	for _, item := range d.Paths {
		for _, op := range item.Value {
			at := op.Name + " " + item.Name
			if op.Value.Summary == "" {
				t.Errorf("%s has no summary", at)
			}
			for _, p := range op.Value.Parameters {
				if p.Ref == "" && p.Description == "" {
					t.Errorf("%s: parameter %s is not explained", at, p.Name)
				}
			}
			ok, _ := d.Response(op.Name, item.Name, "200")
			for _, media := range ok.Content {
				if media.Value.Schema != nil {
					explained(t, at, media.Value.Schema)
				}
			}
		}
	}
	for _, tag := range d.Tags {
		if tag.Description == "" {
			t.Errorf("section %s is not explained", tag.Name)
		}
	}
}

// explained reports fields of s without a description.
func explained(t *testing.T, at string, s *openapi.Schema) {
	t.Helper()
	for _, part := range s.AllOf {
		explained(t, at, part)
	}
	for _, p := range s.Properties {
		if p.Value.Description == "" {
			t.Errorf("%s: field %s is not explained: comment on it in http/wire", at, p.Name)
		}
		explained(t, at+"."+p.Name, p.Value)
	}
}

func TestOperationIDs(t *testing.T) {
	for route, want := range map[string]string{
		"GET /health": "getHealth", "GET /trader/{address}/activity/daily": "getTraderActivityDaily",
		"POST /trader/{address}/export-jobs": "createTraderExportJobs", "DELETE /research/export-jobs/{job_id}": "deleteResearchExportJobs",
		"GET /pmx-index/{name}/history": "getPmxIndexHistory",
	} {
		method, path, _ := strings.Cut(route, " ")
		if got := openapi.OperationID(method, path); got != want {
			t.Errorf("%s: got %s, want %s", route, got, want)
		}
	}
}

// Only members that a caller can leave out are optional: fields of screener rows by the parameter
// fields, ids of the bundle by the parameter include, members of a body with a default, and param
// of a problem.
func TestReplyMembersAreRequiredUnlessLeftOutOnRequest(t *testing.T) {
	hit := 0
	for _, m := range current(t).Components.Schemas {
		for _, s := range append([]*openapi.Schema{m.Value}, m.Value.AllOf...) {
			if len(s.Properties) != len(s.Required) && !slices.Contains([]string{"ScreenerRow", "BundleBrackets", "ResearchExport", "TraderExport", "Problem"}, m.Name) {
				t.Errorf("%s: %d members, %d of them required", m.Name, len(s.Properties), len(s.Required))
			}
		}
		if m.Name == "MarketHit" {
			hit = len(m.Value.Required)
		}
	}
	if want := reflect.TypeFor[wire.ScreenerRow]().NumField() + 1; hit != want {
		t.Errorf("a search hit has %d required members, want all %d", hit, want)
	}
}

// The document has the problems with which any request may be refused before it reaches its
// endpoint.
func TestWhatTheTransportRefusesIsDocumented(t *testing.T) {
	d := current(t)
	for _, item := range d.Paths {
		for _, op := range item.Value {
			for status, code := range map[string]string{"400": "invalid_request", "403": "https_required", "408": "request_timeout",
				"413": "body_too_large", "431": "headers_too_large", "503": "not_ready"} {
				r, _ := d.Response(op.Name, item.Name, status)
				if r == nil || !strings.Contains(r.Description, "`"+code+"`") {
					t.Errorf("%s %s does not have %s %s", op.Name, item.Name, status, code)
				}
			}
		}
	}
}

// Generators merge the status of a problem with that of all problems, an integer; they cannot do
// that with a const without a type.
func TestStatusOfAProblemIsAnIntegerOfOneValue(t *testing.T) {
	for _, r := range current(t).Components.Responses {
		own := r.Value.Content[0].Value.Schema.AllOf[1]
		for _, p := range own.Properties {
			if p.Name == "status" && (p.Value.Type != "integer" || len(p.Value.Enum) != 1 || p.Value.Const != nil) {
				t.Errorf("%s: status is %+v", r.Name, p.Value)
			}
			if p.Name == "code" && (p.Value.Type != "string" || len(p.Value.Enum) == 0) {
				t.Errorf("%s: code is %+v", r.Name, p.Value)
			}
		}
		if len(own.Properties) != 2 || len(own.Required) != 2 {
			t.Errorf("%s: own = %+v", r.Name, own)
		}
	}
}

// The API refuses unknown members of a body, and the document says so.
func TestRequestBodiesAreClosed(t *testing.T) {
	d, bodies := current(t), 0
	for _, item := range d.Paths {
		for _, op := range item.Value {
			if op.Value.RequestBody == nil {
				continue
			}
			bodies++
			ref := op.Value.RequestBody.Content[0].Value.Schema.Ref
			for _, c := range d.Components.Schemas {
				if strings.HasSuffix(ref, "/"+c.Name) && c.Value.AdditionalProperties != false {
					t.Errorf("%s %s: the body may hold anything", op.Name, item.Name)
				}
			}
		}
	}
	if bodies == 0 {
		t.Error("no operation has a body")
	}
}

// The document refuses every text that the API refuses because of its characters.
func TestTextParametersHaveAPattern(t *testing.T) {
	for _, item := range current(t).Paths {
		for _, op := range item.Value {
			for _, p := range op.Value.Parameters {
				if p.Ref != "" {
					continue
				}
				s := p.Schema
				if s.Items != nil {
					s = s.Items
				}
				if s.Type != "string" || s.Enum != nil || s.Format != "" || s.AnyOf != nil {
					continue
				}
				pattern, err := regexp.Compile(s.Pattern)
				if err != nil {
					t.Errorf("%s: pattern of %s: %v", item.Name, p.Name, err)
					continue
				}
				for _, text := range []string{"a\nb", "\x00", "\u0085", "tab\t"} {
					if s.Pattern == "" || pattern.MatchString(text) {
						t.Errorf("%s %s: %s may be %q: pattern %q", op.Name, item.Name, p.Name, text, s.Pattern)
					}
				}
				if p.In == "path" && pattern.MatchString("a/b") {
					t.Errorf("%s %s: %s may hold a slash", op.Name, item.Name, p.Name)
				}
			}
		}
	}
}
