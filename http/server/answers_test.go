package server_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pmx/http/access"
	"pmx/http/api"
	"pmx/http/api/apitest"
	"pmx/http/server"
)

// onePage requests several responses as a page of the server does.
func onePage(t *testing.T, r *rig, paths []string, headers ...string) (*http.Response, string) {
	t.Helper()
	return ask(t, http.DefaultClient, http.MethodGet, r.URL()+"/answers?"+url.Values{"of": paths}.Encode(), append(headers, "Sec-Fetch-Site: same-origin")...)
}

// Requests that the server makes for a page get the time of the clock, which counting and responses
// use.
func TestAPageIsAnsweredByTheClock(t *testing.T) {
	gate, err := access.NewGate(t.Context(), &apitest.Store{}, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	a, err := api.New(api.Config{Source: apitest.NewSource(apitest.Snapshot(1, 10, 60)), Gate: gate, Version: "v1", CursorKey: make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	r := serve(t, nil, func(cfg *server.Config) { cfg.API = a })
	if _, text := onePage(t, r, []string{"/api/v3/status/history?days=1"}); !strings.Contains(text, `"date":"20`) {
		t.Errorf("the day is %s", text)
	}
}

// An address may refer to a field of an earlier response. If the field does not exist, is not a
// plain word or is of a later response, the entry is a 404 and nothing is requested.
func TestAnAddressTakesFieldsOfAnswersBefore(t *testing.T) {
	r := serve(t, nil, nil)
	key := "X-API-Key: " + r.key
	_, leaderboard := ask(t, http.DefaultClient, http.MethodGet, r.URL()+"/api/v3/leaderboard/traders?limit=2", key)
	var list struct{ Data []struct{ Address string } }
	if err := json.Unmarshal([]byte(leaderboard), &list); err != nil || len(list.Data) != 2 {
		t.Fatalf("err = %v, leaderboard = %s", err, leaderboard)
	}
	_, text := onePage(t, r, []string{
		"/api/v3/leaderboard/traders?limit=2", "/api/v3/trader/{0.1.address}/stats", "/api/v3/trader/{0.2.address}/stats", "/api/v3/trader/{4.address}/stats",
		"/api/v3/trader/{0.0.real_pnl}/stats", "/api/v3/trader/{1.address}/stats", "/api/v3/trader/{0.-1.address}/stats",
	}, key)
	var got struct {
		Answers []struct {
			Of     string
			Status int
			Body   struct{ Data any }
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || len(got.Answers) != 7 {
		t.Fatalf("err = %v, text = %s", err, text)
	}
	for i, want := range []string{"leaderboard/traders?limit=2", "trader/" + list.Data[1].Address + "/stats", "", "", "", "trader/" + list.Data[1].Address + "/stats", ""} {
		one := got.Answers[i]
		switch {
		case i == 6: // not a placeholder: the address is requested as it is
			if one.Status != http.StatusBadRequest {
				t.Errorf("one = %+v", one)
			}
		case want == "":
			if one.Of != "" || one.Status != http.StatusNotFound || one.Body.Data != nil {
				t.Errorf("answer %d is %+v", i, one)
			}
		case i == 0 && one.Of != "" || i > 0 && one.Of != "/api/v3/"+want || one.Status != http.StatusOK || one.Body.Data == nil:
			t.Errorf("answer %d is %+v, want that of %s", i, one, want)
		}
	}
	// Only what was requested counts.
	if res, _ := ask(t, http.DefaultClient, http.MethodGet, r.URL()+"/api/v3/leaderboard/traders?limit=2", key); res.Header.Get("X-RateLimit-Remaining") != "99994" {
		t.Errorf("%s requests are left", res.Header.Get("X-RateLimit-Remaining"))
	}
}

// A page gets its responses with one request, in order. Each is the same as by itself, and each
// counts. A program, and a page of another site, get 404.
func TestAPageGetsItsResponsesAtOnce(t *testing.T) {
	r := serve(t, nil, nil)
	key := "X-API-Key: " + r.key
	paths := []string{"/api/v3/leaderboard/traders?limit=3", "/api/v3/status/public", "/api/v3/trader/none/stats", "/api/v3/nothing"}
	res, text := onePage(t, r, paths, key)
	var got struct {
		Answers []struct {
			Status int
			Body   json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || len(got.Answers) != len(paths) || res.StatusCode != http.StatusOK {
		t.Fatalf("status = %d, err = %v, text = %s", res.StatusCode, err, text)
	}
	left := ""
	for i, path := range paths {
		alone, body := ask(t, http.DefaultClient, http.MethodGet, r.URL()+path, key)
		if got.Answers[i].Status != alone.StatusCode {
			t.Errorf("%s: %d, alone %d", path, got.Answers[i].Status, alone.StatusCode)
		}
		if i == 0 && string(got.Answers[i].Body) != body {
			t.Errorf("%s: %s, alone %s", path, got.Answers[i].Body, body)
		}
		if i == 0 {
			left = alone.Header.Get("X-RateLimit-Remaining")
		}
	}
	// The four counted, and the separate one.
	if left != "99995" {
		t.Errorf("%s requests of 100,000 are left", left)
	}
	again, _ := onePage(t, r, paths[:1], key)
	if same, _ := onePage(t, r, paths[:1], key, "If-None-Match: "+again.Header.Get("ETag")); same.StatusCode != http.StatusNotModified {
		t.Errorf("what the page has is sent again: %d", same.StatusCode)
	}
	packed, body := onePage(t, r, paths[:1], key, "Accept-Encoding: br, gzip")
	if packed.Header.Get("Content-Encoding") != "gzip" || len(body) >= len(text) {
		t.Errorf("it is sent as %q, in %d bytes", packed.Header.Get("Content-Encoding"), len(body))
	}
	if res, text := onePage(t, r, paths[:1]); res.StatusCode != http.StatusOK || !strings.Contains(text, `{"status":401,`) {
		t.Errorf("without a key: %d %s", res.StatusCode, text)
	}
	for _, bad := range [][]string{nil, {"/docs"}, {"/answers?of=/api/v3/stats"}, {"https://example.org/api/v3/stats"}, strings.Split(strings.Repeat("/api/v3/stats ", 13), " ")} {
		if res, _ := onePage(t, r, bad, key); res.StatusCode != http.StatusBadRequest {
			t.Errorf("%q: status = %d", bad, res.StatusCode)
		}
	}
	for _, site := range []string{"", "cross-site", "none"} {
		if res, _ := ask(t, http.DefaultClient, http.MethodGet, r.URL()+"/answers?of=/api/v3/stats", key, "Sec-Fetch-Site: "+site); res.StatusCode != http.StatusNotFound {
			t.Errorf("%q: status = %d", site, res.StatusCode)
		}
	}
}
