package openapi_test

import (
	"bytes"
	_ "embed"
	"fmt"
	"go/format"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"

	"pmx/http/api"
	"pmx/http/openapi"
	"pmx/http/wire"
)

// clientFile returns the file with the methods of a section of the API.
func clientFile(section string) string {
	return filepath.Join("..", "client", "routes_"+section+".go")
}

// The client has a method for every route, with its parameters and its reply, in one file per
// section.
func TestClientMethodsAreThoseOfTheRouteTable(t *testing.T) {
	methods := map[wire.Section][]method{}
	for _, r := range api.Routes() {
		methods[r.Section] = append(methods[r.Section], methodOf(t, &r))
	}
	tmpl, err := template.New("client").Parse(clientText)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for section, methods := range methods {
		name := clientFile(string(section))
		want = append(want, name)
		var body strings.Builder
		if err := tmpl.Execute(&body, methods); err != nil {
			t.Fatal(err)
		}
		text, err := format.Source([]byte("// Code generated from the route table by go generate ./http/openapi. DO NOT EDIT.\n\npackage client\n\n" +
			imports(body.String()) + body.String()))
		if err != nil {
			t.Fatalf("%v\n%s", err, body.String())
		}
		if *update {
			if err := os.WriteFile(name, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if kept, err := os.ReadFile(name); err != nil || !bytes.Equal(kept, text) {
			t.Errorf("%s does not match the routes: run go generate ./http/openapi and commit (%v)", name, err)
		}
	}
	slices.Sort(want)
	found, err := filepath.Glob(clientFile("*"))
	if diff := cmp.Diff(want, found); diff != "" || err != nil {
		t.Errorf("files of sections (-API +client): %v\n%s", err, diff)
	}
}

// method is what the template needs to know about a route.
type method struct {
	Name, Verb, Path, Summary string
	Reply, Row, Body          string // Go types; Row only if the reply has pages
	Optional                  bool   // the body is optional
	Join                      string // Go expression of the path
	Args, Fields              []argument
	Sets                      []string // statements that fill the request
}

// argument is one parameter of a route.
type argument struct{ Go, Type, Doc string }

func methodOf(t *testing.T, r *api.Route) method {
	t.Helper()
	m := method{
		Name: camel(strings.TrimPrefix(openapi.OperationID(r.Method, r.Path), "get")), Verb: r.Method,
		Path: r.Path, Summary: r.Summary, Join: joined(r.Path),
	}
	if r.Reply != nil {
		m.Reply = typeName(reflect.TypeOf(r.Reply))
	}
	if r.Body != nil {
		m.Body, m.Optional = typeName(reflect.TypeOf(r.Body)), r.BodyOptional
	}
	for _, p := range r.Params {
		a := argument{Go: lowerCamel(p.Name), Type: goType(t, p), Doc: p.Doc}
		if p.InPath {
			m.Args = append(m.Args, a)
			continue
		}
		from := a.Go
		if p.Required {
			m.Args = append(m.Args, a)
		} else {
			a.Go = camel(p.Name)
			m.Fields = append(m.Fields, a)
			from = "params." + a.Go
		}
		if p.InHeader {
			m.Sets = append(m.Sets, fmt.Sprintf("set(url.Values(r.header), %q, %s)", http.CanonicalHeaderKey(p.Name), from))
		} else {
			m.Sets = append(m.Sets, fmt.Sprintf("set(r.query, %q, %s)", p.Name, from))
		}
		if p.Kind == api.CursorArg {
			m.Row = rowType(t, r)
		}
	}
	return m
}

// rowType returns the type of the rows of a reply with pages.
func rowType(t *testing.T, r *api.Route) string {
	t.Helper()
	list, ok := reflect.TypeOf(r.Reply).FieldByName("Data")
	if _, pages := reflect.TypeOf(r.Reply).FieldByName("NextCursor"); !ok || !pages || list.Type.Kind() != reflect.Slice {
		t.Fatalf("%s has a cursor but no pages", r.Path)
	}
	return typeName(list.Type.Elem())
}

// goType returns the type of a parameter. It is a pointer if the zero value differs in meaning from
// an omitted parameter.
func goType(t *testing.T, p *api.Param) string {
	t.Helper()
	kind := "string"
	switch p.Kind {
	case api.Integer:
		kind = "int64"
		if p.Min <= 0 && p.Max >= 0 && p.Default != "0" && !p.Required && !p.InPath {
			kind = "*int64"
		}
	case api.Decimal:
		kind = "*data.Micro"
	case api.Moment:
		kind = "time.Time"
	}
	if p.Many > 1 {
		if kind != "string" {
			t.Errorf("parameter %s: a list of %s is not supported", p.Name, kind)
		}
		kind = "[]string"
	}
	return kind
}

func typeName(of reflect.Type) string {
	return strings.ReplaceAll(of.String(), "pmx/http/wire.", "wire.")
}

// joined returns the path of a route as an expression: join("/trader/", address, "/stats").
func joined(pattern string) string {
	parts := strings.FieldsFunc(pattern, func(r rune) bool { return r == '{' || r == '}' })
	if len(parts) == 1 {
		return fmt.Sprintf("%q", pattern)
	}
	for i := range parts {
		if i%2 == 0 {
			parts[i] = fmt.Sprintf("%q", parts[i])
		} else {
			parts[i] = lowerCamel(parts[i])
		}
	}
	return "join(" + strings.Join(parts, ", ") + ")"
}

// camel returns the Go name for a JSON or header name.
func camel(name string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' }) {
		if slices.Contains([]string{"id", "usd", "pnl", "roi"}, word) {
			word = strings.ToUpper(word)
		}
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

func lowerCamel(name string) string {
	c := camel(name)
	return strings.ToLower(c[:1]) + c[1:]
}

//go:embed testdata/client.tmpl
var clientText string

// imports returns the imports that body needs, in groups.
func imports(body string) string {
	var std, own string
	names := func(pkg string) bool {
		return regexp.MustCompile(`\b` + path.Base(pkg) + `\.[A-Z]`).MatchString(body)
	}
	for _, pkg := range []string{"context", "iter", "net/http", "net/url", "time"} {
		if names(pkg) {
			std += fmt.Sprintf("\t%q\n", pkg)
		}
	}
	for _, pkg := range []string{"pmx/data", "pmx/http/wire"} {
		if names(pkg) {
			own += fmt.Sprintf("\t%q\n", pkg)
		}
	}
	return "import (\n" + std + "\n" + own + ")\n"
}
