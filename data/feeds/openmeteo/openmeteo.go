// Package openmeteo reads responses of Open-Meteo: forecasts of one or more models for one or more
// places, ensembles, previous runs and the archive, as received or with a note about the request
// and its time.
package openmeteo

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"pmx/data"
	"pmx/data/feeds/shape"
)

// kind is the service of a response. All services have the same response format.
type kind int

const (
	unknown kind = iota
	forecast
	archive
	previousRuns
	ensemble
	stitched // the historical-forecast service: the first hours of consecutive runs
)

// Feeds returns the feeds of this package.
func Feeds() []data.Feed {
	return []data.Feed{
		feed("openmeteo", "answers of Open-Meteo that say what they are: saved with their time of fetching, ensembles, previous runs",
			unknown, func(h data.Head) bool { return isAnswer(h) && tells(h) }),
		feed("openmeteo-forecast", "bare answers of Open-Meteo's forecast service", forecast,
			func(h data.Head) bool { return isAnswer(h) && !tells(h) }),
		feed("openmeteo-archive", "bare answers of Open-Meteo's archive, which look like forecasts", archive,
			func(h data.Head) bool { return isAnswer(h) && !tells(h) }),
	}
}

func feed(name, about string, usual kind, match func(data.Head) bool) data.Feed {
	return data.Feed{Name: name, About: about, Kind: data.KindWeather, Formats: []data.Format{data.JSON, data.NDJSON}, Match: match,
		Read: func(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
			rd := &reader{src: src, sink: sink, usual: usual}
			return shape.Reading{Sink: sink}.Each(ctx, src, r, rd.record)
		}}
}

// wraps are the paths that may contain a response.
var wraps = []string{"", "response.", "response[].", "archive_actuals.", "historical_forecast."}

// isAnswer recognises a response by its coordinates and its table of values.
func isAnswer(h data.Head) bool {
	for _, p := range wraps {
		if shape.HasKeys(h, p+"latitude", p+"longitude") && shape.HasAny(h, p+"daily", p+"hourly", p+"daily_units", p+"hourly_units") {
			return true
		}
	}
	// The first of several responses may be an error.
	return shape.HasKeys(h, "_meta", "response") && bytes.Contains(h.Bytes, []byte("open-meteo"))
}

// tells reports whether the head says which service it is from.
func tells(h data.Head) bool {
	if shape.HasAny(h, "_meta", "archive_actuals.latitude", "historical_forecast.latitude", "current", "current_units") {
		return true
	}
	return slices.ContainsFunc(h.Keys, func(k string) bool {
		name, ok := parseName(k[strings.LastIndexByte(k, '.')+1:])
		return ok && (name.previous > 0 || name.member > 0 || isReanalysis(name.model))
	})
}

// reader reads one file.
type reader struct {
	src   data.Source
	sink  data.Sink
	usual kind
}

// record reads one record: a response, a list of them with a note, or the history file of a
// seminar, which has two.
func (rd *reader) record(line int64, raw json.RawMessage) error {
	var e envelope
	if json.Unmarshal(raw, &e) != nil {
		return shape.Reject(rd.sink, line, raw, shape.Known("bad_json"))
	}
	switch {
	case e.Error.True():
		return shape.Reject(rd.sink, line, raw, shape.Bad("source_error", "Open-Meteo refused the request: %s", e.Reason))
	case len(e.Response) > 0:
		return rd.wrapped(line, e)
	case len(e.ArchiveActuals) > 0 || len(e.HistoricalForecast) > 0:
		e.Meta.City = e.City
		if err := rd.answer(line, e.ArchiveActuals, e.Meta, 0, archive); err != nil {
			return err
		}
		return rd.answer(line, e.HistoricalForecast, e.Meta, 0, stitched)
	}
	return rd.answer(line, raw, e.Meta, 0, unknown)
}

func (rd *reader) wrapped(line int64, e envelope) error {
	var list []json.RawMessage
	if json.Unmarshal(e.Response, &list) != nil {
		return rd.answer(line, e.Response, e.Meta, 0, unknown)
	}
	for i, one := range list {
		if err := rd.answer(line, one, e.Meta, i, unknown); err != nil {
			return err
		}
	}
	return nil
}

// answer reads one response, the i-th of its request.
func (rd *reader) answer(line int64, raw json.RawMessage, m meta, i int, is kind) error {
	if len(raw) == 0 {
		return nil
	}
	var a answer
	if json.Unmarshal(raw, &a) != nil {
		return shape.Reject(rd.sink, line, raw, shape.Known("bad_json"))
	}
	if a.Error.True() {
		return shape.Reject(rd.sink, line, raw, shape.Bad("source_error", "Open-Meteo refused the request: %s", a.Reason))
	}
	r := &reading{answer: a, meta: m, line: line, sink: rd.sink, kind: is}
	err := r.prepare(rd, i)
	if err == nil {
		err = r.emit()
	}
	return shape.Reject(rd.sink, line, clipped(raw), err)
}

// clipped shortens the raw text of a rejected response, which may be megabytes.
func clipped(raw []byte) []byte {
	const limit = 2000
	if len(raw) <= limit {
		return raw
	}
	return []byte(strings.ToValidUTF8(string(raw[:limit]), "") + "…")
}
