package sample

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"pmx/data"
)

// Names of the weather files. Each has the format of a real service.
const (
	forecastName = "openmeteo-forecasts.ndjson"
	archiveName  = "openmeteo-archive.ndjson"
	metarName    = "metar.ndjson"
	iemName      = "iem-daily.csv"
	normalsName  = "ncei-normals.csv"
	hkoMaxName   = "hko-max.json"
	hkoMinName   = "hko-min.json"
)

var weatherNames = []string{forecastName, archiveName, metarName, iemName, normalsName, hkoMaxName, hkoMinName}

// almanac writes the weather of one sample; ctx is used while writing.
type almanac struct {
	*sky
	ctx    context.Context
	end    time.Time
	today  data.Date // UTC
	days   int       // past days with reports
	create func(name string) (*outFile, error)
	files  []File
}

// weatherDaysMost is the maximum number of past days in the files.
const weatherDaysMost = 10

// writeWeather writes the weather of all 55 cities: forecasts of three models and an ensemble for
// the last and the next days, the actual values, and normals.
func writeWeather(ctx context.Context, cfg Config, events []*event, create func(string) (*outFile, error)) ([]File, error) {
	days, _ := cfg.weatherDays()
	a := &almanac{sky: newSky(cfg, events), ctx: ctx, end: cfg.End, today: data.DateOf(cfg.End), days: min(days, weatherDaysMost), create: create}
	for i, c := range a.cities {
		located, err := c.Located()
		if err != nil {
			return nil, fmt.Errorf("weather: %w", err)
		}
		a.cities[i] = located
	}
	for _, f := range []struct {
		name  string
		write func(p *outFile) (int64, error)
	}{{forecastName, a.forecasts}, {archiveName, a.archive}, {metarName, a.metar}, {iemName, a.summaries}, {normalsName, a.normals},
		{hkoMaxName, a.observatory("Maximum")}, {hkoMinName, a.observatory("Minimum")}} {
		p, err := create(f.name)
		if err != nil {
			return nil, err
		}
		rows, err := f.write(p)
		if err != nil {
			return nil, err
		}
		file, err := p.finish(rows)
		if err != nil {
			return nil, err
		}
		a.files = append(a.files, file)
	}
	return a.files, nil
}

// archive writes the reanalysis: for the last days, once before and once after its revision; and,
// for cities without normals, every third day around the venue's calendar days in the 30 years
// before 2021.
func (a *almanac) archive(p *outFile) (rows int64, err error) {
	enc := json.NewEncoder(p)
	for _, back := range []int{2, 0} {
		at := a.end.AddDate(0, 0, -back)
		for i, c := range a.cities {
			var days []data.Date
			for d := c.DateOf(at) - data.Date(a.days); d < c.DateOf(at); d++ {
				days = append(days, d)
			}
			x := a.answerFor(i, "weather-archive", at, days)
			x.put(c, "", func(k int) (int64, int64) { return a.onGrid(i, days[k], at) })
			if err := enc.Encode(x); err != nil {
				return rows, err
			}
			rows++
		}
	}
	for i, c := range a.cities {
		if c.Country == "US" {
			continue
		}
		days := a.history()
		x := a.answerFor(i, "weather-archive", a.end, days)
		x.put(c, "", func(k int) (int64, int64) {
			high := a.usual(i, days[k]) + a.grid(i) + a.noise(i, days[k], forHistory, 28)
			return high, high - 85
		})
		if err := enc.Encode(x); err != nil {
			return rows, err
		}
		rows++
	}
	return rows, a.ctx.Err()
}

// history are the days of 1991 to 2020 from which the normals of the venue's days are computed.
func (a *almanac) history() []data.Date {
	var out []data.Date
	_, month, day := a.end.Date()
	for year := 1991; year <= 2020; year++ {
		for off := -27; off <= 21; off += 3 {
			if d := data.DateFrom(year, month, day+off); d.Time().Year() >= 1991 && d.Time().Year() <= 2020 {
				out = append(out, d)
			}
		}
	}
	return out
}

// grid is how much warmer a city's grid cell is than its station.
func (a *almanac) grid(city int) int64 { return a.noise(city, 0, forGrid, 8) - 4 }

// onGrid returns the reanalysis of a day as of some time: slightly different while the day is
// recent.
func (a *almanac) onGrid(city int, d data.Date, at time.Time) (high, low int64) {
	high, low = a.extremes(city, d)
	off := a.grid(city)
	if _, end := a.cities[city].Day(d); at.Sub(end) < 48*time.Hour {
		off += a.noise(city, d, forFirstReading, 2)
	}
	return high + off, low + off
}
