package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/valyala/fasthttp"

	"pmx/data/sample"
	"pmx/data/testfiles"
	"pmx/http/api"
	"pmx/http/api/apitest"
	"pmx/http/wire"
)

// sampleConfig is the configuration of the sample venue that tests use: small enough to be fast,
// large enough that every endpoint has data. The examples of the document are from a larger one.
func sampleConfig() sample.Config {
	cfg := sample.Config{Fills: 60_000}
	if !testfiles.Long() && !*update {
		cfg = sample.Config{Fills: 16_000, Days: 9}
	}
	cfg.FileRows = cfg.Fills * 2 / 5
	return cfg
}

// sampleVenue is the venue with the sample's data. It is imported once: most of it before a
// restart, so that there are files in the order of wallets and of markets, and the newest fills
// afterwards, so that there are fills that these files lack and a snapshot that followed a batch.
var sampleVenue struct {
	once sync.Once
	dir  string
	open *venue
}

// TestMain closes the sample's venue at the end and removes it.
func TestMain(m *testing.M) {
	code := m.Run()
	if v := sampleVenue.open; v != nil {
		if err := errors.Join(v.keeper.Close(), os.RemoveAll(sampleVenue.dir)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// readSample returns the venue with the sample's data, shared by all tests that change nothing.
// Each has its own service and clock.
func readSample(t testing.TB, change ...func(*venue, *api.Config)) *venue {
	t.Helper()
	sampleVenue.once.Do(func() { importSample(t) })
	if sampleVenue.open == nil {
		t.Fatal("the sample venue could not be imported, see the test before")
	}
	v := newVenueOver(t, sampleVenue.open.keeper)
	v.serve(change...)
	return v
}

// importSample makes sampleVenue.
func importSample(t testing.TB) {
	t.Helper()
	dir, err := os.MkdirTemp("", "pmx-test-")
	if err != nil {
		t.Fatal(err)
	}
	sampleVenue.dir = dir
	from := filepath.Join(t.TempDir(), "sample")
	man, err := sample.Write(t.Context(), sampleConfig(), from, nil)
	if err != nil {
		t.Fatal(err)
	}
	newest := filepath.Join(from, man.FillFiles[len(man.FillFiles)-1].Name)
	v := keep(t, filepath.Join(dir, "data"))
	files, err := filepath.Glob(filepath.Join(from, "*"))
	if err != nil || len(man.FillFiles) != 3 {
		t.Fatalf("got %d files of fills, want 3: %v", len(man.FillFiles), err)
	}
	v.load(slices.DeleteFunc(files, func(f string) bool { return f == newest || filepath.Base(f) == sample.ManifestName })...)
	v.keeper.Settle()
	if err := v.keeper.Close(); err != nil {
		t.Fatal(err)
	}
	v = keep(t, v.dir)
	v.keeper.Settle()
	v.load(newest)
	if s := v.keeper.WalletStats(); !s.Ready || s.Stored == 0 || s.Recent == 0 {
		t.Errorf("the file in wallet order: %+v", s)
	}
	if testfiles.Long() { // a short run verifies the sample venue of package keeper
		v.proved()
	}
	sampleVenue.open = v
}

// some returns a part of a list that a test loops over: in a short run one in so many, and in a long run all.
func some[T any](list []T, oneIn int) (part []T) {
	for i := 0; i < len(list); i += testfiles.Cases(oneIn, 1) {
		part = append(part, list[i])
	}
	return part
}

// newSample returns a copy of the venue with the sample's data, for a test that changes it.
func newSample(t testing.TB) *venue {
	t.Helper()
	return openVenue(t, copySample(t))
}

// copySample returns the folder of a copy of the sample's data, without an image.
func copySample(t testing.TB) string {
	t.Helper()
	readSample(t)
	if err := sampleVenue.open.keeper.DB().Checkpoint(t.Context()); err != nil { // the copy has no log
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(sampleVenue.dir, "data"))); err != nil {
		t.Fatal(err)
	}
	return dir
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

// picker has values of parameters for which the venue has data.
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

// learn requests path and takes fields of its first row as values of the parameters with the same
// names.
func (p *picker) learn(path string, fields ...string) {
	p.v.t.Helper()
	var list struct{ Data []map[string]any }
	res := p.v.ask("GET", path, "")
	if err := json.Unmarshal(res.Body(), &list); err != nil || len(list.Data) == 0 {
		p.v.t.Fatalf("%s: err = %v, body = %.300s", path, err, res.Body())
	}
	for _, field := range fields {
		if text, ok := list.Data[0][field].(string); ok {
			p.known[field] = text
		}
	}
}

// value returns a valid value of a parameter; false if none is known.
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

// path returns a request for route that the venue can answer, with the parameters in the path, the
// required ones, and short lists; false if a value is not known.
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
