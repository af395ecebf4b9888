package feeds_test

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/data/feeds/shape"
	"pmx/data/reference"

	"pmx/data/testfiles"
)

// told formats rows of the weather, one per line, for comparison.
func (c *collect) told() string {
	var out []string
	at := func(us int64) string {
		if us == 0 {
			return "-"
		}
		return time.UnixMicro(us).UTC().Format("2006-01-02T15:04")
	}
	for _, f := range c.forecasts {
		line := fmt.Sprintf("%s %s %s %s issued %s: %s", f.City, f.Target, f.Metric, f.Source, at(f.IssuedAt), f.Value.Text(scale(f.Value)))
		if len(f.Members) > 0 {
			line += fmt.Sprintf(" of %d", len(f.Members))
		}
		if f.RunAt > 0 {
			line += " run " + at(f.RunAt)
		}
		out = append(out, line+shifted(f.Shift))
	}
	for _, a := range c.actuals {
		line := fmt.Sprintf("%s %s %s %s %s%s seen %s: %s", a.City, a.Day, a.Metric, a.Kind, a.Source, suffix(a.Station), at(a.SeenAt), valued(a.Withdrawn, a.Value))
		if a.Provisional != nil {
			line += map[bool]string{true: " provisional", false: " final"}[*a.Provisional]
		}
		out = append(out, line+shifted(a.Shift))
	}
	for _, o := range c.observations {
		line := fmt.Sprintf("%s %s %s %s %d: %s", o.City, o.Station, o.Source, at(o.TS), o.Report, valued(o.Withdrawn, o.Value))
		if o.Whole != nil {
			line += " of " + o.Whole.Text(data.Celsius)
		}
		out = append(out, line)
	}
	for _, n := range c.normals {
		line := fmt.Sprintf("%s %d %s %s%s %s: %s", n.City, n.MonthDay, n.Metric, n.Source, suffix(n.Station), n.Period, n.Value.Text(scale(n.Value)))
		if n.Deviation != nil {
			line += " ± " + n.Deviation.Difference(data.Fahrenheit).String()
		}
		out = append(out, line)
	}
	for _, r := range c.rejects {
		out = append(out, fmt.Sprintf("reject %d %s", r.Line, r.Reason))
	}
	return strings.Join(out, "\n")
}

func valued(withdrawn bool, t data.Temp) string {
	if withdrawn {
		return "withdrawn"
	}
	return t.Text(scale(t))
}

func scale(t data.Temp) data.Unit {
	u, _ := t.Scale()
	return u
}

func suffix(s string) string {
	if s == "" {
		return ""
	}
	return " " + s
}

func shifted(s int32) string {
	if s == 0 {
		return ""
	}
	return fmt.Sprintf(" shift %d", s)
}

// says imports content like the engine and compares the rows, one per line.
func says(t *testing.T, as, name, content, want string) {
	t.Helper()
	path := text(t, name, content)
	h, err := feeds.ReadHead(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := feeds.Detect(h)
	if as != "" {
		f, err = feeds.ByName(as)
	}
	if err != nil {
		t.Fatal(err)
	}
	c, err := readAs(t, f, h, path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(strings.TrimSpace(want), c.told()); diff != "" {
		t.Errorf("%s %s (-want +got):\n%s", f.Name, name, diff)
	}
}

// parts of responses for New York.
const (
	nycAt    = `"latitude":40.76809,"longitude":-73.862785,"utc_offset_seconds":-14400,"timezone":"America/New_York"`
	nycUnits = `"daily_units":{"time":"iso8601","temperature_2m_max":"°F","temperature_2m_min":"°F"}`
	nycMeta  = `"_meta":{"kind":"weather-forecast","city":"NYC","latitude":40.7769,"longitude":-73.874,"fetched_at_utc":"2026-07-02T13:00:00Z"}`
)

func TestForecastsAreReadAsTheyWereKept(t *testing.T) {
	daily := `"daily":{"time":["2026-07-02","2026-07-03"],"temperature_2m_max":[99.3,null],"temperature_2m_min":[77,75.2]}`
	want := "nyc 2026-07-02 tmax best_match issued 2026-07-02T13:00: 99.3\n" +
		"nyc 2026-07-02 tmin best_match issued 2026-07-02T13:00: 25.0\nnyc 2026-07-03 tmin best_match issued 2026-07-02T13:00: 24.0"
	says(t, "", "kept.ndjson", `{`+nycMeta+`,"response":{`+nycAt+`,`+nycUnits+`,`+daily+`}}`+"\n", want)
	// The same with a list of responses, and with the model in the URL of the request.
	says(t, "", "list.json", `{"_meta":{"url":"https://api.open-meteo.com/v1/forecast?latitude=1,40.7769&longitude=2,-73.874&daily=x","fetched_at":1782997200},
		"response":[{"error":true,"reason":"no"},{`+nycAt+`,`+nycUnits+`,`+daily+`}]}`, want+"\nreject 1 source_error")
	// Without a note, the time is that of the block of current values, and the model is unknown.
	says(t, "", "current.json", `{`+nycAt+`,"current":{"time":"2026-07-02T09:00"},`+nycUnits+`,`+daily+`}`,
		strings.ReplaceAll(want, "best_match", "unattributed"))
	// Or from the name of the file.
	bare := `{` + nycAt + `,` + nycUnits + `,` + daily + `}`
	says(t, "openmeteo-forecast", "nyc_2026-07-02T13-00-00Z.json", bare, strings.ReplaceAll(want, "best_match", "unattributed"))
	says(t, "openmeteo-forecast", "nyc.json", bare, "reject 1 no_issue_time\nreject 1 no_issue_time\nreject 1 no_issue_time")
}

// TestABareAnswerIsNotGuessed: responses of forecast and archive have the same format.
func TestABareAnswerIsNotGuessed(t *testing.T) {
	h, err := feeds.HeadOf(strings.NewReader(`{` + nycAt + `,` + nycUnits + `,"daily":{"time":[],"temperature_2m_max":[]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := feeds.Detect(h); err == nil || err.Error() != "could be any of openmeteo-forecast, openmeteo-archive: name one with --as" {
		t.Errorf("%v", err)
	}
	h, err = feeds.HeadOf(strings.NewReader(`{"error":true,"reason":"Data corrupted"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := feeds.Detect(h); err == nil || !strings.Contains(err.Error(), "an error that a service answered with") {
		t.Errorf("%v", err)
	}
}

// TestModelsAreToldByTheirSuffix: if the only model that covers the place has no suffix, it is
// known only if no other was requested.
func TestModelsAreToldByTheirSuffix(t *testing.T) {
	answer := func(models, suffix string) string {
		return `{"_meta":{"kind":"forecast","city":"nyc","fetched_at":"2026-07-02T13:00:00Z"` + models + `},"response":{` + nycAt +
			`,"daily_units":{"temperature_2m_max` + suffix + `":"°F"},"daily":{"time":["2026-07-03"],"temperature_2m_max` + suffix + `":[99.3]}}}` + "\n"
	}
	row := func(source string) string { return "nyc 2026-07-03 tmax " + source + " issued 2026-07-02T13:00: 99.3" }
	says(t, "", "a.ndjson", answer("", "_gfs_seamless"), row("gfs_seamless"))
	says(t, "", "b.ndjson", answer("", "_ncep_gfs_seamless"), row("gfs_seamless"))
	says(t, "", "c.ndjson", answer(`,"models":["dwd_icon_seamless"]`, ""), row("icon_seamless"))
	says(t, "", "d.ndjson", answer(`,"models":"gfs_seamless,icon_d2"`, ""), row("unattributed"))
	says(t, "", "e.ndjson", answer(`,"url":"https://api.open-meteo.com/v1/forecast?models=cmc_gem_gdps"`, ""), row("gem_global"))
}

// TestDaysAcrossAChangeOfClocks: a response of July uses −4 h in November too, when New York has −5
// h. Its day begins an hour early. If hours are given, the city's day is computed from them.
func TestDaysAcrossAChangeOfClocks(t *testing.T) {
	var times, temps []string
	begin := time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)
	for h := range 49 { // from 2 November 00:00 at −4, the city's 1 November 23:00
		times = append(times, `"`+begin.Add(time.Duration(h)*time.Hour).Format("2006-01-02T15:04")+`"`)
		temps = append(temps, fmt.Sprint(50+h%24))
	}
	temps[0], temps[24] = "20", "95" // 23:00 of the city's 1 November, and of its 2 November
	note := `{"_meta":{"kind":"forecast","city":"nyc","fetched_at":"2026-10-30T12:00:00Z"},"response":{` + nycAt
	days := `,` + nycUnits + `,"daily":{"time":["2026-10-31","2026-11-01","2026-11-02"],"temperature_2m_max":[60,61,73],"temperature_2m_min":[40,41,20]}`
	says(t, "", "days.ndjson", note+days+"}}\n", `
nyc 2026-10-31 tmax best_match issued 2026-10-30T12:00: 60.0
nyc 2026-11-01 tmax best_match issued 2026-10-30T12:00: 61.0
nyc 2026-11-02 tmax best_match issued 2026-10-30T12:00: 73.0 shift -3600
nyc 2026-10-31 tmin best_match issued 2026-10-30T12:00: 40.0
nyc 2026-11-01 tmin best_match issued 2026-10-30T12:00: 5.0
nyc 2026-11-02 tmin best_match issued 2026-10-30T12:00: 20.0 shift -3600`)
	hours := `,"hourly_units":{"temperature_2m":"°F"},"hourly":{"time":[` + strings.Join(times, ",") + `],"temperature_2m":[` + strings.Join(temps, ",") + `]}`
	says(t, "", "hours.ndjson", note+days+hours+"}}\n", `
nyc 2026-10-31 tmax best_match issued 2026-10-30T12:00: 60.0
nyc 2026-11-01 tmax best_match issued 2026-10-30T12:00: 61.0
nyc 2026-11-02 tmax best_match issued 2026-10-30T12:00: 35.0
nyc 2026-11-03 tmax best_match issued 2026-10-30T12:00: 73.0
nyc 2026-10-31 tmin best_match issued 2026-10-30T12:00: 40.0
nyc 2026-11-01 tmin best_match issued 2026-10-30T12:00: 5.0
nyc 2026-11-02 tmin best_match issued 2026-10-30T12:00: 51.0
nyc 2026-11-03 tmin best_match issued 2026-10-30T12:00: 10.0`)
}

// TestDaysOfUTCAreRefused: days of UTC are rejected for a city with another offset, and accepted if
// the offset is at most an hour.
func TestDaysOfUTCAreRefused(t *testing.T) {
	answer := func(place, unit string) string {
		return `{"_meta":{"kind":"forecast","fetched_at":"2026-07-02T13:00:00Z"},"response":{` + place + `,"utc_offset_seconds":0,"timezone":"GMT",` +
			`"daily_units":{"temperature_2m_max":"` + unit + `"},"daily":{"time":["2026-07-03"],"temperature_2m_max":[30]}}}` + "\n"
	}
	says(t, "", "nyc.ndjson", answer(`"latitude":40.76,"longitude":-73.86`, "°F"), "reject 1 wrong_days")
	says(t, "", "london.ndjson", answer(`"latitude":51.5,"longitude":0.0`, "°C"), "london 2026-07-03 tmax best_match issued 2026-07-02T13:00: 30.0 shift 3600")
	says(t, "", "sea.ndjson", answer(`"latitude":0,"longitude":-30`, "°C"), "reject 1 far_from_station")
	says(t, "", "kelvin.ndjson", answer(`"latitude":51.5,"longitude":0.0`, "K"), "reject 1 bad_unit")
}

// TestEnsembles: the control run and its members are one source, whose value is their mean: (20.1 +
// 21.1 + 25.3) ÷ 3 = 22.1666… °C.
func TestEnsembles(t *testing.T) {
	hour := func(values string) string { return strings.TrimSuffix(strings.Repeat(values+",", 24), ",") }
	var times []string
	for h := range 24 {
		times = append(times, fmt.Sprintf(`"2026-07-04T%02d:00"`, h))
	}
	content := `{"_meta":{"kind":"ensemble","city":"munich","fetched_at":"2026-07-02T13:00:00Z","models":["ecmwf_ifs025","icon_seamless"]},
		"response":{"latitude":48.36,"longitude":11.78,"utc_offset_seconds":7200,"timezone":"Europe/Berlin","hourly_units":{
		"temperature_2m_ecmwf_ifs025_ensemble":"°C","temperature_2m_member01_ecmwf_ifs025_ensemble":"°C","temperature_2m_member02_ecmwf_ifs025_ensemble":"°C",
		"temperature_2m_icon_seamless_eps":"°C","temperature_2m_spread_icon_seamless_eps":"K"},"hourly":{"time":[` + strings.Join(times, ",") + `],
		"temperature_2m_ecmwf_ifs025_ensemble":[` + hour("20.1") + `],"temperature_2m_member01_ecmwf_ifs025_ensemble":[` + hour("25.3") + `],
		"temperature_2m_member02_ecmwf_ifs025_ensemble":[` + hour("21.1") + `],"temperature_2m_icon_seamless_eps":[` + hour("1") + `],
		"temperature_2m_spread_icon_seamless_eps":[` + hour("2") + `]}}}`
	says(t, "", "ens.json", content, `
munich 2026-07-04 tmax ecmwf_ifs025_ensemble issued 2026-07-02T13:00: 22.17 of 3
munich 2026-07-04 tmin ecmwf_ifs025_ensemble issued 2026-07-02T13:00: 22.17 of 3
reject 1 bad_series
reject 1 bad_series`)
	// Days of members, of the only model that was requested.
	says(t, "", "days.json", `{"_meta":{"city":"munich","fetched_at":"2026-07-02T13:00:00Z","models":"gfs_seamless"},"response":{"utc_offset_seconds":7200,
		"latitude":48.36,"longitude":11.78,"daily_units":{"temperature_2m_max":"°C","temperature_2m_max_member01":"°C"},
		"daily":{"time":["2026-07-04"],"temperature_2m_max":[20],"temperature_2m_max_member01":[21]}}}`,
		"munich 2026-07-04 tmax gfs_seamless_ensemble issued 2026-07-02T13:00: 20.5 of 2")
}

// TestASingleRunIsDatedByItsRun if it was fetched long after: it was published eight hours after it
// began.
func TestASingleRunIsDatedByItsRun(t *testing.T) {
	answer := func(fetched string) string {
		return `{"_meta":{"url":"https://single-runs-api.open-meteo.com/v1/forecast?run=2026-07-01T00:00&models=ecmwf_ifs","city":"nyc","fetched_at":"` + fetched +
			`"},"response":{` + nycAt + `,"daily_units":{"temperature_2m_max":"°F"},"daily":{"time":["2026-07-03"],"temperature_2m_max":[99.3]}}}` + "\n"
	}
	says(t, "", "late.ndjson", answer("2026-08-01T00:00:00Z"), "nyc 2026-07-03 tmax ecmwf_ifs issued 2026-07-01T08:00: 99.3 run 2026-07-01T00:00")
	says(t, "", "soon.ndjson", answer("2026-07-01T06:30:00Z"), "nyc 2026-07-03 tmax ecmwf_ifs issued 2026-07-01T06:30: 99.3 run 2026-07-01T00:00")
}

func TestTheArchive(t *testing.T) {
	daily := `"daily_units":{"temperature_2m_max":"°F"},"daily":{"time":["2026-06-24","2026-06-25","2026-07-02"],"temperature_2m_max":[80.1,81.1,82]}`
	says(t, "", "kept.ndjson", `{"_meta":{"kind":"weather-archive","city":"NYC","fetched_at_utc":"2026-07-02T13:00:00Z"},"response":{`+nycAt+`,`+daily+"}}\n", `
nyc 2026-06-24 tmax reanalysis archive_best_match seen 2026-07-02T13:00: 80.1 final
nyc 2026-06-25 tmax reanalysis archive_best_match seen 2026-07-02T13:00: 81.1 provisional
reject 1 unfinished_day`)
	says(t, "openmeteo-archive", "bare.json", `{`+nycAt+`,`+daily+`}`, `
nyc 2026-06-24 tmax reanalysis unattributed seen -: 80.1
nyc 2026-06-25 tmax reanalysis unattributed seen -: 81.1
nyc 2026-07-02 tmax reanalysis unattributed seen -: 82.0`)
}

// Whether a response is accepted depends only on its grid cell, and not on a note about the request
// or the requested point.
func TestANoteDoesNotMoveTheGridCell(t *testing.T) {
	const answer = `"utc_offset_seconds":-14400,"current":{"time":"2026-07-02T09:00"},"daily_units":{"temperature_2m_max":"°F"},` +
		`"daily":{"time":["2026-07-03"],"temperature_2m_max":[80]}}`
	nyc, _ := reference.Gazetteer().City("nyc")
	seen := map[bool]int{}
	for _, km := range []float64{0, 5, 14, 16, 19, 21, 29, 31, 300} {
		cell := fmt.Sprintf(`{"latitude":%f,"longitude":%f,`, nyc.Lat+km/111.195, nyc.Lon)
		bare, err := asForecast(t, cell+answer)
		if err != nil {
			t.Fatal(err)
		}
		taken := bare.reasons()["far_from_station"] == 0
		seen[taken]++
		if taken != (km <= 20) {
			t.Errorf("a cell %v km off: taken is %v", km, taken)
		}
		for _, note := range []string{`"city":"NYC"`, `"latitude":40.7772,"longitude":-73.8726`, `"city":"nyc","latitude":40.9,"longitude":-73.8726`,
			`"url":"https://api.open-meteo.com/v1/forecast?latitude=40.6&longitude=-73.8726"`, `"latitude":41.4,"longitude":-73.8726`,
			`"models":"gfs_seamless"`} {
			noted, err := asForecast(t, `{"_meta":{"kind":"forecast",`+note+`},"response":`+cell+answer+`}`)
			if err != nil {
				t.Fatal(err)
			}
			if got := noted.reasons()["far_from_station"] == 0; got != taken || len(noted.forecasts) != len(bare.forecasts) {
				t.Errorf("a cell %v km off with the note %s: taken is %v, %d forecasts; bare %v, %d", km, note, got, len(noted.forecasts),
					taken, len(bare.forecasts))
			}
		}
	}
	if len(seen) != 2 {
		t.Errorf("cells taken or not: %v", seen)
	}
	// For a response without coordinates, the requested point counts.
	for note, want := range map[string]int{`"latitude":40.7772,"longitude":-73.8726`: 1, `"latitude":41.4,"longitude":-73.8726`: 0, `"city":"nyc"`: 0} {
		c, err := asForecast(t, `{"_meta":{"kind":"forecast",`+note+`},"response":{`+answer+`}`)
		if err != nil || len(c.forecasts) != want {
			t.Errorf("no coordinates and the note %s: %d forecasts, %v, %v; want %d", note, len(c.forecasts), c.rejects, err, want)
		}
	}
}

func asForecast(t *testing.T, content string) (*collect, error) {
	t.Helper()
	f, err := feeds.ByName("openmeteo-forecast")
	if err != nil {
		t.Fatal(err)
	}
	return readAs(t, f, data.Head{Format: data.JSON}, text(t, "answer.json", content))
}

// capturedAnswers checks the results of captured files of Open-Meteo.
func capturedAnswers(t *testing.T) {
	for name, want := range map[string]string{
		"captured_excerpts/openmeteo_forecast_multimodel_chicago_2026-07-08.json":          "openmeteo-forecast: far_from_station 1",
		"captured_excerpts/openmeteo_historical_forecast_multimodel_nyc_2026-03-13.json":   "openmeteo-forecast: wrong_days 6",
		"captured_excerpts/openmeteo_previous_runs_nyc_TRUNCATED.json":                     "openmeteo: forecasts 4",
		"open_meteo/forecast_models.json":                                                  "openmeteo: far_from_station 1",
		"open_meteo/forecast_models_one_covering.json":                                     "openmeteo-forecast: far_from_station 1",
		"open_meteo/historical_weather_models.json":                                        "openmeteo: far_from_station 1",
		"open_meteo/previous_runs_models.json":                                             "openmeteo: far_from_station 1",
		"openmeteo_history/weather_london_history.json":                                    "openmeteo: actuals 224, stitched_forecast 1",
		"openmeteo_history/weather_nyc_history.json":                                       "openmeteo: actuals 224, stitched_forecast 1",
		"openmeteo_snapshots/weather_2026-06-16.ndjson":                                    "openmeteo: far_from_station 4",
		"openmeteo_snapshots/weather_2026-06-22.ndjson":                                    "openmeteo: actuals 1670, forecasts 720, unfinished_day 10",
		"openmeteo_snapshots/weather-historical-forecast_munich_2026-06-20T13-59-33Z.json": "openmeteo: far_from_station 1",
	} {
		path := filepath.Join(testfiles.Captured(t, "E_weather"), filepath.FromSlash(name))
		h, err := feeds.ReadHead(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := feeds.Detect(h)
		if err != nil {
			f, _ = feeds.ByName("openmeteo-forecast") // a bare answer
		}
		c, err := readAs(t, f, h, path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := c.reasons()
		for kind, n := range map[string]int{"forecasts": len(c.forecasts), "actuals": len(c.actuals)} {
			if n > 0 {
				got[kind] = n
			}
		}
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(got)) {
			parts = append(parts, fmt.Sprintf("%s %d", k, got[k]))
		}
		if s := f.Name + ": " + strings.Join(parts, ", "); s != want {
			t.Errorf("%s: %s, want %s", name, s, want)
		}
	}
}

// everyChangePointOfTheSnapshots: from ten days of responses fetched every hour follow exactly the
// change points that were computed independently.
func everyChangePointOfTheSnapshots(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testfiles.Captured(t, "E_weather", "openmeteo_snapshots"), "*.ndjson"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	type key struct {
		city string
		day  data.Date
		kind string
		at   int64
	}
	type pair struct{ max, min data.Temp }
	all := map[key]pair{}
	put := func(k key, m data.Metric, v data.Temp) {
		p := all[k]
		if m == data.TMax {
			p.max = v
		} else {
			p.min = v
		}
		all[k] = p
	}
	for _, file := range files {
		c := read(t, file)
		for _, f := range c.forecasts {
			put(key{f.City, f.Target, "forecast", f.IssuedAt / 1e6}, f.Metric, f.Value)
		}
	}
	order := slices.SortedFunc(maps.Keys(all), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.city, b.city), cmp.Compare(a.day, b.day), cmp.Compare(a.kind, b.kind), cmp.Compare(a.at, b.at))
	})
	got := map[string]bool{}
	for i, k := range order {
		if i > 0 && order[i-1].city == k.city && order[i-1].day == k.day && order[i-1].kind == k.kind && all[order[i-1]] == all[k] {
			continue
		}
		u := data.Celsius
		if k.city == "nyc" {
			u = data.Fahrenheit
		}
		got[fmt.Sprintf("%s,%s,%s,%s,%s,%s", k.city, k.day, k.kind, time.Unix(k.at, 0).UTC().Format(time.RFC3339), all[k].max.Text(u), all[k].min.Text(u))] = true
	}
	want := map[string]bool{}
	file, err := os.Open(testfiles.Captured(t, "C_weather_markets", "derived", "forecast_evolution_4cities.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows[1:] {
		city := strings.ToLower(r[0])
		if r[3] == "archive" || city == "munich" && r[4] < "2026-06-20T16" || r[4] > "2026-06-28" {
			continue // not a forecast; a point 28 km from the station; a file that is missing here
		}
		want[strings.Join([]string{city, r[1], r[3], r[4], r[5], r[6]}, ",")] = true
	}
	if diff := gocmp.Diff(want, got); diff != "" || len(want) < 700 {
		t.Errorf("%d points (-want +got):\n%.3000s", len(want), diff)
	}
}

// FuzzOpenMeteo: whatever a response contains, reading it gives valid rows.
func FuzzOpenMeteo(f *testing.F) {
	f.Add(`"daily_units":{"temperature_2m_max":"°C"},"daily":{"time":["2026-07-03"],"temperature_2m_max":[30]}`, 3600)
	f.Add(`"hourly_units":{"temperature_2m_member01":"°F"},"hourly":{"time":[1782997200,1783000800],"temperature_2m_member01":[1,null]}`, 0)
	f.Add(`"daily_units":{"temperature_2m_min_previous_day3_gfs":"°C"},"daily":{"time":["x"],"temperature_2m_min_previous_day3_gfs":{}}`, -7200)
	feed, err := feeds.ByName("openmeteo-forecast")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, members string, offset int) {
		c := &collect{}
		in := fmt.Sprintf(`[{"latitude":51.5,"longitude":0,"utc_offset_seconds":%d,"current":{"time":"2026-07-02T13:00"},%s}]`, offset, members)
		if feed.Read(context.Background(), data.Source{Format: data.JSON, Cities: reference.Gazetteer()}, strings.NewReader(in), c) != nil {
			return
		}
		for _, r := range c.rejects {
			if shape.Detail(r.Reason) == "" {
				t.Errorf("the reason %q has no explanation", r.Reason)
			}
		}
		for _, fc := range c.forecasts {
			if fc.City != "london" || fc.Source == "" || fc.IssuedAt == 0 || fc.Shift > 3600 || fc.Shift < -3600 || len(fc.Members) == 1 || !slices.IsSorted(fc.Members) {
				t.Errorf("%+v", fc)
			}
		}
	})
}

// TestMembersAloneAreNoValue: a response that has only values of members, and is not of the
// ensemble service, is not taken for 0 degrees.
func TestMembersAloneAreNoValue(t *testing.T) {
	says(t, "", "a.ndjson", `{"_meta":{"kind":"archive","city":"nyc","fetched_at":"2026-07-20T13:00:00Z"},"response":{`+nycAt+`,
		"daily_units":{"temperature_2m_max_member01":"°F"},"daily":{"time":["2026-07-02"],"temperature_2m_max_member01":[99.3]}}}`+"\n", "reject 1 bad_series")
}
