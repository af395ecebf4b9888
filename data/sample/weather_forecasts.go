package sample

import (
	"encoding/json"
	"fmt"
	"time"

	"pmx/data"
	"pmx/data/reference"
)

// answer is a response of Open-Meteo with a note about the request.
type answer struct {
	Meta     note     `json:"_meta"`
	Response response `json:"response"`
}

type note struct {
	Source    string   `json:"source"`
	Kind      string   `json:"kind"`
	City      string   `json:"city"`
	Latitude  float64  `json:"latitude"`
	Longitude float64  `json:"longitude"`
	Models    []string `json:"models,omitempty"`
	FetchedAt string   `json:"fetched_at_utc"`
}

type response struct {
	Latitude  float64           `json:"latitude"`
	Longitude float64           `json:"longitude"`
	Offset    int               `json:"utc_offset_seconds"`
	Timezone  string            `json:"timezone"`
	Units     map[string]string `json:"daily_units"`
	Daily     map[string]any    `json:"daily"`
}

// answerFor starts a response for a city.
func (a *almanac) answerFor(city int, kind string, at time.Time, days []data.Date) answer {
	c := a.cities[city]
	loc, _ := c.Location() // every city is located by now
	_, offset := at.In(loc).Zone()
	dates := make([]string, len(days))
	for i, d := range days {
		dates[i] = d.String()
	}
	return answer{
		Meta: note{Source: "open-meteo", Kind: kind, City: c.Title, Latitude: c.Lat, Longitude: c.Lon, FetchedAt: at.UTC().Format(time.RFC3339)},
		Response: response{Latitude: c.Lat, Longitude: c.Lon, Offset: offset, Timezone: c.Zone,
			Units: map[string]string{"time": "iso8601"}, Daily: map[string]any{"time": dates}},
	}
}

// put adds the two rows of a source. values are in tenths of a degree Celsius and are printed in
// the city's unit.
func (x *answer) put(c reference.City, suffix string, values func(i int) (high, low int64)) {
	n := len(x.Response.Daily["time"].([]string))
	highs, lows := make([]data.Micro, n), make([]data.Micro, n)
	for i := range n {
		high, low := values(i)
		highs[i], lows[i] = tenths(high, c.Unit), tenths(low, c.Unit)
	}
	for key, list := range map[string][]data.Micro{"temperature_2m_max" + suffix: highs, "temperature_2m_min" + suffix: lows} {
		x.Response.Units[key] = "°" + c.Unit
		x.Response.Daily[key] = list
	}
}

// tenths converts tenths of a degree Celsius to degrees of a unit, with one decimal.
func tenths(v int64, unit string) data.Micro {
	if unit == "F" {
		v = (v*18 + 3200) / 10
	}
	return data.Micro(v) * data.One / 10
}

// forecasts writes forecasts as if fetched twice a day and, in the last three days, four times; of
// the ensemble only the last.
func (a *almanac) forecasts(p *outFile) (rows int64, err error) {
	enc := json.NewEncoder(p)
	for at := a.end.AddDate(0, 0, -a.days-1).Add(30 * time.Minute); at.Before(a.end); at = at.Add(6 * time.Hour) {
		if a.end.Sub(at) > 72*time.Hour && at.Hour()%12 != a.end.Hour()%12 {
			continue
		}
		if err := a.ctx.Err(); err != nil {
			return rows, err
		}
		for i := range a.cities {
			if err := enc.Encode(a.forecastAt(i, at)); err != nil {
				return rows, err
			}
			rows++
		}
	}
	at := a.end.Add(-90 * time.Minute)
	for i := range a.cities {
		if err := enc.Encode(a.ensembleAt(i, at)); err != nil {
			return rows, err
		}
		rows++
	}
	return rows, nil
}

// ahead are the days of a forecast: n days from the city's current day on.
func (a *almanac) ahead(city int, at time.Time, n int) []data.Date {
	today := a.cities[city].DateOf(at)
	days := make([]data.Date, n)
	for i := range days {
		days[i] = today + data.Date(i)
	}
	return days
}

func (a *almanac) forecastAt(city int, at time.Time) answer {
	days := a.ahead(city, at, 4)
	x := a.answerFor(city, "weather-forecast", at, days)
	for k, m := range models {
		x.Meta.Models = append(x.Meta.Models, m.name)
		x.put(a.cities[city], "_"+m.name, func(i int) (int64, int64) { return a.forecast(city, uint64(k), m.bias, days[i], at) })
	}
	return x
}

const members = 20

func (a *almanac) ensembleAt(city int, at time.Time) answer {
	days := a.ahead(city, at, 3)
	x := a.answerFor(city, "ensemble", at, days)
	x.Meta.Models = []string{"ecmwf_ifs025"}
	for m := range members + 1 {
		suffix := ""
		if m > 0 {
			suffix = fmt.Sprintf("_member%02d", m)
		}
		x.put(a.cities[city], suffix, func(i int) (int64, int64) { return a.forecast(city, uint64(len(models)+m), 0, days[i], at) })
	}
	return x
}
