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
	"pmx/rollups/query"
	"pmx/rollups/serving"
	"pmx/rollups/weather"
)

// How many local days before and after today a city's weather has at most.
const (
	weatherPast  = 14
	weatherAhead = 16
)

// LoadCityWeather reads the weather of cities, each as of its clock, unix µs. It reads all of them
// with a few statements, which write temporary tables of conn. A city about which nothing is known
// has an entry, too.
func LoadCityWeather(ctx context.Context, conn *sql.Conn, cities []data.City, clock func(slug string) int64) (map[string]*serving.CityWeather, error) {
	if len(cities) == 0 {
		return map[string]*serving.CityWeather{}, nil
	}
	r := newCityReader(ctx, conn, cities, clock)
	steps := []func() error{r.places, r.events, r.readings, r.measured, r.reported, r.normals, r.truths, r.skills}
	var anything bool
	if err := conn.QueryRowContext(ctx, statements.Get("AnyCityWeather")).Scan(&anything); err != nil {
		return nil, fmt.Errorf("weather of cities: %w", err)
	}
	if !anything {
		steps = nil
	}
	for _, step := range steps {
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

// cityReader reads the weather of some cities once, with its context ctx.
type cityReader struct {
	ctx    context.Context
	conn   *sql.Conn
	cities map[string]*cityDays
	// The days that the cities need: the first of truths, and the earliest and latest today.
	since, first, last data.Date
}

// cityDays is a city's weather while it is read.
type cityDays struct {
	*serving.CityWeather
	settled [2]map[data.Date]settling
	days    map[dayKey]*serving.WeatherExtreme
}

// settling is how the event of a day settles, and which bracket won.
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

// cityRow is the first column of what is read of a city.
type cityRow struct {
	City string `sql:"city"`
}

func (r *cityRow) city() string { return r.City }

// eachOf passes the rows of a statement to f, with the city that they name.
func eachOf[T any, P interface {
	*T
	city() string
}](r *cityReader, name string, f func(c *cityDays, row P), replace ...string) error {
	replace = append(replace, "@since", strconv.Itoa(int(r.since)), "@today", strconv.Itoa(int(r.first)))
	err := engine.EachRow(r.ctx, r.conn, statements.Get(name, replace...), func(row *T) error {
		if c := r.cities[P(row).city()]; c != nil {
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

// at returns the extreme of a day to write to.
func (c *cityDays) at(day data.Date, metric data.Metric) *serving.WeatherExtreme {
	key := dayKey{day, metric}
	x := c.days[key]
	if x == nil {
		x = &serving.WeatherExtreme{}
		c.days[key] = x
	}
	return x
}

func (r *cityReader) events() error {
	type eventRow struct {
		cityRow
		Metric   data.Metric      `sql:"metric"`
		Day      data.Date        `sql:"day"`
		Station  string           `sql:"station"`
		Unit     *string          `sql:"unit"` // nil: nothing won
		Rounding weather.Rounding `sql:"rounding,null"`
		Lo       *int             `sql:"lo"`
		Hi       *int             `sql:"hi"`
	}
	return eachOf(r, "CityEvents", func(c *cityDays, row *eventRow) {
		of := c.settled[row.Metric]
		if _, canonical := of[row.Day]; canonical {
			return
		}
		s := settling{station: row.Station}
		if row.Unit != nil {
			unit, _ := data.ParseUnit(*row.Unit)
			s.won = &weather.Settled{Rounding: row.Rounding, Bracket: bracket(row.Lo, row.Hi, unit)}
		}
		of[row.Day] = s
	})
}

// settles reports how a day of the city settles: as its event says, else as the city's events of
// that day did.
func (c *cityDays) settles(m data.Metric, day data.Date) settling {
	if s, ok := c.settled[m][day]; ok {
		return s
	}
	return settling{station: weather.UsualRules(c.City, day).Station}
}

func (r *cityReader) readings() error {
	type readingRow struct {
		cityRow
		query.ReadingRow
	}
	return eachOf(r, "CityReadings", func(c *cityDays, row *readingRow) {
		x := c.at(row.Target, row.Metric)
		x.Readings = append(x.Readings, serving.WeatherReading{RunAt: row.RunAt, Reading: weather.Reading{Source: row.Source,
			IssuedAt: row.IssuedAt, ConfirmedAt: row.ConfirmedAt, Value: row.Value, Members: row.Members}})
	})
}

func (r *cityReader) measured() error {
	type dayRow struct {
		cityRow
		Station       string     `sql:"station"`
		Source        string     `sql:"source"`
		Day           data.Date  `sql:"day"`
		Max           data.Temp  `sql:"max"`
		Min           data.Temp  `sql:"min"`
		WholeMax      *data.Temp `sql:"whole_max"`
		WholeMin      *data.Temp `sql:"whole_min"`
		Observations  int64      `sql:"observations"`
		FirstTS       int64      `sql:"first_ts"`
		LastTS        int64      `sql:"last_ts"`
		SeenAt        int64      `sql:"seen_at"`
		Running       bool       `sql:"running"`
		BoundMax      data.Temp  `sql:"bound_max"`
		BoundMin      data.Temp  `sql:"bound_min"`
		WholeBoundMax *data.Temp `sql:"whole_bound_max"`
		WholeBoundMin *data.Temp `sql:"whole_bound_min"`
	}
	return eachOf(r, "CityMeasured", func(c *cityDays, row *dayRow) {
		n, running := row.Observations, row.Running
		add := func(m data.Metric, value, bound data.Temp, whole, wholeBound *data.Temp) {
			x := c.at(row.Day, m)
			x.Actuals = append(x.Actuals, serving.WeatherActual{Kind: data.KindStation, Source: row.Source, Station: row.Station,
				Value: value, FirstValue: value, Observations: &n, FirstTS: row.FirstTS, LastTS: row.LastTS, Whole: whole,
				Bound: bound, WholeBound: wholeBound, Provisional: &running, SeenAt: row.SeenAt})
		}
		add(data.TMax, row.Max, row.BoundMax, row.WholeMax, row.WholeBoundMax)
		add(data.TMin, row.Min, row.BoundMin, row.WholeMin, row.WholeBoundMin)
	})
}

func (r *cityReader) reported() error {
	type reportRow struct {
		cityRow
		Day         data.Date       `sql:"day"`
		Metric      data.Metric     `sql:"metric"`
		Kind        data.ActualKind `sql:"kind"`
		Source      string          `sql:"source"`
		Station     string          `sql:"station,null"`
		Value       data.Temp       `sql:"value"`
		FirstValue  data.Temp       `sql:"first_value"`
		RevisedAt   int64           `sql:"revised_at,null"`
		Revisions   int64           `sql:"revisions"`
		Provisional *bool           `sql:"provisional"`
		Shift       int32           `sql:"shift,null"`
		SeenAt      int64           `sql:"seen_at"`
	}
	return eachOf(r, "CityReported", func(c *cityDays, row *reportRow) {
		x := c.at(row.Day, row.Metric)
		x.Actuals = append(x.Actuals, serving.WeatherActual{Kind: row.Kind, Source: row.Source, Station: row.Station,
			Value: row.Value, FirstValue: row.FirstValue, RevisedAt: row.RevisedAt, Revisions: row.Revisions,
			Provisional: row.Provisional, Shift: row.Shift, SeenAt: row.SeenAt})
	})
}

// normals reads the normals of the days in view.
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
	type normalRow struct {
		cityRow
		Metric    data.Metric `sql:"metric"`
		MonthDay  int         `sql:"month_day"`
		Source    string      `sql:"source"`
		Station   string      `sql:"station,null"`
		Period    string      `sql:"period,null"`
		Value     data.Temp   `sql:"value"`
		Deviation *data.Temp  `sql:"deviation"`
		P10       *data.Temp  `sql:"p10"`
		P90       *data.Temp  `sql:"p90"`
		Years     int32       `sql:"years,null"`
	}
	err := eachOf(r, "CityNormals", func(c *cityDays, row *normalRow) {
		k := key(c.City.Slug, row.Metric, row.MonthDay)
		known[k] = append(known[k], serving.WeatherNormal{Source: row.Source, Station: row.Station, Period: row.Period, Years: row.Years,
			Normal: weather.Normal{Value: row.Value, Deviation: row.Deviation, P10: row.P10, P90: row.P90}})
	}, "@days", strings.Join(days, ", "))
	if err != nil {
		return err
	}
	for slug, c := range r.cities {
		for d := c.Today - weatherPast; d <= c.Today+weatherAhead; d++ {
			for _, m := range []data.Metric{data.TMax, data.TMin} {
				if list := known[key(slug, m, d.MonthDay())]; list != nil {
					x := c.at(d, m)
					x.Normals = serving.SortNormals(list, c.settles(m, d).station)
				}
			}
		}
	}
	return nil
}

// truths works out the final extremes of the days before today.
func (r *cityReader) truths() error {
	var rows [][]driver.Value
	for slug, c := range r.cities {
		for d := c.Today - weather.SkillDays; d < c.Today; d++ {
			for _, m := range []data.Metric{data.TMax, data.TMin} {
				x := c.at(d, m)
				of := c.settles(m, d)
				truth, ok := weather.TruthOf(of.station, measuredOf(x.Actuals), of.won)
				if ok {
					x.Truth, x.Won = &truth, of.won
					rows = append(rows, append([]driver.Value{slug, int8(m), int32(d), int32(truth.Value)}, wonFrom(of.won)...))
				}
			}
		}
	}
	return r.fill("TruthsEmpty", "n_truth", rows)
}

// wonFrom is whether a bracket won, and the range of forecasts that fall into it; an open end is NULL.
func wonFrom(won *weather.Settled) []driver.Value {
	if won == nil {
		return []driver.Value{false, nil, nil}
	}
	iv := won.Bracket.Interval(won.Rounding)
	row := []driver.Value{true, int32(iv.From), int32(iv.To)}
	if iv.Unbounded {
		row[1] = nil
	}
	if iv.Endless {
		row[2] = nil
	}
	return row
}

// measuredOf returns the measurements of stations.
func measuredOf(actuals []serving.WeatherActual) (list []weather.Measured) {
	for _, a := range actuals {
		if a.Kind == data.KindStation {
			list = append(list, a.Measured())
		}
	}
	return list
}

func (r *cityReader) skills() error {
	type skillRow struct {
		cityRow
		Source       string      `sql:"source"`
		Metric       data.Metric `sql:"metric"`
		LeadDay      int         `sql:"lead_day"`
		N            int64       `sql:"n"`
		Sum          int64       `sql:"sum"`
		Absolute     int64       `sql:"absolute"`
		SquareErrors int64       `sql:"square_errors"`
		Settled      int64       `sql:"settled"`
		Hits         int64       `sql:"hits"`
	}
	err := eachOf(r, "CitySkills", func(c *cityDays, row *skillRow) {
		e := weather.Errors{N: row.N, Sum: row.Sum, Absolute: row.Absolute, SquareErrors: row.SquareErrors, Settled: row.Settled, Hits: row.Hits}
		key := weather.SkillKey{Source: row.Source, Metric: row.Metric, Lead: row.LeadDay}
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
