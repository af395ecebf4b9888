package nws_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/data/upstream/nws"
	"pmx/data/upstream/pages"
	"pmx/data/upstream/upstreamtest"
)

var since = time.Date(2026, time.November, 20, 9, 0, 0, 500, time.UTC)

// client returns a client of a server with the handler f, which gets the server's URL.
func client(t *testing.T, f func(base string, w http.ResponseWriter, r *http.Request)) *nws.Client {
	t.Helper()
	return nws.New(upstreamtest.Host(t, "nws", func(w http.ResponseWriter, r *http.Request) { f("http://"+r.Host, w, r) }))
}

// observed is an observation of a station, minutes after ten o'clock.
func observed(station string, minute int) string {
	at := time.Date(2026, time.November, 20, 10, minute, 0, 0, time.UTC).Format(time.RFC3339)
	return fmt.Sprintf(`{"id":"https://api.weather.gov/stations/%s/observations/%s","type":"Feature","properties":{"station":"https://api.weather.gov/stations/%[1]s","stationId":"%[1]s",`+
		`"timestamp":"%[2]s","rawMessage":"","textDescription":"Clear","temperature":{"unitCode":"wmoUnit:degC","value":%[3]d,"qualityControl":"V"}}}`, station, at, minute%30)
}

func say(w http.ResponseWriter, next string, features ...string) {
	w.Header().Set("Content-Type", "application/geo+json")
	_, _ = fmt.Fprintf(w, `{"type":"FeatureCollection","features":[%s]%s}`, strings.Join(features, ","), next)
}

func leadsTo(url string) string { return fmt.Sprintf(`,"pagination":{"next":%q}`, url) }

// rows is a sink of observations.
type rows struct {
	upstreamtest.Sink
	said []string
}

func (r *rows) Observation(_ int64, o data.Observation) error {
	r.said = append(r.said, fmt.Sprintf("%s %s %s", o.City, o.Station, o.Value.Text(data.Celsius)))
	return nil
}

func (r *rows) Pass(int64, data.Passed) error { return nil }

// imported reads a body with the detected feed.
func imported(t *testing.T, body []byte) *rows {
	t.Helper()
	var out rows
	upstreamtest.Import(t, "nws-observations", body, &out)
	return &out
}

// TestAllPages: pages are requested until there is no next one, or it is empty.
func TestAllPages(t *testing.T) {
	for _, ends := range []bool{true, false} {
		asked := 0
		c := client(t, func(base string, w http.ResponseWriter, r *http.Request) {
			asked++
			q := r.URL.Query()
			if r.URL.Path != "/stations/KLGA/observations" || q.Get("limit") != "500" || q.Get("start") != "2026-11-20T09:00:00Z" {
				t.Errorf("requested %s", r.URL)
			}
			at, _ := strconv.Atoi(q.Get("cursor"))
			next := leadsTo(fmt.Sprintf("%s%s?start=%s&limit=500&cursor=%d", base, r.URL.Path, q.Get("start"), at+2))
			switch {
			case at >= 6:
				say(w, next)
			case at == 4 && ends:
				say(w, "", observed("KLGA", at), observed("KLGA", at+1))
			default:
				say(w, next, observed("KLGA", at), observed("KLGA", at+1))
			}
		})
		got, err := c.Observations(t.Context(), "KLGA", since)
		if err != nil || got.Rows != 6 || !got.Fresh || asked != map[bool]int{true: 3, false: 4}[ends] {
			t.Fatalf("%v, %d rows, asked %d times", err, got.Rows, asked)
		}
		in := imported(t, got.Body)
		if want := "nyc KLGA 0.0|nyc KLGA 1.0|nyc KLGA 2.0|nyc KLGA 3.0|nyc KLGA 4.0|nyc KLGA 5.0"; strings.Join(in.said, "|") != want || len(in.Rejected) > 0 {
			t.Errorf("%v, rejected %v", in.said, in.Rejected)
		}
	}
}

// TestListsThatAreNone: a list that does not end, a list of another station, and a response without
// a list are refused.
func TestListsThatAreNone(t *testing.T) {
	var loop *pages.LoopError
	var foreign *pages.ForeignError
	var shape *pages.ShapeError
	for name, c := range map[string]struct {
		said func(base string, w http.ResponseWriter, r *http.Request)
		want any
	}{
		"the same page": {func(base string, w http.ResponseWriter, r *http.Request) {
			say(w, leadsTo(base+r.URL.String()), observed("KLGA", 1))
		}, &loop},
		"the same rows under other cursors": {func(base string, w http.ResponseWriter, r *http.Request) {
			at, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
			say(w, leadsTo(fmt.Sprintf("%s%s?cursor=%d", base, r.URL.Path, at+1)), observed("KLGA", 1))
		}, &loop},
		"no end": {func(base string, w http.ResponseWriter, r *http.Request) {
			at, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
			say(w, leadsTo(fmt.Sprintf("%s%s?cursor=%d", base, r.URL.Path, at+1)), observed("KLGA", at))
		}, &shape},
		"another station": {func(_ string, w http.ResponseWriter, _ *http.Request) { say(w, "", observed("KJFK", 1)) }, &foreign},
		"another list": {func(base string, w http.ResponseWriter, _ *http.Request) {
			say(w, leadsTo(base+"/stations/KJFK/observations?cursor=1"), observed("KLGA", 1))
		}, &shape},
		"no list": {func(_ string, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprint(w, `{"title":"Not Found"}`)
		}, &shape},
	} {
		got, err := client(t, c.said).Observations(t.Context(), "KLGA", since)
		if got.Body != nil || !errors.As(err, c.want) {
			t.Errorf("%s: %q, %v", name, got.Body, err)
		}
	}
	got, err := client(t, func(_ string, w http.ResponseWriter, _ *http.Request) { say(w, "") }).Observations(t.Context(), "KLGA", since)
	if err != nil || got.Body != nil || !got.Fresh {
		t.Errorf("an empty list: %q, %v", got.Body, err)
	}
}

// TestWhatWasKeptIsNotSentAgain, but only after Keep.
func TestWhatWasKeptIsNotSentAgain(t *testing.T) {
	c := client(t, func(_ string, w http.ResponseWriter, r *http.Request) {
		const at = "Fri, 20 Nov 2026 10:00:00 GMT"
		w.Header().Set("Last-Modified", at)
		if r.Header.Get("If-Modified-Since") == at {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		say(w, "", observed("KLGA", 1))
	})
	for i, fresh := range []bool{true, true, false} {
		got, err := c.Observations(t.Context(), "KLGA", since)
		if err != nil || got.Fresh != fresh || (got.Body != nil) != fresh {
			t.Errorf("%d: fresh %t, %q, %v", i, got.Fresh, got.Body, err)
		}
		if i == 1 {
			c.Keep(got)
		}
	}
	if got, err := c.Observations(t.Context(), "KLGA", since.Add(time.Hour)); err != nil || !got.Fresh {
		t.Error("of another time it is not known", err)
	}
}

// TestCapturedObservations reads responses of the service as if they were of a station of the desk;
// one has an observation without a value.
func TestCapturedObservations(t *testing.T) {
	for name, want := range map[string][2]int{"stations_observations_multiple.json": {2, 0}, "stations_observations_missing_value.json": {0, 1}} {
		b, err := os.ReadFile(testfiles.Captured(t, "G_live", "nws", name))
		if err != nil {
			t.Fatal(err)
		}
		b = regexp.MustCompile(`stations/[A-Z]{4}`).ReplaceAll(b, []byte("stations/KMIA"))
		c := client(t, func(_ string, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/geo+json")
			_, _ = w.Write(b)
		})
		got, err := c.Observations(t.Context(), "KMIA", since)
		if err != nil || got.Rows != want[0]+want[1] {
			t.Fatalf("%s: %v, %d rows", name, err, got.Rows)
		}
		if in := imported(t, got.Body); len(in.said) != want[0] || len(in.Rejected) != want[1] {
			t.Errorf("%s: %v, rejected %v", name, in.said, in.Rejected)
		}
	}
}
