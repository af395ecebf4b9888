package sample

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"pmx/data"
	"pmx/data/reference"
)

// Names of the files of the weather, each in the shape of the service that would
// give it.
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

// almanac writes the weather of one sample; ctx is that of the writing.
type almanac struct {
	*sky
	ctx    context.Context
	end    time.Time
	today  data.Date // UTC
	days   int       // that are past and told of
	create func(name string) (*part, error)
	files  []File
}

// weatherDaysMost is how many past days the files tell of at most.
const weatherDaysMost = 10

// writeWeather writes the weather of all 55 cities: what three models and an ensemble
// foretold of the last days and the next, what came, and what is usual.
func writeWeather(ctx context.Context, cfg Config, events []*event, create func(string) (*part, error)) ([]File, error) {
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
		write func(p *part) (int64, error)
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

// answer is an answer of Open-Meteo with a note of what was asked.
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

// answerFor begins an answer about a city.
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

// put adds the two rows of a source: values in tenths of a degree Celsius, printed in
// the city's scale.
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

// tenths gives tenths of a degree Celsius in degrees of a scale, to one decimal.
func tenths(v int64, unit string) data.Micro {
	if unit == "F" {
		v = (v*18 + 3200) / 10
	}
	return data.Micro(v) * data.One / 10
}

// forecasts writes what was fetched twice a day, four times in the last three days,
// and of the ensemble once, at the last.
func (a *almanac) forecasts(p *part) (rows int64, err error) {
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

// ahead are the days a forecast tells of: the city's own today and the next three.
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

// archive writes the reanalysis: of the last days, once before and once after it was
// gone over, and of the 30 years before 2021 every third day round the venue's end,
// for the cities that no table of normals knows.
func (a *almanac) archive(p *part) (rows int64, err error) {
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

// history are the days of 1991 to 2020 whose normals the venue's days need.
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

// grid is by how much a city's grid cell is warmer than its station.
func (a *almanac) grid(city int) int64 { return a.noise(city, 0, forGrid, 8) - 4 }

// onGrid is what the reanalysis said of a day at a moment: a little off while the day
// is recent.
func (a *almanac) onGrid(city int, d data.Date, at time.Time) (high, low int64) {
	high, low = a.extremes(city, d)
	off := a.grid(city)
	if _, end := a.cities[city].Day(d); at.Sub(end) < 48*time.Hour {
		off += a.noise(city, d, forFirstReading, 2)
	}
	return high + off, low + off
}

// metarDays is how many days of hourly reports are told.
const metarDays = 2

// metar writes what the airports reported every hour: with tenths in the remarks in
// America, in whole degrees elsewhere.
func (a *almanac) metar(p *part) (rows int64, err error) {
	enc := json.NewEncoder(p)
	for at := a.end.AddDate(0, 0, -metarDays); at.Before(a.end); at = at.Add(time.Hour) {
		for i, c := range a.cities {
			if len(c.Station) != 4 { // the Observatory's own
				continue
			}
			if err := enc.Encode(a.report(i, at)); err != nil {
				return rows, err
			}
			rows++
		}
	}
	return rows, a.ctx.Err()
}

type metarRow struct {
	Station string     `json:"icaoId"`
	Receipt string     `json:"receiptTime"`
	Time    int64      `json:"obsTime"`
	Temp    data.Micro `json:"temp"`
	Type    string     `json:"metarType"`
	Raw     string     `json:"rawOb"`
}

func (a *almanac) report(city int, at time.Time) metarRow {
	c := a.cities[city]
	if c.Country == "US" {
		at = at.Add(51 * time.Minute)
	}
	v := a.at(city, at)
	whole := rounded(v, data.Celsius)
	row := metarRow{Station: c.Station, Receipt: at.Add(4 * time.Minute).UTC().Format("2006-01-02T15:04:05.000Z"), Time: at.Unix(),
		Temp: data.Micro(whole) * data.One, Type: "METAR"}
	row.Raw = fmt.Sprintf("METAR %s %sZ AUTO 24008KT 9999 %s/%s Q1015", c.Station, at.UTC().Format("021504"), group(whole), group(whole-6))
	if c.Country == "US" {
		row.Temp = tenths(v, "C")
		row.Raw = fmt.Sprintf("METAR %s %sZ 24008KT 10SM CLR %s/%s A2997 RMK AO2 T%s%s", c.Station, at.UTC().Format("021504"),
			group(whole), group(whole-6), exact(v), exact(v-60))
	}
	return row
}

// group writes whole degrees as reports do: M05 is −5.
func group(v int) string {
	if v < 0 {
		return fmt.Sprintf("M%02d", -v)
	}
	return fmt.Sprintf("%02d", v)
}

// exact writes tenths of a degree as the remarks do: 1033 is −3.3.
func exact(v int64) string {
	if v < 0 {
		return fmt.Sprintf("1%03d", -v)
	}
	return fmt.Sprintf("0%03d", v)
}

// summaries writes the daily summaries of American airports with the normals beside.
func (a *almanac) summaries(p *part) (rows int64, err error) {
	if _, err := fmt.Fprintln(p, "station,day,max_temp_f,min_temp_f,precip_in,climo_high_f,climo_low_f"); err != nil {
		return 0, err
	}
	for i, c := range a.cities {
		if c.Country != "US" {
			continue
		}
		for d := a.today - data.Date(a.days); d < a.today; d++ {
			high, low := a.extremes(i, d)
			usual := a.usual(i, d)
			_, err := fmt.Fprintf(p, "%s,%s,%d.0,%d.0,0.0,%s,%s\n", c.Station[1:], d, rounded(high, data.Fahrenheit), rounded(low, data.Fahrenheit),
				tenths(usual, "F"), tenths(usual-85, "F"))
			if err != nil {
				return rows, err
			}
			rows++
		}
	}
	return rows, nil
}

// normals writes the U.S. normals of every calendar day.
func (a *almanac) normals(p *part) (rows int64, err error) {
	const columns = `"STATION","DATE","month","day","hour","DLY-TMAX-NORMAL","years_DLY-TMAX-NORMAL","DLY-TMAX-STDDEV","DLY-TMIN-NORMAL","years_DLY-TMIN-NORMAL","DLY-TMIN-STDDEV"`
	if _, err := fmt.Fprintln(p, columns); err != nil {
		return 0, err
	}
	for i, c := range a.cities {
		id, ok := ghcnID(c)
		if !ok {
			continue
		}
		for d := data.DateFrom(2000, time.January, 1); d <= data.DateFrom(2000, time.December, 31); d++ {
			usual := a.usual(i, d)
			_, err := fmt.Fprintf(p, "\"%s\",\"%s\",\"%02d\",\"%02d\",\"99\",\"%8s\",\"30\",\"%8s\",\"%8s\",\"30\",\"%8s\"\n", id, d.String()[5:],
				d.MonthDay()/100, d.MonthDay()%100, tenths(usual, "F"), "7.6", tenths(usual-85, "F"), "6.9")
			if err != nil {
				return rows, err
			}
			rows++
		}
	}
	return rows, a.ctx.Err()
}

// ghcnID is the climate network's id of a city's station.
func ghcnID(c reference.City) (string, bool) {
	for _, id := range reference.StationIDs(c.Station) {
		if strings.HasPrefix(id, "USW") {
			return id, true
		}
	}
	return "", false
}

// observatory writes the Hong Kong Observatory's series of one extreme.
func (a *almanac) observatory(which string) func(p *part) (int64, error) {
	return func(p *part) (rows int64, err error) {
		series := struct {
			Type   []string   `json:"type"`
			Fields []string   `json:"fields"`
			Data   [][]string `json:"data"`
		}{Type: []string{"Daily " + which + " Temperature (°C) at the Hong Kong Observatory"}, Fields: []string{"Year", "Month", "Day", "Value", "data Completeness"}}
		for i, c := range a.cities {
			if c.Station != "HKO" {
				continue
			}
			for d := a.today - data.Date(a.days); d < a.today; d++ {
				v, low := a.extremes(i, d)
				if which == "Minimum" {
					v = low
				}
				t := d.Time()
				series.Data = append(series.Data, []string{t.Format("2006"), t.Format("01"), t.Format("02"), tenths(v, "C").String(), "C"})
			}
		}
		return int64(len(series.Data)), json.NewEncoder(p).Encode(series)
	}
}
