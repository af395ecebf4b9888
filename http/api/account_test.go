package api_test

import (
	"strings"
	"testing"
	"time"

	"pmx/engine/control/record"
	"pmx/http/access"
	"pmx/http/api/apitest"
	"pmx/http/wire"
)

// The clock is at 15:10:12 on 14 March 2026: 48 s of the minute are left, and 13 February is the
// first of 30 days.
func TestMeReportsLimitsAndUsage(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 2, 3))
	v.get(access.Free, "/leaderboard/traders")
	v.get(access.Free, "/leaderboard/traders")
	v.get(access.Free, "/nowhere")
	if err := v.gate.Save(t.Context()); err != nil {
		t.Fatal(err)
	}
	v.get(access.Free, "/leaderboard/traders")
	r := v.get(access.Free, "/me")
	me := exact[wire.Undated[wire.Account]](t, r.Body()).Data
	if me.Tier != "free" || len(*me.KeyID) != 8 || *me.Label != "my dashboard" || me.CreatedAt == nil {
		t.Errorf("me = %+v", me)
	}
	if l := me.Limits; l.RequestsPerMinute != 30 || *l.HistoryDays != 30 || l.Rows != 20 || l.CompareWallets != 1 || l.Export {
		t.Errorf("limits: %+v", l)
	}
	if w := me.Window; w.Used != 5 || w.Remaining != 25 || w.ResetSeconds != 48 || w.ResetAt.Unix() != start.Unix()+48 {
		t.Errorf("window: %+v", w)
	}
	if r.header("X-RateLimit-Remaining") != "25" {
		t.Errorf("the header says %s are left", r.header("X-RateLimit-Remaining"))
	}
	u := me.Usage
	if u.Since != "2026-02-13" || u.Requests != 5 || len(u.Days) != 1 || u.Days[0].Date != "2026-03-14" || u.Days[0].Requests != 5 {
		t.Fatalf("usage: %+v", u)
	}
	for i, want := range []struct {
		endpoint string
		requests int64
	}{{"GET /leaderboard/traders", 3}, {"", 1}, {"GET /me", 1}} {
		got := u.Days[0].Endpoints[i]
		if name := text(got.Endpoint); name != want.endpoint || got.Requests != want.requests {
			t.Errorf("endpoint %d: name = %q, got.Requests = %d, want %+v", i, name, got.Requests, want)
		}
	}
}

func TestAKeyExpires(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 2, 3))
	if me := exact[wire.Undated[wire.Account]](t, v.get(access.Free, "/me").Body()).Data; me.ExpiresAt != nil {
		t.Errorf("it does not expire: %+v", me)
	}
	ends := start.Add(time.Hour)
	v.store.Change(v.keys[access.Free], func(r *record.Key) { r.Expires = ends.Unix() })
	if err := v.gate.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	v.clock.Set(ends.Add(-time.Second))
	if me := exact[wire.Undated[wire.Account]](t, v.get(access.Free, "/me").Body()).Data; me.ExpiresAt == nil || !me.ExpiresAt.Equal(ends) {
		t.Errorf("me = %+v", me)
	}
	v.clock.Set(ends)
	if r := v.get(access.Free, "/me"); r.StatusCode() != 401 || !strings.Contains(string(r.Body()), `"code":"expired_api_key"`) {
		t.Errorf("status = %d, body = %s", r.StatusCode(), r.Body())
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func TestMeOfAlphaHasNoHistoryCap(t *testing.T) {
	v := newVenue(t, nil) // before the first snapshot too
	me := exact[wire.Undated[wire.Account]](t, v.get(access.Alpha, "/me").Body()).Data
	if me.Limits.HistoryDays != nil || !me.Limits.Export {
		t.Errorf("me.Limits = %+v", me.Limits)
	}
	if r := v.get(access.Nobody, "/me"); r.status != 401 {
		t.Errorf("without a key: %d", r.status)
	}
}
