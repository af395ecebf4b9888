package wire

import (
	"time"

	"pmx/data"
)

// WeatherVolumes are volumes of a city's temperature markets in USD. Today and the last seven days are UTC calendar
// days up to as_of; none of these is a rolling window.
type WeatherVolumes struct {
	Volume24h      data.Micro `json:"volume_24h"`      // USD traded so far in the UTC calendar day of as_of
	Volume7d       data.Micro `json:"volume_7d"`       // USD traded in the last 7 UTC calendar days, including today
	Volume         data.Micro `json:"volume"`          // USD traded since the first fill; equals volume_lifetime
	VolumeLifetime data.Micro `json:"volume_lifetime"` // USD traded since the first fill, not only today
	VolumeAsOf     *time.Time `json:"volume_as_of"`    // when the volumes were computed; null if the database is empty
}

// WeatherPlace is a city of the weather desk.
type WeatherPlace struct {
	City     string     `json:"city"`            // slug of the city: the {city} in paths
	Name     string     `json:"name"`            // name of the city, as in the titles of its events
	Country  string     `json:"country"`         // country code, ISO 3166-1 alpha-2
	Station  string     `json:"station"`         // station by which the city's events now settle: its ICAO code, or HKO; older events may name another
	Unit     string     `json:"unit" enum:"C,F"` // unit of the temperatures in this object
	Timezone string     `json:"timezone"`        // IANA time zone that defines the city's local days
	Lat      data.Micro `json:"lat"`             // latitude in degrees north
	Lon      data.Micro `json:"lon"`             // longitude in degrees east
}

// WeatherCities is the response of GET /weather/cities.
type WeatherCities struct {
	Envelope
	AsOf *time.Time `json:"as_of"` // null if the database is empty
	WeatherGrid
}

// WeatherGrid is the whole desk.
type WeatherGrid struct {
	Volume24hTotal      data.Micro    `json:"volume_24h_total"`      // sum of volume_24h over all rows
	Volume7dTotal       data.Micro    `json:"volume_7d_total"`       // sum of volume_7d over all rows
	VolumeLifetimeTotal data.Micro    `json:"volume_lifetime_total"` // sum of volume_lifetime over all rows
	VolumeAsOf          *time.Time    `json:"volume_as_of"`          // when the volumes were computed; null if the database is empty
	Data                []WeatherCity `json:"data"`
}

// WeatherCity is a row of GET /weather/cities.
type WeatherCity struct {
	WeatherPlace
	LocalDate    *string `json:"local_date" format:"date"`         // the city's local day at as_of; null if the database has neither trades nor weather
	OpenCount    int     `json:"open_count"`                       // number of brackets that can be traded
	MarketCount  int     `json:"market_count"`                     // number of events that can be traded
	CountsSource string  `json:"counts_source" enum:"live,rollup"` // how open_count and market_count are determined. live: from the states last reported by a source; rollup: no source reports any, so everything that is neither over nor resolved counts
	WeatherVolumes
	Forecast    *WeatherOutlook   `json:"forecast"`     // mean of the sources for local_date
	Normal      *WeatherNormal    `json:"normal"`       // normal of the calendar day of local_date
	Anomaly     *WeatherAnomaly   `json:"anomaly"`      // forecast minus normal
	NullReasons map[string]string `json:"null_reasons"` // reasons why members are null, by the name of the member
}

// WeatherOutlook is the mean forecast of the sources for one day.
type WeatherOutlook struct {
	TargetDate string     `json:"target_date" format:"date"` // the city's local day
	TMax       *Degrees   `json:"tmax"`                      // highest temperature of the day
	TMin       *Degrees   `json:"tmin"`                      // lowest temperature of the day
	Sources    int        `json:"sources"`                   // number of sources that issued or confirmed a forecast of either temperature within 24 hours
	IssuedAt   *time.Time `json:"issued_at"`                 // when the newest of these forecasts was first issued
}

// WeatherNormal is the climate normal of a calendar day. If the high and the low have different origins, source,
// station and period are those of the high.
type WeatherNormal struct {
	TMax    *Degrees `json:"tmax"`    // highest temperature of the day
	TMin    *Degrees `json:"tmin"`    // lowest temperature of the day
	Source  *string  `json:"source"`  // source of the normal: ncei, iem, or derived: and the name of a reanalysis
	Station *string  `json:"station"` // station where it was measured, which may differ from the city's station; null for a grid
	Period  *string  `json:"period"`  // years that the mean covers
}

// WeatherAnomaly is the difference between a value and the normal of its day.
type WeatherAnomaly struct {
	TMax *data.Micro `json:"tmax"` // difference of the day's highest temperature
	TMin *data.Micro `json:"tmin"` // difference of the day's lowest temperature
}

// WeatherCitySummary is the payload of GET /weather/city/{city}.
type WeatherCitySummary struct {
	WeatherCity
	Running   []WeatherRunning  `json:"running"`   // what the station has measured so far today: the high, then the low
	Forecasts []WeatherReading  `json:"forecasts"` // latest forecast of every source for today and the days after, by day, metric and source
	Outlook   []WeatherOutlook  `json:"outlook"`   // mean of the latest forecasts, by day
	Actuals   []WeatherMeasured `json:"actuals"`   // measurements of the last days, newest day first
	Events    []WeatherEvent    `json:"events"`    // events that can be traded, by day
}

// WeatherRunning is the high or low that a station has measured so far on a day that is not over.
type WeatherRunning struct {
	Metric       string     `json:"metric" enum:"tmax,tmin"`
	Date         string     `json:"date" format:"date"`
	Station      string     `json:"station"`      // station by which the event settles
	Value        *Degrees   `json:"value"`        // highest or lowest temperature so far; null if nothing has been measured yet
	Degrees      *int       `json:"degrees"`      // whole degrees that this value would settle as; null if nothing has been measured yet
	Observations int64      `json:"observations"` // number of single temperature reports
	LastAt       *time.Time `json:"last_obs_at"`  // time of the latest temperature report
}

// WeatherReading is the latest forecast of one source for the high or low of a day.
type WeatherReading struct {
	TargetDate  string     `json:"target_date" format:"date"` // the city's local day
	Metric      string     `json:"metric" enum:"tmax,tmin"`
	Source      string     `json:"source"`       // name of the source: a model, a weather office or a station network
	Value       Degrees    `json:"value"`        // forecast temperature; for an ensemble, the mean of its members
	IssuedAt    *time.Time `json:"issued_at"`    // when this value was first issued
	ConfirmedAt *time.Time `json:"confirmed_at"` // when this value was last issued
	LeadDay     int        `json:"lead_day"`     // target_date minus the city's local date at issued_at, in days
	Members     int        `json:"members"`      // number of members of an ensemble; 0 for other sources
}

// WeatherMeasured is one source's measurement of a past day.
type WeatherMeasured struct {
	Date         string     `json:"date" format:"date"`
	Kind         string     `json:"kind" enum:"station,reanalysis"` // station: measured at a station; reanalysis: computed on a grid
	Source       string     `json:"source"`                         // name of the source: a model, a weather office or a station network
	Station      *string    `json:"station"`                        // id of the station; null for a reanalysis
	TMax         *Degrees   `json:"tmax"`                           // highest temperature of the day
	TMin         *Degrees   `json:"tmin"`                           // lowest temperature of the day
	Provisional  *bool      `json:"provisional"`                    // whether the source may still change the value, or it is based on fewer than 12 reports; null if the source does not say
	RevisedAt    *time.Time `json:"revised_at"`                     // when the value was last revised; null if never
	Observations *int64     `json:"observations"`                   // number of single temperature reports; null for a daily summary
}

// WeatherMarkets is the response of GET /weather/city/{city}/markets.
type WeatherMarkets struct {
	Envelope
	AsOf *time.Time `json:"as_of"` // null if the database is empty
	WeatherLadders
}

// WeatherLadders are the brackets of a city that can be traded.
type WeatherLadders struct {
	City        string           `json:"city"`                                                  // slug of the city
	Timezone    string           `json:"timezone"`                                              // IANA time zone of the city
	LocalDate   *string          `json:"local_date" format:"date"`                              // the city's local day at as_of
	EmptyReason *string          `json:"empty_reason" enum:"no_events,no_open_events,no_match"` // why there are no rows; null if there are any
	Total       int              `json:"total"`                                                 // number of brackets, before any limit
	Events      []WeatherEvent   `json:"events"`                                                // events by day, then by metric
	Data        []WeatherBracket `json:"data"`                                                  // brackets by day, metric and event, the coldest first
}

// WeatherEvent is one event of the weather desk: the highest or the lowest temperature of a city's local day. Exactly
// one of its brackets wins.
type WeatherEvent struct {
	EventID            *string           `json:"event_id"`
	EventSlug          string            `json:"event_slug"` // readable id of the event, or its id if it has none
	Metric             string            `json:"metric" enum:"tmax,tmin"`
	TargetDate         string            `json:"target_date" format:"date"`                            // the city's local day
	DayStart           time.Time         `json:"day_start"`                                            // start of the local day: local midnight
	DayEnd             time.Time         `json:"day_end"`                                              // end of the local day: the next local midnight, 23 to 25 hours later
	Canonical          bool              `json:"canonical"`                                            // false if another event is the one used for this day and metric
	Unit               string            `json:"unit" enum:"C,F"`                                      // unit of all temperatures of the event
	Station            string            `json:"station"`                                              // station by which the event settles
	ResolutionSource   *string           `json:"resolution_source" enum:"wunderground,noaa,hko,cwa"`   // where the settling temperature is read; null if unknown
	ResolutionFallback *string           `json:"resolution_fallback" enum:"wunderground,noaa,hko,cwa"` // source used if resolution_source has no data; null if there is none
	Rounding           string            `json:"rounding" enum:"half_up,floor"`                        // how a measured value is rounded to whole degrees
	Volume             data.Micro        `json:"volume"`                                               // USD traded in the event's brackets since the first fill
	Brackets           int               `json:"brackets"`                                             // number of brackets
	LeadDay            *int              `json:"lead_day"`                                             // target_date minus local_date, in days
	Consensus          *WeatherConsensus `json:"consensus"`                                            // consensus of the sources
	Estimate           *WeatherEstimate  `json:"estimate"`                                             // distribution that the probabilities are computed from
	Running            *WeatherRunning   `json:"running"`                                              // measurements so far today; null if the event is not of today
	Normal             *Degrees          `json:"normal"`                                               // climate normal of the calendar day
	Anomaly            *data.Micro       `json:"anomaly"`                                              // consensus mean minus normal, as a temperature difference
	ImpliedMean        *Degrees          `json:"implied_mean"`                                         // mean of the brackets' temperatures, weighted by their prices
	ModeLabel          *string           `json:"mode_label"`                                           // label of the bracket with the highest price
	ModePrice          *data.Micro       `json:"mode_price"`                                           // highest price of a bracket
	Overround          *data.Micro       `json:"overround"`                                            // sum of the prices of all brackets
	NullReasons        map[string]string `json:"null_reasons"`                                         // reasons why members are null, by the name of the member
}

// WeatherConsensus is the combined forecast of the sources that issued or confirmed one within 24 hours. All sources
// have the same weight.
type WeatherConsensus struct {
	Mean     Degrees     `json:"mean"`             // mean of the sources
	Std      *data.Micro `json:"std"`              // standard deviation of the sources, as a temperature difference; null if there is only one source
	P10      Degrees     `json:"p10"`              // tenth percentile
	P50      Degrees     `json:"p50"`              // median
	P90      Degrees     `json:"p90"`              // ninetieth percentile
	Spread   data.Micro  `json:"spread"`           // highest minus lowest, as a temperature difference
	N        int         `json:"n"`                // number of sources
	OldestAt *time.Time  `json:"oldest_issued_at"` // when the oldest of these forecasts was first issued
	NewestAt *time.Time  `json:"newest_issued_at"` // when the newest of these forecasts was first issued
}

// WeatherEstimate is the normal distribution around the consensus that p_model is computed from.
type WeatherEstimate struct {
	Mean  Degrees    `json:"mean"`                       // mean of the consensus minus bias
	Sigma data.Micro `json:"sigma"`                      // standard deviation, as a temperature difference
	Bias  data.Micro `json:"bias"`                       // by how much the consensus has been too warm, as a temperature difference; 0 if basis is default
	Basis string     `json:"basis" enum:"skill,default"` // where sigma comes from. skill: past errors of the consensus in this city at this lead; default: typical forecast errors elsewhere
	Days  int64      `json:"days"`                       // number of scored days that skill is based on; 0 if basis is default
}

// WeatherBracket is one bracket of an event, with its trading figures.
type WeatherBracket struct {
	EventSlug      string            `json:"event_slug"` // readable id of the event, or its id if it has none
	Metric         string            `json:"metric" enum:"tmax,tmin"`
	TargetDate     string            `json:"target_date" format:"date"` // the city's local day
	ConditionID    string            `json:"condition_id"`
	Question       *string           `json:"question"`
	Slug           *string           `json:"slug"`
	YesToken       *string           `json:"yes_token"`       // id of the token of the first outcome
	Label          string            `json:"label"`           // name of the bracket, in the venue's words
	Lo             *int              `json:"lo"`              // bound of the bracket in whole degrees, inclusive; null if the bracket is open on this side
	Hi             *int              `json:"hi"`              // bound of the bracket in whole degrees, inclusive; null if the bracket is open on this side
	Unit           string            `json:"unit" enum:"C,F"` // unit of the event's temperatures
	Status         string            `json:"status" enum:"open,closed,resolved"`
	Price          *data.Micro       `json:"price"`              // last traded price of the first outcome
	BestBid        *data.Micro       `json:"best_bid"`           // best bid, as reported by a source at quoted_at
	BestAsk        *data.Micro       `json:"best_ask"`           // best ask, as reported by a source at quoted_at
	QuotedAt       *time.Time        `json:"quoted_at"`          // when a source reported best_bid and best_ask; null if neither is known
	Volume         data.Micro        `json:"volume"`             // USD traded since the first fill
	Volume24h      data.Micro        `json:"volume_rolling_24h"` // USD traded in the last 24 hours up to as_of
	Trades         int64             `json:"trades"`
	Traders        int32             `json:"traders"` // number of distinct wallets
	PriceChange24h *data.Micro       `json:"price_change_24h"`
	PModel         *data.Micro       `json:"p_model"`                       // probability according to the estimate; 0 for a dead bracket; the brackets of an event add up to 1
	PMarket        *data.Micro       `json:"p_market"`                      // the bracket's share of the sum of the event's prices, each the mid or last price; the brackets of an event add up to 1
	PMarketFrom    *string           `json:"p_market_from" enum:"mid,last"` // price that p_market is computed from. mid: the mean of best_bid and best_ask; last: price
	Edge           *data.Micro       `json:"edge"`                          // p_model minus best_ask and minus the taker's fee at that price
	EdgeMid        *data.Micro       `json:"edge_mid"`                      // p_model minus the mean of best_bid and best_ask
	Dead           *bool             `json:"dead"`                          // whether today's measurements rule the bracket out; null if nothing has been measured
	NullReasons    map[string]string `json:"null_reasons"`                  // reasons why members are null, by the name of the member
}

// WeatherBundle is the response of GET /weather/bot-bundle.
type WeatherBundle struct {
	Envelope
	AsOf *time.Time `json:"as_of"` // null if the database is empty
	BundleBody
}

// BundleBody is the weather desk in compact form.
type BundleBody struct {
	SchemaVersion int            `json:"schema_version"`                                                    // version of the bundle's format
	EmptyReason   *string        `json:"empty_reason" enum:"no_events,no_open_events,no_match,bundle_size"` // why there are no cities; null if there are any
	LeftOut       *BundleLeftOut `json:"left_out"`                                                          // what was left out to keep the bundle within 200 KB; null if nothing was
	Data          []BundleCity   `json:"data"`
}

// BundleLeftOut is what was left out of a bundle because it did not fit into 200 KB: first the forecasts of single
// sources, then last and vol, then whole events, starting with the latest days and, within a
// day, with the least traded. To get everything, request part of the desk with cities or date.
type BundleLeftOut struct {
	Forecast int      `json:"forecast"`                // number of events in the bundle without forecast
	Trades   int      `json:"trades"`                  // number of events in the bundle without last and vol
	Events   int      `json:"events"`                  // number of events that were left out
	Brackets int      `json:"brackets"`                // number of brackets of these events
	FromDate *string  `json:"from_date" format:"date"` // first day with events left out; all events of later days were left out too; null if no event was left out
	Cities   []string `json:"cities"`                  // slugs of cities with events that were left out, at most 200
	Hint     string   `json:"hint"`                    // how to request what was left out
}

// BundleCity is a city with events that can be traded.
type BundleCity struct {
	City      string        `json:"city"`                     // slug of the city
	Name      string        `json:"name"`                     // name of the city, as in the titles of its events
	Station   string        `json:"station"`                  // station by which the city's events settle
	Unit      string        `json:"unit" enum:"C,F"`          // unit of the city's temperatures; an event may have another one
	TZ        string        `json:"tz"`                       // IANA time zone of the city
	UTCOffset int           `json:"utc_offset_s"`             // offset of local time from UTC at as_of, in seconds east
	LocalDate string        `json:"local_date" format:"date"` // the city's local day at as_of
	Events    []BundleEvent `json:"events"`                   // events by day, then by metric
}

// BundleEvent is an event of the bundle.
type BundleEvent struct {
	Slug             string                    `json:"slug"`
	Metric           string                    `json:"metric" enum:"tmax,tmin"`
	TargetDate       string                    `json:"target_date" format:"date"`                          // the city's local day
	DayEnd           time.Time                 `json:"day_end"`                                            // local midnight at the end of target_date; nothing measured after it counts
	Unit             string                    `json:"unit" enum:"C,F"`                                    // unit of the event's temperatures
	Station          string                    `json:"station"`                                            // station by which the event settles
	Canonical        bool                      `json:"canonical"`                                          // false if another event is the one used for this day and metric
	QuotedAt         *time.Time                `json:"quoted_at"`                                          // time of the oldest bid and ask of its brackets; null if there are none
	ResolutionSource *string                   `json:"resolution_source" enum:"wunderground,noaa,hko,cwa"` // where the settling temperature is read; null if unknown
	Rounding         string                    `json:"rounding" enum:"half_up,floor"`                      // how a measured value is rounded to whole degrees
	Forecast         map[string]BundleForecast `json:"forecast" null:"true"`                               // latest forecast of each source, by name of the source; null if it was left out because of the limit of 200 KB
	Consensus        *BundleConsensus          `json:"consensus"`                                          // consensus of the sources
	Skill            *BundleSkill              `json:"skill"`                                              // past errors of the consensus in this city at this lead
	Obs              *BundleObs                `json:"obs"`                                                // measurements so far today; null if the event is not of today
	Normal           *Degrees                  `json:"normal"`                                             // climate normal of the calendar day
	Anomaly          *data.Micro               `json:"anomaly"`                                            // consensus mean minus normal, as a temperature difference
	Market           BundleMarket              `json:"market"`                                             // summary of the brackets' prices
	Brackets         BundleBrackets            `json:"brackets"`                                           // brackets, column by column, the coldest first
	NullReasons      map[string]string         `json:"null_reasons"`                                       // reasons why members are null, by the name of the member
}

// BundleForecast is the latest forecast of a source.
type BundleForecast struct {
	V        Degrees   `json:"v"`         // forecast temperature; for an ensemble, the mean of its members
	IssuedAt time.Time `json:"issued_at"` // when this value was first issued
}

// BundleConsensus is WeatherConsensus in compact form.
type BundleConsensus struct {
	Mean Degrees     `json:"mean"` // mean of the sources
	Std  *data.Micro `json:"std"`  // standard deviation of the sources, as a temperature difference; null if there is only one source
	P10  Degrees     `json:"p10"`  // tenth percentile
	P50  Degrees     `json:"p50"`  // median
	P90  Degrees     `json:"p90"`  // ninetieth percentile
	N    int         `json:"n"`    // number of sources
}

// BundleSkill is the past errors of the consensus, as temperature differences.
type BundleSkill struct {
	Bias data.Micro `json:"bias"` // mean of forecast minus truth
	MAE  data.Micro `json:"mae"`  // mean absolute error
	N    int64      `json:"n"`    // number of days
}

// BundleObs is what the station has measured so far today.
type BundleObs struct {
	Running   *Degrees   `json:"running"`     // highest or lowest temperature so far; null if nothing has been measured yet
	N         int64      `json:"n_obs"`       // number of single temperature reports
	LastObsAt *time.Time `json:"last_obs_at"` // time of the latest temperature report
}

// BundleMarket is a summary of the prices of an event.
type BundleMarket struct {
	ImpliedMean *Degrees    `json:"implied_mean"` // mean of the brackets' temperatures, weighted by their prices
	ModeLabel   *string     `json:"mode_label"`   // label of the bracket with the highest price
	ModePrice   *data.Micro `json:"mode_price"`   // highest price of a bracket
	Overround   *data.Micro `json:"overround"`    // sum of the prices of all brackets
}

// BundleBrackets are the brackets of an event, the coldest first, column by column: the i-th value of every list
// belongs to the i-th bracket. This takes a third of the bytes that rows would take for a desk of 1,500 brackets. condition_id
// and yes_token never change and are included only with include=ids.
type BundleBrackets struct {
	Lo          []*int        `json:"lo"`                  // lowest whole degree of each bracket, inclusive; null if it is open below
	Hi          []*int        `json:"hi"`                  // highest whole degree of each bracket, inclusive; null if it is open above
	Bid         []*data.Micro `json:"bid"`                 // best bid, as last reported by a source
	Ask         []*data.Micro `json:"ask"`                 // best ask, as last reported by a source
	Last        []*data.Micro `json:"last" null:"true"`    // last traded price
	Vol         []data.Micro  `json:"vol" null:"true"`     // USD traded since the first fill
	PModel      []data.Micro  `json:"p_model" null:"true"` // probability according to the estimate; null if unknown, see null_reasons
	PMkt        []data.Micro  `json:"p_mkt" null:"true"`   // each bracket's share of the sum of the event's prices; null if unknown, see null_reasons
	Edge        []*data.Micro `json:"edge"`                // p_model minus the ask and minus the taker's fee at that price
	Dead        []bool        `json:"dead" null:"true"`    // whether today's measurements rule the bracket out; null if nothing has been measured yet
	ConditionID []string      `json:"condition_id,omitempty"`
	YesToken    []*string     `json:"yes_token,omitempty"` // id of the token of the first outcome
}
