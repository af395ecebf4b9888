package sample

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"pmx/data"
)

// Weather returns the weather of a venue's cities as its services would at any time. At the times
// of the venue's files it returns the same values.
type Weather struct{ a *almanac }

// Weather returns the weather of the venue.
func (v *Venue) Weather() (*Weather, error) {
	days, _ := v.cfg.weatherDays()
	a := &almanac{sky: newSky(v.cfg, v.events), end: v.cfg.End, today: data.DateOf(v.cfg.End), days: min(days, weatherDaysMost)}
	for i, c := range a.cities {
		located, err := c.Located()
		if err != nil {
			return nil, fmt.Errorf("weather: %w", err)
		}
		a.cities[i] = located
	}
	return &Weather{a}, nil
}

// The interval at which models run, and how long after its start the values of a run are available.
const (
	runEvery = 6 * time.Hour
	runTakes = 6*time.Hour + 30*time.Minute
)

// Run returns when the newest available run of a model began and when it became available. Runs of
// an ensemble become available at other times.
func (w *Weather) Run(at time.Time, ensemble bool) (begun, came time.Time) {
	first := w.a.end.Add(30 * time.Minute)
	if ensemble {
		first = w.a.end.Add(-90 * time.Minute)
	}
	since := at.Sub(first) % runEvery
	if since < 0 {
		since += runEvery
	}
	came = at.Add(-since).UTC()
	return came.Add(-runTakes), came
}

// Place returns the city nearest to a point.
func (w *Weather) Place(lat, lon float64) int {
	best, least := 0, math.Inf(1)
	for i, c := range w.a.cities {
		if km := c.Distance(lat, lon); km < least {
			best, least = i, km
		}
	}
	return best
}

// others are models that are not in the files.
var others = []string{"best_match", "gem_seamless", "jma_seamless", "meteofrance_seamless", "ukmo_seamless", "gfs_global", "icon_global", "ecmwf_aifs025_single", "ncep_nbm_conus"}

// ErrModel is returned for an unknown model.
type ErrModel string

// Error returns the message of Open-Meteo.
func (e ErrModel) Error() string {
	return "Data corrupted at path ''. Cannot initialize MultiDomains from invalid String value " + string(e) + "."
}

// source returns the number of a model and its mean error.
func source(model string) (number uint64, bias int64, err error) {
	for k, m := range models {
		if m.name == model {
			return uint64(k), m.bias, nil
		}
	}
	if k := slices.Index(others, model); k >= 0 {
		return uint64(100 + k), int64(k%5) - 2, nil
	}
	return 0, 0, ErrModel(model)
}

// Forecast returns Open-Meteo's response for a city: days from the city's current day on, from the
// run that is available at the time. As at Open-Meteo, columns have no model's name if names has at
// most one.
func (w *Weather) Forecast(city int, at time.Time, days int, names []string) ([]byte, error) {
	_, came := w.Run(at, false)
	ahead := w.a.ahead(city, at, days)
	x := w.a.answerFor(city, "", at, ahead)
	if len(names) == 0 {
		names = []string{"best_match"}
	}
	for _, name := range names {
		number, bias, err := source(name)
		if err != nil {
			return nil, err
		}
		suffix := "_" + name
		if len(names) == 1 {
			suffix = ""
		}
		x.put(w.a.cities[city], suffix, func(i int) (int64, int64) { return w.a.forecast(city, number, bias, ahead[i], came) })
	}
	return json.Marshal(x.Response)
}

// Ensemble returns the forecasts of the members of an ensemble for days.
func (w *Weather) Ensemble(city int, at time.Time, days int) ([]byte, error) {
	_, came := w.Run(at, true)
	ahead := w.a.ahead(city, at, days)
	x := w.a.answerFor(city, "", at, ahead)
	for m := range members + 1 {
		suffix := ""
		if m > 0 {
			suffix = fmt.Sprintf("_member%02d", m)
		}
		x.put(w.a.cities[city], suffix, func(i int) (int64, int64) { return w.a.forecast(city, uint64(len(models)+m), 0, ahead[i], came) })
	}
	return json.Marshal(x.Response)
}

// Archive returns the reanalysis of the days from … to, both included, as of some time. Days that
// have not ended in the city have no values.
func (w *Weather) Archive(city int, at time.Time, from, to data.Date) ([]byte, error) {
	today := w.a.cities[city].DateOf(at)
	var days []data.Date
	for d := from; d <= to && len(days) < mostArchive; d++ {
		days = append(days, d)
	}
	x := w.a.answerFor(city, "", at, days)
	x.put(w.a.cities[city], "", func(i int) (int64, int64) {
		if days[i].Time().Year() <= 2020 {
			high := w.a.usual(city, days[i]) + w.a.grid(city) + w.a.noise(city, days[i], forHistory, 28)
			return high, high - 85
		}
		return w.a.onGrid(city, days[i], at)
	})
	for key, list := range x.Response.Daily {
		values, ok := list.([]data.Micro)
		if !ok {
			continue
		}
		known := make([]*data.Micro, len(values))
		for i := range values {
			if days[i] < today {
				known[i] = &values[i]
			}
		}
		x.Response.Daily[key] = known
	}
	return json.Marshal(x.Response)
}

// mostArchive is the maximum number of days of a response.
const mostArchive = 40_000

// Previous returns, for every hour of the city's current day and the past days before it, what was
// predicted 1 to n days earlier.
func (w *Weather) Previous(city int, at time.Time, past, n int) ([]byte, error) {
	c := w.a.cities[city]
	loc, err := c.Location()
	if err != nil {
		return nil, err
	}
	x := w.a.answerFor(city, "", at, nil)
	var times []string
	columns := make([][]data.Micro, n)
	for d := c.DateOf(at) - data.Date(past); d <= c.DateOf(at); d++ {
		start, end := c.Day(d)
		for t := start; t.Before(end); t = t.Add(time.Hour) {
			times = append(times, t.In(loc).Format("2006-01-02T15:04"))
			for k := range columns {
				high, _ := w.a.extremes(city, d)
				said, _ := w.a.forecast(city, 0, 0, d, t.AddDate(0, 0, -k-1))
				columns[k] = append(columns[k], tenths(w.a.at(city, t)+said-high, c.Unit))
			}
		}
	}
	hourly := map[string]any{"time": times}
	units := map[string]string{"time": "iso8601"}
	for k, column := range columns {
		name := fmt.Sprintf("temperature_2m_previous_day%d", k+1)
		hourly[name], units[name] = column, "°"+c.Unit
	}
	return json.Marshal(map[string]any{"latitude": c.Lat, "longitude": c.Lon, "utc_offset_seconds": x.Response.Offset, "timezone": c.Zone,
		"hourly_units": units, "hourly": hourly})
}

// Report is a report of a station.
type Report struct {
	Station string
	At      time.Time
	Celsius data.Micro
	Raw     string
	JSON    []byte // in the format of aviationweather.gov
}

// Reports returns the hourly reports of an airport that were received between two times, newest
// first; none if no city uses the station.
func (w *Weather) Reports(station string, from, to time.Time) ([]Report, error) {
	city := slices.IndexFunc(w.a.cities, func(c data.City) bool { return strings.EqualFold(c.Station, station) })
	if city < 0 || len(station) != 4 {
		return nil, nil
	}
	var list []Report
	for at := to.Truncate(time.Hour); !at.Before(from.Add(-time.Hour)); at = at.Add(-time.Hour) {
		row := w.a.report(city, at)
		said := time.Unix(row.Time, 0).UTC()
		if said.Add(reportTakes).After(to) || said.Before(from) {
			continue
		}
		text, err := json.Marshal(row)
		if err != nil {
			return nil, err
		}
		list = append(list, Report{w.a.cities[city].Station, said, row.Temp, row.Raw, text})
	}
	return list, nil
}

// reportTakes is the time from an observation until its report is received.
const reportTakes = 4 * time.Minute

// American reports whether a station is in the United States.
func (w *Weather) American(station string) bool {
	return slices.ContainsFunc(w.a.cities, func(c data.City) bool { return strings.EqualFold(c.Station, station) && c.Country == "US" })
}
