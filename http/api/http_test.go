package api_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"

	"pmx/data"
	"pmx/engine/control/record"
	"pmx/http/access"
	"pmx/http/api"
	"pmx/http/api/apitest"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// Started by fasthttp for the Date header and by its listeners; both outlive their server.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
	)
}

// problemCases has requests with their problems; {key} and {revoked} stand for keys.
var problemCases = []struct {
	name, method, path string
	headers            []string
	status             int
	code, param        string
	detail             string // part of it
}{
	{"no key", "GET", "/leaderboard/traders", nil, 401, "missing_api_key", "", "X-API-Key"},
	{"no key, unknown path", "GET", "/nowhere", nil, 401, "missing_api_key", "", ""},
	{"unknown key", "GET", "/leaderboard/traders", []string{wire.KeyHeader + ": pmx_" + strings.Repeat("A", 43)}, 401, "invalid_api_key", "", ""},
	{"malformed key", "GET", "/leaderboard/traders", []string{wire.KeyHeader + ": x"}, 401, "invalid_api_key", "", ""},
	{"revoked key", "GET", "/leaderboard/traders", []string{wire.KeyHeader + ": {revoked}"}, 401, "revoked_api_key", "", "revoked"},
	{"unknown path", "GET", "/nowhere", []string{wire.KeyHeader + ": {key}"}, 404, "not_found", "", ""},
	{"trailing slash", "GET", "/health/", []string{wire.KeyHeader + ": {key}"}, 404, "not_found", "", ""},
	{"other case", "GET", "/Health", []string{wire.KeyHeader + ": {key}"}, 404, "not_found", "", ""},
	{"post to a leaderboard", "POST", "/leaderboard/traders", []string{wire.KeyHeader + ": {key}"}, 405, "method_not_allowed", "", "Allow"},
	{"post to health", "POST", "/health", nil, 405, "method_not_allowed", "", ""},
	{"unknown parameter", "GET", "/leaderboard/traders?perod=7d", []string{wire.KeyHeader + ": {key}"}, 400, "unknown_parameter", "perod", "Known parameters: period, limit, category, min_resolved, sort, offset, include."},
	{"none is known", "GET", "/health?x=1", nil, 400, "unknown_parameter", "x", "no query parameters"},
	{"path parameter in the query", "GET", "/trader/" + apitest.Wallet(0).String() + "/stats?address=1", []string{wire.KeyHeader + ": {key}"}, 400, "unknown_parameter", "address", ""},
	{"repeated", "GET", "/leaderboard/traders?limit=5&limit=5", []string{wire.KeyHeader + ": {key}"}, 400, "invalid_parameter", "limit", "once"},
	{"bad period", "GET", "/leaderboard/traders?period=2d", []string{wire.KeyHeader + ": {key}"}, 400, "invalid_parameter", "period", "1d, 7d, 30d"},
	{"empty period", "GET", "/leaderboard/traders?period=", []string{wire.KeyHeader + ": {key}"}, 400, "invalid_parameter", "period", ""},
	{"limit 0", "GET", "/leaderboard/markets?limit=0", []string{wire.KeyHeader + ": {key}"}, 400, "invalid_parameter", "limit", "from 1 to 200"},
	{"limit 201", "GET", "/leaderboard/markets?limit=201", []string{wire.KeyHeader + ": {key}"}, 400, "invalid_parameter", "limit", ""},
	{"limit 1e1", "GET", "/leaderboard/markets?limit=1e1", []string{wire.KeyHeader + ": {key}"}, 400, "invalid_parameter", "limit", ""},
	{"limit +5", "GET", "/leaderboard/markets?limit=%2B5", []string{wire.KeyHeader + ": {key}"}, 400, "invalid_parameter", "limit", ""},
	{"limit without value", "GET", "/leaderboard/markets?limit", []string{wire.KeyHeader + ": {key}"}, 400, "invalid_parameter", "limit", ""},
	{"huge limit", "GET", "/leaderboard/markets?limit=99999999999999999999", []string{wire.KeyHeader + ": {key}"}, 400, "invalid_parameter", "limit", ""},
	{"short address", "GET", "/trader/0x12/stats", []string{wire.KeyHeader + ": {key}"}, 400, "invalid_parameter", "address", "40 hexadecimal"},
	{"bare address", "GET", "/trader/" + apitest.Wallet(0).String()[2:] + "/stats", []string{wire.KeyHeader + ": {key}"}, 400, "invalid_parameter", "address", ""},
	{"no hex", "GET", "/trader/0x" + strings.Repeat("g", 40) + "/stats", []string{wire.KeyHeader + ": {key}"}, 400, "invalid_parameter", "address", ""},
}

func TestProblems(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 1, 1))
	revoked := v.store.Issue(access.Free, 50)
	v.store.Change(revoked, func(r *record.Key) { r.Revoked = true })
	if err := v.gate.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	keys := strings.NewReplacer("{key}", v.keys[access.Alpha], "{revoked}", revoked)
	for _, c := range problemCases {
		t.Run(c.name, func(t *testing.T) {
			headers := []string{`X-Request-ID: my"id`}
			for _, h := range c.headers {
				headers = append(headers, keys.Replace(h))
			}
			r := v.do(c.method, wire.Base+c.path, headers...)
			p := exact[wire.Problem](t, r.Body())
			if r.status != c.status || p.Status != c.status || p.Code != c.code || p.Param != c.param || !strings.Contains(p.Detail, c.detail) {
				t.Errorf("status = %d, p = %+v", r.status, p)
			}
			if p.Type != "/docs/problems/"+c.code || p.Title == "" || p.Instance != `my"id` || r.header("X-Request-ID") != `my"id` {
				t.Errorf("%+v", p)
			}
			if ct := r.header("Content-Type"); ct != wire.ProblemType || r.header("Cache-Control") != "no-store" || r.header("ETag") != "" {
				t.Errorf("headers: %s", r.Header.String())
			}
			if (r.header("WWW-Authenticate") != "") != (c.status == 401) {
				t.Errorf("WWW-Authenticate %q", r.header("WWW-Authenticate"))
			}
			if (r.header("Allow") == "GET, HEAD") != (c.status == 405) {
				t.Errorf("Allow %q", r.header("Allow"))
			}
		})
	}
}

func TestPathsOutsideTheAPINeedNoKey(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 1, 1))
	for _, path := range []string{"/nowhere", "/api/v2/health", "/api/v4", "/api/v3x", "/favicon.png"} {
		if r := v.do("GET", path); r.status != 404 || r.text("code") != `"not_found"` || r.text("plan") != "null" {
			t.Errorf("%s: status = %d, body = %s", path, r.status, r.Body())
		}
	}
	if r := v.do("GET", "/api/v3"); r.status != 200 || r.text("base") != `"/api/v3"` {
		t.Errorf("the index: %d %s", r.status, r.Body())
	}
	if r := v.do("BREW", "/api/v3/health"); r.status != 405 || r.text("code") != `"method_not_allowed"` {
		t.Errorf("BREW: %d %s", r.status, r.Body())
	}
}

func TestRequestIDs(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 1, 1))
	for given, echoed := range map[string]bool{
		"abc": true, strings.Repeat("x", 128): true, strings.Repeat("x", 129): false, "a b": false, "é": false, "": false,
	} {
		got := v.get(access.Nobody, "/health", "X-Request-ID: "+given).header("X-Request-ID")
		if (got == given) != echoed || len(got) == 0 {
			t.Errorf("%q: got %q", given, got)
		}
	}
	one, two := v.get(access.Nobody, "/health").header("X-Request-ID"), v.get(access.Nobody, "/health").header("X-Request-ID")
	if one == two || len(one) != 16 {
		t.Errorf("one = %q, two = %q", one, two)
	}
}

func TestRateLimitHeadersAndRefusal(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 1, 1))
	check := func(r reply, status int, remaining, reset string) {
		t.Helper()
		got := []string{r.header("RateLimit-Policy"), r.header("RateLimit"), r.header("X-RateLimit-Limit"), r.header("X-RateLimit-Remaining"), r.header("X-RateLimit-Reset")}
		minute := fmt.Sprint(v.clock.Now().Truncate(time.Minute).Add(time.Minute).Unix())
		want := []string{`"minute";q=30;w=60`, `"minute";r=` + remaining + ";t=" + reset, "30", remaining, minute}
		if r.status != status || !slices.Equal(got, want) {
			t.Errorf("%d: got %v, want %v", r.status, got, want)
		}
	}
	check(v.get(access.Free, "/leaderboard/traders"), 200, "29", "48") // 12 s into the minute
	check(v.get(access.Free, "/leaderboard/traders?limit=x"), 400, "28", "48")
	check(v.get(access.Free, "/nowhere"), 404, "27", "48")
	tag := v.get(access.Alpha, "/leaderboard/traders").header("ETag")
	check(v.get(access.Free, "/leaderboard/traders", "If-None-Match: *"), 304, "26", "48")
	check(v.get(access.Free, "/health"), 200, "25", "48")
	for range 25 {
		v.get(access.Free, "/leaderboard/traders")
	}
	r := v.get(access.Free, "/leaderboard/traders", "If-None-Match: "+tag)
	check(r, 429, "0", "48")
	if p := exact[wire.Problem](t, r.Body()); p.Code != "rate_limited" || r.header("Retry-After") != "48" || *p.Plan != "free" {
		t.Errorf("%+v, Retry-After %q", p, r.header("Retry-After"))
	}
	v.clock.Add(48 * time.Second)
	check(v.get(access.Free, "/leaderboard/traders"), 200, "29", "60")
	if r := v.get(access.Nobody, "/health"); r.status != 200 || r.header("RateLimit") != "" {
		t.Errorf("without a key: %d %q", r.status, r.header("RateLimit"))
	}
}

func TestFailedAuthenticationIsLimited(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 1, 1))
	for range access.FailuresPerMinute {
		if r := v.get(access.Nobody, "/leaderboard/traders"); r.status != 401 {
			t.Fatal(r.status)
		}
	}
	if r := v.get(access.Nobody, "/leaderboard/traders"); r.status != 429 || r.header("Retry-After") != "48" {
		t.Errorf("%d, Retry-After %q", r.status, r.header("Retry-After"))
	}
	if r := v.get(access.Nobody, "/health"); r.status != 200 {
		t.Errorf("health: %d", r.status)
	}
}

func TestAPublicEndpointIgnoresABadKey(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 1, 1))
	if r := v.get(access.Nobody, "/health", wire.KeyHeader+": nonsense"); r.status != 200 || r.text("plan") != "null" {
		t.Errorf("status = %d, body = %s", r.status, r.Body())
	}
}

func TestETags(t *testing.T) {
	snap := apitest.Snapshot(1, 5, 100)
	v := newVenue(t, snap)
	leaderboard := v.get(access.Alpha, "/leaderboard/traders")
	tag := leaderboard.header("ETag")
	if !strings.HasPrefix(tag, `W/"`) || len(tag) != 20 {
		t.Fatalf("ETag %q", tag)
	}
	for header, want := range map[string]int{
		tag: 304, tag[2:]: 304, `"x", ` + tag + `, "y"`: 304, "*": 304, `W/"x"`: 200, "": 200, "garbage": 200, `"unclosed`: 200,
	} {
		r := v.get(access.Alpha, "/leaderboard/traders", "If-None-Match: "+header)
		if r.status != want || (len(r.Body()) == 0) != (want == 304) {
			t.Errorf("If-None-Match %s: %d, %d bytes", header, r.status, len(r.Body()))
		}
		if r.header("ETag") != tag || r.header("Vary") != "X-API-Key, Accept-Encoding" || r.header("Cache-Control") == "" || r.header("RateLimit") == "" {
			t.Errorf("If-None-Match %s: headers %s", header, r.Header.String())
		}
	}
	seen := map[string]string{}
	for _, q := range []string{"", "?limit=49", "?period=1d", "?period=30d"} {
		for _, tier := range []access.Tier{access.Free, access.Explorer, access.Alpha} {
			r := v.get(tier, "/leaderboard/traders"+q)
			tag := r.header("ETag")
			if other, dup := seen[tag]; dup && other != string(r.Body()) {
				t.Errorf("%s %s: two bodies of one tag", tier, q)
			}
			seen[tag] = string(r.Body())
		}
	}
	if len(seen) != 11 { // free has the same 20 rows and hint for 49 and 50
		t.Errorf("%d tags of 11 bodies", len(seen))
	}
}

// The tag changes if and only if something other than as_of changes.
func TestETagFollowsTheBodyButNotAsOf(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 5, 100))
	stats := "/trader/" + apitest.Wallet(1).String() + "/stats"
	tags := func() [2]string {
		return [2]string{v.get(access.Alpha, stats).header("ETag"), v.get(access.Alpha, "/leaderboard/traders").header("ETag")}
	}
	first := tags()
	same := apitest.Snapshot(2, 5, 100)
	v.api.Publish(same)
	if got := tags(); got != first {
		t.Errorf("equal data, other tags: %v, %v", first, got)
	}
	later := apitest.Snapshot(3, 5, 100)
	later.AsOf = later.AsOf.Add(time.Hour)
	v.api.Publish(later)
	got := tags()
	if got[0] != first[0] {
		t.Error("stats: only as_of moved, yet the tag did")
	}
	if got[1] == first[1] {
		t.Error("leaderboard: the window moved, yet the ETag did not")
	}
	changed := apitest.Snapshot(4, 5, 100)
	changed.Traders[serving.Week][99].RealPnL++
	v.api.Publish(changed)
	if tags()[1] != first[1] {
		t.Error("a row beyond the limit changed the tag")
	}
	if v.get(access.Alpha, "/leaderboard/traders?limit=100").header("ETag") == "" {
		t.Error("no tag")
	}
}

func TestMaxAgeIsTheTimeToTheNextCycle(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 1, 1))
	for next, want := range map[time.Duration]string{37 * time.Second: "37", 1500 * time.Millisecond: "1", 0: "1", -time.Hour: "1"} {
		v.source.SetFreshness(serving.Freshness{NextCycle: start.Add(next)})
		if got := v.get(access.Alpha, "/leaderboard/traders").header("Cache-Control"); got != "private, max-age="+want {
			t.Errorf("next cycle in %s: got %s", next, got)
		}
	}
	if got := v.get(access.Nobody, "/health").header("Cache-Control"); got != "private, max-age=1" {
		t.Errorf("health: %s", got)
	}
}

func TestCompression(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 5, 100))
	plain := v.get(access.Alpha, "/leaderboard/traders").Body()
	open := map[string]func(io.Reader) (io.Reader, error){
		"br":   func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
		"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"zstd": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r, zstd.WithDecoderConcurrency(1)) },
		"":     func(r io.Reader) (io.Reader, error) { return r, nil },
	}
	for header, want := range map[string]string{
		"": "", "gzip": "gzip", "gzip, deflate, br, zstd": "br", "br;q=0.5, gzip": "gzip", "zstd;q=0.9, gzip;q=0.8": "zstd",
		"*": "br", "*;q=0": "", "br;q=0, *": "zstd", "identity": "", "identity;q=0.5, gzip;q=0.4": "", "GZIP": "gzip",
		"br;q=0": "", "deflate": "", "gzip;q=x": "", "identity;q=0, gzip": "gzip", "gzip;q=1.000": "gzip", "gzip;q=0.0001": "",
	} {
		for range 2 { // first compressed, then as it was stored
			r := v.get(access.Alpha, "/leaderboard/traders", "Accept-Encoding: "+header)
			coding := string(r.Header.ContentEncoding())
			if coding != want {
				t.Errorf("%q: coding %q, want %q", header, coding, want)
				continue
			}
			reader, err := open[coding](bytes.NewReader(r.Body()))
			if err != nil {
				t.Fatal(err)
			}
			if body, err := io.ReadAll(reader); err != nil || !bytes.Equal(body, plain) {
				t.Errorf("%q: the body does not decompress to itself: %v", header, err)
			}
		}
	}
	if r := v.get(access.Alpha, "/leaderboard/traders?limit=1", "Accept-Encoding: br"); len(r.Header.ContentEncoding()) > 0 || len(r.Body()) >= 1024 {
		t.Errorf("a body of %d bytes was compressed", len(r.Body()))
	}
}

func TestNotReady(t *testing.T) {
	v := newVenue(t, nil)
	for _, path := range []string{"/leaderboard/traders", "/leaderboard/markets", "/trader/" + apitest.Wallet(0).String() + "/stats"} {
		if r := v.get(access.Alpha, path); r.status != 503 || r.text("code") != `"not_ready"` || r.header("Retry-After") == "" {
			t.Errorf("%s: status = %d, body = %s", path, r.status, r.Body())
		}
	}
	if h := exact[wire.One[wire.Health]](t, v.get(access.Nobody, "/health").Body()); h.Data.Status != "starting" || h.Data.Epoch != nil || h.AsOf != nil {
		t.Errorf("%+v", h)
	}
	v.api.Publish(&serving.Snapshot{Epoch: 1}) // an empty database
	b := exact[wire.RankedList[wire.TraderRow]](t, v.get(access.Alpha, "/leaderboard/traders").Body())
	if b.AsOf != nil || b.WindowStart != nil || b.WindowEnd != nil || b.Data == nil || len(b.Data) != 0 {
		t.Errorf("%+v", b)
	}
}

func TestHostileTextStaysJSON(t *testing.T) {
	snap := apitest.Snapshot(1, 1, 1)
	name := "a\"b\\c\n\r\t\b\f\x00\x1f<script>&\u2028é\xff\xc3("
	snap.Traders[serving.Week][0].Name = name
	snap.Markets[serving.Week][0].Outcomes = []string{name, ""}
	v := newVenue(t, snap)
	want := strings.ToValidUTF8(strings.ReplaceAll(name, "\xff\xc3", "\xff"), "\ufffd\ufffd")
	if r := v.get(access.Alpha, "/leaderboard/traders"); r.status != 200 || !strings.Contains(fmt.Sprint(decoded(t, r.body["data"])), want) {
		t.Errorf("body = %s", r.Body())
	}
	if r := v.get(access.Alpha, "/leaderboard/markets"); !strings.Contains(fmt.Sprint(decoded(t, r.body["data"])), want) {
		t.Errorf("body = %s", r.Body())
	}
}

func TestExtremeNumbersArePrintedExactly(t *testing.T) {
	snap := apitest.Snapshot(1, 1, 1)
	row := &snap.Traders[serving.Week][0]
	row.RealPnL, row.BuyUSD, row.SellUSD = -1<<63+1, 1, 0
	row.NetCash = data.Micro(1)
	v := newVenue(t, snap)
	body := string(v.get(access.Alpha, "/leaderboard/traders").Body())
	for _, want := range []string{`"real_pnl":-9223372036854.775807`, `"net_cash":0.000001`, `"volume":0.000001`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
}

func TestRoutesAreConsistent(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range api.Routes() {
		if id := r.Method + r.Path; seen[id] || r.Summary == "" || !slices.Contains(wire.Sections(), r.Section) {
			t.Errorf("route %s %s is repeated, has no description or is of no section", r.Method, r.Path)
		} else {
			seen[id] = true
		}
		for _, p := range r.Params {
			if p.Doc == "" || p.InPath != strings.Contains(r.Path, "{"+p.Name+"}") {
				t.Errorf("route %s: parameter %s has no description or is in the wrong place", r.Path, p.Name)
			}
		}
	}
}
