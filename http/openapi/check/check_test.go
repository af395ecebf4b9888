package check_test

import (
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"pmx/http/openapi/check"
)

const (
	envelope = `"plan":"free","truncated":false,"lock_reason":null,"upgrade_hint":null,"available_sections":["status"],` +
		`"locked_sections":["export"],"max_history_days":30,"max_rows":null`
	health = `{` + envelope + `,"as_of":null,"data":{"status":"ok","database":"ok","version":"v1","epoch":7,"uptime_seconds":1,` +
		`"last_cycle":{"ok":true,"finished_at":"2026-03-14T15:09:26Z","failed_at":null}}}`
	problem = `{"type":"/docs/problems/internal","title":"Internal","status":500,"detail":"x","instance":"y","code":"internal",` + envelope + `}`
)

// A reply that conforms to the document passes, and every kind of difference is found.
func TestRepliesAreHeldToTheDocument(t *testing.T) {
	c, err := check.New()
	if err != nil {
		t.Fatal(err)
	}
	fine := []string{"X-Request-ID: a", "Cache-Control: x", "Vary: y", `ETag: W/"1"`, "Content-Type: application/json; charset=utf-8"}
	bad := []string{"X-Request-ID: a", "Cache-Control: x", "Vary: y", "Content-Type: application/problem+json"}
	swap := func(old, new string) string { return strings.Replace(health, old, new, 1) }
	cases := []struct {
		name, path string
		status     int
		headers    []string
		body       string
		fault      string // part of the error; "" for a good reply
	}{
		{"good", "/api/v3/health", 200, fine, health, ""},
		{"with a query", "/api/v3/health?x=1", 200, fine, health, ""},
		{"an extra field", "/api/v3/health", 200, fine, swap(`"data":`, `"extra":1,"data":`), "extra"},
		{"an extra field further down", "/api/v3/health", 200, fine, swap(`"failed_at":`, `"extra":1,"failed_at":`), "extra"},
		{"a missing field", "/api/v3/health", 200, fine, swap(`"database":"ok",`, ""), "database"},
		{"a missing field of the envelope", "/api/v3/health", 200, fine, swap(`"truncated":false,`, ""), "truncated"},
		{"a text for a number", "/api/v3/health", 200, fine, swap(`"epoch":7`, `"epoch":"7"`), "epoch"},
		{"null where it cannot be", "/api/v3/health", 200, fine, swap(`"version":"v1"`, `"version":null`), "version"},
		{"none of the choices", "/api/v3/health", 200, fine, swap(`"status":"ok"`, `"status":"fine"`), "status"},
		{"no time", "/api/v3/health", 200, fine, swap("2026-03-14T15", "2026-03-14 15"), "date-time"},
		{"no ETag", "/api/v3/health", 200, append(fine[:3:3], fine[4]), health, "ETag"},
		{"another media type", "/api/v3/health", 200, append(fine[:4:4], "Content-Type: text/plain"), health, "text/plain"},
		{"no JSON", "/api/v3/health", 200, fine, "{", "JSON"},
		{"a status it does not have", "/api/v3/health", 201, fine, health, "201"},
		{"unchanged", "/api/v3/health", 304, fine[:4], "", ""},
		{"a path it does not have", "/api/v3/nowhere", 200, fine, health, "200"},
		{"a page", "/docs", 200, fine[:1], "<html>", ""},
		{"a problem", "/api/v3/health", 500, bad, problem, ""},
		{"a problem of another endpoint", "/api/v3/health", 500, bad, strings.ReplaceAll(problem, "internal", "trader_not_found"), "code"},
		{"an unknown problem", "/nowhere", 500, bad, strings.ReplaceAll(problem, "internal", "odd"), "odd"},
		{"a problem under another status", "/nowhere", 404, bad, problem, "internal"},
	}
	for _, k := range cases {
		res := &fasthttp.Response{}
		res.SetStatusCode(k.status)
		res.SetBodyString(k.body)
		for _, h := range k.headers {
			name, value, _ := strings.Cut(h, ": ")
			res.Header.Set(name, value)
		}
		err := c.Reply("GET", k.path, res)
		if (err == nil) != (k.fault == "") || err != nil && !strings.Contains(err.Error(), k.fault) {
			t.Errorf("%s: err = %v, want %q", k.name, err, k.fault)
		}
	}
}
