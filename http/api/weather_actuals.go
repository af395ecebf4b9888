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
)

const (
	// actualDays is the maximum number of days in a list of past days.
	actualDays = 365
	// actualRows is the maximum number of rows of such a list: a few sources for every day.
	actualRows = 10 * actualDays
)

// The parameters of GET /weather/city/{city}/actuals.
var (
	actualsLimit  = pastDaysParam()
	actualsKind   = &Param{Name: "kind", Kind: Choice, Choices: []string{settledKind, data.KindStation.String(), data.KindReanalysis.String()}, Doc: "only this kind"}
	actualsMetric = metricParam("", "only highs or only lows")
	actualsSource = sourceParam()
)

// settledKind is the kind of values that follow from an event's settlement.
const settledKind = "settled"

func pastDaysParam() *Param {
	return limitParam("30", actualDays).about("number of newest days that have data; the plan's history limit may reduce it")
}

func actualsRoute() Route {
	return Route{
		Method: fiber.MethodGet, Path: "/weather/city/{city}/actuals", Section: wire.Weather, MaxRows: actualDays, MaxItems: actualRows, Aliases: true,
		Summary: "Observed daily highs and lows", serve: (*API).cityActuals, Reply: wire.CityActuals{}, Codes: []string{"city_not_found"},
		Params: []*Param{deskCity, actualsLimit, actualsKind, actualsMetric, actualsSource},
		Doc: "A row per day and source, newest day first; `limit` and `max_rows` count days. `settled` is the bracket that won an " +
			"event, which is all that a settlement reveals. `station` was measured, either by single reports (`observations` says " +
			"how many) or in a daily summary. `reanalysis` is computed on a grid and may differ from any station by one or two " +
			"degrees. The kinds are never mixed. If a source revises its values, the row shows the latest one, together with the " +
			"first one and `revised_at`.",
	}
}

// dayQuery is a query of the newest past days of a city.
type dayQuery struct {
	city    *serving.DeskCity
	metrics []data.Metric
	kinds   []data.ActualKind // kinds that are read from the database
	source  string            // "" for all
	limit   int
	first   data.Date // the oldest day that the plan shows
	// narrowed says that the query is restricted.
	narrowed bool
}

// dayQuery parses the parameters that lists of past days share.
func (call *Call) dayQuery(city *serving.DeskCity, limit, metric, source *Param) dayQuery {
	return dayQuery{city: city, limit: call.number(limit), first: call.firstDay(city), metrics: call.metrics(metric),
		kinds: []data.ActualKind{data.KindStation, data.KindReanalysis}, source: call.value(source).text,
		narrowed: call.value(metric).given || call.value(source).given}
}

// restrictToKind keeps only one kind, or none if it is not among the kinds.
func (q *dayQuery) restrictToKind(kind string) {
	q.kinds = slices.DeleteFunc(q.kinds, func(k data.ActualKind) bool { return k.String() != kind })
	q.narrowed = true
}

// key has everything that the response to q depends on.
func (q *dayQuery) key() string {
	return fmt.Sprintf("%s %d %v %v %d %s", q.city.City.Slug, q.limit, q.metrics, q.kinds, q.first, q.source)
}

// metrics are the metrics that p selects.
func (call *Call) metrics(p *Param) []data.Metric {
	if m := call.value(p); m.given {
		return []data.Metric{data.Metric(m.n)}
	}
	return []data.Metric{data.TMax, data.TMin}
}

// pastDays returns the newest days with any data, newest first, including the days further; cut is
// the oldest one that is too old for the plan, 0 for none.
func (a *API) pastDays(ctx context.Context, q *dayQuery, further []data.Date) (days []data.Date, cut data.Date, err error) {
	if len(q.kinds) > 0 {
		if days, err = a.reader.ActualDays(ctx, q.city.City.Slug, firstDay, lastDay, q.metrics, q.kinds, q.source, q.limit); err != nil {
			return nil, 0, err
		}
	}
	days = append(days, further...)
	slices.SortFunc(days, func(a, b data.Date) int { return cmp.Compare(b, a) })
	days = slices.Compact(days)
	days = days[:min(len(days), q.limit)]
	shown := days
	for len(shown) > 0 && shown[len(shown)-1] < q.first {
		shown = shown[:len(shown)-1]
	}
	if len(shown) < len(days) {
		cut = days[len(days)-1]
	}
	return shown, cut, nil
}

// readDayActuals reads the values of days, newest first, that the query selects.
func (a *API) readDayActuals(ctx context.Context, q *dayQuery, days []data.Date) ([]serving.DayActual, error) {
	if len(days) == 0 || len(q.kinds) == 0 {
		return nil, nil
	}
	all, err := a.reader.DayActuals(ctx, q.city.City.Slug, days[len(days)-1], days[0])
	return slices.DeleteFunc(all, func(x serving.DayActual) bool {
		return !slices.Contains(q.metrics, x.Metric) || !slices.Contains(q.kinds, x.Kind) || q.source != "" && x.Source != q.source
	}), err
}

// cityActuals answers GET /weather/city/{city}/actuals.
func (a *API) cityActuals(c *fiber.Ctx, call *Call) error {
	v, city, err := a.deskCity(c, call)
	if city == nil {
		return err
	}
	q := call.dayQuery(city, actualsLimit, actualsMetric, actualsSource)
	settled := true
	if kind := call.value(actualsKind); kind.given {
		asked := actualsKind.Choices[kind.n]
		settled = asked == settledKind
		q.restrictToKind(asked)
	}
	key := fmt.Sprintf("actuals %s %t", q.key(), settled)
	return a.sendSeries(c, call, v, city, key, func(ctx context.Context) (any, data.Date, error) {
		out := &wire.ActualSeries{CityPlace: cityPlaceOf(city), Unit: city.City.Unit, Data: []wire.ActualRow{}}
		var won []*serving.DeskEvent
		if settled {
			won = v.wonEvents(&q)
		}
		further := make([]data.Date, len(won))
		for i, e := range won {
			further[i] = e.Day
		}
		days, cut, err := a.pastDays(ctx, &q, further)
		if err != nil {
			return nil, 0, err
		}
		known, err := a.readDayActuals(ctx, &q, days)
		if err != nil {
			return nil, 0, err
		}
		out.Data, out.LeftOut = v.actualRows(&q, days, won, known)
		out.EmptyReason = q.whyEmpty(len(out.Data), cut)
		return out, cut, nil
	})
}

// whyEmpty says why no row is left; nil if one is.
func (q *dayQuery) whyEmpty(rows int, cut data.Date) *string {
	reason := notMeasured
	switch {
	case rows > 0:
		return nil
	case cut != 0:
		reason = planHistory
	case q.narrowed:
		reason = noMatch
	}
	return &reason
}

// wonEvents returns the city's events that were won, newest first, as many as the query can show.
func (v *encodedSnapshot) wonEvents(q *dayQuery) (won []*serving.DeskEvent) {
	days, last := 0, data.Date(0)
	for _, e := range slices.Backward(q.city.EventsOf(firstDay, lastDay)) {
		if !slices.Contains(q.metrics, e.Metric) || q.source != "" && q.source != string(e.Rules.Source) || e.Winner(v.snap.Catalog) < 0 {
			continue
		}
		if e.Day != last {
			days, last = days+1, e.Day
		}
		if days > q.limit {
			break
		}
		won = append(won, e)
	}
	return won
}

// actualRows are the rows of days, newest first: for each day settlements, in the order of the
// desk, then measurements. left is the newest day for which there is no room; nil if all fit.
func (v *encodedSnapshot) actualRows(q *dayQuery, days []data.Date, won []*serving.DeskEvent, known []serving.DayActual) (rows []wire.ActualRow, left *string) {
	rows = []wire.ActualRow{}
	for _, day := range days {
		from := len(rows)
		for _, e := range slices.Backward(won) {
			if e.Day == day {
				rows = append(rows, v.settledRow(e))
			}
		}
		first, found := slices.BinarySearchFunc(known, day, func(a serving.DayActual, d data.Date) int { return cmp.Compare(a.Day, d) })
		end := first
		for found && end < len(known) && known[end].Day == day {
			end++
		}
		rows = append(rows, q.measuredRows(known[first:end])...)
		if len(rows) > actualRows {
			through := day.String()
			return rows[:from], &through
		}
	}
	return rows, nil
}

// settledRow is the row of an event that was won.
func (v *encodedSnapshot) settledRow(e *serving.DeskEvent) wire.ActualRow {
	final := false
	row := wire.ActualRow{Date: e.Day.String(), Kind: settledKind, Source: textOrNull(string(e.Rules.Source)), Station: textOrNull(e.Rules.Station),
		Unit: e.Rules.Unit.String(), Provisional: &final, Settled: v.settledBracket(e),
		NullReasons: map[string]string{"tmax": inBracket, "tmin": inBracket}}
	if e.Metric == data.TMax {
		row.NullReasons["tmin"] = notAsked
	} else {
		row.NullReasons["tmax"] = notAsked
	}
	return row
}

// measuredRows joins highs and lows of one day to rows, stations before grids.
func (q *dayQuery) measuredRows(known []serving.DayActual) (rows []wire.ActualRow) {
	type origin struct {
		kind            data.ActualKind
		source, station string
		single          bool
	}
	of := func(a *serving.DayActual) origin { return origin{a.Kind, a.Source, a.Station, a.Observations != nil} }
	var origins []origin
	joined := map[origin][2]*serving.DayActual{}
	for i := range known {
		a := &known[i]
		both, seen := joined[of(a)]
		if !seen {
			origins = append(origins, of(a))
		}
		both[a.Metric] = a
		joined[of(a)] = both
	}
	slices.SortStableFunc(origins, func(a, b origin) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.source, b.source), cmp.Compare(a.station, b.station))
	})
	for _, o := range origins {
		rows = append(rows, q.measuredRow(joined[o]))
	}
	return rows
}

// measuredRow is the row of one source's high and low, one of which may be nil.
func (q *dayQuery) measuredRow(both [2]*serving.DayActual) wire.ActualRow {
	u := unitOf(q.city.City)
	row := wire.ActualRow{Unit: q.city.City.Unit, NullReasons: map[string]string{}}
	temps := [2]struct{ now, first **wire.Degrees }{{&row.TMax, &row.FirstTMax}, {&row.TMin, &row.FirstTMin}}
	said := true
	final := false
	row.Provisional = &final
	for m, a := range both {
		if a == nil {
			reason := notMeasured
			if !slices.Contains(q.metrics, data.Metric(m)) {
				reason = notAsked
			}
			row.NullReasons[data.Metric(m).String()] = reason
			continue
		}
		now, first := wire.DegreesOf(a.Value, u), wire.DegreesOf(a.FirstValue, u)
		*temps[m].now, *temps[m].first = &now, &first
		row.Date, row.Kind, row.Source, row.Station, row.Observations = a.Day.String(), a.Kind.String(), &a.Source, textOrNull(a.Station), a.Observations
		row.Revisions += a.Revisions
		if at := microsOrNull(a.RevisedAt); at != nil && (row.RevisedAt == nil || at.After(*row.RevisedAt)) {
			row.RevisedAt = at
		}
		if open := a.Open(); open == nil {
			said = false
		} else if *open {
			row.Provisional = open
		}
	}
	if !said && !*row.Provisional {
		row.Provisional = nil
		row.NullReasons["provisional"] = notSaid
	}
	return row
}
