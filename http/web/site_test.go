package web_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"pmx/http/web"
)

// browser sends requests to a site without a socket.
type browser struct{ handler fasthttp.RequestHandler }

// sharedSite is used by all tests: sites never change.
var sharedSite = sync.OnceValues(func() (*web.Site, error) { return web.New(false) })

func newBrowser(t *testing.T) *browser {
	t.Helper()
	site, err := sharedSite()
	if err != nil {
		t.Fatal(err)
	}
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Use(func(c *fiber.Ctx) error {
		if done, err := site.Serve(c); done || err != nil {
			return err
		}
		return fiber.ErrNotFound
	})
	return &browser{app.Handler()}
}

// get requests path; headers are pairs of name and value.
func (b *browser) get(path string, headers ...string) *fasthttp.Response {
	var ctx fasthttp.RequestCtx
	ctx.Request.SetRequestURI(path)
	for i := 0; i < len(headers); i += 2 {
		ctx.Request.Header.Set(headers[i], headers[i+1])
	}
	b.handler(&ctx)
	res := &fasthttp.Response{}
	ctx.Response.CopyTo(res)
	return res
}

func TestTheDocumentServedIsTheOneKept(t *testing.T) {
	res := newBrowser(t).get("/openapi.json")
	kept, err := os.ReadFile(filepath.Join("..", "..", "docs", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want, got bytes.Buffer
	if err := json.Compact(&want, kept); err != nil {
		t.Fatal(err)
	}
	if err := json.Compact(&got, res.Body()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Error("/openapi.json is not docs/openapi.json")
	}
	if kind := string(res.Header.ContentType()); kind != "application/json; charset=utf-8" {
		t.Errorf("Content-Type %s", kind)
	}
	if origin := string(res.Header.Peek("Access-Control-Allow-Origin")); origin != "*" {
		t.Errorf("tools in a browser cannot read it: %q", origin)
	}
}

func TestPagesAreCachedAndCompressed(t *testing.T) {
	b := newBrowser(t)
	plain := b.get("/openapi.json")
	tag := string(plain.Header.Peek("ETag"))
	if res := b.get("/openapi.json", "If-None-Match", tag); res.StatusCode() != 304 || len(res.Body()) > 0 {
		t.Errorf("a known ETag: status %d, %d bytes", res.StatusCode(), len(res.Body()))
	}
	if res := b.get("/openapi.json", "If-None-Match", `W/"other"`); res.StatusCode() != 200 {
		t.Errorf("another ETag: status %d", res.StatusCode())
	}
	for _, c := range []struct{ accepts, coding string }{
		{"br, gzip", "br"}, {"gzip", "gzip"}, {"gzip;q=0.5, br;q=0", "gzip"}, {"identity", ""}, {"", ""}, {"br;q=0", ""}, {"br;q=0.0, gzip;q=0.000", ""},
	} {
		res := b.get("/openapi.json", "Accept-Encoding", c.accepts)
		if coding := string(res.Header.ContentEncoding()); coding != c.coding {
			t.Errorf("%q: coding = %q, want %q", c.accepts, coding, c.coding)
		}
		body, err := res.BodyUncompressed()
		if err != nil || !bytes.Equal(body, plain.Body()) {
			t.Errorf("%q: another body, %v", c.accepts, err)
		}
	}
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "public, max-age=300", "Vary": "Accept-Encoding",
	} {
		if got := string(plain.Header.Peek(name)); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
