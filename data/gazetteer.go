package data

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Station is one place where the weather is measured.
type Station struct {
	ID   string // ICAO code, or the service's own: HKO, HKA, 466920
	City string // slug of the city it stands for
}

// Gazetteer knows the cities of the weather desk by every name that sources give
// them, and the stations that measure for them. It is never changed once made.
type Gazetteer struct {
	cities   []City
	bySlug   map[string]int
	byName   map[string]int // by folded name
	stations map[string]Station
}

// NewGazetteer makes a Gazetteer. aliases has further names of a city by its slug; stations has
// every id of a station, not necessarily including the settling stations of the cities. It is an
// error if a name or id means two things.
func NewGazetteer(cities []City, aliases map[string]string, stations map[string]Station) (*Gazetteer, error) {
	g := &Gazetteer{bySlug: map[string]int{}, byName: map[string]int{}, stations: map[string]Station{}}
	for _, c := range cities {
		located, err := c.Located()
		if err != nil {
			return nil, err
		}
		if _, twice := g.bySlug[c.Slug]; twice {
			return nil, fmt.Errorf("the city %s is listed twice", c.Slug)
		}
		g.bySlug[c.Slug] = len(g.cities)
		g.cities = append(g.cities, located)
		if err := g.addStation(c.Station, Station{ID: c.Station, City: c.Slug}); err != nil {
			return nil, err
		}
	}
	for i, c := range cities {
		for _, name := range []string{c.Slug, c.Title, c.Question} {
			if err := g.addName(name, i); err != nil {
				return nil, err
			}
		}
	}
	for alias, slug := range aliases {
		i, ok := g.bySlug[slug]
		if !ok {
			return nil, fmt.Errorf("the name %q is for the city %q, which is not in the table", alias, slug)
		}
		if err := g.addName(alias, i); err != nil {
			return nil, err
		}
	}
	for id, s := range stations {
		if err := g.addStation(id, s); err != nil {
			return nil, err
		}
	}
	return g, nil
}

func (g *Gazetteer) addName(name string, i int) error {
	key := FoldName(name)
	if j, taken := g.byName[key]; taken && j != i {
		return fmt.Errorf("the name %q means both %s and %s", name, g.cities[j].Slug, g.cities[i].Slug)
	}
	g.byName[key] = i
	return nil
}

func (g *Gazetteer) addStation(id string, s Station) error {
	if _, ok := g.bySlug[s.City]; !ok {
		return fmt.Errorf("the station %s belongs to the city %q, which is not in the table", id, s.City)
	}
	if old, taken := g.stations[id]; taken && old != s {
		return fmt.Errorf("the station %s is listed for both %s and %s", id, old.City, s.City)
	}
	g.stations[id] = s
	return nil
}

// Cities returns all cities in table order; the slice is the caller's own.
func (g *Gazetteer) Cities() []City { return slices.Clone(g.cities) }

// City returns the city of a slug.
func (g *Gazetteer) City(slug string) (City, bool) {
	i, ok := g.bySlug[slug]
	if !ok {
		return City{}, false
	}
	return g.cities[i], true
}

// Named returns the city of a name, slug or alias, whatever its case, accents and hyphens: "São
// Paulo", "NYC", "la". Only whole names count: Manila is not LA.
func (g *Gazetteer) Named(name string) (City, bool) {
	i, ok := g.byName[FoldName(name)]
	if !ok {
		return City{}, false
	}
	return g.cities[i], true
}

// Station returns the station of an id of any network, and its city: an ICAO code in any letter
// case, a GHCN id, or the three letters that a US code has after its K.
func (g *Gazetteer) Station(id string) (Station, City, bool) {
	id = strings.ToUpper(strings.TrimSpace(id))
	s, ok := g.stations[id]
	if !ok && len(id) == 3 {
		s, ok = g.stations["K"+id]
	}
	if !ok {
		return Station{}, City{}, false
	}
	return s, g.cities[g.bySlug[s.City]], true
}

// Nearest returns the city whose position is nearest to a point, and the distance in kilometres;
// false for an empty table.
func (g *Gazetteer) Nearest(lat, lon float64) (c City, km float64, ok bool) {
	km = math.Inf(1)
	for _, next := range g.cities {
		if d := next.Distance(lat, lon); d < km {
			c, km, ok = next, d, true
		}
	}
	return c, km, ok
}

// Distance returns the kilometres from the city's position to a point, on a sphere.
func (c City) Distance(lat, lon float64) float64 {
	const radius = 6371.0
	rad := math.Pi / 180
	a, b := c.Lat*rad, lat*rad
	dLat, dLon := (lat-c.Lat)*rad, (lon-c.Lon)*rad
	h := math.Pow(math.Sin(dLat/2), 2) + math.Cos(a)*math.Cos(b)*math.Pow(math.Sin(dLon/2), 2)
	return 2 * radius * math.Asin(math.Min(1, math.Sqrt(h)))
}

// FoldName writes a name for comparison: lower case, Latin letters without
// accents, words joined by one hyphen, nothing else. "São  Paulo" and "sao-paulo"
// are one.
func FoldName(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(s) {
		r = unaccented(r)
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(r)
		case r >= 0x300 && r <= 0x36F, r == '.', r == '\'', r == '’': // accents of their own, marks
		default:
			gap = true
		}
	}
	return b.String()
}

// accents lists the lower-case Latin letters with marks that names of cities have,
// each group after its bare letter.
const accents = "aàáâãäåāăą cçćč dďđ eèéêëēėęě gğ iìíîïīįı lł nñńň oòóôõöøō rř sśšş tťţ uùúûüūůű yýÿ zźżž"

func unaccented(r rune) rune {
	if r < 0x80 {
		return r
	}
	for _, group := range strings.Fields(accents) {
		if strings.ContainsRune(group, r) {
			return rune(group[0])
		}
	}
	return r
}
