package api_test

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"pmx/http/access"
	"pmx/http/api"
	"pmx/http/api/apitest"
	"pmx/http/openapi"
)

// compiled is the schema of one value of a parameter.
func compiled(t *testing.T, p *openapi.Parameter) *jsonschema.Schema {
	t.Helper()
	s := p.Schema
	if s.Items != nil {
		s = s.Items
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.RegisterFormat(&jsonschema.Format{Name: "decimal", Validate: func(any) error { return nil }})
	if err := c.AddResource("urn:p", plain); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("urn:p")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// narrower are parameters for which the API refuses more than a schema can express; they have their
// own tests.
var narrower = map[string]bool{"q": true, "category": true, "exclude_category": true, "cursor": true, "min_usd": true, "cities": true}

// The API refuses exactly those values of a query parameter that its schema refuses.
func TestParametersAreTakenAsTheDocumentSays(t *testing.T) {
	d, err := openapi.Current()
	if err != nil {
		t.Fatal(err)
	}
	values := []string{"", "a", "a b", "a\nb", "\x00", "\x7f", "\u0085", "é", "a/b", strings.Repeat("é", 100), strings.Repeat("a", 101), strings.Repeat("a", 2001),
		"0", "1", "-1", "7", "1000000", "0.5", "-0.5", "BUY", "7d", "1h", "true", "volume", " volume , trades", "volume,", "VOLUME", "tmax", "open", "ids",
		"0x" + strings.Repeat("aB", 20), "0x" + strings.Repeat("aB", 32), "0x" + strings.Repeat("aB", 31), "0x12", "2026-03-14", "2026-02-30", "2026-03-14T15:09:26Z", "now"}
	asked, refused := 0, 0
	for _, r := range api.Routes() {
		op := d.Operation(r.Method, r.Path)
		if r.Method != "GET" || strings.Contains(r.Path, "{") {
			continue
		}
		v := newVenue(t, apitest.Snapshot(1, 3, 3))
		for i := range op.Parameters {
			p := &op.Parameters[i]
			if p.In != "query" {
				continue
			}
			schema := compiled(t, p)
			for _, text := range values {
				var value any = text
				if kind := p.Schema.Type; kind == "integer" || kind == "number" {
					if _, err := strconv.ParseFloat(text, 64); err == nil {
						value = json.Number(text)
					}
				}
				a := v.get(access.Alpha, r.Path+"?"+url.Values{p.Name: {text}}.Encode())
				bad := a.status == 400 && a.text("param") == strconv.Quote(p.Name)
				ok := schema.Validate(value) == nil
				asked++
				if !ok {
					refused++
				}
				if bad && ok && !narrower[p.Name] || !bad && !ok {
					t.Errorf("%s?%s=%.60q: the document allows it: %t, the API answers %d %.200s", r.Path, p.Name, text, ok, a.status, a.Body())
				}
			}
		}
	}
	if asked < 1000 || refused == 0 || refused == asked {
		t.Errorf("%d values requested, %d refused", asked, refused)
	}
}
