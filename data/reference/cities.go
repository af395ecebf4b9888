package reference

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // climate days need the zones on machines without a zone database
)

// City is one city of the weather desk with the defaults of its daily
// temperature events. Station and Unit are those of the current events: an
// older event may name another station or unit in its own rules.
type City struct {
	Title    string // as event titles write it: "NYC"
	Question string // as bracket questions write it: "New York City"
	Slug     string // as event slugs write it: "nyc"
	Country  string // ISO 3166-1 alpha-2
	Station  string // ICAO code, or HKO for the Hong Kong Observatory
	Unit     string // "C" or "F"
	Lat, Lon float64
	Zone     string // IANA zone of the local calendar day
}

// Location gives the city's time zone.
func (c City) Location() (*time.Location, error) {
	loc, err := time.LoadLocation(c.Zone)
	if err != nil {
		return nil, fmt.Errorf("zone of %s: %w", c.Slug, err)
	}
	return loc, nil
}

//go:embed cities.csv
var citiesCSV string

var cityTable = sync.OnceValues(func() ([]City, error) { return parseCities(citiesCSV) })

// Cities gives the 55 cities that have had a dated daily-temperature event on
// the venue (Gamma events tagged "Highest temperature", 2025-01 to 2026-10),
// oldest first. The slice is the caller's own.
func Cities() []City {
	all, err := cityTable()
	if err != nil {
		panic(err) // the embedded table is broken: a build fault the tests catch
	}
	return append([]City(nil), all...)
}

// CityBySlug gives the city of an event slug such as "kuala-lumpur", and false
// for a slug that is not in the table.
func CityBySlug(slug string) (City, bool) {
	for _, c := range Cities() {
		if c.Slug == slug {
			return c, true
		}
	}
	return City{}, false
}

func parseCities(text string) ([]City, error) {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("cities.csv: %w", err)
	}
	out := make([]City, 0, len(rows))
	for i, r := range rows[1:] {
		c := City{Title: r[0], Question: r[1], Slug: r[2], Country: r[3], Station: r[4], Unit: r[5], Zone: r[8]}
		if c.Lat, err = strconv.ParseFloat(r[6], 64); err != nil {
			return nil, fmt.Errorf("cities.csv: line %d: lat: %w", i+2, err)
		}
		if c.Lon, err = strconv.ParseFloat(r[7], 64); err != nil {
			return nil, fmt.Errorf("cities.csv: line %d: lon: %w", i+2, err)
		}
		out = append(out, c)
	}
	return out, nil
}
