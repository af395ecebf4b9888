package api_test

import (
	"strings"
	"testing"
	"time"

	"pmx/engine/control/record"
	"pmx/http/access"
	"pmx/http/api/apitest"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// freshSource is one that is complete up to 30 s before the start of the test.
func freshSource() serving.Source {
	return serving.Source{Name: "chain", State: serving.SourceIdle, AsOf: start.Add(-30 * time.Second), Changed: start.Add(-time.Second), Rows: 12, Requests: 34,
		Retries: 5, Throttled: 1500 * time.Millisecond, Unknown: 6, Missing: 7,
		Bounds: [4]time.Duration{time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour}}
}

func TestSourcesAreGraded(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 1, 1))
	v.source.SetFreshness(serving.Freshness{LastCycle: start, LastMarkets: start})
	for _, c := range []struct {
		name   string
		change func(*serving.Source)
		grade  string
		detail string // part of it
	}{
		{"fresh", func(*serving.Source) {}, "A", ""},
		{"fresh, and waits for an answer", func(s *serving.Source) { s.State, s.Problem = serving.SourceWaiting, "Nobody answers." }, "A", ""},
		{"at the bound", func(s *serving.Source) { s.AsOf = start.Add(-time.Minute) }, "A", ""},
		{"behind", func(s *serving.Source) { s.AsOf = start.Add(-61 * time.Second) }, "B", "complete up to 20"},
		{"behind and nobody answers", func(s *serving.Source) { s.AsOf, s.Problem = start.Add(-time.Hour), "Nobody answers." }, "C", "Nobody answers."},
		{"a clock behind", func(s *serving.Source) { s.AsOf = start.Add(time.Hour) }, "A", ""},
		{"catching up", func(s *serving.Source) { s.AsOf, s.CatchingUp, s.Progress = start.Add(-200*time.Hour), true, 0.5 }, "F", "catching up"},
		{"nothing yet", func(s *serving.Source) { s.AsOf = time.Time{} }, "F", "nothing yet"},
		{"quiet", func(s *serving.Source) { s.Quiet = true }, "D", "fifth"},
		{"held back", func(s *serving.Source) { s.State, s.Problem = serving.SourceQuarantine, "Two nodes disagree." }, "C", "disagree"},
		{"stalled", func(s *serving.Source) { s.State = serving.SourceStalled }, "F", "silent"},
		{"stalled and quiet", func(s *serving.Source) { s.State, s.Quiet = serving.SourceStalled, true }, "F", "silent"},
		{"paused", func(s *serving.Source) { s.State = serving.SourcePaused }, "F", "paused"},
	} {
		s := freshSource()
		c.change(&s)
		v.sources = []serving.Source{s}
		got := exact[wire.One[wire.PublicStatus]](t, v.get(access.Nobody, "/status/public").Body()).Data
		if len(got.Sources) != 1 || got.Sources[0].Grade != c.grade || got.Grade != c.grade {
			t.Errorf("%s: got.Grade = %s, got.Sources = %+v", c.name, got.Grade, got.Sources)
			continue
		}
		if d := got.Sources[0].Detail; c.detail == "" && d != nil || c.detail != "" && (d == nil || !strings.Contains(*d, c.detail)) {
			t.Errorf("%s: detail %v", c.name, d)
		}
		if c.detail != "" && (got.Detail == nil || *got.Detail != *got.Sources[0].Detail) {
			t.Errorf("%s: the detail of the data as a whole is %v", c.name, got.Detail)
		}
	}
}

func TestASourceReportsWhatItDid(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 1, 1))
	if body := string(v.get(access.Nobody, "/status/public").Body()); !strings.Contains(body, `"sources":[]`) {
		t.Errorf("nothing is followed: %s", body)
	}
	s := freshSource()
	s.CatchingUp, s.Progress, s.Remaining = true, 0.25, 90*time.Second
	s.Hosts = []serving.SourceHost{{Name: "rpc 1", State: serving.HostAnswers, Answered: start.Add(-time.Second), Requests: map[int]int64{200: 7, 503: 2}},
		{Name: "rpc 2", State: serving.HostFails}}
	v.sources = []serving.Source{s}
	got := exact[wire.One[wire.PublicStatus]](t, v.get(access.Nobody, "/status/public").Body()).Data.Sources[0]
	if got.Name != "chain" || got.State != "idle" || *got.LagSeconds != 30 || !got.AsOf.Equal(s.AsOf.Truncate(time.Second)) || !got.UpdatedAt.Equal(s.Changed.Truncate(time.Second)) ||
		*got.Progress != 0.25 || *got.RemainingSeconds != 90 || got.Rows != 12 || got.Requests != 34 || got.Retries != 5 || got.ThrottledSeconds != 1.5 ||
		got.Unknown != 6 || got.Missing != 7 || !strings.Contains(got.Rule, "A up to 60 s") {
		t.Errorf("got %+v", got)
	}
	if h := got.Hosts; len(h) != 2 || h[0].Name != "rpc 1" || h[0].State != "answers" || h[0].Requests != 9 || !h[0].AnsweredAt.Equal(start.Add(-time.Second).Truncate(time.Second)) ||
		h[1].State != "fails" || h[1].AnsweredAt != nil || h[1].Requests != 0 {
		t.Errorf("%+v", h)
	}
}

func TestHistoryKeepsSources(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 1, 1))
	silent := freshSource()
	silent.Name, silent.AsOf = "markets", time.Time{}
	v.sources = []serving.Source{freshSource(), silent}
	if err := v.api.SampleStatus(t.Context(), &statusStore{}); err != nil {
		t.Fatal(err)
	}
	got := v.api.StatusHistory()[0].Sources
	if len(got) != 2 || got["chain"] != (record.SourceStatus{Grade: 'A', Lag: 30}) || got["markets"] != (record.SourceStatus{Grade: 'F', Lag: -1}) {
		t.Errorf("got %v", got)
	}
}

// Data that is only shown has its own grade, which does not lower that of the data as a whole.
func TestASourceThatIsShownOnlyDoesNotLowerTheGrade(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 1, 1))
	v.source.SetFreshness(serving.Freshness{LastCycle: start, LastMarkets: start})
	shown := freshSource()
	shown.Name, shown.State, shown.Shown = "newest", serving.SourceStalled, true
	v.sources = []serving.Source{freshSource(), shown}
	got := exact[wire.One[wire.PublicStatus]](t, v.get(access.Nobody, "/status/public").Body()).Data
	if got.Grade != "A" || got.Detail != nil || got.Sources[1].Grade != "F" || !strings.Contains(got.Sources[1].Rule, "shown only") {
		t.Errorf("got.Grade = %s, got.Detail = %v, got.Sources = %+v", got.Grade, got.Detail, got.Sources)
	}
}

// A venue that is followed and quiet is not told to import anything.
func TestWhatIsFollowedNeedsNoImport(t *testing.T) {
	snap := apitest.Snapshot(1, 1, 1)
	snap.AsOf = start.Add(-2 * time.Hour)
	v := newVenue(t, snap)
	v.source.SetFreshness(serving.Freshness{LastCycle: start, LastMarkets: start.Add(-30 * time.Hour)})
	said := func() (trades, markets string) {
		t.Helper()
		got := exact[wire.One[wire.PublicStatus]](t, v.get(access.Nobody, "/status/public").Body()).Data
		if got.Trades.Grade != "C" || got.Markets.Grade != "D" {
			t.Errorf("got %+v", got)
		}
		return *got.Trades.Detail, *got.Markets.Detail
	}
	if trades, markets := said(); !strings.Contains(trades, "import newer") || !strings.Contains(markets, "import newer") {
		t.Errorf("nothing is followed: %s; %s", trades, markets)
	}
	list, markets := freshSource(), freshSource()
	list.Name, markets.Name = "trades", "markets"
	v.sources = []serving.Source{markets}
	if trades, markets := said(); !strings.Contains(trades, "import newer") || strings.Contains(markets, "import") || !strings.Contains(markets, "markets are followed") {
		t.Errorf("markets are followed: %s; %s", trades, markets)
	}
	for _, fills := range []serving.Source{freshSource(), list} {
		v.sources = []serving.Source{fills}
		if trades, markets := said(); strings.Contains(trades, "import") || !strings.Contains(trades, "fills are followed") || !strings.Contains(markets, "import newer") {
			t.Errorf("%s is followed: %s; %s", fills.Name, trades, markets)
		}
	}
}
