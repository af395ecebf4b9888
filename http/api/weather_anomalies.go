package api

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
	"pmx/rollups/weather"
)

// The parameters of GET /weather/city/{city}/anomalies.
var (
	anomaliesLimit  = pastDaysParam()
	anomaliesMetric = metricParam("", "only highs or only lows")
	anomaliesBasis  = &Param{Name: "basis", Kind: Choice, Choices: []string{actualBasis: "actual", forecastBasis: "forecast"}, Doc: "only measurements or only forecasts"}
	anomaliesKind   = &Param{Name: "kind", Kind: Choice, Choices: []string{data.KindStation.String(), data.KindReanalysis.String()},
		Doc: "only actuals of this kind, without forecasts"}
	anomaliesSource = sourceParam()
)

// aheadDays is for how many days from today on forecasts are shown at most.
const aheadDays = 16

// The bases of an anomaly.
const (
	actualBasis = iota
	forecastBasis
)

func anomaliesRoute() Route {
	return Route{
		Method: fiber.MethodGet, Path: "/weather/city/{city}/anomalies", Section: wire.Weather, MaxRows: actualDays, MaxItems: actualRows, Aliases: true,
		Summary: "Deviation versus climate normals", serve: (*API).cityAnomalies, Reply: wire.CityAnomalies{}, Codes: []string{"city_not_found"},
		Params: []*Param{deskCity, anomaliesLimit, anomaliesMetric, anomaliesBasis, anomaliesKind, anomaliesSource},
		Doc: "`limit` and `max_rows` count days; each day has several rows. `anomaly` is the value minus the normal of the calendar " +
			"day; 29 February has its own normal. A measurement is compared only within its data set: a station with the normal of " +
			"that station, a reanalysis with the normal computed from it. If that normal is unknown, the anomaly is null and " +
			"`null_reasons` says `no_normal`. If the value is based on fewer than 12 single reports, which are too few to give a " +
			"day's high or low, the anomaly is null with `few_observations`. Forecasts have no normals of their own: forecasts for " +
			"today and the following days, and their `consensus`, are compared with the normal of a station, or of a reanalysis if no " +
			"station's is known; `cross_dataset` is then true.",
	}
}

// cityAnomalies answers GET /weather/city/{city}/anomalies.
func (a *API) cityAnomalies(c *fiber.Ctx, call *Call) error {
	v, city, err := a.deskCity(c, call)
	if city == nil {
		return err
	}
	q := call.dayQuery(city, anomaliesLimit, anomaliesMetric, anomaliesSource)
	forecasts := true
	if kind := call.value(anomaliesKind); kind.given {
		q.restrictToKind(anomaliesKind.Choices[kind.n])
		forecasts = false
	}
	if basis := call.value(anomaliesBasis); basis.given {
		q.narrowed = true
		if forecasts = forecasts && basis.n == forecastBasis; basis.n == forecastBasis {
			q.kinds = nil
		}
	}
	key := fmt.Sprintf("anomalies %s %t", q.key(), forecasts)
	return a.sendSeries(c, call, v, city, key, func(ctx context.Context) (any, data.Date, error) {
		days, cut, err := a.pastDays(ctx, &q, nil)
		if err != nil {
			return nil, 0, err
		}
		known, err := a.readDayActuals(ctx, &q, days)
		if err != nil {
			return nil, 0, err
		}
		m := anomalyMaker{v: v, q: &q}
		if forecasts && city.Today != 0 {
			if m.foretold, err = a.readDayForecasts(ctx, city, city.Today, city.Today+aheadDays-1, q.metrics); err != nil {
				return nil, 0, err
			}
		}
		if m.normals, err = a.readNormals(ctx, city, known, m.foretold); err != nil {
			return nil, 0, err
		}
		out := &wire.AnomalySeries{CityPlace: cityPlaceOf(city), Unit: city.City.Unit}
		out.Data, out.LeftOut = m.rows(known)
		out.EmptyReason = q.whyEmpty(len(out.Data), cut)
		return out, cut, nil
	})
}

// dayForecasts has the last forecasts of sources for one extreme of a day.
type dayForecasts struct {
	day    data.Date
	metric data.Metric
	said   []serving.ForecastChange // the newest one of each source, by source
	clock  int64                    // the clock by which forecasts are current: the desk's, or the end of a day that is over
}

// consensus is the consensus of the current ones; nil if none is current.
func (f *dayForecasts) consensus() *weather.Consensus {
	readings := make([]weather.Reading, len(f.said))
	for i := range f.said {
		readings[i] = f.said[i].Reading()
	}
	if c, ok := weather.ConsensusOf(readings, f.clock); ok {
		return &c
	}
	return nil
}

// readDayForecasts reads the last forecast of every source for days from first up to last, by day
// and metric.
func (a *API) readDayForecasts(ctx context.Context, city *serving.DeskCity, first, last data.Date, metrics []data.Metric) ([]dayForecasts, error) {
	changes, err := a.reader.ForecastChanges(ctx, city.City.Slug, first, last, metrics)
	if err != nil {
		return nil, err
	}
	var out []dayForecasts
	day, end := data.Date(0), int64(0)
	for _, c := range changes {
		if end == 0 || c.Target != day {
			_, over := city.City.Day(c.Target)
			day, end = c.Target, over.UnixMicro()
		}
		if c.IssuedAt >= end {
			continue // given when the day was over: no forecast
		}
		if n := len(out); n == 0 || out[n-1].day != c.Target || out[n-1].metric != c.Metric {
			out = append(out, dayForecasts{day: c.Target, metric: c.Metric, clock: min(city.Clock, end-1)})
		}
		f := &out[len(out)-1]
		at, seen := slices.BinarySearchFunc(f.said, c.Source, func(x serving.ForecastChange, source string) int { return cmp.Compare(x.Source, source) })
		if seen { // changes are in order of time
			f.said[at] = c
		} else {
			f.said = slices.Insert(f.said, at, c)
		}
	}
	return out, nil
}

// normalKey identifies the normals of an extreme of a calendar day.
type normalKey struct {
	monthDay int
	metric   data.Metric
}

// readNormals reads the normals of all the calendar days.
func (a *API) readNormals(ctx context.Context, city *serving.DeskCity, known []serving.DayActual, ahead []dayForecasts) (map[normalKey][]serving.WeatherNormal, error) {
	var days []int
	for i := range known {
		days = append(days, known[i].Day.MonthDay())
	}
	for i := range ahead {
		days = append(days, ahead[i].day.MonthDay())
	}
	slices.Sort(days)
	list, err := a.reader.DayNormals(ctx, city.City.Slug, slices.Compact(days))
	out := map[normalKey][]serving.WeatherNormal{}
	for _, n := range list {
		key := normalKey{n.MonthDay, n.Metric}
		out[key] = append(out[key], n.WeatherNormal)
	}
	return out, err
}

// anomalyMaker makes the rows of one answer.
type anomalyMaker struct {
	v        *encodedSnapshot
	q        *dayQuery
	foretold []dayForecasts
	normals  map[normalKey][]serving.WeatherNormal
}

// rows are all rows, newest day first. left is the newest day for which there is no room; nil if
// all fit.
func (m *anomalyMaker) rows(known []serving.DayActual) (rows []wire.AnomalyRow, left *string) {
	type dated struct {
		day  data.Date
		rank int
		wire.AnomalyRow
	}
	var all []dated
	for i := range known {
		all = append(all, dated{known[i].Day, 2 * int(known[i].Metric), m.actual(&known[i])})
	}
	for i := range m.foretold {
		for _, row := range m.forecasts(&m.foretold[i]) {
			all = append(all, dated{m.foretold[i].day, 2*int(m.foretold[i].metric) + 1, row})
		}
	}
	slices.SortStableFunc(all, func(a, b dated) int { return cmp.Or(cmp.Compare(b.day, a.day), cmp.Compare(a.rank, b.rank)) })
	fit := len(all)
	if fit > actualRows {
		through := all[actualRows].day
		for fit = actualRows; fit > 0 && all[fit-1].day == through; fit-- {
		}
		text := through.String()
		left = &text
	}
	rows = make([]wire.AnomalyRow, fit)
	for i := range rows {
		rows[i] = all[i].AnomalyRow
	}
	return rows, left
}

// unit is the scale of all rows.
func (m *anomalyMaker) unit() data.Unit { return unitOf(m.q.city.City) }

// actual is the row of a measurement, with the normal of its own data set.
func (m *anomalyMaker) actual(a *serving.DayActual) wire.AnomalyRow {
	kind := a.Kind.String()
	row := wire.AnomalyRow{Date: a.Day.String(), Metric: a.Metric.String(), Basis: "actual", Kind: &kind, Source: a.Source, Station: textOrNull(a.Station),
		Provisional: a.Open()}
	var normal *serving.WeatherNormal
	for _, n := range serving.SortNormals(m.normals[normalKey{a.Day.MonthDay(), a.Metric}], a.Station) {
		own := a.Kind == data.KindStation && n.Station == a.Station
		derived := a.Kind == data.KindReanalysis && n.Station == "" && n.Source == "derived:"+a.Source
		if own || derived {
			normal = &n
			break
		}
	}
	m.compare(&row, a.Value, normal)
	if a.Few() { // the day's extreme may lie between the reports
		row.Anomaly, row.Z, row.Class = nil, nil, nil
		for _, name := range []string{"anomaly", "z", "class"} {
			row.NullReasons[name] = fewReports
		}
	}
	return row
}

// forecasts are the rows of the forecasts of a day: the consensus, then by source.
func (m *anomalyMaker) forecasts(f *dayForecasts) (rows []wire.AnomalyRow) {
	station := dayRules(m.q.city, f.day, m.v.dayEvent(m.q.city, f.metric, f.day)).Station
	x := serving.WeatherExtreme{Normals: serving.SortNormals(m.normals[normalKey{f.day.MonthDay(), f.metric}], station)}
	normal := x.Normal(data.KindStation)
	add := func(source string, value data.Temp) {
		if m.q.source != "" && m.q.source != source {
			return
		}
		row := wire.AnomalyRow{Date: f.day.String(), Metric: f.metric.String(), Basis: "forecast", Source: source, CrossDataset: normal != nil}
		m.compare(&row, value, normal)
		rows = append(rows, row)
	}
	if c := f.consensus(); c != nil {
		add(weather.ConsensusSource, c.Mean)
	}
	for i := range f.said {
		add(f.said[i].Source, f.said[i].Value)
	}
	return rows
}

// compare fills in what follows from value and normal, and the reasons for nulls.
func (m *anomalyMaker) compare(row *wire.AnomalyRow, value data.Temp, normal *serving.WeatherNormal) {
	u := m.unit()
	row.Value, row.Unit, row.NullReasons = wire.DegreesOf(value, u), u.String(), map[string]string{}
	if normal == nil {
		for _, name := range []string{"normal", "anomaly", "normal_std", "z", "class"} {
			row.NullReasons[name] = noNormal
		}
		return
	}
	a := weather.AnomalyOf(value, &normal.Normal)
	usual := wire.DegreesOf(normal.Value, u)
	row.Normal, row.Anomaly, row.Z = &usual, new(anomalyOf(row.Value, usual)), a.Z
	row.NormalSource, row.NormalStation, row.NormalPeriod = &normal.Source, textOrNull(normal.Station), textOrNull(normal.Period)
	if normal.Deviation != nil {
		std := normal.Deviation.Difference(u)
		row.NormalStd = &std
	} else {
		row.NullReasons["normal_std"] = noSpread
	}
	if a.Z == nil {
		row.NullReasons["z"] = noSpread
	}
	if a.Class == nil {
		row.NullReasons["class"] = noSpread
		return
	}
	class := string(*a.Class)
	row.Class = &class
}
