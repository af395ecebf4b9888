package openmeteo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/data/reference"
	"pmx/data/testfiles"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/openmeteo"
	"pmx/data/upstream/pages"
	"pmx/data/upstream/upstreamtest"
)

var noon = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)

// client returns a client of a server with the handler f for all services.
func client(t *testing.T, f http.HandlerFunc) *openmeteo.Client {
	t.Helper()
	hosts := map[openmeteo.Service]pages.Asker{}
	for _, service := range []openmeteo.Service{openmeteo.Forecast, openmeteo.Ensemble, openmeteo.Archive, openmeteo.PreviousRuns} {
		hosts[service] = upstreamtest.Host(t, "open-meteo "+string(service), f)
	}
	return openmeteo.New(hosts, func() time.Time { return noon })
}

// cities returns cities of the built-in table by their slugs.
func cities(t *testing.T, slugs ...string) (out []data.City) {
	t.Helper()
	for _, slug := range slugs {
		c, ok := reference.CityBySlug(slug)
		if !ok {
			t.Fatal(slug)
		}
		out = append(out, c)
	}
	return out
}

// place is a response for a city: a day of two hours, or days, with values near base.
func place(c data.City, q url.Values, base float64) map[string]any {
	at, err := c.Location()
	if err != nil {
		panic(err)
	}
	_, offset := noon.In(at).Zone()
	a := map[string]any{"latitude": c.Lat + 0.05, "longitude": c.Lon - 0.05, "utc_offset_seconds": offset, "timezone": c.Zone}
	days := []string{"2026-11-18", "2026-11-19"}
	if q.Get("forecast_days") != "" {
		days = []string{"2026-11-21", "2026-11-22"}
	}
	models := strings.Split(q.Get("models"), ",")
	if daily := q.Get("daily"); daily != "" {
		values, units := map[string]any{"time": days}, map[string]any{"time": "iso8601"}
		for i, name := range strings.Split(daily, ",") {
			for _, m := range models {
				key := name
				if len(models) > 1 {
					key += "_" + m
				}
				for member := range map[bool]int{true: 3, false: 1}[strings.Contains(q.Get("models"), "ensemble")] {
					k := key
					if member > 0 {
						k = strings.Replace(key, name, fmt.Sprintf("%s_member%02d", name, member), 1)
					}
					values[k], units[k] = []float64{base - float64(i), base + 1 + float64(member)}, "°C"
				}
			}
		}
		a["daily"], a["daily_units"] = values, units
	}
	if hourly := q.Get("hourly"); hourly != "" {
		start, _ := c.Day(data.DateOf(noon) - 1)
		var times []string
		var hours []float64
		for h := range 24 {
			times = append(times, start.Add(time.Duration(h)*time.Hour).In(time.FixedZone("", offset)).Format("2006-01-02T15:04"))
			hours = append(hours, base+float64(h)/10)
		}
		values, units := map[string]any{"time": times}, map[string]any{"time": "iso8601"}
		for _, name := range strings.Split(hourly, ",") {
			values[name], units[name] = hours, "°C"
		}
		a["hourly"], a["hourly_units"] = values, units
	}
	return a
}

func say(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v)
}

// rows is a sink of rows of the weather.
type rows struct {
	upstreamtest.Sink
	said []string
}

func (r *rows) Forecast(_ int64, f data.Forecast) error {
	r.said = append(r.said, fmt.Sprintf("%s %s %s %s %s members %d", f.City, f.Target, f.Metric, f.Source, f.Value.Text(data.Celsius), len(f.Members)))
	return nil
}

func (r *rows) Actual(_ int64, a data.Actual) error {
	r.said = append(r.said, fmt.Sprintf("%s %s %s %s %s provisional %t", a.City, a.Day, a.Metric, a.Source, a.Value.Text(data.Celsius), a.Provisional != nil && *a.Provisional))
	return nil
}

// imported reads a body with the detected feed, like an import of a file.
func imported(t *testing.T, body []byte) *rows {
	t.Helper()
	var out rows
	upstreamtest.Import(t, "openmeteo", body, &out)
	return &out
}

// TestOneRequestForAllCities: one request is sent to each service, and each value is imported with
// its kind and city.
func TestOneRequestForAllCities(t *testing.T) {
	all := cities(t, "london", "nyc", "tokyo")
	for _, c := range []struct {
		query openmeteo.Query
		path  string
		asked map[string]string
		want  []string
	}{
		{openmeteo.Query{Service: openmeteo.Forecast, Cities: all, Models: []string{"ecmwf_ifs025", "gfs_seamless"}, Days: 7}, "/v1/forecast",
			map[string]string{"models": "ecmwf_ifs025,gfs_seamless", "forecast_days": "7", "daily": "temperature_2m_max,temperature_2m_min",
				"timezone": "Europe/London,America/New_York,Asia/Tokyo"},
			[]string{"london 2026-11-21 tmax ecmwf_ifs025 10.0 members 0", "nyc 2026-11-22 tmin gfs_seamless 21.0 members 0", "tokyo 2026-11-22 tmax gfs_seamless 31.0 members 0"}},
		{openmeteo.Query{Service: openmeteo.Ensemble, Cities: all[:2], Models: []string{"ecmwf_ifs025_ensemble"}, Days: 7}, "/v1/ensemble",
			map[string]string{"models": "ecmwf_ifs025_ensemble"},
			[]string{"london 2026-11-21 tmax ecmwf_ifs025_ensemble 10.0 members 3", "nyc 2026-11-22 tmin ecmwf_ifs025_ensemble 22.0 members 3"}},
		{openmeteo.Query{Service: openmeteo.Archive, Cities: all, From: 20775, To: 20776}, "/v1/archive",
			map[string]string{"start_date": "2026-11-18", "end_date": "2026-11-19", "forecast_days": "", "models": ""},
			[]string{"london 2026-11-18 tmax archive_best_match 10.0 provisional true", "tokyo 2026-11-19 tmin archive_best_match 31.0 provisional true"}},
		{openmeteo.Query{Service: openmeteo.PreviousRuns, Cities: all[1:2], Models: []string{"gfs_seamless"}, Previous: 2}, "/v1/forecast",
			map[string]string{"hourly": "temperature_2m_previous_day1,temperature_2m_previous_day2", "past_days": "2", "forecast_days": "1"},
			[]string{"nyc 2026-11-19 tmax previous:gfs_seamless 12.3 members 0", "nyc 2026-11-19 tmin previous:gfs_seamless 10.0 members 0"}},
	} {
		asked := 0
		o := client(t, func(w http.ResponseWriter, r *http.Request) {
			asked++
			q := r.URL.Query()
			for name, want := range c.asked {
				if q.Get(name) != want {
					t.Errorf("%s: %s is %q, want %q", c.query.Service, name, q.Get(name), want)
				}
			}
			if lats := strings.Split(q.Get("latitude"), ","); r.URL.Path != c.path || len(lats) != len(c.query.Cities) {
				t.Errorf("%s requested %s", c.query.Service, r.URL)
			}
			list := make([]any, len(c.query.Cities))
			for i, city := range c.query.Cities {
				list[i] = place(city, q, float64(10*i+10))
			}
			if len(list) == 1 {
				say(w, 200, list[0])
				return
			}
			say(w, 200, list)
		})
		body, err := o.Ask(t.Context(), c.query)
		if err != nil || asked != 1 {
			t.Fatalf("%s: %v, asked %d times", c.query.Service, err, asked)
		}
		got := imported(t, body)
		if len(got.Rejected) > 0 {
			t.Errorf("%s: %v", c.query.Service, got.Rejected)
		}
		for _, want := range c.want {
			if !strings.Contains("\n"+strings.Join(got.said, "\n")+"\n", "\n"+want+"\n") {
				t.Errorf("%s: no %q in\n%s", c.query.Service, want, strings.Join(got.said, "\n"))
			}
		}
	}
}

// TestAnswersToOtherQuestions: a response that does not fit the query is refused as a whole.
func TestAnswersToOtherQuestions(t *testing.T) {
	all := cities(t, "london", "nyc")
	bad := map[string]any{"error": true, "reason": "Cannot initialize from invalid String value bogus."}
	var shape *pages.ShapeError
	var foreign *pages.ForeignError
	var refused *openmeteo.RefusedError
	for name, c := range map[string]struct {
		code int
		said func(q url.Values) any
		want any
	}{
		"one response for two places": {200, func(q url.Values) any { return place(all[0], q, 1) }, &shape},
		"too few":                     {200, func(q url.Values) any { return []any{place(all[0], q, 1)} }, &shape},
		"another order":               {200, func(q url.Values) any { return []any{place(all[1], q, 1), place(all[0], q, 1)} }, &foreign},
		"no place":                    {200, func(url.Values) any { return []any{map[string]any{"latitude": 1}, map[string]any{}} }, &shape},
		"a refusal":                   {400, func(url.Values) any { return bad }, &refused},
		"a refusal in the list":       {200, func(q url.Values) any { return []any{place(all[0], q, 1), bad} }, &refused},
		"a refusal that says 200":     {200, func(url.Values) any { return bad }, &shape},
	} {
		o := client(t, func(w http.ResponseWriter, r *http.Request) { say(w, c.code, c.said(r.URL.Query())) })
		body, err := o.Ask(t.Context(), openmeteo.Query{Service: openmeteo.Forecast, Cities: all, Days: 3})
		if body != nil || !errors.As(err, c.want) {
			t.Errorf("%s: %q, %v", name, body, err)
		}
	}
	none := openmeteo.New(nil, nil)
	if _, err := none.Ask(context.Background(), openmeteo.Query{Service: openmeteo.Archive}); !errors.Is(err, openmeteo.ErrNoHost) {
		t.Error(err)
	}
	if _, err := none.LastRun(context.Background(), "dwd_icon"); !errors.Is(err, openmeteo.ErrNoHost) {
		t.Error(err)
	}
}

// TestAnAnswerOfNulls: if half of the places have no value, that is reported together with the
// responses; a column of nulls, or one of many places without values, is not.
func TestAnAnswerOfNulls(t *testing.T) {
	all := cities(t, "london", "nyc", "tokyo")
	for name, c := range map[string]struct {
		nulls map[int]int // columns of a place that are null, by its number
		empty []string
	}{
		"none": {nil, nil}, "a column": {map[int]int{0: 1, 1: 1, 2: 1}, nil}, "one of three": {map[int]int{2: 2}, nil},
		"two of three": {map[int]int{0: 2, 2: 2}, []string{"london", "tokyo"}}, "all": {map[int]int{0: 2, 1: 2, 2: 2}, []string{"london", "nyc", "tokyo"}},
	} {
		for _, service := range []openmeteo.Service{openmeteo.Forecast, openmeteo.PreviousRuns} {
			o := client(t, func(w http.ResponseWriter, r *http.Request) {
				var list []any
				for i, city := range all {
					a := place(city, r.URL.Query(), 10)
					for _, table := range []string{"daily", "hourly"} {
						columns, _ := a[table].(map[string]any)
						left := c.nulls[i]
						for _, key := range slices.Sorted(maps.Keys(columns)) {
							if key != "time" && left > 0 {
								columns[key], left = make([]any, len(columns["time"].([]string))), left-1
							}
						}
					}
					list = append(list, a)
				}
				say(w, 200, list)
			})
			body, err := o.Ask(t.Context(), openmeteo.Query{Service: service, Cities: all, Models: []string{"gfs_seamless"}, Days: 2, Previous: 2})
			var empty *openmeteo.EmptyError
			if errors.As(err, &empty) != (c.empty != nil) || c.empty == nil && err != nil || c.empty != nil && !cmp.Equal(empty.Cities, c.empty) ||
				bytes.Count(body, []byte{'\n'}) != len(all) {
				t.Errorf("%s, %s: %v, %d lines", service, name, err, bytes.Count(body, []byte{'\n'}))
			}
		}
	}
}

// TestCapturedRefusal: the service's error is recognised as one.
func TestCapturedRefusal(t *testing.T) {
	b, err := os.ReadFile(testfiles.Captured(t, "G_live", "openmeteo", "openmeteo_error_bad_model.json"))
	if err != nil {
		t.Fatal(err)
	}
	o := client(t, func(w http.ResponseWriter, _ *http.Request) { say(w, 400, json.RawMessage(b)) })
	var refused *openmeteo.RefusedError
	if _, err := o.Ask(t.Context(), openmeteo.Query{Service: openmeteo.Forecast, Cities: cities(t, "nyc")}); !errors.As(err, &refused) ||
		!strings.Contains(refused.Reason, "bogus_model_xyz") {
		t.Error(err)
	}
}

// TestCapturedForecast: a captured response is imported with its models.
func TestCapturedForecast(t *testing.T) {
	b, err := os.ReadFile(testfiles.Captured(t, "G_live", "openmeteo", "openmeteo_forecast_multimodel_chicago_2026-07-08.json"))
	if err != nil {
		t.Fatal(err)
	}
	// It was requested for the middle of the city, which is not in the station's cell.
	b = bytes.Replace(b, []byte(`"latitude":41.75`), []byte(`"latitude":42`), 1)
	o := client(t, func(w http.ResponseWriter, _ *http.Request) { say(w, 200, json.RawMessage(b)) })
	models := []string{"ecmwf_ifs025", "gfs_seamless", "icon_seamless"}
	body, err := o.Ask(t.Context(), openmeteo.Query{Service: openmeteo.Forecast, Cities: cities(t, "chicago"), Models: models, Days: 7})
	if err != nil {
		t.Fatal(err)
	}
	got := imported(t, body)
	if len(got.said) != 21 || len(got.Rejected) > 0 {
		t.Errorf("%d rows, rejected %v", len(got.said), got.Rejected)
	}
}

// TestLastRun: the times of a model's newest run are read, and no other response is accepted.
func TestLastRun(t *testing.T) {
	said := `{"last_run_initialisation_time":1795147200,"last_run_availability_time":1795170000,"update_interval_seconds":21600}`
	o := client(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/data/dwd_icon/static/meta.json" {
			http.NotFound(w, r)
			return
		}
		say(w, 200, json.RawMessage(said))
	})
	want := openmeteo.Run{Begun: time.Unix(1795147200, 0).UTC(), Available: time.Unix(1795170000, 0).UTC()}
	if got, err := o.LastRun(t.Context(), "dwd_icon"); err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	var status *fetch.StatusError
	if _, err := o.LastRun(t.Context(), "no_model"); !errors.As(err, &status) || status.Code != 404 {
		t.Error(err)
	}
	for _, said = range []string{`{}`, `[]`, `{"last_run_initialisation_time":1795147200}`} {
		var shape *pages.ShapeError
		if _, err := o.LastRun(t.Context(), "dwd_icon"); !errors.As(err, &shape) {
			t.Errorf("%s: %v", said, err)
		}
	}
}

// TestWeight tests the weights of queries.
func TestWeight(t *testing.T) {
	all := reference.Cities()
	five := []string{"a", "b", "c", "d", "e"}
	for _, c := range []struct {
		query openmeteo.Query
		each  float64
	}{
		{openmeteo.Query{Service: openmeteo.Forecast, Cities: all, Days: 7}, 1},
		{openmeteo.Query{Service: openmeteo.Forecast, Cities: all, Models: five, Days: 7}, 1},
		{openmeteo.Query{Service: openmeteo.Forecast, Cities: all, Models: append(five, five...), Days: 7}, 2},
		{openmeteo.Query{Service: openmeteo.Forecast, Cities: all, Models: five, Days: 28}, 2},
		{openmeteo.Query{Service: openmeteo.Archive, Cities: all[:1], From: 1, To: 280}, 4},
		{openmeteo.Query{Service: openmeteo.PreviousRuns, Cities: all, Models: five, Previous: 5}, 2.5},
	} {
		if got := c.query.Weight(); got != c.each*float64(len(c.query.Cities)) {
			t.Errorf("%+v: %g, want %g a place", c.query.Service, got, c.each)
		}
	}
}

// TestBudget: the day's weight is not exceeded, not even after a restart.
func TestBudget(t *testing.T) {
	b := openmeteo.Budget{Most: 100}
	var spent *openmeteo.SpentError
	for _, c := range []struct {
		at           time.Time
		weight, keep float64
		left         float64 // −1: refused
	}{
		{noon, 60, 0, 40}, {noon, 41, 0, -1}, {noon, 40, 1, -1}, {noon, 30, 10, 10}, {noon.Add(-48 * time.Hour), 11, 0, -1}, {noon.Add(11 * time.Hour), 10, 0, 0},
		{noon.Add(12 * time.Hour), 99, 0, 1}, {noon, 2, 0, -1},
	} {
		err := b.Take(c.at, c.weight, c.keep)
		if refused := errors.As(err, &spent); refused != (c.left < 0) || !refused && (err != nil || b.Left(c.at) != c.left) {
			t.Errorf("%g at %s: %v, %g left", c.weight, c.at, err, b.Left(c.at))
		} else if refused && !spent.Until.After(c.at) {
			t.Errorf("%g at %s: until %s", c.weight, c.at, spent.Until)
		}
		again := openmeteo.Budget{Most: 100}
		again.Restore(b.Spent())
		b = again
	}
}
