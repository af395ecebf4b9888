package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pmx/http/access"
	"pmx/http/api/apitest"
	"pmx/http/wire"
)

const samePage = "Sec-Fetch-Site: same-origin"

// openVenue serves pages to everybody.
func openVenue(t *testing.T) *venue {
	v := newVenue(t, apitest.Snapshot(1, 2, 300))
	v.open = true
	v.restart()
	return v
}

func TestPagesOfAnOpenServerNeedNoKey(t *testing.T) {
	v := openVenue(t)
	r := v.get(access.Nobody, "/leaderboard/traders?limit=200", samePage)
	b := exact[wire.RankedList[wire.TraderRow]](t, r.Body())
	if r.status != 200 || *b.Plan != "free" || len(b.Data) != 20 || !b.Truncated {
		t.Errorf("%d, plan %s, %d rows", r.status, *b.Plan, len(b.Data))
	}
	if got := r.header("RateLimit-Policy") + " " + r.header("RateLimit") + " " + r.header("X-RateLimit-Limit") + " " + r.header("X-RateLimit-Remaining"); got != `"guest";q=120;w=60 "guest";r=119;t=48 120 119` {
		t.Errorf("limits: %s", got)
	}
	var vary []string
	for _, line := range r.Header.PeekAll("Vary") {
		vary = append(vary, string(line))
	}
	if got := strings.Join(vary, ", "); got != "X-API-Key, Accept-Encoding, Sec-Fetch-Site" {
		t.Errorf("Vary: %s", got)
	}
	if r := v.get(access.Nobody, "/leaderboard/traders?limit=0", samePage); r.status != 400 || !strings.Contains(string(r.Header.PeekAll("Vary")[1]), "Sec-Fetch-Site") {
		t.Errorf("a problem: %d %s", r.status, r.Body())
	}
}

func TestAllOtherRequestsOfAnOpenServerNeedAKey(t *testing.T) {
	v := openVenue(t)
	for _, headers := range [][]string{nil, {"Sec-Fetch-Site: cross-site"}, {"Sec-Fetch-Site: same-site"}, {"Sec-Fetch-Site: none"}} {
		if r := v.get(access.Nobody, "/leaderboard/traders", headers...); r.status != 401 || r.text("code") != `"missing_api_key"` {
			t.Errorf("%q: status = %d, body = %s", headers, r.status, r.Body())
		}
	}
	// An invalid key is refused even where none is needed.
	if r := v.get(access.Nobody, "/leaderboard/traders", samePage, "X-API-Key: pmx_wrong"); r.status != 401 || r.text("code") != `"invalid_api_key"` {
		t.Errorf("a wrong key: %d %s", r.status, r.Body())
	}
	// An export belongs to a key.
	for _, path := range []string{"POST /research/export-jobs", "GET /research/export-jobs/x", "DELETE /research/export-jobs/x", "GET /trader/export-jobs/x/download"} {
		method, path, _ := strings.Cut(path, " ")
		if r := v.do(method, wire.Base+path, samePage); r.status != 401 {
			t.Errorf("%s %s: status = %d, body = %s", method, path, r.status, r.Body())
		}
	}
	closed := newVenue(t, apitest.Snapshot(1, 2, 3))
	if r := closed.get(access.Nobody, "/leaderboard/traders", samePage); r.status != 401 {
		t.Errorf("a server with keys alone: %d %s", r.status, r.Body())
	}
}

// A page with a key has what the key has.
func TestAKeyCountsOnAnOpenServer(t *testing.T) {
	v := openVenue(t)
	r := v.get(access.Trader, "/leaderboard/traders?limit=200", samePage)
	if r.rows(t) != 200 || r.header("X-RateLimit-Limit") != "1000" || strings.Contains(r.header("Vary"), "Sec-Fetch-Site") {
		t.Errorf("%d rows, %s", r.rows(t), r.Header.String())
	}
}

func TestGuestsAreCountedByAddressAndMinute(t *testing.T) {
	v := openVenue(t)
	for n := range access.GuestRate {
		if r := v.get(access.Nobody, "/stats", samePage); r.status != 200 || r.header("X-RateLimit-Remaining") != fmt.Sprint(access.GuestRate-n-1) {
			t.Fatalf("request %d: %d, %s left", n, r.status, r.header("X-RateLimit-Remaining"))
		}
	}
	r := v.get(access.Nobody, "/stats", samePage)
	if r.status != 429 || r.header("Retry-After") != "48" || r.text("code") != `"rate_limited"` || !strings.Contains(r.text("detail"), "120 requests a minute") {
		t.Errorf("status = %d, body = %s", r.status, r.Body())
	}
	if r := v.get(access.Free, "/stats", samePage); r.status != 200 {
		t.Errorf("with a key: %d %s", r.status, r.Body())
	}
	if r := v.get(access.Nobody, "/status/public", samePage); r.status != 200 {
		t.Errorf("what needs no key anyway: %d %s", r.status, r.Body())
	}
	v.clock.Add(48 * time.Second)
	if r := v.get(access.Nobody, "/stats", samePage); r.status != 200 {
		t.Errorf("in the next minute: %d %s", r.status, r.Body())
	}
}

func TestMeReportsWhatAGuestMayDo(t *testing.T) {
	v := openVenue(t)
	v.get(access.Nobody, "/stats", samePage)
	me := exact[wire.Undated[wire.Account]](t, v.get(access.Nobody, "/me", samePage).Body())
	if d := me.Data; *me.Plan != "free" || d.KeyID != nil || d.Label != nil || d.CreatedAt != nil || d.Tier != "free" || d.Limits.RequestsPerMinute != 120 || d.Limits.Rows != 20 ||
		d.Window.Used != 2 || d.Window.Remaining != 118 || d.Usage.Requests != 0 || d.Usage.Since != "2026-02-13" {
		t.Errorf("me = %+v", me)
	}
	if r := v.get(access.Nobody, "/me"); r.status != 401 {
		t.Errorf("not a page: %d", r.status)
	}
}
