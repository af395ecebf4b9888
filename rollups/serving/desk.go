package serving

import (
	"cmp"
	"reflect"
	"slices"

	"pmx/data"
	"pmx/rollups/weather"
)

// Desk is the weather desk of a snapshot: every city, its trades, and the forecasts and
// measurements of its weather. It is never changed once published.
type Desk struct {
	// VolumeAsOf is when the volumes were computed, unix µs; 0: never.
	VolumeAsOf int64
	Cities     []*DeskCity // in the order of the table
	Sums       DeskVolumes // over all cities
	places     *data.Gazetteer
	bySlug     map[string]int
}

// DeskVolumes are dollars of a city's temperature markets, each market by its takers' fills, or by
// its makers' where it never had any other. Day and Week are UTC calendar days up to the snapshot's
// AsOf: today so far, and the last seven including it.
type DeskVolumes struct{ Day, Week, Lifetime data.Micro }

// Add adds o to v.
func (v *DeskVolumes) Add(o DeskVolumes) {
	v.Day, v.Week, v.Lifetime = v.Day+o.Day, v.Week+o.Week, v.Lifetime+o.Lifetime
}

// DeskCity is one city.
type DeskCity struct {
	City    data.City
	Clock   int64     // newest fill of the venue; without any, forecast or observation of the city; unix µs, 0: none
	Today   data.Date // on its own calendar at Clock; 0 without one
	Volumes DeskVolumes
	// OpenBrackets and OpenEvents can be traded today or later.
	OpenBrackets, OpenEvents int
	// Live says that a source reports whether these markets are active and closed; false: none
	// does, and they are those that are not over and not resolved.
	Live bool
	// Open are the events that can be traded, by day, then high before low, then the canonical one
	// of the day first.
	Open []*DeskEvent
	// Events are all events, in the same order.
	Events  []*DeskEvent
	Weather *CityWeather // nil: nothing is known of its weather
}

// DeskEvent is one city's highest or lowest temperature of one local day, as the
// venue trades it.
type DeskEvent struct {
	Key      string // the event's slug, or its id
	ID       string // Gamma's decimal id
	City     string // slug
	Metric   data.Metric
	Day      data.Date
	Archived bool // its slug says that it was listed again
	// Tiled says that the brackets cover all temperatures exactly once. Without it there are no
	// probabilities.
	Tiled    bool
	Rules    weather.Rules
	Brackets []DeskBracket // from the coldest up
}

// DeskBracket is one market of an event.
type DeskBracket struct {
	Market int32
	weather.Bracket
}

// Compare orders events by day, metric, archived ones last, then by the size and
// letters of their ids.
func (e *DeskEvent) Compare(o *DeskEvent) int {
	archived := func(e *DeskEvent) int {
		if e.Archived {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(e.Day, o.Day), cmp.Compare(e.Metric, o.Metric), archived(e)-archived(o),
		cmp.Compare(len(e.ID), len(o.ID)), cmp.Compare(e.ID, o.ID), cmp.Compare(e.Key, o.Key))
}

// Ladder returns the brackets without their markets.
func (e *DeskEvent) Ladder() []weather.Bracket {
	all := make([]weather.Bracket, len(e.Brackets))
	for i, b := range e.Brackets {
		all[i] = b.Bracket
	}
	return all
}

// Winner returns the place of the bracket that won; −1 if none has yet.
func (e *DeskEvent) Winner(c *Catalog) int {
	return slices.IndexFunc(e.Brackets, func(b DeskBracket) bool {
		m := c.Market(b.Market)
		return m != nil && len(m.Payouts) > 0 && m.Payouts[0] == data.One
	})
}

// Volume is the dollars of all brackets ever.
func (e *DeskEvent) Volume(c *Catalog) (usd data.Micro) {
	for _, b := range e.Brackets {
		if f := c.Figures(b.Market); f != nil {
			usd += f.VolumeUSD
		}
	}
	return usd
}

// NewDesk returns a desk of cities in the order of places.
func NewDesk(places *data.Gazetteer, cities []*DeskCity) *Desk {
	d := &Desk{Cities: cities, places: places, bySlug: make(map[string]int, len(cities))}
	for i, c := range cities {
		d.bySlug[c.City.Slug] = i
		d.Sums.Add(c.Volumes)
	}
	return d
}

// City returns the city of a slug; nil if the desk has none.
func (d *Desk) City(slug string) *DeskCity {
	if d == nil {
		return nil
	}
	i, ok := d.bySlug[slug]
	if !ok {
		return nil
	}
	return d.Cities[i]
}

// Named returns the city with a name, slug or alias.
func (d *Desk) Named(name string) (data.City, bool) {
	if d == nil {
		return data.City{}, false
	}
	return d.places.Named(name)
}

// EventsOf returns the city's events of days from first up to last.
func (c *DeskCity) EventsOf(first, last data.Date) []*DeskEvent {
	day := func(e *DeskEvent, d data.Date) int { return cmp.Compare(e.Day, d) }
	lo, _ := slices.BinarySearchFunc(c.Events, first, day)
	hi, _ := slices.BinarySearchFunc(c.Events, last+1, day)
	return c.Events[lo:hi]
}

// compare notes whether the desk, and each of its cities, is the same in o. The time at which the
// volumes were computed is not compared: an import that changes nothing moves it in the database,
// and publishes nothing.
func (d *Desk) compare(o *Desk, note func(same bool)) {
	if d == nil || o == nil {
		note(d == o)
		return
	}
	note(d.Sums == o.Sums && len(d.Cities) == len(o.Cities))
	for i := range min(len(d.Cities), len(o.Cities)) {
		note(reflect.DeepEqual(d.Cities[i], o.Cities[i]))
	}
}

// Idle reports whether nothing on the desk can be traded.
func (d *Desk) Idle() bool {
	return d == nil || !slices.ContainsFunc(d.Cities, func(c *DeskCity) bool { return len(c.Open) > 0 })
}
