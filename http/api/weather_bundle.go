package api

import (
	"fmt"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
	"pmx/rollups/weather"
)

// bundleVersion is the version of the bundle's format: it changes when a member is removed or
// changes its meaning.
const bundleVersion = 1

// The parameters of GET /weather/bot-bundle.
var (
	bundleCities = &Param{Name: "cities", Kind: Text, Min: 1, Max: 2000, Many: 60,
		Doc: "only these cities: slugs or other names, separated by commas or in repeated parameters; an unknown name is an error"}
	bundleDate      = &Param{Name: "date", Kind: DayArg, Doc: "only events of this local day of their cities"}
	bundleMetric    = metricParam("", "only highest or only lowest temperatures")
	bundleMinVolume = &Param{Name: "min_volume", Kind: Decimal, Max: 1_000_000_000_000_000, Doc: "only events with at least this lifetime volume in USD"}
	bundleInclude   = &Param{Name: "include", Kind: Choice, Choices: []string{"ids"}, Doc: "ids: also return the condition and token ids of the brackets"}
)

// cityBundle is a city's part of the bundle: the text up to its events, and the events.
type cityBundle struct {
	head   []byte
	events []bundleEvent
}

// weatherBundle answers GET /weather/bot-bundle.
func (a *API) weatherBundle(c *fiber.Ctx, call *Call) error {
	v, err := a.current()
	if err != nil {
		return err
	}
	if call.givesNoneBut(nil) {
		o := &v.desk.full
		v.desk.fullOnce.Do(func() { o.encode(v.bundle(call, nil)) })
		return a.sendEncoded(c, call, v, o.bodyFor(a.envelopes, v.asOf, envelope{tier: call.tier, maxRows: noRows}))
	}
	cities, err := v.bundleCities(call.texts(bundleCities))
	if err != nil {
		return err
	}
	mark, start := a.beginReply(call, v.asOf, envelope{tier: call.tier, maxRows: noRows})
	call.buf = append(call.buf, v.bundle(call, cities)...)
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// bundleCities returns the requested cities, nil for all.
func (v *encodedSnapshot) bundleCities(asked []string) (map[string]bool, error) {
	if asked == nil {
		return nil, nil
	}
	cities := map[string]bool{}
	for _, list := range asked {
		for name := range strings.SplitSeq(list, ",") {
			name = strings.TrimSpace(name)
			city, ok := v.snap.Desk.Named(name)
			if !ok {
				return nil, invalid("cities", fmt.Sprintf("cities: the weather desk has no city named %q. /weather/cities lists them.", name))
			}
			cities[city.Slug] = true
		}
	}
	return cities, nil
}

// deskCities are the cities of the desk.
func (v *encodedSnapshot) deskCities() []*serving.DeskCity {
	if v.snap.Desk == nil {
		return nil
	}
	return v.snap.Desk.Cities
}

func (v *encodedSnapshot) bundleOf(c *serving.DeskCity) cityBundle {
	loc, _ := c.City.Location() // every city of the desk is located
	_, offset := time.UnixMicro(c.Clock).In(loc).Zone()
	head := marshal(wire.BundleCity{City: c.City.Slug, Name: c.City.Title, Station: c.City.Station, Unit: c.City.Unit, TZ: c.City.Zone,
		UTCOffset: offset, LocalDate: c.Today.String(), Events: []wire.BundleEvent{}})
	out := cityBundle{head: head[:len(head)-len("]}")]}
	open := v.openEvents(c)
	out.events = make([]bundleEvent, len(open))
	for i := range open {
		out.events[i].event, out.events[i].row = open[i].DeskEvent, v.bundleEventOf(c, &open[i])
	}
	return out
}

func (v *encodedSnapshot) bundleEventOf(c *serving.DeskCity, e *openEvent) wire.BundleEvent {
	u, o, cat := e.Rules.Unit, &e.outlook, v.snap.Catalog
	_, end := c.City.Day(e.Day)
	out := wire.BundleEvent{Slug: e.Key, Metric: e.Metric.String(), TargetDate: e.Day.String(), DayEnd: end.UTC(), Unit: u.String(),
		Station: e.Rules.Station, Canonical: e.canonical, QuotedAt: microsOrNull(oldestQuote(cat, e.DeskEvent)), ResolutionSource: textOrNull(string(e.Rules.Source)), Rounding: e.Rules.Rounding.String(),
		Forecast: map[string]wire.BundleForecast{}, NullReasons: map[string]string{}}
	for _, r := range c.Weather.Extreme(e.Day, e.Metric).Readings {
		if r.CurrentAt(c.Clock) {
			out.Forecast[r.Source] = wire.BundleForecast{V: wire.DegreesOf(r.Value, u), IssuedAt: *microsOrNull(r.IssuedAt)}
		}
	}
	why := func(name string, w serving.MissingReason) { out.NullReasons[name] = string(w) }
	if t := o.Consensus; t != nil {
		full := consensusOf(t, u)
		out.Consensus = &wire.BundleConsensus{Mean: full.Mean, Std: full.Std, P10: full.P10, P50: full.P50, P90: full.P90, N: full.N}
	} else {
		why("consensus", o.NoConsensus)
	}
	if s := o.Skill; s != nil {
		out.Skill = &wire.BundleSkill{Bias: difference(s.Bias, u), MAE: difference(s.MAE, u), N: s.N}
	} else {
		why("skill", o.NoSkill)
	}
	if run := o.Running; run != nil {
		out.Obs = &wire.BundleObs{Running: new(wire.DegreesOf(run.Value, u)), N: *run.Observations, LastObsAt: microsOrNull(run.LastTS)}
	} else {
		why("obs", o.NoRunning)
	}
	out.Normal, out.Anomaly = normalAndAnomaly(o, u, out.NullReasons)
	m := &out.Market
	m.ImpliedMean, m.ModeLabel, m.ModePrice, m.Overround = marketOf(e.DeskEvent, o, out.NullReasons)
	out.Brackets = bundleBrackets(cat, e)
	if out.QuotedAt == nil {
		why("quoted_at", serving.NoQuotes)
	}
	if o.Model == nil {
		why("p_model", o.NoModel)
	}
	if o.Market.Probabilities == nil {
		why("p_mkt", firstReason(noneQuoted(&o.Market), serving.NotAllPriced))
	}
	return out
}

// bundleBrackets returns the columns of an event's brackets.
func bundleBrackets(cat *serving.Catalog, e *openEvent) (out wire.BundleBrackets) {
	o := &e.outlook
	for k, b := range e.Brackets {
		q := o.Quotes[k]
		lo, hi := bracketBounds(b.Bracket)
		out.Lo, out.Hi = append(out.Lo, lo), append(out.Hi, hi)
		out.Bid, out.Ask, out.Last = append(out.Bid, q.Bid), append(out.Ask, q.Ask), append(out.Last, q.Last)
		out.Vol = append(out.Vol, cat.Figures(b.Market).VolumeUSD)
		edge, w := o.Edge(k)
		if w == "" {
			edge = data.MulDiv(edge, 1, bundleStep) * bundleStep
			out.Edge = append(out.Edge, &edge)
		} else {
			out.Edge = append(out.Edge, nil)
		}
	}
	out.PModel, out.PMkt, out.Dead = weather.InSteps(o.Model, bundleStep), weather.InSteps(o.Market.Probabilities, bundleStep), o.Dead
	return out
}

// bundleStep is the step that probabilities are rounded to, in millionths.
const bundleStep = 100

// oldestQuote is the time of the oldest bid and ask of an event's brackets, unix µs; 0 if a source
// gave none.
func oldestQuote(cat *serving.Catalog, e *serving.DeskEvent) (ts int64) {
	for _, b := range e.Brackets {
		if quoted := quotedTS(cat.Market(b.Market)); quoted != 0 && (ts == 0 || quoted < ts) {
			ts = quoted
		}
	}
	return ts
}
