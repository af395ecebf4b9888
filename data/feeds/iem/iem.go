// Package iem reads CSV files of the Iowa Environmental Mesonet: daily summaries of airports with
// normals, and single reports.
package iem

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"time"

	"pmx/data"
	"pmx/data/feeds/metar"
	"pmx/data/feeds/shape"
)

// source is the source of rows of this package.
const source = "iem"

// period is the period of the climate columns of daily summaries: NCEI's normals.
const period = "1991-2020"

// Feeds returns the feeds of this package.
func Feeds() []data.Feed {
	return []data.Feed{
		{Name: "iem-daily", About: "IEM's daily summaries of airports (daily.py): max_temp_f, min_temp_f, climo_high_f, climo_low_f",
			Kind: data.KindWeather, Formats: []data.Format{data.CSV}, Read: readDaily,
			Match: func(h data.Head) bool {
				return shape.HasColumns(h, "station", "day") && shape.HasAny(h, "max_temp_f", "min_temp_f", "climo_high_f")
			}},
		{Name: "iem-asos", About: "IEM's reports of airports (asos.py), in UTC: station, valid, tmpf, optionally metar",
			Kind: data.KindWeather, Formats: []data.Format{data.CSV}, Read: readReports, Match: isReports},
	}
}

// isReports also accepts files that begin with remarks.
func isReports(h data.Head) bool {
	if shape.HasColumns(h, "station", "valid", "tmpf") || shape.HasColumns(h, "station", "valid", "metar") {
		return true
	}
	text := "\n" + string(h.Bytes)
	return strings.HasPrefix(text, "\n#") && strings.Contains(text, "\nstation,valid,")
}

// missing is "" for IEM's marks of a missing value.
func missing(t shape.Text) shape.Text {
	if s := t.Trim(); s == "M" || s == "" {
		return ""
	}
	return t
}

type daily struct {
	Station shape.Text `json:"station"`
	Day     shape.Text `json:"day"`
	Max     shape.Text `json:"max_temp_f"`
	Min     shape.Text `json:"min_temp_f"`
	High    shape.Text `json:"climo_high_f"`
	Low     shape.Text `json:"climo_low_f"`
}

// readDaily reads daily summaries. Their days are those of standard time, and the
// climate columns are the normals of the calendar day, whatever the year.
func readDaily(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	seen := shape.Stamp(src.Name)
	return shape.Reading{Sink: sink}.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
		var in daily
		if json.Unmarshal(raw, &in) != nil {
			return shape.Reject(sink, line, raw, shape.Known("bad_json"))
		}
		return shape.Reject(sink, line, raw, in.emit(src.Cities, seen, line, sink))
	})
}

func (in daily) emit(cities *data.Gazetteer, seen, line int64, sink data.Sink) error {
	station, city, ok := cities.Station(in.Station.Trim())
	if !ok {
		return shape.Bad("unknown_station", "the station %q does not belong to a city of the weather desk", in.Station.Trim())
	}
	day, err := in.Day.Date()
	if err != nil {
		return err
	}
	var values [4]*data.Temp // all are parsed before any is passed on: a row is rejected as a whole or not at all
	for i, text := range []shape.Text{in.Max, in.Min, in.High, in.Low} {
		if values[i], err = missing(text).TempPtr(data.Fahrenheit); err != nil {
			return err
		}
	}
	for metric, v := range values[:2] {
		if v == nil {
			continue
		}
		err := sink.Actual(line, data.Actual{City: city.Slug, Day: day, Metric: data.Metric(metric), Kind: data.KindStation, Source: source,
			Station: station.ID, SeenAt: seen, Value: *v, Shift: shape.StandardShift(city, day)})
		if err != nil {
			return err
		}
	}
	for metric, v := range values[2:] {
		if v == nil {
			continue
		}
		err := sink.Normal(line, data.Normal{City: city.Slug, Station: station.ID, Source: source, Period: period,
			MonthDay: day.MonthDay(), Metric: data.Metric(metric), Value: *v})
		if err != nil {
			return err
		}
	}
	return nil
}

type report struct {
	Station shape.Text `json:"station"`
	Valid   shape.Text `json:"valid"`
	Temp    shape.Text `json:"tmpf"`
	Metar   shape.Text `json:"metar"`
}

func readReports(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	plain, skipped := withoutRemarks(r)
	if err := sink.Lines(data.LineRemark, skipped); err != nil {
		return err
	}
	return shape.Reading{Sink: sink, Above: skipped}.Each(ctx, src, plain, func(line int64, raw json.RawMessage) error {
		var in report
		if json.Unmarshal(raw, &in) != nil {
			return shape.Reject(sink, line, raw, shape.Known("bad_json"))
		}
		o, ok, err := in.observation(src.Cities)
		if err != nil || !ok {
			return shape.Reject(sink, line, raw, err)
		}
		return sink.Observation(line, o)
	})
}

// withoutRemarks skips lines that begin with # before the header.
func withoutRemarks(r io.Reader) (rest io.Reader, skipped int64) {
	br := bufio.NewReaderSize(shape.SkipBOM(r), 1<<16)
	for {
		b, err := br.Peek(1)
		if err != nil || b[0] != '#' {
			return br, skipped // an empty rest is an empty file
		}
		if _, err := br.ReadString('\n'); err != nil {
			return br, skipped
		}
		skipped++
	}
}

// validForm is the format of IEM's times of reports: UTC unless another zone was requested.
const validForm = "2006-01-02 15:04"

func (in report) observation(cities *data.Gazetteer) (o data.Observation, ok bool, err error) {
	station, city, known := cities.Station(in.Station.Trim())
	if !known {
		return o, false, shape.Bad("unknown_station", "the station %q does not belong to a city of the weather desk", in.Station.Trim())
	}
	at, err := time.Parse(validForm, in.Valid.Trim())
	if err != nil {
		return o, false, shape.Bad("bad_time", "the time %q cannot be read", in.Valid.Trim())
	}
	said := metar.Parse(string(missing(in.Metar)))
	o = data.Observation{City: city.Slug, Station: station.ID, Source: source, TS: at.UnixMicro(), Report: said.Kind, Whole: said.Whole}
	value, err := missing(in.Temp).TempPtr(data.Fahrenheit)
	if err != nil {
		return o, false, err
	}
	o.Value, ok = said.Temp(value)
	o.Correction, o.Withdrawn = said.Correction, !ok && said.Correction > 0
	return o, ok || o.Withdrawn, nil
}
