package canonical

import (
	"context"
	"encoding/json"
	"io"
	"strings"

	"pmx/data"
	"pmx/data/feeds/shape"
)

// weatherFormats are the formats of pmx's own files of the weather.
func weatherFormats() []data.Format {
	return []data.Format{data.CSV, data.NDJSON, data.JSON, data.Parquet}
}

func weather() []data.Feed {
	return []data.Feed{
		{Name: "pmx-forecasts", About: "pmx's own forecasts: city, target, metric, source, issued_at, value, unit (see docs/import.md)",
			Kind: data.KindWeather, Formats: weatherFormats(), Read: reading(forecast),
			Match: func(h data.Head) bool {
				return shape.Has(h, "city", "target", "metric", "source", "issued_at", "value", "unit")
			}},
		{Name: "pmx-actuals", About: "pmx's own temperature extremes of past days: city, day, metric, kind, source, value, unit (see docs/import.md)",
			Kind: data.KindWeather, Formats: weatherFormats(), Read: reading(actual),
			Match: func(h data.Head) bool {
				return shape.Has(h, "city", "day", "metric", "kind", "source", "value", "unit")
			}},
		{Name: "pmx-observations", About: "pmx's own station temperatures: city, station, source, ts, value, unit (see docs/import.md)",
			Kind: data.KindWeather, Formats: weatherFormats(), Read: reading(observation),
			Match: func(h data.Head) bool { return shape.Has(h, "city", "station", "source", "ts", "value", "unit") }},
		{Name: "pmx-normals", About: "pmx's own climate normals: city, metric, month_day, source, value, unit (see docs/import.md)",
			Kind: data.KindWeather, Formats: weatherFormats(), Read: reading(normal),
			Match: func(h data.Head) bool {
				return shape.Has(h, "city", "metric", "month_day", "source", "value", "unit")
			}},
	}
}

// weatherRow is a row of any of the four. Columns that a feed does not have are empty.
type weatherRow struct {
	City        shape.Text `json:"city"`
	Station     shape.Text `json:"station"`
	Source      shape.Text `json:"source"`
	Metric      shape.Text `json:"metric"`
	Unit        shape.Text `json:"unit"`
	Value       shape.Text `json:"value"`
	Target      shape.Text `json:"target"`
	IssuedAt    shape.Text `json:"issued_at"`
	RunAt       shape.Text `json:"run_at"`
	Members     shape.List `json:"members"`
	Shift       shape.Text `json:"shift"`
	Day         shape.Text `json:"day"`
	Kind        shape.Text `json:"kind"`
	SeenAt      shape.Text `json:"seen_at"`
	Provisional shape.Text `json:"provisional"`
	TS          shape.Text `json:"ts"`
	Report      shape.Text `json:"report"`
	Whole       shape.Text `json:"whole"`
	Correction  shape.Text `json:"correction"`
	Withdrawn   shape.Text `json:"withdrawn"`
	MonthDay    shape.Text `json:"month_day"`
	Period      shape.Text `json:"period"`
	Deviation   shape.Text `json:"deviation"`
	P10         shape.Text `json:"p10"`
	P90         shape.Text `json:"p90"`
	Years       shape.Text `json:"years"`

	unit  data.Unit
	value data.Temp
}

// reading reads a file and passes each row to emit, which passes it to the sink.
func reading(emit func(r *weatherRow, line int64, sink data.Sink) error) func(context.Context, data.Source, io.Reader, data.Sink) error {
	return func(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
		return shape.Reading{Sink: sink}.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
			var row weatherRow
			if json.Unmarshal(raw, &row) != nil {
				return shape.Reject(sink, line, raw, shape.Known("bad_json"))
			}
			if src.Format == data.CSV {
				row.Source, row.Station, row.Period = row.Source.Unescaped(), row.Station.Unescaped(), row.Period.Unescaped()
			}
			err := row.parse()
			if err == nil {
				err = emit(&row, line, sink)
			}
			return shape.Reject(sink, line, raw, err)
		})
	}
}

// parse parses the columns that all rows have.
func (r *weatherRow) parse() (err error) {
	if r.Source.Trim() == "" {
		return shape.Known("bad_source")
	}
	if r.unit, err = r.Unit.Unit(); err != nil {
		return err
	}
	var f shape.Fields
	f.Flag("withdrawn", r.Withdrawn)
	f.Flag("provisional", r.Provisional)
	if f.Err != nil {
		return f.Err
	}
	value, ok, err := r.Value.Temp(r.unit)
	if err == nil && ok == r.Withdrawn.True() {
		err = shape.Known("bad_temperature")
	}
	r.value = value
	return err
}

func (r *weatherRow) metric() (data.Metric, error) {
	m, ok := data.ParseMetric(r.Metric.Trim())
	if !ok {
		return 0, shape.Known("bad_metric")
	}
	return m, nil
}

func forecast(r *weatherRow, line int64, sink data.Sink) error {
	f := data.Forecast{City: r.City.Trim(), Source: r.Source.Trim(), Value: r.value}
	var err error
	if f.Metric, err = r.metric(); err != nil {
		return err
	}
	if f.Shift, err = r.shift(); err != nil {
		return err
	}
	if f.Target, err = r.Target.Date(); err != nil {
		return err
	}
	if f.IssuedAt, err = r.IssuedAt.Micros(); err != nil {
		return err
	}
	if f.RunAt, err = r.RunAt.Micros(); err != nil {
		return err
	}
	for _, m := range r.Members {
		v, ok, err := shape.Text(m).Temp(r.unit)
		if err != nil || !ok {
			return shape.Known("bad_temperature")
		}
		f.Members = append(f.Members, v)
	}
	if r.Withdrawn.True() {
		return shape.Known("bad_temperature")
	}
	return sink.Forecast(line, f)
}

func actual(r *weatherRow, line int64, sink data.Sink) error {
	a := data.Actual{City: r.City.Trim(), Source: r.Source.Trim(), Station: r.Station.Trim(), Value: r.value,
		Withdrawn: r.Withdrawn.True(), Provisional: r.Provisional.Bool()}
	var err error
	if a.Shift, err = r.shift(); err != nil {
		return err
	}
	if a.Metric, err = r.metric(); err != nil {
		return err
	}
	if a.Day, err = r.Day.Date(); err != nil {
		return err
	}
	if a.SeenAt, err = r.SeenAt.Micros(); err != nil {
		return err
	}
	switch r.Kind.Trim() {
	case data.KindStation.String():
		a.Kind = data.KindStation
	case data.KindReanalysis.String():
		a.Kind = data.KindReanalysis
	default:
		return shape.Known("bad_kind")
	}
	return sink.Actual(line, a)
}

// maxCorrection is the highest number that a correction may have.
const maxCorrection = 99

// reports names the kinds of reports.
var reports = map[string]data.Report{"": data.ReportUnknown, "routine": data.ReportRoutine, "special": data.ReportSpecial}

func observation(r *weatherRow, line int64, sink data.Sink) error {
	report, ok := reports[r.Report.Trim()]
	if !ok {
		return shape.Bad("bad_kind", "the report %q is neither routine nor special", r.Report)
	}
	o := data.Observation{City: r.City.Trim(), Station: r.Station.Trim(), Source: r.Source.Trim(), Report: report, Value: r.value,
		Withdrawn: r.Withdrawn.True()}
	if o.Station == "" {
		return shape.Known("unknown_station")
	}
	correction, err := r.Correction.Whole("correction")
	if err != nil || correction > maxCorrection {
		return shape.Bad("bad_number", "the correction %q is not a number from 0 to %d", r.Correction, maxCorrection)
	}
	o.Correction = int8(correction)
	if o.TS, err = r.TS.Micros(); err == nil && o.TS == 0 {
		err = shape.Known("bad_time")
	}
	if err != nil {
		return err
	}
	if o.SeenAt, err = r.SeenAt.Micros(); err != nil {
		return err
	}
	if o.Whole, err = r.Whole.TempPtr(data.Celsius); err != nil {
		return err
	}
	return sink.Observation(line, o)
}

// derived is the prefix of sources of normals that are computed from other rows.
const derived = "derived:"

func normal(r *weatherRow, line int64, sink data.Sink) error {
	if strings.HasPrefix(r.Source.Trim(), derived) {
		return shape.Bad("bad_source", "derived normals are computed from the reanalysis: import that instead")
	}
	n := data.Normal{City: r.City.Trim(), Source: r.Source.Trim(), Station: r.Station.Trim(), Period: r.Period.Trim(),
		Value: r.value}
	var err error
	if n.Years, err = r.Years.Whole("years"); err != nil {
		return err
	}
	if n.Metric, err = r.metric(); err != nil {
		return err
	}
	month, day, _ := strings.Cut(r.MonthDay.Trim(), "-")
	m, err1 := data.ParseWhole(month)
	d, err2 := data.ParseWhole(day)
	md, ok := data.MonthDayOf(int(m), int(d))
	if err1 != nil || err2 != nil || !ok {
		return shape.Bad("bad_date", "%q is not a day of the year as MM-DD", r.MonthDay)
	}
	n.MonthDay = md
	if n.Deviation, err = r.Deviation.DifferencePtr(r.unit); err != nil {
		return err
	}
	if n.P10, err = r.P10.TempPtr(r.unit); err != nil {
		return err
	}
	if n.P90, err = r.P90.TempPtr(r.unit); err != nil {
		return err
	}
	if r.Withdrawn.True() {
		return shape.Known("bad_temperature")
	}
	return sink.Normal(line, n)
}

// shift parses how many seconds after the city's day the source's day begins; 0 if the row does not
// say.
func (r *weatherRow) shift() (int32, error) {
	text, before := strings.CutPrefix(r.Shift.Trim(), "-")
	n, err := shape.Text(text).Whole("shift")
	if err != nil || before && text == "" || n > maxShift {
		return 0, shape.Bad("bad_number", "the shift %q is not a whole number of seconds of at most a day", r.Shift)
	}
	if before {
		n = -n
	}
	return n, nil
}

// maxShift is the maximum number of seconds by which a day may begin before or after the city's.
const maxShift = 86_400
