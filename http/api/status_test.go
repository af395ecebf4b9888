package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pmx/http/access"
	"pmx/http/api"
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
		t.Errorf("got %d pings", n)
	}
	v.source.Break()
	v.clock.Add(time.Second)
	r := v.get(access.Nobody, "/health")
	if p := exact[wire.Problem](t, r.Body()); r.status != 503 || p.Code != "not_ready" || r.header("Retry-After") != "5" || strings.Contains(p.Detail, "gone") {
		t.Errorf("status = %d, p = %+v", r.status, p)
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
			t.Errorf("%s: got %s, want %s", c.name, got, c.grades)
		}
		for _, part := range []wire.Subsystem{s.ServingTables, s.Trades, s.Markets} {
			if (part.LagSeconds == nil) != (part.AsOf == nil) || part.LagSeconds != nil && *part.LagSeconds < 0 {
				t.Errorf("%s: part = %+v", c.name, part)
			}
		}
		if *s.Trades.LagSeconds != 240 || !s.CheckedAt.Equal(now) {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
	// What is behind a grade, and what to do.
	for _, c := range []struct {
		fresh serving.Freshness
		want  [4]string // serving tables, trades, markets, all; "" is null
	}{
		{serving.Freshness{LastCycle: ago(0), LastMarkets: ago(0)}, [4]string{}},
		{serving.Freshness{LastCycle: ago(0), LastMarkets: ago(100 * 24 * time.Hour)}, [4]string{"", "",
			"Markets were last imported at 2025-12-04T15:13:26Z: import newer ones; if the venue is historical on purpose, serve it with --historical.",
			"Markets were last imported at 2025-12-04T15:13:26Z: import newer ones; if the venue is historical on purpose, serve it with --historical."}},
		{serving.Freshness{LastCycle: ago(time.Hour), LastMarkets: ago(0)}, [4]string{
			"The last refresh finished at 2026-03-14T14:13:26Z: check that the server's refresh schedule is enabled, and check its log.", "", "",
			"The last refresh finished at 2026-03-14T14:13:26Z: check that the server's refresh schedule is enabled, and check its log."}},
		{serving.Freshness{LastCycle: ago(0), Stale: true}, [4]string{"Imported data is waiting for the next refresh: no action is needed.", "",
			"There are no descriptions of markets yet: import markets, or wait for the sources that are followed.", "There are no descriptions of markets yet: import markets, or wait for the sources that are followed."}},
		{serving.Freshness{LastCycle: ago(0), LastMarkets: ago(0), FailureText: "x"}, [4]string{
			"The last refresh failed, and responses show the data from before it: the server's log says why.", "", "",
			"The last refresh failed, and responses show the data from before it: the server's log says why."}},
	} {
		v.source.SetFreshness(c.fresh)
		s := exact[wire.One[wire.PublicStatus]](t, v.get(access.Nobody, "/status/public").Body()).Data
		for _, told := range []wire.PublicStatus{s, v.api.StatusNow()} { // a client, the page
			var got [4]string
			for i, d := range []*string{told.ServingTables.Detail, told.Trades.Detail, told.Markets.Detail, told.Detail} {
				if d != nil {
					got[i] = *d
				}
			}
			if got != c.want {
				t.Errorf("%+v: got %q, want %q", c.fresh, got, c.want)
			}
		}
	}
	v.clock.Set(apitest.AsOf.Add(48 * time.Hour))
	old := exact[wire.One[wire.PublicStatus]](t, v.get(access.Nobody, "/status/public").Body()).Data.Trades
	if want := "The newest fill is from 2026-03-14T15:09:26Z: import newer data; if the venue is historical on purpose, serve it with --historical."; old.Grade != "F" || *old.Detail != want {
		t.Errorf("trades: %s %s", old.Grade, *old.Detail)
	}
	rule := exact[wire.One[wire.PublicStatus]](t, v.get(access.Nobody, "/status/public").Body()).Data.ServingTables.Rule
	want := "as_of is the last finished refresh cycle; lag_seconds is checked_at minus as_of; " +
		"A up to 120 s, B up to 600 s, C up to 1800 s, D up to 7200 s, F beyond that or without as_of; " +
		"at best B while pending, at best D while failed"
	if rule != want {
		t.Errorf("rule %q", rule)
	}
}

// A venue that is historical on purpose is fresh as of its newest fill, says so, and
// still says what is missing or fails.
func TestAHistoricalVenueIsGradedAgainstItsNewestFill(t *testing.T) {
	source := apitest.NewSource(apitest.Snapshot(1, 1, 1))
	now := apitest.AsOf.Add(1000 * 24 * time.Hour)
	clock := apitest.NewClock(now)
	a, err := api.New(api.Config{Source: source, Reader: &reader{}, Gate: newVenue(t, apitest.Snapshot(1, 1, 1)).gate, Version: "v", CursorKey: make([]byte, 32),
		Now: clock.Now, Historical: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		fresh  serving.Freshness
		grades string
	}{
		{"imported long after", serving.Freshness{LastCycle: now, LastMarkets: now.Add(-time.Hour)}, "A A A A"},
		{"markets older than the fills", serving.Freshness{LastCycle: now, LastMarkets: apitest.AsOf.Add(-23 * time.Hour)}, "A A C C"},
		{"no market", serving.Freshness{LastCycle: now}, "A A F F"},
		{"a refresh that failed", serving.Freshness{LastCycle: now, LastMarkets: now, FailureText: "x"}, "D A A D"},
		{"no refresh for days", serving.Freshness{LastCycle: now.Add(-72 * time.Hour), LastMarkets: now}, "F A A F"},
	} {
		source.SetFreshness(c.fresh)
		s := a.StatusNow()
		if got := strings.Join([]string{s.ServingTables.Grade, s.Trades.Grade, s.Markets.Grade, s.Grade}, " "); got != c.grades || !s.Historical {
			t.Errorf("%s: %s, want %s; historical is %v", c.name, got, c.grades, s.Historical)
		}
		if !strings.Contains(s.Trades.Rule, "the venue's as_of") || strings.Contains(s.ServingTables.Rule, "the venue's as_of") || *s.Trades.LagSeconds != 0 {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
}
