package server_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pmx/http/api"
	"pmx/http/api/apitest"
	"pmx/http/openapi"
	"pmx/http/server"
	"pmx/http/wire"
)

const dash = "https://dash.example"

// allow starts a server that allows pages of origins.
func allow(t *testing.T, origins ...string) *rig {
	t.Helper()
	return serve(t, nil, func(c *server.Config) { c.Origins = origins })
}

// preflight sends the preflight that a browser sends before a page of origin may use method with a
// key.
func preflight(t *testing.T, url, origin, method string) (*http.Response, string) {
	t.Helper()
	return ask(t, http.DefaultClient, "OPTIONS", url, "Origin: "+origin, "Access-Control-Request-Method: "+method, "Access-Control-Request-Headers: x-api-key")
}

// items are the members of a list header, in lower case.
func items(h http.Header, name string) []string {
	var all []string
	for item := range strings.SplitSeq(strings.ToLower(strings.Join(h.Values(name), ",")), ",") {
		all = append(all, strings.TrimSpace(item))
	}
	return all
}

func TestPagesOfOtherSitesAreRefusedUnlessAllowed(t *testing.T) {
	for name, r := range map[string]*rig{"by default": serve(t, nil, nil), "another site is allowed": allow(t, "https://other.example", "http://dash.example")} {
		res, body := preflight(t, r.URL()+leaderboard, dash, "GET")
		if res.StatusCode != 403 || !strings.Contains(body, `"code":"origin_not_allowed"`) || !strings.Contains(body, "--cors-origin "+dash) ||
			res.Header.Get("Access-Control-Allow-Origin") != "" || strings.Contains(body, "other.example") {
			t.Errorf("%s: status = %d, res.Header = %v, body = %s", name, res.StatusCode, res.Header, body)
		}
		res, body = ask(t, http.DefaultClient, "GET", r.URL()+leaderboard, "Origin: "+dash, wire.KeyHeader+": "+r.key)
		if res.StatusCode != 200 || res.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: status = %d, res.Header = %v, body = %.100s", name, res.StatusCode, res.Header, body)
		}
		for _, none := range []string{"null", "https://*.example", "</script>", "https://dash.example/page", "https://dash;example", `https://a"b`} {
			if res, body := preflight(t, r.URL()+leaderboard, none, "GET"); res.StatusCode != 403 || strings.Contains(body, "--cors-origin "+none) || !strings.Contains(body, "http:// or https://") {
				t.Errorf("%s, %s: status = %d, body = %s", name, none, res.StatusCode, body)
			}
		}
		_ = r.stop()
		if !strings.Contains(r.req.String(), `"code":"origin_not_allowed"`) {
			t.Errorf("%s: not logged: %s", name, r.req)
		}
	}
}

// A browser asks without a key whether a page may send a request with one.
func TestPreflightsOfAllowedPagesNeedNoKey(t *testing.T) {
	for _, c := range []struct{ allowed, origin, answered string }{{dash, dash, dash}, {"*", dash, "*"}, {"*", "null", "*"}} {
		r := allow(t, c.allowed)
		for _, route := range api.Routes() {
			res, body := preflight(t, r.URL()+wire.Base+route.Path, c.origin, route.Method)
			h := res.Header
			if res.StatusCode != 204 || body != "" || h.Get("Access-Control-Allow-Origin") != c.answered || h.Get("Access-Control-Max-Age") == "" ||
				!slices.Contains(items(h, "Access-Control-Allow-Methods"), strings.ToLower(route.Method)) ||
				h.Get("Access-Control-Allow-Credentials") != "" || h.Get("X-RateLimit-Limit") != "" || h.Get("X-Request-ID") == "" ||
				slices.Contains(items(h, "Vary"), "origin") != (c.answered == dash) {
				t.Fatalf("%v %s: status = %d, h = %v, body = %s", c, route.Path, res.StatusCode, h, body)
			}
			headers := items(h, "Access-Control-Allow-Headers")
			for _, want := range []string{"x-api-key", "content-type", "if-none-match", "idempotency-key", "range"} {
				if !slices.Contains(headers, want) {
					t.Fatalf("%s is not among %v", want, headers)
				}
			}
		}
	}
}

// OPTIONS is a preflight if a browser says what it is about to send; otherwise it is a method that
// no endpoint has.
func TestOptionsThatIsNoPreflight(t *testing.T) {
	r := allow(t, dash)
	for _, header := range []string{"Origin: " + dash, "Access-Control-Request-Method: GET"} {
		res, body := ask(t, http.DefaultClient, "OPTIONS", r.URL()+leaderboard, header, wire.KeyHeader+": "+r.key)
		if res.StatusCode != 405 || !strings.Contains(body, `"code":"method_not_allowed"`) {
			t.Errorf("%s: status = %d, body = %s", header, res.StatusCode, body)
		}
	}
}

// Whether a response may be read depends on the page: a cached response to one page, or to none,
// may not be given to another.
func TestResponsesVaryByOrigin(t *testing.T) {
	for allowed, depends := range map[string]bool{dash: true, "*": false, "": false} {
		r := serve(t, nil, func(c *server.Config) {
			if allowed != "" {
				c.Origins = []string{allowed}
			}
		})
		for _, path := range []string{wire.Base + "/health", leaderboard, wire.Base + "/nowhere", "/docs"} {
			for _, origin := range []string{"", dash, "https://other.example"} {
				headers := []string{wire.KeyHeader + ": " + r.key}
				if origin != "" {
					headers = append(headers, "Origin: "+origin)
				}
				res, _ := ask(t, http.DefaultClient, "GET", r.URL()+path, headers...)
				vary := items(res.Header, "Vary")
				if slices.Contains(vary, "origin") != depends || !slices.Contains(vary, "accept-encoding") {
					t.Errorf("%q allowed, %s of %q: Vary %v", allowed, path, origin, vary)
				}
				want := ""
				switch {
				case allowed == "*" && origin != "":
					want = "*"
				case allowed == dash && origin == dash:
					want = dash
				}
				if got := res.Header.Values("Access-Control-Allow-Origin"); strings.Join(got, "|") != want {
					t.Errorf("%q allowed, %s of %q: for %q, want %q", allowed, path, origin, got, want)
				}
			}
		}
	}
}

// The OpenAPI document is for everyone, even if the rest is not.
func TestTheDocumentIsForPagesOfAllSites(t *testing.T) {
	for _, r := range []*rig{serve(t, nil, nil), allow(t, "https://other.example"), allow(t, dash)} {
		res, _ := ask(t, http.DefaultClient, "GET", r.URL()+"/openapi.json", "Origin: "+dash)
		if got := res.Header.Values("Access-Control-Allow-Origin"); res.StatusCode != 200 || len(got) != 1 || got[0] != "*" {
			t.Errorf("status = %d, got %q", res.StatusCode, got)
		}
	}
}

// readable are headers that pages may read in any case or have no use for.
var readable = []string{"Cache-Control", "Content-Language", "Content-Length", "Content-Type", "Expires", "Last-Modified", "Pragma",
	"Vary", "X-Content-Type-Options", "Content-Encoding", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Connection"}

func TestPagesMayReadTheHeadersOfAnswers(t *testing.T) {
	r := allow(t, dash)
	seen := map[string]bool{}
	check := func(method, path string, status int, headers ...string) http.Header {
		t.Helper()
		res, body := ask(t, http.DefaultClient, method, r.URL()+path, append(headers, "Origin: "+dash)...)
		if res.StatusCode != status || res.Header.Get("Access-Control-Allow-Origin") != dash {
			t.Fatalf("%s %s: status = %d, res.Header = %v, body = %s", method, path, res.StatusCode, res.Header, body)
		}
		exposed := items(res.Header, "Access-Control-Expose-Headers")
		for name := range res.Header {
			seen[name] = true
			if !slices.Contains(exposed, strings.ToLower(name)) && !slices.Contains(readable, name) {
				t.Errorf("%s %s: a page cannot read %s", method, path, name)
			}
		}
		return res.Header
	}
	key := wire.KeyHeader + ": " + r.key
	tag := check("GET", leaderboard, 200, key).Get("ETag")
	check("GET", leaderboard, 304, key, "If-None-Match: "+tag)
	check("GET", leaderboard+"?limit=x", 400, key)
	check("DELETE", leaderboard, 405, key)
	for range 60 {
		check("GET", leaderboard, 401, wire.KeyHeader+": wrong")
	}
	check("GET", leaderboard, 429, wire.KeyHeader+": wrong")
	for _, name := range []string{"Etag", "Retry-After", "Ratelimit", "Ratelimit-Policy", "X-Ratelimit-Remaining", "Www-Authenticate", "Allow", "X-Request-Id"} {
		if !seen[name] {
			t.Errorf("no answer had %s: this test has nothing to find", name)
		}
	}
}

// A page may read the headers that the document names, including those of downloads.
func TestPagesMayReadTheHeadersOfTheDocument(t *testing.T) {
	r := allow(t, "*")
	res, _ := ask(t, http.DefaultClient, "GET", r.URL()+leaderboard, "Origin: "+dash)
	exposed := items(res.Header, "Access-Control-Expose-Headers")
	doc, err := openapi.Current()
	if err != nil {
		t.Fatal(err)
	}
	text, err := doc.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var named struct {
		Components struct{ Headers map[string]any }
	}
	if err := json.Unmarshal(text, &named); err != nil || len(named.Components.Headers) < 10 {
		t.Fatalf("%d headers, %v", len(named.Components.Headers), err)
	}
	for name := range named.Components.Headers {
		if !slices.Contains(exposed, strings.ToLower(name)) && !slices.Contains(readable, name) {
			t.Errorf("a page cannot read %s", name)
		}
	}
}

// A page learns that the server is starting, not that its requests are refused.
func TestPagesSayThatTheServerIsStarting(t *testing.T) {
	l, err := server.Listen(server.Config{Listen: "127.0.0.1:0", Origins: []string{dash}, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	l.Refuse()
	defer l.Close()
	url := "http://" + l.Addr().String() + leaderboard
	if res, body := preflight(t, url, dash, "GET"); res.StatusCode != 204 || res.Header.Get("Access-Control-Allow-Origin") != dash {
		t.Errorf("status = %d, res.Header = %v, body = %s", res.StatusCode, res.Header, body)
	}
	res, _ := ask(t, http.DefaultClient, "GET", url, "Origin: "+dash)
	if res.StatusCode != 503 || res.Header.Get("Access-Control-Allow-Origin") != dash || !slices.Contains(items(res.Header, "Access-Control-Expose-Headers"), "retry-after") {
		t.Errorf("status = %d, res.Header = %v", res.StatusCode, res.Header)
	}
	if res, _ := preflight(t, url, "https://other.example", "GET"); res.StatusCode != 503 || res.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("status = %d, res.Header = %v", res.StatusCode, res.Header)
	}
}

func TestOriginsThatNoBrowserSendsAreRefusedAtStart(t *testing.T) {
	cases := map[string]string{ // to a part of the error, "" for none
		"https://dash.example": "", "http://localhost:3000": "", "http://[::1]:3000": "", "https://xn--bcher-kva.example": "", "chrome-extension://abcdefgh": "", "*": "",
		"":                        "such as https://dash.example",
		"dash.example":            "such as https://dash.example",
		"https://dash.example/":   "give https://dash.example",
		"https://dash.example/a":  "give https://dash.example",
		"https://dash.example?a":  "give https://dash.example",
		"https://dash.example#a":  "give https://dash.example",
		"https://u:p@dash.ex":     "give https://dash.ex",
		"https://Dash.example":    "give https://dash.example",
		"HTTPS://dash.example":    "give https://dash.example",
		"https://dash.example:":   "give https://dash.example",
		"https://dash.ex:443":     "give https://dash.ex",
		"http://dash.ex:80":       "give http://dash.ex",
		"https://*.dash.example":  "in full",
		"https://bücher.example":  "xn--",
		"https://dash'.example":   "such as https://dash.example",
		"https://dash.ex:a":       "such as https://dash.example",
		"https://dash.ex:99999":   "no port 99999",
		"https://dash.ex:0":       "no port 0",
		"null":                    "local file",
		"*,https://dash.example":  "alone",
		"https://dash.example, *": "alone",
	}
	for text, want := range cases {
		var origins []string
		for origin := range strings.SplitSeq(text, ",") {
			origins = append(origins, strings.TrimSpace(origin))
		}
		r, err := build(t, apitest.NewSource(nil), func(c *server.Config) { c.RequestLog, c.Origins = nil, origins })
		if err == nil {
			err = r.Close()
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
