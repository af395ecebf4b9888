package api

import (
	"context"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// observationRows is the maximum number of observations in a response.
const observationRows = 2000

// The parameters of GET /weather/city/{city}/observations.
var (
	observedDate   = &Param{Name: "date", Kind: DayArg, Doc: "a local day of the city, YYYY-MM-DD; if omitted, the city's current day"}
	observedSource = sourceParam()
	observedLimit  = limitParam("1000", observationRows).about("number of newest observations to return; running values cover all")
)

func observationsRoute() Route {
	return Route{
		Method: fiber.MethodGet, Path: "/weather/city/{city}/observations", Section: wire.Weather, MaxRows: observationRows, Aliases: true,
		Summary: "Single temperatures of a day, as stations reported them", serve: (*API).observations, Reply: wire.Observations{},
		Codes:  []string{"city_not_found"},
		Params: []*Param{deskCity, observedDate, observedSource, observedLimit},
		Doc: "Every temperature that a source reported for the local day, oldest first, then by source, station and kind. All are in the " +
			"unit of the day's event, without the rounding of the event's rules. The same report may come from several sources, " +
			"which do not always agree, so running values are per station and source. If the plan's history limit excludes the " +
			"day, the response is empty and `truncated`.",
	}
}

// observations answers GET /weather/city/{city}/observations.
func (a *API) observations(c *fiber.Ctx, call *Call) error {
	v, city, err := a.deskCity(c, call)
	if city == nil {
		return err
	}
	day := call.dayOf(city, observedDate)
	source, limit, hidden := call.value(observedSource).text, call.number(observedLimit), day < call.firstDay(city)
	key := fmt.Sprintf("observations %s %d %d %t %s", city.City.Slug, day, limit, hidden, source)
	return a.sendSeries(c, call, v, city, key, func(ctx context.Context) (any, data.Date, error) {
		all, err := a.reader.DayObservations(ctx, city.City.Slug, day)
		out := v.observed(city, day, all, source, limit)
		if !hidden || out.Count == 0 {
			return out, 0, err
		}
		reason := planHistory
		out.EmptyReason, out.Count, out.Data = &reason, 0, []wire.ObservationRow{}
		return out, day, err
	})
}

// observed is a day's observations, those of one source if it is named, with the newest limit rows.
func (v *encodedSnapshot) observed(city *serving.DeskCity, day data.Date, all []serving.Observation, source string, limit int) *wire.ObservationSeries {
	unit := dayRules(city, day, v.dayEvent(city, data.TMax, day)).Unit
	start, end := city.City.Day(day)
	out := &wire.ObservationSeries{CityPlace: cityPlaceOf(city), Date: day.String(), Unit: unit.String(), DayStart: wholeSeconds(start), DayEnd: wholeSeconds(end), Data: []wire.ObservationRow{}}
	type series struct{ source, station string }
	type extremes struct{ highest, lowest data.Temp }
	running := map[series]extremes{}
	for i := range all {
		o := &all[i]
		if source != "" && o.Source != source {
			continue
		}
		of := series{o.Source, o.Station}
		so, known := running[of]
		if !known {
			so = extremes{o.Value, o.Value}
		}
		so = extremes{max(so.highest, o.Value), min(so.lowest, o.Value)}
		running[of] = so
		out.Data = append(out.Data, wire.ObservationRow{TS: timeOfMicros(o.TS), Station: textOrNull(o.Station), Source: o.Source, Kind: textOrNull(reportName(o.Report)),
			Value: wire.DegreesOf(o.Value, unit), RunningMax: wire.DegreesOf(so.highest, unit), RunningMin: wire.DegreesOf(so.lowest, unit)})
	}
	out.Count = len(out.Data)
	out.Data = out.Data[max(0, out.Count-limit):]
	out.EmptyReason = whyEmpty(out.Count, len(all), notMeasured)
	return out
}

// reportName is the wire name of a report's kind, "" if it is not known.
func reportName(r data.Report) string {
	switch r {
	case data.ReportRoutine:
		return "metar"
	case data.ReportSpecial:
		return "speci"
	}
	return ""
}
