package serving

import (
	"cmp"
	"slices"

	"pmx/data"
	"pmx/rollups/weather"
)

// ForecastChange is a point at which a source changed its forecast of one extreme of a city's day.
// IssuedAt is when it first gave the new value.
type ForecastChange struct {
	data.Forecast
	ConfirmedAt int64 // when it last confirmed the value before the next change, unix µs
}

// Reading returns c as an input of the consensus.
func (c *ForecastChange) Reading() weather.Reading {
	return weather.Reading{Source: c.Source, IssuedAt: c.IssuedAt, ConfirmedAt: c.ConfirmedAt, Value: c.Value, Members: c.Members}
}

// DayActual is one source's current value of one extreme of a city's day.
type DayActual struct {
	Day    data.Date
	Metric data.Metric
	WeatherActual
}

// SameSeries reports whether two values are of the same extreme, source and place.
func (a *DayActual) SameSeries(o *DayActual) bool {
	return a.Day == o.Day && a.Metric == o.Metric && a.Kind == o.Kind && a.Source == o.Source && a.Station == o.Station
}

// ActualHistory reads the values of sources for days, each series in order of time, and keeps of
// each the current value, and since when it holds.
type ActualHistory struct {
	known     []DayActual
	withdrawn bool // the last value of the last series was withdrawn
}

// Add adds the next value; of a withdrawn one the value is ignored.
func (s *ActualHistory) Add(said DayActual, withdrawn bool) {
	n := len(s.known)
	if n == 0 || !s.known[n-1].SameSeries(&said) {
		s.Current()
		if !withdrawn {
			s.known = append(s.known, said)
		}
		return
	}
	last := &s.known[n-1].WeatherActual
	switch {
	case !withdrawn:
		last.update(&said.WeatherActual, s.withdrawn)
	case !s.withdrawn:
		last.Revisions++
	}
	s.withdrawn = withdrawn
}

// Current returns the current values: none for a series whose last value was withdrawn.
func (s *ActualHistory) Current() []DayActual {
	if s.withdrawn {
		s.known, s.withdrawn = s.known[:len(s.known)-1], false
	}
	return s.known
}

// update applies a later value of the source; afresh after a withdrawn one.
func (a *WeatherActual) update(later *WeatherActual, afresh bool) {
	if a.Value != later.Value || afresh {
		a.Value, a.RevisedAt = later.Value, later.SeenAt
		a.Revisions++
	}
	a.SeenAt, a.Shift = later.SeenAt, later.Shift
	if later.Provisional != nil {
		a.Provisional = later.Provisional
	}
}

// Few reports whether a has too few single reports to be a day's extreme.
func (a *WeatherActual) Few() bool {
	return a.Observations != nil && *a.Observations < weather.FewestObservations
}

// Open reports whether the day's extreme may still change: what the source says, except that a
// value of few reports is never final; nil if the source does not say.
func (a *WeatherActual) Open() *bool {
	if a.Few() {
		few := true
		return &few
	}
	return a.Provisional
}

// Measured returns a as a weather.Measured.
func (a *WeatherActual) Measured() weather.Measured {
	return weather.Measured{Source: a.Source, Station: a.Station, Value: a.Value, Observations: a.Observations,
		Provisional: a.Provisional != nil && *a.Provisional, Shift: a.Shift, SeenAt: a.SeenAt}
}

// BestActual returns the best value of one extreme of a day that settles at a station: that
// station's, then a reanalysis, then other stations; nil without any.
func BestActual(known []DayActual, metric data.Metric, station string) *WeatherActual {
	x := WeatherExtreme{Station: station}
	for _, a := range known {
		if a.Metric == metric {
			x.Actuals = append(x.Actuals, a.WeatherActual)
		}
	}
	best := x.Actual(data.KindStation)
	if grid := x.Actual(data.KindReanalysis); grid != nil && (best == nil || best.Station != station) {
		return grid
	}
	return best
}

// DayNormal is a normal of a calendar day.
type DayNormal struct {
	MonthDay int // month × 100 + day
	Metric   data.Metric
	WeatherNormal
}

// SortNormals returns a calendar day's normals, the preferred one first, as in
// WeatherExtreme.Normals; among several stations, that of station first.
func SortNormals(list []WeatherNormal, station string) []WeatherNormal {
	rank := func(n WeatherNormal) int {
		switch {
		case n.Source == "ncei":
			return 0
		case n.Source == "iem":
			return 1
		case n.Station != "":
			return 2
		}
		return 3
	}
	elsewhere := func(n WeatherNormal) int {
		if n.Station == station {
			return 0
		}
		return 1
	}
	return slices.SortedFunc(slices.Values(list), func(a, b WeatherNormal) int {
		return cmp.Or(rank(a)-rank(b), elsewhere(a)-elsewhere(b), cmp.Compare(b.Period, a.Period),
			cmp.Compare(a.Source, b.Source), cmp.Compare(a.Station, b.Station))
	})
}

// Observation is a single temperature of a station.
type Observation struct {
	TS              int64 // unix µs
	Source, Station string
	Report          data.Report
	Value           data.Temp
}
