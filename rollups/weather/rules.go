package weather

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"pmx/data"
)

// Source is where an event's settling temperature is published.
type Source string

// The sources that events have named.
const (
	Wunderground Source = "wunderground" // the daily history page of a station
	NOAA         Source = "noaa"         // the time series page of weather.gov
	HKO          Source = "hko"          // the Hong Kong Observatory's daily extract
	CWA          Source = "cwa"          // Taiwan's Central Weather Administration
)

// Rules are what an event settles by, from its own text, and where the text says nothing, as other
// events of the city settled on that day.
type Rules struct {
	Unit     data.Unit
	Station  string // ICAO code, or the service's own id
	Source   Source // "" if unknown
	Fallback Source // the source that counts if the first has no data; "" without
	Rounding Rounding
	// Revisable tells that revisions count until the first value of the following
	// day is published; false: until the day's data is called final.
	Revisable bool
	// Stated says that source and station come from the event's own text.
	Stated bool
}

var (
	wunderForm  = regexp.MustCompile(`(?i)wunderground\.com/history/daily/[^\s"'<>]*/([A-Z0-9]{4})\b`)
	noaaForm    = regexp.MustCompile(`(?i)weather\.gov/wrh/timeseries\?[^\s"'<>]*\bsite=([A-Z0-9]{3,5})\b`)
	hkoForm     = regexp.MustCompile(`(?i)weather\.gov\.hk|hko\.gov\.hk|hong kong observatory`)
	hkoStation  = regexp.MustCompile(`(?i)[?&]station=([A-Z]{2,4})\b`)
	cwaForm     = regexp.MustCompile(`(?i)central weather administration|cwa\.gov\.tw`)
	cwaStation  = regexp.MustCompile(`\b(46\d{4})\b`)
	degreesForm = regexp.MustCompile(`(?i)in degrees (fahrenheit|celsius)`)
	tenthsForm  = regexp.MustCompile(`(?i)to one decimal place|tenths? of a degree`)
	fallForm    = regexp.MustCompile(`(?is)if .{0,120}unavailable.{0,240}(weather underground|wunderground)`)
	nextForm    = regexp.MustCompile(`(?i)until the first data ?point for the following date`)
)

// ParseRules parses the rules of an event of city on day from its description and resolution
// source; either may be "".
func ParseRules(city data.City, day data.Date, description, source string) Rules {
	r := UsualRules(city, day)
	text := source + "\n" + description
	if m := degreesForm.FindStringSubmatch(description); m != nil {
		r.Unit = unitOf(m[1])
	}
	if strings.TrimSpace(description) != "" {
		r.Revisable = nextForm.MatchString(description)
	}
	if named, station := namedSource(text); named != "" {
		if station == "" && named != r.Source {
			station = city.Station
		}
		r.Source, r.Stated, r.Fallback = named, true, ""
		if station != "" {
			r.Station = station
		}
		if fallForm.MatchString(description) && named != Wunderground {
			r.Fallback = Wunderground
		}
		r.Rounding = roundingOf(named, description)
	}
	return r
}

// namedSource finds the source a text names, and the station in its address. NOAA
// goes before Wunderground, which later texts name as a fallback.
func namedSource(text string) (Source, string) {
	if m := noaaForm.FindStringSubmatch(text); m != nil {
		return NOAA, strings.ToUpper(m[1])
	}
	if m := wunderForm.FindStringSubmatch(text); m != nil {
		return Wunderground, strings.ToUpper(m[1])
	}
	if hkoForm.MatchString(text) {
		station := "HKO"
		if m := hkoStation.FindStringSubmatch(text); m != nil {
			station = strings.ToUpper(m[1])
		}
		return HKO, station
	}
	if cwaForm.MatchString(text) {
		if m := cwaStation.FindStringSubmatch(text); m != nil {
			return CWA, m[1]
		}
		return CWA, ""
	}
	return "", ""
}

// roundingOf is how a source's values become whole degrees. A source that is read
// to one decimal place settles in the bracket of its whole degrees.
func roundingOf(source Source, description string) Rounding {
	if source == HKO && !strings.Contains(description, "whole degrees") || tenthsForm.MatchString(description) {
		return Floor
	}
	return HalfUp
}

// era is a span of days, from its first on, in which a city's events had special rules. Empty
// fields mean the values of the city's table row or the usual source.
type era struct {
	from    data.Date
	unit    data.Unit
	station string
	source  Source
}

func date(y, m, d int) data.Date { return data.DateFrom(y, time.Month(m), d) }

// UsualRules are the rules that the city's events of that day had, by the inventory
// of all events from 2025-01-20 to 2026-10-01. A city without an entry settled by
// Wunderground until late August 2026, then by NOAA with Wunderground to fall back
// on.
func UsualRules(c data.City, day data.Date) Rules {
	unit, _ := data.ParseUnit(c.Unit)
	r := Rules{Unit: unit, Station: c.Station, Source: usualSource(c, day)}
	for _, e := range eras(c.Slug) {
		if day < e.from {
			continue
		}
		r = Rules{Unit: unit, Station: c.Station, Source: usualSource(c, day)}
		if e.unit != 0 {
			r.Unit = e.unit
		}
		if e.station != "" {
			r.Station = e.station
		}
		if e.source != "" {
			r.Source = e.source
		}
	}
	if r.Source == NOAA && day >= noaaSince(c)+fallbackAfter {
		r.Fallback = Wunderground
	}
	if r.Source == HKO {
		r.Rounding = Floor
	}
	r.Revisable = r.Source == NOAA
	return r
}

// americas are the countries whose events changed their source a day early.
var americas = []string{"US", "CA", "MX", "PA", "BR", "AR"}

// noaaSince is the first day that settled by NOAA.
func noaaSince(c data.City) data.Date {
	if slices.Contains(americas, c.Country) {
		return date(2026, 8, 23)
	}
	return date(2026, 8, 24)
}

// fallbackAfter is how many days later the texts began to name a fallback.
const fallbackAfter = 3

func usualSource(c data.City, day data.Date) Source {
	if day >= noaaSince(c) {
		return NOAA
	}
	return Wunderground
}

// eras lists a city's eras in order; the last one that has begun applies.
func eras(slug string) []era {
	switch slug {
	case "london":
		return []era{{from: date(2025, 1, 1), unit: data.Fahrenheit}, {from: date(2025, 12, 11)}}
	case "dubai":
		return []era{{from: date(2025, 1, 1), unit: data.Fahrenheit}}
	case "paris":
		return []era{{from: date(2025, 1, 1), station: "LFPG"}, {from: date(2026, 4, 19)}}
	case "taipei":
		return []era{{from: date(2025, 1, 1), station: "466920", source: CWA}, {from: date(2026, 3, 23), station: "RCTP"}, {from: date(2026, 4, 5)}}
	case "hong-kong":
		return []era{{from: date(2025, 1, 1), station: "VHHH", source: Wunderground}, {from: date(2026, 3, 16), source: HKO}}
	case "istanbul", "moscow":
		return []era{{from: date(2026, 3, 30), source: NOAA}}
	case "tel-aviv":
		return []era{{from: date(2026, 3, 23), source: NOAA}}
	case "jinan":
		return []era{{from: date(2025, 1, 1), source: Wunderground}}
	}
	return nil
}
