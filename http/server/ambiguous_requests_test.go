package server_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"pmx/http/api"
	"pmx/http/web"
	"pmx/http/wire"
)

// wired sends text over a new connection. It returns the responses, and whether the connection was
// closed after the last.
func wired(t *testing.T, addr, text string, answers int) (out []*http.Response, closed bool) {
	t.Helper()
	c := connect(t, addr)
	defer c.Close()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	for range answers {
		res, err := http.ReadResponse(c.in, nil)
		if err != nil {
			return out, true
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Fatal(err)
		}
		out = append(out, res)
	}
	if out[len(out)-1].Close {
		_, err := c.in.ReadByte()
		return out, errors.Is(err, io.EOF) || err != nil && !isTimeout(err)
	}
	return out, false
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// Requests that two servers could read differently are refused, and nothing after them on the
// connection is read as another request.
func TestRequestsOfTwoMeaningsAreRefused(t *testing.T) {
	r := serve(t, nil, nil)
	const (
		get  = "GET /api/v3/health HTTP/1.1\r\n"
		post = "POST /api/v3/me/exports HTTP/1.1\r\n"
		host = "Host: pmx\r\n"
		next = get + host + "\r\n"
	)
	for name, text := range map[string]string{
		"two lengths":                post + host + "Content-Length: 4\r\nContent-Length: 9\r\n\r\nabcd",
		"two equal lengths":          post + host + "Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd",
		"two lengths of a GET":       get + host + "Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
		"lengths in a list":          post + host + "Content-Length: 4, 4\r\n\r\nabcd",
		"a length with a sign":       post + host + "Content-Length: +4\r\n\r\nabcd",
		"a negative length":          post + host + "Content-Length: -4\r\n\r\nabcd",
		"a hexadecimal length":       post + host + "Content-Length: 0x4\r\n\r\nabcd",
		"an empty length":            post + host + "Content-Length:\r\n\r\nabcd",
		"a length that overflows":    post + host + "Content-Length: 99999999999999999999999\r\n\r\nabcd",
		"length and coding":          post + host + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"coding and length":          post + host + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
		"length and coding of a GET": get + host + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"two codings":                post + host + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"a coding unknown":           post + host + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
		"a list of codings":          post + host + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		"identity":                   post + host + "Transfer-Encoding: identity\r\nContent-Length: 4\r\n\r\nabcd",
		"an empty coding":            post + host + "Transfer-Encoding:\r\n\r\n",
		"a coding of a GET":          get + host + "Transfer-Encoding: gzip\r\n\r\n",
		"a coding of HTTP/1.0":       "POST /api/v3/me/exports HTTP/1.0\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"two hosts":                  get + host + host + "\r\n",
		"two different hosts":        get + host + "Host: other\r\n\r\n",
		"no host":                    get + "\r\n",
		"no host, another header":    get + "Accept: */*\r\n\r\n",
		"a host with a space":        get + "Host: a b\r\n\r\n",
		"an empty host":              get + "Host:\r\n\r\n",
		"a host with a path":         get + "Host: a/b\r\n\r\n",
		"a host with a user":         get + "Host: u@b\r\n\r\n",
		"two keys":                   get + host + "X-API-Key: a\r\nX-API-Key: b\r\n\r\n",
		"two equal keys":             get + host + "X-API-Key: a\r\nx-api-key: a\r\n\r\n",
		"a target of another host":   "GET http://other/api/v3/health HTTP/1.1\r\n" + host + "\r\n",
		"a target of another port":   "GET http://pmx:81/api/v3/health HTTP/1.1\r\n" + host + "\r\n",
		"a folded header":            get + host + "X-A: a\r\n b\r\n\r\n",
		"folded with a tab":          get + host + "X-A: a\r\n\tb\r\n\r\n",
		"a folded first header":      get + " X-A: a\r\n" + host + "\r\n",
		"a folded coding":            post + host + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
		"NUL in a value":             get + host + "X-A: a\x00b\r\n\r\n",
		"NUL in a name":              get + host + "X-\x00A: b\r\n\r\n",
		"NUL in the host":            get + "Host: a\x00b\r\n\r\n",
		"NUL in the path":            "GET /api/v3/he\x00alth HTTP/1.1\r\n" + host + "\r\n",
		"NUL in the method":          "G\x00T /api/v3/health HTTP/1.1\r\n" + host + "\r\n",
		"a control character":        get + host + "X-A: a\x01b\r\n\r\n",
		"DEL":                        get + host + "X-A: a\x7fb\r\n\r\n",
		"a bare return":              get + host + "X-A: a\rb\r\n\r\n",
		"a space before the colon":   get + host + "Content-Length : 4\r\n\r\n",
		"a space in a name":          get + host + "X A: b\r\n\r\n",
		"no name":                    get + host + ": b\r\n\r\n",
		"no colon":                   get + host + "X-A\r\n\r\n",
		"a name with brackets":       get + host + "X(A): b\r\n\r\n",
		"another version":            "GET /api/v3/health HTTP/2.0\r\n" + host + "\r\n",
		"no version":                 "GET /api/v3/health\r\n" + host + "\r\n",
		"a version in small letters": "GET /api/v3/health http/1.1\r\n" + host + "\r\n",
		"two spaces":                 "GET  /api/v3/health HTTP/1.1\r\n" + host + "\r\n",
		"a tab":                      "GET\t/api/v3/health HTTP/1.1\r\n" + host + "\r\n",
		"four words":                 "GET /api/v3/health x HTTP/1.1\r\n" + host + "\r\n",
		"a chunk of no size":         post + host + "Transfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n0\r\n\r\n",
		"a chunk with a sign":        post + host + "Transfer-Encoding: chunked\r\n\r\n-1\r\nabc\r\n0\r\n\r\n",
		"a chunk longer than said":   post + host + "Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n",
	} {
		got, closed := wired(t, r.Addr().String(), text+next, 1)
		if len(got) == 0 {
			t.Errorf("%s: no answer", name)
			continue
		}
		h := got[0].Header
		if got[0].StatusCode != http.StatusBadRequest || !closed || !strings.HasPrefix(h.Get("Content-Type"), "application/problem+json") || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %s, closed %v, %v", name, got[0].Status, closed, h)
		}
	}
}

// Unusual requests that are unambiguous are answered, and the connection stays open.
func TestRequestsOfOneMeaningAreAnswered(t *testing.T) {
	r := serve(t, nil, nil)
	const host = "Host: pmx\r\n"
	for name, text := range map[string]string{
		"small letters":        "GET /api/v3/health HTTP/1.1\r\nhost: pmx\r\n\r\n",
		"a host with a port":   "GET /api/v3/health HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n",
		"no space":             "GET /api/v3/health HTTP/1.1\r\nHost:pmx\r\n\r\n",
		"spaces behind":        "GET /api/v3/health HTTP/1.1\r\nHost: pmx  \r\nX-A: \t b \t\r\n\r\n",
		"letters of Latin-1":   "GET /api/v3/health HTTP/1.1\r\n" + host + "X-A: \xe9\r\n\r\n",
		"an empty value":       "GET /api/v3/health HTTP/1.1\r\n" + host + "X-A:\r\n\r\n",
		"one header twice":     "GET /api/v3/health HTTP/1.1\r\n" + host + "X-A: 1\r\nX-A: 2\r\n\r\n",
		"a body of no length":  "GET /api/v3/health HTTP/1.1\r\n" + host + "Content-Length: 0\r\n\r\n",
		"an absolute address":  "GET http://pmx/api/v3/health HTTP/1.1\r\n" + host + "\r\n",
		"a body with a GET":    "GET /api/v3/health HTTP/1.1\r\n" + host + "Content-Length: 4\r\n\r\nabcd",
		"a coding":             "POST /api/v3/health HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n",
		"a coding in capitals": "POST /api/v3/health HTTP/1.1\r\n" + host + "Transfer-Encoding: CHUNKED\r\n\r\n4\r\nabcd\r\n0\r\n\r\n",
	} {
		got, _ := wired(t, r.Addr().String(), text+"GET /api/v3/health HTTP/1.1\r\n"+host+"\r\n", 2)
		if len(got) != 2 || got[1].StatusCode != 200 || got[0].StatusCode != 200 && got[0].StatusCode != 405 {
			t.Errorf("%s: %d answers, %v", name, len(got), got)
		}
	}
	old, _ := wired(t, r.Addr().String(), "GET /api/v3/health HTTP/1.0\r\n\r\n", 1)
	if len(old) != 1 || old[0].StatusCode != 200 {
		t.Errorf("HTTP/1.0 without a host: %v", old)
	}
}

// Browsers do not guess the type of any response.
func TestEveryAnswerIsOfTheTypeItSays(t *testing.T) {
	r := serve(t, nil, nil)
	paths := append(web.Paths(), "/nothing", "/api/v3/health", "/api/v3/trader/x/stats", "/api/v3/me", "/docs", "/api/v3/status/public")
	for _, route := range api.Routes() {
		paths = append(paths, wire.Base+strings.NewReplacer("{", "x", "}", "x").Replace(route.Path))
	}
	for _, path := range paths {
		for _, method := range []string{"GET", "HEAD", "POST", "BREW"} {
			for _, key := range []string{"Accept: */*", "X-API-Key: " + r.key} {
				res, _ := ask(t, http.DefaultClient, method, r.URL()+path, key)
				if res.Header.Get("X-Content-Type-Options") != "nosniff" {
					t.Errorf("%s %s: res.Status = %s, res.Header = %v", method, path, res.Status, res.Header)
				}
			}
		}
	}
}
