package query

import (
	"cmp"
	"context"
	"database/sql/driver"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"pmx/data"
	"pmx/engine"
	"pmx/rollups/serving"
	"pmx/rollups/weather"
)

// cityDays names a city and a range of its days in a statement.
func cityDays(city string, first, last data.Date) []string {
	return []string{"@city", strings.ReplaceAll(city, "'", "''"), "@first", strconv.Itoa(int(first)), "@last", strconv.Itoa(int(last))}
}

// ForecastChanges gives the points at which sources changed what they said of a
// city's days from first up to last, by day, metric, time and source.
func (r *Reader) ForecastChanges(ctx context.Context, city string, first, last data.Date, metrics []data.Metric) ([]serving.ForecastChange, error) {
	var out []serving.ForecastChange
	err := r.each(ctx, "ForecastChanges", func(row []driver.Value) {
		f := data.Forecast{City: city, Target: data.Date(engine.Int(row[0])), Metric: data.Metric(engine.Int(row[1])), Source: engine.Text(row[2]),
			IssuedAt: engine.Int(row[3]), RunAt: engine.Int(row[5]), Value: data.Temp(engine.Int(row[6])), Shift: int32(engine.Int(row[8]))}
		if members, ok := row[7].([]any); ok {
			for _, m := range members {
				f.Members = append(f.Members, data.Temp(engine.Int(m)))
			}
		}
		out = append(out, serving.ForecastChange{Forecast: f, ConfirmedAt: engine.Int(row[4])})
	}, append(cityDays(city, first, last), "@metrics", list(metrics))...)
	return out, err
}

// DayActuals gives what sources know by now of a city's days from first up to last,
// by day, metric, kind, source and station.
func (r *Reader) DayActuals(ctx context.Context, city string, first, last data.Date) ([]serving.DayActual, error) {
	out, err := r.dayReports(ctx, city, first, last)
	if err != nil {
		return nil, err
	}
	err = r.each(ctx, "StationDays", func(row []driver.Value) {
		for _, metric := range []data.Metric{data.TMax, data.TMin} {
			value, n, running := data.Temp(engine.Int(row[3+int(metric)])), engine.Int(row[5]), row[9] == true
			out = append(out, serving.DayActual{Day: data.Date(engine.Int(row[0])), Metric: metric, WeatherActual: serving.WeatherActual{
				Kind: data.KindStation, Source: engine.Text(row[1]), Station: engine.Text(row[2]), Value: value, FirstValue: value, Observations: &n,
				FirstTS: engine.Int(row[6]), LastTS: engine.Int(row[7]), SeenAt: engine.Int(row[8]), Provisional: &running}})
		}
	}, cityDays(city, first, last)...)
	slices.SortStableFunc(out, func(a, b serving.DayActual) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Source, b.Source),
			cmp.Compare(a.Station, b.Station))
	})
	return out, err
}

// dayReports gives the last word of every source on whole days, as the view
// weather_reported has it.
func (r *Reader) dayReports(ctx context.Context, city string, first, last data.Date) ([]serving.DayActual, error) {
	var series serving.ActualHistory
	err := r.each(ctx, "DayReports", func(row []driver.Value) {
		withdrawn := row[6] == nil
		said := serving.DayActual{Day: data.Date(engine.Int(row[0])), Metric: data.Metric(engine.Int(row[1])), WeatherActual: serving.WeatherActual{
			Kind: data.ActualKind(engine.Int(row[2])), Source: engine.Text(row[3]), Station: engine.Text(row[4]), SeenAt: engine.Int(row[5]),
			Shift: int32(engine.Int(row[8]))}}
		if !withdrawn {
			said.Value = data.Temp(engine.Int(row[6]))
			said.FirstValue = said.Value
		}
		if provisional, tells := row[7].(bool); tells {
			said.Provisional = &provisional
		}
		series.Add(said, withdrawn)
	}, cityDays(city, first, last)...)
	return series.Current(), err
}

// ActualDays gives the n newest days of a city from first up to last of which any of
// the metrics is known by one of the kinds and a source ("" for any), newest first.
func (r *Reader) ActualDays(ctx context.Context, city string, first, last data.Date, metrics []data.Metric, kinds []data.ActualKind,
	source string, n int) ([]data.Date, error) {
	var out []data.Date
	err := r.each(ctx, "ActualDays", func(row []driver.Value) { out = append(out, data.Date(engine.Int(row[0]))) },
		append(cityDays(city, first, last), "@metrics", list(metrics), "@kinds", list(kinds),
			"@source", hex.EncodeToString([]byte(source)), "@limit", strconv.Itoa(n))...)
	return out, err
}

// DayNormals gives what calendar days (month × 100 + day) are usually like in a city,
// by day, metric, source, station and period.
func (r *Reader) DayNormals(ctx context.Context, city string, days []int) ([]serving.DayNormal, error) {
	var out []serving.DayNormal
	if len(days) == 0 {
		return nil, nil
	}
	err := r.each(ctx, "DayNormals", func(row []driver.Value) {
		out = append(out, serving.DayNormal{MonthDay: int(engine.Int(row[0])), Metric: data.Metric(engine.Int(row[1])), WeatherNormal: serving.WeatherNormal{
			Source: engine.Text(row[2]), Station: engine.Text(row[3]), Period: engine.Text(row[4]), Years: int32(engine.Int(row[9])),
			Normal: weather.Normal{Value: data.Temp(engine.Int(row[5])), Deviation: optional(row[6]), P10: optional(row[7]), P90: optional(row[8])}}})
	}, append(cityDays(city, 0, 0), "@days", list(days))...)
	return out, err
}

// optional gives a temperature that may be NULL.
func optional(v driver.Value) *data.Temp {
	if v == nil {
		return nil
	}
	t := data.Temp(engine.Int(v))
	return &t
}

// list writes numbers as a list of SQL.
func list[T ~int8 | ~int](numbers []T) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.Itoa(int(n))
	}
	return strings.Join(texts, ", ")
}
