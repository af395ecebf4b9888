// Package hko reads the Hong Kong Observatory's series of daily extremes (CLMMAXT, CLMMINT), in the
// JSON or CSV format of its open data service.
package hko

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"pmx/data"
	"pmx/data/feeds/records"
	"pmx/data/feeds/shape"
)

const source = "hko"

// Feeds returns the feeds of this package.
func Feeds() []data.Feed {
	return []data.Feed{{
		Name: "hko-daily", About: "daily extremes of the Hong Kong Observatory (CLMMAXT, CLMMINT), JSON or CSV",
		Kind: data.KindWeather, Formats: []data.Format{data.JSON, data.NDJSON, data.CSV}, Read: read, Match: match,
	}}
}

func match(h data.Head) bool {
	if h.Format != data.CSV {
		return shape.HasKeys(h, "fields", "data") && strings.Contains(string(h.Bytes), "Temperature")
	}
	text := string(h.Bytes)
	return strings.Contains(text, "Daily M") && strings.Contains(text, "Temperature") && strings.Contains(text, "/Year")
}

// places are the stations with their names in titles of series.
var places = []struct{ name, station string }{
	{"Hong Kong International Airport", "HKA"}, {"Hong Kong Observatory", "HKO"},
}

// series is a parsed title: an extreme and a station.
type series struct {
	metric  data.Metric
	station string
	seen    int64
}

// parseTitle reads "Daily Maximum Temperature (°C) at the Hong Kong Observatory".
func parseTitle(text string) (s series, err error) {
	switch {
	case strings.Contains(text, "Maximum Temperature"):
		s.metric = data.TMax
	case strings.Contains(text, "Minimum Temperature"):
		s.metric = data.TMin
	default:
		return s, errors.New("the title names neither the daily maximum nor the daily minimum temperature")
	}
	for _, p := range places {
		if strings.Contains(text, p.name) {
			s.station = p.station
			return s, nil
		}
	}
	return s, errors.New("the title names no station of the weather desk: Hong Kong Observatory or Hong Kong International Airport")
}

func read(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	if src.Format == data.CSV {
		return readCSV(ctx, src, r, sink)
	}
	return shape.Reading{Sink: sink}.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
		var page struct {
			Type json.RawMessage `json:"type"`
			Data [][]shape.Text  `json:"data"`
		}
		if json.Unmarshal(raw, &page) != nil {
			return shape.Reject(sink, line, nil, shape.Known("bad_json"))
		}
		s, err := parseTitle(string(page.Type))
		if err != nil {
			return fmt.Errorf("record %d: %w", line, err)
		}
		s.seen = shape.Stamp(src.Name)
		for i, row := range page.Data {
			cells := make([]string, len(row))
			for k, c := range row {
				cells[k] = string(c)
			}
			if err := s.row(cells, src.Cities, int64(i+1), sink); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
}

// readCSV reads a series with its title above the header and its legend below.
func readCSV(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	br := bufio.NewReader(shape.SkipBOM(r))
	title, above := "", int64(0)
	for {
		text, err := br.ReadString('\n')
		above++
		if strings.Contains(text, "/Year") {
			break
		}
		title += text
		if err != nil {
			return errors.New("no header with a column Year")
		}
	}
	s, err := parseTitle(title)
	if err != nil {
		return err
	}
	s.seen = shape.Stamp(src.Name)
	if err := errors.Join(sink.Lines(data.LineRemark, above-1), sink.Lines(data.LineHeader, 1)); err != nil {
		return err
	}
	cr := records.NewReader(br)
	cr.AnyWidth, cr.Remark = true, isLegend
	cr.Above(above)
	return shape.EachCSV(ctx, cr, sink, nil, func(rec records.Record) error {
		return s.row(rec.Cells, src.Cities, rec.Line, sink)
	})
}

// isLegend reports whether a line explains the marks of a series: it has fewer cells than a row,
// and does not begin with a digit. A line that begins with a digit is a row, whatever is wrong with
// it.
func isLegend(cells []string) bool {
	first := strings.TrimSpace(cells[0])
	return len(cells) < rowCells && (first == "" || first[0] < '0' || first[0] > '9')
}

// rowCells is the minimum number of cells of a row; the mark after them may be missing.
const rowCells = 4

// row reads year, month, day, value, and how complete the day's measurements are: "C" for all, "#"
// for some; "***" means that there is no value.
func (s series) row(cells []string, cities *data.Gazetteer, line int64, sink data.Sink) error {
	raw := []byte(strings.Join(cells, ","))
	if len(cells) < rowCells {
		return shape.Reject(sink, line, raw, shape.Bad("bad_row", "the row has %d cells instead of 5", len(cells)))
	}
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	d, err := data.ParseDate(fmt.Sprintf("%04s-%02s-%02s", cells[0], cells[1], cells[2]))
	if err != nil {
		return shape.Reject(sink, line, raw, shape.Known("bad_date"))
	}
	if cells[3] == "***" || cells[3] == "" {
		return sink.Pass(line, data.PassedEmpty)
	}
	v, err := data.ParseTemp(cells[3], data.Celsius)
	if err != nil {
		return shape.Reject(sink, line, raw, shape.Known("bad_temperature"))
	}
	station, city, ok := cities.Station(s.station)
	if !ok {
		return shape.Reject(sink, line, raw, shape.Known("unknown_station"))
	}
	a := data.Actual{City: city.Slug, Day: d, Metric: s.metric, Kind: data.KindStation, Source: source, Station: station.ID, SeenAt: s.seen, Value: v}
	if len(cells) > 4 && cells[4] != "" {
		incomplete := cells[4] == "#"
		a.Provisional = &incomplete
	}
	return sink.Actual(line, a)
}
