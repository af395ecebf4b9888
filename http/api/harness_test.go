package api_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/valyala/fasthttp"

	"pmx/http/access"
	"pmx/http/api"
	"pmx/http/api/apitest"
	"pmx/http/openapi/check"
	"pmx/http/server"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// venue is an API over hand-made data, with one key of every tier.
type venue struct {
	t       testing.TB
	clock   *apitest.Clock
	source  *apitest.Source
	store   *apitest.Store
	wallets *apitest.Wallets
	markets *apitest.Markets
	moves   *apitest.Moves
	weather *apitest.Weather
	gate    *access.Gate
	api     *api.API
	handler fasthttp.RequestHandler
	keys    map[access.Tier]string
	log     *bytes.Buffer
	sources []serving.Source // that are followed
	newest  *serving.NewestTrades
	open    bool // pages need no key
	copies  bool // the history by days is another server's
	opening bool // the data is still being read

	leaderboardsRead chan struct{} // has a value once KeepLeaderboards has read them
}

// reader is the API's Reader, made of fakes; methods without one are not called.
type reader struct {
	rest
	*apitest.Wallets
	*apitest.Markets
	*apitest.Moves
	*apitest.Weather
}

type rest struct{ api.Reader }

// start is the initial time of a venue's clock: 12 s into a minute.
var start = time.Date(2026, 3, 14, 15, 10, 12, 0, time.UTC)

func newVenue(t testing.TB, snap *serving.Snapshot) *venue {
	t.Helper()
	v := &venue{
		t: t, clock: apitest.NewClock(start), source: apitest.NewSource(snap), store: &apitest.Store{}, wallets: &apitest.Wallets{},
		markets: &apitest.Markets{}, moves: &apitest.Moves{}, weather: &apitest.Weather{},
		keys: map[access.Tier]string{}, log: &bytes.Buffer{}, leaderboardsRead: make(chan struct{}, 1),
	}
	for _, tier := range access.Tiers() {
		v.keys[tier] = v.store.Issue(tier, int(tier)+1)
	}
	var err error
	if v.gate, err = access.NewGate(t.Context(), v.store, zerolog.New(v.log)); err != nil {
		t.Fatal(err)
	}
	v.restart()
	return v
}

// restart creates a new API for v with its current data.
func (v *venue) restart() {
	t := v.t
	t.Helper()
	var err error
	read := func() {
		select {
		case v.leaderboardsRead <- struct{}{}:
		default:
		}
	}
	v.api, err = api.New(api.Config{LeaderboardsRead: read, Source: v.source, Reader: &reader{Wallets: v.wallets, Markets: v.markets, Moves: v.moves, Weather: v.weather}, Gate: v.gate, Version: "v1.2.3", CursorKey: make([]byte, 32), Now: v.clock.Now,
		Sources: func() []serving.Source { return v.sources }, Newest: v.newest, OpenPages: v.open, Copies: v.copies, Opening: v.opening})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Config{API: v.api, Listen: "127.0.0.1:0", Log: zerolog.New(v.log)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	v.handler = s.Handler()
	if t, ok := t.(*testing.T); ok {
		v.handler = check.Handler(t, v.handler)
	}
}

// reply is a response with its body decoded.
type reply struct {
	*fasthttp.Response
	status int
	body   map[string]json.RawMessage
}

func (r reply) header(name string) string { return string(r.Header.Peek(name)) }

func (r reply) text(field string) string { return string(r.body[field]) }

// rows returns the number of elements of data.
func (r reply) rows(t *testing.T) int {
	t.Helper()
	var rows []json.RawMessage
	if err := json.Unmarshal(r.body["data"], &rows); err != nil {
		t.Fatalf("data: %v in %s", err, r.Body())
	}
	return len(rows)
}

// do sends a request. headers are "Name: value".
func (v *venue) do(method, path string, headers ...string) reply {
	v.t.Helper()
	req := &fasthttp.Request{}
	req.Header.SetMethod(method)
	req.SetRequestURI(path)
	req.Header.SetHost("pmx.test")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	res := apitest.Do(v.handler, req, nil)
	r := reply{Response: res, status: res.StatusCode()}
	if len(res.Body()) > 0 && len(res.Header.ContentEncoding()) == 0 {
		if err := json.Unmarshal(res.Body(), &r.body); err != nil {
			v.t.Fatalf("%s %s: body is not JSON: %v: %s", method, path, err, res.Body())
		}
	}
	return r
}

// get sends a GET request below the API's base with a key of tier.
func (v *venue) get(tier access.Tier, path string, headers ...string) reply {
	v.t.Helper()
	if tier != access.Nobody {
		headers = append(headers, wire.KeyHeader+": "+v.keys[tier])
	}
	return v.do("GET", wire.Base+path, headers...)
}

// decoded decodes any JSON.
func decoded(t *testing.T, text json.RawMessage) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
