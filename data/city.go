package data

import (
	"fmt"
	"time"
)

// Metric is which extreme of a day a forecast, a measurement or a market is about.
type Metric int8

// The two extremes.
const (
	TMax Metric = 0
	TMin Metric = 1
)

// String returns "tmax" or "tmin".
func (m Metric) String() string {
	if m == TMin {
		return "tmin"
	}
	return "tmax"
}

// ParseMetric reads "tmax" and "tmin"; false for anything else.
func ParseMetric(s string) (Metric, bool) {
	switch s {
	case "tmax":
		return TMax, true
	case "tmin":
		return TMin, true
	}
	return 0, false
}

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

	loc *time.Location
}

// Located returns c with its time zone loaded, which reads files; the error names the zone if it
// does not exist.
func (c City) Located() (City, error) {
	loc, err := c.Location()
	c.loc = loc
	return c, err
}

// Location returns the city's time zone.
func (c City) Location() (*time.Location, error) {
	if c.loc != nil {
		return c.loc, nil
	}
	loc, err := time.LoadLocation(c.Zone)
	if err != nil {
		return nil, fmt.Errorf("zone of %s: %w", c.Slug, err)
	}
	return loc, nil
}

// clock is the zone of a Located city, and UTC for one that is not.
func (c City) clock() *time.Location {
	if c.loc != nil {
		return c.loc
	}
	if loc, err := c.Location(); err == nil {
		return loc
	}
	return time.UTC
}

// DateOf returns the city's local day at t.
func (c City) DateOf(t time.Time) Date { return DateOf(t.In(c.clock())) }

// Day returns the instants at which the city's local day begins and ends. A day is 23 or 25 hours
// long when clocks change; if they change at midnight, a day begins when the clock first shows its
// date.
func (c City) Day(d Date) (start, end time.Time) {
	return c.midnight(d), c.midnight(d + 1)
}

func (c City) midnight(d Date) time.Time {
	y, m, day := d.Time().Date()
	t := time.Date(y, m, day, 0, 0, 0, 0, c.clock())
	if DateOf(t) >= d {
		return t
	}
	_, change := t.ZoneBounds() // midnight was skipped: the day begins at the change
	return change
}

// StandardDay returns the instants of the day on the city's standard time, which climate reports
// and airport summaries keep all year.
func (c City) StandardDay(d Date) (start, end time.Time) {
	y, m, day := d.Time().Date()
	winter := c.standardOffset(y)
	start = time.Date(y, m, day, 0, 0, 0, 0, time.UTC).Add(-winter)
	return start, start.Add(24 * time.Hour)
}

// standardOffset is the smaller of the year's two offsets from UTC. (Ireland and Morocco call the
// other one standard; no summaries from there are read.)
func (c City) standardOffset(year int) time.Duration {
	_, january := time.Date(year, time.January, 1, 12, 0, 0, 0, c.clock()).Zone()
	_, july := time.Date(year, time.July, 1, 12, 0, 0, 0, c.clock()).Zone()
	return time.Duration(min(january, july)) * time.Second
}
