// Package ncei reads the U.S. climate normals of 1991 to 2020 by station and day, as published by
// the National Centers for Environmental Information.
package ncei

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"pmx/data"
	"pmx/data/feeds/shape"
)

const (
	source = "ncei"
	period = "1991-2020"
)

// Feeds returns the feeds of this package.
func Feeds() []data.Feed {
	return []data.Feed{{
		Name: "ncei-normals", About: "NCEI daily climate normals by station (DLY-TMAX-NORMAL, …), CSV",
		Kind: data.KindWeather, Formats: []data.Format{data.CSV}, Read: read,
		Match: func(h data.Head) bool {
			return shape.HasColumns(h, "STATION", "DATE") && shape.HasAny(h, "DLY-TMAX-NORMAL", "DLY-TMIN-NORMAL")
		},
	}}
}

type row struct {
	Station shape.Text `json:"STATION"`
	Date    shape.Text `json:"DATE"` // MM-DD
	Max     shape.Text `json:"DLY-TMAX-NORMAL"`
	MaxDev  shape.Text `json:"DLY-TMAX-STDDEV"`
	MaxN    shape.Text `json:"years_DLY-TMAX-NORMAL"`
	Min     shape.Text `json:"DLY-TMIN-NORMAL"`
	MinDev  shape.Text `json:"DLY-TMIN-STDDEV"`
	MinN    shape.Text `json:"years_DLY-TMIN-NORMAL"`
}

func read(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	return shape.Reading{Sink: sink}.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
		var in row
		if json.Unmarshal(raw, &in) != nil {
			return shape.Reject(sink, line, raw, shape.Known("bad_json"))
		}
		return shape.Reject(sink, line, short(in), in.emit(src.Cities, line, sink))
	})
}

// short shortens a rejected row, which may have 293 columns.
func short(in row) []byte {
	return []byte(strings.Join([]string{in.Station.Trim(), in.Date.Trim(), in.Max.Trim(), in.Min.Trim()}, ","))
}

func (in row) emit(cities *data.Gazetteer, line int64, sink data.Sink) error {
	station, city, ok := cities.Station(in.Station.Trim())
	if !ok {
		return shape.Bad("unknown_station", "the station %q does not belong to a city of the weather desk", in.Station.Trim())
	}
	month, day, _ := strings.Cut(in.Date.Trim(), "-")
	m, err1 := data.ParseWhole(month)
	d, err2 := data.ParseWhole(day)
	md, ok := data.MonthDayOf(int(m), int(d))
	if err1 != nil || err2 != nil || !ok {
		return shape.Bad("bad_date", "%q is not a day of the year as MM-DD", in.Date.Trim())
	}
	var normals []data.Normal // passed on once all are parsed: a row is rejected as a whole or not at all
	for metric, texts := range [2][3]shape.Text{{in.Max, in.MaxDev, in.MaxN}, {in.Min, in.MinDev, in.MinN}} {
		value, err := given(texts[0]).TempPtr(data.Fahrenheit)
		if err != nil {
			return err
		}
		if value == nil {
			continue
		}
		n := data.Normal{City: city.Slug, Station: station.ID, Source: source, Period: period, MonthDay: md, Metric: data.Metric(metric), Value: *value}
		if n.Deviation, err = given(texts[1]).DifferencePtr(data.Fahrenheit); err != nil {
			return err
		}
		if n.Years, err = given(texts[2]).Whole("years"); err != nil {
			return err
		}
		normals = append(normals, n)
	}
	for _, n := range normals {
		if err := sink.Normal(line, n); err != nil {
			return err
		}
	}
	return nil
}

// given is "" for the codes of missing values: -9999 and others below -6000 (readme of the
// archive).
func given(t shape.Text) shape.Text {
	if v, err := strconv.ParseFloat(t.Trim(), 64); err == nil && v < -6000 {
		return ""
	}
	return t
}
