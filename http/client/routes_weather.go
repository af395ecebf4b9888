// Code generated from the route table by go generate ./http/openapi. DO NOT EDIT.

package client

import (
	"context"
	"net/http"
	"net/url"

	"pmx/data"
	"pmx/http/wire"
)

// WeatherCities sends GET /weather/cities. All cities of the weather desk.
func (c *Client) WeatherCities(ctx context.Context) (*wire.WeatherCities, error) {
	r := request{method: "GET", path: "/weather/cities"}
	return call[wire.WeatherCities](ctx, c, r)
}

// WeatherCity sends GET /weather/city/{city}. One city of the weather desk.
func (c *Client) WeatherCity(ctx context.Context, city string) (*wire.One[wire.WeatherCitySummary], error) {
	r := request{method: "GET", path: join("/weather/city/", city)}
	return call[wire.One[wire.WeatherCitySummary]](ctx, c, r)
}

// WeatherCityMarketsParams are the optional parameters of WeatherCityMarkets; zero values are not sent.
type WeatherCityMarketsParams struct {
	Date   string // only events of this local day of the city
	Metric string // only highest or only lowest temperatures
	Limit  int64  // maximum number of rows; the plan's row limit may reduce it
}

// WeatherCityMarkets sends GET /weather/city/{city}/markets. Brackets that can be traded.
func (c *Client) WeatherCityMarkets(ctx context.Context, city string, params WeatherCityMarketsParams) (*wire.WeatherMarkets, error) {
	r := request{method: "GET", path: join("/weather/city/", city, "/markets"), query: url.Values{}, header: http.Header{}}
	set(r.query, "date", params.Date)
	set(r.query, "metric", params.Metric)
	set(r.query, "limit", params.Limit)
	return call[wire.WeatherMarkets](ctx, c, r)
}

// WeatherBotBundleParams are the optional parameters of WeatherBotBundle; zero values are not sent.
type WeatherBotBundleParams struct {
	Cities    []string    // only these cities: slugs or other names, separated by commas or in repeated parameters; an unknown name is an error
	Date      string      // only events of this local day of their cities
	Metric    string      // only highest or only lowest temperatures
	MinVolume *data.Micro // only events with at least this lifetime volume in USD
	Include   string      // ids: also return the condition and token ids of the brackets
}

// WeatherBotBundle sends GET /weather/bot-bundle. The weather desk in compact form, for bots.
func (c *Client) WeatherBotBundle(ctx context.Context, params WeatherBotBundleParams) (*wire.WeatherBundle, error) {
	r := request{method: "GET", path: "/weather/bot-bundle", query: url.Values{}, header: http.Header{}}
	set(r.query, "cities", params.Cities)
	set(r.query, "date", params.Date)
	set(r.query, "metric", params.Metric)
	set(r.query, "min_volume", params.MinVolume)
	set(r.query, "include", params.Include)
	return call[wire.WeatherBundle](ctx, c, r)
}

// WeatherCityForecastParams are the optional parameters of WeatherCityForecast; zero values are not sent.
type WeatherCityForecastParams struct {
	Date   string // only this day of the city's calendar, which may be in the past; not together with `days`
	Days   int64  // number of days, starting with the city's today
	Metric string // only highs or only lows
	Source string // only this source, given by its name
}

// WeatherCityForecast sends GET /weather/city/{city}/forecast. Multi-source TMAX/TMIN forecast time series.
func (c *Client) WeatherCityForecast(ctx context.Context, city string, params WeatherCityForecastParams) (*wire.CityForecast, error) {
	r := request{method: "GET", path: join("/weather/city/", city, "/forecast"), query: url.Values{}, header: http.Header{}}
	set(r.query, "date", params.Date)
	set(r.query, "days", params.Days)
	set(r.query, "metric", params.Metric)
	set(r.query, "source", params.Source)
	return call[wire.CityForecast](ctx, c, r)
}

// WeatherCityActualsParams are the optional parameters of WeatherCityActuals; zero values are not sent.
type WeatherCityActualsParams struct {
	Limit  int64  // number of newest days that have data; the plan's history limit may reduce it
	Kind   string // only this kind
	Metric string // only highs or only lows
	Source string // only this source, given by its name
}

// WeatherCityActuals sends GET /weather/city/{city}/actuals. Observed daily highs and lows.
func (c *Client) WeatherCityActuals(ctx context.Context, city string, params WeatherCityActualsParams) (*wire.CityActuals, error) {
	r := request{method: "GET", path: join("/weather/city/", city, "/actuals"), query: url.Values{}, header: http.Header{}}
	set(r.query, "limit", params.Limit)
	set(r.query, "kind", params.Kind)
	set(r.query, "metric", params.Metric)
	set(r.query, "source", params.Source)
	return call[wire.CityActuals](ctx, c, r)
}

// WeatherCityAnomaliesParams are the optional parameters of WeatherCityAnomalies; zero values are not sent.
type WeatherCityAnomaliesParams struct {
	Limit  int64  // number of newest days that have data; the plan's history limit may reduce it
	Metric string // only highs or only lows
	Basis  string // only measurements or only forecasts
	Kind   string // only actuals of this kind, without forecasts
	Source string // only this source, given by its name
}

// WeatherCityAnomalies sends GET /weather/city/{city}/anomalies. Deviation versus climate normals.
func (c *Client) WeatherCityAnomalies(ctx context.Context, city string, params WeatherCityAnomaliesParams) (*wire.CityAnomalies, error) {
	r := request{method: "GET", path: join("/weather/city/", city, "/anomalies"), query: url.Values{}, header: http.Header{}}
	set(r.query, "limit", params.Limit)
	set(r.query, "metric", params.Metric)
	set(r.query, "basis", params.Basis)
	set(r.query, "kind", params.Kind)
	set(r.query, "source", params.Source)
	return call[wire.CityAnomalies](ctx, c, r)
}

// WeatherForecastEvolutionParams are the optional parameters of WeatherForecastEvolution; zero values are not sent.
type WeatherForecastEvolutionParams struct {
	Metric string // the day's highest or lowest temperature
	Source string // only this source, given by its name
	Limit  int64  // number of newest changes to return; the figures cover all changes
}

// WeatherForecastEvolution sends GET /weather/forecast-evolution/{city}/{date}. How the forecast for a date changed over time.
func (c *Client) WeatherForecastEvolution(ctx context.Context, city string, date string, params WeatherForecastEvolutionParams) (*wire.ForecastEvolution, error) {
	r := request{method: "GET", path: join("/weather/forecast-evolution/", city, "/", date), query: url.Values{}, header: http.Header{}}
	set(r.query, "metric", params.Metric)
	set(r.query, "source", params.Source)
	set(r.query, "limit", params.Limit)
	return call[wire.ForecastEvolution](ctx, c, r)
}

// WeatherCityObservationsParams are the optional parameters of WeatherCityObservations; zero values are not sent.
type WeatherCityObservationsParams struct {
	Date   string // a local day of the city, YYYY-MM-DD; if omitted, the city's current day
	Source string // only this source, given by its name
	Limit  int64  // number of newest observations to return; running values cover all
}

// WeatherCityObservations sends GET /weather/city/{city}/observations. Single temperatures of a day, as stations reported them.
func (c *Client) WeatherCityObservations(ctx context.Context, city string, params WeatherCityObservationsParams) (*wire.Observations, error) {
	r := request{method: "GET", path: join("/weather/city/", city, "/observations"), query: url.Values{}, header: http.Header{}}
	set(r.query, "date", params.Date)
	set(r.query, "source", params.Source)
	set(r.query, "limit", params.Limit)
	return call[wire.Observations](ctx, c, r)
}

// WeatherCityImpliedParams are the optional parameters of WeatherCityImplied; zero values are not sent.
type WeatherCityImpliedParams struct {
	Date    string // a local day of the city, YYYY-MM-DD; if omitted, the city's current day
	Metric  string // the event on the day's highest or lowest temperature
	Limit   int64  // number of newest hours to return; earlier prices are still used
	Include string // prices: rows also have the price of each bracket
}

// WeatherCityImplied sends GET /weather/city/{city}/implied. What the market expected of a day, over time.
func (c *Client) WeatherCityImplied(ctx context.Context, city string, params WeatherCityImpliedParams) (*wire.Implied, error) {
	r := request{method: "GET", path: join("/weather/city/", city, "/implied"), query: url.Values{}, header: http.Header{}}
	set(r.query, "date", params.Date)
	set(r.query, "metric", params.Metric)
	set(r.query, "limit", params.Limit)
	set(r.query, "include", params.Include)
	return call[wire.Implied](ctx, c, r)
}

// WeatherTradersParams are the optional parameters of WeatherTraders; zero values are not sent.
type WeatherTradersParams struct {
	Sort  string // figure to rank by, largest first
	Limit int64  // maximum number of rows; the plan's row limit may reduce it
}

// WeatherTraders sends GET /weather/traders. Top traders of the weather desk.
func (c *Client) WeatherTraders(ctx context.Context, params WeatherTradersParams) (*wire.WeatherTraders, error) {
	r := request{method: "GET", path: "/weather/traders", query: url.Values{}, header: http.Header{}}
	set(r.query, "sort", params.Sort)
	set(r.query, "limit", params.Limit)
	return call[wire.WeatherTraders](ctx, c, r)
}
