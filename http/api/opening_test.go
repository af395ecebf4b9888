package api_test

import (
	"bytes"
	"reflect"
	"regexp"
	"testing"
	"time"

	"pmx/http/access"
	"pmx/http/api"
	"pmx/http/api/apitest"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// tradersOf returns a snapshot with nothing but the leaderboards of traders and the wallets of another.
func tradersOf(whole *serving.Snapshot) *serving.Snapshot {
	s := *whole
	s.Counts, s.Markets, s.Batch = serving.Counts{}, [serving.Periods][]serving.MarketRow{}, 0
	for fields, i := reflect.ValueOf(&s).Elem(), 0; i < fields.NumField(); i++ {
		if f := fields.Field(i); f.Kind() == reflect.Pointer && f.CanSet() {
			f.SetZero()
		}
	}
	return &s
}

// refused reports whether v answers as long as its data is being read: 503 for everybody, which counts for no key.
func (v *venue) refused(method, path string) bool {
	r := v.do(method, path)
	return r.status == 503 && r.header("Retry-After") == "2" && r.header("X-Request-Id") != "" &&
		(method == "HEAD" || r.text("detail") == `"The service is starting and opening its data. Retry after the number of seconds in Retry-After."`)
}

// While the data is being read, requests for which wallets suffice get what they get afterwards, as soon as these are read; all others
// get 503 until then, pages and unknown paths too.
func TestRequestsWhileTheDataIsRead(t *testing.T) {
	whole := apitest.Snapshot(7, 30, 20)
	v := newVenue(t, nil)
	v.opening = true
	v.restart()
	address := apitest.Wallet(3).String()
	early := []string{"/leaderboard/traders", "/leaderboard/traders?period=1d&limit=3", "/trader/" + address + "/stats", "/trader/" + apitest.Wallet(400).String() + "/stats"}
	isEarly := map[string]bool{"/leaderboard/traders": true, "/trader/{address}/stats": true}
	inPath := regexp.MustCompile(`\{[^}]*\}`)
	checkRefused := func(when string, except map[string]bool) {
		t.Helper()
		for _, r := range api.Routes() {
			if path := wire.Base + inPath.ReplaceAllString(r.Path, address); !except[r.Path] && !v.refused(r.Method, path) {
				t.Errorf("%s, %s %s is answered", when, r.Method, path)
			}
		}
		for _, path := range []string{wire.Base + "/nothing", wire.Base, wire.Base + "/", "/", "/docs", "/status", "/nothing"} {
			if !v.refused("GET", path) || !v.refused("HEAD", path) {
				t.Errorf("%s, %s is answered", when, path)
			}
		}
	}
	checkRefused("before wallets are read", nil)
	if v.api.IsOpen() {
		t.Error("it is open")
	}

	v.api.PublishTraders(tradersOf(whole))
	checkRefused("while the rest is read", isEarly)
	if r := v.get(access.Alpha, "/leaderboard/traders?sort=volume"); r.status != 503 || r.text("code") != `"not_ready"` {
		t.Errorf("a leaderboard that needs more: status = %d, body = %s", r.status, r.Body())
	}
	if r := v.get(access.Nobody, "/leaderboard/traders", wire.KeyHeader+": pmx_wrong"); r.status != 401 {
		t.Errorf("with a wrong key: status = %d", r.status)
	}
	first := map[string]reply{}
	for _, path := range early {
		first[path] = v.get(access.Alpha, path)
	}
	if got := first[early[0]]; got.status != 200 || got.rows(t) != 20 || first[early[1]].rows(t) != 3 || first[early[3]].status != 404 {
		t.Errorf("status = %d, body = %s", got.status, got.Body())
	}

	v.api.Publish(whole)
	checkRefused("before it is opened", isEarly)
	v.clock.Add(time.Hour)
	v.api.Open()
	v.clock.Add(time.Second)
	if r := v.get(access.Alpha, "/health"); !bytes.Contains(r.Body(), []byte(`"uptime_seconds":1,`)) {
		t.Errorf("it counts the time before it was opened: body = %s", r.Body())
	}
	for _, path := range early {
		was, is := first[path], v.get(access.Alpha, path)
		if was.status != is.status || was.header("Etag") != is.header("Etag") || is.status == 200 && !bytes.Equal(was.Body(), is.Body()) {
			t.Errorf("%s: the response was %d %s, and is %d %s", path, was.status, was.Body(), is.status, is.Body())
		}
	}
	for _, path := range []string{"/leaderboard/markets", "/stats", "/status/public", "/health"} {
		if r := v.get(access.Alpha, path); r.status != 200 {
			t.Errorf("%s: status = %d, body = %s", path, r.status, r.Body())
		}
	}
	if !v.api.IsOpen() {
		t.Error("it is not open")
	}
}
