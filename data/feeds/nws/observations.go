package nws

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"pmx/data"
	"pmx/data/feeds/metar"
	"pmx/data/feeds/shape"
)

func sorted[T any](days map[data.Date]T) []data.Date {
	return slices.SortedFunc(maps.Keys(days), cmp.Compare[data.Date])
}

func isObservations(h data.Head) bool {
	for _, p := range []string{"", "features[]."} {
		if shape.HasKeys(h, p+"properties.station", p+"properties.timestamp") || shape.HasKeys(h, p+"properties.textDescription") {
			return true
		}
	}
	return slices.ContainsFunc(h.Keys, func(k string) bool { return strings.HasPrefix(k, "features") }) &&
		strings.Contains(string(h.Bytes), "/observations/")
}

// feature is one observation.
type feature struct {
	Properties struct {
		Station   shape.Text `json:"station"`
		StationID shape.Text `json:"stationId"`
		Timestamp shape.Text `json:"timestamp"`
		Raw       shape.Text `json:"rawMessage"`
		Temp      struct {
			Value   shape.Text `json:"value"`
			Unit    shape.Text `json:"unitCode"`
			Quality shape.Text `json:"qualityControl"`
		} `json:"temperature"`
	} `json:"properties"`
}

func readObservations(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	return shape.Reading{Lists: []string{"features"}, Sink: sink}.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
		var f feature
		if json.Unmarshal(raw, &f) != nil {
			return shape.Reject(sink, line, raw, shape.Known("bad_json"))
		}
		o, ok, err := f.observation(src.Cities)
		if err != nil || !ok {
			return shape.Reject(sink, line, raw, err)
		}
		return sink.Observation(line, o)
	})
}

// observation returns the temperature of a feature; false if it has none. A temperature that failed
// a check is withdrawn, because it was published as valid before the check.
func (f feature) observation(cities *data.Gazetteer) (o data.Observation, ok bool, err error) {
	p := f.Properties
	id := stationID(cmp.Or(p.StationID.Trim(), p.Station.Trim()))
	station, city, known := cities.Station(id)
	if !known {
		return o, false, shape.Bad("unknown_station", "the station %q does not belong to a city of the weather desk", id)
	}
	if o.TS, err = p.Timestamp.Micros(); err != nil || o.TS == 0 {
		return o, false, shape.Known("bad_time")
	}
	said := metar.Parse(string(p.Raw))
	o.City, o.Station, o.Source, o.Report, o.Correction = city.Slug, station.ID, "nws", said.Kind, said.Correction
	if doubted(p.Temp.Quality.Trim()) {
		o.Withdrawn = true
		return o, true, nil
	}
	o.Whole = said.Whole
	if p.Temp.Value.Trim() == "" {
		o.Value, ok = said.Temp(nil)
		o.Withdrawn = !ok && said.Correction > 0
		return o, ok || o.Withdrawn, nil
	}
	unit, err := p.Temp.Unit.Unit()
	if err != nil {
		return o, false, err
	}
	o.Value, ok, err = p.Temp.Value.Temp(unit)
	return o, ok, err
}

// doubted reports the marks of MADIS whether the value failed a check: X failed, Q questioned, B
// subjectively bad (https://madis.ncep.noaa.gov/madis_sfc_qc_notes.shtml).
func doubted(mark string) bool {
	return slices.Contains([]string{"qc:X", "qc:Q", "qc:B", "X", "Q", "B"}, mark)
}
