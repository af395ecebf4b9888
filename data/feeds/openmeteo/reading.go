package openmeteo

import (
	"maps"
	"slices"
	"time"

	"pmx/data"
	"pmx/data/feeds/shape"
)

// reading is a response while it is converted to rows.
type reading struct {
	answer
	meta meta
	line int64
	sink data.Sink
	kind kind

	city   data.City
	seen   int64 // unix µs; 0 unknown
	run    int64
	models []string
	told   bool
}

// prepare determines the service, place and time of the response. The error is a *RowError for a
// response that cannot be used.
func (r *reading) prepare(rd *reader, i int) (err error) {
	if r.city, err = r.meta.place(rd.src.Cities, &r.answer, i); err != nil {
		return err
	}
	if r.seen, err = r.meta.seen(&r.answer, rd.src.Name); err != nil {
		return err
	}
	if r.run, err = r.runTime(); err != nil {
		return err
	}
	r.models, r.told = r.meta.models()
	if r.kind == unknown {
		r.kind = r.meta.kind()
	}
	if r.kind == unknown || r.kind == forecast {
		if told := r.kindOfKeys(); told != unknown {
			r.kind = told
		}
	}
	if r.kind == unknown {
		r.kind = rd.usual
	}
	switch r.kind {
	case unknown:
		return shape.Known("unknown_kind")
	case stitched:
		return shape.Known("stitched_forecast")
	}
	return nil
}

// kindOfKeys is the service according to the names of the values.
func (r *reading) kindOfKeys() kind {
	for _, table := range []map[string]column{r.Daily, r.Hourly} {
		for key := range table {
			n, ok := parseName(key)
			switch {
			case !ok:
			case n.previous > 0:
				return previousRuns
			case n.member > 0:
				return ensemble
			case isReanalysis(n.model):
				return archive
			}
		}
	}
	if r.Current.Time != "" {
		return forecast
	}
	return unknown
}

// published is the maximum time from the start of a run until its values are published.
const published = 8 * time.Hour

// runTime is the model run that was requested by name, 0 if none was.
func (r *reading) runTime() (int64, error) {
	text := r.meta.Run.Trim()
	if text == "" {
		text = r.meta.asked().Get("run")
	}
	if at, err := instant(text, 0); err == nil {
		return at.UnixMicro(), nil
	}
	return shape.Text(text).Micros()
}

// issued is when a forecast was published: when it was fetched, unless it is from a run that was
// published long before.
func (r *reading) issued() int64 {
	if out := r.run + published.Microseconds(); r.run > 0 && (r.seen == 0 || r.seen > out) {
		return out
	}
	return r.seen
}

// series has the values of one source: by member, and by how many days ahead they were predicted.
type series struct {
	model    string
	previous int
	metric   data.Metric
	days     map[data.Date]*dayValues
}

// dayValues is a day's extreme by every member of a source.
type dayValues struct {
	values map[int]data.Temp
	unit   data.Unit
	shift  int32
	last   time.Time // the last hour it is made from; zero for a daily value
}

// emit passes the rows of the response to the sink.
func (r *reading) emit() error {
	all, err := r.gather()
	if err != nil {
		return err
	}
	for _, s := range all {
		for _, d := range slices.Sorted(maps.Keys(s.days)) {
			if err := r.row(s, d, s.days[d]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *reading) row(s *series, d data.Date, v *dayValues) error {
	if v.shift > maxShift || v.shift < -maxShift {
		return r.refuse(shape.Bad("wrong_days", "%s of %s does not begin with the city's day but %d seconds off: request it with the city's time zone",
			d, r.city.Title, v.shift))
	}
	if _, ok := v.values[0]; !ok && r.kind != ensemble {
		return r.refuse(shape.Bad("bad_series", "%s has members of an ensemble only", d))
	}
	if r.kind == archive {
		return r.actual(s, d, v)
	}
	f := data.Forecast{City: r.city.Slug, Target: d, Metric: s.metric, Source: r.sourceOf(s), IssuedAt: r.issued(), RunAt: r.run,
		Value: v.values[0], Shift: v.shift}
	if r.kind == ensemble {
		if len(v.values) < 2 {
			return r.refuse(shape.Bad("bad_series", "%s of %s has fewer than two members", d, f.Source))
		}
		members := slices.Collect(maps.Values(v.values))
		f = data.NewForecast(f, members, v.unit)
	}
	if s.previous > 0 {
		if v.last.IsZero() {
			_, end := r.city.Day(d)
			v.last = end.Add(-time.Hour)
		}
		f.IssuedAt = v.last.Add(-time.Duration(s.previous) * 24 * time.Hour).UnixMicro()
	}
	if f.IssuedAt == 0 {
		return r.refuse(shape.Known("no_issue_time"))
	}
	return r.sink.Forecast(r.line, f)
}

// previousPrefix marks sources whose days are composed of hours predicted a fixed time ahead: no
// single run predicted such a day.
const previousPrefix = "previous:"

func (r *reading) sourceOf(s *series) string {
	usual := "best_match"
	if r.kind == archive {
		usual = "archive_best_match"
	}
	model := s.model
	if model == "" {
		model = source(r.models, r.told, usual)
	}
	switch r.kind {
	case ensemble:
		return ofEnsemble(model)
	case previousRuns:
		return previousPrefix + model
	}
	return model
}

// settledAfter is the number of days after which the archive no longer changes a day: ERA5 replaces
// the forecast model's analysis after five.
const settledAfter = 7

func (r *reading) actual(s *series, d data.Date, v *dayValues) error {
	a := data.Actual{City: r.city.Slug, Day: d, Metric: s.metric, Kind: data.KindReanalysis, Source: r.sourceOf(s),
		SeenAt: r.seen, Value: v.values[0], Shift: v.shift}
	if r.seen > 0 {
		_, end := r.city.Day(d)
		seen := time.UnixMicro(r.seen)
		if seen.Before(end) {
			return r.refuse(shape.Bad("unfinished_day", "%s of %s was not over when this was fetched", d, r.city.Title))
		}
		provisional := seen.Before(end.AddDate(0, 0, settledAfter))
		a.Provisional = &provisional
	}
	return r.sink.Actual(r.line, a)
}

func (r *reading) refuse(err *shape.RowError) error { return shape.Reject(r.sink, r.line, nil, err) }
