package sample

import (
	"fmt"
	"math"
	"strings"
	"time"

	"pmx/data"
	"pmx/data/reference"
)

const brackets = 11 // nine inner ones and two open-ended ones, as in real ladders since March 2026

// season is the annual cosine at the middle of each month, in thousandths, with its maximum in late
// July, for the northern hemisphere.
var season = [12]int64{-991, -777, -358, 156, 629, 934, 991, 777, 358, -156, -629, -934}

// bracket is one rung of a ladder, in whole degrees of the event's unit. The
// lowest and the highest are open-ended: low has no lo, high has no hi.
type bracket struct {
	lo, hi    int
	low, high bool
}

// weatherDesk adds the daily "Highest temperature in …" events, for the next two days and for as
// many past days as the venue's size allows.
func (p *planner) weatherDesk() error {
	days, n := p.cfg.weatherDays()
	for i, c := range reference.Cities()[:n] {
		loc, err := c.Location()
		if err != nil {
			return err
		}
		for d := -days; d < 2; d++ {
			utc := p.cfg.End.AddDate(0, 0, d)
			day := time.Date(utc.Year(), utc.Month(), utc.Day(), 0, 0, 0, 0, loc)
			if e := p.cityDay(c, day); e != nil {
				p.addDesk(e, i)
			}
		}
	}
	return nil
}

// addDesk adds a ladder with its own market slugs, and sets its weight: cities that were listed
// earlier trade more.
func (p *planner) addDesk(e *event, rank int) {
	p.slugs[e.slug] = true
	size := uint64(20_000 / (40 + rank*8) * (60 + p.r.below(80)) / 100)
	for _, m := range e.markets {
		p.weigh(m, 1+size)
	}
	if turn := p.r.below(brackets * 2); turn < brackets {
		for i := range e.markets {
			e.order = append(e.order, (i+turn)%len(e.markets))
		}
	}
	p.events = append(p.events, e)
	p.markets += len(e.markets)
}

// cityDay returns the ladder of a city's local day, or nil if the day is outside the venue's time.
// Trading opens about two days before the day and ends with it.
func (p *planner) cityDay(c reference.City, day time.Time) *event {
	next := day.AddDate(0, 0, 1)
	e := &event{category: weather, negRisk: true, gameStart: day.Unix()}
	e.openHour = max(0, int(math.Ceil(day.Sub(p.start).Hours()))-38-p.r.below(8))
	e.closeHour = int(math.Ceil(next.Sub(p.start).Hours()))
	if e.openHour >= p.hours || e.closeHour <= e.openHour {
		return nil
	}
	date := day.Format("January 2")
	e.title = fmt.Sprintf("Highest temperature in %s on %s?", c.Title, date)
	e.slug = fmt.Sprintf("highest-temperature-in-%s-on-%s", c.Slug, strings.ToLower(day.Format("January-2-2006")))
	e.series, e.seriesTitle = c.Slug+"-daily-weather", c.Title+" Daily Weather"
	e.tags = []tag{tagWeather, {"103040", "Daily Temperature", "daily-temperature"},
		{"104596", "Highest temperature", "highest-temperature"}, {"101757", "Recurring", "recurring"}}
	e.end = time.Date(day.Year(), day.Month(), day.Day(), 12, 0, 0, 0, time.UTC).Unix()
	e.source, e.description = rules(c, day)
	p.ladder(e, c, day)
	return e
}

// ladder draws the forecast, makes the brackets around it and settles them. The goal of the event's
// path is the deviation of the day from the forecast, in spreads.
func (p *planner) ladder(e *event, c reference.City, day time.Time) {
	forecast := climate(c.Lat, day) + int64(math.Round(float64(p.r.normal()*28)))
	spread, rungs := 1.7, celsius(forecast)
	if c.Unit == "F" {
		forecast = fahrenheit(forecast)
		spread, rungs = 3.0, fahrenheits(forecast)
	}
	e.climate = &cityDay{city: c.Slug, date: data.DateOf(day), mean: float64(forecast) / 10, spread: spread, rungs: rungs}
	for _, b := range rungs {
		label := b.label(c.Unit)
		m := &market{group: label, outcomes: yesNo, tick: 1}
		m.lo, m.hi = b.bounds(float64(forecast)/10, spread)
		m.prior = max(p.normal.at(m.hi)-p.normal.at(m.lo), 1000)
		if !b.low && !b.high && b.lo != b.hi {
			label = "between " + label
		}
		m.question = fmt.Sprintf("Will the highest temperature in %s be %s on %s?", c.Question, label, day.Format("January 2"))
		m.slug = e.slug + "-" + b.slug(c.Unit)
		e.markets = append(e.markets, m)
	}
	p.settle(e)
}

// bounds are the deviations from the forecast that fall into a bracket. Stations report whole
// degrees rounded half up, so brackets meet halfway between degrees.
func (b bracket) bounds(mean, spread float64) (lo, hi float64) {
	lo, hi = -everywhere, everywhere
	if !b.low {
		lo = (float64(b.lo) - 0.5 - mean) / spread
	}
	if !b.high {
		hi = (float64(b.hi) + 0.5 - mean) / spread
	}
	return lo, hi
}

// climate is a plausible daily high for a latitude and day in tenths of °C: a
// mean that falls with the square of the latitude and a season that grows with
// it. It is not a climatology.
func climate(lat float64, day time.Time) int64 {
	abs := math.Abs(lat)
	mean := 330 - float64(float64(0.075*abs)*abs)
	swing := float64(2.2 * abs)
	from, to := season[day.Month()-1], season[int(day.Month())%12]
	phase := from + (to-from)*int64(day.Day()-1)/31
	if lat < 0 {
		phase = -phase
	}
	return int64(math.Round(mean)) + int64(math.Round(swing))*phase/1000
}

func fahrenheit(tenths int64) int64 { return tenths*9/5 + 320 }

// celsius returns one-degree rungs, the open-ended ones five degrees from the forecast.
func celsius(forecast int64) []bracket {
	mid := int(math.Floor(float64(forecast+5) / 10))
	out := []bracket{{hi: mid - 5, low: true}}
	for v := mid - 4; v <= mid+4; v++ {
		out = append(out, bracket{lo: v, hi: v})
	}
	return append(out, bracket{lo: mid + 5, high: true})
}

// fahrenheits returns two-degree rungs that begin on even degrees.
func fahrenheits(forecast int64) []bracket {
	base := int(math.Floor(float64(forecast)/20))*2 - 8
	out := []bracket{{hi: base - 1, low: true}}
	for v := base; v < base+18; v += 2 {
		out = append(out, bracket{lo: v, hi: v + 1})
	}
	return append(out, bracket{lo: base + 18, high: true})
}

// label is the bracket as in Gamma's groupItemTitle: "53°F or below", "54-55°F", "24°C", "32°C or
// higher".
func (b bracket) label(unit string) string {
	switch {
	case b.low:
		return fmt.Sprintf("%d°%s or below", b.hi, unit)
	case b.high:
		return fmt.Sprintf("%d°%s or higher", b.lo, unit)
	case b.lo == b.hi:
		return fmt.Sprintf("%d°%s", b.lo, unit)
	}
	return fmt.Sprintf("%d-%d°%s", b.lo, b.hi, unit)
}

// slug is the end of the market's slug: "53forbelow", "54-55f", "neg-3c".
func (b bracket) slug(unit string) string {
	unit = strings.ToLower(unit)
	switch {
	case b.low:
		return signed(b.hi) + unit + "orbelow"
	case b.high:
		return signed(b.lo) + unit + "orhigher"
	case b.lo == b.hi:
		return signed(b.lo) + unit
	}
	return signed(b.lo) + "-" + signed(b.hi) + unit
}

func signed(v int) string {
	if v < 0 {
		return fmt.Sprintf("neg-%d", -v)
	}
	return fmt.Sprint(v)
}

// rules returns the resolution source and the rule text of a city's day.
func rules(c reference.City, day time.Time) (source, text string) {
	unit, name := "Celsius", "NOAA"
	if c.Unit == "F" {
		unit = "Fahrenheit"
	}
	source = "https://www.weather.gov/wrh/timeseries?site=" + strings.ToLower(c.Station)
	switch c.Slug {
	case "hong-kong":
		name, source = "the Hong Kong Observatory", "https://www.weather.gov.hk/en/cis/climat.htm"
	case "jinan":
		name, source = "Wunderground", "https://www.wunderground.com/history/daily/cn/jinan/ZSJN"
	}
	text = fmt.Sprintf("This market will resolve to the temperature range that contains the highest temperature recorded at the %s station of %s "+
		"in degrees %s on %s.\n\nThe resolution source for this market will be information from %s, specifically the highest reading "+
		"for all times on this day, available here: %s\n\nThe resolution source measures temperatures to whole degrees %s, "+
		"which is the precision used when resolving the market.", c.Station, c.Question, unit, day.Format("2 Jan '06"), name, source, unit)
	return source, text
}
