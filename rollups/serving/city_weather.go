package serving

import (
	"pmx/data"
	"pmx/rollups/weather"
)

// CityWeather has the forecasts and measurements of one city's weather, around its local date
// Today. It is never changed once made. Methods for what depends on the clock beyond the date, such
// as which readings are still current, take the clock.
type CityWeather struct {
	City  data.City
	Today data.Date
	// Days follow one another without a gap: from as far back as actuals are kept, over Today, to
	// the last day with a forecast.
	Days []WeatherDay
	// Skills say how well the sources, and their consensus, forecast the days before Today, in the
	// order of weather.SkillKey.
	Skills []CitySkill
}

// WeatherDay is one local day of a city.
type WeatherDay struct {
	Day      data.Date
	Extremes [2]WeatherExtreme // by data.Metric
}

// WeatherExtreme has the forecasts and measurements of the highest or lowest temperature of a day.
type WeatherExtreme struct {
	// Station is where the day's event settles; if there is no event, where the city's events of
	// that day did.
	Station string
	// Readings are the newest forecast of every source for Today or a later day, by source; none
	// for days that are over.
	Readings []WeatherReading
	// Actuals are the measurements of Today or a day that is over, without the bracket that won:
	// stations first, each kind by source and station.
	Actuals []WeatherActual
	// Truth is what forecasts of a day that is over are scored against; nil for none.
	Truth *weather.Truth
	// Won is the bracket that won the event of a day that has a truth; nil if none has.
	Won *weather.Settled
	// Normals are the normals of the calendar day, the preferred one first: station normals of
	// NCEI, then IEM, then others, then those derived from a reanalysis.
	Normals []WeatherNormal
}

// WeatherReading is the newest forecast of one source.
type WeatherReading struct {
	weather.Reading
	RunAt int64 // start of the model run that first gave it, unix µs; 0 if the source does not say
}

// WeatherActual is one source's value of one extreme of a day.
type WeatherActual struct {
	Kind            data.ActualKind
	Source, Station string // no station: a grid
	Value           data.Temp
	// Observations is how many single temperatures Value is the extreme of; nil for a
	// daily report or a reanalysis.
	Observations    *int64
	FirstTS, LastTS int64 // of the observations, unix µs; 0 without
	// Whole is the extreme of the whole degrees Celsius that the station reports besides finer
	// values, and of the values of reports without finer ones; nil if no report has any.
	Whole *data.Temp
	// Bound is the limit of all readings within the precision of the observations: the high is at
	// least this, the low at most. WholeBound is that of Whole.
	Bound      data.Temp
	WholeBound *data.Temp
	// Provisional says that the day is not over, or that the source may change the value; nil: the
	// source does not say.
	Provisional *bool
	FirstValue  data.Temp // what the source said first
	RevisedAt   int64     // when it first changed that, unix µs; 0: never
	Revisions   int64
	SeenAt      int64 // when it was last reported, unix µs; 0 if the source does not say
	Shift       int32 // by how many seconds the source's day begins after the city's
}

// WeatherNormal is a normal of a calendar day, with its origin.
type WeatherNormal struct {
	weather.Normal
	Source, Station string // no station: a grid
	Period          string // "1991-2020"
	Years           int32  // 0 if not given
}

// CitySkill is how well a source forecast one metric a number of days ahead.
type CitySkill struct {
	weather.SkillKey
	weather.Skill
}

// MissingReason says why something of a city's weather is missing.
type MissingReason string

// The reasons.
const (
	NoForecast     MissingReason = "no_forecast"      // no source has a forecast of the day
	StaleForecast  MissingReason = "forecast_stale"   // every source has been silent for more than 24 hours
	NoObservations MissingReason = "no_observations"  // the settling station has no report of the day
	DayNotBegun    MissingReason = "day_not_begun"    // there is nothing to report yet
	NoNormal       MissingReason = "no_normal"        // no normals of the calendar day are known
	NoScoredDays   MissingReason = "no_scored_days"   // no forecast at that lead of a past day whose truth is known
	FewScoredDays  MissingReason = "few_scored_days"  // fewer than a skill needs
	NoMeasuredDay  MissingReason = "no_measured_days" // no past day's truth is known
)

// Day returns a day in view; nil for another.
func (w *CityWeather) Day(d data.Date) *WeatherDay {
	if w == nil || len(w.Days) == 0 || d < w.Days[0].Day || d > w.Days[len(w.Days)-1].Day {
		return nil
	}
	return &w.Days[d-w.Days[0].Day]
}

// Extreme returns one extreme of a day; an empty one for a day out of view.
func (w *CityWeather) Extreme(d data.Date, m data.Metric) *WeatherExtreme {
	if day := w.Day(d); day != nil {
		return &day.Extremes[m]
	}
	return &WeatherExtreme{}
}

// Consensus is the consensus of the readings that are current at clock, unix µs; or the reason why
// there is none.
func (x *WeatherExtreme) Consensus(clock int64) (*weather.Consensus, MissingReason) {
	if len(x.Readings) == 0 {
		return nil, NoForecast
	}
	all := make([]weather.Reading, len(x.Readings))
	for i, r := range x.Readings {
		all[i] = r.Reading
	}
	c, ok := weather.ConsensusOf(all, clock)
	if !ok {
		return nil, StaleForecast
	}
	return &c, ""
}

// Running is what a station has measured of the day so far, from the source with most of its
// reports; nil if there is none. Pass Station for the settling station.
func (x *WeatherExtreme) Running(station string) *WeatherActual {
	var best *WeatherActual
	for i := range x.Actuals {
		a := &x.Actuals[i]
		if a.Station == station && a.Observations != nil && (best == nil || *a.Observations > *best.Observations) {
			best = a
		}
	}
	return best
}

// Degrees is what the current value settles as by an event's rules.
func (a *WeatherActual) Degrees(rules weather.Rules) int { return rules.Degrees(a.Value, a.Whole) }

// SoFar is what the current value, from single observations, settles as by an event's rules.
func (a *WeatherActual) SoFar(rules weather.Rules) weather.SoFar {
	return weather.SoFar{Degrees: a.Degrees(rules), Bound: rules.Degrees(a.Bound, a.WholeBound)}
}

// Actual returns the best value of one kind: for stations, Station first, then reports with the
// most observations, then daily reports.
func (x *WeatherExtreme) Actual(kind data.ActualKind) *WeatherActual {
	var best *WeatherActual
	rank := func(a *WeatherActual) int64 {
		n := int64(0)
		if a.Observations != nil && !a.Few() {
			n = *a.Observations
		}
		if a.Station == x.Station {
			n += 1 << 32
		}
		return n
	}
	for i := range x.Actuals {
		if a := &x.Actuals[i]; a.Kind == kind && (best == nil || rank(a) > rank(best)) {
			best = a
		}
	}
	return best
}

// Normal returns the normal of the day at its station, or on the grid of a reanalysis; if only the
// other kind is known, that one; nil without any.
func (x *WeatherExtreme) Normal(kind data.ActualKind) *WeatherNormal {
	for i := range x.Normals {
		if n := &x.Normals[i]; (n.Station == "") == (kind == data.KindReanalysis) {
			return n
		}
	}
	if len(x.Normals) == 0 {
		return nil
	}
	return &x.Normals[0]
}

// Skill returns how well a source, or weather.ConsensusSource, forecast a metric a number of days
// ahead; if there are too few days or none, the reason.
func (w *CityWeather) Skill(source string, m data.Metric, lead int) (*weather.Skill, MissingReason) {
	if w != nil {
		key := weather.SkillKey{Source: source, Metric: m, Lead: lead}
		for i := range w.Skills {
			if s := &w.Skills[i]; s.SkillKey == key {
				if s.N < weather.FewestScored {
					return &s.Skill, FewScoredDays
				}
				return &s.Skill, ""
			}
		}
		if !w.measured(m) {
			return nil, NoMeasuredDay
		}
	}
	return nil, NoScoredDays
}

// measured reports whether the truth of any day in view is known.
func (w *CityWeather) measured(m data.Metric) bool {
	for i := range w.Days {
		if w.Days[i].Extremes[m].Truth != nil {
			return true
		}
	}
	return false
}
