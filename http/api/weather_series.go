package api

import (
	"context"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/wire"
	"pmx/rollups/serving"
	"pmx/rollups/weather"
)

// weatherReader is what the weather endpoints read from the database.
type weatherReader interface {
	// ForecastChanges returns the points at which sources changed their forecasts of a city's days
	// from first up to last, by day, metric, time and source.
	ForecastChanges(ctx context.Context, city string, first, last data.Date, metrics []data.Metric) ([]serving.ForecastChange, error)
	// DayActuals returns the current values of sources for a city's days from first up to last, by
	// day, metric, kind, source and station.
	DayActuals(ctx context.Context, city string, first, last data.Date) ([]serving.DayActual, error)
	// ActualDays returns the n newest days of a city from first up to last, newest first, that have
	// a value for one of the metrics, of one of the kinds, from a source ("" for any).
	ActualDays(ctx context.Context, city string, first, last data.Date, metrics []data.Metric, kinds []data.ActualKind, source string, n int) ([]data.Date, error)
	// DayNormals returns the normals of calendar days (month × 100 + day) in a city, by day,
	// metric, source, station and period.
	DayNormals(ctx context.Context, city string, days []int) ([]serving.DayNormal, error)
	// DayObservations returns the single temperatures of a city's day, in order of time, then of
	// source, station and kind of report.
	DayObservations(ctx context.Context, city string, day data.Date) ([]serving.Observation, error)
}

func weatherSeriesRoutes() []Route {
	return []Route{forecastRoute(), actualsRoute(), anomaliesRoute(), evolutionRoute(), observationsRoute(), impliedRoute()}
}

// dayOf is the requested local day; if none is, the city's current one.
func (call *Call) dayOf(city *serving.DeskCity, day *Param) data.Date {
	if given := call.value(day); given.given {
		return data.Date(given.n)
	}
	return city.Today
}

func metricParam(def, doc string) *Param {
	return &Param{Name: "metric", Kind: Choice, Default: def, Choices: []string{data.TMax.String(), data.TMin.String()}, Doc: doc}
}

func sourceParam() *Param {
	return &Param{Name: "source", Kind: Text, Min: 1, Max: 100, Doc: "only this source, given by its name"}
}

// Reasons why a series is empty, or a value null.
const (
	noForecast  = string(serving.NoForecast)    // no source has a forecast of it
	noMatch     = "no_match"                    // the parameters select nothing
	planHistory = "plan_history"                // older than the plan shows
	noEvent     = "no_event"                    // the venue has no event for the day
	notResolved = "not_resolved"                // its event has no winner yet
	notMeasured = "not_measured"                // no measurement is known
	notAsked    = "not_asked"                   // the parameters leave it out
	notSaid     = "not_said"                    // the source does not say
	inBracket   = "in_bracket"                  // only the bracket that it lies in is known
	noNormal    = string(serving.NoNormal)      // no normal of the same data set is known
	stale       = string(serving.StaleForecast) // every source has been silent for more than 24 hours
	noScored    = string(serving.NoScoredDays)  // no forecast of a past day whose truth is known
	noSpread    = "no_spread"                   // the normal has no standard deviation, or no percentiles
	fewReports  = "few_observations"            // too few single reports to be a day's extreme
)

// cachedSeries is a series encoded once for all requests in one epoch.
type cachedSeries struct {
	payload []byte    // everything after as_of, with a leading comma
	cut     data.Date // the oldest day that the plan left out; 0: none
}

// sendSeries answers with the result of load for key: the members after as_of, and the oldest day
// that was left out for its age, 0 for none. Everything that load depends on must be in key.
func (a *API) sendSeries(c *fiber.Ctx, call *Call, v *encodedSnapshot, city *serving.DeskCity, key string,
	load func(ctx context.Context) (body any, cut data.Date, err error)) error {
	s, err := cachedRead(a, v, key, func(ctx context.Context) (s cachedSeries, err error) {
		body, cut, err := load(ctx)
		if err != nil {
			return s, err
		}
		text, err := encodeJSON(nil, body)
		if err != nil {
			return s, err
		}
		text[0] = ','
		return cachedSeries{payload: text[:len(text)-1], cut: cut}, nil
	})
	if err != nil {
		return err
	}
	e := envelope{tier: call.tier, maxRows: call.route.MaxRows, hint: access.Nobody}
	if s.cut != 0 {
		e.trimDays(int(city.Today - s.cut))
	}
	mark, start := a.beginReply(call, v.asOf, e)
	call.buf = append(call.buf, s.payload...)
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// firstDay is the oldest day of the city that the plan shows, counted back from the
// city's own today.
func (call *Call) firstDay(city *serving.DeskCity) data.Date {
	if days := call.tier.Caps().HistoryDays; days > 0 && city.Today != 0 {
		return city.Today - data.Date(days)
	}
	return firstDay
}

// cityPlaceOf identifies the city of a series.
func cityPlaceOf(city *serving.DeskCity) wire.CityPlace {
	return wire.CityPlace{City: city.City.Slug, Name: city.City.Title, Timezone: city.City.Zone, LocalDate: localDate(city)}
}

// dayEvent is the event that is used for an extreme of the city's day; nil if the venue has none.
func (v *encodedSnapshot) dayEvent(city *serving.DeskCity, metric data.Metric, day data.Date) *serving.DeskEvent {
	events := city.EventsOf(day, day)
	for i, canonical := range serving.Canonical(v.snap.Catalog, events) {
		if canonical && events[i].Metric == metric {
			return events[i]
		}
	}
	return nil
}

// dayRules are the rules of an event, or if there is none, the usual rules of the city's events of
// that day.
func dayRules(city *serving.DeskCity, day data.Date, e *serving.DeskEvent) weather.Rules {
	if e != nil {
		return e.Rules
	}
	return weather.UsualRules(city.City, day)
}

// settledBracket returns the bracket that won an event; nil if none has.
func (v *encodedSnapshot) settledBracket(e *serving.DeskEvent) *wire.SettledBracket {
	i := e.Winner(v.snap.Catalog)
	if i < 0 {
		return nil
	}
	b := e.Brackets[i].Bracket
	lo, hi := bracketBounds(b)
	m := v.snap.Catalog.Market(e.Brackets[i].Market)
	return &wire.SettledBracket{
		EventID: e.ID, EventSlug: e.Key, ConditionID: m.Condition.String(), Metric: e.Metric.String(), Label: b.Label(), Lo: lo, Hi: hi,
		Unit: e.Rules.Unit.String(), Rounding: e.Rules.Rounding.String(), Station: textOrNull(e.Rules.Station),
		ResolutionSource: textOrNull(string(e.Rules.Source)), ResolutionFallback: textOrNull(string(e.Rules.Fallback)), ResolvedAt: microsOrNull(m.ResolvedTS),
		ResolvedAtSource: textOrNull(m.ResolvedBy.String()),
	}
}

// measuredExtreme is the best value of an extreme of a day, in the scale u; nil if there is none.
func measuredExtreme(known []serving.DayActual, metric data.Metric, station string, u data.Unit) *wire.MeasuredExtreme {
	a := serving.BestActual(known, metric, station)
	if a == nil {
		return nil
	}
	return &wire.MeasuredExtreme{
		Kind: a.Kind.String(), Source: a.Source, Station: textOrNull(a.Station), Settling: a.Kind == data.KindStation && a.Station == station,
		Value: wire.DegreesOf(a.Value, u), FirstValue: wire.DegreesOf(a.FirstValue, u), Provisional: a.Open(),
		RevisedAt: microsOrNull(a.RevisedAt), Revisions: a.Revisions, Observations: a.Observations,
	}
}

func timeOfMicros(us int64) time.Time { return wholeSeconds(time.UnixMicro(us)) }

func microsOrNull(us int64) *time.Time {
	if us == 0 {
		return nil
	}
	return timeOrNull(time.UnixMicro(us))
}

// ofSource keeps the changes of one source; "" keeps all.
func ofSource(changes []serving.ForecastChange, source string) []serving.ForecastChange {
	if source == "" {
		return changes
	}
	return slices.DeleteFunc(slices.Clone(changes), func(c serving.ForecastChange) bool { return c.Source != source })
}

// whyEmpty says why nothing is left of n rows; nil if something is left.
func whyEmpty(left, n int, none string) *string {
	switch {
	case left > 0:
		return nil
	case n > 0:
		none = noMatch
	}
	return &none
}
