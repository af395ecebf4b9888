package weather

import (
	"testing"

	"pmx/data"
	"pmx/data/reference"
)

func city(t *testing.T, slug string) data.City {
	t.Helper()
	c, ok := reference.CityBySlug(slug)
	if !ok {
		t.Fatalf("no city %s", slug)
	}
	return c
}

func on(t *testing.T, s string) data.Date {
	t.Helper()
	d, err := data.ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestRulesOfEveryEra: the texts of events that named a source of their own.
func TestRulesOfEveryEra(t *testing.T) {
	for _, tc := range []struct {
		city, day, text, source string
		want                    Rules
	}{
		{"nyc", "2025-12-20", "… recorded at the LaGuardia Airport Station in degrees Fahrenheit … once information is finalized, available here: " +
			"https://www.wunderground.com/history/daily/us/ny/new-york-city/KLGA.\n … measures temperatures to whole degrees Fahrenheit (eg, 39°F).", "",
			Rules{Unit: 'F', Station: "KLGA", Source: Wunderground, Stated: true}},
		{"ankara", "2026-08-20", "… Station in degrees Celsius on 20 Aug '26 … can not resolve until the first data point for the following date has been published …",
			"https://www.wunderground.com/history/daily/tr/%C3%A7ubuk/LTAC",
			Rules{Unit: 'C', Station: "LTAC", Source: Wunderground, Revisable: true, Stated: true}},
		{"tokyo", "2026-08-24", "… by NOAA … in degrees Celsius … https://www.weather.gov/wrh/timeseries?site=rjtt … until the first data point for the following date …", "",
			Rules{Unit: 'C', Station: "RJTT", Source: NOAA, Revisable: true, Stated: true}},
		{"seattle", "2026-08-29", "… by NOAA … in degrees Fahrenheit … here: https://www.weather.gov/wrh/timeseries?site=ksea\n\nHourly Data …\n\nIf NOAA data for the " +
			"observation date is unavailable by 11:59 PM ET on the day following it, the Weather Underground Daily Observations table will be used", "",
			Rules{Unit: 'F', Station: "KSEA", Source: NOAA, Fallback: Wunderground, Stated: true}},
		{"hong-kong", "2026-03-20", "… recorded by the Hong Kong Observatory in degrees Celsius … measures temperatures in Celsius to one decimal place (eg, 9.1°C)",
			"https://www.weather.gov.hk/en/cis/climat.htm", Rules{Unit: 'C', Station: "HKO", Source: HKO, Rounding: Floor, Stated: true}},
		{"hong-kong", "2026-03-13", "… in degrees Celsius … Hong Kong Observatory Daily Extract … opendata.php?dataType=CLMMAXT&station=HKA&rformat=json … whole degrees Celsius", "",
			Rules{Unit: 'C', Station: "HKA", Source: HKO, Stated: true}},
		{"taipei", "2026-03-13", "… in degrees Celsius … the Central Weather Administration station observations for Taipei station 466920 …", "",
			Rules{Unit: 'C', Station: "466920", Source: CWA, Stated: true}},
		{"paris", "2026-04-18", "", "https://www.wunderground.com/history/daily/fr/paris/LFPG", Rules{Unit: 'C', Station: "LFPG", Source: Wunderground, Stated: true}},
	} {
		if got := ParseRules(city(t, tc.city), on(t, tc.day), tc.text, tc.source); got != tc.want {
			t.Errorf("%s %s: got %+v, want %+v", tc.city, tc.day, got, tc.want)
		}
	}
}

// TestUsualRules: an event without a text is settled like the city's other events of its day.
func TestUsualRules(t *testing.T) {
	for _, tc := range []struct {
		city, day string
		want      Rules
	}{
		{"nyc", "2026-08-22", Rules{Unit: 'F', Station: "KLGA", Source: Wunderground}},
		{"nyc", "2026-08-23", Rules{Unit: 'F', Station: "KLGA", Source: NOAA, Revisable: true}},
		{"nyc", "2026-08-26", Rules{Unit: 'F', Station: "KLGA", Source: NOAA, Fallback: Wunderground, Revisable: true}},
		{"london", "2026-08-23", Rules{Unit: 'C', Station: "EGLC", Source: Wunderground}},
		{"london", "2026-08-26", Rules{Unit: 'C', Station: "EGLC", Source: NOAA, Revisable: true}},
		{"london", "2026-08-27", Rules{Unit: 'C', Station: "EGLC", Source: NOAA, Fallback: Wunderground, Revisable: true}},
		{"london", "2025-12-10", Rules{Unit: 'F', Station: "EGLC", Source: Wunderground}},
		{"london", "2025-12-11", Rules{Unit: 'C', Station: "EGLC", Source: Wunderground}},
		{"paris", "2026-04-18", Rules{Unit: 'C', Station: "LFPG", Source: Wunderground}},
		{"paris", "2026-04-19", Rules{Unit: 'C', Station: "LFPB", Source: Wunderground}},
		{"taipei", "2026-03-22", Rules{Unit: 'C', Station: "466920", Source: CWA}},
		{"taipei", "2026-03-23", Rules{Unit: 'C', Station: "RCTP", Source: Wunderground}},
		{"taipei", "2026-04-05", Rules{Unit: 'C', Station: "RCSS", Source: Wunderground}},
		{"hong-kong", "2026-03-15", Rules{Unit: 'C', Station: "VHHH", Source: Wunderground}},
		{"hong-kong", "2026-03-16", Rules{Unit: 'C', Station: "HKO", Source: HKO, Rounding: Floor}},
		{"istanbul", "2026-03-30", Rules{Unit: 'C', Station: "LTFM", Source: NOAA, Revisable: true}},
		{"tel-aviv", "2026-03-23", Rules{Unit: 'C', Station: "LLBG", Source: NOAA, Revisable: true}},
		{"jinan", "2026-09-30", Rules{Unit: 'C', Station: "ZSJN", Source: Wunderground}},
		{"dubai", "2025-05-31", Rules{Unit: 'F', Station: "OMDB", Source: Wunderground}},
	} {
		if got := ParseRules(city(t, tc.city), on(t, tc.day), "", ""); got != tc.want {
			t.Errorf("%s %s: got %+v, want %+v", tc.city, tc.day, got, tc.want)
		}
	}
}
