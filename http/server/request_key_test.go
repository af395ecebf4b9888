package server_test

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pmx/http/server"
)

// askForKey sends the form as a browser does.
func askForKey(t *testing.T, r *rig, contact, use string, headers ...string) (int, string) {
	t.Helper()
	form := url.Values{"contact": {contact}, "use_case": {use}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.URL()+"/request-key", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var text strings.Builder
	if err := res.Write(&text); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, text.String()
}

// If there is a form, anybody can request a key, three times an hour; if there is none, its path is
// not found.
func TestAnybodyMayRequestAKeyIfThereIsAForm(t *testing.T) {
	var got []string
	var fails error
	r := serve(t, nil, func(c *server.Config) {
		c.Waitlist = func(_ context.Context, contact, use string) error {
			got = append(got, contact+" | "+use)
			return fails
		}
	})
	res, page := ask(t, http.DefaultClient, "GET", r.URL()+"/request-key")
	if res.StatusCode != 200 || !strings.Contains(page, `<form class="key" method="post" action="/request-key">`) || res.Header.Get("Cache-Control") != "no-store" ||
		!strings.Contains(res.Header.Get("Content-Security-Policy"), "form-action 'self'") {
		t.Errorf("%d %v: page = %s", res.StatusCode, res.Header, page)
	}
	for _, method := range []string{"PUT", "PROPFIND"} {
		if res, _ := ask(t, http.DefaultClient, method, r.URL()+"/request-key"); res.StatusCode != 405 || res.Header.Get("Allow") != "GET, HEAD, POST" {
			t.Errorf("%s: status = %d, Allow %q", method, res.StatusCode, res.Header.Get("Allow"))
		}
	}
	if code, _ := askForKey(t, r, "eve@example.org", "x", "Sec-Fetch-Site: cross-site"); code != 400 || len(got) != 0 {
		t.Errorf("for a page of another site: %d, %q", code, got)
	}
	if code, text := askForKey(t, r, "ann@example.org", "a <b>notebook</b> & more", "Sec-Fetch-Site: same-origin"); code != 200 || !strings.Contains(text, "on the waitlist") ||
		len(got) != 1 || got[0] != "ann@example.org | a <b>notebook</b> & more" || strings.Contains(text, "<form") {
		t.Errorf("%d, %q: text = %s", code, got, text)
	}
	fails = server.ErrNotUnderstood
	if code, text := askForKey(t, r, "", ""); code != 400 || !strings.Contains(text, "Fill in both fields") {
		t.Errorf("an empty form: %d %s", code, text)
	}
	fails = server.ErrListFull
	if code, text := askForKey(t, r, "bob", "x"); code != 503 || !strings.Contains(text, "full") {
		t.Errorf("a full list: %d %s", code, text)
	}
	fails = nil
	for n := 2; n <= 3; n++ { // refused requests were not counted
		if code, _ := askForKey(t, r, "bob", "x"); code != 200 {
			t.Errorf("request %d: code = %d", n, code)
		}
	}
	code, text := askForKey(t, r, "bob", "x")
	found := regexp.MustCompile(`Retry-After: (\d+)`).FindStringSubmatch(text)
	if code != 429 || found == nil || len(got) != 5 {
		t.Fatalf("a fourth request: %d, %q: text = %s", code, got, text)
	}
	if retry, err := strconv.Atoi(found[1]); err != nil || retry < 1 || retry > 3600 {
		t.Errorf("Retry-After %s", found[1])
	}
	none := serve(t, nil, nil)
	if res, _ := ask(t, http.DefaultClient, "GET", none.URL()+"/request-key"); res.StatusCode != 404 {
		t.Errorf("without a form: %d", res.StatusCode)
	}
	if code, _ := askForKey(t, none, "bob", "x"); code != 404 {
		t.Errorf("sent without a form: %d", code)
	}
}
