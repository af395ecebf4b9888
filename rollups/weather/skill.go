package weather

import (
	"cmp"
	"math"

	"pmx/data"
)

// SkillDays is how many past days of a city forecasts are scored over: models change and seasons
// pass, so older forecasts say little about the next ones.
const SkillDays = 40

// ConsensusSource is the name under which the consensus of the sources is scored: the mean of the
// scored forecasts at one lead day.
const ConsensusSource = "consensus"

// Errors sums errors of forecasts. The sums are exact, so they do not depend on the order of
// addition.
type Errors struct {
	N            int64
	Sum          int64 // of forecast − truth, 1/900 °C
	Absolute     int64
	SquareErrors int64
	Settled      int64 // forecasts of days whose event has a bracket that won
	Hits         int64 // how many of them fell into it
}

// Add adds one forecast, its truth, and the bracket that won the day's event, nil if none has.
func (e *Errors) Add(forecast, truth data.Temp, won *Settled) {
	d := int64(forecast) - int64(truth)
	e.N++
	e.Sum += d
	e.Absolute += max(d, -d)
	e.SquareErrors += d * d
	if won != nil {
		e.Settled++
		if won.Bracket.Interval(won.Rounding).Contains(forecast) {
			e.Hits++
		}
	}
}

// Skill is how far forecasts were off. Bias, MAE and RMSE are differences.
type Skill struct {
	N    int64     // pairs of forecast and truth
	Bias data.Temp // mean error, forecast − truth: positive if forecasts were too warm
	MAE  data.Temp // mean absolute error
	RMSE data.Temp // root of the mean squared error
	// On Settled days a bracket of the event won, and on Hits of them it was the one that the forecast
	// falls into, rounded as the event rounds.
	Settled, Hits int64
}

// Skill returns the means, rounded half away from zero to 1/900 °C; nil without a pair.
func (e *Errors) Skill() *Skill {
	if e.N == 0 {
		return nil
	}
	return &Skill{N: e.N, Settled: e.Settled, Hits: e.Hits, Bias: rounded(e.Sum, e.N), MAE: rounded(e.Absolute, e.N),
		RMSE: data.Temp(math.Round(math.Sqrt(float64(e.SquareErrors) / float64(e.N))))}
}

// FewestObservations is how many observations of a finished day a station must have for the highest
// and lowest to count as the day's.
const FewestObservations = 12

// Measured is one source's value of one extreme of a day at one station.
type Measured struct {
	Source, Station string
	Value           data.Temp
	// Observations is how many single temperatures it is the extreme of; nil for a daily report.
	Observations *int64
	Provisional  bool // the day is not over, or the report is not final
	Shift        int32
	SeenAt       int64 // unix µs
}

// TruthBasis is where a truth comes from.
type TruthBasis string

// The bases, from the best.
const (
	FromStationDay    TruthBasis = "station_day"    // the single reports of the settling station
	FromStationReport TruthBasis = "station_report" // its daily report
	FromSettled       TruthBasis = "settled"        // the middle of the bracket that won
)

// Truth is the value of a day's extreme that forecasts are scored against.
type Truth struct {
	Value data.Temp
	Basis TruthBasis
}

// Settled is the bracket that won an event, and how its source rounds.
type Settled struct {
	Bracket  Bracket
	Rounding Rounding
}

// TruthOf returns the truth of a day: the extreme of the settling station's reports of a finished
// day, if there are enough; else its daily report; else the middle of the bracket that won. An
// open-ended bracket has no middle, a reanalysis is no measurement, and another station is another
// place: none of them is a truth. False without any.
func TruthOf(station string, measured []Measured, won *Settled) (Truth, bool) {
	best := -1
	for i, m := range measured {
		if m.Station == station && m.counts() && (best < 0 || m.compare(&measured[best]) < 0) {
			best = i
		}
	}
	if best >= 0 {
		t := Truth{measured[best].Value, FromStationReport}
		if measured[best].Observations != nil {
			t.Basis = FromStationDay
		}
		return t, true
	}
	if won != nil {
		if v, ok := won.Bracket.Middle(won.Rounding); ok {
			return Truth{v, FromSettled}, true
		}
	}
	return Truth{}, false
}

func (m *Measured) counts() bool {
	return !m.Provisional && (m.Observations == nil || *m.Observations >= FewestObservations)
}

// compare puts the better first: single reports before daily ones, more of them before fewer, the
// city's own day before a shifted one, the later report before the earlier, then by name.
func (m *Measured) compare(o *Measured) int {
	count := func(m *Measured) int64 {
		if m.Observations == nil {
			return 0
		}
		return *m.Observations
	}
	return cmp.Or(cmp.Compare(count(o), count(m)), cmp.Compare(max(m.Shift, -m.Shift), max(o.Shift, -o.Shift)),
		cmp.Compare(o.SeenAt, m.SeenAt), cmp.Compare(m.Source, o.Source))
}

// SkillKey identifies a skill: source, metric and lead.
type SkillKey struct {
	Source string
	Metric data.Metric
	Lead   int // in days
}

// Score scores one city's forecasts, as returned by Scored, against the truths of their days, and
// with them the consensus of each day and lead. Forecasts of days without a truth are skipped; won
// returns the bracket that won the event of a day, nil if none has.
func Score(forecasts map[ScoreKey]data.Forecast, truth func(data.Metric, data.Date) (data.Temp, bool), won func(data.Metric, data.Date) *Settled) map[SkillKey]Skill {
	type together struct {
		metric data.Metric
		day    data.Date
		lead   int
	}
	said, sums := map[together][]data.Temp{}, map[SkillKey]*Errors{}
	add := func(k SkillKey, day data.Date, forecast, truth data.Temp) {
		if sums[k] == nil {
			sums[k] = &Errors{}
		}
		sums[k].Add(forecast, truth, won(k.Metric, day))
	}
	for k, f := range forecasts {
		t, ok := truth(k.Metric, k.Day)
		if !ok {
			continue
		}
		add(SkillKey{k.Source, k.Metric, k.Lead}, k.Day, f.Value, t)
		said[together{k.Metric, k.Day, k.Lead}] = append(said[together{k.Metric, k.Day, k.Lead}], f.Value)
	}
	for k, values := range said {
		t, _ := truth(k.metric, k.day)
		mean, _ := moments(values)
		add(SkillKey{ConsensusSource, k.metric, k.lead}, k.day, mean, t)
	}
	out := make(map[SkillKey]Skill, len(sums))
	for k, e := range sums {
		out[k] = *e.Skill()
	}
	return out
}

// Compare orders keys by source, metric and lead, the consensus before the sources.
func (k SkillKey) Compare(o SkillKey) int {
	rank := func(k SkillKey) int {
		if k.Source == ConsensusSource {
			return 0
		}
		return 1
	}
	return cmp.Or(rank(k)-rank(o), cmp.Compare(k.Source, o.Source), cmp.Compare(k.Metric, o.Metric), cmp.Compare(k.Lead, o.Lead))
}
