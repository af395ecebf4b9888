package api

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
	"pmx/rollups/weather"
)

const (
	// impliedRows is the maximum number of hours in a response.
	impliedRows = 2000
	// ladderChunk is how many brackets are read at once: each of their two outcomes gets its own number.
	ladderChunk = 60
)

// The parameters of GET /weather/city/{city}/implied.
var (
	impliedDate   = &Param{Name: "date", Kind: DayArg, Doc: "a local day of the city, YYYY-MM-DD; if omitted, the city's current day"}
	impliedMetric = metricParam("tmax", "the event on the day's highest or lowest temperature")
	impliedLimit  = limitParam("1000", impliedRows).about("number of newest hours to return; earlier prices are still used")
	impliedInc    = &Param{Name: "include", Kind: Choice, Choices: []string{"prices"}, Doc: "prices: rows also have the price of each bracket"}
)

// Why a row has no implied mean.
const (
	unpricedBrackets = string(serving.NotAllPriced)
	ladderIncomplete = string(serving.NotTiled)
	pricesOfZero     = "prices_of_zero" // all of them are
)

func impliedRoute() Route {
	return Route{
		Method: fiber.MethodGet, Path: "/weather/city/{city}/implied", Section: wire.Weather, MaxRows: impliedRows, Aliases: true,
		Summary: "What the market expected of a day, over time", serve: (*API).implied, Reply: wire.Implied{},
		Codes:  []string{"city_not_found"},
		Params: []*Param{deskCity, impliedDate, impliedMetric, impliedLimit, impliedInc},
		Doc: "The temperature that the prices of a day's brackets implied at the end of each hour in which takers traded any of them, oldest " +
			"first; in the hours between, prices do not change. A bracket's price is the `close` of its newest hourly candle up to then, as in " +
			"`/market/{condition_id}/candles`: the close of the first outcome or, in an hour in which only the second outcome was " +
			"traded, 1 minus the close of the second. `implied_mean` is the mean of the midpoints of the brackets, weighted by these " +
			"prices; an open-ended bracket counts as one more bracket of the same width as the others. A bracket that nobody has traded " +
			"yet has no price, which is not the same as a price of 0: `implied_mean` is then null, and `priced_mean` is the mean over " +
			"the `priced` brackets only. Past bids and asks are not kept, so the newest row may differ from the event's current `implied_mean`, which " +
			"uses them first. If the plan's history limit excludes the day, the response is empty and `truncated`.",
	}
}

// implied answers GET /weather/city/{city}/implied.
func (a *API) implied(c *fiber.Ctx, call *Call) error {
	v, city, err := a.deskCity(c, call)
	if city == nil {
		return err
	}
	day := call.dayOf(city, impliedDate)
	metric, limit, prices := data.Metric(call.value(impliedMetric).n), call.number(impliedLimit), call.value(impliedInc).given
	event := v.dayEvent(city, metric, day)
	var ladder ladderPrices
	if event != nil {
		ladder, err = cachedRead(a, v, "closes "+event.ID+" "+event.Key, func(ctx context.Context) (ladderPrices, error) { return a.ladderPrices(ctx, v, event) })
		if err != nil {
			return err
		}
	}
	hidden := day < call.firstDay(city)
	if limit = min(limit, ladder.hours); hidden { // parameters that give the same rows share one body
		limit, prices = 0, false
	}
	key := fmt.Sprintf("implied %s %d %d %d %t %t", city.City.Slug, day, metric, limit, prices, hidden)
	return a.sendSeries(c, call, v, city, key, func(context.Context) (any, data.Date, error) {
		out := v.impliedHead(city, event, metric, day)
		switch {
		case ladder.hours == 0:
			return out, 0, nil
		case hidden:
			out.EmptyReason = new(planHistory)
			return out, day, nil
		}
		v.appendImplied(out, event, ladder.closes, limit, prices)
		return out, 0, nil
	})
}

// impliedHead is what is known about any day's event, and why there may be no rows.
func (v *encodedSnapshot) impliedHead(city *serving.DeskCity, e *serving.DeskEvent, metric data.Metric, day data.Date) *wire.ImpliedSeries {
	rules := dayRules(city, day, e)
	start, end := city.City.Day(day)
	out := &wire.ImpliedSeries{CityPlace: cityPlaceOf(city), Date: day.String(), Metric: metric.String(), Unit: rules.Unit.String(), Rounding: rules.Rounding.String(),
		DayStart: wholeSeconds(start), DayEnd: wholeSeconds(end), Interval: "1h", EmptyReason: new(noEvent), Brackets: []wire.ImpliedBracket{}, Data: []wire.ImpliedRow{}}
	if e == nil {
		return out
	}
	out.EventID, out.EventSlug, out.EmptyReason = textOrNull(e.ID), &e.Key, new(notTraded)
	for _, b := range e.Brackets {
		lo, hi := bracketBounds(b.Bracket)
		out.Brackets = append(out.Brackets, wire.ImpliedBracket{ConditionID: v.snap.Catalog.Market(b.Market).Condition.String(), Label: b.Label(), Lo: lo, Hi: hi})
	}
	return out
}

// ladderPrices are the last prices of all hours of an event's brackets.
type ladderPrices struct {
	closes []weather.Close
	hours  int // hours in which any bracket was traded: the number of rows
}

// ladderPrices reads the prices of the hours that began before as_of: the database may be ahead of the
// snapshot, and an hour that begins at as_of would end at the same time as the one before it.
func (a *API) ladderPrices(ctx context.Context, v *encodedSnapshot, e *serving.DeskEvent) (out ladderPrices, err error) {
	asOf, hours := v.snap.AsOf.UnixMicro(), map[int64]bool{}
	for first := 0; first < len(e.Brackets); first += ladderChunk {
		var tokens []serving.OutcomeToken
		for i, b := range e.Brackets[first:min(first+ladderChunk, len(e.Brackets))] {
			for _, id := range v.snap.Catalog.Tokens(b.Market) {
				if outcome := v.snap.Catalog.Token(id).Outcome; outcome == 0 || outcome == 1 {
					tokens = append(tokens, serving.OutcomeToken{Token: id, Outcome: int8(2*i) + outcome})
				}
			}
		}
		candles, err := a.reader.Candles(ctx, tokens, v.snap.Batch, 1, nil, math.MaxInt)
		if err != nil {
			return out, err
		}
		for i := range candles {
			if c := &candles[i]; c.Close != serving.NoValue && c.Start*microsPerHour < asOf { // fills of no tokens have no price
				hours[c.Start] = true
				out.closes = append(out.closes, weather.Close{Start: c.Start, Bracket: first + int(c.Outcome)/2, Against: c.Outcome%2 == 1, Price: c.Close})
			}
		}
	}
	out.hours = len(hours)
	return out, nil
}

// appendImplied adds the newest limit rows.
func (v *encodedSnapshot) appendImplied(out *wire.ImpliedSeries, e *serving.DeskEvent, closes []weather.Close, limit int, prices bool) {
	all := weather.ImpliedBy(e.Ladder(), e.Rules.Rounding, closes)
	if out.Count = len(all); out.Count > 0 {
		out.EmptyReason = nil
	}
	asOf := v.snap.AsOf.UnixMicro()
	for _, so := range all[max(0, len(all)-limit):] {
		end := (so.Start + 1) * microsPerHour
		row := wire.ImpliedRow{TS: timeOfMicros(so.Start * microsPerHour), At: timeOfMicros(min(end, asOf)), ModeLabel: e.Brackets[so.Mode].Label(), ModePrice: *so.Prices[so.Mode],
			Priced: so.Priced, PricedSum: so.PricedSum, IsPartial: end > asOf}
		if so.PricedMean != nil {
			row.PricedMean = new(wire.DegreesOf(*so.PricedMean, e.Rules.Unit))
		}
		switch {
		case !e.Tiled:
			row.NullReason = new(ladderIncomplete)
		case so.Overround == nil:
			row.NullReason = new(unpricedBrackets)
		case so.Mean == nil:
			row.Overround, row.NullReason = so.Overround, new(pricesOfZero)
		default:
			row.Overround, row.ImpliedMean = so.Overround, new(wire.DegreesOf(*so.Mean, e.Rules.Unit))
		}
		if prices {
			row.Prices = slices.Clone(so.Prices)
		}
		out.Data = append(out.Data, row)
	}
}
