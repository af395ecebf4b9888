package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/data/reference"
	"pmx/data/sample"
	"pmx/data/upstream/metar"
	"pmx/data/upstream/nws"
	"pmx/data/upstream/openmeteo"
	"pmx/data/upstream/pages"
)

// savedResponse is a response of Open-Meteo, from a file or from the server.
type savedResponse struct {
	Meta struct {
		Kind, City string
		FetchedAt  time.Time `json:"fetched_at_utc"`
	} `json:"_meta"`
	Response map[string]any
}

func readResponses(t *testing.T, text []byte) (list []savedResponse) {
	t.Helper()
	for line := range strings.Lines(string(text)) {
		var a savedResponse
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	return list
}

func located(t *testing.T) []data.City {
	t.Helper()
	cities := reference.Cities()
	for i, c := range cities {
		var err error
		if cities[i], err = c.Located(); err != nil {
			t.Fatal(err)
		}
	}
	return cities
}

func weatherClient(t *testing.T, s *Server, url string) *openmeteo.Client {
	t.Helper()
	hosts := map[openmeteo.Service]pages.Asker{}
	for service, path := range map[openmeteo.Service]string{openmeteo.Forecast: "", openmeteo.Ensemble: "/ensemble", openmeteo.Archive: "/archive", openmeteo.PreviousRuns: "/previous"} {
		hosts[service] = host(t, url+"/openmeteo"+path)
	}
	return openmeteo.New(hosts, s.Clock().Now)
}

// TestWeatherIsThatOfTheFiles checks that the answers at the times of the files are the ones in the
// files.
func TestWeatherIsThatOfTheFiles(t *testing.T) {
	cfg := sample.Config{Fills: 6000, Seed: 3, Chain: true}
	dir := t.TempDir()
	if _, err := sample.Write(t.Context(), cfg, dir, nil); err != nil {
		t.Fatal(err)
	}
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	s, url := startServer(t, Options{Venue: venue(t, cfg)})
	c := weatherClient(t, s, url)
	cities := located(t)
	ask := func(q openmeteo.Query, at time.Time) []savedResponse {
		t.Helper()
		s.Clock().Set(at)
		q.Cities = cities
		b, err := c.Ask(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return readResponses(t, b)
	}
	compared := map[string]int{}
	for list := slices.Concat(readResponses(t, read("openmeteo-forecasts.ndjson")), readResponses(t, read("openmeteo-archive.ndjson"))); len(list) > 0; list = list[len(cities):] {
		first := list[0]
		q := openmeteo.Query{Service: openmeteo.Forecast, Days: 4, Models: []string{"gfs_seamless", "ecmwf_ifs025", "icon_seamless"}}
		switch first.Meta.Kind {
		case "ensemble":
			q = openmeteo.Query{Service: openmeteo.Ensemble, Days: 3, Models: []string{"ecmwf_ifs025"}}
		case "weather-archive":
			if len(list) < len(cities) { // the years before 2021, for some cities
				if n := checkHistory(t, list, cities, ask); n < 20 {
					t.Errorf("%d cities have a history", n)
				}
				list = make([]savedResponse, len(cities))
				continue
			}
			q = openmeteo.Query{Service: openmeteo.Archive}
		}
		for i := 0; i < len(cities); i += 11 { // only some: each is a request for all cities
			want := list[i]
			if q.Service == openmeteo.Archive { // days in the city's own time zone
				days := want.Response["daily"].(map[string]any)["time"].([]any)
				q.From, _ = data.ParseDate(days[0].(string))
				q.To, _ = data.ParseDate(days[len(days)-1].(string))
			}
			if diff := cmp.Diff(want.Response, ask(q, want.Meta.FetchedAt)[i].Response); diff != "" {
				t.Fatalf("%s at %v: diff = %s", want.Meta.City, want.Meta.FetchedAt, diff)
			}
			compared[first.Meta.Kind]++
		}
	}
	if compared["weather-forecast"] < 20 || compared["ensemble"] < 5 || compared["weather-archive"] < 10 {
		t.Errorf("compared = %v", compared)
	}
	checkReports(t, s, url, read("metar.ndjson"))
}

// checkHistory compares the years before 2021 of some cities.
func checkHistory(t *testing.T, list []savedResponse, cities []data.City, ask func(openmeteo.Query, time.Time) []savedResponse) (n int) {
	t.Helper()
	all := ask(openmeteo.Query{Service: openmeteo.Archive, From: data.DateFrom(1991, 1, 1), To: data.DateFrom(2020, 12, 31)}, list[0].Meta.FetchedAt)
	column := func(a savedResponse, name string) (values []any) {
		return a.Response["daily"].(map[string]any)[name].([]any)
	}
	for _, want := range list {
		i := slices.IndexFunc(cities, func(c data.City) bool { return c.Title == want.Meta.City })
		for _, name := range []string{"temperature_2m_max", "temperature_2m_min"} {
			values := map[any]any{}
			for k, day := range column(all[i], "time") {
				values[day] = column(all[i], name)[k]
			}
			for k, day := range column(want, "time") {
				if values[day] != column(want, name)[k] {
					t.Fatalf("%s on %v: %v, want %v", want.Meta.City, day, values[day], column(want, name)[k])
				}
			}
		}
		n++
	}
	return n
}

// checkReports compares the reports of two days.
func checkReports(t *testing.T, s *Server, url string, file []byte) {
	t.Helper()
	want := map[string]bool{}
	stations := map[string]bool{}
	for line := range strings.Lines(string(file)) {
		want[strings.TrimSpace(line)] = true
		var row struct{ IcaoID string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		stations[row.IcaoID] = true
	}
	end := s.Venue().Manifest.End
	s.Clock().Set(end.Add(-time.Minute)) // reports of the previous hour have been received by then
	c := metar.New(host(t, url+"/metar"))
	var ids []string
	for id := range stations {
		ids = append(ids, id)
	}
	got, err := c.Reports(t.Context(), ids, 48)
	if err != nil {
		t.Fatal(err)
	}
	var rows []json.RawMessage
	if err := json.Unmarshal(got.Body, &rows); err != nil {
		t.Fatal(err)
	}
	for _, raw := range rows {
		delete(want, string(raw))
	}
	if len(rows) < 40*len(ids) || len(want) > len(ids) { // for some stations the first and last reports are outside the hours
		t.Errorf("%d reports, %d of the file are missing", len(rows), len(want))
	}
	few, err := c.Reports(t.Context(), ids[:2], 3)
	if err != nil || !few.Fresh {
		t.Fatalf("%+v: %v", few.Rows, err)
	}
	c.Keep(few)
	if again, err := c.Reports(t.Context(), ids[:2], 3); err != nil || again.Fresh {
		t.Errorf("%+v: %v", again.Rows, err)
	}
	o, err := nws.New(host(t, url+"/nws")).Observations(t.Context(), "KLGA", end.Add(-30*24*time.Hour))
	if err != nil || o.Rows < 700 || !bytes.Contains(o.Body, []byte(`"timestamp":"`+end.AddDate(0, 0, -1).Format("2006-01-02"))) {
		t.Errorf("%d observations: %v", o.Rows, err)
	}
}

// TestRunsComeWithTheClock checks that a forecast changes exactly when a run becomes available, and
// that the metadata say so.
func TestRunsComeWithTheClock(t *testing.T) {
	s, url := startServer(t, Options{})
	end := s.Venue().Manifest.End
	c := weatherClient(t, s, url)
	ask := func(at time.Time) (string, openmeteo.Run) {
		t.Helper()
		s.Clock().Set(at)
		b, err := c.Ask(t.Context(), openmeteo.Query{Service: openmeteo.Forecast, Cities: located(t)[:5], Days: 3})
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.LastRun(t.Context(), "gfs_seamless")
		if err != nil || r.Available.After(at) || r.Begun.After(r.Available) {
			t.Errorf("%+v at %v: %v", r, at, err)
		}
		list := readResponses(t, b)
		text, err := json.Marshal(list[0].Response)
		if err != nil {
			t.Fatal(err)
		}
		return string(text), r
	}
	one, run := ask(end.Add(31 * time.Minute))
	same, still := ask(end.Add(90 * time.Minute))
	other, next := ask(end.Add(12*time.Hour + 31*time.Minute))
	if one != same || run != still || one == other || next.Available.Sub(run.Available) != 12*time.Hour {
		t.Errorf("run = %v, still = %v, next = %v", run, still, next)
	}
	b, err := c.Ask(t.Context(), openmeteo.Query{Service: openmeteo.PreviousRuns, Cities: located(t)[:1], Previous: 3})
	if err != nil {
		t.Fatal(err)
	}
	hourly := readResponses(t, b)[0].Response["hourly"].(map[string]any)
	if len(hourly) != 4 || len(hourly["time"].([]any)) != 72 || len(hourly["temperature_2m_previous_day3"].([]any)) != 72 {
		t.Errorf("hourly = %v", hourly)
	}
	var refused *openmeteo.RefusedError
	_, err = c.Ask(t.Context(), openmeteo.Query{Service: openmeteo.Forecast, Cities: located(t)[:2], Days: 3, Models: []string{"bogus_model"}})
	if !errors.As(err, &refused) || !strings.Contains(refused.Reason, "bogus_model") {
		t.Error(err)
	}
}

// TestWeatherFaults checks that the clients detect the faults that can be detected.
func TestWeatherFaults(t *testing.T) {
	s, url := startServer(t, Options{Venue: venue(t, sample.Config{Fills: 300, Seed: 3, Chain: true})})
	c := weatherClient(t, s, url)
	reports, seen := metar.New(host(t, url+"/metar")), nws.New(host(t, url+"/nws"))
	var foreign *pages.ForeignError
	var shape *pages.ShapeError
	var refused *openmeteo.RefusedError
	var empty *openmeteo.EmptyError
	ask := func() ([]byte, error) {
		return c.Ask(t.Context(), openmeteo.Query{Service: openmeteo.Forecast, Cities: located(t)[:5], Days: 3})
	}
	plain, err := reports.Reports(t.Context(), []string{"EGLC", "KLGA"}, 3)
	if err != nil || plain.Rows["EGLC"] != 3 {
		t.Fatalf("%+v: %v", plain.Rows, err)
	}
	for name, fits := range map[string]func() bool{
		"places-fewer": func() bool { _, err := ask(); return errors.As(err, &shape) },
		"places-order": func() bool { _, err := ask(); return errors.As(err, &foreign) },
		"values-null": func() bool {
			b, err := ask()
			return errors.As(err, &empty) && bytes.Contains(b, []byte("null,null,null"))
		},
		"refused":    func() bool { _, err := ask(); return errors.As(err, &refused) },
		"run-unsaid": func() bool { _, err := c.LastRun(t.Context(), "gfs_seamless"); return errors.As(err, &shape) },
		"reports-late": func() bool {
			r, err := reports.Reports(t.Context(), []string{"EGLC"}, 3)
			return err == nil && r.Rows["EGLC"] < 3 && r.Rows["EGLC"] > 0
		},
		"reports-foreign": func() bool {
			_, err := reports.Reports(t.Context(), []string{"EGLC"}, 3)
			return errors.As(err, &foreign)
		},
		"reports-none": func() bool {
			r, err := reports.Reports(t.Context(), []string{"EGLC"}, 3)
			return err == nil && r.Body == nil
		},
		"temperature-null": func() bool {
			o, err := seen.Observations(t.Context(), "KLGA", s.Clock().Now().Add(-5*time.Hour))
			return err == nil && bytes.Contains(o.Body, []byte(`"value":null`)) && bytes.Contains(o.Body, []byte("RMK AO2 T"))
		},
		"observations-foreign": func() bool {
			_, err := seen.Observations(t.Context(), "KLGA", s.Clock().Now().Add(-5*time.Hour))
			return errors.As(err, &foreign)
		},
	} {
		i := slices.IndexFunc(weatherFaults, func(k Kind) bool { return k.Name == name })
		of := weatherFaults[i].Of
		if err := s.SetFaults(of, Faults{Names: []string{name}, Rate: 1}); err != nil {
			t.Fatal(err)
		}
		if !fits() {
			t.Errorf("%s has no effect", name)
		}
		if err := s.SetFaults(of, Faults{}); err != nil {
			t.Fatal(err)
		}
	}
	if status := get(t, url+"/nws/stations/EGLC/observations", nil); status != http.StatusNotFound {
		t.Errorf("an English station: %d", status)
	}
}
