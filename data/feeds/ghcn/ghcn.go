// Package ghcn reads the Global Historical Climatology Network's daily values: one
// station's .dly file of fixed columns, and CSV files by station or by year.
package ghcn

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pmx/data"
	"pmx/data/feeds/records"
	"pmx/data/feeds/shape"
)

const source = "ghcn"

var (
	dlyForm = regexp.MustCompile(`(?m)\A[A-Z]{2}[A-Z0-9_-][A-Z0-9]{8}\d{6}[A-Z0-9]{4}[ -]*\d+`)
	csvForm = regexp.MustCompile(`\A"?[A-Z]{2}[A-Z0-9_-][A-Z0-9]{8}"?,"?\d{8}"?,"?[A-Z0-9]{4}"?,-?\d+,`)
)

// Feeds returns the feeds of this package.
func Feeds() []data.Feed {
	return []data.Feed{
		{Name: "ghcn-dly", About: "GHCN-Daily .dly files: values of a station in fixed columns, one month per line",
			Kind: data.KindWeather, Formats: []data.Format{data.CSV}, Read: readFixed,
			Match: func(h data.Head) bool { return dlyForm.Match(h.Bytes) }},
		{Name: "ghcn-daily", About: "GHCN-Daily CSV files by station or by year, without a header",
			Kind: data.KindWeather, Formats: []data.Format{data.CSV}, Read: readCSV,
			Match: func(h data.Head) bool { return csvForm.Match(h.Bytes) }},
	}
}

// element returns the metric of an element; false for precipitation and all others.
func element(s string) (data.Metric, bool) {
	switch s {
	case "TMAX":
		return data.TMax, true
	case "TMIN":
		return data.TMin, true
	}
	return 0, false
}

// value is one daily value as the network gives it.
type value struct {
	station, quality, observed string
	metric                     data.Metric
	day                        data.Date
	tenths                     int // of a degree Celsius
	seen                       int64
	bad                        error // why it cannot be used; nil if it can
}

// emit passes v to the sink. A value that failed one of the network's checks is withdrawn, because
// an earlier file may have had it as valid. So is the value of a day that did not end at midnight,
// because it covers two calendar days. Days are in standard time.
func (v value) emit(cities *data.Gazetteer, line int64, raw string, sink data.Sink) error {
	station, city, ok := cities.Station(v.station)
	if !ok {
		return shape.Reject(sink, line, []byte(raw), unknownStation(v.station))
	}
	a := data.Actual{City: city.Slug, Day: v.day, Metric: v.metric, Kind: data.KindStation, Source: source, Station: station.ID, SeenAt: v.seen,
		Shift: shape.StandardShift(city, v.day), Withdrawn: v.quality != "" || v.observed != "" && v.observed != "2400" && v.observed != "0000"}
	if a.Withdrawn {
		return sink.Actual(line, a)
	}
	t, err := data.ParseTemp(strconv.FormatFloat(float64(v.tenths)/10, 'f', 1, 64), data.Celsius)
	if err != nil {
		return shape.Reject(sink, line, []byte(raw), shape.Known("bad_temperature"))
	}
	a.Value = t
	return sink.Actual(line, a)
}

// noValue stands for a missing value in a .dly file.
const noValue = -9999

// The columns of a .dly line: id, year, month, element, then for each of 31 days a
// value of five characters and three flags (readme.txt of the archive, section III).
const (
	headWidth = 21
	dayWidth  = 8
	lineWidth = headWidth + 31*dayWidth
)

func readFixed(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	seen := shape.Stamp(src.Name)
	s := bufio.NewScanner(shape.SkipBOM(r))
	s.Buffer(nil, 1<<16)
	s.Split(withBreaks)
	for line := int64(1); s.Scan(); line++ {
		kind, err := data.LineRecord, ctx.Err()
		switch text := strings.TrimRight(s.Text(), "\r\n"); {
		case err != nil:
		case text == "":
			kind = data.LineBlank
		case !utf8.ValidString(text):
			err = shape.Reject(sink, line, []byte(text), shape.Known("bad_utf8"))
		case len(text) < lineWidth && !strings.HasSuffix(s.Text(), "\n"):
			err = shape.Reject(sink, line, []byte(text), shape.Known("cut_off"))
		default:
			err = fixedLine(text, seen, src.Cities, line, sink)
		}
		if err == nil {
			err = sink.Lines(kind, 1)
		}
		if err != nil {
			return err
		}
	}
	return s.Err()
}

// withBreaks is bufio.ScanLines, but keeps the line breaks.
func withBreaks(text []byte, atEOF bool) (advance int, line []byte, err error) {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return i + 1, text[:i+1], nil
	}
	if atEOF && len(text) > 0 {
		return len(text), text, nil
	}
	return 0, nil, nil
}

// fixedLine passes on the values of a month as a row each. If the line cannot be parsed, it is
// rejected as a whole, before any value is passed on.
func fixedLine(text string, seen int64, cities *data.Gazetteer, line int64, sink data.Sink) error {
	values, err := month(text, seen)
	if err == nil && len(values) > 0 {
		if _, _, ok := cities.Station(text[:11]); !ok {
			err = unknownStation(text[:11])
		}
	}
	if err != nil {
		return shape.Reject(sink, line, []byte(text), err)
	}
	if _, ok := element(text[17:21]); !ok {
		return sink.Pass(line, data.PassedOther)
	}
	for _, v := range values {
		err := v.bad
		if err == nil {
			err = v.emit(cities, line, text, sink)
		}
		if err := shape.Reject(sink, line, []byte(text), err); err != nil {
			return err
		}
	}
	return nil
}

func unknownStation(id string) error {
	return shape.Bad("unknown_station", "the station %q does not belong to a city of the weather desk", id)
}

// month parses the values of a line; none if the line has another element. The error is a
// *shape.RowError.
func month(text string, seen int64) (values []value, err error) {
	bad := shape.Bad("bad_row", "the line does not have the columns of a .dly file")
	if len(text) < headWidth || len(text) > lineWidth {
		return nil, bad
	}
	year, err1 := strconv.Atoi(text[11:15])
	month, err2 := strconv.Atoi(text[15:17])
	if err1 != nil || err2 != nil || month < 1 || month > 12 {
		return nil, bad
	}
	metric, ok := element(text[17:21])
	if !ok {
		return nil, nil
	}
	text += strings.Repeat(" ", lineWidth-len(text)) // flags of the last day may be cut off
	for day := 1; day <= 31; day++ {
		cell := text[headWidth+(day-1)*dayWidth:][:dayWidth]
		number := strings.TrimSpace(cell[:5])
		if number == "" {
			continue
		}
		tenths, err := strconv.Atoi(number)
		if err != nil {
			return nil, bad
		}
		if tenths == noValue {
			continue
		}
		d := data.DateFrom(year, time.Month(month), day)
		v := value{station: text[:11], quality: strings.TrimSpace(cell[6:7]), metric: metric, day: d, tenths: tenths, seen: seen}
		if d.MonthDay() != month*100+day {
			v.bad = shape.Bad("bad_date", "there is no %d-%02d-%02d", year, month, day)
		}
		values = append(values, v)
	}
	return values, nil
}

func readCSV(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	seen := shape.Stamp(src.Name)
	cr := records.NewReader(shape.SkipBOM(r))
	cr.AnyWidth = true
	return shape.EachCSV(ctx, cr, sink, nil, func(rec records.Record) error {
		return csvRow(rec.Cells, seen, src.Cities, rec.Line, sink)
	})
}

// csvRow reads id, YYYYMMDD, element, value, and four flags: measurement, quality,
// source, hour of observation.
func csvRow(row []string, seen int64, cities *data.Gazetteer, line int64, sink data.Sink) error {
	raw := strings.Join(row, ",")
	if len(row) < 4 || len(row) > 8 {
		return shape.Reject(sink, line, []byte(raw), shape.Bad("bad_row", "the row has %d cells instead of 8", len(row)))
	}
	metric, ok := element(row[2])
	if !ok {
		return sink.Pass(line, data.PassedOther)
	}
	t, err := time.Parse("20060102", row[1])
	if err != nil {
		return shape.Reject(sink, line, []byte(raw), shape.Bad("bad_date", "%q is not a day as YYYYMMDD", row[1]))
	}
	tenths, err := strconv.Atoi(strings.TrimSpace(row[3]))
	if err != nil {
		return shape.Reject(sink, line, []byte(raw), shape.Known("bad_temperature"))
	}
	if tenths == noValue {
		return sink.Pass(line, data.PassedEmpty)
	}
	row = append(row, "", "", "", "")
	v := value{station: row[0], quality: strings.TrimSpace(row[5]), observed: strings.TrimSpace(row[7]), metric: metric,
		day: data.DateOf(t), tenths: tenths, seen: seen}
	return v.emit(cities, line, raw, sink)
}
