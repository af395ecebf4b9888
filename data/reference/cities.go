package reference

import (
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	_ "time/tzdata" // time zones for machines without a zone database: climate days need them

	"pmx/data"
)

// City is one city of the weather desk.
type City = data.City

var (
	//go:embed cities.csv
	citiesCSV string
	//go:embed aliases.csv
	aliasesCSV string
	//go:embed stations.csv
	stationsCSV string
)

// desk is the built-in weather desk.
type desk struct {
	cities    []City
	gazetteer *data.Gazetteer
}

var builtIn = sync.OnceValues(func() (desk, error) {
	cities, err := parseCities("cities.csv", citiesCSV)
	if err != nil {
		return desk{}, err
	}
	g, err := gazetteer(cities, nil)
	return desk{cities, g}, err
})

func mustDesk() desk {
	d, err := builtIn()
	if err != nil {
		panic(err) // the embedded tables are broken: a build fault the tests catch
	}
	return d
}

// Cities returns the 55 cities that have had a dated daily-temperature event on the venue (Gamma
// events tagged "Highest temperature", 2025-01 to 2026-10), oldest first, in a new slice.
func Cities() []City { return slices.Clone(mustDesk().cities) }

// CityBySlug returns the city of an event slug such as "kuala-lumpur", and false for a slug that is
// not in the table.
func CityBySlug(slug string) (City, bool) { return mustDesk().gazetteer.City(slug) }

// Gazetteer returns the built-in cities with their other names and stations.
func Gazetteer() *data.Gazetteer { return mustDesk().gazetteer }

// StationIDs returns the other ids of a station in the built-in table, in order.
func StationIDs(station string) []string {
	table, err := parseStations("stations.csv", stationsCSV)
	if err != nil {
		panic(err) // the embedded table is broken: a build fault the tests catch
	}
	var out []string
	for id, s := range table {
		if s.ID == station && id != station {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// Extended returns the built-in gazetteer with the operator's additions. cities is a CSV with the
// header of the built-in table; its rows add a city or replace the one with that slug. stations is
// a CSV with the header "id,station,city,name". Either may be "". An error has the file, the line
// and the reason.
func Extended(cities, stations string) (*data.Gazetteer, error) {
	added, err := parseCities("cities.csv", cities)
	if err != nil {
		return nil, err
	}
	all := Cities()
	for _, c := range added {
		if i := slices.IndexFunc(all, func(old City) bool { return old.Slug == c.Slug }); i >= 0 {
			all[i] = c
		} else {
			all = append(all, c)
		}
	}
	own, err := parseStations("stations.csv", stations)
	if err != nil {
		return nil, err
	}
	return gazetteer(all, own)
}

// gazetteer combines the built-in names and stations with cities and the operator's stations.
func gazetteer(cities []City, own map[string]data.Station) (*data.Gazetteer, error) {
	aliases, err := parseAliases(aliasesCSV)
	if err != nil {
		return nil, err
	}
	stations, err := parseStations("stations.csv", stationsCSV)
	if err != nil {
		return nil, err
	}
	for id, s := range own {
		stations[id] = s
	}
	return data.NewGazetteer(cities, aliases, stations)
}

// record is a row of a table and its line number.
type record struct {
	line  int
	cells []string
}

// records reads a CSV with that header; "" is a table without rows.
func records(file, text, header string) ([]record, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\uFEFF")))
	r.FieldsPerRecord = -1
	first, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if got := strings.Join(first, ","); got != header {
		return nil, fmt.Errorf("%s: line 1: the header is %q: it must be %q", file, got, header)
	}
	var out []record
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		line, _ := r.FieldPos(0)
		if len(cells) != len(first) {
			return nil, fmt.Errorf("%s: line %d: %d cells where the header has %d", file, line, len(cells), len(first))
		}
		out = append(out, record{line, cells})
	}
}

const cityHeader = "title,question,slug,country,station,unit,lat,lon,zone"

func parseCities(file, text string) ([]City, error) {
	rows, err := records(file, text, cityHeader)
	if err != nil {
		return nil, err
	}
	out := make([]City, 0, len(rows))
	seen := map[string]bool{}
	for _, r := range rows {
		c, err := parseCity(r.cells)
		if err == nil && seen[c.Slug] {
			err = fmt.Errorf("slug: %s is listed twice", c.Slug)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", file, r.line, err)
		}
		seen[c.Slug] = true
		out = append(out, c)
	}
	return out, nil
}

var (
	slugForm    = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	stationForm = regexp.MustCompile(`^[A-Z0-9]{3,11}$`)
	countryForm = regexp.MustCompile(`^[A-Z]{2}$`)
)

func parseCity(r []string) (c City, err error) {
	c = City{Title: r[0], Question: r[1], Slug: r[2], Country: r[3], Station: r[4], Unit: r[5], Zone: r[8]}
	switch {
	case c.Title == "" || c.Question == "":
		return c, errors.New("title, question: a name is empty")
	case !slugForm.MatchString(c.Slug):
		return c, fmt.Errorf("slug: %q is not lower-case letters joined by hyphens", c.Slug)
	case !countryForm.MatchString(c.Country):
		return c, fmt.Errorf("country: %q is not two capital letters", c.Country)
	case !stationForm.MatchString(c.Station):
		return c, fmt.Errorf("station: %q is not a station code", c.Station)
	case c.Unit != "C" && c.Unit != "F":
		return c, fmt.Errorf("unit: %q is neither C nor F", c.Unit)
	}
	if c.Lat, err = degrees(r[6], 90); err != nil {
		return c, fmt.Errorf("lat: %w", err)
	}
	if c.Lon, err = degrees(r[7], 180); err != nil {
		return c, fmt.Errorf("lon: %w", err)
	}
	if c.Zone == "" {
		return c, errors.New("zone: is empty")
	}
	return c.Located()
}

func degrees(s string, limit float64) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, err
	}
	if !(v >= -limit && v <= limit) {
		return 0, fmt.Errorf("%s is not between -%g and %g", s, limit, limit)
	}
	return v, nil
}

func parseAliases(text string) (map[string]string, error) {
	rows, err := records("aliases.csv", text, "alias,slug")
	out := make(map[string]string, len(rows))
	for _, r := range rows {
		out[r.cells[0]] = r.cells[1]
	}
	return out, err
}

func parseStations(file, text string) (map[string]data.Station, error) {
	rows, err := records(file, text, "id,station,city,name")
	out := make(map[string]data.Station, len(rows))
	for _, r := range rows {
		id, station := r.cells[0], r.cells[1]
		if !stationForm.MatchString(id) || !stationForm.MatchString(station) {
			return nil, fmt.Errorf("%s: line %d: %q or %q is not a station code", file, r.line, id, station)
		}
		out[id] = data.Station{ID: station, City: r.cells[2]}
	}
	return out, err
}
