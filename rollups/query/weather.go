package query

import (
	"cmp"
	"context"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"pmx/data"
	"pmx/rollups/serving"
	"pmx/rollups/weather"
)

// cityDays names a city and a range of its days in a statement.
func cityDays(city string, first, last data.Date) []string {
	return []string{"@city", strings.ReplaceAll(city, "'", "''"), "@first", strconv.Itoa(int(first)), "@last", strconv.Itoa(int(last))}
}

// ForecastChanges returns the points at which sources changed their forecasts of a city's days from
// first up to last, by day, metric, time and source.
func (r *Reader) ForecastChanges(ctx context.Context, city string, first, last data.Date, metrics []data.Metric) ([]serving.ForecastChange, error) {
	var out []serving.ForecastChange
	type changeRow struct {
		ReadingRow
		Shift int32 `sql:"shift"`
	}
	err := each(ctx, r, "ForecastChanges", func(row *changeRow) {
		out = append(out, serving.ForecastChange{ConfirmedAt: row.ConfirmedAt, Forecast: data.Forecast{City: city, Target: row.Target, Metric: row.Metric,
			Source: row.Source, IssuedAt: row.IssuedAt, RunAt: row.RunAt, Value: row.Value, Members: row.Members, Shift: row.Shift}})
	}, append(cityDays(city, first, last), "@metrics", list(metrics))...)
	return out, err
}

// DayActuals returns the current values of sources for a city's days from first up to last, by day,
// metric, kind, source and station.
func (r *Reader) DayActuals(ctx context.Context, city string, first, last data.Date) ([]serving.DayActual, error) {
	out, err := r.dayReports(ctx, city, first, last)
	if err != nil {
		return nil, err
	}
	type stationDay struct {
		Day          data.Date `sql:"day"`
		Source       string    `sql:"source"`
		Station      string    `sql:"station"`
		Max          data.Temp `sql:"tmax"`
		Min          data.Temp `sql:"tmin"`
		Observations int64     `sql:"observations"`
		FirstTS      int64     `sql:"first_ts"`
		LastTS       int64     `sql:"last_ts"`
		SeenAt       int64     `sql:"seen_at"`
		Running      bool      `sql:"running"`
	}
	err = each(ctx, r, "StationDays", func(row *stationDay) {
		for metric, value := range []data.Temp{data.TMax: row.Max, data.TMin: row.Min} {
			n, running := row.Observations, row.Running
			out = append(out, serving.DayActual{Day: row.Day, Metric: data.Metric(metric), WeatherActual: serving.WeatherActual{
				Kind: data.KindStation, Source: row.Source, Station: row.Station, Value: value, FirstValue: value, Observations: &n,
				FirstTS: row.FirstTS, LastTS: row.LastTS, SeenAt: row.SeenAt, Provisional: &running}})
		}
	}, cityDays(city, first, last)...)
	slices.SortStableFunc(out, func(a, b serving.DayActual) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Source, b.Source),
			cmp.Compare(a.Station, b.Station))
	})
	return out, err
}

// dayReports returns the last value of every source for whole days, from the view weather_reported.
func (r *Reader) dayReports(ctx context.Context, city string, first, last data.Date) ([]serving.DayActual, error) {
	var series serving.ActualHistory
	type reportRow struct {
		Day         data.Date       `sql:"day"`
		Metric      data.Metric     `sql:"metric"`
		Kind        data.ActualKind `sql:"kind"`
		Source      string          `sql:"source"`
		Station     string          `sql:"station"`
		SeenAt      int64           `sql:"seen_at"`
		Value       *data.Temp      `sql:"value"` // nil: withdrawn
		Provisional *bool           `sql:"provisional"`
		Shift       int32           `sql:"shift"`
	}
	err := each(ctx, r, "DayReports", func(row *reportRow) {
		said := serving.DayActual{Day: row.Day, Metric: row.Metric, WeatherActual: serving.WeatherActual{Kind: row.Kind, Source: row.Source,
			Station: row.Station, SeenAt: row.SeenAt, Provisional: row.Provisional, Shift: row.Shift}}
		if row.Value != nil {
			said.Value, said.FirstValue = *row.Value, *row.Value
		}
		series.Add(said, row.Value == nil)
	}, cityDays(city, first, last)...)
	return series.Current(), err
}

// ActualDays returns the n newest days of a city from first up to last, newest first, that have a
// value for one of the metrics, of one of the kinds, from a source ("" for any).
func (r *Reader) ActualDays(ctx context.Context, city string, first, last data.Date, metrics []data.Metric, kinds []data.ActualKind,
	source string, n int) ([]data.Date, error) {
	var out []data.Date
	type dayRow struct {
		Day data.Date `sql:"day"`
	}
	err := each(ctx, r, "ActualDays", func(row *dayRow) { out = append(out, row.Day) },
		append(cityDays(city, first, last), "@metrics", list(metrics), "@kinds", list(kinds),
			"@source", hex.EncodeToString([]byte(source)), "@limit", strconv.Itoa(n))...)
	return out, err
}

// DayObservations returns the single temperatures of a city's day, in order of time, then of source, station
// and kind of report.
func (r *Reader) DayObservations(ctx context.Context, city string, day data.Date) ([]serving.Observation, error) {
	type obsRow struct {
		TS      int64       `sql:"ts"`
		Source  string      `sql:"source"`
		Station string      `sql:"station"`
		Report  data.Report `sql:"report"`
		Value   data.Temp   `sql:"value"`
	}
	var out []serving.Observation
	err := each(ctx, r, "DayObservations", func(row *obsRow) { out = append(out, serving.Observation(*row)) }, cityDays(city, day, day)...)
	return out, err
}

// DayNormals returns the normals of calendar days (month × 100 + day) in a city, by day, metric,
// source, station and period.
func (r *Reader) DayNormals(ctx context.Context, city string, days []int) ([]serving.DayNormal, error) {
	var out []serving.DayNormal
	if len(days) == 0 {
		return nil, nil
	}
	type normalRow struct {
		MonthDay  int         `sql:"month_day"`
		Metric    data.Metric `sql:"metric"`
		Source    string      `sql:"source"`
		Station   string      `sql:"station"`
		Period    string      `sql:"period"`
		Value     data.Temp   `sql:"value"`
		Deviation *data.Temp  `sql:"deviation"`
		P10       *data.Temp  `sql:"p10"`
		P90       *data.Temp  `sql:"p90"`
		Years     int32       `sql:"years,null"`
	}
	err := each(ctx, r, "DayNormals", func(row *normalRow) {
		out = append(out, serving.DayNormal{MonthDay: row.MonthDay, Metric: row.Metric, WeatherNormal: serving.WeatherNormal{
			Source: row.Source, Station: row.Station, Period: row.Period, Years: row.Years,
			Normal: weather.Normal{Value: row.Value, Deviation: row.Deviation, P10: row.P10, P90: row.P90}}})
	}, append(cityDays(city, 0, 0), "@days", list(days))...)
	return out, err
}

// list writes numbers as a list of SQL.
func list[T ~int8 | ~int](numbers []T) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.Itoa(int(n))
	}
	return strings.Join(texts, ", ")
}
