package e2e_test

import (
	"bytes"
	"fmt"
	"testing"

	"pmx/data"
	"pmx/http/api"
	"pmx/rollups/keeper"
	"pmx/rollups/serving"
)

// A start without an image answers requests for leaderboards of traders and statistics of wallets as soon as wallets are read. The
// responses are those that come when everything is read; before that, all others are refused.
func TestTradersAreServedBeforeEverythingIsRead(t *testing.T) {
	v := keep(t, copySample(t), func(c *keeper.Config) { c.Later = true })
	t.Cleanup(func() {
		if err := v.keeper.Close(); err != nil {
			t.Error(err)
		}
	})
	v.serve(func(_ *venue, c *api.Config) { c.Opening = true })
	early := map[string][]byte{}
	read := func(path string) []byte {
		r := v.ask("GET", path, "")
		return append(fmt.Appendf(nil, "%d %s ", r.StatusCode(), r.Header.Peek("Etag")), r.Body()...)
	}
	refused := func(when string) {
		t.Helper()
		for _, path := range []string{"/stats", "/leaderboard/markets", "/health", "/leaderboard/traders?sort=roi"} {
			if r := v.ask("GET", path, ""); r.StatusCode() != 503 {
				t.Errorf("%s, GET %s gives %d", when, path, r.StatusCode())
			}
		}
	}
	called := 0
	err := v.keeper.Begin(t.Context(), func(s *serving.Snapshot) {
		called++
		refused("before wallets are shown")
		v.api.PublishTraders(s)
		paths := []string{"/leaderboard/traders?period=1d", "/leaderboard/traders", "/leaderboard/traders?period=30d&limit=200"}
		for i := 0; i < s.Wallets(); i += max(1, s.Wallets()/300) {
			paths = append(paths, "/trader/"+s.WalletAt(data.WalletID(i)).String()+"/stats")
		}
		for _, path := range paths {
			early[path] = read(path)
		}
		refused("before everything is read")
	})
	if err != nil || called != 1 || len(early) < 100 {
		t.Fatalf("begun with %v, wallets shown %d times, %d responses", err, called, len(early))
	}
	refused("before the API is opened")
	v.api.Open()
	for path, was := range early {
		if is := read(path); !bytes.Equal(was, is) || !bytes.HasPrefix(is, []byte("200 ")) {
			t.Errorf("GET %s was %s, and is %s", path, was, is)
		}
	}
	if r := v.ask("GET", "/stats", ""); r.StatusCode() != 200 {
		t.Errorf("GET /stats gives %d", r.StatusCode())
	}
}
