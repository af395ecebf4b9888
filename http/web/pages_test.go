package web_test

import (
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"pmx/http/api"
	"pmx/http/openapi"
	"pmx/http/web"
	"pmx/http/wire"
)

var (
	hrefs  = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	ids    = regexp.MustCompile(` id="([^"]*)"`)
	inline = regexp.MustCompile(`(?i)<script>|<style| style=| on[a-z]+="|javascript:`)
)

// allPages returns the HTML pages that can be reached from the first one, by path.
func allPages(t *testing.T, b *browser) map[string]string {
	t.Helper()
	pages := map[string]string{}
	queue := []string{"/docs"}
	for _, k := range wire.ProblemKinds() {
		queue = append(queue, "/docs/problems/"+k.Code)
	}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if _, seen := pages[at]; seen || outside(at) {
			continue
		}
		res := b.get(at)
		if res.StatusCode() != 200 {
			t.Errorf("%s: status = %d", at, res.StatusCode())
			continue
		}
		pages[at] = string(res.Body())
		if strings.HasPrefix(at, "/assets/") {
			continue // strings in it are not links
		}
		for _, m := range hrefs.FindAllStringSubmatch(pages[at], -1) {
			if path, _, _ := strings.Cut(m[1], "#"); path != "" {
				queue = append(queue, path)
			}
		}
	}
	return pages
}

// outside reports whether path does not belong to the site.
func outside(path string) bool {
	return strings.HasPrefix(path, wire.Base) || path == "/status" || path == "/" || strings.Contains(path, "://")
}

func TestLinksLead(t *testing.T) {
	pages := allPages(t, newBrowser(t))
	for at, text := range pages {
		if strings.HasPrefix(at, "/assets/") {
			continue
		}
		for _, m := range hrefs.FindAllStringSubmatch(text, -1) {
			path, fragment, _ := strings.Cut(m[1], "#")
			if path == "" {
				path = at
			}
			if fragment != "" && !outside(path) && !strings.Contains(pages[path], ` id="`+fragment+`"`) {
				t.Errorf("%s links to %s, which has no such place", at, m[1])
			}
			if strings.Contains(m[1], "://") {
				t.Errorf("%s leads outside: %s", at, m[1])
			}
		}
	}
	if len(pages) < 10+len(wire.ProblemKinds()) {
		t.Errorf("only %d pages", len(pages))
	}
}

// Pages contain nothing that the security policy forbids, and no id twice.
func TestPagesKeepToTheirPolicy(t *testing.T) {
	b := newBrowser(t)
	for at, text := range allPages(t, b) {
		if strings.HasPrefix(at, "/assets/") || at == "/openapi.json" {
			continue
		}
		res := b.get(at)
		policy := string(res.Header.Peek("Content-Security-Policy"))
		// The only inline script is allowed by its hash.
		if script := regexp.MustCompile(`<script>([^<]*)</script>`).FindStringSubmatch(text); script == nil {
			t.Errorf("%s does not put its colours in place", at)
		} else if sum := sha256.Sum256([]byte(script[1])); !strings.Contains(policy, "script-src 'self' 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"';") {
			t.Errorf("%s: policy %q does not allow its script", at, policy)
		} else {
			text = strings.Replace(text, script[0], "", 1)
		}
		if m := inline.FindString(text); m != "" {
			t.Errorf("%s has %q in it", at, m)
		}
		seen := map[string]bool{}
		for _, m := range ids.FindAllStringSubmatch(text, -1) {
			if seen[m[1]] {
				t.Errorf("%s has the id %s twice", at, m[1])
			}
			seen[m[1]] = true
		}
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || !strings.Contains(policy, "frame-ancestors 'none'") ||
			!strings.Contains(policy, "require-trusted-types-for 'script'; trusted-types 'none'") {
			t.Errorf("%s: policy %q", at, policy)
		}
	}
}

func TestEveryRouteIsInTheReference(t *testing.T) {
	b := newBrowser(t)
	for _, r := range api.Routes() {
		id := openapi.OperationID(r.Method, r.Path)
		at := "/docs/" + string(r.Section) + "/" + id
		if list := string(b.get("/docs/" + string(r.Section)).Body()); !strings.Contains(list, `href="`+at+`"`) {
			t.Errorf("%s %s is missing from /docs/%s", r.Method, r.Path, r.Section)
		}
		part := string(b.get(at).Body())
		for _, name := range []string{"curl", "Python", "Go", "TypeScript"} {
			if !strings.Contains(part, `data-name="`+name+`"`) {
				t.Errorf("%s has no sample in %s", at, name)
			}
		}
		for _, p := range r.Params {
			if !strings.Contains(part, "<code>"+p.Name+"</code>") || !strings.Contains(part, `name="`+p.Name+`"`) {
				t.Errorf("%s %s: parameter %s is not there", r.Method, r.Path, p.Name)
			}
		}
		for _, code := range r.ProblemCodes() {
			if !strings.Contains(part, "/docs/problems/"+code) {
				t.Errorf("%s %s: error %s is not there", r.Method, r.Path, code)
			}
		}
		if r.Reply != nil && r.Method == "GET" && r.Section != wire.Export && !strings.Contains(part, "<summary>Example, with lists shortened to two elements</summary>") {
			t.Errorf("%s %s has no example", r.Method, r.Path)
		}
	}
}

// The root address and the base of the API say where to go: a page for browsers, JSON for programs.
func TestTheRootAddressLinksToThePages(t *testing.T) {
	b := newBrowser(t)
	for _, at := range []string{"/", wire.Base} {
		home := b.get(at, "Accept", "text/html")
		if got := strings.Contains(string(home.Body()), `data-page="home"`); got != (at == "/") {
			t.Errorf("%s shows a browser the venue: %v", at, got)
		}
		for accept, kind := range map[string]string{
			"": "application/json; charset=utf-8", "*/*": "application/json; charset=utf-8", "application/json": "application/json; charset=utf-8",
			"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": "text/html; charset=utf-8", "image/png": "application/json; charset=utf-8",
		} {
			res := b.get(at, "Accept", accept)
			if res.StatusCode() != 200 || string(res.Header.ContentType()) != kind || !strings.Contains(string(res.Header.Peek("Vary")), "Accept,") || len(res.Body()) > 6000 {
				t.Errorf("%s as %q: %d %s, %d bytes, %s", at, accept, res.StatusCode(), res.Header.ContentType(), len(res.Body()), res.Header.Peek("Vary"))
			}
			if at == "/" && strings.HasPrefix(kind, "text/html") {
				continue
			}
			for _, place := range []string{"/docs", "/status", "/openapi.json", wire.Base + "/health"} {
				if !strings.Contains(string(res.Body()), `"`+place+`"`) {
					t.Errorf("%s as %q does not lead to %s", at, accept, place)
				}
			}
		}
	}
	for _, at := range []string{"/api", "/api/", wire.Base + "/"} {
		if res := b.get(at); res.StatusCode() != 308 || !strings.HasSuffix(string(res.Header.Peek("Location")), wire.Base) {
			t.Errorf("%s: %d %s", at, res.StatusCode(), res.Header.Peek("Location"))
		}
	}
}

func TestAddressesThatAreNearlyPages(t *testing.T) {
	if res := newBrowser(t).get("/docs/nothing"); res.StatusCode() != 404 {
		t.Errorf("/docs/nothing: %d", res.StatusCode())
	}
	for at, want := range map[string]string{"/docs/": "/docs", "/docs/market/": "/docs/market", "/docs/problems/": "/docs/problems", "/status/": "/status"} {
		if res := newBrowser(t).get(at); res.StatusCode() != 308 || !strings.HasSuffix(string(res.Header.Peek("Location")), want) {
			t.Errorf("%s: %d %s", at, res.StatusCode(), res.Header.Peek("Location"))
		}
	}
	if res := newBrowser(t).get("/docs/nothing/"); res.StatusCode() != 404 {
		t.Errorf("/docs/nothing/: %d", res.StatusCode())
	}
	if res := newBrowser(t).get("/favicon.ico"); res.StatusCode() != 200 || string(res.Header.ContentType()) != "image/svg+xml" {
		t.Errorf("icon: %d %s", res.StatusCode(), res.Header.ContentType())
	}
	for _, path := range web.Paths() {
		if !strings.HasPrefix(path, "/") {
			t.Errorf("path %s", path)
		}
	}
}
