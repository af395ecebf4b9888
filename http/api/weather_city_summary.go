package api

import (
	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
	"pmx/rollups/weather"
)

// summaryDays is how many past days the summary of a city shows.
const summaryDays = 7

// citySummary makes the payload of GET /weather/city/{city}.
func (v *encodedSnapshot) citySummary(c *serving.DeskCity) wire.WeatherCitySummary {
	u := unitOf(c.City)
	summary := wire.WeatherCitySummary{WeatherCity: cityRow(v.snap.Desk, c), Running: []wire.WeatherRunning{}, Forecasts: []wire.WeatherReading{},
		Outlook: []wire.WeatherOutlook{}, Actuals: []wire.WeatherMeasured{}, Events: []wire.WeatherEvent{}}
	open := v.openEvents(c)
	for i := range open {
		summary.Events = append(summary.Events, v.deskEventOf(c, &open[i]))
	}
	if c.Weather == nil {
		return summary
	}
	for m := data.TMax; m <= data.TMin; m++ {
		x := c.Weather.Extreme(c.Today, m)
		if run := x.Running(x.Station); run != nil {
			summary.Running = append(summary.Running, runningOf(m, c.Today, run, weather.UsualRules(c.City, c.Today), u))
		}
	}
	for _, day := range c.Weather.Days {
		if day.Day < c.Today {
			continue
		}
		for m := range day.Extremes {
			summary.Forecasts = append(summary.Forecasts, readingsOf(c.City, day.Day, data.Metric(m), day.Extremes[m].Readings, u)...)
		}
		all, _ := consensusOn(c, day.Day)
		if o := outlookOf(day.Day, all, u); o != nil {
			summary.Outlook = append(summary.Outlook, *o)
		}
	}
	for day := c.Today; day >= c.Today-summaryDays; day-- {
		summary.Actuals = append(summary.Actuals, measuredOf(day, c.Weather.Day(day), u)...)
	}
	return summary
}

func runningOf(m data.Metric, day data.Date, run *serving.WeatherActual, rules weather.Rules, u data.Unit) wire.WeatherRunning {
	return wire.WeatherRunning{Metric: m.String(), Date: day.String(), Station: run.Station, Value: new(wire.DegreesOf(run.Value, u)),
		Degrees: new(run.Degrees(rules)), Observations: *run.Observations, LastAt: microsOrNull(run.LastTS)}
}

func readingsOf(city data.City, day data.Date, m data.Metric, readings []serving.WeatherReading, u data.Unit) (out []wire.WeatherReading) {
	for _, r := range readings {
		out = append(out, wire.WeatherReading{TargetDate: day.String(), Metric: m.String(), Source: r.Source, Value: wire.DegreesOf(r.Value, u),
			IssuedAt: microsOrNull(r.IssuedAt), ConfirmedAt: microsOrNull(r.ConfirmedAt), LeadDay: weather.LeadOf(city, day, r.IssuedAt).Days,
			Members: len(r.Members)})
	}
	return out
}

// measuredOf returns the measurements of a day, with high and low of one source in one row.
func measuredOf(day data.Date, known *serving.WeatherDay, u data.Unit) (out []wire.WeatherMeasured) {
	if known == nil {
		return nil
	}
	type key struct {
		kind            data.ActualKind
		source, station string
		reports         bool // the extreme of single reports, not a daily summary
	}
	rows := map[key]int{}
	for m := range known.Extremes {
		for _, a := range known.Extremes[m].Actuals {
			k := key{a.Kind, a.Source, a.Station, a.Observations != nil}
			i, there := rows[k]
			if !there {
				i = len(out)
				rows[k] = i
				out = append(out, wire.WeatherMeasured{Date: day.String(), Kind: a.Kind.String(), Source: a.Source, Station: textOrNull(a.Station),
					Provisional: a.Open(), Observations: a.Observations})
			}
			*highOrLow(data.Metric(m), &out[i].TMax, &out[i].TMin) = new(wire.DegreesOf(a.Value, u))
			if a.RevisedAt != 0 && (out[i].RevisedAt == nil || microsOrNull(a.RevisedAt).After(*out[i].RevisedAt)) {
				out[i].RevisedAt = microsOrNull(a.RevisedAt)
			}
		}
	}
	return out
}

// deskEventOf makes the description of one event.
func (v *encodedSnapshot) deskEventOf(c *serving.DeskCity, e *openEvent) wire.WeatherEvent {
	u, o := e.Rules.Unit, &e.outlook
	start, end := c.City.Day(e.Day)
	out := wire.WeatherEvent{EventID: textOrNull(e.ID), EventSlug: e.Key, Metric: e.Metric.String(), TargetDate: e.Day.String(), DayStart: start.UTC(),
		DayEnd: end.UTC(), Canonical: e.canonical, Unit: u.String(), Station: e.Rules.Station, ResolutionSource: textOrNull(string(e.Rules.Source)),
		ResolutionFallback: textOrNull(string(e.Rules.Fallback)), Rounding: e.Rules.Rounding.String(), Volume: e.Volume(v.snap.Catalog),
		Brackets: len(e.Brackets), LeadDay: &o.Lead, NullReasons: map[string]string{}}
	if o.Consensus != nil {
		out.Consensus = new(consensusOf(o.Consensus, u))
	} else {
		out.NullReasons["consensus"] = string(o.NoConsensus)
	}
	if o.Estimate != nil {
		out.Estimate = &wire.WeatherEstimate{Mean: wire.DegreesOf(o.Estimate.Mean, u), Sigma: difference(o.Estimate.Sigma, u),
			Bias: difference(o.Estimate.Bias, u), Basis: string(o.Estimate.Basis), Days: o.Estimate.Days}
	} else {
		out.NullReasons["estimate"] = string(o.NoConsensus)
	}
	if o.Running != nil {
		out.Running = new(runningOf(e.Metric, e.Day, o.Running, e.Rules, u))
	} else {
		out.NullReasons["running"] = string(o.NoRunning)
	}
	out.Normal, out.Anomaly = normalAndAnomaly(o, u, out.NullReasons)
	out.ImpliedMean, out.ModeLabel, out.ModePrice, out.Overround = marketOf(e.DeskEvent, o, out.NullReasons)
	return out
}

// normalAndAnomaly returns the normal of an event's day and how far its consensus is from that, and
// notes the reasons for what is not known.
func normalAndAnomaly(o *serving.Outlook, u data.Unit, why map[string]string) (normal *wire.Degrees, anomaly *data.Micro) {
	if o.Normal != nil {
		normal = new(wire.DegreesOf(o.Normal.Value, u))
	} else {
		why["normal"] = string(o.NoNormal)
	}
	if o.Consensus != nil && o.Normal != nil {
		anomaly = new(anomalyOf(wire.DegreesOf(o.Consensus.Mean, u), *normal))
	} else {
		why["anomaly"] = string(firstReason(o.NoConsensus, o.NoNormal))
	}
	return normal, anomaly
}

// firstReason is the first reason that is not empty.
func firstReason(all ...serving.MissingReason) serving.MissingReason {
	for _, why := range all {
		if why != "" {
			return why
		}
	}
	return ""
}

func consensusOf(t *weather.Consensus, u data.Unit) wire.WeatherConsensus {
	out := wire.WeatherConsensus{Mean: wire.DegreesOf(t.Mean, u), P10: wire.DegreesOf(t.P10, u), P50: wire.DegreesOf(t.P50, u), P90: wire.DegreesOf(t.P90, u),
		Spread: difference(t.Spread, u), N: t.Sources, OldestAt: microsOrNull(t.Oldest), NewestAt: microsOrNull(t.Newest)}
	if t.Deviation != nil {
		out.Std = new(difference(*t.Deviation, u))
	}
	return out
}

// marketOf returns what the prices of an event imply together, and notes the reasons for what they
// do not.
func marketOf(e *serving.DeskEvent, o *serving.Outlook, why map[string]string) (mean *wire.Degrees, label *string, price, overround *data.Micro) {
	m := &o.Market
	if m.Mode < 0 {
		why["mode_label"], why["mode_price"] = string(serving.NoQuotes), string(serving.NoQuotes)
	} else {
		label = textOrNull(e.Brackets[m.Mode].Label())
		price, _ = o.Quotes[m.Mode].Price()
	}
	if m.Overround == nil {
		why["overround"] = string(firstReason(noneQuoted(m), serving.NotAllPriced))
	}
	if m.Mean != nil {
		mean = new(wire.DegreesOf(*m.Mean, e.Rules.Unit))
	} else {
		why["implied_mean"] = string(firstReason(noneQuoted(m), serving.NotAllPriced))
	}
	return mean, label, price, m.Overround
}

func noneQuoted(m *weather.Market) serving.MissingReason {
	if m.Mode < 0 {
		return serving.NoQuotes
	}
	return ""
}
