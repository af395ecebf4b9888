package sample

import (
	"math"
	"slices"
	"time"

	"pmx/data"
	"pmx/data/reference"
)

// cityDay is an event's city and day: the forecast that its ladder was made for, and the size of
// one unit of its path's goal, in degrees of the event's scale.
type cityDay struct {
	city         string
	date         data.Date
	mean, spread float64
	rungs        []bracket
}

// sky is the weather of the venue: every city's highest and lowest temperature of every day, in
// tenths of a degree Celsius. The high of a day with markets lies in the winning bracket.
type sky struct {
	seed   uint64
	cities []reference.City
	traded map[string]map[data.Date]int64 // highs that follow from events
}

func newSky(cfg Config, events []*event) *sky {
	s := &sky{seed: cfg.Seed, cities: reference.Cities(), traded: map[string]map[data.Date]int64{}}
	for _, e := range events {
		if e.climate == nil {
			continue
		}
		if s.traded[e.climate.city] == nil {
			s.traded[e.climate.city] = map[data.Date]int64{}
		}
		s.traded[e.climate.city][e.climate.date] = e.high()
	}
	return s
}

// high is the temperature at the end of the event's path: of the tenths of a degree Celsius that
// round into the winning bracket, the nearest one.
func (e *event) high() int64 {
	d, unit := e.climate, data.Celsius
	v := d.mean + float64(e.path.goal*d.spread)
	winner := slices.IndexFunc(e.markets, func(m *market) bool { return m.result == first })
	if d.spread > 2 { // degrees Fahrenheit
		unit, v = data.Fahrenheit, (v-32)*5/9
	}
	near := int64(math.Round(float64(v * 10)))
	for off := int64(0); off < 40; off++ {
		for _, t := range []int64{near + off, near - off} {
			if winner < 0 || d.rungs[winner].holds(rounded(t, unit)) {
				return t
			}
		}
	}
	return near
}

// rounded returns tenths of a degree Celsius as stations report them: in whole degrees of their
// scale, rounded half up.
func rounded(tenths int64, unit data.Unit) int {
	step := int64(unit.Degree())
	n := 2*(tenths*90-int64(data.Degrees(0, unit))) + step
	return int(math.Floor(float64(n) / float64(2*step)))
}

func (b bracket) holds(degrees int) bool {
	return (b.low || degrees >= b.lo) && (b.high || degrees <= b.hi)
}

// noise returns a random whole number with mean 0 and the given deviation. It is always the same
// for the same city, day and purpose.
func (s *sky) noise(city int, d data.Date, purpose uint64, deviation float64) int64 {
	r := rng{state: word(s.seed, streamWeather, uint64(city)<<32+uint64(uint32(d)), purpose)}
	return int64(math.Round(float64(r.normal() * deviation)))
}

// Purposes of noise. Errors of forecasts use the numbers above these.
const (
	forHigh = iota
	forLow
	forGrid
	forFirstReading
	forHistory
	forErrors
)

// usual is the average high of the city on that day of the year.
func (s *sky) usual(city int, d data.Date) int64 { return climate(s.cities[city].Lat, d.Time()) }

// extremes returns a day's highest and lowest temperature.
func (s *sky) extremes(city int, d data.Date) (high, low int64) {
	high, fixed := s.traded[s.cities[city].Slug][d]
	if !fixed {
		high = s.usual(city, d) + s.noise(city, d, forHigh, 28)
	}
	return high, high - 85 - s.noise(city, d, forLow, 15)
}

// at returns the temperature at a given time: the day's low for an hour around 5:00 local time, its
// high for an hour around 15:00, and straight lines in between, cut off at the day's own extremes
// if the previous or next day is much warmer or colder.
func (s *sky) at(city int, t time.Time) int64 {
	c := s.cities[city]
	d := c.DateOf(t)
	start, _ := c.Day(d)
	minute := int64(t.Sub(start) / time.Minute)
	high, low := s.extremes(city, d)
	before, _ := s.extremes(city, d-1)
	_, after := s.extremes(city, d+1)
	const dawn, noon, day, plateau = 5 * 60, 15 * 60, 24 * 60, 30
	switch {
	case minute < dawn-plateau:
		return within(between(before, low, minute+day-(noon+plateau), dawn-plateau+day-(noon+plateau)), low, high)
	case minute <= dawn+plateau:
		return low
	case minute < noon-plateau:
		return between(low, high, minute-(dawn+plateau), noon-dawn-2*plateau)
	case minute <= noon+plateau:
		return high
	}
	return within(between(high, after, minute-(noon+plateau), dawn-plateau+day-(noon+plateau)), low, high)
}

func within(v, low, high int64) int64 { return min(max(v, low), high) }

func between(from, to, part, whole int64) int64 { return from + (to-from)*part/whole }

// models are the weather models whose forecasts the sample has, with their mean error in tenths of
// a degree.
var models = []struct {
	name string
	bias int64
}{{"gfs_seamless", 4}, {"ecmwf_ifs025", -1}, {"icon_seamless", -3}}

// forecast returns the forecast of a day's extremes that a source gives at a certain time: the true
// values plus an error that grows with every half day of lead time.
func (s *sky) forecast(city int, source uint64, bias int64, d data.Date, at time.Time) (high, low int64) {
	high, low = s.extremes(city, d)
	start, _ := s.cities[city].Day(d)
	steps := max(0, int64(start.Add(15*time.Hour).Sub(at)/(12*time.Hour))+1)
	for k := range steps {
		e := s.noise(city, d, forErrors+source*16+uint64(k), 4)
		high, low = high+e, low+e*2/3
	}
	return high + bias, low + bias
}
