package sample

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"pmx/data"
	"pmx/data/reference"
)

// metarDays is the number of days with hourly reports.
const metarDays = 2

// metar writes the hourly reports of airports: with tenths in the remarks in the United States, in
// whole degrees elsewhere.
func (a *almanac) metar(p *outFile) (rows int64, err error) {
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

// group writes whole degrees as in reports: M05 is −5.
func group(v int) string {
	if v < 0 {
		return fmt.Sprintf("M%02d", -v)
	}
	return fmt.Sprintf("%02d", v)
}

// exact writes tenths of a degree as in the remarks: 1033 is −3.3.
func exact(v int64) string {
	if v < 0 {
		return fmt.Sprintf("1%03d", -v)
	}
	return fmt.Sprintf("0%03d", v)
}

// summaries writes the daily summaries of American airports, with normals.
func (a *almanac) summaries(p *outFile) (rows int64, err error) {
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
func (a *almanac) normals(p *outFile) (rows int64, err error) {
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
func (a *almanac) observatory(which string) func(p *outFile) (int64, error) {
	return func(p *outFile) (rows int64, err error) {
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
