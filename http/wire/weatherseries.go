package wire

import (
	"fmt"
	"time"

	"pmx/data"
)

// Degrees is a temperature in hundredths of a degree of the scale that stands
// beside it, written with one decimal or two: 71.6, 33.0, -0.55. Differences between
// temperatures are plain decimals.
type Degrees int64

// DegreesOf gives t in degrees of u.
func DegreesOf(t data.Temp, u data.Unit) Degrees { return Degrees(t.Hundredths(u)) }

// MarshalJSON writes d as a number.
func (d Degrees) MarshalJSON() ([]byte, error) { return data.AppendHundredths(nil, int64(d)), nil }

// UnmarshalJSON reads a number of at most two decimals.
func (d *Degrees) UnmarshalJSON(text []byte) error {
	m, err := data.ParseMicro(string(text))
	if err != nil || m%10_000 != 0 {
		return fmt.Errorf("%s is no number of degrees with at most two decimals", text)
	}
	*d = Degrees(m / 10_000)
	return nil
}

// Moved is the body of a 308: the name in the path is another one of the same thing.
type Moved struct {
	Envelope
	Location string `json:"location"` // the path to ask at instead, as in the header Location
}

// CityPlace says which city a series is of.
type CityPlace struct {
	City      string  `json:"city"`                     // slug: the city's name in paths
	Name      string  `json:"name"`                     // as the titles of its events write it
	Timezone  string  `json:"timezone"`                 // IANA zone whose calendar the dates are of
	LocalDate *string `json:"local_date" format:"date"` // the city's own today; null on an empty database
}

// SettledBracket is the bracket that won an event.
type SettledBracket struct {
	EventID            string     `json:"event_id"` // Gamma's decimal id
	EventSlug          string     `json:"event_slug"`
	ConditionID        string     `json:"condition_id"` // of the bracket's market
	Metric             string     `json:"metric" enum:"tmax,tmin"`
	Label              string     `json:"label"`                                                // such as 98-99°F
	Lo                 *int       `json:"lo"`                                                   // lowest whole degree of the bracket; null where it is open below
	Hi                 *int       `json:"hi"`                                                   // highest whole degree of the bracket; null where it is open above
	Unit               string     `json:"unit" enum:"C,F"`                                      // scale of the event
	Rounding           string     `json:"rounding" enum:"half_up,floor"`                        // how the measured value became whole degrees
	Station            *string    `json:"station"`                                              // that settled the event
	ResolutionSource   *string    `json:"resolution_source" enum:"wunderground,noaa,hko,cwa"`   // where the temperature was read; null where nothing tells
	ResolutionFallback *string    `json:"resolution_fallback" enum:"wunderground,noaa,hko,cwa"` // read where that had no data; null without
	ResolvedAt         *time.Time `json:"resolved_at"`
	ResolvedAtSource   *string    `json:"resolved_at_source" enum:"end_date,closed_time,oracle,chain"`
}

// ForecastEvolution is the reply of GET /weather/forecast-evolution/{city}/{date}.
type ForecastEvolution struct {
	Envelope
	AsOf *time.Time `json:"as_of"` // null on an empty database
	EvolutionSeries
}

// EvolutionSeries is how the forecasts of one extreme of one day changed.
type EvolutionSeries struct {
	CityPlace
	Date        string            `json:"date" format:"date"` // the city's local day that is foretold
	Metric      string            `json:"metric" enum:"tmax,tmin"`
	Unit        string            `json:"unit" enum:"C,F"`                                       // scale of all temperatures and differences here: that of the day's event, which settles in it
	DayStart    time.Time         `json:"day_start"`                                             // when the local day begins
	DayEnd      time.Time         `json:"day_end"`                                               // when it ends: what was given from then on is no forecast and left out
	First       *EvolutionPoint   `json:"first"`                                                 // the first of all forecasts; null where there is none
	Latest      *EvolutionPoint   `json:"latest"`                                                // the last change of any source; null where there is none
	TotalDrift  *data.Micro       `json:"total_drift"`                                           // the mean of the sources' own; null without a forecast
	Range       *data.Micro       `json:"range"`                                                 // the highest value less the lowest, of all sources; null without a forecast
	Changes     int               `json:"changes"`                                               // rows there are, beyond those shown too
	Sources     []EvolutionSource `json:"sources"`                                               // by name
	Settled     *SettledBracket   `json:"settled"`                                               // the bracket that won the day's event; null where none has yet
	Actual      *MeasuredExtreme  `json:"actual"`                                                // what the day came to, by the best measurement there is; null where none is known
	NullReasons map[string]string `json:"null_reasons"`                                          // why a member of this answer is null, by its name
	EmptyReason *string           `json:"empty_reason" enum:"no_forecast,no_match,plan_history"` // why data is empty; null where it is not
	Data        []EvolutionStep   `json:"data"`                                                  // oldest first, then by source
}

// EvolutionPoint is a value that a source gave.
type EvolutionPoint struct {
	Source   string    `json:"source"`    // model or office
	IssuedAt time.Time `json:"issued_at"` // when the value was first given, or fetched where only that is known
	Value    Degrees   `json:"value"`     // in the scale of the day
}

// EvolutionSource is how far one source's forecast went.
type EvolutionSource struct {
	Source     string         `json:"source"`      // model or office
	First      EvolutionPoint `json:"first"`       // its first forecast
	Latest     EvolutionPoint `json:"latest"`      // its last one
	TotalDrift data.Micro     `json:"total_drift"` // the latest value less the first
	Range      data.Micro     `json:"range"`       // the highest value less the lowest
	Changes    int            `json:"changes"`     // rows of this source, the first forecast among them
}

// EvolutionStep is a point at which a source gave a forecast, or another one.
type EvolutionStep struct {
	IssuedAt    time.Time   `json:"issued_at"`       // when the value was first given, or fetched where only that is known
	ConfirmedAt time.Time   `json:"confirmed_at"`    // when it was last given before the next change
	RunAt       *time.Time  `json:"run_at"`          // when the model run began; null where the source does not say
	LeadHours   data.Micro  `json:"lead_hours"`      // from issued_at until the local day begins; negative once it has begun
	LeadDay     int         `json:"lead_day"`        // date less the city's local date at issued_at: 0 on the day itself
	HoursToEnd  data.Micro  `json:"hours_to_end"`    // from issued_at until the local day ends
	Source      string      `json:"source"`          // model or office
	Value       Degrees     `json:"value"`           // of an ensemble: the mean of its members
	Unit        string      `json:"unit" enum:"C,F"` // scale of value and delta_vs_prev
	Members     int         `json:"members"`         // of an ensemble; 0 for a single value
	DeltaVsPrev *data.Micro `json:"delta_vs_prev"`   // value less the one that the source gave before; null for its first
	Changed     *bool       `json:"changed"`         // whether delta_vs_prev is not 0: an ensemble may keep its mean while its members change; null for the first
}

// MeasuredExtreme is what a day's highest or lowest temperature came to.
type MeasuredExtreme struct {
	Kind         string     `json:"kind" enum:"station,reanalysis"` // measured at a station, or computed on a grid
	Source       string     `json:"source"`                         // who says so
	Station      *string    `json:"station"`                        // id; null for a grid
	Settling     bool       `json:"settling"`                       // the station is the one that the day's event settles by
	Value        Degrees    `json:"value"`                          // in the scale of the day
	FirstValue   Degrees    `json:"first_value"`                    // what the source said first
	Provisional  *bool      `json:"provisional"`                    // it may still change, or is of fewer than 12 reports; null where the source does not say
	RevisedAt    *time.Time `json:"revised_at"`                     // since when the source says so, where it said something else before; null: it never did
	Revisions    int64      `json:"revisions"`                      // how often the value was changed
	Observations *int64     `json:"observations"`                   // single temperatures it is of; null for a daily report
}

// CityActuals is the reply of GET /weather/city/{city}/actuals.
type CityActuals struct {
	Envelope
	AsOf *time.Time `json:"as_of"` // null on an empty database
	ActualSeries
}

// ActualSeries is what a city's days came to.
type ActualSeries struct {
	CityPlace
	Unit        string      `json:"unit" enum:"C,F"`                                        // scale of what is measured
	EmptyReason *string     `json:"empty_reason" enum:"not_measured,no_match,plan_history"` // why data is empty; null where it is not
	LeftOut     *string     `json:"left_out_through" format:"date"`                         // the newest day that is left out, with all before it, because an answer has at most 3,650 rows: ask by kind, metric or source; null where all days are there
	Data        []ActualRow `json:"data"`                                                   // newest day first; of one day what settled, then stations, then reanalyses
}

// ActualRow is what one source knows of one day. The three kinds are never mixed.
type ActualRow struct {
	Date         string            `json:"date" format:"date"`                     // day of the city's calendar
	Kind         string            `json:"kind" enum:"settled,station,reanalysis"` // the bracket that won an event, a measurement at a station, or a computation on a grid
	Source       *string           `json:"source"`                                 // who says so; of settled, where the event's temperature was read; null where nothing tells
	Station      *string           `json:"station"`                                // id; null for a grid
	TMax         *Degrees          `json:"tmax"`                                   // the day's high; null of settled, which knows a bracket only
	TMin         *Degrees          `json:"tmin"`                                   // the day's low; null of settled, which knows a bracket only
	Unit         string            `json:"unit" enum:"C,F"`                        // scale of the row: of settled, the event's
	FirstTMax    *Degrees          `json:"first_tmax"`                             // what the source said first of the high; null where tmax is
	FirstTMin    *Degrees          `json:"first_tmin"`                             // what the source said first of the low; null where tmin is
	Provisional  *bool             `json:"provisional"`                            // it may still change, as the day runs or the source goes over it, or it is of fewer than 12 reports, which are no day's extreme; null where the source does not say
	RevisedAt    *time.Time        `json:"revised_at"`                             // since when the source says so, where it said something else before; null: it never did
	Revisions    int64             `json:"revisions"`                              // how often tmax was changed, and tmin
	Observations *int64            `json:"observations"`                           // single temperatures that the row is of; null for a daily report, a grid and settled
	Settled      *SettledBracket   `json:"settled"`                                // of kind settled: the bracket; null of the others
	NullReasons  map[string]string `json:"null_reasons"`                           // why tmax, tmin or provisional is null, by name
}

// CityAnomalies is the reply of GET /weather/city/{city}/anomalies.
type CityAnomalies struct {
	Envelope
	AsOf *time.Time `json:"as_of"` // null on an empty database
	AnomalySeries
}

// AnomalySeries is how far a city's days are from what is usual.
type AnomalySeries struct {
	CityPlace
	Unit        string       `json:"unit" enum:"C,F"`                                        // scale of all temperatures and differences here
	EmptyReason *string      `json:"empty_reason" enum:"not_measured,no_match,plan_history"` // why data is empty; null where it is not
	LeftOut     *string      `json:"left_out_through" format:"date"`                         // the newest day that is left out, with all before it, because an answer has at most 3,650 rows: ask by kind, metric or source; null where all days are there
	Data        []AnomalyRow `json:"data"`                                                   // newest day first, then tmax before tmin, actual before forecast
}

// AnomalyRow is one value beside what the calendar day is usually like.
type AnomalyRow struct {
	Date          string            `json:"date" format:"date"` // day of the city's calendar
	Metric        string            `json:"metric" enum:"tmax,tmin"`
	Basis         string            `json:"basis" enum:"actual,forecast"`    // whether value was measured or is foretold
	Kind          *string           `json:"kind" enum:"station,reanalysis"`  // of an actual; null of a forecast
	Source        string            `json:"source"`                          // who says so; consensus: the mean of all sources that are current
	Station       *string           `json:"station"`                         // id; null for a grid and a forecast
	Value         Degrees           `json:"value"`                           // temperature of the day
	Unit          string            `json:"unit" enum:"C,F"`                 // scale of the row
	Provisional   *bool             `json:"provisional"`                     // of an actual, whether it may still change or is of fewer than 12 reports; null where the source does not say, and of a forecast
	Normal        *Degrees          `json:"normal"`                          // what the calendar day is usually like
	Anomaly       *data.Micro       `json:"anomaly"`                         // value less normal
	NormalStd     *data.Micro       `json:"normal_std"`                      // standard deviation of the calendar day
	Z             *data.Micro       `json:"z"`                               // anomaly in standard deviations
	Class         *string           `json:"class" enum:"below,normal,above"` // below the tenth percentile of the calendar day, above its ninetieth, or between them
	NormalSource  *string           `json:"normal_source"`                   // whose normal it is; derived:… follows from that reanalysis
	NormalStation *string           `json:"normal_station"`                  // id; null for a grid
	NormalPeriod  *string           `json:"normal_period"`                   // years that the normal is of
	CrossDataset  bool              `json:"cross_dataset"`                   // value and normal are of different data sets, so that anomaly holds their difference too
	NullReasons   map[string]string `json:"null_reasons"`                    // why normal, anomaly, normal_std, z or class is null, by name
}

// CityForecast is the reply of GET /weather/city/{city}/forecast.
type CityForecast struct {
	Envelope
	AsOf *time.Time `json:"as_of"` // null on an empty database
	ForecastSeries
}

// ForecastSeries is what is foretold of a city's days.
type ForecastSeries struct {
	CityPlace
	Unit        string              `json:"unit" enum:"C,F"`                                       // scale of the city's events of today
	Consensus   []ForecastConsensus `json:"consensus"`                                             // of every day and metric here that a source is current on, whatever source is asked for
	Skill       []ForecastSkill     `json:"skill"`                                                 // how far off forecasts were, of the consensus first, then by source, metric and lead_day
	SkillBasis  string              `json:"skill_basis"`                                           // what is scored against what
	SkillDays   int                 `json:"skill_days"`                                            // days before local_date that skill looks at
	NullReasons map[string]string   `json:"null_reasons"`                                          // why a list of this answer is empty, by its name
	EmptyReason *string             `json:"empty_reason" enum:"no_forecast,no_match,plan_history"` // why data is empty; null where it is not
	Data        []ForecastRow       `json:"data"`                                                  // by day, tmax before tmin, then by source
}

// ForecastRow is the last word of one source on one extreme of a day.
type ForecastRow struct {
	TargetDate  string     `json:"target_date" format:"date"` // the city's local day that is foretold
	Metric      string     `json:"metric" enum:"tmax,tmin"`
	Source      string     `json:"source"`          // model or office
	Value       Degrees    `json:"value"`           // of an ensemble: the mean of its members
	Unit        string     `json:"unit" enum:"C,F"` // scale of the row: that of the day's event
	IssuedAt    time.Time  `json:"issued_at"`       // when the value was first given, or fetched where only that is known
	ConfirmedAt time.Time  `json:"confirmed_at"`    // when it was last given
	RunAt       *time.Time `json:"run_at"`          // when the model run began; null where the source does not say
	LeadHours   data.Micro `json:"lead_hours"`      // from issued_at until the local day begins; negative once it has begun
	LeadDay     int        `json:"lead_day"`        // target_date less the city's local date at issued_at: 0 on the day itself
	Current     bool       `json:"current"`         // given within the last 24 hours, and so part of the consensus
	Members     int        `json:"members"`         // of an ensemble; 0 for a single value
	P10         *Degrees   `json:"p10"`             // tenth percentile of the members; null for a single value
	P90         *Degrees   `json:"p90"`             // ninetieth percentile of the members; null for a single value
}

// ForecastConsensus is what the current sources say together, each counting the same.
type ForecastConsensus struct {
	TargetDate string      `json:"target_date" format:"date"` // the city's local day that is foretold
	Metric     string      `json:"metric" enum:"tmax,tmin"`
	Unit       string      `json:"unit" enum:"C,F"`  // scale of the row: that of the day's event
	Mean       Degrees     `json:"mean"`             // of the sources
	Std        *data.Micro `json:"std"`              // standard deviation of the sources; null for one source
	P10        Degrees     `json:"p10"`              // tenth percentile of the sources, of ensembles of their members
	P50        Degrees     `json:"p50"`              // median of the same
	P90        Degrees     `json:"p90"`              // ninetieth percentile of the same
	Spread     data.Micro  `json:"spread"`           // highest source less lowest
	N          int         `json:"n"`                // sources
	OldestAt   time.Time   `json:"oldest_issued_at"` // when the oldest of the values was first given
	NewestAt   time.Time   `json:"newest_issued_at"` // when the newest of them was
}

// ForecastSkill is how far off the forecasts of one source were.
type ForecastSkill struct {
	Source  string     `json:"source"` // model or office; consensus: the mean of all that were scored at that lead
	Metric  string     `json:"metric" enum:"tmax,tmin"`
	LeadDay int        `json:"lead_day"`        // days ahead: 0 on the day itself, before noon
	Unit    string     `json:"unit" enum:"C,F"` // scale of the differences
	Bias    data.Micro `json:"bias"`            // mean of forecast less truth: positive where too warm was foretold
	MAE     data.Micro `json:"mae"`             // mean absolute error
	RMSE    data.Micro `json:"rmse"`            // root of the mean squared error
	N       int64      `json:"n"`               // days; fewer than five tell little
}
