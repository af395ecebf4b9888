package openmeteo

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"pmx/data"
	"pmx/data/feeds/shape"
)

// maxShift is the maximum by which a day may differ from the city's: the hour of a change of
// clocks.
const maxShift = 3600

// seriesKey identifies a series.
type seriesKey struct {
	model    string
	previous int
	metric   data.Metric
}

// gather reads the tables: days as given, and days computed from hours if they are missing or do
// not match the city's days.
func (r *reading) gather() ([]*series, error) {
	all := map[seriesKey]*series{}
	if err := r.hours(all); err != nil {
		return nil, err
	}
	if err := r.days(all); err != nil {
		return nil, err
	}
	keys := slices.SortedFunc(maps.Keys(all), func(a, b seriesKey) int {
		return slices.Compare([]string{a.model, strconv.Itoa(a.previous + 10), a.metric.String()},
			[]string{b.model, strconv.Itoa(b.previous + 10), b.metric.String()})
	})
	out := make([]*series, len(keys))
	for i, k := range keys {
		out[i] = all[k]
	}
	return out, nil
}

func seriesOf(all map[seriesKey]*series, k seriesKey) *series {
	s := all[k]
	if s == nil {
		s = &series{model: k.model, previous: k.previous, metric: k.metric, days: map[data.Date]*dayValues{}}
		all[k] = s
	}
	return s
}

// keysOf returns the keys of a table that are temperatures, in order, each with its unit. Every
// such row must be as long as the row of times.
func keysOf(table map[string]column, units map[string]shape.Text, hourly bool) ([]string, error) {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(table)) {
		n, ok := parseName(key)
		if !ok || (n.daily == "") != hourly {
			continue
		}
		if len(table[key]) != len(table["time"]) {
			return nil, shape.Bad("bad_series", "%s has %d values for %d times", key, len(table[key]), len(table["time"]))
		}
		if _, err := units[key].Unit(); err != nil {
			return nil, err
		}
		out = append(out, key)
	}
	return out, nil
}

// days reads the daily table. A day that was computed from hours is kept, unless the table's day
// matches the city's.
func (r *reading) days(all map[seriesKey]*series) error {
	keys, err := keysOf(r.Daily, r.DailyUnit, false)
	if err != nil || len(keys) == 0 {
		return err
	}
	dates, shifts, err := r.dates()
	if err != nil {
		return err
	}
	for _, key := range keys {
		n, _ := parseName(key)
		metric := data.TMax
		if n.daily == "min" {
			metric = data.TMin
		}
		unit, err := r.DailyUnit[key].Unit()
		if err != nil {
			return err
		}
		s := seriesOf(all, seriesKey{n.model, n.previous, metric})
		for i, text := range r.Daily[key] {
			v, ok, err := text.Temp(unit)
			if err != nil {
				return err
			}
			if ok {
				s.put(dates[i], shifts[i], n.member, v, unit)
			}
		}
	}
	return nil
}

func (s *series) put(d data.Date, shift int32, member int, v data.Temp, unit data.Unit) {
	day := s.days[d]
	if day != nil && !day.last.IsZero() {
		if shift != 0 || s.previous > 0 {
			return
		}
		day = nil
	}
	if day == nil {
		day = &dayValues{values: map[int]data.Temp{}, unit: unit, shift: shift}
		s.days[d] = day
	}
	day.values[member] = v
}

// dates returns the days of the daily table, and how many seconds after the city's day each begins.
func (r *reading) dates() ([]data.Date, []int32, error) {
	dates, shifts := make([]data.Date, len(r.Daily["time"])), make([]int32, len(r.Daily["time"]))
	for i, text := range r.Daily["time"] {
		d, err := r.date(text)
		if err != nil {
			return nil, nil, err
		}
		begin, err := r.begin(d)
		if err != nil {
			return nil, nil, err
		}
		start, _ := r.city.Day(d)
		dates[i], shifts[i] = d, int32(begin.Sub(start)/time.Second)
	}
	return dates, shifts, nil
}

// date parses a day: YYYY-MM-DD, or unix seconds of its beginning.
func (r *reading) date(text shape.Text) (data.Date, error) {
	if n, err := strconv.ParseInt(text.Trim(), 10, 64); err == nil {
		if r.Offset == nil {
			return 0, shape.Known("no_zone")
		}
		return data.DateOf(time.Unix(n+*r.Offset, 0).UTC()), nil
	}
	return text.Date()
}

// begin returns when a day of the response begins. Open-Meteo uses the offset at the time of the
// request for all days, in winter and summer.
func (r *reading) begin(d data.Date) (time.Time, error) {
	if r.Offset != nil {
		return d.Time().Add(-time.Duration(*r.Offset) * time.Second), nil
	}
	zone := data.City{Zone: r.Timezone.Trim()}
	if zone.Zone == r.city.Zone {
		zone = r.city
	}
	located, err := zone.Located()
	if err != nil || zone.Zone == "" {
		return time.Time{}, shape.Known("no_zone")
	}
	start, _ := located.Day(d)
	return start, nil
}

// hours computes days from the hourly table: the extremes of all hours of the city's day, whatever
// the table's offset. A day with a missing hour is left out.
func (r *reading) hours(all map[seriesKey]*series) error {
	keys, err := keysOf(r.Hourly, r.HourlyUnit, true)
	if err != nil || len(keys) == 0 {
		return err
	}
	if r.Offset == nil && len(r.Daily) > 0 {
		return nil
	}
	if r.Offset == nil {
		return shape.Known("no_zone")
	}
	times := make([]time.Time, len(r.Hourly["time"]))
	for i, text := range r.Hourly["time"] {
		if times[i], err = instant(text.Trim(), *r.Offset); err != nil {
			return err
		}
	}
	whole := r.wholeDays(times)
	for _, key := range keys {
		n, _ := parseName(key)
		if r.kind == previousRuns && n.previous == 0 {
			continue // the newest run: how far ahead is not known
		}
		unit, err := r.HourlyUnit[key].Unit()
		if err != nil {
			return err
		}
		for _, span := range whole {
			if err := r.span(all, n, unit, r.Hourly[key][span.from:span.to], span.date, times[span.to-1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// span adds the extremes of one day's hours to the series of both metrics.
func (r *reading) span(all map[seriesKey]*series, n name, unit data.Unit, hours column, d data.Date, last time.Time) error {
	var low, high data.Temp
	for i, text := range hours {
		v, ok, err := text.Temp(unit)
		if err != nil {
			return err
		}
		if !ok {
			return nil
		}
		if i == 0 {
			low, high = v, v
		}
		low, high = min(low, v), max(high, v)
	}
	for metric, v := range map[data.Metric]data.Temp{data.TMax: high, data.TMin: low} {
		s := seriesOf(all, seriesKey{n.model, n.previous, metric})
		day := s.days[d]
		if day == nil {
			day = &dayValues{values: map[int]data.Temp{}, unit: unit, last: last}
			s.days[d] = day
		}
		day.values[n.member] = v
	}
	return nil
}

// daySpan is a range of rows of the hourly table that form one day of the city.
type daySpan struct {
	date     data.Date
	from, to int
}

// wholeDays finds the city's days for which the table has every step.
func (r *reading) wholeDays(times []time.Time) []daySpan {
	if len(times) < 2 {
		return nil
	}
	step := times[1].Sub(times[0])
	if step <= 0 || step > 6*time.Hour {
		return nil
	}
	var out []daySpan
	for from := 0; from < len(times); {
		d := r.city.DateOf(times[from])
		start, end := r.city.Day(d)
		to := from
		for to < len(times) && !times[to].Before(start) && times[to].Before(end) && (to == from || times[to].Sub(times[to-1]) == step) {
			to++
		}
		if to > from && times[from].Sub(start) < step && end.Sub(times[to-1]) <= step {
			out = append(out, daySpan{d, from, to})
		}
		from = max(to, from+1)
	}
	return out
}
