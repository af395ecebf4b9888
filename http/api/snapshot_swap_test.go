package api_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"pmx/http/access"
	"pmx/http/api/apitest"
	"pmx/http/openapi/check"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// readLeaderboards reads until stop: all rows of a response must be of one snapshot, and no
// response may be of an earlier snapshot than the one before.
func readLeaderboards(t *testing.T, v *venue, coding string, stop chan struct{}) {
	req := &fasthttp.Request{}
	req.SetRequestURI(wire.Base + "/leaderboard/traders")
	req.Header.Set(wire.KeyHeader, v.keys[access.Alpha])
	req.Header.Set("Accept-Encoding", coding)
	for last := 0; ; {
		select {
		case <-stop:
			return
		default:
		}
		body, err := apitest.Do(v.handler, req, nil).BodyUncompressed()
		if err != nil {
			t.Error(err)
			return
		}
		n := 0
		_, after, _ := strings.Cut(string(body), `"trades":`)
		if _, err := fmt.Sscan(strings.Split(after, ",")[0], &n); err != nil || n < last {
			t.Errorf("went from %d back to %d: %v", last, n, err)
		}
		if got := strings.Count(string(body), fmt.Sprintf(`"trades":%d,`, n)); got != 50 {
			t.Errorf("%d rows of snapshot %d", got, n)
		}
		last = n
	}
}

// Every response comes from one snapshot as a whole, whatever is published meanwhile.
func TestReadersSeeOneSnapshot(t *testing.T) {
	numbered := func(n int) *serving.Snapshot {
		s := apitest.Snapshot(uint64(n), 1, 60)
		for i := range s.Traders[serving.Week] {
			s.Traders[serving.Week][i].Fills = int64(n)
		}
		return s
	}
	v := newVenue(t, numbered(1))
	stop := make(chan struct{})
	var all sync.WaitGroup
	for _, coding := range []string{"", "gzip", "br"} {
		all.Go(func() { readLeaderboards(t, v, coding, stop) })
	}
	for n := 2; n <= 40; n++ {
		v.api.Publish(numbered(n))
	}
	v.api.Publish(numbered(3)) // older: ignored
	close(stop)
	all.Wait()
	if epoch, ok := v.api.Epoch(); epoch != 40 || !ok {
		t.Errorf("epoch %d", epoch)
	}
}

// No request makes the server fail or respond with anything but JSON.
func FuzzRequests(f *testing.F) {
	v := newVenue(f, apitest.Snapshot(1, 10, 30))
	document, err := check.New()
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		"/api/v3/health", "/api/v3/leaderboard/traders?period=1d&limit=5", "/api/v3/trader/0x/stats", "/api/v3/%zz", "/api/v3/trader/%00/stats",
		"/api/v3/leaderboard/traders?limit=1&limit", "//", "/api/v3/../v3/health", "/api/v3/status/public?;", "http://x/api/v3/health", "*",
	} {
		f.Add("GET", seed, "gzip;q=1", `W/"x"`, "id", true)
		f.Add("POST", seed, "*;q=0", "*", "", false)
		f.Add("GEt", seed, "gzip", "", "id", true)
		f.Add("", seed, "", "", "id", true)
	}
	f.Fuzz(func(t *testing.T, method, uri, coding, match, id string, keyed bool) {
		req := &fasthttp.Request{}
		req.Header.SetMethod(method)
		req.SetRequestURI(uri)
		req.Header.Set("Accept-Encoding", coding)
		req.Header.Set("If-None-Match", match)
		req.Header.Set("X-Request-ID", id)
		if keyed {
			req.Header.Set(wire.KeyHeader, v.keys[access.Alpha])
		}
		v.clock.Add(time.Millisecond)        // the key has 100,000 requests a minute
		method = string(req.Header.Method()) // an empty one is GET to fasthttp, as the handler reads it
		res := apitest.Do(v.handler, req, nil)
		status := res.StatusCode()
		if status >= 500 {
			t.Errorf("%s %q: status = %d, body = %s", method, uri, status, res.Body())
		}
		if err := document.Reply(method, string(req.URI().PathOriginal()), res); err != nil {
			t.Errorf("%s %q differs from the OpenAPI document: %v\n%s", method, uri, err, res)
		}
		if len(res.Header.Peek("X-Request-ID")) == 0 {
			t.Errorf("%s %q: no request id", method, uri)
		}
	})
}
