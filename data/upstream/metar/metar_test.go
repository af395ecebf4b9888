package metar_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/data/upstream/metar"
	"pmx/data/upstream/pages"
	"pmx/data/upstream/upstreamtest"
)

// client returns a client of a server with the handler f.
func client(t *testing.T, f http.HandlerFunc) *metar.Client {
	t.Helper()
	return metar.New(upstreamtest.Host(t, "metar", f))
}

// report is a row of a station, minutes after midnight.
func report(station string, minute int) string {
	return fmt.Sprintf(`{"icaoId":%q,"receiptTime":"2026-11-20T23:59:00Z","obsTime":%d,"temp":%d,"metarType":"METAR","rawOb":"METAR %s 20%02d%02dZ 00000KT 9999 %02d/01 Q1010"}`,
		station, 1795132800+60*minute, minute%20, station, minute/60, minute%60, minute%20)
}

// rows is a sink of observations.
type rows struct {
	upstreamtest.Sink
	said []string
}

func (r *rows) Observation(_ int64, o data.Observation) error {
	r.said = append(r.said, fmt.Sprintf("%s %s %s %d", o.City, o.Station, o.Value.Text(data.Celsius), o.Correction))
	return nil
}

// imported reads a body with the detected feed.
func imported(t *testing.T, body []byte) *rows {
	t.Helper()
	var out rows
	upstreamtest.Import(t, "metar", body, &out)
	return &out
}

// TestOneRequestForAllStations: reports and their corrections are imported unchanged.
func TestOneRequestForAllStations(t *testing.T) {
	corrected := strings.Replace(report("KLGA", 60), "KLGA 20", "KLGA COR 20", 1)
	corrected = strings.Replace(corrected, `"METAR KLGA COR`, `"METAR COR KLGA`, 1)
	asked := 0
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		if want := "/api/data/metar?format=json&hours=3&ids=KLGA%2CEGLC%2CRJTT"; r.URL.String() != want {
			t.Errorf("requested %s, want %s", r.URL, want)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, "[%s,%s,%s]", report("KLGA", 60), report("EGLC", 50), corrected)
	})
	got, err := c.Reports(t.Context(), []string{"KLGA", "EGLC", "RJTT"}, 3)
	if err != nil || asked != 1 || !got.Fresh || !cmp.Equal(got.Rows, map[string]int{"KLGA": 2, "EGLC": 1}) {
		t.Fatalf("%v, asked %d times, %+v", err, asked, got.Rows)
	}
	in := imported(t, got.Body)
	if want := []string{"nyc KLGA 0.0 0", "london EGLC 10.0 0", "nyc KLGA 0.0 1"}; !cmp.Equal(in.said, want) || len(in.Rejected) > 0 {
		t.Errorf("%v, rejected %v", in.said, in.Rejected)
	}
}

// TestNoReports: there are several responses without reports.
func TestNoReports(t *testing.T) {
	for name, f := range map[string]http.HandlerFunc{
		"no content":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"an empty 200": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "application/json") },
		"an empty list": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprint(w, "[]")
		},
	} {
		got, err := client(t, f).Reports(t.Context(), []string{"KLGA"}, 3)
		if err != nil || got.Body != nil || !got.Fresh {
			t.Errorf("%s: %q, %v", name, got.Body, err)
		}
	}
}

// TestAnEmptyAnswerIsAskedForAgain: a single response without reports is not believed, nor is one
// for some of the stations if they are requested in parts.
func TestAnEmptyAnswerIsAskedForAgain(t *testing.T) {
	for empty := range 2 {
		asked := 0
		c := client(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if asked++; asked > empty+1 {
				_, _ = fmt.Fprintf(w, "[%s]", report("KLGA", 60))
			}
		})
		if got, err := c.Reports(t.Context(), []string{"KLGA"}, 3); err != nil || got.Rows["KLGA"] != 1 || asked != empty+2 {
			t.Errorf("%d empty answers: asked %d times, %+v: %v", empty+1, asked, got.Rows, err)
		}
	}
}

// TestWhatWasKeptIsNotSentAgain, but only after Keep, and until there is something new.
func TestWhatWasKeptIsNotSentAgain(t *testing.T) {
	tag := `"one"`
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, "[%s]", report("KLGA", 60))
	})
	ask := func(fresh bool) {
		t.Helper()
		got, err := c.Reports(t.Context(), []string{"KLGA"}, 3)
		if err != nil || got.Fresh != fresh || (got.Body != nil) != fresh {
			t.Fatalf("fresh %t, %q, %v", got.Fresh, got.Body, err)
		}
		if fresh {
			defer c.Keep(got)
		}
	}
	if first, err := c.Reports(t.Context(), []string{"KLGA"}, 3); err != nil || !first.Fresh {
		t.Fatal(first, err) // and it is lost
	}
	ask(true)
	ask(false)
	tag = `"two"`
	ask(true)
	ask(false)
}

// TestFullAnswersAreAskedInParts: the service does not say that it omits rows.
func TestFullAnswersAreAskedInParts(t *testing.T) {
	const most = 400
	var longest int
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		var list []string
		ids := strings.Split(r.URL.Query().Get("ids"), ",")
		longest = max(longest, len(ids))
		for _, id := range ids {
			for n := range map[string]int{"KLGA": 300, "EGLC": 300, "KORD": 150, "RJTT": 1000}[id] {
				list = append(list, report(id, n))
			}
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, "[%s]", strings.Join(list[:min(len(list), most)], ","))
	})
	got, err := c.Reports(t.Context(), []string{"KLGA", "EGLC", "KORD", "RJTT"}, 1000)
	if err != nil || longest != 4 {
		t.Fatal(err)
	}
	if want := map[string]int{"KLGA": 300, "EGLC": 300, "KORD": 150, "RJTT": most}; !cmp.Equal(got.Rows, want) || !slices.Equal(got.Cut, []string{"RJTT"}) {
		t.Errorf("%v, cut %v", got.Rows, got.Cut)
	}
	if in := imported(t, got.Body); len(in.said) != 750+most {
		t.Errorf("%d observations, rejected %v", len(in.said), in.Rejected)
	}
}

// TestReportsOfOthers: a response with a report that was not requested is refused as a whole.
func TestReportsOfOthers(t *testing.T) {
	var foreign *pages.ForeignError
	var shape *pages.ShapeError
	for said, want := range map[string]any{"[" + report("KLGA", 1) + "," + report("KJFK", 1) + "]": &foreign, `{"status":"error"}`: &shape, `[{"obsTime":1}]`: &shape} {
		c := client(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprint(w, said)
		})
		if got, err := c.Reports(t.Context(), []string{"KLGA"}, 3); got.Body != nil || !errors.As(err, want) {
			t.Errorf("%s: %q, %v", said, got.Body, err)
		}
	}
}

// TestCapturedReports reads captured rows of the service.
func TestCapturedReports(t *testing.T) {
	b, err := os.ReadFile(testfiles.Captured(t, "G_live", "metar", "aviationweather_metar_rows.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(b, &list); err != nil || len(list) == 0 {
		t.Fatal(err)
	}
	c := client(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(b)
	})
	got, err := c.Reports(t.Context(), []string{"KLGA", "RKSI"}, 3)
	if err != nil {
		t.Fatal(err)
	}
	if in := imported(t, got.Body); len(in.said) != len(list) || len(in.Rejected) > 0 {
		t.Errorf("%v of %d, rejected %v", in.said, len(list), in.Rejected)
	}
}
