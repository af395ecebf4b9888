package ingest

import (
	"database/sql/driver"
	"strconv"
	"strings"
	"time"

	"pmx/data"
)

// weatherTable is a kind of weather rows: the fact table, the names of its temporary tables and
// statements, and its count in a receipt.
type weatherTable struct {
	table, short, key, order string
	count                    func(*Receipt) *int64
}

// weatherTables returns all of them; appenders are in the same order.
func weatherTables() []weatherTable {
	return []weatherTable{
		{"weather_issue", "issue", "IssueKey", "IssueOrder", func(r *Receipt) *int64 { return &r.Forecasts }},
		{"weather_report", "report", "ReportKey", "ReportOrder", func(r *Receipt) *int64 { return &r.Actuals }},
		{"weather_obs", "obs", "ObsKey", "ObsOrder", func(r *Receipt) *int64 { return &r.Observations }},
		{"weather_normal", "normal", "NormalKey", "NormalOrder", func(r *Receipt) *int64 { return &r.Normals }},
	}
}

func (t weatherTable) replacements(batch int64) []string {
	return []string{"@short", t.short, "@table", t.table, "@batch", strconv.FormatInt(batch, 10),
		"@order", statements.Get(t.order), "@key", statements.Get(t.key)}
}

func (s *source) hasWeather() bool { return s.feed.Kind == data.KindWeather }

// stageWeather creates the tables that a feed of the weather fills.
func (j *fileImport) stageWeather() error {
	return j.execAll("StageIssue", "StageReport", "StageObs", "StageNormal")
}

// prepareWeather finds new rows among the staged ones.
func (j *fileImport) prepareWeather() error {
	if !j.src.hasWeather() {
		return j.empty("NoIssue", "NoReport", "NoObs", "NoNormal")
	}
	for _, t := range weatherTables() {
		replace := t.replacements(j.batch)
		if err := j.exec("WeatherNew", replace...); err != nil {
			return err
		}
		var staged, added, replaced, withdrawn int64
		err := j.conn.QueryRowContext(j.ctx, statements.Get("WeatherFigures", replace...)).Scan(&staged, &added, &replaced, &withdrawn)
		if err != nil {
			return err
		}
		*t.count(&j.receipt) = added
		j.receipt.Corrected += replaced
		j.receipt.Withdrawn += withdrawn
		if staged > added {
			if err := j.countKnown(staged, added, replace); err != nil {
				return err
			}
		}
	}
	return nil
}

// countKnown counts rows that repeat another row of the file, rows that are already in the
// database, and rows for which the file or the database has a later value.
func (j *fileImport) countKnown(staged, added int64, replace []string) error {
	var said, known int64
	if err := j.conn.QueryRowContext(j.ctx, statements.Get("WeatherKnown", replace...)).Scan(&said, &known); err != nil {
		return err
	}
	j.receipt.Identical += staged - said
	j.receipt.AlreadyThere += known
	j.receipt.Superseded += said - known - added
	return nil
}

// applyWeather adds new rows to the facts, and recomputes normals whose reanalysis has changed.
func (j *fileImport) applyWeather() error {
	if !j.src.hasWeather() {
		return nil
	}
	for _, t := range weatherTables() {
		if *t.count(&j.receipt) == 0 {
			continue
		}
		for _, name := range []string{"DropWeather", "AddWeather"} {
			if err := j.exec(name, t.replacements(j.batch)...); err != nil {
				return err
			}
		}
	}
	if j.receipt.Actuals == 0 {
		return nil
	}
	if err := j.execAll("Climates", "DropDerived"); err != nil {
		return err
	}
	return j.exec("AddDerived", "@batch", strconv.FormatInt(j.batch, 10))
}

// weatherRows appends to the staging tables of the weather.
type weatherRows struct {
	issue, report, obs, normal *appender
	cities                     *data.Gazetteer
	latest                     int64 // no time is after this, unix µs
}

// The range of days of the weather: the oldest series begin in 1763.
var firstDay, lastDay = data.DateFrom(1763, time.January, 1), data.DateFrom(2100, time.January, 1)

// rejectReason returns the reject reason for a city, day and times; "" if they are valid.
func (w *weatherRows) rejectReason(city string, day data.Date, times ...int64) string {
	if _, ok := w.cities.City(city); !ok {
		return "unknown_city"
	}
	if day < firstDay || day > lastDay {
		return "bad_date"
	}
	for _, ts := range times {
		if ts < 0 {
			return "bad_time"
		}
		if ts > w.latest {
			return "future_time"
		}
	}
	return ""
}

// Forecast stages a forecast.
func (s *sink) Forecast(line int64, f data.Forecast) error {
	reason := s.weather.rejectReason(f.City, f.Target, f.IssuedAt, f.RunAt)
	if city, ok := s.weather.cities.City(f.City); ok && reason == "" {
		if _, end := city.Day(f.Target); end.UnixMicro() <= f.IssuedAt {
			reason = "past_day"
		}
	}
	if reason == "" && (f.IssuedAt == 0 || f.Source == "") {
		reason = "no_issue_time"
	}
	if reason != "" {
		return s.rejectWeather(line, reason, f.City, f.Target.String(), f.Metric.String(), f.Source)
	}
	s.countRow()
	var members driver.Value
	if len(f.Members) > 0 {
		list := make([]int32, len(f.Members))
		for i, m := range f.Members {
			list[i] = int32(m)
		}
		members = list
	}
	return s.weather.issue.add(len(f.Source)+4*len(f.Members), f.City, int32(f.Target), int8(f.Metric), f.Source, f.IssuedAt, orNone(f.RunAt),
		int32(f.Value), members, f.Shift)
}

// Actual stages a day's extreme.
func (s *sink) Actual(line int64, a data.Actual) error {
	if reason := s.weather.rejectReason(a.City, a.Day, a.SeenAt); reason != "" {
		return s.rejectWeather(line, reason, a.City, a.Day.String(), a.Metric.String(), a.Source, a.Station)
	}
	s.countRow()
	return s.weather.report.add(len(a.Source)+len(a.Station), a.City, int32(a.Day), int8(a.Metric), int8(a.Kind), a.Source, a.Station, a.SeenAt,
		unless(a.Withdrawn, a.Value), value(a.Provisional), a.Shift)
}

// Observation stages a station's report.
func (s *sink) Observation(line int64, o data.Observation) error {
	city, _ := s.weather.cities.City(o.City)
	day := city.DateOf(time.UnixMicro(o.TS))
	if reason := s.weather.rejectReason(o.City, day, o.TS, o.SeenAt); reason != "" {
		return s.rejectWeather(line, reason, o.City, time.UnixMicro(o.TS).UTC().Format(time.RFC3339), o.Source, o.Station)
	}
	s.countRow()
	return s.weather.obs.add(len(o.Source)+len(o.Station), o.City, o.Station, o.Source, o.TS, int8(o.Report), int32(day), unless(o.Withdrawn, o.Value),
		temp(o.Whole), o.SeenAt, o.Correction)
}

// Normal stages a normal.
func (s *sink) Normal(line int64, n data.Normal) error {
	if reason := s.weather.rejectReason(n.City, firstDay); reason != "" {
		return s.rejectWeather(line, reason, n.City, strconv.Itoa(n.MonthDay), n.Metric.String(), n.Source, n.Station)
	}
	s.countRow()
	var years driver.Value
	if n.Years > 0 {
		years = n.Years
	}
	return s.weather.normal.add(len(n.Source)+len(n.Station)+len(n.Period), n.City, int8(n.Metric), int16(n.MonthDay), n.Source, n.Station, n.Period, int32(n.Value),
		temp(n.Deviation), temp(n.P10), temp(n.P90), years)
}

// rejectWeather rejects a parsed row of the weather that cannot be used.
func (s *sink) rejectWeather(line int64, reason string, row ...string) error {
	return s.Reject(line, reason, s.j.explain(reason), strings.Join(row, " "))
}

func orNone(us int64) driver.Value {
	if us == 0 {
		return nil
	}
	return us
}

// unless returns t, or NULL if the source has withdrawn it.
func unless(withdrawn bool, t data.Temp) driver.Value {
	if withdrawn {
		return nil
	}
	return int32(t)
}

func temp(t *data.Temp) driver.Value {
	if t == nil {
		return nil
	}
	return int32(*t)
}
