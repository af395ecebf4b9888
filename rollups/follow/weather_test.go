package follow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/data/reference"
	"pmx/data/testfiles"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/metar"
	"pmx/data/upstream/nws"
	"pmx/data/upstream/openmeteo"
	"pmx/data/upstream/pages"
	"pmx/rollups/follow"
)

// morning is when the weather of the tests begins.
var morning = time.Date(2026, time.November, 16, 0, 0, 0, 0, time.UTC)

// sky is a server that simulates every source of the weather, with a clock that advances when
// somebody waits.
type sky struct {
	t      *testing.T
	server *httptest.Server
	cities []data.City

	mu    sync.Mutex
	now   time.Time
	until time.Time // when the lane is stopped
	stop  context.CancelFunc
	asked map[string][]time.Time // by what was asked for
	query map[string]url.Values  // the last one
	said  map[string][]string    // reports of METAR and NWS, joined by commas
	fault func(what string) http.HandlerFunc
	begun func(model string, now time.Time) time.Time // of its newest run
}

// newSky simulates the weather of the first n cities of the desk.
func newSky(t *testing.T, n int) *sky {
	t.Helper()
	s := &sky{t: t, cities: reference.Cities()[:n], now: morning, asked: map[string][]time.Time{}, query: map[string]url.Values{}, said: map[string][]string{}}
	s.begun = func(_ string, now time.Time) time.Time { return now.Add(-5 * time.Hour).Truncate(6 * time.Hour) }
	s.server = httptest.NewServer(s)
	t.Cleanup(s.server.Close)
	return s
}

func (s *sky) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// sleep advances the clock, and stops the lane at the end.
func (s *sky) sleep(ctx context.Context, d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
	if s.stop != nil && !s.now.Before(s.until) {
		s.stop()
		return context.Canceled
	}
	return ctx.Err()
}

// ServeHTTP responds like the sources. Values of the weather follow from hour and place.
func (s *sky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	what := strings.Split(strings.Trim(r.URL.Path, "/"), "/")[0]
	if strings.HasSuffix(r.URL.Path, "/meta.json") {
		what = "meta"
	} else if what == "nws" {
		what = "nws " + strings.Split(r.URL.Path, "/")[3]
	}
	now := s.clock()
	s.mu.Lock()
	s.asked[what] = append(s.asked[what], now)
	q := r.URL.Query()
	s.query[what] = q
	fault := s.fault
	s.mu.Unlock()
	if fault != nil {
		if f := fault(what); f != nil {
			f(w, r)
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case what == "meta":
		model := strings.Split(r.URL.Path, "/")[3]
		run := s.begun(model, now)
		_, _ = fmt.Fprintf(w, `{"last_run_initialisation_time":%d,"last_run_availability_time":%d}`, run.Unix(), run.Add(4*time.Hour).Unix())
	case what == "metar":
		s.reports(w, r, now, q)
	case strings.HasPrefix(what, "nws"):
		s.observations(w, what[4:], now, q)
	default:
		var list []any
		for _, c := range s.cities {
			list = append(list, s.place(c, now, what, q))
		}
		_ = json.NewEncoder(w).Encode(list)
	}
}

// degrees returns the temperature of a place at an hour.
func degrees(c data.City, at time.Time) float64 {
	return float64(int64(c.Lat)%20) + float64(at.Unix()/3600%24)/4
}

func (s *sky) place(c data.City, now time.Time, what string, q url.Values) any {
	at, _ := c.Location()
	_, offset := now.In(at).Zone()
	a := map[string]any{"latitude": c.Lat, "longitude": c.Lon, "utc_offset_seconds": offset, "timezone": c.Zone}
	from, to := c.DateOf(now), c.DateOf(now)+6
	switch what {
	case "archive":
		for _, d := range []struct {
			into *data.Date
			name string
		}{{&from, "start_date"}, {&to, "end_date"}} {
			day, err := time.Parse(time.DateOnly, q.Get(d.name))
			if err != nil {
				s.t.Error(err)
			}
			*d.into = data.DateOf(day)
		}
	case "previous":
		start, end := c.Day(from - 2)
		times, hours := []string{}, []float64{}
		for h := start; h.Before(end); h = h.Add(time.Hour) {
			times, hours = append(times, h.In(time.FixedZone("", offset)).Format("2006-01-02T15:04")), append(hours, degrees(c, h))
		}
		values, units := map[string]any{"time": times}, map[string]any{}
		for _, name := range strings.Split(q.Get("hourly"), ",") {
			for _, m := range strings.Split(q.Get("models"), ",") {
				values[name+"_"+m], units[name+"_"+m] = hours, "°C"
			}
		}
		a["hourly"], a["hourly_units"] = values, units
		return a
	}
	var days []string
	var high, low []float64
	for d := from; d <= to; d++ {
		days = append(days, d.String())
		high, low = append(high, degrees(c, now)+float64(d%3)), append(low, degrees(c, now)-8)
	}
	values, units := map[string]any{"time": days}, map[string]any{}
	for _, m := range strings.Split(q.Get("models"), ",") {
		for name, v := range map[string][]float64{"temperature_2m_max": high, "temperature_2m_min": low} {
			for member := range map[bool]int{true: 2, false: 1}[what == "ensemble"] {
				key := name
				if member > 0 {
					key += "_member01"
				}
				if m != "" {
					key += "_" + m
				}
				values[key], units[key] = v, "°C"
			}
		}
	}
	a["daily"], a["daily_units"] = values, units
	return a
}

// reports responds with hourly reports of each station, and a correction of one of them.
func (s *sky) reports(w http.ResponseWriter, r *http.Request, now time.Time, q url.Values) {
	tag := fmt.Sprintf(`"%d"`, now.Unix()/3600)
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	var hours int
	_, _ = fmt.Sscan(q.Get("hours"), &hours)
	var list []string
	for i, id := range strings.Split(q.Get("ids"), ",") {
		for h := range hours {
			at := now.Truncate(time.Hour).Add(-time.Duration(h) * time.Hour)
			cor := ""
			if i == 0 && h == 1 { // an hour later
				cor = "COR "
			}
			list = append(list, fmt.Sprintf(`{"icaoId":%q,"receiptTime":%q,"obsTime":%d,"temp":%d,"metarType":"METAR","rawOb":"METAR %s%s %02d%02d%02dZ 00000KT 9999 %02d/01 Q1010"}`,
				id, at.Add(3*time.Minute).Format(time.RFC3339), at.Unix(), at.Hour(), cor, id, at.Day(), at.Hour(), 0, at.Hour()))
		}
	}
	s.note("metar", list)
	_, _ = fmt.Fprintf(w, "[%s]", strings.Join(list, ","))
}

// note keeps the reports of a source.
func (s *sky) note(source string, list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said[source] = append(s.said[source], strings.Join(list, ","))
}

// observations responds with hourly observations of a station, sixty per page.
func (s *sky) observations(w http.ResponseWriter, id string, now time.Time, q url.Values) {
	start, err := time.Parse(time.RFC3339, q.Get("start"))
	if err != nil {
		s.t.Error(err)
	}
	var skip int
	_, _ = fmt.Sscan(q.Get("cursor"), &skip)
	var list []string
	for at := now.Truncate(time.Hour).Add(-time.Duration(skip) * time.Hour); !at.Before(start) && len(list) < 60; at = at.Add(-time.Hour) {
		list = append(list, fmt.Sprintf(`{"type":"Feature","properties":{"station":"https://api.weather.gov/stations/%s","timestamp":%q,"textDescription":"Clear","rawMessage":"",`+
			`"temperature":{"unitCode":"wmoUnit:degC","value":%d,"qualityControl":"V"}}}`, id, at.Format(time.RFC3339), at.Hour()))
	}
	q.Set("cursor", fmt.Sprint(skip+60))
	if len(list) > 0 {
		s.note("nws", list)
	}
	_, _ = fmt.Fprintf(w, `{"type":"FeatureCollection","features":[%s],"pagination":{"next":"https://api.weather.gov/stations/%s/observations?%s"}}`, strings.Join(list, ","), id, q.Encode())
}

// host returns a host for a path of the sky.
func (s *sky) host(name, path string) *fetch.Host {
	h, err := fetch.New(fetch.Options{Name: name, Base: s.server.URL + path, Contact: "ops@example.org", Budget: fetch.Budget{PerSecond: 1e6, Burst: 1e6, InFlight: 1},
		Now: s.clock, Sleep: s.sleep})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(h.Close)
	return h
}

// The sources of a lane.
const (
	skyOpenMeteo = 1 << iota
	skyMETAR
	skyNWS
)

// options returns the options of a lane with some of the sources.
func (s *sky) options(v follow.Venue, sources int) follow.WeatherOptions {
	places, err := data.NewGazetteer(s.cities, nil, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	o := follow.WeatherOptions{Venue: v, Cities: places, Log: zerolog.Nop(), Now: s.clock, Sleep: s.sleep}
	if sources&skyOpenMeteo != 0 {
		hosts := map[openmeteo.Service]pages.Asker{}
		for service, path := range map[openmeteo.Service]string{openmeteo.Forecast: "/forecast", openmeteo.Ensemble: "/ensemble", openmeteo.Archive: "/archive", openmeteo.PreviousRuns: "/previous"} {
			hosts[service] = s.host("openmeteo "+string(service), path)
		}
		o.OpenMeteo = openmeteo.New(hosts, s.clock)
	}
	if sources&skyMETAR != 0 {
		o.METAR = metar.New(s.host("metar", "/metar"))
	}
	if sources&skyNWS != 0 {
		o.NWS = nws.New(s.host("nws", "/nws"))
	}
	return o
}

// follow runs a lane for a while.
func (s *sky) follow(o follow.WeatherOptions, d time.Duration) *follow.Weather {
	s.t.Helper()
	w, err := follow.NewWeather(o)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	s.mu.Lock()
	s.until, s.stop = s.now.Add(d), cancel
	s.mu.Unlock()
	if err := w.Run(ctx); !errors.Is(err, context.Canceled) {
		s.t.Error(err)
	}
	return w
}

// weatherFacts returns all rows of the weather.
func weatherFacts(t *testing.T, v follow.Venue) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, table := range []string{"weather_issue", "weather_report", "weather_obs"} {
		out[table] = rowsOf(t, v, "SELECT * EXCLUDE (batch) FROM "+table)
	}
	return out
}

// hours formats times as HH:MM.
func hours(times []time.Time) (out []string) {
	for _, at := range times {
		out = append(out, at.Format("15:04"))
	}
	return out
}

// statusOf returns the status of a source.
func statusOf(t *testing.T, w *follow.Weather, source string) follow.WeatherStatus {
	t.Helper()
	all := w.Status()
	i := slices.IndexFunc(all, func(s follow.WeatherStatus) bool { return s.Source == source })
	if i < 0 {
		t.Fatalf("no state of %s in %+v", source, all)
	}
	return all[i]
}

// written returns a file with all reports of a source.
func (s *sky) written(source string) string {
	s.t.Helper()
	text := "[" + strings.Join(s.said[source], ",") + "]"
	if source == "nws" {
		text = `{"type":"FeatureCollection","features":` + text + "}"
	}
	path := filepath.Join(s.t.TempDir(), source+".json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// TestADayOfForecasts: forecasts of Open-Meteo are requested only after new runs, everything else
// at its times, and within the weight. Another day is like the first, even after a restart.
func TestADayOfForecasts(t *testing.T) {
	k, s := factsOnly(t), newSky(t, 55)
	for day := range 2 {
		s.asked = map[string][]time.Time{}
		w := s.follow(s.options(k, skyOpenMeteo), 24*time.Hour)
		// Each six-hourly run is available four hours later, and announced at the next hour.
		want := map[string][]string{"forecast": {"00:00", "05:07", "11:07", "17:07", "23:07"}, "ensemble": {"00:00", "00:52", "06:52", "12:52", "18:52"},
			"archive": {"00:00", "08:30"}, "previous": {"00:00", "09:10"}}
		if day > 0 {
			want = map[string][]string{"forecast": {"05:07", "11:07", "17:07", "23:07"}, "ensemble": {"00:52", "06:52", "12:52", "18:52"},
				"archive": {"08:30"}, "previous": {"09:10"}}
		}
		for what, times := range want {
			if got := hours(s.asked[what]); !cmp.Equal(got, times) {
				t.Errorf("day %d: %s requested at %v, want %v", day, what, got, times)
			}
		}
		for _, st := range w.Status() {
			if st.Errors > 0 || len(st.Rejected) > 0 || st.Rows == 0 || st.Phase != follow.Idle || st.WeightLeft == nil || *st.WeightLeft < 500 {
				t.Errorf("day %d: st = %+v", day, st)
			}
		}
		if n := len(s.asked["meta"]); n < 24*4 || n > 25*4 {
			t.Errorf("day %d: runs requested %d times", day, n)
		}
	}
	if got := s.query["archive"]; got.Get("start_date") != "2026-11-08" || got.Get("end_date") != "2026-11-16" {
		t.Errorf("the archive is requested for %s to %s", got.Get("start_date"), got.Get("end_date"))
	}
	for what, want := range map[string]string{
		"SELECT DISTINCT source FROM weather_issue": `{"source":"best_match"} {"source":"ecmwf_ifs025"} {"source":"ecmwf_ifs025_ensemble"} {"source":"gem_seamless"} {"source":"gfs_seamless"} ` +
			`{"source":"icon_seamless"} {"source":"icon_seamless_eps"} {"source":"previous:ecmwf_ifs025"} {"source":"previous:gfs_seamless"}`,
		"SELECT count(DISTINCT city) AS n FROM weather_issue":  `{"n":55}`,
		"SELECT count(DISTINCT city) AS n FROM weather_report": `{"n":55}`,
		"SELECT count(DISTINCT day) AS n FROM weather_report":  `{"n":10}`,
		// The 7th to the 9th were a week old when they were last read.
		"SELECT count(DISTINCT (city, metric, day)) AS n, max(day) AS day FROM weather_report WHERE NOT provisional": `{"n":330,"day":20766}`,
		"SELECT count(*) AS n FROM sync_cursor WHERE source LIKE 'weather%'":                                         `{"n":1}`,
	} {
		if got := strings.Join(rowsOf(t, k, what), " "); got != want {
			t.Errorf("%s: got %s, want %s", what, got, want)
		}
	}
}

// TestTheDaysWeightIsEnough: if it is not, daily requests are still sent, and a restart gives no
// additional weight.
func TestTheDaysWeightIsEnough(t *testing.T) {
	testfiles.InLong(t, "TestADayOfForecasts follows a day within its weight")
	k, s := factsOnly(t), newSky(t, 10)
	s.begun = func(_ string, now time.Time) time.Time { return now.Add(-5 * time.Hour).Truncate(time.Hour) }
	o := s.options(k, skyOpenMeteo)
	o.DayWeight = 250
	for range 4 {
		for _, st := range s.follow(o, 6*time.Hour).Status() {
			if *st.WeightLeft < 0 {
				t.Errorf("st = %+v", st)
			}
		}
	}
	if len(s.asked["ensemble"]) != 5 || len(s.asked["archive"]) != 2 || len(s.asked["previous"]) != 2 || len(s.asked["forecast"]) < 4 || len(s.asked["forecast"]) > 12 {
		t.Errorf("requested %d ensembles, %d times for the archive, %d for previous runs, %d for forecasts", len(s.asked["ensemble"]), len(s.asked["archive"]),
			len(s.asked["previous"]), len(s.asked["forecast"]))
	}
	weight := len(s.asked["meta"])
	for _, what := range []string{"forecast", "ensemble", "archive", "previous"} {
		weight += 10 * len(s.asked[what])
	}
	if weight > 250 {
		t.Errorf("requested a weight of %d", weight)
	}
	st := statusOf(t, s.follow(o, time.Hour), "openmeteo forecast")
	if st.Answers == 0 || st.Error != "" {
		t.Errorf("the next day: %+v", st)
	}
}
