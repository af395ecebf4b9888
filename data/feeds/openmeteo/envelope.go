package openmeteo

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pmx/data"
	"pmx/data/feeds/shape"
)

// envelope is a response, with or without a note about the request and its time.
type envelope struct {
	Meta     meta            `json:"_meta"`
	Response json.RawMessage `json:"response"`

	City               shape.Text      `json:"city"`
	ArchiveActuals     json.RawMessage `json:"archive_actuals"`
	HistoricalForecast json.RawMessage `json:"historical_forecast"`

	Error  shape.Text `json:"error"`
	Reason shape.Text `json:"reason"`
}

// meta is the note. Every field may be missing.
type meta struct {
	Kind      shape.Text `json:"kind"`
	City      shape.Text `json:"city"`
	Latitude  shape.Text `json:"latitude"`
	Longitude shape.Text `json:"longitude"`
	FetchedAt shape.Text `json:"fetched_at"`
	FetchedZ  shape.Text `json:"fetched_at_utc"`
	Models    shape.Text `json:"models"` // a list, or names joined by commas
	Run       shape.Text `json:"run"`
	URL       shape.Text `json:"url"`
}

// answer is a response of Open-Meteo. The keys of its tables are variables, followed by the model
// if several models cover the place.
type answer struct {
	Latitude   *float64                  `json:"latitude"`
	Longitude  *float64                  `json:"longitude"`
	Offset     *int64                    `json:"utc_offset_seconds"`
	Timezone   shape.Text                `json:"timezone"`
	Current    struct{ Time shape.Text } `json:"current"`
	Daily      map[string]column         `json:"daily"`
	DailyUnit  map[string]shape.Text     `json:"daily_units"`
	Hourly     map[string]column         `json:"hourly"`
	HourlyUnit map[string]shape.Text     `json:"hourly_units"`

	Error  shape.Text `json:"error"`
	Reason shape.Text `json:"reason"`
}

// cell is the middle of the grid cell of the values.
func (a *answer) cell() (lat, lon float64, ok bool) {
	if a.Latitude == nil || a.Longitude == nil {
		return 0, 0, false
	}
	return *a.Latitude, *a.Longitude, true
}

// column is one list of values over the times of a table; a null is "".
type column []shape.Text

// UnmarshalJSON accepts an array; anything else is an empty column.
func (c *column) UnmarshalJSON(b []byte) error {
	var list []shape.Text
	if json.Unmarshal(b, &list) == nil {
		*c = list
	}
	return nil
}

// asked is the request, as far as the note has it.
func (m meta) asked() url.Values {
	u, err := url.Parse(m.URL.Trim())
	if err != nil {
		return url.Values{}
	}
	return u.Query()
}

// kind is the service that the note names.
func (m meta) kind() kind {
	text := strings.ToLower(m.Kind.Trim())
	if text == "" {
		u, err := url.Parse(m.URL.Trim())
		if err != nil || u.Host == "" {
			return unknown
		}
		text = strings.ToLower(u.Host) + u.Path
	}
	for _, k := range []struct {
		word string
		kind kind
	}{{"archive", archive}, {"historical-forecast", stitched}, {"previous", previousRuns}, {"ensemble", ensemble}, {"forecast", forecast}, {"single-run", forecast}} {
		if strings.Contains(text, k.word) {
			return k.kind
		}
	}
	return unknown
}

// models returns the requested models; told is false if there is no note about the request.
func (m meta) models() (names []string, told bool) {
	text := m.Models.Trim()
	if text == "" {
		text = m.asked().Get("models")
	}
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(`,[]" `, r) }) {
		names = append(names, Model(name))
	}
	return names, text != "" || m.URL.Trim() != "" || m.FetchedZ.Trim() != "" || m.FetchedAt.Trim() != ""
}

// point is the i-th requested place.
func (m meta) point(i int) (lat, lon float64, ok bool) {
	texts := [2]string{m.Latitude.Trim(), m.Longitude.Trim()}
	if texts[0] == "" {
		q := m.asked()
		texts = [2]string{q.Get("latitude"), q.Get("longitude")}
	}
	var out [2]float64
	for k, text := range texts {
		list := strings.Split(strings.Trim(text, "[]"), ",")
		if i >= len(list) {
			return 0, 0, false
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(list[i]), 64)
		if err != nil {
			return 0, 0, false
		}
		out[k] = v
	}
	return out[0], out[1], true
}

// seen is when the response was fetched, unix µs: from the note, else from its block of current
// values, else from the name of the file; 0 if unknown.
func (m meta) seen(a *answer, file string) (int64, error) {
	for _, text := range []shape.Text{m.FetchedZ, m.FetchedAt} {
		if text.Trim() != "" {
			return text.Micros()
		}
	}
	if t := a.Current.Time.Trim(); t != "" && a.Offset != nil {
		at, err := instant(t, *a.Offset)
		return at.UnixMicro(), err
	}
	return shape.Stamp(file), nil
}

// instant parses a time of a table: local time at a fixed offset from UTC, or unix seconds.
func instant(s string, offset int64) (time.Time, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return time.Unix(n, 0).UTC(), nil
	}
	t, err := time.Parse("2006-01-02T15:04", s)
	if err != nil {
		return t, shape.Bad("bad_time", "the time %q cannot be read", s)
	}
	return t.Add(-time.Duration(offset) * time.Second), nil
}

// cellLimit is the maximum distance of a response's grid cell from a city's station, in kilometres.
// The middle of a cell of a quarter of a degree is up to 20 km from the requested point.
const cellLimit = 20

// place finds the city of a response by its grid cell, with or without a note: the values are those
// of the cell, wherever the requested point is. That point is used if the response does not have
// its cell.
func (m meta) place(cities *data.Gazetteer, a *answer, i int) (data.City, error) {
	lat, lon, ok := a.cell()
	if !ok {
		lat, lon, ok = m.point(i)
	}
	if !ok {
		return data.City{}, shape.Known("unknown_city")
	}
	name := m.City.Trim()
	city, ok := cities.Named(name)
	if name == "" {
		city, _, ok = cities.Nearest(lat, lon)
	}
	if !ok {
		return city, shape.Bad("unknown_city", "no city of the weather desk is called %q", name)
	}
	if km := city.Distance(lat, lon); !(km <= cellLimit) {
		return city, shape.Bad("far_from_station", "the grid cell is %.0f km from %s, where %s is measured", km, city.Station, city.Title)
	}
	return city, nil
}
