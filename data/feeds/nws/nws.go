// Package nws reads responses of the National Weather Service's API at api.weather.gov: gridpoint
// forecasts, forecasts by hour and by half-day, and observations of stations.
package nws

import (
	"context"
	"encoding/json"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"pmx/data"
	"pmx/data/feeds/shape"
)

// Feeds returns the feeds of this package.
func Feeds() []data.Feed {
	formats := []data.Format{data.JSON, data.NDJSON}
	return []data.Feed{
		{Name: "nws-gridpoints", About: "the raw grid of api.weather.gov: /gridpoints/{office}/{x},{y}",
			Kind: data.KindWeather, Formats: formats, Read: each(readGrid),
			Match: func(h data.Head) bool {
				return shape.HasKeys(h, "properties.updateTime") && shape.HasAny(h, "properties.maxTemperature.values", "properties.temperature.values")
			}},
		{Name: "nws-forecast", About: "forecasts of api.weather.gov: /gridpoints/…/forecast and /forecast/hourly",
			Kind: data.KindWeather, Formats: formats, Read: each(readPeriods),
			Match: func(h data.Head) bool {
				return shape.HasKeys(h, "properties.periods") || shape.HasKeys(h, "properties.forecastGenerator")
			}},
		{Name: "nws-observations", About: "observations of api.weather.gov: /stations/{id}/observations and …/latest",
			Kind: data.KindWeather, Formats: formats, Read: readObservations, Match: isObservations},
	}
}

// each reads a file with one response per record.
func each(f func(a answer, line int64, src data.Source, sink data.Sink) error) func(context.Context, data.Source, io.Reader, data.Sink) error {
	return func(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
		return shape.Reading{Sink: sink}.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
			var a answer
			if json.Unmarshal(raw, &a) != nil {
				return shape.Reject(sink, line, nil, shape.Known("bad_json"))
			}
			return shape.Reject(sink, line, nil, f(a, line, src, sink))
		})
	}
}

// answer is a forecast for one cell of the grid.
type answer struct {
	Geometry   json.RawMessage `json:"geometry"`
	Properties struct {
		UpdateTime     shape.Text `json:"updateTime"`
		Updated        shape.Text `json:"updated"`
		MaxTemperature layer      `json:"maxTemperature"`
		MinTemperature layer      `json:"minTemperature"`
		Temperature    layer      `json:"temperature"`
		Periods        []period   `json:"periods"`
	} `json:"properties"`
}

// layer is one quantity of the raw grid.
type layer struct {
	Unit   shape.Text `json:"uom"`
	Values []struct {
		ValidTime shape.Text `json:"validTime"`
		Value     shape.Text `json:"value"`
	} `json:"values"`
}

// period is an hour or a half-day of a forecast.
type period struct {
	Start   shape.Text `json:"startTime"`
	End     shape.Text `json:"endTime"`
	Daytime shape.Text `json:"isDaytime"`
	Temp    quantity   `json:"temperature"`
	Unit    shape.Text `json:"temperatureUnit"`
}

// quantity is a number, or an object with a number and its unit.
type quantity struct{ Value, Unit shape.Text }

// UnmarshalJSON accepts a number, text, null, or {"value", "unitCode"}.
func (q *quantity) UnmarshalJSON(b []byte) error {
	var o struct {
		Value shape.Text `json:"value"`
		Unit  shape.Text `json:"unitCode"`
	}
	if len(b) > 0 && b[0] == '{' {
		err := json.Unmarshal(b, &o)
		q.Value, q.Unit = o.Value, o.Unit
		return err
	}
	return q.Value.UnmarshalJSON(b)
}

// cellLimit is the maximum distance of the middle of a grid cell from a city's station, in
// kilometres. Cells are 2.5 km wide.
const cellLimit = 15

// about returns the city of a response and when it was issued.
func (a *answer) about(cities *data.Gazetteer) (c data.City, issued int64, err error) {
	lat, lon, ok := middle(a.Geometry)
	if !ok {
		return c, 0, shape.Known("unknown_city")
	}
	c, km, ok := cities.Nearest(lat, lon)
	if !ok || !(km <= cellLimit) {
		return c, 0, shape.Bad("far_from_station", "the cell is %.0f km from the nearest city of the desk", km)
	}
	for _, t := range []shape.Text{a.Properties.UpdateTime, a.Properties.Updated} {
		if issued, err = t.Micros(); err != nil || issued > 0 {
			return c, issued, err
		}
	}
	return c, 0, shape.Known("no_issue_time")
}

// middle returns the middle of all coordinates of a GeoJSON geometry, whatever its kind: a point, a
// polygon, or both.
func middle(geometry json.RawMessage) (lat, lon float64, ok bool) {
	var g struct {
		Coordinates json.RawMessage   `json:"coordinates"`
		Geometries  []json.RawMessage `json:"geometries"`
	}
	if len(geometry) == 0 || json.Unmarshal(geometry, &g) != nil {
		return 0, 0, false
	}
	if len(g.Geometries) > 0 {
		return middle(g.Geometries[0])
	}
	var sum [2]float64
	n := 0
	var walk func(raw json.RawMessage)
	walk = func(raw json.RawMessage) {
		var pair []float64
		if json.Unmarshal(raw, &pair) == nil && len(pair) >= 2 {
			sum[0], sum[1], n = sum[0]+pair[0], sum[1]+pair[1], n+1
			return
		}
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil {
			for _, one := range list {
				walk(one)
			}
		}
	}
	walk(g.Coordinates)
	return sum[1] / float64(max(n, 1)), sum[0] / float64(max(n, 1)), n > 0
}

// reading is a temperature for a period.
type reading struct {
	from, to time.Time
	value    data.Temp
}

var spanForm = regexp.MustCompile(`^(.+)/P(?:(\d{1,3})D)?(?:T(?:(\d{1,3})H)?(?:(\d{1,3})M)?)?$`)

// readings parses the values of a layer.
func (l layer) readings() ([]reading, error) {
	if len(l.Values) == 0 {
		return nil, nil
	}
	unit, err := l.Unit.Unit()
	if err != nil {
		return nil, err
	}
	var out []reading
	for _, v := range l.Values {
		value, ok, err := v.Value.Temp(unit)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		m := spanForm.FindStringSubmatch(v.ValidTime.Trim())
		if m == nil {
			return nil, shape.Bad("bad_time", "%q is not a time and duration", v.ValidTime)
		}
		from, err := shape.ParseTime(m[1])
		if err != nil {
			return nil, shape.Bad("bad_time", "%q is not a time and duration", v.ValidTime)
		}
		minutes := 0
		for i, of := range []int{24 * 60, 60, 1} {
			n, _ := strconv.Atoi(m[2+i]) // the pattern accepts digits only
			minutes += n * of
		}
		to := from.Add(time.Duration(minutes) * time.Minute)
		out = append(out, reading{from, to, value})
	}
	return out, nil
}

// extremes returns the highest and lowest reading of each day of the city that the readings cover
// without a gap. They must be in order of time.
func extremes(c data.City, all []reading) map[data.Date][2]data.Temp {
	out := map[data.Date][2]data.Temp{}
	if len(all) == 0 {
		return out
	}
	for d := c.DateOf(all[0].from); d <= c.DateOf(all[len(all)-1].to); d++ {
		start, end := c.Day(d)
		at, low, high, first := start, data.Temp(0), data.Temp(0), true
		for _, r := range all {
			if !r.to.After(at) || r.from.After(at) {
				continue
			}
			if first {
				low, high, first = r.value, r.value, false
			}
			low, high, at = min(low, r.value), max(high, r.value), r.to
			if !at.Before(end) {
				out[d] = [2]data.Temp{data.TMax: high, data.TMin: low}
				break
			}
		}
	}
	return out
}

// source is the office's forecast, whichever way it was requested; half is its forecast by
// half-days, which is a different one.
const (
	source = "nws"
	half   = "nws_period"
)

// emit passes the extremes of days to the sink, in order.
func emit(days map[data.Date][2]data.Temp, c data.City, issued int64, line int64, sink data.Sink) error {
	for _, d := range sorted(days) {
		for metric, v := range days[d] {
			err := sink.Forecast(line, data.Forecast{City: c.Slug, Target: d, Metric: data.Metric(metric), Source: source, IssuedAt: issued, Value: v})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// readGrid reads a raw grid. Days are computed from hourly temperatures, and a day's high is the
// office's own if that is higher. The office's low is for a night, which belongs to two days;
// without hourly temperatures it is rejected.
func readGrid(a answer, line int64, src data.Source, sink data.Sink) error {
	c, issued, err := a.about(src.Cities)
	if err != nil {
		return err
	}
	var layers [3][]reading
	for i, l := range []layer{a.Properties.Temperature, a.Properties.MaxTemperature, a.Properties.MinTemperature} {
		if layers[i], err = l.readings(); err != nil {
			return err
		}
	}
	days := extremes(c, layers[0])
	for _, r := range layers[1] {
		d := c.DateOf(r.from)
		if day, ok := days[d]; ok {
			day[data.TMax] = max(day[data.TMax], r.value)
			days[d] = day
		} else if err := sink.Forecast(line, data.Forecast{City: c.Slug, Target: d, Metric: data.TMax, Source: half, IssuedAt: issued, Value: r.value}); err != nil {
			return err
		}
	}
	for _, r := range layers[2] {
		if _, ok := days[c.DateOf(r.to)]; ok {
			continue
		}
		if err := shape.Reject(sink, line, nil, shape.Bad("wrong_days", "the low of a night belongs to two days: request the hourly temperature")); err != nil {
			return err
		}
	}
	return emit(days, c, issued, line, sink)
}

// readPeriods reads a forecast. From hours it computes days, and from half-days it takes the highs
// of days.
func readPeriods(a answer, line int64, src data.Source, sink data.Sink) error {
	c, issued, err := a.about(src.Cities)
	if err != nil {
		return err
	}
	var hours []reading
	for _, p := range a.Properties.Periods {
		r, ok, err := p.reading()
		if err != nil || !ok {
			if err := shape.Reject(sink, line, nil, err); err != nil {
				return err
			}
			continue
		}
		if r.to.Sub(r.from) <= 2*time.Hour {
			hours = append(hours, r)
			continue
		}
		if err := p.halfDay(r, c, issued, line, sink); err != nil {
			return err
		}
	}
	return emit(extremes(c, hours), c, issued, line, sink)
}

// reading returns the period's temperature; false for an empty period.
func (p period) reading() (r reading, ok bool, err error) {
	if p.Start.Trim() == "" && p.Temp.Value.Trim() == "" {
		return r, false, nil
	}
	for _, t := range []struct {
		to   *time.Time
		from shape.Text
	}{{&r.from, p.Start}, {&r.to, p.End}} {
		if *t.to, err = shape.ParseTime(t.from.Trim()); err != nil {
			return r, false, shape.Bad("bad_time", "the time %q cannot be read", t.from)
		}
	}
	text := p.Unit
	if p.Temp.Unit.Trim() != "" {
		text = p.Temp.Unit
	}
	unit, err := text.Unit()
	if err != nil {
		return r, false, err
	}
	r.value, ok, err = p.Temp.Value.Temp(unit)
	return r, ok, err
}

// halfDay passes on the high of a day. The low of a night belongs to two days and is rejected.
func (p period) halfDay(r reading, c data.City, issued, line int64, sink data.Sink) error {
	var f shape.Fields
	if f.Flag("isDaytime", p.Daytime); f.Err != nil {
		return shape.Reject(sink, line, nil, f.Err)
	}
	if !p.Daytime.True() {
		return shape.Reject(sink, line, nil, shape.Bad("wrong_days", "the low of a night belongs to two days: request the hourly forecast"))
	}
	return sink.Forecast(line, data.Forecast{City: c.Slug, Target: c.DateOf(r.from), Metric: data.TMax, Source: half, IssuedAt: issued, Value: r.value})
}

// stationID is the last part of a station's address.
func stationID(address string) string { return address[strings.LastIndexByte(address, '/')+1:] }
