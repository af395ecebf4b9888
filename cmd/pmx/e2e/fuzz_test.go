package e2e_test

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/valyala/fasthttp"

	"pmx/engine/control"
	"pmx/engine/export/job"
	"pmx/http/access"
	"pmx/http/api"
	"pmx/http/api/apitest"
	"pmx/http/openapi/check"
	"pmx/http/wire"
)

// withExports makes the venue accept export jobs, but no worker runs them.
func withExports(v *venue, cfg *api.Config) {
	v.t.Helper()
	db, err := control.Open(v.t.Context(), filepath.Join(v.t.TempDir(), "control.db"), v.clock.Now)
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { _ = db.Close() })
	hash, _ := access.HashOf([]byte(v.keys["alpha"]))
	if _, err := db.IssueKey(v.t.Context(), hash, "alpha", "fuzz"); err != nil { // a job belongs to a key
		v.t.Fatal(err)
	}
	cfg.Exports = job.NewPool(job.Config{Store: db, Work: v.keeper.Exporter(), Dir: v.t.TempDir(), Now: v.clock.Now, Log: zerolog.Nop(),
		Limits: job.Limits{Keep: time.Hour, Quota: 1 << 20, PerKey: 3}})
}

// attack is a valid request for a route, except for one part.
type attack struct {
	route *api.Route
	place int    // the parameter that text stands for; beyond the last one: none
	text  string // of that parameter
	query string // more of the query, as it is
}

// target returns the address of the attack. A parameter without a value is omitted or, in the path,
// also made of text.
func (a *attack) target(pick *picker) string {
	path, query := a.route.Path, url.Values{}
	for i, p := range a.route.Params {
		value, known := pick.value(p)
		if i == a.place || !known && p.InPath {
			value, known = a.text, true
		}
		switch {
		case p.InPath:
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(value))
		case i == a.place || p.Required && known:
			query.Add(p.Name, value)
		}
	}
	full := wire.Base + path
	if words := strings.Trim(query.Encode()+"&"+a.query, "&"); words != "" {
		full += "?" + words
	}
	return full
}

// FuzzEveryRoute sends unusual values of every parameter, cursor, header and body to every route.
// None may make the service fail, and every response must conform to the document.
func FuzzEveryRoute(f *testing.F) {
	v := readSample(f, withExports)
	document, err := check.New()
	if err != nil {
		f.Fatal(err)
	}
	pick := newPicker(v)
	routes := api.Routes()
	for i := range routes {
		f.Add(uint16(i), uint8(255), "", "", "", "", "")
		for place, p := range routes[i].Params {
			for _, text := range []string{"-1", "a'b\"%\x00", "9999-12-31", strings.Repeat("z", 300)} {
				f.Add(uint16(i), uint8(place), text, "", "", "", "")
			}
			if p.Kind == api.CursorArg {
				f.Add(uint16(i), uint8(place), pick.cursor(&routes[i]), "limit=1", "", "", "")
			}
		}
		f.Add(uint16(i), uint8(255), "", "limit=1&limit=2&%zz;=", `"x", W/*`, "bytes=0-,-1", `{"dataset":"markets","format":"csv","period":"all"}`)
		f.Add(uint16(i), uint8(255), "", "", "*", "a", `{"format":null`)
	}
	f.Fuzz(func(t *testing.T, route uint16, place uint8, text, query, match, header, body string) {
		a := attack{route: &routes[int(route)%len(routes)], place: int(place), text: text, query: query}
		req := &fasthttp.Request{}
		req.Header.SetMethod(a.route.Method)
		req.SetRequestURI(a.target(pick))
		req.Header.SetHost("pmx.test")
		req.Header.Set(wire.KeyHeader, v.keys["alpha"])
		req.Header.Set("If-None-Match", match)
		for _, name := range []string{"Range", "If-Range", "Idempotency-Key", "Accept-Encoding"} {
			if header != "" {
				req.Header.Set(name, header)
			}
		}
		if body != "" {
			req.Header.SetContentType("application/json")
			req.SetBodyString(body)
		}
		v.clock.Add(time.Millisecond) // the key has 100,000 requests a minute
		path := string(req.URI().PathOriginal())
		res := apitest.Do(v.handler, req, nil)
		if status := res.StatusCode(); status >= 500 && status != 503 {
			t.Errorf("%s %q: status = %d, body = %s", a.route.Method, req.RequestURI(), status, res.Body())
		}
		if err := document.Reply(a.route.Method, path, res); err != nil {
			t.Errorf("%s %q differs from the OpenAPI document: %v\n%s", a.route.Method, req.RequestURI(), err, res)
		}
	})
}

// cursor returns the cursor after the first row of route; "" if there is none.
func (p *picker) cursor(route *api.Route) string {
	path, ok := p.path(route)
	if !ok {
		return ""
	}
	path = strings.Replace(path, "limit=2", "limit=1", 1)
	_, after, found := strings.Cut(string(p.v.ask(route.Method, path, "").Body()), `"next_cursor":"`)
	if !found {
		return ""
	}
	cursor, _, _ := strings.Cut(after, `"`)
	return cursor
}
