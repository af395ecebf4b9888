package api

import (
	"sync"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
	"pmx/rollups/weather"
)

// bracketRows is the maximum number of rows of a list of brackets.
const bracketRows = 200

const deskDoc = "The weather desk is the set of events on the highest or lowest temperature of one city's local day. Volumes are " +
	"computed from trades by UTC calendar day, up to `as_of`: `volume_24h` is today so far, `volume_7d` is the last seven days " +
	"including today, and `volume` and `volume_lifetime` are all time. "

func weatherRoutes() []Route {
	return []Route{
		{
			Method: fiber.MethodGet, Path: "/weather/cities", Section: wire.Weather, Summary: "All cities of the weather desk",
			serve: (*API).weatherCities, Reply: wire.WeatherCities{},
			Doc: deskDoc + "Every city is listed, including those without an open event. `local_date` is the city's local day at " +
				"`as_of` or, if nothing was ever traded, at its newest forecast or observation.",
		},
		{
			Method: fiber.MethodGet, Path: "/weather/city/{city}", Section: wire.Weather, Summary: "One city of the weather desk",
			serve: (*API).weatherCity, Reply: wire.One[wire.WeatherCitySummary]{}, Aliases: true, Codes: []string{"city_not_found"},
			Params: []*Param{deskCity},
			Doc: deskDoc + "The row of `/weather/cities` plus what the station has measured so far today, the latest forecast of " +
				"every source, their means, the measurements of the last days, and the events that can be traded, with their " +
				"forecasts and prices.",
		},
		{
			Method: fiber.MethodGet, Path: "/weather/city/{city}/markets", Section: wire.Weather, MaxRows: bracketRows,
			Summary: "Brackets that can be traded", serve: (*API).weatherMarkets, Reply: wire.WeatherMarkets{}, Aliases: true,
			Codes: []string{"city_not_found"}, Params: []*Param{deskCity, laddersDate, laddersMetric, laddersLimit},
			Doc: "`volume` is the bracket's lifetime volume in USD. `p_model` is the probability according to `estimate`: a normal " +
				"distribution whose mean is the consensus of the sources minus its bias, and whose standard deviation comes from the " +
				"past errors of the consensus in this city at this lead. It is cut off at what the station has already measured today. `edge` is the " +
				"gap between a model and a market, not advice. docs/weather.md describes the method.",
		},
		{
			Method: fiber.MethodGet, Path: "/weather/bot-bundle", Section: wire.Weather, Summary: "The weather desk in compact form, for bots",
			serve: (*API).weatherBundle, Reply: wire.WeatherBundle{}, Params: []*Param{bundleCities, bundleDate, bundleMetric, bundleMinVolume, bundleInclude},
			Doc: "Cities with events that can be traded, each event with forecasts, consensus, observations, prices and " +
				"probabilities. Brackets are given column by column, the coldest first, in the order of " +
				"`/weather/city/{city}/markets`; `include=ids` adds their condition and token ids, which never change. A bundle has " +
				"at most 200 KB: `left_out` says what did not fit, and you get it by requesting part of the desk with `cities` or " +
				"`date`. Poll with `If-None-Match`: the ETag changes only if something other than `as_of` changes.",
		},
	}
}

// weatherBodies has the encoded responses from a snapshot's weather desk.
type weatherBodies struct {
	grid     objectBody
	gridOnce sync.Once
	full     objectBody
	fullOnce sync.Once
	mu       sync.Mutex
	cities   map[string]*cityBodies
}

// cityBodies has what is computed and encoded for one city; each part at its first use.
type cityBodies struct {
	open        []openEvent
	openOnce    sync.Once
	summary     objectBody
	summaryOnce sync.Once
	ladders     cityLadders
	laddersOnce sync.Once
	bundle      cityBundle
	bundleOnce  sync.Once
}

// openEvent is an event that can be traded, with what weather and market say about it.
type openEvent struct {
	*serving.DeskEvent
	outlook   serving.Outlook
	canonical bool
}

// city returns the bodies of a city.
func (d *weatherBodies) city(slug string) *cityBodies {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cities == nil {
		d.cities = map[string]*cityBodies{}
	}
	c := d.cities[slug]
	if c == nil {
		c = &cityBodies{}
		d.cities[slug] = c
	}
	return c
}

// openEvents returns the events of a city that can be traded.
func (v *encodedSnapshot) openEvents(c *serving.DeskCity) []openEvent {
	o := v.desk.city(c.City.Slug)
	o.openOnce.Do(func() {
		canonical := serving.Canonical(v.snap.Catalog, c.Open)
		for i, e := range c.Open {
			o.open = append(o.open, openEvent{e, c.Outlook(v.snap.Catalog, e), canonical[i]})
		}
	})
	return o.open
}

// weatherCities answers GET /weather/cities.
func (a *API) weatherCities(c *fiber.Ctx, call *Call) error {
	v, err := a.current()
	if err != nil {
		return err
	}
	o := &v.desk.grid
	v.desk.gridOnce.Do(func() { o.encode(membersOf(gridOf(v.snap))) })
	return a.sendEncoded(c, call, v, o.bodyFor(a.envelopes, v.asOf, envelope{tier: call.tier, maxRows: noRows}))
}

func gridOf(snap *serving.Snapshot) wire.WeatherGrid {
	d := snap.Desk
	g := wire.WeatherGrid{Data: []wire.WeatherCity{}}
	if d == nil {
		return g
	}
	g.Volume24hTotal, g.Volume7dTotal, g.VolumeLifetimeTotal = d.Sums.Day, d.Sums.Week, d.Sums.Lifetime
	g.VolumeAsOf = microsOrNull(d.VolumeAsOf)
	for _, c := range d.Cities {
		g.Data = append(g.Data, cityRow(d, c))
	}
	return g
}

// weatherCity answers GET /weather/city/{city}.
func (a *API) weatherCity(c *fiber.Ctx, call *Call) error {
	v, city, err := a.deskCity(c, call)
	if err != nil || city == nil {
		return err
	}
	o := v.desk.city(city.City.Slug)
	o.summaryOnce.Do(func() { o.summary.encode(append([]byte(`,"data":`), marshal(v.citySummary(city))...)) })
	return a.sendEncoded(c, call, v, o.summary.bodyFor(a.envelopes, v.asOf, envelope{tier: call.tier, maxRows: noRows}))
}

// difference returns a difference of temperatures in degrees of a scale, to a hundredth.
func difference(t data.Temp, u data.Unit) data.Micro {
	return data.MulDiv(data.Micro(t), 100, data.Micro(u.Degree())) * (data.One / 100)
}

// anomalyOf is how far a value is from normal, both as printed, so that the three agree to the last
// digit.
func anomalyOf(value, normal wire.Degrees) data.Micro {
	return data.Micro(value-normal) * (data.One / 100)
}

func weatherPlaceOf(c data.City) wire.WeatherPlace {
	return wire.WeatherPlace{City: c.Slug, Name: c.Title, Country: c.Country, Station: c.Station, Unit: c.Unit, Timezone: c.Zone,
		Lat: coordinate(c.Lat), Lon: coordinate(c.Lon)}
}

// coordinate returns degrees of latitude or longitude to a ten thousandth, the precision of station
// tables.
func coordinate(deg float64) data.Micro {
	n := deg * 10_000
	if n < 0 {
		return -data.Micro(0.5-n) * (data.One / 10_000)
	}
	return data.Micro(n+0.5) * (data.One / 10_000)
}

// localDate returns the city's current day; nil if the time is not known.
func localDate(c *serving.DeskCity) *string {
	if c.Today == 0 {
		return nil
	}
	return textOrNull(c.Today.String())
}

// cityRow makes a row of the grid.
func cityRow(d *serving.Desk, c *serving.DeskCity) wire.WeatherCity {
	u := unitOf(c.City)
	row := wire.WeatherCity{WeatherPlace: weatherPlaceOf(c.City), LocalDate: localDate(c), OpenCount: c.OpenBrackets, MarketCount: c.OpenEvents,
		CountsSource: "rollup", NullReasons: map[string]string{},
		WeatherVolumes: wire.WeatherVolumes{Volume24h: c.Volumes.Day, Volume7d: c.Volumes.Week, Volume: c.Volumes.Lifetime,
			VolumeLifetime: c.Volumes.Lifetime, VolumeAsOf: microsOrNull(d.VolumeAsOf)}}
	if c.Live {
		row.CountsSource = "live"
	}
	all, whys := consensusOn(c, c.Today)
	row.Forecast = outlookOf(c.Today, all, u)
	var normal wire.WeatherNormal
	var anomaly wire.WeatherAnomaly
	for m := data.TMax; m <= data.TMin; m++ {
		together, why := all[m], whys[m]
		if together == nil {
			row.NullReasons["forecast."+m.String()] = string(why)
		}
		n := c.Weather.Extreme(c.Today, m).Normal(data.KindStation)
		if n == nil {
			row.NullReasons["normal."+m.String()] = string(serving.NoNormal)
			row.NullReasons["anomaly."+m.String()] = string(firstReason(why, serving.NoNormal))
			continue
		}
		usual := wire.DegreesOf(n.Value, u)
		*highOrLow(m, &normal.TMax, &normal.TMin) = &usual
		if normal.Source == nil {
			normal.Source, normal.Station, normal.Period = textOrNull(n.Source), textOrNull(n.Station), textOrNull(n.Period)
		}
		if together == nil {
			row.NullReasons["anomaly."+m.String()] = string(why)
		} else {
			*highOrLow(m, &anomaly.TMax, &anomaly.TMin) = new(anomalyOf(wire.DegreesOf(together.Mean, u), usual))
		}
	}
	if normal.Source != nil {
		row.Normal = &normal
	}
	if anomaly.TMax != nil || anomaly.TMin != nil {
		row.Anomaly = &anomaly
	}
	return row
}

// highOrLow returns the one of two values that a metric selects.
func highOrLow[T any](m data.Metric, high, low *T) *T {
	if m == data.TMin {
		return low
	}
	return high
}

func unitOf(c data.City) data.Unit {
	if c.Unit == "F" {
		return data.Fahrenheit
	}
	return data.Celsius
}

// consensusOn returns the consensus of the sources for the extremes of a day, or the reason why
// there is none.
func consensusOn(c *serving.DeskCity, day data.Date) (all [2]*weather.Consensus, why [2]serving.MissingReason) {
	for m := range all {
		all[m], why[m] = c.Weather.Extreme(day, data.Metric(m)).Consensus(c.Clock)
	}
	return all, why
}

// outlookOf returns the means of the sources for a day; nil if there are none.
func outlookOf(day data.Date, all [2]*weather.Consensus, u data.Unit) *wire.WeatherOutlook {
	o := wire.WeatherOutlook{TargetDate: day.String()}
	newest := int64(0)
	for m, together := range all {
		if together == nil {
			continue
		}
		*highOrLow(data.Metric(m), &o.TMax, &o.TMin) = new(wire.DegreesOf(together.Mean, u))
		o.Sources, newest = max(o.Sources, together.Sources), max(newest, together.Newest)
	}
	if newest == 0 {
		return nil
	}
	o.IssuedAt = microsOrNull(newest)
	return &o
}

// bracketBounds are the whole degrees that a bracket begins and ends with, nil on an open side.
func bracketBounds(b weather.Bracket) (lo, hi *int) {
	if !b.OpenLow {
		lo = &b.Lo
	}
	if !b.OpenHigh {
		hi = &b.Hi
	}
	return lo, hi
}
