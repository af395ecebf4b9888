package api_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/api/apitest"
	"pmx/http/wire"
	"pmx/rollups/serving"
	"pmx/rollups/weather"
)

// newWeather is a venue whose clock is at the end of 27 June 2026 in New York.
func newWeather(t *testing.T) *venue {
	snap := apitest.Snapshot(1, 1, 1)
	snap.AsOf = time.Date(2026, 6, 28, 3, 0, 0, 0, time.UTC)
	snap.Desk = apitest.Desk(snap.AsOf)
	return newVenue(t, snap)
}

func TestAnotherNameOfACityLeadsToItsSlug(t *testing.T) {
	v := newWeather(t)
	for path, want := range map[string]string{
		"new-york-city/2026-06-27":                   "nyc/2026-06-27",
		"NYC/2026-06-27?metric=tmin&limit=3":         "nyc/2026-06-27?metric=tmin&limit=3",
		"la/2026-06-27":                              "los-angeles/2026-06-27",
		"S%C3%A3o%20Paulo/2026-06-27?source=gfs%2Bx": "sao-paulo/2026-06-27?source=gfs%2Bx",
	} {
		r := v.get(access.Free, "/weather/forecast-evolution/"+path)
		want = wire.Base + "/weather/forecast-evolution/" + want
		moved := exact[wire.Moved](t, r.Body())
		if r.status != 308 || r.header("Location") != want || moved.Location != want || *moved.Plan != "free" {
			t.Errorf("%s: %d to %q, want %q", path, r.status, r.header("Location"), want)
		}
	}
	for path, want := range map[string]string{
		"manila/2026-06-27": "200", "atlantis/2026-06-27": "404 city_not_found", "dc/2026-06-27": "404 city_not_found",
		"nyc/2026-02-30": "400 invalid_parameter", "nyc/today": "400 invalid_parameter", "nyc/26-6-27": "400 invalid_parameter",
		"nyc/2026-06-27?metric=tavg": "400 invalid_parameter", "nyc/2026-06-27?day=1": "400 unknown_parameter",
	} {
		r := v.get(access.Free, "/weather/forecast-evolution/"+path)
		if got := strings.TrimSpace(fmt.Sprint(r.status, " ", strings.Trim(r.text("code"), `"`))); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// TestEvolutionTellsBothLeads: New York's 27 June lasts from 04:00Z to 04:00Z. A
// forecast of 26 June 22:00Z is of the day before, 6 hours before it begins and 30
// before it ends. 72.3 → 85.3 is +13; 85.3 → 83.8 is −1.5; together +11.5. The other
// source gives one value, so the mean drift is 5.75.
func TestEvolutionTellsBothLeads(t *testing.T) {
	v := newWeather(t)
	for _, f := range [][3]string{{"gfs", "2026-06-26T22:00:00Z", "72.3"}, {"gfs", "2026-06-27T04:00:00Z", "85.3"},
		{"icon", "2026-06-27T05:30:00Z", "80"}, {"gfs", "2026-06-28T03:59:59Z", "83.8"}, {"gfs", "2026-06-28T04:00:00Z", "77.0"}} {
		v.weather.AddForecast("nyc", "2026-06-27", data.TMax, f[0], f[1], f[2], data.Fahrenheit)
	}
	e := exact[wire.ForecastEvolution](t, v.get(access.Free, "/weather/forecast-evolution/nyc/2026-06-27").Body())
	var got []string
	for _, s := range e.Data {
		delta := "-"
		if s.DeltaVsPrev != nil {
			delta = fmt.Sprint(*s.DeltaVsPrev, *s.Changed)
		}
		got = append(got, fmt.Sprint(s.Source, " ", s.LeadHours, " ", s.LeadDay, " ", s.HoursToEnd, " ", s.Value, s.Unit, " ", delta))
	}
	want := []string{"gfs 6 1 30 7230F -", "gfs 0 0 24 8530F 13 true", "icon -1.5 0 22.5 8000F -", "gfs -23.999722 0 0.000278 8380F -1.5 true"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if *e.TotalDrift != 5_750_000 || *e.Range != 13_000_000 || e.First.Value != 7230 || e.Latest.Value != 8380 || e.Changes != 4 || e.Sources[0].TotalDrift != 11_500_000 {
		t.Errorf("e.EvolutionSeries = %+v", e.EvolutionSeries)
	}
	if e.Settled != nil || e.NullReasons["settled"] != "no_event" || e.NullReasons["actual"] != "not_measured" || e.EmptyReason != nil {
		t.Errorf("e.NullReasons = %v", e.NullReasons)
	}
	one := exact[wire.ForecastEvolution](t, v.get(access.Free, "/weather/forecast-evolution/nyc/2026-06-27?source=gfs&limit=1").Body())
	if len(one.Data) != 1 || one.Data[0].Value != 8380 || one.Changes != 3 || len(one.Sources) != 1 || *one.TotalDrift != 11_500_000 {
		t.Errorf("one.EvolutionSeries = %+v", one.EvolutionSeries)
	}
	for path, reason := range map[string]string{"2026-06-27?source=ecmwf": "no_match", "2026-06-27?metric=tmin": "no_forecast", "2026-07-09": "no_forecast"} {
		none := exact[wire.ForecastEvolution](t, v.get(access.Free, "/weather/forecast-evolution/nyc/"+path).Body())
		if len(none.Data) != 0 || none.EmptyReason == nil || *none.EmptyReason != reason || none.NullReasons["first"] != reason || none.First != nil {
			t.Errorf("%s: none.NullReasons = %v", path, none.NullReasons)
		}
	}
}

// TestEvolutionIsOnTheCitysOwnDay: days of 23 and 25 hours, offsets of half an hour,
// and a city whose day is over before London's has begun.
func TestEvolutionIsOnTheCitysOwnDay(t *testing.T) {
	for _, c := range []struct{ city, day, start, end string }{
		{"nyc", "2026-03-08", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"},
		{"nyc", "2025-11-02", "2025-11-02T04:00:00Z", "2025-11-03T05:00:00Z"},
		{"lucknow", "2026-06-27", "2026-06-26T18:30:00Z", "2026-06-27T18:30:00Z"},
		{"wellington", "2026-06-27", "2026-06-26T12:00:00Z", "2026-06-27T12:00:00Z"},
		{"wellington", "2026-01-27", "2026-01-26T11:00:00Z", "2026-01-27T11:00:00Z"},
		{"los-angeles", "2026-06-27", "2026-06-27T07:00:00Z", "2026-06-28T07:00:00Z"},
	} {
		v := newWeather(t)
		at := func(text string) time.Time { p, _ := time.Parse(time.RFC3339, text); return p }
		v.weather.AddForecast(c.city, c.day, data.TMax, "gfs", at(c.start).Add(-time.Second).Format(time.RFC3339), "20", data.Celsius)
		v.weather.AddForecast(c.city, c.day, data.TMax, "gfs", at(c.end).Add(-time.Second).Format(time.RFC3339), "21", data.Celsius)
		v.weather.AddForecast(c.city, c.day, data.TMax, "gfs", c.end, "22", data.Celsius)
		e := exact[wire.ForecastEvolution](t, v.get(access.Alpha, "/weather/forecast-evolution/"+c.city+"/"+c.day).Body())
		if e.DayStart.Format(time.RFC3339) != c.start || e.DayEnd.Format(time.RFC3339) != c.end || len(e.Data) != 2 || e.Data[0].LeadDay != 1 || e.Data[1].LeadDay != 0 {
			t.Errorf("%s %s: %s to %s, %+v", c.city, c.day, e.DayStart, e.DayEnd, e.Data)
		}
	}
}

// TestEvolutionIsCutToThePlansHistory: today is 27 June; 28 May is 30 days back, 27
// May 31.
func TestEvolutionIsCutToThePlansHistory(t *testing.T) {
	v := newWeather(t)
	for _, day := range []string{"2026-05-27", "2026-05-28", "2025-12-28"} {
		v.weather.AddForecast("nyc", day, data.TMax, "gfs", day+"T01:00:00Z", "70", data.Fahrenheit)
	}
	for _, c := range []struct {
		tier      access.Tier
		day       string
		rows      int
		truncated bool
		hint      string
	}{
		{access.Free, "2026-05-28", 1, false, "null"},
		{access.Free, "2026-05-27", 0, true, `"explorer"`},
		{access.Explorer, "2026-05-27", 1, false, "null"},
		{access.Explorer, "2025-12-28", 0, true, `"trader"`}, // 181 days
		{access.Trader, "2025-12-28", 1, false, "null"},
		{access.Free, "2026-05-26", 0, false, "null"}, // nothing was left out
	} {
		r := v.get(c.tier, "/weather/forecast-evolution/nyc/"+c.day)
		e := exact[wire.ForecastEvolution](t, r.Body())
		if len(e.Data) != c.rows || e.Truncated != c.truncated || r.text("upgrade_hint") != c.hint || (c.rows == 0) != (e.EmptyReason != nil) {
			t.Errorf("%s %s: %d rows, truncated %t, %s", c.tier, c.day, len(e.Data), e.Truncated, r.text("upgrade_hint"))
		}
	}
	// 25 May has no forecast, but it was measured; of 26 May nothing is known.
	v.know("2026-05-25", data.TMax, data.KindStation, "iem", "KLGA", "70")
	for day, want := range map[string]string{
		"2026-05-27": "true plan_history: plan_history no_event not_measured",
		"2026-05-26": "false no_forecast: no_forecast no_event not_measured",
		"2026-05-25": "true no_forecast: no_forecast no_event plan_history",
	} {
		e := exact[wire.ForecastEvolution](t, v.get(access.Free, "/weather/forecast-evolution/nyc/"+day).Body())
		got := fmt.Sprintf("%t %s: %s %s %s", e.Truncated, *e.EmptyReason, e.NullReasons["first"], e.NullReasons["settled"], e.NullReasons["actual"])
		if got != want || e.First != nil || e.Actual != nil || e.Changes != 0 || len(e.Sources) != 0 {
			t.Errorf("%s: got %s, want %s, e.EvolutionSeries = %+v", day, got, want, e.EvolutionSeries)
		}
	}
	asked := v.weather.Asked
	v.get(access.Trader, "/weather/forecast-evolution/nyc/2025-12-28")
	v.get(access.Alpha, "/weather/forecast-evolution/nyc/2025-12-28")
	if v.weather.Asked != asked {
		t.Error("what was read in this epoch is read again")
	}
}

// know adds a source's value for a day in New York.
func (v *venue) know(day string, m data.Metric, kind data.ActualKind, source, station, value string, change ...func(*serving.DayActual)) {
	d, _ := data.ParseDate(day)
	t, _ := data.ParseTemp(value, data.Fahrenheit)
	a := serving.DayActual{Day: d, Metric: m, WeatherActual: serving.WeatherActual{Kind: kind, Source: source, Station: station, Value: t, FirstValue: t}}
	for _, f := range change {
		f(&a)
	}
	v.weather.Known = append(v.weather.Known, a)
}

// TestActualsNeverMixKinds: a summary of both extremes, single reports of a day that
// still runs, and a reanalysis whose high was revised once and low twice.
func TestActualsNeverMixKinds(t *testing.T) {
	v := newWeather(t)
	yes, no, n := true, false, int64(20)
	revised := func(at string, times int64, first string) func(*serving.DayActual) {
		return func(a *serving.DayActual) {
			when, _ := time.Parse(time.RFC3339, at)
			a.RevisedAt, a.Revisions, a.Provisional = when.UnixMicro(), times, &no
			a.FirstValue, _ = data.ParseTemp(first, data.Fahrenheit)
		}
	}
	single := func(a *serving.DayActual) { a.Observations, a.Provisional = &n, &yes }
	v.know("2026-06-26", data.TMax, data.KindReanalysis, "era5", "", "80.1", revised("2026-06-27T09:00:00Z", 1, "80.5"))
	v.know("2026-06-26", data.TMin, data.KindReanalysis, "era5", "", "60.1", revised("2026-06-27T08:00:00Z", 2, "61"))
	v.know("2026-06-27", data.TMax, data.KindStation, "iem", "KLGA", "79")
	v.know("2026-06-27", data.TMax, data.KindStation, "metar", "KLGA", "81.5", single)
	v.know("2026-06-27", data.TMin, data.KindStation, "metar", "KLGA", "64.04", single)
	a := exact[wire.CityActuals](t, v.get(access.Free, "/weather/city/nyc/actuals").Body())
	var got []string
	for _, r := range a.Data {
		text := func(d *wire.Degrees) string {
			if d == nil {
				return "-"
			}
			return fmt.Sprint(*d)
		}
		flag := "?"
		if r.Provisional != nil {
			flag = fmt.Sprint(*r.Provisional)
		}
		got = append(got, fmt.Sprint(r.Date, " ", r.Kind, " ", *r.Source, " ", text(r.TMax), " ", text(r.TMin), " ", text(r.FirstTMax), " ", flag, " ", r.Revisions, " ", r.NullReasons))
		if r.Kind == "reanalysis" && (r.RevisedAt == nil || r.RevisedAt.Hour() != 9) {
			t.Errorf("revised at %v, want the later of the two", r.RevisedAt)
		}
	}
	want := []string{
		"2026-06-27 station iem 7900 - 7900 ? 0 map[provisional:not_said tmin:not_measured]",
		"2026-06-27 station metar 8150 6404 8150 true 0 map[]",
		"2026-06-26 reanalysis era5 8010 6010 8050 false 3 map[]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for query, rows := range map[string]int{"?limit=1": 2, "?kind=station": 2, "?kind=reanalysis": 1, "?kind=settled": 0, "?metric=tmin": 2, "?source=iem": 1, "?source=x": 0} {
		r := exact[wire.CityActuals](t, v.get(access.Free, "/weather/city/nyc/actuals"+query).Body())
		if len(r.Data) != rows || (rows == 0) != (r.EmptyReason != nil && *r.EmptyReason == "no_match") {
			t.Errorf("%s: %d rows, want %d; %v", query, len(r.Data), rows, r.EmptyReason)
		}
	}
	if r := exact[wire.CityActuals](t, newWeather(t).get(access.Free, "/weather/city/nyc/actuals").Body()); len(r.Data) != 0 || *r.EmptyReason != "not_measured" {
		t.Errorf("nothing is known: %+v", r.ActualSeries)
	}
}

// TestPastDaysAreCutToThePlansHistory: today is 27 June, so that 28 May is the last
// that 30 days show and 29 December the last of 180.
func TestPastDaysAreCutToThePlansHistory(t *testing.T) {
	v := newWeather(t)
	for _, day := range []string{"2025-06-27", "2025-12-28", "2026-05-27", "2026-05-28", "2026-06-26"} {
		v.know(day, data.TMax, data.KindStation, "iem", "KLGA", "70")
	}
	for _, path := range []string{"actuals", "anomalies"} {
		for _, c := range []struct {
			tier      access.Tier
			limit     int
			rows      int
			truncated bool
			hint      string
		}{
			{access.Free, 2, 2, false, "null"}, {access.Free, 3, 2, true, `"explorer"`}, {access.Free, 4, 2, true, `"trader"`},
			{access.Explorer, 3, 3, false, "null"}, {access.Explorer, 9, 3, true, `"trader"`},
			{access.Trader, 9, 5, false, "null"}, {access.Alpha, 1, 1, false, "null"},
		} {
			r := v.get(c.tier, fmt.Sprintf("/weather/city/nyc/%s?limit=%d", path, c.limit))
			if got, want := fmt.Sprint(r.rows(t), " ", r.text("truncated"), " ", r.text("upgrade_hint")), fmt.Sprint(c.rows, " ", c.truncated, " ", c.hint); got != want {
				t.Errorf("%s of %s, limit %d: got %s, want %s", path, c.tier, c.limit, got, want)
			}
		}
		for _, bad := range []string{"limit=0", "limit=366", "kind=all", "metric=tavg"} {
			if r := v.get(access.Alpha, "/weather/city/nyc/"+path+"?"+bad); r.status != 400 {
				t.Errorf("%s?%s: status = %d", path, bad, r.status)
			}
		}
	}
}

// TestAnomaliesStayWithinADataSet: on 29 February, KLGA's normal is 45 °F with a standard deviation
// of 8: 61 is +16, two of them. A reanalysis has a normal of its own with percentiles: 39 is −2.5
// of 41.5, above the tenth. Central Park has no normal. The consensus of 50 and 55 is 52.5, beside
// the station's normal.
func TestAnomaliesStayWithinADataSet(t *testing.T) {
	snap := apitest.Snapshot(1, 1, 1)
	snap.AsOf = time.Date(2028, 2, 29, 17, 0, 0, 0, time.UTC)
	snap.Desk = apitest.Desk(snap.AsOf)
	v := newVenue(t, snap)
	f := func(text string) data.Temp { d, _ := data.ParseTemp(text, data.Fahrenheit); return d }
	delta, low, high := data.Temp(8*500), f("38"), f("50")
	v.weather.Normals = []serving.DayNormal{
		{MonthDay: 229, WeatherNormal: serving.WeatherNormal{Source: "derived:era5", Period: "1991-2020", Normal: weather.Normal{Value: f("41.5"), P10: &low, P90: &high}}},
		{MonthDay: 229, WeatherNormal: serving.WeatherNormal{Source: "ncei", Station: "KLGA", Period: "1991-2020", Normal: weather.Normal{Value: f("45"), Deviation: &delta}}},
	}
	v.know("2028-02-29", data.TMax, data.KindStation, "ghcn", "KNYC", "60")
	v.know("2028-02-29", data.TMax, data.KindStation, "iem", "KLGA", "61")
	v.know("2028-02-29", data.TMax, data.KindReanalysis, "era5", "", "39")
	v.know("2028-02-29", data.TMax, data.KindReanalysis, "ifs", "", "39")
	v.weather.AddForecast("nyc", "2028-02-29", data.TMax, "gfs", "2028-02-29T01:00:00Z", "50", data.Fahrenheit)
	v.weather.AddForecast("nyc", "2028-02-29", data.TMax, "icon", "2028-02-29T02:00:00Z", "55", data.Fahrenheit)
	r := exact[wire.CityAnomalies](t, v.get(access.Free, "/weather/city/nyc/anomalies").Body())
	var got []string
	for _, a := range r.Data {
		text := func(p any) string {
			if v := reflect.ValueOf(p); !v.IsNil() {
				return fmt.Sprint(v.Elem())
			}
			return "-"
		}
		got = append(got, strings.Join([]string{a.Basis, a.Source, text(a.Normal), text(a.Anomaly), text(a.NormalStd), text(a.Z), text(a.Class), text(a.NormalSource),
			fmt.Sprint(a.CrossDataset), fmt.Sprint(len(a.NullReasons))}, " "))
	}
	want := []string{
		"actual ghcn - - - - - - false 5", "actual iem 4500 16 8 2 - ncei false 1", "actual era5 4150 -2.5 - - normal derived:era5 false 2", "actual ifs - - - - - - false 5",
		"forecast consensus 4500 7.5 8 0.9375 - ncei true 1", "forecast gfs 4500 5 8 0.625 - ncei true 1", "forecast icon 4500 10 8 1.25 - ncei true 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for query, rows := range map[string]int{"?basis=actual": 4, "?basis=forecast": 3, "?kind=station": 2, "?kind=station&basis=forecast": 0, "?source=consensus": 1, "?metric=tmin": 0} {
		if r := v.get(access.Free, "/weather/city/nyc/anomalies"+query); r.rows(t) != rows || (rows == 0) != (r.text("empty_reason") == `"no_match"`) {
			t.Errorf("%s: %d rows, want %d; %s", query, r.rows(t), rows, r.text("empty_reason"))
		}
	}
}

// TestFewReportsAreNoDaysExtreme: eleven reports between 35 and 47 °F may have missed
// either; twelve count. The normal low is 41: 35 is −6, two standard deviations of 3.
func TestFewReportsAreNoDaysExtreme(t *testing.T) {
	for n, want := range map[int64]string{11: "true <nil> <nil> <nil> few_observations few_observations few_observations", 12: "false -6 -2 below   "} {
		v := newWeather(t)
		f := func(text string) data.Temp { d, _ := data.ParseTemp(text, data.Fahrenheit); return d }
		deviation, low, high := data.Temp(3*500), f("37"), f("45")
		v.weather.Normals = []serving.DayNormal{{MonthDay: 626, Metric: data.TMin, WeatherNormal: serving.WeatherNormal{Source: "ncei", Station: "KLGA",
			Normal: weather.Normal{Value: f("41"), Deviation: &deviation, P10: &low, P90: &high}}}}
		over := false
		v.know("2026-06-26", data.TMin, data.KindStation, "metar", "KLGA", "35", func(a *serving.DayActual) { a.Observations, a.Provisional = &n, &over })
		r := exact[wire.CityAnomalies](t, v.get(access.Free, "/weather/city/nyc/anomalies").Body()).Data[0]
		class := "<nil>"
		if r.Class != nil {
			class = *r.Class
		}
		got := fmt.Sprint(*r.Provisional, " ", micro(r.Anomaly), " ", micro(r.Z), " ", class, " ", r.NullReasons["anomaly"], " ", r.NullReasons["z"], " ", r.NullReasons["class"])
		if got != want || r.Value != 3500 || *r.Normal != 4100 {
			t.Errorf("%d reports: %s, want %s; %+v", n, got, want, r)
		}
		a := exact[wire.CityActuals](t, v.get(access.Free, "/weather/city/nyc/actuals").Body()).Data[0]
		if *a.Provisional != (n < 12) || *a.TMin != 3500 || *a.Observations != n {
			t.Errorf("%d reports: %+v", n, a)
		}
		e := exact[wire.ForecastEvolution](t, v.get(access.Free, "/weather/forecast-evolution/nyc/2026-06-26?metric=tmin").Body())
		if *e.Actual.Provisional != (n < 12) {
			t.Errorf("%d reports: %+v", n, e.Actual)
		}
		v = newWeather(t)
		x := serving.WeatherExtreme{Actuals: []serving.WeatherActual{{Kind: data.KindStation, Source: "metar", Station: "KLGA", Value: f("35"), Observations: &n, Provisional: &over}}}
		day := serving.WeatherDay{Day: data.Date(0)}
		day.Day, _ = data.ParseDate("2026-06-26")
		day.Extremes[data.TMin] = x
		v.source.Snapshot().Desk.City("nyc").Weather = &serving.CityWeather{Days: []serving.WeatherDay{day}}
		city := exact[wire.One[wire.WeatherCitySummary]](t, v.get(access.Free, "/weather/city/nyc").Body()).Data.Actuals
		if len(city) != 1 || *city[0].Provisional != (n < 12) || *city[0].TMin != 3500 {
			t.Errorf("%d reports: %+v", n, city)
		}
	}
}

func micro(m *data.Micro) string {
	if m == nil {
		return "<nil>"
	}
	return fmt.Sprint(*m)
}

// TestTheGridSaysWhoseNormalAndWhyNoAnomaly: New York's normal high is that of Central Park, a
// neighbour of its station; there is no forecast for the day, and the low has no normal.
func TestTheGridSaysWhoseNormalAndWhyNoAnomaly(t *testing.T) {
	v := newWeather(t)
	city := v.source.Snapshot().Desk.City("nyc")
	day := serving.WeatherDay{Day: city.Today}
	high, _ := data.ParseTemp("82.9", data.Fahrenheit)
	day.Extremes[data.TMax].Normals = []serving.WeatherNormal{{Source: "ncei", Station: "KNYC", Normal: weather.Normal{Value: high}}}
	city.Weather = &serving.CityWeather{Days: []serving.WeatherDay{day}}
	for _, c := range exact[wire.WeatherCities](t, v.get(access.Free, "/weather/cities").Body()).Data {
		want := map[string]string{"forecast.tmax": "no_forecast", "forecast.tmin": "no_forecast", "anomaly.tmax": "no_forecast",
			"anomaly.tmin": "no_forecast", "normal.tmin": "no_normal"}
		if c.City != "nyc" {
			want["normal.tmax"] = "no_normal"
		} else if *c.Normal.Station != "KNYC" || *c.Normal.TMax != 8290 || c.Normal.TMin != nil || c.Station != "KLGA" {
			t.Errorf("c.Normal = %+v", c.Normal)
		}
		if diff := cmp.Diff(want, c.NullReasons); diff != "" || c.Anomaly != nil {
			t.Errorf("%s: diff = %s", c.City, diff)
		}
	}
}

// TestForecastsAndTheirConsensus: of New York's 27 June, gfs says 80 °F and icon 84,
// both within the day; nws was last heard 26 hours ago. Mean 82, standard deviation
// √8 = 2.828 (1,414 of 1/900 °C), spread 4. An ensemble's row has the percentiles of
// its members. gfs was 2 °F too cold a day ahead: 1,000 of 1/900 °C.
func TestForecastsAndTheirConsensus(t *testing.T) {
	v := newWeather(t)
	v.weather.AddForecast("nyc", "2026-06-26", data.TMax, "gfs", "2026-06-25T12:00:00Z", "78", data.Fahrenheit)
	for _, f := range [][3]string{{"nws", "2026-06-27T01:00:00Z", "70"}, {"gfs", "2026-06-27T04:00:00Z", "79"}, {"icon", "2026-06-27T10:00:00Z", "84"},
		{"gfs", "2026-06-27T16:00:00Z", "80"}} {
		v.weather.AddForecast("nyc", "2026-06-27", data.TMax, f[0], f[1], f[2], data.Fahrenheit)
	}
	v.weather.AddForecast("nyc", "2026-06-28", data.TMin, "eps", "2026-06-27T16:00:00Z", "65", data.Fahrenheit)
	for n := range 11 { // 60, 61 … 70 °F
		v.weather.Changes[5].Members = append(v.weather.Changes[5].Members, data.Degrees(60+n, data.Fahrenheit))
	}
	v.weather.AddForecast("nyc", "2026-07-04", data.TMax, "gfs", "2026-06-27T16:00:00Z", "90", data.Fahrenheit)
	var skills []serving.CitySkill
	for _, source := range []string{"consensus", "gfs"} {
		skills = append(skills, serving.CitySkill{SkillKey: weather.SkillKey{Source: source, Lead: 1}, Skill: weather.Skill{N: 1, Bias: -1000, MAE: 1000, RMSE: 1000}})
	}
	v.source.Snapshot().Desk.City("nyc").Weather = &serving.CityWeather{Skills: skills}

	f := exact[wire.CityForecast](t, v.get(access.Free, "/weather/city/nyc/forecast").Body())
	var got []string
	for _, r := range f.Data {
		got = append(got, fmt.Sprint(r.TargetDate, " ", r.Metric, " ", r.Source, " ", r.Value, " ", r.LeadDay, " ", r.Current, " ", r.Members))
	}
	want := []string{"2026-06-27 tmax gfs 8000 0 true 0", "2026-06-27 tmax icon 8400 0 true 0", "2026-06-27 tmax nws 7000 1 false 0", "2026-06-28 tmin eps 6500 1 true 11"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	c := f.Consensus[0]
	if len(f.Consensus) != 2 || c.Mean != 8200 || *c.Std != 2_828_000 || c.P10 != 8000 || c.P50 != 8200 || c.P90 != 8400 || c.Spread != 4_000_000 || c.N != 2 {
		t.Errorf("f.Consensus = %+v", f.Consensus)
	}
	if e := f.Data[3]; *e.P10 != 6100 || *e.P90 != 6900 || f.Data[0].P10 != nil || f.Consensus[1].Std != nil {
		t.Errorf("e.P10 = %d, e.P90 = %d", *e.P10, *e.P90)
	}
	if s := f.Skill; len(s) != 2 || s[0].Source != "consensus" || s[1].Source != "gfs" || s[1].LeadDay != 1 || s[1].Bias != -2_000_000 || s[1].MAE != 2_000_000 || s[1].N != 1 {
		t.Errorf("%+v", s)
	}
	for query, want := range map[string]string{
		"?days=8": "5 null", "?days=1": "3 null", "?metric=tmin": "1 null", "?source=gfs&days=8": "2 null", "?source=x": `0 "no_match"`,
		"?date=2026-06-26": "1 null", "?date=2026-06-25": `0 "no_forecast"`, "?date=2026-07-04": "1 null",
	} {
		r := v.get(access.Free, "/weather/city/nyc/forecast"+query)
		if got := fmt.Sprint(r.rows(t), " ", r.text("empty_reason")); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
	v.weather.AddForecast("london", "2026-05-01", data.TMax, "gfs", "2026-04-30T16:00:00Z", "20", data.Celsius)
	r := v.get(access.Free, "/weather/city/london/forecast?date=2026-05-01")
	if r.rows(t) != 0 || r.text("truncated") != "true" || r.text("upgrade_hint") != `"explorer"` || r.text("empty_reason") != `"plan_history"` {
		t.Errorf("a day older than the plan shows: %s", r.Body())
	}
	for _, bad := range []string{"days=17", "days=0", "date=2026-02-30", "metric=x"} {
		if r := v.get(access.Alpha, "/weather/city/nyc/forecast?"+bad); r.status != 400 {
			t.Errorf("?%s: status = %d", bad, r.status)
		}
	}
	for _, both := range []string{"date=2026-06-26&days=3", "days=7&date=2026-06-26"} {
		r := v.get(access.Alpha, "/weather/city/nyc/forecast?"+both)
		if r.status != 400 || r.text("code") != `"invalid_parameter"` || r.text("param") != `"days"` || !strings.Contains(r.text("detail"), "Give date or days, not both") {
			t.Errorf("?%s: status = %d, body = %s", both, r.status, r.Body())
		}
	}
}

// TestADeskWithoutDataAnswersEmpty: nothing was ever imported.
func TestADeskWithoutDataAnswersEmpty(t *testing.T) {
	desk := apitest.Desk(time.Time{})
	for _, c := range desk.Cities {
		c.Clock, c.Today = 0, 0
	}
	v := newVenue(t, &serving.Snapshot{Epoch: 1, Desk: desk})
	for _, path := range []string{"city/tokyo/forecast", "city/tokyo/actuals", "city/tokyo/anomalies", "forecast-evolution/tokyo/2026-06-27"} {
		r := v.get(access.Explorer, "/weather/"+path)
		if r.status != 200 || r.rows(t) != 0 || r.text("empty_reason") == "null" || r.text("local_date") != "null" {
			t.Errorf("%s: status = %d, body = %s", path, r.status, r.Body())
		}
	}
}
