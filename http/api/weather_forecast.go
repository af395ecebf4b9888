package api

import (
	"context"
	"fmt"
	"slices"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
	"pmx/rollups/weather"
)

// forecastRows is the maximum number of rows in a response: days, metrics and sources.
const forecastRows = 2000

// The parameters of GET /weather/city/{city}/forecast.
var (
	forecastDate   = &Param{Name: "date", Kind: DayArg, Doc: "only this day of the city's calendar, which may be in the past; not together with `days`"}
	forecastDays   = &Param{Name: "days", Kind: Integer, Default: "7", Min: 1, Max: aheadDays, Doc: "number of days, starting with the city's today"}
	forecastMetric = metricParam("", "only highs or only lows")
	forecastSource = sourceParam()
)

const skillBasis = "the newest forecast of every source for each day and lead day, for lead day 0 the newest before noon, compared with the settling " +
	"station's reports, its daily summary, or the midpoint of the bracket that won if it is bounded on both sides"

func forecastRoute() Route {
	return Route{
		Method: fiber.MethodGet, Path: "/weather/city/{city}/forecast", Section: wire.Weather, MaxRows: forecastRows, Aliases: true,
		Summary: "Multi-source TMAX/TMIN forecast time series", serve: (*API).cityForecast, Reply: wire.CityForecast{}, Codes: []string{"city_not_found"},
		Params: []*Param{deskCity, forecastDate, forecastDays, forecastMetric, forecastSource},
		Doc: "The latest forecast of every source for the city's today and the following days, with the `consensus` of the sources " +
			"that issued or confirmed theirs within 24 hours, and the `skill` of the sources and the consensus by lead day. For a " +
			"past day, it is the latest forecast before the day ended. `/weather/forecast-evolution` shows how a forecast changed. `consensus` " +
			"always covers all sources, even if one is requested.",
	}
}

// cityForecast answers GET /weather/city/{city}/forecast.
func (a *API) cityForecast(c *fiber.Ctx, call *Call) error {
	v, city, err := a.deskCity(c, call)
	if city == nil {
		return err
	}
	first := city.Today
	last := first + data.Date(call.value(forecastDays).n) - 1
	if asked := call.value(forecastDate); asked.given {
		if call.value(forecastDays).given {
			return invalid("days", "Give date or days, not both: date is one day, days counts from the city's today.")
		}
		first, last = data.Date(asked.n), data.Date(asked.n)
	}
	metrics, source := call.metrics(forecastMetric), call.value(forecastSource).text
	hidden := last < call.firstDay(city)
	key := fmt.Sprintf("forecast %s %d %d %v %t %s", city.City.Slug, first, last, metrics, hidden, source)
	return a.sendSeries(c, call, v, city, key, func(ctx context.Context) (any, data.Date, error) {
		all, err := a.readDayForecasts(ctx, city, first, last, metrics)
		if err != nil {
			return nil, 0, err
		}
		out := &wire.ForecastSeries{CityPlace: cityPlaceOf(city), Unit: city.City.Unit, Consensus: []wire.ForecastConsensus{}, Skill: []wire.ForecastSkill{},
			SkillBasis: skillBasis, SkillDays: weather.SkillDays, NullReasons: map[string]string{}, Data: []wire.ForecastRow{}}
		appendSkills(out, city, metrics, source)
		if hidden && len(all) > 0 {
			reason := planHistory
			out.EmptyReason, out.NullReasons["consensus"] = &reason, reason
			return out, last, nil
		}
		for i := range all {
			v.appendForecasts(out, city, &all[i], source)
		}
		out.EmptyReason = whyEmpty(len(out.Data), len(all), noForecast)
		if len(out.Consensus) == 0 {
			out.NullReasons["consensus"] = noForecast
			if len(all) > 0 {
				out.NullReasons["consensus"] = stale
			}
		}
		return out, 0, nil
	})
}

// appendForecasts adds the consensus and the rows of one extreme of a day.
func (v *encodedSnapshot) appendForecasts(out *wire.ForecastSeries, city *serving.DeskCity, f *dayForecasts, source string) {
	u := dayRules(city, f.day, v.dayEvent(city, f.metric, f.day)).Unit
	if c := f.consensus(); c != nil {
		row := wire.ForecastConsensus{TargetDate: f.day.String(), Metric: f.metric.String(), Unit: u.String(), Mean: wire.DegreesOf(c.Mean, u),
			P10: wire.DegreesOf(c.P10, u), P50: wire.DegreesOf(c.P50, u), P90: wire.DegreesOf(c.P90, u), Spread: c.Spread.Difference(u), N: c.Sources,
			OldestAt: timeOfMicros(c.Oldest), NewestAt: timeOfMicros(c.Newest)}
		if c.Deviation != nil {
			std := c.Deviation.Difference(u)
			row.Std = &std
		}
		out.Consensus = append(out.Consensus, row)
	}
	for _, x := range ofSource(f.said, source) {
		if len(out.Data) == forecastRows {
			return
		}
		out.Data = append(out.Data, forecastRow(city, &x, f.clock, u))
	}
}

func forecastRow(city *serving.DeskCity, x *serving.ForecastChange, clock int64, u data.Unit) wire.ForecastRow {
	lead, reading := weather.LeadOf(city.City, x.Target, x.IssuedAt), x.Reading()
	row := wire.ForecastRow{
		TargetDate: x.Target.String(), Metric: x.Metric.String(), Source: x.Source, Value: wire.DegreesOf(x.Value, u), Unit: u.String(),
		IssuedAt: timeOfMicros(x.IssuedAt), ConfirmedAt: timeOfMicros(x.ConfirmedAt), RunAt: microsOrNull(x.RunAt),
		LeadHours: weather.Hours(lead.ToStart), LeadDay: lead.Days, Current: reading.CurrentAt(clock), Members: len(x.Members),
	}
	if own, ok := weather.ConsensusOf([]weather.Reading{reading}, x.ConfirmedAt); ok && own.Members > 0 {
		p10, p90 := wire.DegreesOf(own.P10, u), wire.DegreesOf(own.P90, u)
		row.P10, row.P90 = &p10, &p90
	}
	return row
}

// appendSkills adds the skill of the consensus, and of one source or of all.
func appendSkills(out *wire.ForecastSeries, city *serving.DeskCity, metrics []data.Metric, source string) {
	u := unitOf(city.City)
	if city.Weather != nil {
		for _, s := range city.Weather.Skills {
			if !slices.Contains(metrics, s.Metric) || source != "" && s.Source != source && s.Source != weather.ConsensusSource {
				continue
			}
			row := wire.ForecastSkill{Source: s.Source, Metric: s.Metric.String(), LeadDay: s.Lead, Unit: u.String(),
				Bias: s.Bias.Difference(u), MAE: s.MAE.Difference(u), RMSE: s.RMSE.Difference(u), N: s.N, SettledDays: s.Settled}
			if s.Settled > 0 {
				row.HitPct = new(data.MulDiv(100*data.One, data.Micro(s.Hits), data.Micro(s.Settled)))
			}
			out.Skill = append(out.Skill, row)
		}
	}
	if len(out.Skill) == 0 {
		out.NullReasons["skill"] = noScored
	}
}
