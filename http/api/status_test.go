package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pmx/http/access"
	"pmx/http/api/apitest"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

func TestHealth(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(7, 1, 1))
	v.clock.Add(90 * time.Second)
	finished, failed := start.Add(time.Minute), start.Add(30*time.Second)
	cases := []struct {
		name   string
		fresh  serving.Freshness
		status string
		ok     string
	}{
		{"no cycle yet", serving.Freshness{}, "ok", "<nil>"},
		{"fine", serving.Freshness{LastCycle: finished}, "ok", "true"},
		{"recovered", serving.Freshness{LastCycle: finished, LastFailure: failed}, "ok", "true"},
		{"failed", serving.Freshness{LastCycle: failed, LastFailure: finished, FailureText: "/secret/path: disk full"}, "degraded", "false"},
	}
	for _, c := range cases {
		v.source.SetFreshness(c.fresh)
		r := v.get(access.Nobody, "/health")
		h := exact[wire.One[wire.Health]](t, r.Body())
		ok := "<nil>"
		if h.Data.LastCycle.OK != nil {
			ok = fmt.Sprint(*h.Data.LastCycle.OK)
		}
		if h.Data.Status != c.status || ok != c.ok || h.Data.UptimeSeconds != 90 || *h.Data.Epoch != 7 || h.Data.Version != "v1.2.3" || !h.AsOf.Equal(apitest.AsOf.Truncate(time.Second)) {
			t.Errorf("%s: %+v", c.name, h)
		}
		if strings.Contains(string(r.Body()), "secret") {
			t.Errorf("%s: internals leak: %s", c.name, r.Body())
		}
		if alias := v.get(access.Nobody, "/status"); string(alias.Body()) != string(r.Body()) {
			t.Errorf("%s: /status differs: %s", c.name, alias.Body())
		}
	}
}

func TestHealthAsksTheDatabaseAtMostOnceASecond(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 1, 1))
	for range 5 {
		v.get(access.Nobody, "/health")
	}
	if n := v.source.Pings(); n != 1 {
		t.Errorf("%d pings", n)
	}
	v.source.Break()
	v.clock.Add(time.Second)
	r := v.get(access.Nobody, "/health")
	if p := exact[wire.Problem](t, r.Body()); r.status != 503 || p.Code != "not_ready" || r.header("Retry-After") != "5" || strings.Contains(p.Detail, "gone") {
		t.Errorf("%d %+v", r.status, p)
	}
}

func TestGrades(t *testing.T) {
	snap := apitest.Snapshot(1, 1, 1)
	v := newVenue(t, snap)
	now := apitest.AsOf.Truncate(time.Second).Add(4 * time.Minute)
	v.clock.Set(now)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	cases := []struct {
		name   string
		fresh  serving.Freshness
		grades string // serving tables, trades, markets, all
	}{
		{"never", serving.Freshness{}, "F A F F"},
		{"all fresh", serving.Freshness{LastCycle: ago(2 * time.Minute), LastMarkets: ago(time.Hour)}, "A A A A"},
		{"a second more", serving.Freshness{LastCycle: ago(121 * time.Second), LastMarkets: ago(3601 * time.Second)}, "B A B B"},
		{"half an hour, a day", serving.Freshness{LastCycle: ago(30 * time.Minute), LastMarkets: ago(24 * time.Hour)}, "C A C C"},
		{"two hours, three days", serving.Freshness{LastCycle: ago(2 * time.Hour), LastMarkets: ago(72 * time.Hour)}, "D A D D"},
		{"beyond", serving.Freshness{LastCycle: ago(3 * time.Hour), LastMarkets: ago(73 * time.Hour)}, "F A F F"},
		{"pending", serving.Freshness{LastCycle: ago(0), LastMarkets: ago(0), Stale: true}, "B A A B"},
		{"failed", serving.Freshness{LastCycle: ago(0), LastMarkets: ago(0), FailureText: "x"}, "D A A D"},
		{"failed and old", serving.Freshness{LastCycle: ago(3 * time.Hour), LastMarkets: ago(0), FailureText: "x"}, "F A A F"},
		{"clock behind", serving.Freshness{LastCycle: ago(-time.Hour), LastMarkets: ago(-time.Hour)}, "A A A A"},
	}
	for _, c := range cases {
		v.source.SetFreshness(c.fresh)
		s := exact[wire.One[wire.PublicStatus]](t, v.get(access.Nobody, "/status/public").Body()).Data
		if got := strings.Join([]string{s.ServingTables.Grade, s.Trades.Grade, s.Markets.Grade, s.Grade}, " "); got != c.grades {
			t.Errorf("%s: %s, want %s", c.name, got, c.grades)
		}
		for _, part := range []wire.Subsystem{s.ServingTables, s.Trades, s.Markets} {
			if (part.LagSeconds == nil) != (part.AsOf == nil) || part.LagSeconds != nil && *part.LagSeconds < 0 {
				t.Errorf("%s: %+v", c.name, part)
			}
		}
		if *s.Trades.LagSeconds != 240 || !s.CheckedAt.Equal(now) {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
	rule := exact[wire.One[wire.PublicStatus]](t, v.get(access.Nobody, "/status/public").Body()).Data.ServingTables.Rule
	want := "as_of is the last finished refresh cycle; lag_seconds is checked_at minus as_of; " +
		"A up to 120 s, B up to 600 s, C up to 1800 s, D up to 7200 s, F beyond that or without as_of; " +
		"at best B while pending, at best D while failed"
	if rule != want {
		t.Errorf("rule %q", rule)
	}
}
