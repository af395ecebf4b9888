package e2e_test

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/valyala/fasthttp"

	"pmx/data/sample"
	"pmx/http/api"
	"pmx/http/api/apitest"
	"pmx/http/wire"
)

// sampleFills is the size of the sample venue that is asked for everything:
// small enough to be quick, large enough that every endpoint has something to say.
const sampleFills = 60_000

// sampleVenue is the data directory with the sample's data: imported once, and copied for
// every test that asks for it.
var sampleVenue struct {
	once sync.Once
	dir  string
}

// TestMain removes the sample's data directory at the end.
func TestMain(m *testing.M) {
	code := m.Run()
	if dir := sampleVenue.dir; dir != "" {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// newSample is a venue with the sample's data.
func newSample(t testing.TB) *venue {
	t.Helper()
	sampleVenue.once.Do(func() {
		dir, err := os.MkdirTemp("", "pmx-test-")
		if err != nil {
			t.Fatal(err)
		}
		sampleVenue.dir = dir
		v := keep(t, filepath.Join(dir, "data"))
		v.loadSample(sampleFills)
		v.keeper.Settle()
		if err := v.keeper.Close(); err != nil {
			t.Fatal(err)
		}
	})
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(sampleVenue.dir, "data"))); err != nil {
		t.Fatal(err)
	}
	return openVenue(t, dir)
}

// loadSample imports a sample venue of that many fills.
func (v *venue) loadSample(fills int64) {
	v.t.Helper()
	out := filepath.Join(v.t.TempDir(), "sample")
	if _, err := sample.Write(v.t.Context(), sample.Config{Fills: fills}, out, nil); err != nil {
		v.t.Fatal(err)
	}
	v.load(out)
}

// ask sends a request with a trader's key; body is JSON, "" for none.
func (v *venue) ask(method, path, body string) *fasthttp.Response {
	return v.send("trader", method, path, body)
}

// send sends a request with a key of a plan; body is JSON, "" for none.
func (v *venue) send(tier, method, path, body string) *fasthttp.Response {
	req := &fasthttp.Request{}
	req.Header.SetMethod(method)
	req.SetRequestURI(wire.Base + path)
	req.Header.SetHost("pmx.test")
	req.Header.Set(wire.KeyHeader, v.keys[tier])
	if body != "" {
		req.Header.SetContentType("application/json")
		req.SetBodyString(body)
	}
	return apitest.Do(v.handler, req, nil)
}

// picker knows values of parameters that the venue has something for.
type picker struct {
	v     *venue
	known map[string]string
}

func newPicker(v *venue) *picker {
	p := &picker{v: v, known: map[string]string{"q": "temperature", "name": "PMX-Volume", "city": "nyc"}}
	days := v.table(`SELECT (DATE '1970-01-01' + target)::VARCHAR FROM weather_issue WHERE city = 'nyc'
		GROUP BY target ORDER BY count(*) DESC, target DESC LIMIT 1`)
	if len(days) > 0 { // a venue without weather has no day to ask for
		p.known["date"] = days[0]
	}
	p.learn("/leaderboard/traders?period=30d&limit=1", "address")
	p.learn("/leaderboard/markets?period=30d&limit=1", "condition_id", "event_id", "category")
	return p
}

// learn asks path and takes fields of its first row as values of the parameters
// with their names.
func (p *picker) learn(path string, fields ...string) {
	p.v.t.Helper()
	var list struct{ Data []map[string]any }
	res := p.v.ask("GET", path, "")
	if err := json.Unmarshal(res.Body(), &list); err != nil || len(list.Data) == 0 {
		p.v.t.Fatalf("%s: %v: %.300s", path, err, res.Body())
	}
	for _, field := range fields {
		if text, ok := list.Data[0][field].(string); ok {
			p.known[field] = text
		}
	}
}

// value is a good value of a parameter; false where none is known.
func (p *picker) value(param *api.Param) (string, bool) {
	if text, ok := p.known[param.Name]; ok {
		return text, true
	}
	if param.Default != "" {
		return param.Default, true
	}
	if len(param.Choices) > 0 {
		return param.Choices[0], true
	}
	return "", false
}

// path is a request for route that the venue has an answer to: the parameters in
// the path and those that must be given, and short lists; false where a value is
// not known.
func (p *picker) path(route *api.Route) (string, bool) {
	path, query := route.Path, url.Values{}
	for _, param := range route.Params {
		text, ok := p.value(param)
		switch {
		case !ok && (param.InPath || param.Required):
			return "", false
		case param.InPath:
			path = strings.ReplaceAll(path, "{"+param.Name+"}", url.PathEscape(text))
		case param.Required:
			query.Add(param.Name, text)
		case param.Name == "limit":
			query.Set("limit", "2")
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path, true
}
