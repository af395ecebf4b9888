package apitest

import (
	"context"
	"slices"
	"time"

	"pmx/data"
	"pmx/data/reference"
	"pmx/rollups/serving"
)

// Desk returns a weather desk of the built-in cities, without events, as of a time.
func Desk(clock time.Time) *serving.Desk {
	places := reference.Gazetteer()
	var cities []*serving.DeskCity
	for _, c := range places.Cities() {
		cities = append(cities, &serving.DeskCity{City: c, Clock: clock.UnixMicro(), Today: c.DateOf(clock)})
	}
	return serving.NewDesk(places, cities)
}

// Weather serves reads of the weather from memory.
type Weather struct {
	Changes []serving.ForecastChange // by day, metric, time and source
	Known   []serving.DayActual      // by day, metric, kind, source and station
	Normals []serving.DayNormal      // by day, metric, source, station and period
	Single  []serving.Observation    // of any city and day, in order
	Asked   int                      // reads
}

// AddForecast adds a source's forecast of a city's day, given at a time.
func (w *Weather) AddForecast(city, day string, m data.Metric, source, at string, value string, u data.Unit) {
	issued, _ := time.Parse(time.RFC3339, at)
	target, _ := data.ParseDate(day)
	degrees, _ := data.ParseTemp(value, u)
	w.Changes = append(w.Changes, serving.ForecastChange{ConfirmedAt: issued.UnixMicro(), Forecast: data.Forecast{
		City: city, Target: target, Metric: m, Source: source, IssuedAt: issued.UnixMicro(), Value: degrees}})
}

// ForecastChanges returns the changes of a city's days.
func (w *Weather) ForecastChanges(_ context.Context, city string, first, last data.Date, metrics []data.Metric) ([]serving.ForecastChange, error) {
	w.Asked++
	var out []serving.ForecastChange
	for _, c := range w.Changes {
		if c.City == city && c.Target >= first && c.Target <= last && slices.Contains(metrics, c.Metric) {
			out = append(out, c)
		}
	}
	return out, nil
}

// DayActuals returns what is known of days, of any city.
func (w *Weather) DayActuals(_ context.Context, _ string, first, last data.Date) ([]serving.DayActual, error) {
	w.Asked++
	var out []serving.DayActual
	for _, a := range w.Known {
		if a.Day >= first && a.Day <= last {
			out = append(out, a)
		}
	}
	return out, nil
}

// ActualDays returns the newest days of which anything is known, of any city.
func (w *Weather) ActualDays(_ context.Context, _ string, first, last data.Date, metrics []data.Metric, kinds []data.ActualKind, source string,
	n int) ([]data.Date, error) {
	w.Asked++
	var out []data.Date
	for _, a := range slices.Backward(w.Known) {
		if a.Day >= first && a.Day <= last && slices.Contains(metrics, a.Metric) && slices.Contains(kinds, a.Kind) && (source == "" || a.Source == source) &&
			(len(out) == 0 || out[len(out)-1] != a.Day) && len(out) < n {
			out = append(out, a.Day)
		}
	}
	return out, nil
}

// DayNormals returns the normals of calendar days, of any city.
func (w *Weather) DayNormals(_ context.Context, _ string, days []int) ([]serving.DayNormal, error) {
	w.Asked++
	var out []serving.DayNormal
	for _, n := range w.Normals {
		if slices.Contains(days, n.MonthDay) {
			out = append(out, n)
		}
	}
	return out, nil
}

// DayObservations returns Single.
func (w *Weather) DayObservations(context.Context, string, data.Date) ([]serving.Observation, error) {
	w.Asked++
	return w.Single, nil
}
