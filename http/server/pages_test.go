package server_test

import (
	"net/http"
	"strings"
	"testing"
)

// For an unknown path, a browser gets a page and a program gets the problem; below the API both get
// the problem.
func TestABrowserGetsAPageForAnUnknownAddress(t *testing.T) {
	r := serve(t, nil, nil)
	const browser, page, problem = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html", "application/problem+json"
	for _, c := range []struct{ at, accept, kind, holds string }{
		{"/nothing", browser, page, "Page not found"}, {"/docs/nothing", browser, page, "Page not found"},
		{"/nothing", "*/*", problem, `"code":"not_found"`}, {"/docs/nothing", "application/json", problem, `"code":"not_found"`},
		{"/api/v3/nothing", browser, problem, `"code":"not_found"`}, {"/api/nothing", browser, problem, `"code":"not_found"`},
	} {
		res, text := ask(t, http.DefaultClient, http.MethodGet, r.URL()+c.at, "Accept: "+c.accept, "X-API-Key: "+r.key)
		if kind := res.Header.Get("Content-Type"); !strings.HasPrefix(kind, c.kind) || !strings.Contains(text, c.holds) || res.StatusCode != http.StatusNotFound {
			t.Errorf("%s as %q: status = %d, kind = %s, text = %.120s", c.at, c.accept, res.StatusCode, kind, text)
		}
		if c.kind == page && (!strings.Contains(res.Header.Get("Content-Security-Policy"), "trusted-types") || !strings.HasPrefix(res.Header.Get("Vary"), "Accept,")) {
			t.Errorf("%s has the headers %v", c.at, res.Header)
		}
	}
	if res, _ := ask(t, http.DefaultClient, http.MethodPost, r.URL()+"/nothing", "Accept: "+browser); strings.HasPrefix(res.Header.Get("Content-Type"), page) {
		t.Error("a POST gets a page")
	}
}

// Pages can be read; with another method, known to HTTP or not, there is nothing at a path without a page, and a page says
// what is allowed.
func TestPagesCanOnlyBeRead(t *testing.T) {
	r := serve(t, nil, nil)
	for _, method := range []string{"PUT", "POST", "DELETE", "OPTIONS", "PROPFIND"} {
		for _, at := range []string{"/nothing", "/docs/nothing", "/assets/nothing.js", "/statuses", "/api/nothing", "/answers"} {
			if res, body := ask(t, http.DefaultClient, method, r.URL()+at); res.StatusCode != 404 || !strings.Contains(body, `"code":"not_found"`) {
				t.Errorf("%s %s: status = %d, body = %s", method, at, res.StatusCode, body)
			}
		}
		for _, at := range []string{"/", "/api", "/status", "/status/", "/docs", "/docs/", "/openapi.json", "/whales", "/trader/0x00000000000000000000000000000000000000aa"} {
			res, body := ask(t, http.DefaultClient, method, r.URL()+at)
			if res.StatusCode != 405 || !strings.Contains(body, `"code":"method_not_allowed"`) || res.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: status = %d, Allow %q, body = %s", method, at, res.StatusCode, res.Header.Get("Allow"), body)
			}
		}
	}
}
