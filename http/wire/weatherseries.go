package wire

import (
	"fmt"
	"time"

	"pmx/data"
)

// Degrees is a temperature in hundredths of a degree of the unit given next to it. It is written with one or two
// decimals: 71.6, 33.0, -0.55. Differences between temperatures are plain decimals.
type Degrees int64

// DegreesOf returns t in degrees of u.
func DegreesOf(t data.Temp, u data.Unit) Degrees { return Degrees(t.Hundredths(u)) }

// MarshalJSON encodes d as a number.
func (d Degrees) MarshalJSON() ([]byte, error) { return data.AppendHundredths(nil, int64(d)), nil }

// UnmarshalJSON parses a number with at most two decimals.
func (d *Degrees) UnmarshalJSON(text []byte) error {
	m, err := data.ParseMicro(string(text))
	if err != nil || m%10_000 != 0 {
		return fmt.Errorf("%s is not a number of degrees with at most two decimals", text)
	}
	*d = Degrees(m / 10_000)
	return nil
}

// Moved is the body of a 308: the path uses another name of the same resource.
type Moved struct {
	Envelope
	Location string `json:"location"` // the path to request instead, the same as in the header Location
}

// CityPlace is the city that a series is about.
type CityPlace struct {
	City      string  `json:"city"`                     // slug of the city: the {city} in paths
	Name      string  `json:"name"`                     // name of the city, as in the titles of its events
	Timezone  string  `json:"timezone"`                 // IANA time zone that defines the city's local days
	LocalDate *string `json:"local_date" format:"date"` // the city's local day at as_of; null if the database is empty
}

// SettledBracket is the bracket that won an event.
type SettledBracket struct {
	EventID            string     `json:"event_id"` // decimal id of the event in the venue's Gamma API
	EventSlug          string     `json:"event_slug"`
	ConditionID        string     `json:"condition_id"` // condition id of the bracket's market
	Metric             string     `json:"metric" enum:"tmax,tmin"`
	Label              string     `json:"label"`                                                // name of the bracket, such as 98-99°F
	Lo                 *int       `json:"lo"`                                                   // lowest whole degree of the bracket, inclusive; null if it is open below
	Hi                 *int       `json:"hi"`                                                   // highest whole degree of the bracket, inclusive; null if it is open above
	Unit               string     `json:"unit" enum:"C,F"`                                      // unit of the event's temperatures
	Rounding           string     `json:"rounding" enum:"half_up,floor"`                        // how the measured value was rounded to whole degrees
	Station            *string    `json:"station"`                                              // station that settled the event; null if unknown
	ResolutionSource   *string    `json:"resolution_source" enum:"wunderground,noaa,hko,cwa"`   // where the temperature was read; null if unknown
	ResolutionFallback *string    `json:"resolution_fallback" enum:"wunderground,noaa,hko,cwa"` // source used if resolution_source has no data; null if there is none
	ResolvedAt         *time.Time `json:"resolved_at"`
	ResolvedAtSource   *string    `json:"resolved_at_source" enum:"end_date,closed_time,oracle,chain"`
}

// ForecastEvolution is the response of GET /weather/forecast-evolution/{city}/{date}.
type ForecastEvolution struct {
	Envelope
	AsOf *time.Time `json:"as_of"` // null if the database is empty
	EvolutionSeries
}

// EvolutionSeries is how the forecasts of the high or low of one day changed.
type EvolutionSeries struct {
	CityPlace
	Date        string            `json:"date" format:"date"` // the forecast day, a local day of the city
	Metric      string            `json:"metric" enum:"tmax,tmin"`
	Unit        string            `json:"unit" enum:"C,F"`                                       // unit of all temperatures and differences in the response: the one that the day's event settles in
	DayStart    time.Time         `json:"day_start"`                                             // start of the local day
	DayEnd      time.Time         `json:"day_end"`                                               // end of the local day; values issued at or after it are not forecasts and are left out
	First       *EvolutionPoint   `json:"first"`                                                 // the first forecast of any source; null if there is none
	Latest      *EvolutionPoint   `json:"latest"`                                                // the latest change of any source; null if there is none
	TotalDrift  *data.Micro       `json:"total_drift"`                                           // mean of the total_drift of all sources; null if there is no forecast
	Range       *data.Micro       `json:"range"`                                                 // highest value minus lowest value over all sources; null if there is no forecast
	Changes     int               `json:"changes"`                                               // number of rows, including those not shown
	Sources     []EvolutionSource `json:"sources"`                                               // sources by name
	Settled     *SettledBracket   `json:"settled"`                                               // the bracket that won the day's event; null if none has won yet
	Actual      *MeasuredExtreme  `json:"actual"`                                                // the actual temperature, according to the best measurement available; null if none is known
	NullReasons map[string]string `json:"null_reasons"`                                          // reasons why members of this response are null, by the name of the member
	EmptyReason *string           `json:"empty_reason" enum:"no_forecast,no_match,plan_history"` // why data is empty; null if it is not
	Data        []EvolutionStep   `json:"data"`                                                  // changes, oldest first, then by source
}

// EvolutionPoint is a value that a source issued.
type EvolutionPoint struct {
	Source   string    `json:"source"`    // name of the source: a model or a weather office
	IssuedAt time.Time `json:"issued_at"` // when the value was first issued, or when it was fetched if only that is known
	Value    Degrees   `json:"value"`     // temperature, in the unit of the day's event
}

// EvolutionSource is how one source's forecast changed.
type EvolutionSource struct {
	Source     string         `json:"source"`      // name of the source: a model or a weather office
	First      EvolutionPoint `json:"first"`       // first forecast of the source
	Latest     EvolutionPoint `json:"latest"`      // latest forecast of the source
	TotalDrift data.Micro     `json:"total_drift"` // latest value minus first value
	Range      data.Micro     `json:"range"`       // highest value minus lowest value
	Changes    int            `json:"changes"`     // number of rows of this source, including its first forecast
}

// EvolutionStep is a source's first forecast of the day, or a change of it.
type EvolutionStep struct {
	IssuedAt    time.Time   `json:"issued_at"`       // when the value was first issued, or when it was fetched if only that is known
	ConfirmedAt time.Time   `json:"confirmed_at"`    // when the value was last issued before the next change
	RunAt       *time.Time  `json:"run_at"`          // when the model run began; null if the source does not say
	LeadHours   data.Micro  `json:"lead_hours"`      // hours from issued_at to the start of the local day; negative once it has begun
	LeadDay     int         `json:"lead_day"`        // date minus the city's local date at issued_at, in days; 0 on the day itself
	HoursToEnd  data.Micro  `json:"hours_to_end"`    // hours from issued_at to the end of the local day
	Source      string      `json:"source"`          // name of the source: a model or a weather office
	Value       Degrees     `json:"value"`           // forecast temperature; for an ensemble, the mean of its members
	Unit        string      `json:"unit" enum:"C,F"` // unit of value and delta_vs_prev
	Members     int         `json:"members"`         // number of members of an ensemble; 0 for a single value
	DeltaVsPrev *data.Micro `json:"delta_vs_prev"`   // value minus the previous value of the same source; null for its first one
	Changed     *bool       `json:"changed"`         // whether delta_vs_prev is not 0; an ensemble may keep its mean while its members change; null for the source's first value
}

// MeasuredExtreme is the actual highest or lowest temperature of a day.
type MeasuredExtreme struct {
	Kind         string     `json:"kind" enum:"station,reanalysis"` // station: measured at a station; reanalysis: computed on a grid
	Source       string     `json:"source"`                         // name of the source
	Station      *string    `json:"station"`                        // id of the station; null for a grid
	Settling     bool       `json:"settling"`                       // whether the day's event settles by this station
	Value        Degrees    `json:"value"`                          // temperature, in the unit of the day's event
	FirstValue   Degrees    `json:"first_value"`                    // the first value that the source gave
	Provisional  *bool      `json:"provisional"`                    // whether the value may still change or is based on fewer than 12 reports; null if the source does not say
	RevisedAt    *time.Time `json:"revised_at"`                     // when the source last revised the value; null if it never did
	Revisions    int64      `json:"revisions"`                      // how often the value was revised
	Observations *int64     `json:"observations"`                   // number of single temperature reports; null for a daily summary
}

// CityActuals is the response of GET /weather/city/{city}/actuals.
type CityActuals struct {
	Envelope
	AsOf *time.Time `json:"as_of"` // null if the database is empty
	ActualSeries
}

// ActualSeries is the actual temperatures of a city's days.
type ActualSeries struct {
	CityPlace
	Unit        string      `json:"unit" enum:"C,F"`                                        // unit of the measurements
	EmptyReason *string     `json:"empty_reason" enum:"not_measured,no_match,plan_history"` // why data is empty; null if it is not
	LeftOut     *string     `json:"left_out_through" format:"date"`                         // newest day that was left out, together with all days before it, because a response has at most 3,650 rows; to get them, filter by kind, metric or source; null if no day was left out
	Data        []ActualRow `json:"data"`                                                   // newest day first; within a day, settled, then station, then reanalysis
}

// ActualRow is what one source reports for one day. The three kinds are never mixed.
type ActualRow struct {
	Date         string            `json:"date" format:"date"`                     // day of the city's calendar
	Kind         string            `json:"kind" enum:"settled,station,reanalysis"` // settled: the bracket that won an event; station: measured at a station; reanalysis: computed on a grid
	Source       *string           `json:"source"`                                 // name of the source; for settled, where the event's temperature was read; null if unknown
	Station      *string           `json:"station"`                                // id of the station; null for a grid
	TMax         *Degrees          `json:"tmax"`                                   // the day's high; null for settled, which gives only a bracket
	TMin         *Degrees          `json:"tmin"`                                   // the day's low; null for settled, which gives only a bracket
	Unit         string            `json:"unit" enum:"C,F"`                        // unit of the row; for settled, that of the event
	FirstTMax    *Degrees          `json:"first_tmax"`                             // the first value that the source gave for the high; null if tmax is null
	FirstTMin    *Degrees          `json:"first_tmin"`                             // the first value that the source gave for the low; null if tmin is null
	Provisional  *bool             `json:"provisional"`                            // whether the row may still change, because the day is not over or the source may revise it, or is based on fewer than 12 reports, which are too few to give a day's high and low; null if the source does not say
	RevisedAt    *time.Time        `json:"revised_at"`                             // when the source last revised the value; null if it never did
	Revisions    int64             `json:"revisions"`                              // how often tmax and tmin were revised, added up
	Observations *int64            `json:"observations"`                           // number of single temperature reports; null for a daily summary, a grid and settled
	Settled      *SettledBracket   `json:"settled"`                                // the bracket that won; null unless kind is settled
	NullReasons  map[string]string `json:"null_reasons"`                           // reasons why tmax, tmin or provisional is null, by the name of the member
}

// CityAnomalies is the response of GET /weather/city/{city}/anomalies.
type CityAnomalies struct {
	Envelope
	AsOf *time.Time `json:"as_of"` // null if the database is empty
	AnomalySeries
}

// AnomalySeries is how much a city's days deviate from normal.
type AnomalySeries struct {
	CityPlace
	Unit        string       `json:"unit" enum:"C,F"`                                        // unit of all temperatures and differences in the response
	EmptyReason *string      `json:"empty_reason" enum:"not_measured,no_match,plan_history"` // why data is empty; null if it is not
	LeftOut     *string      `json:"left_out_through" format:"date"`                         // newest day that was left out, together with all days before it, because a response has at most 3,650 rows; to get them, filter by kind, metric or source; null if no day was left out
	Data        []AnomalyRow `json:"data"`                                                   // newest day first; within a day, tmax before tmin, then actual before forecast
}

// AnomalyRow is one value compared with the normal of its calendar day.
type AnomalyRow struct {
	Date          string            `json:"date" format:"date"` // day of the city's calendar
	Metric        string            `json:"metric" enum:"tmax,tmin"`
	Basis         string            `json:"basis" enum:"actual,forecast"`    // actual: value was measured; forecast: value is a forecast
	Kind          *string           `json:"kind" enum:"station,reanalysis"`  // kind of measurement; null for a forecast
	Source        string            `json:"source"`                          // name of the source; consensus: the mean of all current sources
	Station       *string           `json:"station"`                         // id of the station; null for a grid and for a forecast
	Value         Degrees           `json:"value"`                           // high or low of the day
	Unit          string            `json:"unit" enum:"C,F"`                 // unit of the row
	Provisional   *bool             `json:"provisional"`                     // whether a measurement may still change or is based on fewer than 12 reports; null if the source does not say, and for a forecast
	Normal        *Degrees          `json:"normal"`                          // climate normal of the calendar day
	Anomaly       *data.Micro       `json:"anomaly"`                         // value minus normal
	NormalStd     *data.Micro       `json:"normal_std"`                      // standard deviation of the calendar day's temperature
	Z             *data.Micro       `json:"z"`                               // anomaly in standard deviations
	Class         *string           `json:"class" enum:"below,normal,above"` // below: below the calendar day's tenth percentile; above: above its ninetieth percentile; normal: between them
	NormalSource  *string           `json:"normal_source"`                   // source of the normal; derived: and a name means that it was computed from that reanalysis
	NormalStation *string           `json:"normal_station"`                  // id of the station; null for a grid
	NormalPeriod  *string           `json:"normal_period"`                   // years that the normal covers
	CrossDataset  bool              `json:"cross_dataset"`                   // whether value and normal come from different data sets; anomaly then includes the difference between the data sets
	NullReasons   map[string]string `json:"null_reasons"`                    // reasons why normal, anomaly, normal_std, z or class is null, by the name of the member
}

// CityForecast is the response of GET /weather/city/{city}/forecast.
type CityForecast struct {
	Envelope
	AsOf *time.Time `json:"as_of"` // null if the database is empty
	ForecastSeries
}

// ForecastSeries is the forecasts of a city's days.
type ForecastSeries struct {
	CityPlace
	Unit        string              `json:"unit" enum:"C,F"`                                       // unit of the city's events of today
	Consensus   []ForecastConsensus `json:"consensus"`                                             // consensus for every day and metric in the response with a current source; it always covers all sources, even if one is requested
	Skill       []ForecastSkill     `json:"skill"`                                                 // past errors of the forecasts: the consensus first, then by source, metric and lead_day
	SkillBasis  string              `json:"skill_basis"`                                           // which forecasts are scored, and against which measurements
	SkillDays   int                 `json:"skill_days"`                                            // how many days before local_date skill covers
	NullReasons map[string]string   `json:"null_reasons"`                                          // reasons why lists of this response are empty, by the name of the list
	EmptyReason *string             `json:"empty_reason" enum:"no_forecast,no_match,plan_history"` // why data is empty; null if it is not
	Data        []ForecastRow       `json:"data"`                                                  // forecasts by day, tmax before tmin, then by source
}

// ForecastRow is the latest forecast of one source for the high or low of a day.
type ForecastRow struct {
	TargetDate  string     `json:"target_date" format:"date"` // the forecast day, a local day of the city
	Metric      string     `json:"metric" enum:"tmax,tmin"`
	Source      string     `json:"source"`          // name of the source: a model or a weather office
	Value       Degrees    `json:"value"`           // forecast temperature; for an ensemble, the mean of its members
	Unit        string     `json:"unit" enum:"C,F"` // unit of the row: that of the day's event
	IssuedAt    time.Time  `json:"issued_at"`       // when the value was first issued, or when it was fetched if only that is known
	ConfirmedAt time.Time  `json:"confirmed_at"`    // when the value was last issued
	RunAt       *time.Time `json:"run_at"`          // when the model run began; null if the source does not say
	LeadHours   data.Micro `json:"lead_hours"`      // hours from issued_at to the start of the local day; negative once it has begun
	LeadDay     int        `json:"lead_day"`        // target_date minus the city's local date at issued_at, in days; 0 on the day itself
	Current     bool       `json:"current"`         // whether the forecast was issued or confirmed within the last 24 hours and is therefore part of the consensus
	Members     int        `json:"members"`         // number of members of an ensemble; 0 for a single value
	P10         *Degrees   `json:"p10"`             // tenth percentile of the members; null for a single value
	P90         *Degrees   `json:"p90"`             // ninetieth percentile of the members; null for a single value
}

// ForecastConsensus is the combined forecast of the current sources. All sources have the same weight.
type ForecastConsensus struct {
	TargetDate string      `json:"target_date" format:"date"` // the forecast day, a local day of the city
	Metric     string      `json:"metric" enum:"tmax,tmin"`
	Unit       string      `json:"unit" enum:"C,F"`  // unit of the row: that of the day's event
	Mean       Degrees     `json:"mean"`             // mean of the sources
	Std        *data.Micro `json:"std"`              // standard deviation of the sources; null if there is only one source
	P10        Degrees     `json:"p10"`              // tenth percentile of the sources; an ensemble contributes each of its members
	P50        Degrees     `json:"p50"`              // median, computed in the same way
	P90        Degrees     `json:"p90"`              // ninetieth percentile, computed in the same way
	Spread     data.Micro  `json:"spread"`           // highest source minus lowest source
	N          int         `json:"n"`                // number of sources
	OldestAt   time.Time   `json:"oldest_issued_at"` // when the oldest of these forecasts was first issued
	NewestAt   time.Time   `json:"newest_issued_at"` // when the newest of these forecasts was first issued
}

// ForecastSkill is the past errors of the forecasts of one source.
type ForecastSkill struct {
	Source      string      `json:"source"` // name of the source: a model or a weather office; consensus: the mean of all sources scored at this lead
	Metric      string      `json:"metric" enum:"tmax,tmin"`
	LeadDay     int         `json:"lead_day"`        // days from the forecast to the day; 0 is the day itself, before noon
	Unit        string      `json:"unit" enum:"C,F"` // unit of the differences
	Bias        data.Micro  `json:"bias"`            // mean of forecast minus truth; positive if forecasts were too warm
	MAE         data.Micro  `json:"mae"`             // mean absolute error
	RMSE        data.Micro  `json:"rmse"`            // root mean square error
	N           int64       `json:"n"`               // number of days; figures of fewer than five days mean little
	HitPct      *data.Micro `json:"hit_pct"`         // percentage of settled_days whose forecast, rounded as the event rounds, fell into the bracket that won; null if there are none
	SettledDays int64       `json:"settled_days"`    // how many of the n days have an event with a bracket that won
}

// Observations is the response of GET /weather/city/{city}/observations.
type Observations struct {
	Envelope
	AsOf *time.Time `json:"as_of"` // null if the database is empty
	ObservationSeries
}

// ObservationSeries is what stations measured on one day of a city.
type ObservationSeries struct {
	CityPlace
	Date        string           `json:"date" format:"date"`                                     // a local day of the city
	Unit        string           `json:"unit" enum:"C,F"`                                        // unit of all temperatures: the one that the day's event settles in
	DayStart    time.Time        `json:"day_start"`                                              // start of the local day
	DayEnd      time.Time        `json:"day_end"`                                                // end of the local day
	Count       int              `json:"count"`                                                  // number of rows, including those not shown
	EmptyReason *string          `json:"empty_reason" enum:"not_measured,no_match,plan_history"` // why data is empty; null if it is not
	Data        []ObservationRow `json:"data"`                                                   // rows, oldest first
}

// ObservationRow is a single temperature of a station.
type ObservationRow struct {
	TS         time.Time `json:"ts"`                      // when it was measured
	Station    *string   `json:"station"`                 // code of the station; null if the source does not say
	Source     string    `json:"source"`                  // name of the source that provided it
	Kind       *string   `json:"kind" enum:"metar,speci"` // metar: a routine report; speci: a special report in between, because the weather changed; null if the source does not say
	Value      Degrees   `json:"value"`                   // temperature
	RunningMax Degrees   `json:"running_max"`             // highest value of the day so far, of the same station and source
	RunningMin Degrees   `json:"running_min"`             // lowest value of the day so far, of the same station and source
}

// Implied is the response of GET /weather/city/{city}/implied.
type Implied struct {
	Envelope
	AsOf *time.Time `json:"as_of"` // null if the database is empty
	ImpliedSeries
}

// ImpliedSeries is what the prices of a day's brackets implied, over time.
type ImpliedSeries struct {
	CityPlace
	Date        string           `json:"date" format:"date"` // a local day of the city
	Metric      string           `json:"metric" enum:"tmax,tmin"`
	Unit        string           `json:"unit" enum:"C,F"`                                      // unit of all temperatures: the one that the day's event settles in
	Rounding    string           `json:"rounding" enum:"half_up,floor"`                        // how the measured value is rounded to whole degrees
	DayStart    time.Time        `json:"day_start"`                                            // start of the local day
	DayEnd      time.Time        `json:"day_end"`                                              // end of the local day
	EventID     *string          `json:"event_id"`                                             // decimal id of the day's event; null if there is none
	EventSlug   *string          `json:"event_slug"`                                           // slug of the day's event, or of the canonical one if there are several; null if there is none
	Interval    string           `json:"interval"`                                             // length of the candles that the prices are taken from
	Brackets    []ImpliedBracket `json:"brackets"`                                             // brackets of the event, the coldest first
	Count       int              `json:"count"`                                                // number of rows, including those not shown
	EmptyReason *string          `json:"empty_reason" enum:"no_event,not_traded,plan_history"` // why data is empty; null if it is not
	Data        []ImpliedRow     `json:"data"`                                                 // rows, oldest first
}

// ImpliedBracket is one bracket of the event.
type ImpliedBracket struct {
	ConditionID string `json:"condition_id"` // condition id of the bracket's market
	Label       string `json:"label"`        // name of the bracket, such as 98-99°F
	Lo          *int   `json:"lo"`           // lowest whole degree of the bracket, inclusive; null if it is open below
	Hi          *int   `json:"hi"`           // highest whole degree of the bracket, inclusive; null if it is open above
}

// ImpliedRow is what prices implied at the end of an hour in which a bracket was traded.
type ImpliedRow struct {
	TS          time.Time     `json:"ts"`                                                                    // start of the hour, as in the candles that the prices are from
	At          time.Time     `json:"at"`                                                                    // time of the prices: the end of the hour, or as_of in the hour that is not over
	ImpliedMean *Degrees      `json:"implied_mean"`                                                          // mean of the midpoints of all brackets, weighted by their prices; null if not all have a price
	NullReason  *string       `json:"null_reason" enum:"unpriced_brackets,ladder_incomplete,prices_of_zero"` // why implied_mean is null; null if it is not
	Overround   *data.Micro   `json:"overround"`                                                             // sum of the prices of all brackets; null if not all have one
	Priced      int           `json:"priced"`                                                                // number of brackets with a price
	PricedMean  *Degrees      `json:"priced_mean"`                                                           // the same mean, over the brackets with a price only: the expected temperature if one of them wins; null if their prices are all 0
	PricedSum   data.Micro    `json:"priced_sum"`                                                            // sum of the prices of these brackets
	ModeLabel   string        `json:"mode_label"`                                                            // label of the bracket with the highest price
	ModePrice   data.Micro    `json:"mode_price"`                                                            // price of that bracket
	IsPartial   bool          `json:"is_partial"`                                                            // whether the hour is not over
	Prices      []*data.Micro `json:"prices" null:"true"`                                                    // price of each bracket, in the order of `brackets`; null for a bracket that has not been traded yet; the list is null without include=prices
}
