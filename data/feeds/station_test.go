package feeds_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/data/feeds/metar"
	"pmx/data/feeds/shape"
	"pmx/data/reference"

	"pmx/data/testfiles"
)

// detectsEveryCapturedFileOfTheWeather: the longest pattern that matches a path gives the expected
// feed.
func detectsEveryCapturedFileOfTheWeather(t *testing.T) {
	root := testfiles.Captured(t)
	const either = "could be any of openmeteo-forecast, openmeteo-archive: name one with --as"
	patterns := map[string]string{
		"C_weather_markets/*/*": "unknown", "C_weather_markets/seminar4_gamma_snapshots/*": "gamma-events",
		"E_weather/captured_excerpts/aviationweather_*": "metar", "E_weather/captured_excerpts/openmeteo_error_*": "refused",
		"E_weather/captured_excerpts/openmeteo_forecast_*": either, "E_weather/captured_excerpts/openmeteo_historical_*": either,
		"E_weather/captured_excerpts/openmeteo_previous_*": "openmeteo", "E_weather/ghcn_daily/*": "unknown", "E_weather/ghcn_daily/*.dly.gz": "ghcn-dly",
		"E_weather/noaa_normals_1991_2020/*.csv": "ncei-normals", "E_weather/noaa_normals_1991_2020/*.txt": "unknown",
		"E_weather/nws_api_pynws_mit/gridpoints_forecast_*": "nws-forecast", "E_weather/nws_api_pynws_mit/gridpoints_stations.json": "refused",
		"E_weather/nws_api_pynws_mit/points.json": "refused", "E_weather/nws_api_pynws_mit/stations_*": "nws-observations",
		"E_weather/nws_api_pynws_mit/stations_observations_noprop.json": "unknown", "E_weather/open_meteo/*": "openmeteo",
		"E_weather/open_meteo/forecast_models_one_covering.json": either, "E_weather/openmeteo_*/*": "openmeteo",
	}
	for _, part := range []string{"C_weather_markets", "E_weather"} {
		err := filepath.WalkDir(filepath.Join(root, part), func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name, err := filepath.Rel(root, p)
			if err != nil {
				return err
			}
			want, best := "", ""
			for pattern, feed := range patterns {
				if ok, _ := path.Match(pattern, filepath.ToSlash(name)); ok && len(pattern) > len(best) {
					want, best = feed, pattern
				}
			}
			if got := verdict(t, p); got != want {
				t.Errorf("%s: %s, want %q", name, got, want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestReportsOfAirports(t *testing.T) {
	for text, want := range map[string]string{
		"METAR KLGA 142351Z 35013G19KT 10SM FEW060 22/08 A3015 RMK AO2 SLP209 T02170078 10239 20217 51022": "1 22.0 21.7",
		"SPECI KORD 101210Z 00000KT 1/2SM FG M05/M06 A3030 RMK AO2 T10481056":                              "2 -5.0 -4.8",
		"METAR RKSI 100100Z 23004KT 160V310 8000 BKN015 21/17 Q1009 NOSIG":                                 "1 21.0 -",
		"KFLL 271053Z 35005KT 10SM FEW025 FEW250 26/23 A3005 RMK AO2 SLP176 T02560228":                     "0 26.0 25.6",
		"METAR EGLC 011220Z AUTO 24008KT 9999 M00/M01 Q1020=":                                              "1 0.0 -",
		"METAR UUWW 011230Z 24003MPS 9999 15/// Q1020":                                                     "1 15.0 -",
		"METAR KLGA 142351Z 35013KT 10SM R22/4000FT A3015 RMK AO2 T0217 $":                                 "1 - 21.7",
		"no report": "0 - -", "": "0 - -",
	} {
		r := metar.Parse(text)
		show := func(v *data.Temp) string {
			if v == nil {
				return "-"
			}
			return v.Text(data.Celsius)
		}
		if got := fmt.Sprintf("%d %s %s", r.Kind, show(r.Whole), show(r.Exact)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestMetarRows: the tenths in the text take precedence over the field, a report without a
// temperature is not an error, and rows of other stations are rejected.
func TestMetarRows(t *testing.T) {
	says(t, "", "metar.json", `[
		{"icaoId":"KLGA","receiptTime":"2026-06-10T00:54:16.580Z","obsTime":1781052660,"temp":21.1,"metarType":"METAR","rawOb":"METAR KLGA 100051Z 21/15 A3004 RMK AO2 T02110150"},
		{"icaoId":"KLGA","obsTime":1781052661,"temp":21,"metarType":"SPECI","rawOb":"KLGA 100051Z 21/15 A3004 RMK AO2 T02060150"},
		{"icaoId":"EGLC","obsTime":1781052662,"temp":19,"rawOb":""},
		{"icaoId":"EGLC","obsTime":1781052663,"temp":null,"rawOb":"METAR EGLC 100050Z NIL"},
		{"icaoId":"KBOS","obsTime":1781052664,"temp":19,"rawOb":""},
		{"icaoId":"EGLC","temp":19,"rawOb":""},
		{"icaoId":"EGLC","obsTime":1781052665,"temp":"hot","rawOb":""}]`, `
nyc KLGA metar 2026-06-10T00:51 1: 21.1 of 21.0
nyc KLGA metar 2026-06-10T00:51 2: 20.6 of 21.0
london EGLC metar 2026-06-10T00:51 0: 19.0
reject 5 unknown_station
reject 6 bad_time
reject 7 bad_temperature`)
}

const nwsCell = `"geometry":{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[-73.87,40.78]}]}`

// TestTheWeatherServicesGrid: New York's 3 July lasts from 04:00Z to 04:00Z. The hours give 70 … 75
// °F, the office's own high is 77 °F; a day without hours has only its high, and the low of a night
// belongs to two days.
func TestTheWeatherServicesGrid(t *testing.T) {
	says(t, "", "grid.json", `{`+nwsCell+`,"properties":{"updateTime":"2026-07-02T13:00:00+00:00",
		"maxTemperature":{"uom":"wmoUnit:degC","values":[{"validTime":"2026-07-03T12:00:00+00:00/PT13H","value":25},
			{"validTime":"2026-07-04T12:00:00+00:00/PT13H","value":26.666666666666668},{"validTime":"2026-07-05T12:00:00+00:00/PT13H","value":null}]},
		"minTemperature":{"uom":"wmoUnit:degC","values":[{"validTime":"2026-07-03T00:00:00+00:00/PT14H","value":20},{"validTime":"2026-07-05T00:00:00+00:00/PT14H","value":20}]},
		"temperature":{"uom":"wmoUnit:degC","values":[{"validTime":"2026-07-03T02:00:00+00:00/PT1H","value":35},
			{"validTime":"2026-07-03T03:00:00+00:00/PT3H","value":21.11111111111111},{"validTime":"2026-07-03T06:00:00+00:00/PT22H","value":23.88888888888889}]}}}`, `
nyc 2026-07-04 tmax nws_period issued 2026-07-02T13:00: 80.0
nyc 2026-07-03 tmax nws issued 2026-07-02T13:00: 25.0
nyc 2026-07-03 tmin nws issued 2026-07-02T13:00: 70.0
reject 1 wrong_days`)
}

func TestTheWeatherServicesPeriods(t *testing.T) {
	says(t, "", "half.json", `{`+nwsCell+`,"properties":{"updated":"2026-07-02T13:00:00+00:00","forecastGenerator":"Baseline","periods":[
		{"number":1,"startTime":"2026-07-02T14:00:00-04:00","endTime":"2026-07-02T18:00:00-04:00","isDaytime":true,"temperature":99,"temperatureUnit":"F"},
		{"number":2,"startTime":"2026-07-02T18:00:00-04:00","endTime":"2026-07-03T06:00:00-04:00","isDaytime":false,"temperature":"77","temperatureUnit":"F"},
		{"number":3,"startTime":"2026-07-03T06:00:00-04:00","endTime":"2026-07-03T18:00:00-04:00","isDaytime":true,"temperature":{"unitCode":"wmoUnit:degC","value":38}},
		{"number":null,"startTime":null,"endTime":null,"isDaytime":null,"temperature":null,"temperatureUnit":null},
		{"number":4,"startTime":"soon","endTime":null,"isDaytime":true,"temperature":1,"temperatureUnit":"F"}]}}`, `
nyc 2026-07-02 tmax nws_period issued 2026-07-02T13:00: 99.0
nyc 2026-07-03 tmax nws_period issued 2026-07-02T13:00: 38.0
reject 1 wrong_days
reject 1 bad_time`)
	var hours []string
	for h := range 30 { // from 20:00 on 2 July: 3 July is complete, the others are not
		hours = append(hours, fmt.Sprintf(`{"startTime":"2026-07-%02dT%02d:00:00-04:00","endTime":"2026-07-%02dT%02d:00:00-04:00","temperature":%d,"temperatureUnit":"F"}`,
			2+(20+h)/24, (20+h)%24, 2+(21+h)/24, (21+h)%24, 60+h))
	}
	says(t, "", "hourly.json", `{`+nwsCell+`,"properties":{"updateTime":"2026-07-02T13:00:00+00:00","forecastGenerator":"HourlyForecastGenerator","periods":[`+
		strings.Join(hours, ",")+`]}}`, "nyc 2026-07-03 tmax nws issued 2026-07-02T13:00: 87.0\nnyc 2026-07-03 tmin nws issued 2026-07-02T13:00: 64.0")
}

func TestTheWeatherServicesObservations(t *testing.T) {
	one := func(id, props string) string {
		return `{"id":"https://api.weather.gov/stations/KMIA/observations/x","properties":{"station":"https://api.weather.gov/stations/` + id + `",` + props + `}}`
	}
	says(t, "", "obs.json", `{"type":"FeatureCollection","features":[`+strings.Join([]string{
		one("KMIA", `"timestamp":"2026-07-02T10:53:00+00:00","rawMessage":"KMIA 021053Z 26/23 A3005 RMK T02560228","temperature":{"value":25.6,"unitCode":"wmoUnit:degC","qualityControl":"V"}`),
		one("KMIA", `"timestamp":"2026-07-02T11:53:00+00:00","rawMessage":"KMIA 021153Z 26/23 A3005 RMK T02610228","temperature":{"value":null,"unitCode":"wmoUnit:degC"}`),
		one("KMIA", `"timestamp":"2026-07-02T12:53:00+00:00","rawMessage":"","temperature":{"value":null,"unitCode":null}`),
		one("KMIA", `"timestamp":"2026-07-02T13:53:00+00:00","temperature":{"value":99,"unitCode":"wmoUnit:degF","qualityControl":"qc:X"}`),
		one("KMIA", `"timestamp":"2026-07-02T14:53:00+00:00","temperature":{"value":99,"unitCode":"wmoUnit:degF","qualityControl":"qc:Z"}`),
		one("KMIA", `"timestamp":"2026-07-02T14:53:00+00:00","temperature":{"value":99,"unitCode":"unit:K"}`),
		one("KFLL", `"timestamp":"2026-07-02T14:53:00+00:00"`), one("KMIA", `"timestamp":null`),
	}, ",")+`]}`, `
miami KMIA nws 2026-07-02T10:53 0: 25.6 of 26.0
miami KMIA nws 2026-07-02T11:53 0: 26.1 of 26.0
miami KMIA nws 2026-07-02T13:53 0: withdrawn
miami KMIA nws 2026-07-02T14:53 0: 99.0
reject 6 bad_unit
reject 7 unknown_station
reject 8 bad_time`)
	says(t, "", "latest.json", one("KMIA", `"timestamp":"2026-07-02T10:53:00+00:00","textDescription":"Clear","temperature":{"value":25.6,"unitCode":"unit:degC"}`),
		"miami KMIA nws 2026-07-02T10:53 0: 25.6")
}

// everyCapturedAnswerOfTheWeatherService reads responses for places that are not on the desk to
// their end; every row must be accounted for.
func everyCapturedAnswerOfTheWeatherService(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testfiles.Captured(t, "E_weather", "nws_api_pynws_mit"), "*.json"))
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if v := verdict(t, file); v == "refused" || v == "unknown" {
			continue
		}
		c := read(t, file)
		for reason := range c.reasons() {
			if !slices.Contains([]string{"unknown_station", "far_from_station", "bad_time"}, reason) {
				t.Errorf("%s: %v", filepath.Base(file), c.reasons())
			}
		}
		if len(c.rejects) == 0 || len(c.forecasts)+len(c.observations) > 0 {
			t.Errorf("%s: %s", filepath.Base(file), c.told())
		}
	}
}

func TestDailySummariesOfAirports(t *testing.T) {
	says(t, "", "daily.csv", "station,day,max_temp_f,min_temp_f,precip_in,climo_high_f,climo_low_f\n"+
		"LGA,2026-07-02,103.0,None,0.0,84.3,70.1\nLGA,2026-01-02,M,28.4,0.0,,\nDFW,2026-01-02,50,40,0,,\nLGA,2026-02-30,50,40,0,,\n", `
nyc 2026-07-02 tmax station iem KLGA seen -: 103.0 shift 3600
nyc 2026-01-02 tmin station iem KLGA seen -: -2.0
nyc 702 tmax iem KLGA 1991-2020: 84.3
nyc 702 tmin iem KLGA 1991-2020: 70.1
reject 4 unknown_station
reject 5 bad_date`)
	says(t, "", "daily_2026-07-04T00-00-00Z.csv", "station,day,max_temp_f\nLGA,2026-01-02,50\n", "nyc 2026-01-02 tmax station iem KLGA seen 2026-07-04T00:00: 10.0")
}

func TestReportsOfTheMesonet(t *testing.T) {
	says(t, "", "asos.csv", "#DEBUG: Format Typ    -> comma\n#DEBUG: Entries Found -> 5\nstation,valid,tmpf,metar\n"+
		"LGA,2026-07-02 03:51,71.06,KLGA 020351Z 22/18 A3000 RMK T02170178\nLGA,2026-07-02 04:51,M,M\nLGA,2026-07-02 05:51,71.60,M\n"+
		"LGA,yesterday,71,M\nXYZ,2026-07-02 05:51,71.60,M\n", `
nyc KLGA iem 2026-07-02T03:51 0: 21.7 of 22.0
nyc KLGA iem 2026-07-02T05:51 0: 22.0
reject 7 bad_time
reject 8 unknown_station`)
	says(t, "", "asos2.csv", "station,valid,tmpf\nKLGA,2026-08-12 18:51,78.0\nKLGA,2026-08-12 19:51,null\n", "nyc KLGA iem 2026-08-12T18:51 0: 78.0")
}

// TestTheClimateNetwork: tenths of a degree, −9999 for a missing value, and a quality flag for a
// failed check or an hour for a day that does not end at midnight, whose values are withdrawn.
func TestTheClimateNetwork(t *testing.T) {
	line := func(cells ...string) string {
		return "USW00014732202607TMAX" + strings.Join(cells, "") + strings.Repeat("-9999   ", 31-len(cells)) + "\n"
	}
	says(t, "", "x.dly", line("  394  D", "-9999   ", "  400 XD", "  -17  D")+"USW00014732202607PRCP    0  D\nUSW00014732202602TMIN"+strings.Repeat("   11  D", 30)+"\n", `
nyc 2026-07-01 tmax station ghcn KLGA seen -: 39.4 shift 3600
nyc 2026-07-03 tmax station ghcn KLGA seen -: withdrawn shift 3600
nyc 2026-07-04 tmax station ghcn KLGA seen -: -1.7 shift 3600
`+strings.Join(februaryLows(), "\n")+`
reject 3 bad_date
reject 3 bad_date`)
	says(t, "", "x.csv", "USW00014732,20260102,TMAX,-17,,,D,2400\nUSW00014732,20260102,TMIN,-9999,,,D,2400\nUSW00014732,20260102,PRCP,3,T,,D,2400\n"+
		"USW00094728,20260103,TMIN,-22,,,Z,\nUSW00014732,20260103,TMAX,10,,,D,0700\nUSW00014732,20260104,TMAX,10,,G,D,\nUSW00014732,20260230,TMAX,10,,,D,\n"+
		"ASN00066037,20260104,TMAX,10,,,a,\n", `
nyc 2026-01-02 tmax station ghcn KLGA seen -: -1.7
nyc 2026-01-03 tmin station ghcn KNYC seen -: -2.2
nyc 2026-01-03 tmax station ghcn KLGA seen -: withdrawn
nyc 2026-01-04 tmax station ghcn KLGA seen -: withdrawn
reject 7 bad_date
reject 8 unknown_station`)
}

func februaryLows() []string {
	var out []string
	for d := range 28 {
		out = append(out, fmt.Sprintf("nyc 2026-02-%02d tmin station ghcn KLGA seen -: 1.1", d+1))
	}
	return out
}

// aCenturyAndAHalfOfCentralPark reads all highest and lowest temperatures of 151 years, the last of
// which, 2020, has three days.
func aCenturyAndAHalfOfCentralPark(t *testing.T) {
	c := read(t, testfiles.Captured(t, "E_weather", "ghcn_daily", "USW00094728.dly.gz"))
	byMetric := map[data.Metric]int{}
	var last data.Date
	for _, a := range c.actuals {
		byMetric[a.Metric]++
		if a.City != "nyc" || a.Station != "KNYC" || a.Kind != data.KindStation {
			t.Fatalf("%+v", a)
		}
		last = max(last, a.Day)
	}
	t.Logf("%v, rejects %v, until %s", byMetric, c.reasons(), last)
	if first := c.actuals[0]; first.Day.String() != "1869-01-01" || first.Value.Text(data.Celsius) != "-1.7" || byMetric[data.TMax] < 55_000 || last.String() != "2020-01-03" {
		t.Errorf("%+v, %v, until %s", first, byMetric, last)
	}
}

func TestTheObservatory(t *testing.T) {
	const title = "Daily Maximum Temperature (°C) at the Hong Kong Observatory"
	says(t, "", "hko.json", `{"type":["每日最高氣溫","`+title+`"],"fields":["年/Year","月/Month","日/Day","數值/Value","數據完整性/data Completeness"],
		"data":[["2025","03","12","19.3","C"],["2025","3","13"," 28.9 ","#"],["2025","03","14","***",""],["2025","03","32","20",""],["2025","03","15","20"]],"legend":["*** unavailable"]}`, `
hong-kong 2025-03-12 tmax station hko HKO seen -: 19.3 final
hong-kong 2025-03-13 tmax station hko HKO seen -: 28.9 provisional
hong-kong 2025-03-15 tmax station hko HKO seen -: 20.0
reject 4 bad_date`)
	says(t, "", "hko.csv", "\xEF\xBB\xBF每日最低氣溫(°C) - 香港國際機場\nDaily Minimum Temperature (°C) at the Hong Kong International Airport\n"+
		"年/Year,月/Month,日/Day,數值/Value,數據完整性/data Completeness\n2025,3,12,19.3,C\n\"*** 沒有數據/unavailable\"\n# 數據不完整/data incomplete\nC 數據完整/data Complete\n",
		"hong-kong 2025-03-12 tmin station hko VHHH seen -: 19.3 final")
	h, f := head(t, text(t, "x.json", `{"type":"Mean Temperature","fields":[],"data":[]}`))
	if _, err := readAs(t, f, h, text(t, "y.json", `{"type":"Mean Temperature","fields":[],"data":[]}`)); err == nil || !strings.Contains(err.Error(), "neither") {
		t.Errorf("a mean was read: %v", err)
	}
}

// TestUSNormals: padded cells, and codes for missing values.
func TestUSNormals(t *testing.T) {
	const header = `"STATION","DATE","DLY-TMAX-NORMAL","years_DLY-TMAX-NORMAL","DLY-TMAX-STDDEV","DLY-TMIN-NORMAL"` + "\n"
	says(t, "", "n.csv", header+`"USW00014732","02-28","    43.3","30","     9.9","   -7777"`+"\n"+`"USW00014732","03-01","    43.9","28","    10.1"," -9999.0"`+"\n"+
		`"USW00014732","13-01","    43.9","30","    10.1"," -9999.0"`+"\n"+`"USW00000000","03-01","    43.9","30","    10.1"," -9999.0"`+"\n", `
nyc 228 tmax ncei KLGA 1991-2020: 43.3 ± 9.9
nyc 301 tmax ncei KLGA 1991-2020: 43.9 ± 10.1
reject 4 bad_date
reject 5 unknown_station`)
}

func capturedNormals(t *testing.T) {
	for file, want := range map[string]string{
		"USW00094728.csv":                  "732 of KNYC; nyc 101 tmax ncei KNYC 1991-2020: 40.6 ± 10",
		"Normals_DLY_1991-2020_sample.csv": "62 of KATL; atlanta 101 tmax ncei KATL 1991-2020: 53.8 ± 10",
	} {
		c := read(t, testfiles.Captured(t, "E_weather", "noaa_normals_1991_2020", file))
		first, _, _ := strings.Cut(c.told(), "\n")
		if got := fmt.Sprintf("%d of %s; %s", len(c.normals), c.normals[0].Station, first); got != want || len(c.rejects) > 0 {
			t.Errorf("%s: %s, rejects %v, want %s", file, got, c.reasons(), want)
		}
		days := map[int]bool{}
		for _, n := range c.normals {
			days[n.MonthDay] = true
		}
		if len(c.normals) > 100 && !days[229] {
			t.Errorf("%s: no 29 February among %d days", file, len(slices.Collect(maps.Keys(days))))
		}
	}
}

// FuzzWeatherText: feeds of the weather do not panic on any text, and give valid rows.
func FuzzWeatherText(f *testing.F) {
	names := []string{"ghcn-dly", "ghcn-daily", "iem-daily", "iem-asos", "hko-daily", "ncei-normals", "metar", "nws-gridpoints", "nws-forecast", "nws-observations", "pmx-forecasts"}
	f.Add(0, []byte("USW00014732202607TMAX  394  D"))
	f.Add(1, []byte("USW00014732,20260102,TMAX,-17,,,D,2400\n"))
	f.Add(2, []byte("station,day,max_temp_f,climo_high_f\nLGA,2026-07-02,103.0,84.3\n"))
	f.Add(3, []byte("#\nstation,valid,tmpf,metar\nLGA,2026-07-02 03:51,71.06,KLGA 22/18 RMK T02170178\n"))
	f.Add(4, []byte("Daily Maximum Temperature Hong Kong Observatory\n/Year,b\n2025,3,12,19.3,C\n"))
	f.Add(5, []byte("STATION,DATE,DLY-TMAX-NORMAL\nUSW00014732,02-28,43.3\n"))
	f.Add(6, []byte(`[{"icaoId":"KLGA","obsTime":1781052660,"temp":21.1,"rawOb":""}]`))
	f.Add(7, []byte(`{`+nwsCell+`,"properties":{"updateTime":"2026-07-02T13:00:00Z","temperature":{"uom":"C","values":[{"validTime":"2026-07-03T04:00:00Z/P1D","value":1}]}}}`))
	f.Add(8, []byte(`{`+nwsCell+`,"properties":{"updateTime":"2026-07-02T13:00:00Z","periods":[{"startTime":"2026-07-03T04:00:00Z","endTime":"2026-07-03T05:00:00Z","temperature":1,"temperatureUnit":"F"}]}}`))
	f.Add(9, []byte(`{"features":[{"properties":{"station":"/KMIA","timestamp":"2026-07-02T10:53:00Z","temperature":{"value":1,"unitCode":"degC"}}}]}`))
	f.Add(10, []byte("city,target,metric,source,issued_at,value,unit\nlondon,2026-06-26,tmax,a,2026-06-24T01:00:00Z,30.1,C\n"))
	f.Fuzz(func(t *testing.T, which int, content []byte) {
		feed, err := feeds.ByName(names[((which%len(names))+len(names))%len(names)])
		if err != nil {
			t.Fatal(err)
		}
		c := &collect{}
		src := data.Source{Name: "x", Format: feed.Formats[0], Cities: reference.Gazetteer()}
		_ = feed.Read(context.Background(), src, bytes.NewReader(content), c)
		for _, r := range c.rejects {
			if r.Detail == "" && shape.Detail(r.Reason) == "" {
				t.Errorf("the reason %q has no explanation", r.Reason)
			}
		}
		for _, a := range c.actuals {
			if _, ok := a.Value.Scale(); !ok || a.City == "" || a.Source == "" {
				t.Errorf("%+v", a)
			}
		}
		for _, n := range c.normals {
			if _, ok := data.MonthDayOf(n.MonthDay/100, n.MonthDay%100); !ok {
				t.Errorf("%+v", n)
			}
		}
	})
}
