package rollups

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pmx/data"
	"pmx/engine"
	"pmx/rollups/serving"
	"pmx/rollups/weather"
)

// How many local days before and after today a city's weather has at most.
const (
	weatherPast  = 14
	weatherAhead = 16
)

// LoadCityWeather reads the weather of cities, each as of its clock, unix µs: all of them with
// the same few statements, which write temporary tables of conn. A city of which
// nothing is known has an entry all the same.
func LoadCityWeather(ctx context.Context, conn *sql.Conn, cities []data.City, clock func(slug string) int64) (map[string]*serving.CityWeather, error) {
	if len(cities) == 0 {
		return map[string]*serving.CityWeather{}, nil
	}
	r := newCityReader(ctx, conn, cities, clock)
	for _, step := range []func() error{r.places, r.events, r.readings, r.measured, r.reported, r.normals, r.truths, r.skills} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("weather of cities: %w", err)
		}
	}
	out := make(map[string]*serving.CityWeather, len(cities))
	for slug, c := range r.cities {
		out[slug] = c.finish()
	}
	return out, nil
}

// cityReader reads the weather of some cities.
type cityReader struct {
	ctx    context.Context
	conn   *sql.Conn
	cities map[string]*cityDays
	// The days that any of the cities needs: since when truths are, when today is first
	// and last.
	since, first, last data.Date
}

// cityDays is a city's weather while it is read.
type cityDays struct {
	*serving.CityWeather
	settled [2]map[data.Date]settling
	days    map[dayKey]*serving.WeatherExtreme
}

// settling is how the event of a day settles, and what won.
type settling struct {
	station string
	won     *weather.Settled
}

type dayKey struct {
	day    data.Date
	metric data.Metric
}

func newCityReader(ctx context.Context, conn *sql.Conn, cities []data.City, clock func(slug string) int64) *cityReader {
	r := &cityReader{ctx: ctx, conn: conn, cities: make(map[string]*cityDays, len(cities))}
	for i, c := range cities {
		today := c.DateOf(time.UnixMicro(clock(c.Slug)))
		r.cities[c.Slug] = &cityDays{CityWeather: &serving.CityWeather{City: c, Today: today}, days: map[dayKey]*serving.WeatherExtreme{},
			settled: [2]map[data.Date]settling{{}, {}}}
		if i == 0 || today < r.first {
			r.first = today
		}
		r.last = max(r.last, today)
	}
	r.since = r.first - weather.SkillDays
	return r
}

// fill makes a temporary table of the rows.
func (r *cityReader) fill(name, table string, rows [][]driver.Value) error {
	if err := execNamed(r.ctx, r.conn, name); err != nil {
		return err
	}
	return engine.AppendTemp(r.conn, table, len(rows), func(i int) []driver.Value { return rows[i] })
}

// each hands the rows of a statement to f, with the city that their first column
// names.
func (r *cityReader) each(name string, f func(c *cityDays, row []driver.Value), replace ...string) error {
	replace = append(replace, "@since", strconv.Itoa(int(r.since)), "@today", strconv.Itoa(int(r.first)))
	err := engine.Each(r.ctx, r.conn, statements.Get(name, replace...), func(row []driver.Value) error {
		if c := r.cities[engine.Text(row[0])]; c != nil {
			f(c, row)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (r *cityReader) places() error {
	var rows [][]driver.Value
	for slug, c := range r.cities {
		for day := c.Today; day <= c.Today+weatherAhead; day++ {
			_, end := c.City.Day(day)
			rows = append(rows, []driver.Value{slug, int32(day), end.UnixMicro()})
		}
	}
	return r.fill("PlacesEmpty", "n_place", rows)
}

// at gives the extreme of a day to write to; the metric's and the day's columns are
// those numbers of row.
func (c *cityDays) at(row []driver.Value, day, metric int) *serving.WeatherExtreme {
	key := dayKey{data.Date(engine.Int(row[day])), data.Metric(engine.Int(row[metric]))}
	x := c.days[key]
	if x == nil {
		x = &serving.WeatherExtreme{}
		c.days[key] = x
	}
	return x
}

func (r *cityReader) events() error {
	return r.each("CityEvents", func(c *cityDays, row []driver.Value) {
		of, day := c.settled[engine.Int(row[1])], data.Date(engine.Int(row[2]))
		if _, canonical := of[day]; canonical {
			return
		}
		s := settling{station: engine.Text(row[3])}
		if row[4] != nil {
			unit, _ := data.ParseUnit(engine.Text(row[4]))
			s.won = &weather.Settled{Rounding: weather.Rounding(engine.Int(row[5])), Bracket: weather.Bracket{
				Lo: int(engine.Int(row[6])), Hi: int(engine.Int(row[7])), OpenLow: row[6] == nil, OpenHigh: row[7] == nil, Unit: unit}}
		}
		of[day] = s
	})
}

// settles tells how a day of the city settles: as its event says, else as the
// city's events of that day did.
func (c *cityDays) settles(m data.Metric, day data.Date) settling {
	if s, ok := c.settled[m][day]; ok {
		return s
	}
	return settling{station: weather.UsualRules(c.City, day).Station}
}

func (r *cityReader) readings() error {
	return r.each("CityReadings", func(c *cityDays, row []driver.Value) {
		x := c.at(row, 1, 2)
		reading := serving.WeatherReading{RunAt: engine.Int(row[6]), Reading: weather.Reading{Source: engine.Text(row[3]),
			IssuedAt: engine.Int(row[4]), ConfirmedAt: engine.Int(row[5]), Value: data.Temp(engine.Int(row[7]))}}
		if members, _ := row[8].([]any); len(members) > 0 {
			reading.Members = make([]data.Temp, len(members))
			for i, m := range members {
				reading.Members[i] = data.Temp(engine.Int(m))
			}
		}
		x.Readings = append(x.Readings, reading)
	})
}

func (r *cityReader) measured() error {
	return r.each("CityMeasured", func(c *cityDays, row []driver.Value) {
		for metric := range []data.Metric{data.TMax, data.TMin} {
			value, n, running := data.Temp(engine.Int(row[4+metric])), engine.Int(row[8]), row[12] == true
			x := c.at([]driver.Value{row[3], int8(metric)}, 0, 1)
			x.Actuals = append(x.Actuals, serving.WeatherActual{Kind: data.KindStation, Source: engine.Text(row[2]), Station: engine.Text(row[1]),
				Value: value, FirstValue: value, Observations: &n, FirstTS: engine.Int(row[9]), LastTS: engine.Int(row[10]), Whole: optional(row[6+metric]),
				Bound: data.Temp(engine.Int(row[13+metric])), WholeBound: optional(row[15+metric]), Provisional: &running, SeenAt: engine.Int(row[11])})
		}
	})
}

func (r *cityReader) reported() error {
	return r.each("CityReported", func(c *cityDays, row []driver.Value) {
		x := c.at(row, 1, 2)
		a := serving.WeatherActual{Kind: data.ActualKind(engine.Int(row[3])), Source: engine.Text(row[4]), Station: engine.Text(row[5]),
			Value: data.Temp(engine.Int(row[6])), FirstValue: data.Temp(engine.Int(row[7])), RevisedAt: engine.Int(row[8]), Revisions: engine.Int(row[9]),
			Shift: int32(engine.Int(row[11])), SeenAt: engine.Int(row[12])}
		if known, ok := row[10].(bool); ok {
			a.Provisional = &known
		}
		x.Actuals = append(x.Actuals, a)
	})
}

// optional gives a temperature that may be NULL.
func optional(v driver.Value) *data.Temp {
	if v == nil {
		return nil
	}
	t := data.Temp(engine.Int(v))
	return &t
}

// normals reads what the days in view are usually like.
func (r *cityReader) normals() error {
	var days []string
	seen := map[int]bool{}
	for d := r.first - weatherPast; d <= r.last+weatherAhead; d++ {
		if md := d.MonthDay(); !seen[md] {
			seen[md] = true
			days = append(days, strconv.Itoa(md))
		}
	}
	known := map[string][]serving.WeatherNormal{}
	key := func(slug string, metric data.Metric, md int) string { return fmt.Sprint(slug, " ", metric, " ", md) }
	err := r.each("CityNormals", func(c *cityDays, row []driver.Value) {
		k := key(c.City.Slug, data.Metric(engine.Int(row[1])), int(engine.Int(row[2])))
		known[k] = append(known[k], serving.WeatherNormal{Source: engine.Text(row[3]), Station: engine.Text(row[4]), Period: engine.Text(row[5]),
			Years:  int32(engine.Int(row[10])),
			Normal: weather.Normal{Value: data.Temp(engine.Int(row[6])), Deviation: optional(row[7]), P10: optional(row[8]), P90: optional(row[9])}})
	}, "@days", strings.Join(days, ", "))
	if err != nil {
		return err
	}
	for slug, c := range r.cities {
		for d := c.Today - weatherPast; d <= c.Today+weatherAhead; d++ {
			for _, m := range []data.Metric{data.TMax, data.TMin} {
				if list := known[key(slug, m, d.MonthDay())]; list != nil {
					x := c.at([]driver.Value{int32(d), int8(m)}, 0, 1)
					x.Normals = serving.SortNormals(list, c.settles(m, d).station)
				}
			}
		}
	}
	return nil
}

// truths works out what the days before today came to.
func (r *cityReader) truths() error {
	var rows [][]driver.Value
	for slug, c := range r.cities {
		for d := c.Today - weather.SkillDays; d < c.Today; d++ {
			for _, m := range []data.Metric{data.TMax, data.TMin} {
				x := c.at([]driver.Value{int32(d), int8(m)}, 0, 1)
				of := c.settles(m, d)
				truth, ok := weather.TruthOf(of.station, measuredOf(x.Actuals), of.won)
				if ok {
					x.Truth = &truth
					rows = append(rows, []driver.Value{slug, int8(m), int32(d), int32(truth.Value)})
				}
			}
		}
	}
	return r.fill("TruthsEmpty", "n_truth", rows)
}

// measuredOf gives what stations say.
func measuredOf(actuals []serving.WeatherActual) (list []weather.Measured) {
	for _, a := range actuals {
		if a.Kind == data.KindStation {
			list = append(list, a.Measured())
		}
	}
	return list
}

func (r *cityReader) skills() error {
	err := r.each("CitySkills", func(c *cityDays, row []driver.Value) {
		e := weather.Errors{N: engine.Int(row[4]), Sum: engine.Int(row[5]), Absolute: engine.Int(row[6]), SquareErrors: engine.Int(row[7])}
		key := weather.SkillKey{Source: engine.Text(row[1]), Metric: data.Metric(engine.Int(row[2])), Lead: int(engine.Int(row[3]))}
		c.Skills = append(c.Skills, serving.CitySkill{SkillKey: key, Skill: *e.Skill()})
	}, "@consensus", weather.ConsensusSource)
	_, drop := r.conn.ExecContext(r.ctx, statements.Get("TruthsEmpty"))
	return errors.Join(err, drop)
}

// finish puts the days in order.
func (c *cityDays) finish() *serving.CityWeather {
	w := c.CityWeather
	slices.SortFunc(w.Skills, func(a, b serving.CitySkill) int { return a.SkillKey.Compare(b.SkillKey) })
	last := w.Today
	for k, x := range c.days {
		if len(x.Readings) > 0 {
			last = max(last, k.day)
		}
	}
	for d := w.Today - weatherPast; d <= last; d++ {
		day := serving.WeatherDay{Day: d}
		for m := range day.Extremes {
			metric := data.Metric(m)
			if x := c.days[dayKey{d, metric}]; x != nil {
				day.Extremes[m] = *x
			}
			day.Extremes[m].Station = c.settles(metric, d).station
			slices.SortStableFunc(day.Extremes[m].Actuals, func(a, b serving.WeatherActual) int { return cmp.Compare(a.Kind, b.Kind) })
		}
		w.Days = append(w.Days, day)
	}
	return w
}
