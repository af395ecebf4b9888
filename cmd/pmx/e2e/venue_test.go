package e2e_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/valyala/fasthttp"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/engine/enginetest"
	"pmx/http/access"
	"pmx/http/api"
	"pmx/http/api/apitest"
	"pmx/http/openapi/check"
	"pmx/http/server"
	"pmx/http/wire"
	"pmx/rollups/keeper"
)

// venue is the whole service without sockets, with its own database.
type venue struct {
	t       testing.TB
	dir     string
	keeper  *keeper.Keeper
	api     *api.API
	handler fasthttp.RequestHandler
	clock   *apitest.Clock
	keys    map[string]string // by tier
}

// exchange is the venue's own wallet.
const exchange = "0x00000000000000000000000000000000000000ff"

func newVenue(t testing.TB) *venue {
	t.Helper()
	return openVenue(t, t.TempDir())
}

// newVenueOver returns a venue over an open database, without the service.
func newVenueOver(t testing.TB, k *keeper.Keeper) *venue {
	return &venue{t: t, keeper: k, keys: map[string]string{}, clock: apitest.NewClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))}
}

// keep opens the database in dir, without the service; change may modify how.
func keep(t testing.TB, dir string, change ...func(*keeper.Config)) *venue {
	t.Helper()
	v := newVenueOver(t, nil)
	v.dir = dir
	own, err := data.ParseAddress(exchange)
	if err != nil {
		t.Fatal(err)
	}
	cfg := keeper.Config{
		Engine: enginetest.Options(t, v.dir, "2GB"),
		Feeds:  feeds.Catalog{},
		Log:    zerolog.Nop(),
		Now:    v.clock.Now,
		Serve:  true,
		Venue:  map[data.Address]bool{own: true},
	}
	for _, f := range change {
		f(&cfg)
	}
	if v.keeper, err = keeper.Open(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	return v
}

// openVenue starts the service over the database in dir; change may modify the configuration of its
// API.
func openVenue(t testing.TB, dir string, change ...func(*venue, *api.Config)) *venue {
	t.Helper()
	v := keep(t, dir)
	t.Cleanup(func() {
		if err := v.keeper.Close(); err != nil {
			t.Error(err)
		}
	})
	v.serve(change...)
	return v
}

// serve starts the service; change may modify the configuration of its API.
func (v *venue) serve(change ...func(*venue, *api.Config)) {
	v.t.Helper()
	t := v.t
	store := &apitest.Store{}
	for _, tier := range access.Tiers() {
		v.keys[tier.String()] = store.Issue(tier, int(tier)+1)
	}
	gate, err := access.NewGate(t.Context(), store, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	cfg := api.Config{Source: v.keeper, Reader: v.keeper.Reader(), Gate: gate, CursorKey: make([]byte, 32), Version: "v0", Now: v.clock.Now}
	for _, f := range change {
		f(v, &cfg)
	}
	v.api, err = api.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	v.keeper.OnPublish(v.api.Publish)
	s, err := server.New(server.Config{API: v.api, Listen: "127.0.0.1:0", Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	v.handler = s.Handler()
	if t, ok := t.(*testing.T); ok {
		v.handler = check.Handler(t, v.handler)
	}
}

// load imports files, which must be read completely.
func (v *venue) load(paths ...string) {
	v.t.Helper()
	res, err := v.keeper.Import(context.Background(), keeper.Request{Paths: paths}, nil)
	if err != nil || len(res.Failed) > 0 {
		v.t.Fatalf("import %v: err = %v, res.Failed = %+v", paths, err, res.Failed)
	}
	for _, r := range res.Receipts {
		if n := r.RejectedRows(); n > 0 {
			v.t.Fatalf("import %s: %d rows rejected: %v", r.File, n, r.Rejected)
		}
	}
}

// write puts text into a new file of that name.
func (v *venue) write(name, text string) string {
	v.t.Helper()
	path := filepath.Join(v.t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		v.t.Fatal(err)
	}
	return path
}

// get requests path below the API's base as tier ("" without a key) and returns the status and the
// decoded body.
func (v *venue) get(tier, path string) (int, any) {
	v.t.Helper()
	req := &fasthttp.Request{}
	req.SetRequestURI(wire.Base + path)
	req.Header.SetHost("pmx.test")
	if tier != "" {
		req.Header.Set(wire.KeyHeader, v.keys[tier])
	}
	res := apitest.Do(v.handler, req, nil)
	var body any
	if err := json.Unmarshal(res.Body(), &body); err != nil {
		v.t.Fatalf("GET %s: body is not JSON: %v: %s", path, err, res.Body())
	}
	return res.StatusCode(), body
}

// proved runs the whole verification.
func (v *venue) proved() {
	v.t.Helper()
	checks, err := v.keeper.Verify(context.Background(), nil)
	if err != nil {
		v.t.Fatal(err)
	}
	for _, c := range checks {
		if !c.OK {
			v.t.Errorf("verify: %+v", c)
		}
	}
}
