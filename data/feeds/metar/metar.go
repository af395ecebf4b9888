// Package metar reads weather reports of airports: the text of a METAR or SPECI, and rows of the
// aviation weather service with a report each.
package metar

import (
	"context"
	"encoding/json"
	"io"
	"regexp"
	"strings"

	"pmx/data"
	"pmx/data/feeds/shape"
)

// Report is the temperature in the text of a report.
type Report struct {
	Kind  data.Report
	Whole *data.Temp // the group of whole degrees Celsius; nil if it is missing
	Exact *data.Temp // tenths of a degree Celsius from the remarks; nil if missing
	// Correction is the number of the correction: 1 for COR and CCA, 2 for CCB; 0 for none.
	Correction int8
}

// Temp returns the most precise of the temperatures in the report and in the separate field; false
// if there is none.
func (r Report) Temp(field *data.Temp) (data.Temp, bool) {
	for _, v := range []*data.Temp{r.Exact, field, r.Whole} {
		if v != nil {
			return *v, true
		}
	}
	return 0, false
}

var (
	wholeForm      = regexp.MustCompile(`\s(M?\d{2})/(?:M?\d{2}|//|XX)?(?:\s|=|$)`)
	correctionForm = regexp.MustCompile(`(?:^|\s)C(?:OR|C([A-Z]))\s`)
	exactForm      = regexp.MustCompile(`\sT([01])(\d{3})(?:[01]\d{3})?(?:\s|=|\$|$)`)
)

// Parse parses the text of a report. Whole degrees are before the remarks, tenths after RMK; M05 is
// −5 and T10330350 is −3.3.
func Parse(text string) Report {
	text = strings.TrimSpace(text)
	var r Report
	switch {
	case strings.HasPrefix(text, "SPECI"):
		r.Kind = data.ReportSpecial
	case strings.HasPrefix(text, "METAR"):
		r.Kind = data.ReportRoutine
	}
	body, remarks, _ := strings.Cut(text, " RMK")
	if m := wholeForm.FindStringSubmatch(body); m != nil {
		r.Whole = temp(strings.Replace(m[1], "M", "-", 1))
	}
	if m := correctionForm.FindStringSubmatch(body + " "); m != nil {
		if r.Correction = 1; m[1] != "" {
			r.Correction = int8(m[1][0]-'A') + 1
		}
	}
	if m := exactForm.FindStringSubmatch(remarks); m != nil {
		sign := map[string]string{"0": "", "1": "-"}[m[1]]
		r.Exact = temp(sign + m[2][:2] + "." + m[2][2:])
	}
	return r
}

func temp(s string) *data.Temp {
	v, err := data.ParseTemp(s, data.Celsius)
	if err != nil {
		return nil
	}
	return &v
}

// Feeds returns the feeds of this package.
func Feeds() []data.Feed {
	return []data.Feed{{
		Name: "metar", About: "METAR and SPECI rows of aviationweather.gov's data API, as JSON",
		Kind: data.KindWeather, Formats: []data.Format{data.JSON, data.NDJSON}, Read: read,
		Match: func(h data.Head) bool { return shape.HasKeys(h, "icaoId", "obsTime", "rawOb") },
	}}
}

type row struct {
	Station shape.Text `json:"icaoId"`
	Time    shape.Text `json:"obsTime"`
	Receipt shape.Text `json:"receiptTime"`
	Temp    shape.Text `json:"temp"`
	Type    shape.Text `json:"metarType"`
	Raw     shape.Text `json:"rawOb"`
}

func read(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	return shape.Reading{Sink: sink}.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
		var in row
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

// observation returns the row's temperature; false if the report has none. The tenths in its text
// take precedence over the field, which some services round. A correction without a temperature
// withdraws the report's value.
func (r row) observation(cities *data.Gazetteer) (o data.Observation, ok bool, err error) {
	station, city, known := cities.Station(r.Station.Trim())
	if !known {
		return o, false, shape.Bad("unknown_station", "the station %q does not belong to a city of the weather desk", r.Station.Trim())
	}
	o = data.Observation{City: city.Slug, Station: station.ID, Source: "metar"}
	if o.TS, err = r.Time.Micros(); err != nil || o.TS == 0 {
		return o, false, shape.Known("bad_time")
	}
	if o.SeenAt, err = r.Receipt.Micros(); err != nil {
		return o, false, err
	}
	said := Parse(string(r.Raw))
	o.Report, o.Whole = said.Kind, said.Whole
	switch strings.ToUpper(r.Type.Trim()) {
	case "METAR":
		o.Report = data.ReportRoutine
	case "SPECI":
		o.Report = data.ReportSpecial
	}
	value, err := r.Temp.TempPtr(data.Celsius)
	if err != nil {
		return o, false, err
	}
	o.Value, ok = said.Temp(value)
	o.Correction, o.Withdrawn = said.Correction, !ok && said.Correction > 0
	return o, ok || o.Withdrawn, nil
}
