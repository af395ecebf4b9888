package api

import (
	"context"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
	"pmx/rollups/weather"
)

// evolutionRows is the maximum number of changes in a response.
const evolutionRows = 2000

// The parameters of GET /weather/forecast-evolution/{city}/{date}.
var (
	evolutionDate   = &Param{Name: "date", InPath: true, Kind: DayArg, Doc: "the forecast day, a local day of the city, YYYY-MM-DD"}
	evolutionMetric = metricParam("tmax", "the day's highest or lowest temperature")
	evolutionSource = sourceParam()
	evolutionLimit  = limitParam("1000", evolutionRows).about("number of newest changes to return; the figures cover all changes")
)

func evolutionRoute() Route {
	return Route{
		Method: fiber.MethodGet, Path: "/weather/forecast-evolution/{city}/{date}", Section: wire.Weather, MaxRows: evolutionRows, Aliases: true,
		Summary: "How the forecast for a date changed over time", serve: (*API).forecastEvolution, Reply: wire.ForecastEvolution{},
		Codes:  []string{"city_not_found"},
		Params: []*Param{deskCity, evolutionDate, evolutionMetric, evolutionSource, evolutionLimit},
		Doc: "A row for each source's first forecast of the day and for each change of it; how often the source was polled in " +
			"between does not matter. Values issued after the end of the local day are not forecasts and are left out. All " +
			"temperatures are in the unit of the day's event. A source's `total_drift` is its latest value minus its first; the " +
			"overall `total_drift` is the mean over the sources. If the plan's history limit excludes the day, the response is empty and " +
			"`truncated`.",
	}
}

// forecastEvolution answers GET /weather/forecast-evolution/{city}/{date}.
func (a *API) forecastEvolution(c *fiber.Ctx, call *Call) error {
	v, city, err := a.deskCity(c, call)
	if city == nil {
		return err
	}
	day, metric := data.Date(call.value(evolutionDate).n), data.Metric(call.value(evolutionMetric).n)
	source, limit := call.value(evolutionSource).text, call.number(evolutionLimit)
	hidden := day < call.firstDay(city)
	key := fmt.Sprintf("evolution %s %d %d %d %t %s", city.City.Slug, day, metric, limit, hidden, source)
	return a.sendSeries(c, call, v, city, key, func(ctx context.Context) (any, data.Date, error) {
		changes, err := a.reader.ForecastChanges(ctx, city.City.Slug, day, day, []data.Metric{metric})
		if err != nil {
			return nil, 0, err
		}
		known, err := a.reader.DayActuals(ctx, city.City.Slug, day, day)
		e, cut := v.evolution(city, day, metric, changes, source, limit, known), data.Date(0)
		if hidden && trimEvolution(e) {
			cut = day
		}
		return e, cut, err
	})
}

// evolutionHead is the part of the response that every day has.
func (v *encodedSnapshot) evolutionHead(city *serving.DeskCity, day data.Date, metric data.Metric, unit data.Unit) *wire.EvolutionSeries {
	start, end := city.City.Day(day)
	return &wire.EvolutionSeries{CityPlace: cityPlaceOf(city), Date: day.String(), Metric: metric.String(), Unit: unit.String(),
		DayStart: wholeSeconds(start), DayEnd: wholeSeconds(end), Sources: []wire.EvolutionSource{}, Data: []wire.EvolutionStep{}, NullReasons: map[string]string{}}
}

// trimEvolution removes the data of a day that is older than the plan shows, and reports whether
// there was any. Values that are not known keep their own reason.
func trimEvolution(e *wire.EvolutionSeries) bool {
	var hidden []string
	if e.Changes > 0 {
		reason := planHistory
		e.EmptyReason, e.Changes, e.Sources, e.Data = &reason, 0, []wire.EvolutionSource{}, []wire.EvolutionStep{}
		e.First, e.Latest, e.TotalDrift, e.Range = nil, nil, nil, nil
		hidden = append(hidden, "first", "latest", "total_drift", "range")
	}
	if e.Settled != nil {
		e.Settled = nil
		hidden = append(hidden, "settled")
	}
	if e.Actual != nil {
		e.Actual = nil
		hidden = append(hidden, "actual")
	}
	for _, name := range hidden {
		e.NullReasons[name] = planHistory
	}
	return len(hidden) > 0
}

// evolution is how the forecasts of an extreme of a day changed, those of one source if it is
// named, with the newest limit changes.
func (v *encodedSnapshot) evolution(city *serving.DeskCity, day data.Date, metric data.Metric, all []serving.ForecastChange, source string, limit int,
	known []serving.DayActual) *wire.EvolutionSeries {
	event := v.dayEvent(city, metric, day)
	rules := dayRules(city, day, event)
	e := v.evolutionHead(city, day, metric, rules.Unit)
	appendDrifts(e, city, rules.Unit, day, ofSource(all, source), limit)
	e.EmptyReason = whyEmpty(len(e.Data), len(all), noForecast)
	if e.EmptyReason != nil {
		for _, name := range []string{"first", "latest", "total_drift", "range"} {
			e.NullReasons[name] = *e.EmptyReason
		}
	}
	if event == nil {
		e.NullReasons["settled"] = noEvent
	} else if e.Settled = v.settledBracket(event); e.Settled == nil {
		e.NullReasons["settled"] = notResolved
	}
	if e.Actual = measuredExtreme(known, metric, rules.Station, rules.Unit); e.Actual == nil {
		e.NullReasons["actual"] = notMeasured
	}
	return e
}

// appendDrifts adds what follows from the changes.
func appendDrifts(e *wire.EvolutionSeries, city *serving.DeskCity, u data.Unit, day data.Date, changes []serving.ForecastChange, limit int) {
	type place struct {
		source string
		at     int64
	}
	list, of := make([]weather.Change, len(changes)), map[place]*serving.ForecastChange{}
	for i := range changes {
		c := &changes[i]
		list[i] = weather.Change{Source: c.Source, IssuedAt: c.IssuedAt, Value: c.Value}
		of[place{c.Source, c.IssuedAt}] = c
	}
	w := weather.Evolve(city.City, day, list)
	e.Changes = len(w.Steps)
	for _, step := range w.Steps[max(0, len(w.Steps)-limit):] {
		e.Data = append(e.Data, evolutionStep(&step, of[place{step.Source, step.IssuedAt}], u))
	}
	for _, d := range w.Sources {
		e.Sources = append(e.Sources, wire.EvolutionSource{Source: d.Source, First: evolutionPoint(d.First, u), Latest: evolutionPoint(d.Latest, u),
			TotalDrift: d.Total.Difference(u), Range: d.Range.Difference(u), Changes: d.Steps})
	}
	if w.All != nil {
		first, latest := evolutionPoint(w.All.First, u), evolutionPoint(w.All.Latest, u)
		total, width := w.All.Total.Difference(u), w.All.Range.Difference(u)
		e.First, e.Latest, e.TotalDrift, e.Range = &first, &latest, &total, &width
	}
}

func evolutionPoint(c weather.Change, u data.Unit) wire.EvolutionPoint {
	return wire.EvolutionPoint{Source: c.Source, IssuedAt: timeOfMicros(c.IssuedAt), Value: wire.DegreesOf(c.Value, u)}
}

func evolutionStep(s *weather.Step, c *serving.ForecastChange, u data.Unit) wire.EvolutionStep {
	out := wire.EvolutionStep{
		IssuedAt: timeOfMicros(s.IssuedAt), ConfirmedAt: timeOfMicros(c.ConfirmedAt), RunAt: microsOrNull(c.RunAt),
		LeadHours: weather.Hours(s.Lead.ToStart), LeadDay: s.Lead.Days, HoursToEnd: weather.Hours(s.Lead.ToEnd),
		Source: s.Source, Value: wire.DegreesOf(s.Value, u), Unit: u.String(), Members: len(c.Members),
	}
	if s.Delta != nil {
		delta, changed := s.Delta.Difference(u), *s.Delta != 0
		out.DeltaVsPrev, out.Changed = &delta, &changed
	}
	return out
}
