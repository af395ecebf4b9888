package follow_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmx/data/upstream/channel"
	"pmx/data/upstream/fetch"
	"pmx/rollups/follow"
	"pmx/rollups/serving"
)

// A venue of 40 fills an hour for five days, half of them in the delta, is quiet in an hour with 7
// and not in one with 8. If the chain is not committed up to the end of the hour, or for too few
// days, nothing is reported.
func TestAnHourWithoutItsUsualFillsIsQuiet(t *testing.T) {
	k := venue(t, t.TempDir())
	const hour = 500_000
	now := time.Unix((hour+1)*3600+60, 0)
	tell := func(fills int, days int64, asOf time.Time) (bool, string) {
		t.Helper()
		err := k.DB().Write(t.Context(), func(conn *sql.Conn) error {
			for _, q := range []string{
				"DELETE FROM platform_hour", "DELETE FROM platform_hour_delta",
				fmt.Sprintf("INSERT INTO platform_hour SELECT h, 20, 0, 0, 0, 0, 0 FROM range(%d, %d) AS r(h)", hour-24*days, hour),
				fmt.Sprintf("INSERT INTO platform_hour_delta SELECT h, 0, 0, 0, 20, 0, 0 FROM range(%d, %d) AS r(h)", hour-24*days, hour),
				fmt.Sprintf("INSERT INTO platform_hour VALUES (%d, %d, 0, 0, 0, 0, 0)", hour, fills),
			} {
				if _, err := conn.ExecContext(t.Context(), q); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		teller := &follow.Teller{Venue: k, Log: zerolog.New(&log), Now: func() time.Time { return now }}
		state := follow.ChainStatus{Phase: follow.Idle, AsOf: asOf}
		teller.Add(func() []serving.Source { return []serving.Source{state.Tell()} })
		if err := teller.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		s := teller.Sources()
		if len(s) != 1 || s[0].Name != "chain" {
			t.Fatalf("%+v", s)
		}
		return s[0].Quiet, log.String()
	}
	for _, c := range []struct {
		fills int
		days  int64
		asOf  time.Time
		quiet bool
	}{
		{7, 5, now, true}, {8, 5, now, false}, {0, 5, now, true}, {0, 2, now, false}, {0, 3, now, true},
		{0, 5, now.Add(-2 * time.Minute), false}, {0, 5, time.Time{}, false},
	} {
		quiet, log := tell(c.fills, c.days, c.asOf)
		if quiet != c.quiet || strings.Contains(log, "source_in_trouble") != c.quiet {
			t.Errorf("%d fills after %d days, in up to %s: %v\n%s", c.fills, c.days, c.asOf, quiet, log)
		}
	}
}

func TestAFailingSourceIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	state := follow.ChainStatus{Phase: follow.Quarantine, Held: []follow.HeldRange{{From: 1, To: 2}}}
	teller := &follow.Teller{Log: zerolog.New(&log)}
	teller.Add(func() []serving.Source { return []serving.Source{state.Tell()} })
	for _, phase := range []follow.Phase{follow.Quarantine, follow.Quarantine, follow.Stalled, follow.Fetch, follow.Idle} {
		state.Phase = phase
		if err := teller.Look(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if text := log.String(); strings.Count(text, "source_in_trouble") != 2 || strings.Count(text, "source_recovered") != 1 ||
		!strings.Contains(text, "1 range of blocks held back") {
		t.Errorf("text = %s", text)
	}
}

// Requests of the source to its hosts, and their results, count as the source's; requests of others
// do not.
func TestASourceReportsWhatItsHostsDid(t *testing.T) {
	var failNext atomic.Bool
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if failNext.Swap(false) {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{}`))
	}))
	defer srv.Close()
	h, err := fetch.New(fetch.Options{Name: "gamma", Base: srv.URL, Contact: "me@example.org", Version: "v", Budget: fetch.Budget{PerSecond: 1000, Burst: 10, InFlight: 1},
		Sleep: func(context.Context, time.Duration) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	state := follow.MarketsStatus{Tasks: []follow.MarketTask{{Name: "tokens", Phase: follow.Idle}, {Name: "open", Phase: follow.BackOff, Error: "x", LastGood: time.Unix(7, 0)}},
		New: 3, Changed: 4, Unknown: map[string]int64{"a": 5}, Loops: 6, Swept: time.Unix(9, 0)}
	teller := &follow.Teller{Log: zerolog.Nop()}
	teller.Add(func() []serving.Source { return []serving.Source{state.Tell()} })
	mine, others := h.Caller(), h.Caller()
	for range 3 {
		if _, err := others.Do(t.Context(), fetch.Request{Path: "/x"}); err != nil {
			t.Fatal(err)
		}
	}
	teller.Asks("markets", mine)
	if s := teller.Sources()[0]; s.Requests != 0 || s.Hosts[0].State != serving.HostUnasked {
		t.Errorf("before it asks: %+v", s)
	}
	failNext.Store(true)
	if _, err := mine.Do(t.Context(), fetch.Request{Path: "/x"}); err != nil {
		t.Fatal(err)
	}
	s := teller.Sources()[0]
	if s.Requests != 2 || s.Retries != 1 || s.Rows != 7 || s.Unknown != 11 || s.State != serving.SourceWaiting || !s.AsOf.Equal(time.Unix(9, 0)) ||
		!s.Changed.Equal(time.Unix(7, 0)) || !strings.Contains(s.Problem, `"open"`) {
		t.Errorf("%+v", s)
	}
}

// A failing node is named, whether its host fails or its responses are invalid.
func TestAFailingNodeIsReported(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/down" {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{}`))
	}))
	defer srv.Close()
	state := follow.ChainStatus{Phase: follow.Idle, Error: "x", Nodes: []follow.NodeStatus{{Name: "rpc 1", State: follow.Idle, LastGood: time.Unix(7, 0)},
		{Name: "rpc 2", State: follow.BackOff}, {Name: "rpc 3", State: follow.BackOff}, {Name: "rpc 4", State: follow.Idle}}}
	teller := &follow.Teller{Log: zerolog.Nop()}
	teller.Add(func() []serving.Source { return []serving.Source{state.Tell()} })
	for i, path := range []string{"/up", "/down", "/up", ""} {
		h, err := fetch.New(fetch.Options{Name: fmt.Sprintf("rpc %d", i+1), Base: srv.URL, Contact: "me", Budget: fetch.Budget{PerSecond: 1000, Burst: 10, InFlight: 1}})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		if path != "" {
			_, _ = h.Do(t.Context(), fetch.Request{Path: path, NoRetry: true})
		}
		teller.Asks("chain", h)
	}
	s := teller.Sources()[0]
	var got []string
	for _, h := range s.Hosts {
		got = append(got, h.Name+" "+string(h.State))
	}
	if text := strings.Join(got, ", "); text != "rpc 1 answers, rpc 2 fails, rpc 3 fails, rpc 4 unasked" || !s.Hosts[0].Answered.Equal(time.Unix(7, 0)) ||
		s.Hosts[1].Requests[500] != 1 || !strings.Contains(s.Problem, "2 of 4 nodes work") {
		t.Errorf("%s: %+v", text, s)
	}
}

// A request that failed, of a node that is not resting, does not make "the others" fail.
func TestAFailedRequestOfAWorkingNodeIsSaidAsSuch(t *testing.T) {
	state := follow.ChainStatus{Phase: follow.Idle, Error: "rpc 1: status 503", Nodes: []follow.NodeStatus{{Name: "rpc 1", State: follow.Idle}, {Name: "rpc 2", State: follow.Idle}}}
	if s := state.Tell(); !strings.HasPrefix(s.Problem, "The last request failed: ") {
		t.Errorf("%q", s.Problem)
	}
	state.Nodes[0].State, state.Nodes[1].State = follow.BackOff, follow.BackOff
	if s := state.Tell(); !strings.HasPrefix(s.Problem, "No node works: ") {
		t.Errorf("%q", s.Problem)
	}
}

// An open connection of quotes counts as working; one that is being reopened does not.
func TestConnectionsOfQuotesAreHosts(t *testing.T) {
	state := follow.QuotesStatus{Phase: follow.Idle, Channels: []channel.Stats{{Name: "quotes 1", State: channel.Following, LastAt: time.Unix(7, 0)},
		{Name: "quotes 2", State: channel.Connecting}}}
	h := state.Tell().Hosts
	if len(h) != 2 || h[0].Name != "quotes 1" || h[0].State != serving.HostAnswers || !h[0].Answered.Equal(time.Unix(7, 0)) || h[1].State != serving.HostFails {
		t.Errorf("%+v", h)
	}
}

func TestAWeatherSourceReportsItsStatus(t *testing.T) {
	state := follow.WeatherStatus{Source: "metar", Phase: follow.BackOff, LastAnswer: time.Unix(9, 0), LastNew: time.Unix(7, 0), Rows: 3, Asked: 4,
		Unknown: map[string]int64{"a": 5, "b": 6}, Sparse: true, Error: "x"}
	s := state.Tell()
	if s.Name != "weather metar" || s.State != serving.SourceWaiting || !s.AsOf.Equal(time.Unix(9, 0)) || !s.Changed.Equal(time.Unix(7, 0)) || s.Rows != 3 ||
		s.Requests != 4 || s.Unknown != 11 || !s.Quiet || s.Problem == "" {
		t.Errorf("%+v", s)
	}
}
