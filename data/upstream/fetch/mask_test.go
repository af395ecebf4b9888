package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"pmx/data/upstream/fetch"
)

// refuser is a transport whose errors have the URL, like those of net/http.
type refuser struct{}

func (refuser) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, &url.Error{Op: r.Method, URL: r.URL.String(), Err: fmt.Errorf("proxy refused %s (%s)", r.URL, r.URL.Redacted())}
}

// TestSecretsAreNotShown: only scheme and host of a provider's URL are in an error, in errors that
// it wraps, or in the figures, whatever fails, and even if the host repeats the URL.
func TestSecretsAreNotShown(t *testing.T) {
	echo := func(code int, kind string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(code)
			user, password, _ := r.BasicAuth()
			_, _ = fmt.Fprintf(w, "%s bad key: %s %s %s %s %s %s", map[bool]string{true: "<html>"}[kind == "text/html"], r.RequestURI, r.URL.Path, r.Header.Get("Authorization"), user, password, r.URL.Query())
		}
	}
	bases := map[string]func(u *url.URL){
		"path":      func(u *url.URL) { u.Path = "/v2/S3cretKey_Tail" },
		"path odd":  func(u *url.URL) { u.Path, u.RawPath = "/v2/S3cret/Key Tail", "/v2/S3cret%2FKey%20Tail" },
		"query":     func(u *url.URL) { u.RawQuery = "apikey=S3cretKey%2FTail" },
		"user info": func(u *url.URL) { u.User = url.UserPassword("S3cretUser", "S3cret/Word") },
	}
	for name, change := range bases {
		for fault, o := range map[string]struct {
			f         http.HandlerFunc
			transport http.RoundTripper
		}{
			"status 401":   {f: echo(401, "text/plain")},
			"status 500":   {f: echo(500, "text/plain")},
			"HTML":         {f: echo(200, "text/html")},
			"no JSON":      {f: echo(200, "text/plain")},
			"lost":         {transport: refuser{}},
			"no answer":    {f: raw(t, "", true)},
			"bad header":   {f: raw(t, "HTTP/1.1 200 OK\r\nbad\r\n\r\n", false)},
			"bad redirect": {f: status(301, "Location", "https://x:y")},
		} {
			if o.f == nil {
				o.f = http.NotFound
			}
			s := httptest.NewServer(o.f)
			base, _ := url.Parse(s.URL)
			change(base)
			h, _ := host(t, nil, func(opts *fetch.Options) {
				opts.Base = base.String()
				if o.transport != nil {
					opts.Transport = o.transport
				}
			})
			_, err := get(t, h)
			s.Close()
			if err == nil {
				t.Fatalf("%s, %s: no error", name, fault)
			}
			shown := []string{fmt.Sprintf("%+v", h.Stats()), h.Name()}
			for e := err; e != nil; e = errors.Unwrap(e) {
				shown = append(shown, e.Error(), fmt.Sprintf("%+v %#v", e, e))
			}
			var hidden *url.Error
			if errors.As(err, &hidden) {
				t.Errorf("%s, %s: the error of net/http is accessible", name, fault)
			}
			for _, text := range shown {
				for _, secret := range []string{"S3cret", "Tail", "apikey", "Word", "UzNj"} { // the last one in base64
					if strings.Contains(text, secret) {
						t.Errorf("%s, %s: %s", name, fault, text)
					}
				}
			}
			if !strings.Contains(err.Error(), "http://127.0.0.1") {
				t.Errorf("%s, %s does not name the host: %v", name, fault, err)
			}
		}
	}
}

func TestMaskHidesWhatIsRepeated(t *testing.T) {
	h, err := fetch.New(fetch.Options{Name: "a", Base: "https://user:word9@example.org/v2/abcdefgh?token=tttt", Contact: "x"})
	if err != nil {
		t.Fatal(err)
	}
	const text = "https://user:word9@example.org/v2/abcdefgh?token=tttt, of /v2/abcdefgh: key abcdefgh, tttt, word9; 2 v2"
	if got := h.Mask(text); got != "https://***@example.org***?***, of ***: key ***, ***, ***; 2 v2" {
		t.Error(got)
	}
	if h, err = fetch.New(fetch.Options{Name: "a", Base: "https://example.org/", Contact: "x"}); err != nil || h.Mask(text) != text {
		t.Error("text was changed although there are no secrets", err)
	}
	_, err = h.Do(context.Background(), fetch.Request{Method: "A B"})
	if err == nil {
		t.Error("a method with a space")
	}
}
