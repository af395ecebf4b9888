package wire

import (
	"time"

	"pmx/data"
)

// WeatherVolumes are dollars of a city's temperature markets. Today and seven days
// are UTC calendar days up to as_of; none of these is a rolling window.
type WeatherVolumes struct {
	Volume24h      data.Micro `json:"volume_24h"`      // traded in the UTC calendar day of as_of, so far
	Volume7d       data.Micro `json:"volume_7d"`       // traded in the last 7 UTC calendar days, today among them
	Volume         data.Micro `json:"volume"`          // all time; equals volume_lifetime
	VolumeLifetime data.Micro `json:"volume_lifetime"` // all time: not a figure of today
	VolumeAsOf     *time.Time `json:"volume_as_of"`    // when the volumes were computed; null on an empty database
}

// WeatherPlace is a city of the desk.
type WeatherPlace struct {
	City     string     `json:"city"`            // slug, as {city} in paths
	Name     string     `json:"name"`            // as titles of events write it
	Country  string     `json:"country"`         // ISO 3166-1 alpha-2
	Station  string     `json:"station"`         // ICAO code, or HKO: where its events settle now; older events may name another
	Unit     string     `json:"unit" enum:"C,F"` // of the temperatures of this object
	Timezone string     `json:"timezone"`        // IANA zone: the city's days are told by it
	Lat      data.Micro `json:"lat"`             // degrees north
	Lon      data.Micro `json:"lon"`             // degrees east
}

// WeatherCities is the reply of GET /weather/cities.
type WeatherCities struct {
	Envelope
	AsOf *time.Time `json:"as_of"` // null on an empty database
	WeatherGrid
}

// WeatherGrid is the whole desk.
type WeatherGrid struct {
	Volume24hTotal      data.Micro    `json:"volume_24h_total"`      // sum of the rows' volume_24h
	Volume7dTotal       data.Micro    `json:"volume_7d_total"`       // sum of the rows' volume_7d
	VolumeLifetimeTotal data.Micro    `json:"volume_lifetime_total"` // sum of the rows' volume_lifetime
	VolumeAsOf          *time.Time    `json:"volume_as_of"`          // when the volumes were computed; null on an empty database
	Data                []WeatherCity `json:"data"`
}

// WeatherCity is one row of GET /weather/cities.
type WeatherCity struct {
	WeatherPlace
	LocalDate    *string `json:"local_date" format:"date"`         // the city's day at as_of
	OpenCount    int     `json:"open_count"`                       // brackets that can be traded
	MarketCount  int     `json:"market_count"`                     // events that can be traded
	CountsSource string  `json:"counts_source" enum:"live,rollup"` // live: by the states that a source gave last; rollup: no source gives any, so what is not over and not resolved
	WeatherVolumes
	Forecast    *WeatherOutlook   `json:"forecast"`     // of local_date
	Normal      *WeatherNormal    `json:"normal"`       // of local_date
	Anomaly     *WeatherAnomaly   `json:"anomaly"`      // forecast less normal
	NullReasons map[string]string `json:"null_reasons"` // why a member is null, by its name
}

// WeatherOutlook is what the sources foretell of one day together: their means.
type WeatherOutlook struct {
	TargetDate string     `json:"target_date" format:"date"` // the city's local day
	TMax       *Degrees   `json:"tmax"`                      // highest temperature of the day
	TMin       *Degrees   `json:"tmin"`                      // lowest temperature of the day
	Sources    int        `json:"sources"`                   // that were heard of either within 24 hours
	IssuedAt   *time.Time `json:"issued_at"`                 // when the newest of these values was first given
}

// WeatherNormal is what a calendar day is usually like. Where high and low are of
// different origin, source, station and period are those of the high.
type WeatherNormal struct {
	TMax    *Degrees `json:"tmax"`    // highest temperature of the day
	TMin    *Degrees `json:"tmin"`    // lowest temperature of the day
	Source  *string  `json:"source"`  // ncei, iem, or derived: and a reanalysis
	Station *string  `json:"station"` // where it was measured, which may be another than the city's station; null for a grid
	Period  *string  `json:"period"`  // years it is the mean of
}

// WeatherAnomaly is how far a value lies from the normal of its day: a difference.
type WeatherAnomaly struct {
	TMax *data.Micro `json:"tmax"` // of the day's highest temperature, a difference
	TMin *data.Micro `json:"tmin"` // of the day's lowest temperature, a difference
}

// WeatherCityCard is the payload of GET /weather/city/{city}.
type WeatherCityCard struct {
	WeatherCity
	Running   []WeatherRunning  `json:"running"`   // what the station measured today so far: high, then low
	Forecasts []WeatherReading  `json:"forecasts"` // newest word of every source, of today and the days after, by day, metric and source
	Outlook   []WeatherOutlook  `json:"outlook"`   // their means by day
	Actuals   []WeatherMeasured `json:"actuals"`   // of the last days, newest day first
	Events    []WeatherEvent    `json:"events"`    // that can be traded, by day
}

// WeatherRunning is what a station measured of an extreme of a day that is not over.
type WeatherRunning struct {
	Metric       string     `json:"metric" enum:"tmax,tmin"`
	Date         string     `json:"date" format:"date"`
	Station      string     `json:"station"`      // where it settles
	Value        *Degrees   `json:"value"`        // null: nothing measured yet
	Degrees      *int       `json:"degrees"`      // whole degrees it would settle as
	Observations int64      `json:"observations"` // single temperatures behind it
	LastAt       *time.Time `json:"last_obs_at"`  // time of the newest one
}

// WeatherReading is the newest word of one source on one extreme of a day.
type WeatherReading struct {
	TargetDate  string     `json:"target_date" format:"date"` // the city's local day
	Metric      string     `json:"metric" enum:"tmax,tmin"`
	Source      string     `json:"source"`       // model, office or network
	Value       Degrees    `json:"value"`        // of an ensemble the mean of its members
	IssuedAt    *time.Time `json:"issued_at"`    // when the value was first given
	ConfirmedAt *time.Time `json:"confirmed_at"` // when it was last given
	LeadDay     int        `json:"lead_day"`     // days from the city's day of issued_at to target_date
	Members     int        `json:"members"`      // of an ensemble; 0 for others
}

// WeatherMeasured is what one source says of a past day.
type WeatherMeasured struct {
	Date         string     `json:"date" format:"date"`
	Kind         string     `json:"kind" enum:"station,reanalysis"` // measured at a station, or computed on a grid
	Source       string     `json:"source"`                         // model, office or network
	Station      *string    `json:"station"`                        // null for a reanalysis
	TMax         *Degrees   `json:"tmax"`                           // highest temperature of the day
	TMin         *Degrees   `json:"tmin"`                           // lowest temperature of the day
	Provisional  *bool      `json:"provisional"`                    // the source may still change it, or it is of fewer than 12 reports; null: it does not say
	RevisedAt    *time.Time `json:"revised_at"`                     // since when it differs from what was said first; null: it never did
	Observations *int64     `json:"observations"`                   // single temperatures it is of; null for a daily report
}

// WeatherMarkets is the reply of GET /weather/city/{city}/markets.
type WeatherMarkets struct {
	Envelope
	AsOf *time.Time `json:"as_of"` // null on an empty database
	WeatherLadders
}

// WeatherLadders are the brackets of a city that can be traded.
type WeatherLadders struct {
	City        string           `json:"city"`                                                  // slug
	Timezone    string           `json:"timezone"`                                              // IANA zone
	LocalDate   *string          `json:"local_date" format:"date"`                              // the city's day
	EmptyReason *string          `json:"empty_reason" enum:"no_events,no_open_events,no_match"` // why there are no rows; null where there are
	Total       int              `json:"total"`                                                 // brackets, before any limit
	Events      []WeatherEvent   `json:"events"`                                                // by day, then metric
	Data        []WeatherBracket `json:"data"`                                                  // by day, metric and event, from the coldest bracket up
}

// WeatherEvent is one event of the desk: the highest or the lowest temperature of a
// city's local day, of which exactly one bracket wins.
type WeatherEvent struct {
	EventID            *string           `json:"event_id"`
	EventSlug          string            `json:"event_slug"` // or the id of an event without one
	Metric             string            `json:"metric" enum:"tmax,tmin"`
	TargetDate         string            `json:"target_date" format:"date"`                            // the city's local day
	DayStart           time.Time         `json:"day_start"`                                            // local midnight
	DayEnd             time.Time         `json:"day_end"`                                              // the next one: 23 to 25 hours later
	Canonical          bool              `json:"canonical"`                                            // false: another event stands for this day
	Unit               string            `json:"unit" enum:"C,F"`                                      // of all temperatures of the event
	Station            string            `json:"station"`                                              // where it settles
	ResolutionSource   *string           `json:"resolution_source" enum:"wunderground,noaa,hko,cwa"`   // where the settling temperature is read
	ResolutionFallback *string           `json:"resolution_fallback" enum:"wunderground,noaa,hko,cwa"` // what counts where the first has no data
	Rounding           string            `json:"rounding" enum:"half_up,floor"`                        // how a measured value becomes whole degrees
	Volume             data.Micro        `json:"volume"`                                               // lifetime dollars of its brackets
	Brackets           int               `json:"brackets"`                                             // how many there are
	LeadDay            *int              `json:"lead_day"`                                             // days from local_date to target_date
	Consensus          *WeatherConsensus `json:"consensus"`                                            // what the sources say together
	Estimate           *WeatherEstimate  `json:"estimate"`                                             // what the probabilities are of
	Running            *WeatherRunning   `json:"running"`                                              // of today's events
	Normal             *Degrees          `json:"normal"`                                               // usual value of the calendar day
	Anomaly            *data.Micro       `json:"anomaly"`                                              // consensus mean less normal
	ImpliedMean        *Degrees          `json:"implied_mean"`                                         // mean of the brackets by their prices
	ModeLabel          *string           `json:"mode_label"`                                           // bracket of the highest price
	ModePrice          *data.Micro       `json:"mode_price"`                                           // highest price of a bracket
	Overround          *data.Micro       `json:"overround"`                                            // sum of the prices of all brackets
	NullReasons        map[string]string `json:"null_reasons"`                                         // why a member is null, by its name
}

// WeatherConsensus is what the sources that were heard within 24 hours say together,
// each counting the same.
type WeatherConsensus struct {
	Mean     Degrees     `json:"mean"`             // mean of the sources
	Std      *data.Micro `json:"std"`              // of the sources, a difference; null for one source
	P10      Degrees     `json:"p10"`              // tenth percentile
	P50      Degrees     `json:"p50"`              // median
	P90      Degrees     `json:"p90"`              // ninetieth percentile
	Spread   data.Micro  `json:"spread"`           // highest less lowest, a difference
	N        int         `json:"n"`                // sources
	OldestAt *time.Time  `json:"oldest_issued_at"` // when the oldest of these values was first given
	NewestAt *time.Time  `json:"newest_issued_at"` // when the newest of these values was first given
}

// WeatherEstimate is the normal distribution about the consensus that p_model is
// taken from.
type WeatherEstimate struct {
	Mean  Degrees    `json:"mean"`                       // consensus mean less bias
	Sigma data.Micro `json:"sigma"`                      // standard deviation, a difference
	Bias  data.Micro `json:"bias"`                       // what the consensus was too warm by, a difference
	Basis string     `json:"basis" enum:"skill,default"` // skill: how far the consensus was off here at this lead; default: how far forecasts are off elsewhere
	Days  int64      `json:"days"`                       // scored days behind skill; 0 by default
}

// WeatherBracket is one bracket of an event with what was traded of it.
type WeatherBracket struct {
	EventSlug      string            `json:"event_slug"` // or the id of an event without one
	Metric         string            `json:"metric" enum:"tmax,tmin"`
	TargetDate     string            `json:"target_date" format:"date"` // the city's local day
	ConditionID    string            `json:"condition_id"`
	Question       *string           `json:"question"`
	Slug           *string           `json:"slug"`
	YesToken       *string           `json:"yes_token"`       // token id of the first outcome
	Label          string            `json:"label"`           // as the venue writes it
	Lo             *int              `json:"lo"`              // whole degrees, belongs to the bracket; null: open
	Hi             *int              `json:"hi"`              // whole degrees, belongs to the bracket; null: open
	Unit           string            `json:"unit" enum:"C,F"` // of the event's temperatures
	Status         string            `json:"status" enum:"open,closed,resolved"`
	Price          *data.Micro       `json:"price"`              // of the first outcome, last traded
	BestBid        *data.Micro       `json:"best_bid"`           // as a source gave it, at quoted_at
	BestAsk        *data.Micro       `json:"best_ask"`           // as a source gave it, at quoted_at
	QuotedAt       *time.Time        `json:"quoted_at"`          // when a source gave best_bid and best_ask; null without either
	Volume         data.Micro        `json:"volume"`             // lifetime dollars
	Volume24h      data.Micro        `json:"volume_rolling_24h"` // dollars of the 24 hours up to as_of
	Trades         int64             `json:"trades"`
	Traders        int32             `json:"traders"` // distinct wallets
	PriceChange24h *data.Micro       `json:"price_change_24h"`
	PModel         *data.Micro       `json:"p_model"`                       // probability by the estimate; 0 for a dead bracket; 1 over all of an event
	PMarket        *data.Micro       `json:"p_market"`                      // price as part of the event's prices, of mid or last; 1 over all of an event
	PMarketFrom    *string           `json:"p_market_from" enum:"mid,last"` // mid of best_bid and best_ask, or price
	Edge           *data.Micro       `json:"edge"`                          // p_model less best_ask and the taker's fee at it
	EdgeMid        *data.Micro       `json:"edge_mid"`                      // p_model less mid
	Dead           *bool             `json:"dead"`                          // what was measured today rules it out; null: nothing measured
	NullReasons    map[string]string `json:"null_reasons"`                  // why a member is null, by its name
}

// WeatherBundle is the reply of GET /weather/bot-bundle.
type WeatherBundle struct {
	Envelope
	AsOf *time.Time `json:"as_of"` // null on an empty database
	BundleBody
}

// BundleBody is the desk in short.
type BundleBody struct {
	SchemaVersion int            `json:"schema_version"`                                                    // of the bundle's shape
	EmptyReason   *string        `json:"empty_reason" enum:"no_events,no_open_events,no_match,bundle_size"` // why there are no cities; null where there are
	LeftOut       *BundleLeftOut `json:"left_out"`                                                          // what did not fit into 200 KB; null where all is there
	Data          []BundleCity   `json:"data"`
}

// BundleLeftOut is what a bundle is short of because it would not fit into 200 KB: the
// forecasts of single sources first, then what was traded, then events, those of the
// furthest days first, of one day those that were traded least. It is there for less of the
// desk at once, by cities or date.
type BundleLeftOut struct {
	Forecast int      `json:"forecast"`                // events that are here without forecast
	Trades   int      `json:"trades"`                  // events that are here without last and vol
	Events   int      `json:"events"`                  // events that are not here
	Brackets int      `json:"brackets"`                // brackets of these
	FromDate *string  `json:"from_date" format:"date"` // first day of which an event is not here: of later days none is; null where all events are here
	Cities   []string `json:"cities"`                  // slugs of cities with events that are not here, the first 200
	Hint     string   `json:"hint"`                    // how to ask for what is left out
}

// BundleCity is a city with events that can be traded.
type BundleCity struct {
	City      string        `json:"city"`                     // slug
	Name      string        `json:"name"`                     // as titles of events write it
	Station   string        `json:"station"`                  // where it settles
	Unit      string        `json:"unit" enum:"C,F"`          // an event may have another
	TZ        string        `json:"tz"`                       // IANA zone
	UTCOffset int           `json:"utc_offset_s"`             // seconds east of UTC at as_of
	LocalDate string        `json:"local_date" format:"date"` // the city's day
	Events    []BundleEvent `json:"events"`                   // by day, then metric
}

// BundleEvent is an event of the bundle.
type BundleEvent struct {
	Slug             string                    `json:"slug"`
	Metric           string                    `json:"metric" enum:"tmax,tmin"`
	TargetDate       string                    `json:"target_date" format:"date"`                          // the city's local day
	DayEnd           time.Time                 `json:"day_end"`                                            // local midnight that target_date ends with: after it nothing can be measured any more
	Unit             string                    `json:"unit" enum:"C,F"`                                    // of the event's temperatures
	Station          string                    `json:"station"`                                            // where the event settles
	Canonical        bool                      `json:"canonical"`                                          // false: another event stands for this day
	QuotedAt         *time.Time                `json:"quoted_at"`                                          // of the oldest bid and ask of its brackets
	ResolutionSource *string                   `json:"resolution_source" enum:"wunderground,noaa,hko,cwa"` // where the settling temperature is read
	Rounding         string                    `json:"rounding" enum:"half_up,floor"`                      // how a measured value becomes whole degrees
	Forecast         map[string]BundleForecast `json:"forecast" null:"true"`                               // newest word of each source, by its name; null where not all would fit into 200 KB with it
	Consensus        *BundleConsensus          `json:"consensus"`                                          // what the sources say together
	Skill            *BundleSkill              `json:"skill"`                                              // of the consensus in this city at this lead
	Obs              *BundleObs                `json:"obs"`                                                // of today's events
	Normal           *Degrees                  `json:"normal"`                                             // usual value of the calendar day
	Anomaly          *data.Micro               `json:"anomaly"`                                            // consensus mean less normal, a difference
	Market           BundleMarket              `json:"market"`                                             // what the prices say together
	Brackets         BundleBrackets            `json:"brackets"`                                           // column by column, from the coldest up
	NullReasons      map[string]string         `json:"null_reasons"`                                       // why a member is null, by its name
}

// BundleForecast is the newest word of a source.
type BundleForecast struct {
	V        Degrees   `json:"v"`         // value, of an ensemble the mean of its members
	IssuedAt time.Time `json:"issued_at"` // when the value was first given
}

// BundleConsensus is WeatherConsensus in short.
type BundleConsensus struct {
	Mean Degrees     `json:"mean"` // mean of the sources
	Std  *data.Micro `json:"std"`  // standard deviation of the sources, a difference; null for one source
	P10  Degrees     `json:"p10"`  // tenth percentile
	P50  Degrees     `json:"p50"`  // median
	P90  Degrees     `json:"p90"`  // ninetieth percentile
	N    int         `json:"n"`    // sources
}

// BundleSkill is how far the consensus was off: differences.
type BundleSkill struct {
	Bias data.Micro `json:"bias"` // forecast less truth
	MAE  data.Micro `json:"mae"`  // mean absolute error
	N    int64      `json:"n"`    // days
}

// BundleObs is what the station measured today so far.
type BundleObs struct {
	Running   *Degrees   `json:"running"`     // highest or lowest so far
	N         int64      `json:"n_obs"`       // single temperatures
	LastObsAt *time.Time `json:"last_obs_at"` // time of the newest one
}

// BundleMarket is what the prices of an event say together.
type BundleMarket struct {
	ImpliedMean *Degrees    `json:"implied_mean"` // mean of the brackets by their prices
	ModeLabel   *string     `json:"mode_label"`   // bracket of the highest price
	ModePrice   *data.Micro `json:"mode_price"`   // highest price of a bracket
	Overround   *data.Micro `json:"overround"`    // sum of the prices of all brackets
}

// BundleBrackets are the brackets of an event from the coldest up, column by column:
// the i-th value of every list belongs to the i-th bracket. Written row by row, a
// desk of 1,500 brackets would take three times the bytes. condition_id and yes_token
// never change and are there with include=ids alone.
type BundleBrackets struct {
	Lo          []*int        `json:"lo"`                  // whole degrees, both bounds belong to the bracket; null: open
	Hi          []*int        `json:"hi"`                  // highest whole degree; belongs to the bracket; null: open
	Bid         []*data.Micro `json:"bid"`                 // best bid, as a source gave it last
	Ask         []*data.Micro `json:"ask"`                 // best ask, as a source gave it last
	Last        []*data.Micro `json:"last" null:"true"`    // last traded price
	Vol         []data.Micro  `json:"vol" null:"true"`     // lifetime dollars
	PModel      []data.Micro  `json:"p_model" null:"true"` // null: see null_reasons
	PMkt        []data.Micro  `json:"p_mkt" null:"true"`   // price as part of the sum of the event's prices; null: see null_reasons
	Edge        []*data.Micro `json:"edge"`                // p_model less the ask and the taker's fee at it
	Dead        []bool        `json:"dead" null:"true"`    // null: nothing measured yet
	ConditionID []string      `json:"condition_id,omitempty"`
	YesToken    []*string     `json:"yes_token,omitempty"` // token id of the first outcome
}
