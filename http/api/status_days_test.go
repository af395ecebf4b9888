package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmx/engine/control/record"
	"pmx/http/access"
	"pmx/http/api/apitest"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// sampleAt takes the sample of some minutes after start.
func (v *venue) sampleAt(minute int, store *statusStore, f serving.Freshness) {
	v.t.Helper()
	v.clock.Set(start.Add(time.Duration(minute) * time.Minute))
	v.source.SetFreshness(f)
	if err := v.api.SampleStatus(v.t.Context(), store); err != nil {
		v.t.Fatal(err)
	}
}

// publishFills publishes a venue of so many fills.
func (v *venue) publishFills(epoch uint64, fills int64) {
	snap := apitest.Snapshot(epoch, 1, 1)
	snap.Counts.Fills = fills
	v.api.Publish(snap)
}

// fiveMinutes is a service from 15:10 to 15:14: without markets at first, importing twice, with a refresh
// that failed and a verification in the fourth minute.
func fiveMinutes(t *testing.T, v *venue, store *statusStore) {
	t.Helper()
	at := func(minute, second int) time.Time { return time.Date(2026, 3, 14, 15, minute, second, 0, time.UTC) }
	f := serving.Freshness{LastCycle: at(10, 10)}
	v.sampleAt(0, store, f)
	f.LastCycle, f.LastFills, f.LastMarkets = at(11, 10), at(11, 0), at(11, 0)
	v.publishFills(2, 1000)
	v.sampleAt(1, store, f)
	f.LastCycle, f.LastFills = at(12, 10), at(12, 5)
	v.publishFills(3, 1500)
	v.sampleAt(2, store, f)
	f.LastFailure, f.FailureText, f.LastVerified = at(12, 50), "no such table: secret", at(12, 40)
	v.sampleAt(3, store, f)
	f.LastCycle, f.FailureText = at(14, 10), ""
	v.sampleAt(4, store, f)
}

func history(t *testing.T, v *venue, query string) wire.StatusHistory {
	t.Helper()
	r := v.get(access.Nobody, "/status/history"+query)
	if r.status != 200 {
		t.Fatalf("status = %d, body = %s", r.status, r.Body())
	}
	return exact[wire.StatusHistory](t, r.Body())
}

func eventLines(h wire.StatusHistory) string {
	var b strings.Builder
	for _, e := range h.Events {
		until, name, grade := "-", "-", "-"
		if e.Until != nil {
			until = e.Until.Format(time.TimeOnly)
		}
		if e.Part != nil {
			name = *e.Part
		}
		if e.Grade != nil {
			grade = *e.Grade
		}
		fmt.Fprintf(&b, "%s %s %s %s %s %s\n", e.At.Format(time.TimeOnly), until, e.Kind, name, grade, e.Text)
	}
	return b.String()
}

func TestTheHistoryByDaysSaysHowLongEachGradeWasSampled(t *testing.T) {
	v, store := newVenue(t, apitest.Snapshot(1, 1, 1)), &statusStore{}
	fiveMinutes(t, v, store)
	h := history(t, v, "?days=2")
	// Trades are of 15:09:26: 286 s at 15:14:12, still A. 15:14 is 54,840 s into the day, of which 300 are sampled.
	got, _ := json.Marshal(h.Data)
	none := `{"date":"2026-03-13","worst":null,"seconds":{"A":0,"B":0,"C":0,"D":0,"F":0,"none":86400},"lag_max_seconds":null},{"date":"2026-03-14",`
	want := `[{"part":"serving_tables","current_pct":80,"days":[` + none + `"worst":"D","seconds":{"A":240,"B":0,"C":0,"D":60,"F":0,"none":54540},"lag_max_seconds":62}]},` +
		`{"part":"trades","current_pct":100,"days":[` + none + `"worst":"A","seconds":{"A":300,"B":0,"C":0,"D":0,"F":0,"none":54540},"lag_max_seconds":286}]},` +
		`{"part":"markets","current_pct":80,"days":[` + none + `"worst":"F","seconds":{"A":240,"B":0,"C":0,"D":0,"F":60,"none":54540},"lag_max_seconds":192}]}]`
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	events := `15:13:12 15:14:12 grade serving_tables D The last refresh failed, and responses show the data from before it: the server's log says why.
15:12:50 15:14:12 refresh - - A refresh failed: responses show the data from before it.
15:12:40 - verify - - The whole database was verified: all of it holds.
15:11:00 15:12:05 import - - Files were imported: 1,500 new fills.
15:10:12 15:11:12 grade markets F There are no descriptions of markets yet: import markets, or wait for the sources that are followed.
`
	if got := eventLines(h); got != events {
		t.Errorf("got\n%swant\n%s", got, events)
	}
	if whole := history(t, v, ""); whole.Days != 90 || len(whole.Data[0].Days) != 90 || whole.SampleSeconds != 60 || whole.Data[0].Days[0].Date != "2025-12-15" {
		t.Errorf("by default: %d days, the first %s", len(whole.Data[0].Days), whole.Data[0].Days[0].Date)
	}
	for _, query := range []string{"?days=0", "?days=91", "?days=x"} {
		if r := v.get(access.Nobody, "/status/history"+query); r.status != 400 || r.text("param") != `"days"` {
			t.Errorf("%s: status = %d, body = %s", query, r.status, r.Body())
		}
	}
	first := v.get(access.Nobody, "/status/history")
	if again := v.get(access.Nobody, "/status/history", "If-None-Match: "+first.header("Etag")); again.status != 304 {
		t.Errorf("the same history has the status %d", again.status)
	}
}

// A restarted server continues with what was stored; the minutes in between have no grade, and an
// event that was still going on ends when it is over.
func TestTheHistoryByDaysOutlivesTheProcess(t *testing.T) {
	v, store := newVenue(t, apitest.Snapshot(1, 1, 1)), &statusStore{}
	fiveMinutes(t, v, store)
	v.sampleAt(5, store, serving.Freshness{LastCycle: start.Add(5 * time.Minute)})
	v.restart()
	if err := v.api.LoadStatus(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	f := serving.Freshness{LastCycle: start.Add(20 * time.Minute), LastMarkets: start.Add(20 * time.Minute), LastFills: start, LastVerified: start}
	v.sampleAt(20, store, f)
	v.sampleAt(20, store, f) // of the same minute: it counts once
	h := history(t, v, "?days=1")
	if markets := h.Data[2].Days[0]; markets.Seconds != (wire.StatusSeconds{A: 300, F: 120, None: 15*3600 + 30*60 - 420}) {
		t.Errorf("markets: %+v", markets)
	}
	if got := eventLines(h); !strings.HasPrefix(got, "15:15:12 15:30:12 grade markets F") || strings.Count(got, " import - - ") != 1 {
		t.Errorf("got %s", got)
	}
	if got := v.api.StatusHistory(); len(got) != 7 {
		t.Errorf("got %d samples", len(got))
	}
}

// Samples that could not be stored are stored with the next one, and stored samples are not
// overwritten by a server that could not read them.
func TestTheHistoryByDaysWaitsForItsStore(t *testing.T) {
	v, store := newVenue(t, apitest.Snapshot(1, 1, 1)), &statusStore{}
	store.days.Days = []record.StatusDay{{Day: "2026-03-14", Subsystem: "trades", Minutes: [5]int64{7}, LagMax: 3}}
	store.err = errors.New("disk is gone")
	if err := v.api.SampleStatus(t.Context(), store); err == nil {
		t.Error("a store that cannot be read is not an error")
	}
	store.err = nil
	v.sampleAt(1, store, serving.Freshness{})
	store.err = errors.New("disk is gone")
	v.clock.Set(start.Add(2 * time.Minute))
	if err := v.api.SampleStatus(t.Context(), store); err == nil {
		t.Error("a store that cannot be written is not an error")
	}
	store.err = nil
	v.sampleAt(3, store, serving.Freshness{})
	for _, d := range store.days.Days {
		if d.Subsystem == "trades" && d != (record.StatusDay{Day: "2026-03-14", Subsystem: "trades", Minutes: [5]int64{10}, LagMax: 226}) {
			t.Errorf("stored %+v", d) // seven, and 15:11 to 15:13; 15:09:26 to 15:13:12 is 226 s
		}
	}
}

func TestStartsAndStopsAreInTheHistory(t *testing.T) {
	v, store := newVenue(t, apitest.Snapshot(1, 1, 1)), &statusStore{}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := v.api.RecordStatus(ctx, store, zerolog.Nop()); err != nil {
		t.Fatal(err)
	}
	if got := eventLines(history(t, v, "?days=1")); !strings.Contains(got, "15:10:12 - start - - The server was started, version v1.2.3.\n") ||
		!strings.Contains(got, "15:10:12 - stop - - The server was stopped.\n") || len(store.days.Events) != strings.Count(got, "\n") {
		t.Errorf("got %s, stored %v", got, store.days.Events)
	}
}

// Sources have grades of their own, and what they bring in all the time is no event.
func TestSourcesAreInTheHistoryByDays(t *testing.T) {
	v, store := newVenue(t, apitest.Snapshot(1, 1, 1)), &statusStore{}
	late := freshSource()
	v.sources = []serving.Source{late}
	v.sampleAt(0, store, serving.Freshness{LastFills: start})
	late.AsOf = start.Add(-50 * time.Hour)
	v.sources = []serving.Source{late}
	v.publishFills(2, 10)
	v.sampleAt(1, store, serving.Freshness{LastFills: start.Add(time.Minute)})
	h := history(t, v, "?days=1")
	if len(h.Data) != 4 || h.Data[3].Part != "source:chain" || h.Data[3].Days[0].Seconds.A != 60 || h.Data[3].Days[0].Seconds.F != 60 || *h.Data[3].CurrentPct != 50_000_000 {
		t.Errorf("h.Data[3] = %+v", h.Data[3])
	}
	if got := eventLines(h); !strings.Contains(got, "15:11:12 - grade source:chain F") || strings.Contains(got, " import - - ") {
		t.Errorf("got %s", got)
	}
}

// A server that follows another shows the history of the other.
func TestAReplicaShowsTheHistoryOfItsWriter(t *testing.T) {
	v, store := newVenue(t, apitest.Snapshot(1, 1, 1)), &statusStore{}
	fiveMinutes(t, v, store)
	want := history(t, v, "?days=1")
	v.copies = true
	v.restart()
	v.sampleAt(4, store, serving.Freshness{})
	if got := history(t, v, "?days=1"); eventLines(got) != eventLines(want) || got.Data[0].Days[0].Seconds != want.Data[0].Days[0].Seconds {
		t.Errorf("got %+v", got)
	}
	if len(store.kept) != 6 || len(store.days.Events) != 5 {
		t.Errorf("%d samples and %d events are kept", len(store.kept), len(store.days.Events))
	}
	v.clock.Add(48 * time.Hour)
	if detail := v.api.StatusNow().Trades.Detail; detail == nil || !strings.Contains(*detail, "the writer") {
		t.Errorf("the newest trade is old, and the advice is %+v", detail)
	}
}
