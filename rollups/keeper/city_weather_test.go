package keeper_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/data/reference"
	"pmx/data/testfiles"
	"pmx/rollups"
	"pmx/rollups/keeper"
	"pmx/rollups/serving"
	"pmx/rollups/weather"
)

// cityWeather loads the weather of the given cities, or of all if none are given.
func cityWeather(t *testing.T, k *keeper.Keeper, clock time.Time, slugs ...string) map[string]*serving.CityWeather {
	t.Helper()
	var cities []data.City
	for _, slug := range slugs {
		c, _ := reference.Gazetteer().City(slug)
		cities = append(cities, c)
	}
	if len(slugs) == 0 {
		cities = reference.Gazetteer().Cities()
	}
	var out map[string]*serving.CityWeather
	err := k.DB().Write(context.Background(), func(conn *sql.Conn) (err error) {
		began := time.Now()
		out, err = rollups.LoadCityWeather(context.Background(), conn, cities, func(string) int64 { return clock.UnixMicro() })
		t.Logf("the weather of %d cities took %s", len(cities), time.Since(began).Round(100*time.Microsecond))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// issued returns every forecast in the database.
func issued(t *testing.T, k *keeper.Keeper) (all []data.Forecast) {
	t.Helper()
	for _, line := range strings.Fields(table(t, k, "SELECT city, source, metric, target, issued_at, value FROM weather_issue")) {
		cells := strings.Split(line, "|")
		f := data.Forecast{City: cells[0], Source: cells[1]}
		var metric int8
		if _, err := fmt.Sscan(strings.Join(cells[2:6], " "), &metric, &f.Target, &f.IssuedAt, &f.Value); err != nil {
			t.Fatal(err)
		}
		f.Metric = data.Metric(metric)
		all = append(all, f)
	}
	return all
}

// compareLeads compares the forecasts by which sources are scored with their definition.
func compareLeads(t *testing.T, k *keeper.Keeper) {
	t.Helper()
	want, got := map[weather.ScoreKey]string{}, map[weather.ScoreKey]string{}
	for key, f := range weather.Scored(reference.Gazetteer(), issued(t, k)) {
		want[key] = fmt.Sprint(f.IssuedAt, f.Value)
	}
	for _, line := range strings.Fields(table(t, k, "SELECT city, source, metric, target, lead_day, issued_at, value FROM weather_lead")) {
		cells := strings.Split(line, "|")
		key := weather.ScoreKey{City: cells[0], Source: cells[1]}
		var metric int8
		var at, value int64
		if _, err := fmt.Sscan(strings.Join(cells[2:7], " "), &metric, &key.Day, &key.Lead, &at, &value); err != nil {
			t.Fatal(err)
		}
		key.Metric = data.Metric(metric)
		if _, twice := got[key]; twice {
			t.Fatalf("%+v occurs twice", key)
		}
		got[key] = fmt.Sprint(at, value)
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
		t.Fatalf("%d forecasts are scored (-definition +database):\n%s", len(want), diff)
	}
}

// TestScoredForecastsFollowBatchByBatch imports forecasts of days around clock changes, in random
// files and order, some corrected later. After every file, the stored forecasts are those of the
// definition, and a rebuild gives the same.
func TestScoredForecastsFollowBatchByBatch(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	places := []string{"nyc", "lucknow", "wellington", "london"}
	k := open(t, t.TempDir())
	first := data.DateFrom(2026, time.March, 7)
	for range testfiles.Cases(3, 5) {
		var b strings.Builder
		b.WriteString(forecastHeader)
		for range 120 {
			target := first + data.Date(r.IntN(3))
			at := first.Time().Add(time.Duration(r.IntN(4*24)-40) * time.Hour)
			fmt.Fprintf(&b, "%s,%s,%s,%s,%s,%d.5,C\n", places[r.IntN(4)], target, []string{"tmax", "tmin"}[r.IntN(2)],
				[]string{"a", "b"}[r.IntN(2)], at.Format(time.RFC3339), r.IntN(30))
		}
		mustImport(t, k, write(t, "f.csv", b.String()))
		compareLeads(t, k)
		alsoVerify(t, k)
	}
	before := table(t, k, "FROM weather_lead ORDER BY ALL")
	if err := k.Rebuild(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, table(t, k, "FROM weather_lead ORDER BY ALL")); diff != "" {
		t.Errorf("a rebuild changes (-before +after):\n%s", diff)
	}
}

func TestACityWithoutWeatherSaysWhy(t *testing.T) {
	k := open(t, t.TempDir())
	clock := time.Date(2026, time.July, 2, 3, 0, 0, 0, time.UTC)
	all := cityWeather(t, k, clock)
	w := all["nyc"]
	if len(all) != 55 || w.Today.String() != "2026-07-01" || len(w.Days) != 15 || w.Days[14].Day != w.Today {
		t.Fatalf("%d cities, %+v", len(all), w)
	}
	x := w.Extreme(w.Today, data.TMax)
	if _, why := x.Consensus(clock.UnixMicro()); why != serving.NoForecast || x.Station != "KLGA" {
		t.Errorf("why = %s for the station %s", why, x.Station)
	}
	if _, why := w.Skill(weather.ConsensusSource, data.TMax, 1); why != serving.NoMeasuredDay {
		t.Errorf("why = %s", why)
	}
	if x.Running("KLGA") != nil || x.Actual(data.KindStation) != nil || x.Normal(data.KindStation) != nil || w.Day(w.Today+1) != nil {
		t.Error("an empty database has values")
	}
	if x := w.Extreme(w.Today+40, data.TMin); len(x.Readings) != 0 {
		t.Errorf("x = %+v", x)
	}
}

// TestTheWeatherOfACityByHand: New York at noon of 2 July 2026, by its clock.
func TestTheWeatherOfACityByHand(t *testing.T) {
	k := open(t, t.TempDir())
	obs := "city,station,source,ts,report,value,unit,whole,seen_at\n"
	for hour := range 12 { // 1 July: 20 °C and up to 31 at 15:00; the day is over once the next one has a report
		obs += fmt.Sprintf("nyc,KLGA,metar,2026-07-01T%02d:51:00Z,routine,%d.4,C,%d,\n", 8+hour, 20+hour, 20+hour)
	}
	mustImport(t, k,
		write(t, "f.csv", forecastHeader+
			"nyc,2026-07-01,tmax,gfs,2026-06-30T12:00:00Z,30.4,C\n"+ // the day before: a degree too cold
			"nyc,2026-07-01,tmax,gfs,2026-06-30T11:00:00Z,10,C\n"+ // not the newest for that date
			"nyc,2026-07-01,tmax,nws,2026-06-30T20:00:00Z,34.4,C\n"+ // 3 degrees too warm
			"nyc,2026-07-01,tmax,nws,2026-07-01T17:00:00Z,31.4,C\n"+ // after noon
			"nyc,2026-07-02,tmax,gfs,2026-07-01T10:00:00Z,32,C\n"+
			"nyc,2026-07-02,tmax,gfs,2026-07-01T12:00:00Z,33,C\n"+
			"nyc,2026-07-02,tmax,gfs,2026-07-02T12:00:00Z,33,C\n"+
			"nyc,2026-07-02,tmax,nws,2026-07-01T15:59:00Z,40,C\n"+ // 24 hours and a minute ago
			"nyc,2026-07-04,tmin,nws,2026-07-02T12:00:00Z,20,C\n"),
		write(t, "o.csv", obs+
			"nyc,KLGA,metar,2026-07-02T10:51:00Z,routine,24.4,C,24,\nnyc,KLGA,metar,2026-07-02T14:51:00Z,special,28.6,C,28,\n"+
			"nyc,KJFK,metar,2026-07-02T14:51:00Z,special,38.6,C,38,\n"),
		write(t, "a.csv", "city,day,metric,kind,source,station,seen_at,value,unit,provisional\n"+
			"nyc,2026-06-30,tmax,reanalysis,archive_best_match,,2026-07-01T09:00:00Z,29,C,true\n"+
			"nyc,2026-06-30,tmax,reanalysis,archive_best_match,,2026-07-02T09:00:00Z,29.5,C,true\n"+
			"nyc,2026-06-30,tmax,station,iem,KLGA,2026-07-01T12:00:00Z,86,F,\n"),
		write(t, "n.csv", "city,metric,month_day,source,station,period,value,unit,deviation,p10,p90,years\n"+
			"nyc,tmax,07-02,iem,KLGA,1991-2020,84,F,,,,\nnyc,tmax,07-02,ncei,KLGA,1991-2020,83.4,F,6.5,,,30\nnyc,tmax,07-02,ncei,KNYC,1991-2020,82,F,6,,,30\n"))
	clock := time.Date(2026, time.July, 2, 16, 0, 0, 0, time.UTC)
	w := cityWeather(t, k, clock, "nyc", "london")["nyc"]
	x := w.Extreme(w.Today, data.TMax)
	c, why := x.Consensus(clock.UnixMicro())
	if why != "" || c.Sources != 1 || c.Mean.Text(data.Celsius) != "33.0" || len(x.Readings) != 2 {
		t.Fatalf("c = %+v, why = %s, x.Readings = %+v", c, why, x.Readings)
	}
	if r := x.Readings[0]; time.UnixMicro(r.IssuedAt).UTC().Hour() != 12 || r.ConfirmedAt-r.IssuedAt != 86_400_000_000 {
		t.Errorf("r = %+v", r)
	}
	if _, why := x.Consensus(clock.AddDate(0, 0, 2).UnixMicro()); why != serving.StaleForecast {
		t.Errorf("two days later: why = %s", why)
	}
	running := x.Running(x.Station)
	if running.Value.Text(data.Celsius) != "28.6" || *running.Observations != 2 || !*running.Provisional ||
		running.Degrees(weather.Rules{Unit: data.Celsius}) != 28 || running.Degrees(weather.Rules{Unit: data.Fahrenheit}) != 83 {
		t.Errorf("running = %+v", running)
	}
	if n := x.Normal(data.KindStation); len(x.Normals) != 3 || n.Source != "ncei" || n.Station != "KLGA" || n.Deviation.Difference(data.Fahrenheit).String() != "6.5" {
		t.Errorf("x.Normals = %+v", x.Normals)
	}
	if last := w.Days[len(w.Days)-1]; last.Day != w.Today+2 || len(last.Extremes[data.TMin].Readings) != 1 {
		t.Errorf("last = %+v", last)
	}
	yesterday, before := w.Extreme(w.Today-1, data.TMax), w.Extreme(w.Today-2, data.TMax)
	if *yesterday.Truth != (weather.Truth{Value: 28_260, Basis: weather.FromStationDay}) || before.Truth.Basis != weather.FromStationReport {
		t.Errorf("yesterday.Truth = %+v, before.Truth = %+v", yesterday.Truth, before.Truth)
	}
	if a := before.Actual(data.KindReanalysis); a.Value.Text(data.Celsius) != "29.5" || a.FirstValue.Text(data.Celsius) != "29.0" ||
		a.Revisions != 1 || time.UnixMicro(a.RevisedAt).UTC().Format(time.DateOnly) != "2026-07-02" {
		t.Errorf("a = %+v", a)
	}
	var skills []string
	for _, s := range w.Skills {
		skills = append(skills, fmt.Sprint(s.Source, " ", s.Metric, " ", s.Lead, " ", s.N, " ", s.Bias.Difference(data.Celsius), " ", s.RMSE.Difference(data.Celsius)))
	}
	if diff := cmp.Diff([]string{"consensus tmax 1 1 1 1", "gfs tmax 1 1 -1 1", "nws tmax 1 1 3 3"}, skills); diff != "" {
		t.Error(diff)
	}
	if s, why := w.Skill("gfs", data.TMax, 1); why != serving.FewScoredDays || s.N != 1 {
		t.Errorf("s = %+v, why = %s", s, why)
	}
	if _, why := w.Skill("gfs", data.TMax, 9); why != serving.NoScoredDays {
		t.Errorf("why = %s", why)
	}
	if _, why := w.Skill("gfs", data.TMin, 1); why != serving.NoScoredDays {
		t.Errorf("the low of yesterday should be known, but why = %s", why)
	}
}

// TestTheWeatherOfTheSampleVenue: the values that a few statements read for all cities are those of
// the views for each city, and the skills are those of the definition.
func TestTheWeatherOfTheSampleVenue(t *testing.T) {
	k, man := readSample(t), sampleVenue.manifest
	compareLeads(t, k)
	clock := man.End.Add(-time.Microsecond)
	all := cityWeather(t, k, clock)
	said := weather.Scored(reference.Gazetteer(), issued(t, k))
	bases, hits := map[weather.TruthBasis]int{}, int64(0)
	var readings, actuals strings.Builder
	for _, c := range reference.Gazetteer().Cities() {
		w := all[c.Slug]
		for i := range w.Days {
			for m, x := range w.Days[i].Extremes {
				for _, r := range x.Readings {
					fmt.Fprintf(&readings, "%s|%d|%d|%s|%d|%d|%d|%d|\n", c.Slug, w.Days[i].Day, m, r.Source, r.IssuedAt, r.ConfirmedAt, r.Value, len(r.Members))
				}
				for _, a := range x.Actuals {
					n, provisional := int64(0), false
					if a.Observations != nil {
						n = *a.Observations
					}
					if a.Provisional != nil {
						provisional = *a.Provisional
					}
					fmt.Fprintf(&actuals, "%s|%d|%d|%d|%s|%s|%d|%d|%t|%d|%d|\n", c.Slug, w.Days[i].Day, m, a.Kind, a.Source, a.Station, a.Value, n, provisional,
						a.Revisions, a.SeenAt)
				}
				if x.Truth != nil {
					bases[x.Truth.Basis]++
				}
				if d := w.Days[i].Day; d >= w.Today && d <= w.Today+1 && x.Normal(data.KindStation) == nil {
					t.Errorf("%s %s: no normal", c.Slug, d)
				}
			}
		}
		hits += compareSkills(t, w, said)
	}
	if hits == 0 {
		t.Error("no forecast is in a bracket that won")
	}
	end := int(data.DateOf(man.End))
	compare := func(what, got, query string) {
		want := table(t, k, query)
		if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" || want == "" {
			t.Errorf("%s (-view +loaded):\n%s", what, diff)
		}
	}
	values := make([]string, 0, 55)
	for slug, w := range all {
		values = append(values, fmt.Sprintf("('%s', %d)", slug, w.Today))
	}
	today := "(VALUES " + strings.Join(values, ", ") + ") AS t(slug, today)"
	compare("readings", readings.String(), fmt.Sprintf(`SELECT city, target, metric, source, max(issued_at), max(confirmed_at), arg_max(value, issued_at),
		coalesce(len(arg_max(members, issued_at)), 0) FROM weather_forecast JOIN %s ON slug = city WHERE target >= today AND target >= %d
		GROUP BY city, target, metric, source`, today, end-2))
	compare("actuals", actuals.String(), fmt.Sprintf(`SELECT city, day, metric, kind, source, station, value, coalesce(observations, 0),
		coalesce(provisional, false), revisions, seen_at FROM weather_actual JOIN %s ON slug = city WHERE day BETWEEN today - 14 AND today`, today))
	if bases[weather.FromStationDay] == 0 || bases[weather.FromStationReport] == 0 || bases[weather.FromSettled] == 0 {
		t.Errorf("the actual values are from %v", bases)
	}
}

// compareSkills compares a city's skills with their definition.
func compareSkills(t *testing.T, w *serving.CityWeather, said map[weather.ScoreKey]data.Forecast) (hits int64) {
	t.Helper()
	of := map[weather.ScoreKey]data.Forecast{}
	for k, f := range said {
		if k.City == w.City.Slug && k.Day < w.Today {
			of[k] = f
		}
	}
	want := weather.Score(of, func(m data.Metric, d data.Date) (data.Temp, bool) {
		if x := w.Extreme(d, m); x.Truth != nil {
			return x.Truth.Value, true
		}
		return 0, false
	}, func(m data.Metric, d data.Date) *weather.Settled { return w.Extreme(d, m).Won })
	got := map[weather.SkillKey]weather.Skill{}
	for _, s := range w.Skills {
		got[s.SkillKey] = s.Skill
		hits += s.Hits
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
		t.Errorf("%s: %d skills (-definition +loaded):\n%s", w.City.Slug, len(want), diff)
	}
	return hits
}

func sorted(lines string) []string {
	list := strings.Fields(lines)
	slices.Sort(list)
	return list
}

// TestWhatIsMeasuredCountsByItsPrecision: 10 °C in whole degrees means a reading of 9.5 or more,
// 49.1 °F, so 49 °F may still be the high; 9.9 °C in tenths means 9.85 or more, 49.7 °F, which is
// 50. A report without whole degrees counts next to those with them.
func TestWhatIsMeasuredCountsByItsPrecision(t *testing.T) {
	testfiles.InLong(t, "TestTheWeatherOfACityByHand has measurements worked out by hand")
	fahrenheit, celsius := weather.Rules{Unit: data.Fahrenheit}, weather.Rules{Unit: data.Celsius}
	for name, tc := range map[string]struct {
		rows      string
		high, low weather.SoFar // in °F
		highC     weather.SoFar // in °C
	}{
		"whole degrees":            {"10,C,10", weather.SoFar{Degrees: 50, Bound: 49}, weather.SoFar{Degrees: 50, Bound: 51}, weather.SoFar{Degrees: 10, Bound: 10}},
		"whole without the group":  {"10,C,", weather.SoFar{Degrees: 50, Bound: 49}, weather.SoFar{Degrees: 50, Bound: 51}, weather.SoFar{Degrees: 10, Bound: 10}},
		"tenths beside the group":  {"9.9,C,10", weather.SoFar{Degrees: 50, Bound: 50}, weather.SoFar{Degrees: 50, Bound: 50}, weather.SoFar{Degrees: 10, Bound: 10}},
		"whole degrees Fahrenheit": {"51,F,", weather.SoFar{Degrees: 51, Bound: 51}, weather.SoFar{Degrees: 51, Bound: 51}, weather.SoFar{Degrees: 11, Bound: 10}},
		"both":                     {"10,C,10|9.9,C,10", weather.SoFar{Degrees: 50, Bound: 50}, weather.SoFar{Degrees: 50, Bound: 50}, weather.SoFar{Degrees: 10, Bound: 10}},
		"a whole degree above the groups": {"10.2,C,10|12,C,", weather.SoFar{Degrees: 54, Bound: 53}, weather.SoFar{Degrees: 50, Bound: 50},
			weather.SoFar{Degrees: 12, Bound: 12}},
	} {
		t.Run(name, func(t *testing.T) {
			k, obs := open(t, t.TempDir()), "city,station,source,ts,report,value,unit,whole,seen_at\n"
			for i, row := range strings.Split(tc.rows, "|") {
				obs += fmt.Sprintf("nyc,KLGA,metar,2026-07-02T1%d:51:00Z,routine,%s,\n", i, row)
			}
			mustImport(t, k, write(t, "o.csv", obs))
			w := cityWeather(t, k, time.Date(2026, time.July, 2, 16, 0, 0, 0, time.UTC), "nyc")["nyc"]
			high, low := w.Extreme(w.Today, data.TMax).Running("KLGA"), w.Extreme(w.Today, data.TMin).Running("KLGA")
			if got := high.SoFar(fahrenheit); got != tc.high {
				t.Errorf("the high in °F: got %+v", got)
			}
			if got := low.SoFar(fahrenheit); got != tc.low {
				t.Errorf("the low in °F: got %+v", got)
			}
			if got := high.SoFar(celsius); got != tc.highC {
				t.Errorf("the high in °C: got %+v", got)
			}
		})
	}
}
