package e2e_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/keeper"

	"pmx/data/testfiles"
)

// Plain statements over what was imported, temperatures in tenths of a degree Fahrenheit and
// anomalies in 1/900 °C, of value and normal to a hundredth of a degree. In November, New York is
// five hours behind UTC.
const (
	plainChanges = `WITH said AS (
  SELECT source, issued_at, value, members, row_number() OVER (PARTITION BY source ORDER BY issued_at) AS n
  FROM weather_issue WHERE city = 'nyc' AND metric = 0 AND target = ?::INT
)
SELECT concat_ws(' ', s.source, s.issued_at // 1000000, round((s.value + 16000) / 50)::INT, coalesce(round((s.value - p.value) / 50)::INT::VARCHAR, '-'))
FROM said AS s LEFT JOIN said AS p ON p.source = s.source AND p.n = s.n - 1
WHERE p.n IS NULL OR p.value <> s.value OR p.members IS DISTINCT FROM s.members
ORDER BY s.issued_at, s.source`

	plainReports = `WITH last AS (
  SELECT day, kind, source, station, metric, arg_max(value, seen_at) AS value, arg_min(value, seen_at) AS first
  FROM weather_report WHERE city = 'nyc' AND day >= ?::INT - 400 GROUP BY ALL
), single AS (
  SELECT (ts // 1000000 - 18000) // 86400 AS day, 1 AS kind, source, station, max(value) AS high, min(value) AS low, count(DISTINCT ts) AS n
  FROM weather_obs WHERE city = 'nyc' GROUP BY ALL
)
SELECT line FROM (
  SELECT day, concat_ws(' ', (DATE '1970-01-01' + day::INT)::VARCHAR, ['station', 'reanalysis'][kind], source, round((max(value) FILTER (metric = 0) + 16000) / 50)::INT,
    round((max(value) FILTER (metric = 1) + 16000) / 50)::INT, round((max(first) FILTER (metric = 0) + 16000) / 50)::INT, '-') AS line
  FROM last GROUP BY day, kind, source, station
  UNION ALL
  SELECT day, concat_ws(' ', (DATE '1970-01-01' + day::INT)::VARCHAR, 'station', source, round((high + 16000) / 50)::INT, round((low + 16000) / 50)::INT,
    round((high + 16000) / 50)::INT, n) FROM single
) ORDER BY day DESC, line`

	plainAnomalies = `SELECT concat_ws(' ', (DATE '1970-01-01' + day)::VARCHAR, metric, source, coalesce(station, '-'), 
  coalesce(if(coalesce(observations, 12) < 12, NULL, ((round(value / step) - round(normal / step)) * step)::INT)::VARCHAR, '-')) -- a few reports are no day's extreme
FROM (
  SELECT a.day, a.metric, a.source, nullif(a.station, '') AS station, a.value, a.observations, if(a.city = 'nyc', 5, 9) AS step, arg_max(n.value, n.source) AS normal -- ncei before iem
  FROM weather_actual AS a
  LEFT JOIN weather_normal AS n ON n.city = a.city AND n.metric = a.metric
    AND n.month_day = month(DATE '1970-01-01' + a.day) * 100 + day(DATE '1970-01-01' + a.day)
    AND (a.kind = 1 AND n.station = a.station OR a.kind = 2 AND n.source = 'derived:' || a.source)
  WHERE a.city = ? GROUP BY a.city, a.day, a.metric, a.source, a.station, a.value, a.observations
  QUALIFY dense_rank() OVER (ORDER BY a.day DESC) <= 20
) ORDER BY 1`
)

// plainSkill scores the forecasts of New York's highs against KLGA: its reports of days that are
// over, else its daily summary. Forecasts of the day itself count until noon, 17:00 UTC. A forecast
// is a hit if its whole degrees, halves rounded up, lie in the bracket that won.
const plainSkill = `WITH obs AS (
  SELECT (ts // 1000000 - 18000) // 86400 AS day, max(value) AS value, count(DISTINCT ts) AS n FROM weather_obs WHERE city = 'nyc' GROUP BY 1
), truth AS (
  SELECT r.day, coalesce(any_value(o.value), any_value(r.value)) AS value FROM weather_report AS r
  LEFT JOIN obs AS o ON o.day = r.day AND o.n >= 12 AND o.day < (SELECT max(day) FROM obs)
  WHERE r.city = 'nyc' AND r.kind = 1 AND r.metric = 0 AND r.station = 'KLGA' AND r.day < (SELECT max(day) FROM obs) GROUP BY r.day
), said AS (
  SELECT source, target, target - (issued_at // 1000000 - 18000) // 86400 AS lead, arg_max(value, issued_at) AS value FROM weather_issue
  WHERE city = 'nyc' AND metric = 0 AND issued_at // 1000000 < target * 86400 + 17 * 3600 GROUP BY ALL
), won AS (
  SELECT strptime(regexp_extract(event_slug, 'on-(.*)$', 1), ['%B-%-d-%Y', '%B-%-d'])::DATE AS day, group_item_title AS label,
    regexp_extract(group_item_title, '^(-?[0-9]+)(?:-(-?[0-9]+))?', 1)::INT AS lo, regexp_extract(group_item_title, '^(-?[0-9]+)(?:-(-?[0-9]+))?', 2) AS hi
  FROM markets WHERE event_slug LIKE 'highest-temperature-in-nyc-on-%' AND payouts[1] = 1000000
), hit AS (
  SELECT s.source, s.lead, s.value, s.target, t.value AS truth, w.label IS NOT NULL AS settled,
    CASE WHEN w.label LIKE '%below' THEN degrees <= w.lo WHEN w.label LIKE '%higher' THEN degrees >= w.lo ELSE degrees BETWEEN w.lo AND w.hi::INT END AS hit
  FROM (SELECT *, floor((value + 16000) / 500 + 0.5) AS degrees FROM said) AS s JOIN truth AS t ON t.day = s.target
  LEFT JOIN won AS w ON w.day = DATE '1970-01-01' + s.target::INT
)
SELECT concat_ws(' ', source, lead, count(*), (round(avg(abs(value - truth))) * 2000)::BIGINT, (round(avg(value - truth)) * 2000)::BIGINT,
  count(*) FILTER (settled), coalesce((floor(100000000 * count(*) FILTER (hit) / nullif(count(*) FILTER (settled), 0) + 0.5))::BIGINT, -1))
FROM hit GROUP BY source, lead`

func TestForecastsAndSkillEqualPlainSQLOnTheSampleVenue(t *testing.T) {
	v := readSample(t)
	f := reply[wire.CityForecast](v, "/weather/city/nyc/forecast?metric=tmax")
	var got []string
	hits := data.Micro(0)
	for _, s := range f.Skill {
		if s.Source != "consensus" {
			hit := data.Micro(-1)
			if s.HitPct != nil {
				hit = *s.HitPct
				hits += hit
			}
			got = append(got, fmt.Sprint(s.Source, " ", s.LeadDay, " ", s.N, " ", int64(s.MAE), " ", int64(s.Bias), " ", s.SettledDays, " ", int64(hit)))
		}
	}
	if hits == 0 {
		t.Error("no forecast fell into a bracket that won")
	}
	if diff := cmp.Diff(v.table(plainSkill), got, sameLines); diff != "" || len(got) < 9 {
		t.Errorf("skill (-facts +API):\n%s", diff)
	}
	for _, c := range f.Consensus {
		sum, n := wire.Degrees(0), 0
		for _, r := range f.Data {
			if r.TargetDate == c.TargetDate && r.Current {
				sum, n = sum+r.Value, n+1
			}
		}
		if n != c.N || n == 0 || sum/wire.Degrees(n)-c.Mean > 1 || c.Mean-sum/wire.Degrees(n) > 1 {
			t.Errorf("%s: mean %d of %d sources, the rows give %d of %d", c.TargetDate, c.Mean, c.N, sum/wire.Degrees(n), n)
		}
	}
	if len(f.Consensus) < 3 {
		t.Errorf("got %d days", len(f.Consensus))
	}
}

// sameLines ignores the order of lines.
var sameLines = cmpopts.SortSlices(func(a, b string) bool { return a < b })

// tenths formats hundredths of a degree as tenths.
func tenths(d wire.Degrees) string { return fmt.Sprint((int64(d) + 5) / 10) }

func TestWeatherSeriesEqualPlainSQLOnTheSampleVenue(t *testing.T) {
	v := readSample(t)
	v.clock.Set(time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC))
	for _, day := range v.table("SELECT DISTINCT target::VARCHAR FROM weather_issue WHERE city = 'nyc' ORDER BY 1") {
		date := v.table("SELECT (DATE '1970-01-01' + ?::INT)::VARCHAR", day)[0]
		var got []string
		for _, s := range reply[wire.ForecastEvolution](v, "/weather/forecast-evolution/nyc/"+date+"?limit=2000").Data {
			delta := "-"
			if s.DeltaVsPrev != nil {
				delta = fmt.Sprint(int64(*s.DeltaVsPrev) / 100_000)
			}
			got = append(got, fmt.Sprint(s.Source, " ", s.IssuedAt.Unix(), " ", tenths(s.Value), " ", delta))
		}
		if diff := cmp.Diff(v.table(plainChanges, day), got); diff != "" || len(got) == 0 {
			t.Errorf("evolution of %s (-facts +API):\n%s", date, diff)
		}
	}
	var got []string
	for _, r := range reply[wire.CityActuals](v, "/weather/city/nyc/actuals?limit=365").Data {
		n := "-"
		if r.Observations != nil {
			n = fmt.Sprint(*r.Observations)
		}
		if r.Kind != "settled" {
			got = append(got, strings.Join([]string{r.Date, r.Kind, *r.Source, tenths(*r.TMax), tenths(*r.TMin), tenths(*r.FirstTMax), n}, " "))
		}
	}
	today := v.table("SELECT max(day)::VARCHAR FROM weather_obs WHERE city = 'nyc'")[0]
	if diff := cmp.Diff(v.table(plainReports, today), got, sameLines); diff != "" || len(got) < 10 {
		t.Errorf("%d actuals (-facts +API):\n%s", len(got), diff)
	}
	for _, city := range []string{"nyc", "london", "hong-kong"} {
		var got []string
		for _, r := range reply[wire.CityAnomalies](v, "/weather/city/"+city+"/anomalies?basis=actual&limit=20").Data {
			anomaly, metric := "-", 0
			if r.Anomaly != nil {
				degree := data.Unit(r.Unit[0]).Degree() // in 1/900 °C
				anomaly = fmt.Sprint(int64(data.MulDiv(*r.Anomaly, data.Micro(degree), data.One)))
			}
			if r.Metric == "tmin" {
				metric = 1
			}
			got = append(got, fmt.Sprint(r.Date, " ", metric, " ", r.Source, " ", orDash(r.Station), " ", anomaly))
		}
		if diff := cmp.Diff(v.table(plainAnomalies, city), got, sameLines); diff != "" || len(got) < 20 {
			t.Errorf("anomalies of %s (-facts +API):\n%s", city, diff)
		}
	}
}

// TestEvolutionOfKeptForecasts: forecasts of London's and New York's 26 June 2026 from stored
// responses, and London's actual value. A response with unchanged values is not a step.
func TestEvolutionOfKeptForecasts(t *testing.T) {
	kept, err := filepath.Glob(testfiles.Path("feeds", "slices", "openmeteo", "weather_2026-06-2*.ndjson"))
	if err != nil || len(kept) != 3 {
		t.Fatal(kept, err)
	}
	v := newVenue(t)
	if res, err := v.keeper.Import(t.Context(), keeper.Request{Paths: kept}, nil); err != nil || len(res.Failed) > 0 {
		t.Fatalf("err = %v, res.Failed = %+v", err, res.Failed)
	}
	for _, tc := range []struct {
		city, metric, unit string
		steps              []string
	}{
		{"london", "tmax", "C", []string{"2026-06-24T08:33:10Z 31.9", "2026-06-24T14:01:10Z 33.4", "2026-06-25T09:00:10Z 31.9"}},
		{"london", "tmin", "C", []string{"2026-06-24T08:33:10Z 19.2", "2026-06-25T08:00:10Z 19.0", "2026-06-25T09:00:10Z 19.2"}},
		{"nyc", "tmax", "F", []string{"2026-06-24T08:33:20Z 91.2", "2026-06-25T08:00:20Z 89.9"}},
		{"nyc", "tmin", "F", []string{"2026-06-24T08:33:20Z 72.4"}},
	} {
		e, got := evolution(v, tc.city, "2026-06-26", tc.metric)
		if diff := cmp.Diff(tc.steps, got); diff != "" || e.Unit != tc.unit || len(e.Sources) != 1 {
			t.Errorf("%s %s of %d sources (-want +got):\n%s", tc.city, tc.metric, len(e.Sources), diff)
		}
	}
	// Up by a degree and a half and down again; the actual value was 32.5.
	if e, _ := evolution(v, "london", "2026-06-26", "tmax"); e.First.Value != 3190 || *e.Range != 1_500_000 || e.Latest.Value != 3190 ||
		*e.TotalDrift != 0 || e.Actual == nil || e.Actual.Kind != "reanalysis" || e.Actual.Value != 3250 {
		t.Errorf("e.EvolutionSeries.First = %+v, e.Actual = %+v", e.EvolutionSeries.First, e.Actual)
	}
}

// evolution returns a day's forecasts from the API, and its steps as time and value.
func evolution(v *venue, city, day, metric string) (e wire.ForecastEvolution, steps []string) {
	e = reply[wire.ForecastEvolution](v, "/weather/forecast-evolution/"+city+"/"+day+"?metric="+metric)
	for _, s := range e.Data {
		value, _ := s.Value.MarshalJSON()
		steps = append(steps, s.IssuedAt.Format("2006-01-02T15:04:05Z")+" "+string(value))
	}
	return e, steps
}

// sharedFiles are captured files below a folder; the test is skipped without them.
func sharedFiles(t *testing.T, folder, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(testfiles.Captured(t, folder), pattern))
	if err != nil || len(files) == 0 {
		t.Skipf("the captured files are not here (%s, %v)", folder, err)
	}
	return files
}

// TestEvolutionOfRealForecasts: London's 26 June 2026 and New York's 27 June, compared with figures
// computed independently from the same captured responses. There, a row is a change of either
// extreme, and the responses of 28 June were stored too.
func TestEvolutionOfRealForecasts(t *testing.T) {
	snapshots := sharedFiles(t, "E_weather/openmeteo_snapshots", "weather_2026-06-2*.ndjson")
	file, err := os.Open(sharedFiles(t, "C_weather_markets/derived", "forecast_evolution_4cities.csv")[0])
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	v := newVenue(t)
	// Rows of days that were not over, and of a city by another station, are refused.
	if res, err := v.keeper.Import(t.Context(), keeper.Request{Paths: snapshots}, nil); err != nil || len(res.Failed) > 0 {
		t.Fatalf("err = %v, res.Failed = %+v", err, res.Failed)
	}
	for city, c := range map[string]struct {
		title, date, unit string
	}{"london": {"London", "2026-06-26", "C"}, "nyc": {"NYC", "2026-06-27", "F"}} {
		for m, metric := range []string{"tmax", "tmin"} {
			var want []string
			last := ""
			for _, r := range rows[1:] {
				if r[0] == c.title && r[1] == c.date && r[3] == "forecast" && r[5+m] != last && r[4] < "2026-06-28" {
					last = r[5+m]
					want = append(want, r[4]+" "+last)
				}
			}
			e, got := evolution(v, city, c.date, metric)
			if diff := cmp.Diff(want, got); diff != "" || e.Unit != c.unit || len(e.Sources) != 1 {
				t.Errorf("%s %s %s of %d sources (-worked out +API):\n%s", city, c.date, metric, len(e.Sources), diff)
			}
		}
	}
	if e := reply[wire.ForecastEvolution](v, "/weather/forecast-evolution/london/2026-06-26"); e.First.Value != 3360 || *e.Range != 5_900_000 || e.Latest.Value != 3570 ||
		*e.TotalDrift != 2_100_000 || e.Actual == nil || e.Actual.Kind != "reanalysis" || e.Actual.Value != 3620 {
		t.Errorf("want 33.6 to 35.7, between 31.9 and 37.8, and 36.2 as the actual value: %+v %+v", e.EvolutionSeries.First, e.Actual)
	}
}
