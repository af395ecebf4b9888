package api

import (
	"strconv"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// The parameters of GET /weather/city/{city}/markets.
var (
	laddersDate   = &Param{Name: "date", Kind: DayArg, Doc: "only events of this local day of the city"}
	laddersMetric = metricParam("", "only highest or only lowest temperatures")
	laddersLimit  = limitParam(strconv.Itoa(bracketRows), bracketRows)
)

// Reasons why a bracket has no price, in addition to those of an event's outlook.
const (
	notTraded     = "not_traded"         // no trade of it is known
	noPriceBefore = "no_price_a_day_ago" // it was first traded within 24 hours
	noBid         = "no_bid"             // nobody bids for it
)

// asks reports whether a parameter of a metric selects m.
func (v *value) asks(m data.Metric) bool { return !v.given || data.Metric(v.n) == m }

// cityLadders are the events of a city that can be traded and their brackets, as
// JSON, in order.
type cityLadders struct {
	heads [][]byte   // by event
	rows  [][][]byte // by event, then bracket
}

// weatherMarkets answers GET /weather/city/{city}/markets.
func (a *API) weatherMarkets(c *fiber.Ctx, call *Call) error {
	v, city, err := a.deskCity(c, call)
	if err != nil || city == nil {
		return err
	}
	o := v.desk.city(city.City.Slug)
	o.laddersOnce.Do(func() { o.ladders = v.laddersOf(city) })
	date, metric := call.value(laddersDate), call.value(laddersMetric)
	var heads, rows [][]byte
	for i, e := range city.Open {
		if metric.asks(e.Metric) && (!date.given || data.Date(date.n) == e.Day) {
			heads, rows = append(heads, o.ladders.heads[i]), append(rows, o.ladders.rows[i]...)
		}
	}
	e, n := call.listEnvelope(call.number(laddersLimit), len(rows))
	mark, start := a.beginReply(call, v.asOf, e)
	b := appendText(append(call.buf, `,"city":`...), city.City.Slug)
	b = appendText(append(b, `,"timezone":`...), city.City.Zone)
	b = append(append(b, `,"local_date":`...), marshal(localDate(city))...)
	b = appendText(append(b, `,"empty_reason":`...), whyNoRows(city, len(rows)))
	b = strconv.AppendInt(append(b, `,"total":`...), int64(len(rows)), 10)
	b = appendRows(append(b, `,"events":`...), len(heads), func(b []byte, i int) []byte { return append(b, heads[i]...) })
	call.buf = appendRows(append(b, `,"data":`...), n, func(b []byte, i int) []byte { return append(b, rows[i]...) })
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// whyNoRows says why there are no brackets, "" if there are.
func whyNoRows(c *serving.DeskCity, rows int) string {
	switch {
	case rows > 0:
		return ""
	case len(c.Events) == 0:
		return "no_events"
	case len(c.Open) == 0:
		return "no_open_events"
	}
	return "no_match"
}

func (v *encodedSnapshot) laddersOf(c *serving.DeskCity) (l cityLadders) {
	open := v.openEvents(c)
	for i := range open {
		e := &open[i]
		l.heads = append(l.heads, marshal(v.deskEventOf(c, e)))
		rows := make([][]byte, len(e.Brackets))
		for k := range e.Brackets {
			rows[k] = marshal(bracketOf(v.snap.Catalog, e, k))
		}
		l.rows = append(l.rows, rows)
	}
	return l
}

// bracketOf makes the row of the k-th bracket of an event.
func bracketOf(cat *serving.Catalog, e *openEvent, k int) wire.WeatherBracket {
	b, o := e.Brackets[k], &e.outlook
	m, f, q := cat.Market(b.Market), cat.Figures(b.Market), o.Quotes[k]
	out := wire.WeatherBracket{EventSlug: e.Key, Metric: e.Metric.String(), TargetDate: e.Day.String(), ConditionID: m.Condition.String(),
		Question: textOrNull(m.Question), Slug: textOrNull(m.Slug), YesToken: textOrNull(yesToken(cat, b.Market)), Label: b.Label(), Unit: e.Rules.Unit.String(),
		Status: string(m.Status()), Price: figureOrNull(f.Price), BestBid: q.Bid, BestAsk: q.Ask, QuotedAt: microsOrNull(quotedTS(m)), Volume: f.VolumeUSD,
		Volume24h: f.Volume24h, Trades: f.Trades, Traders: f.Traders, PriceChange24h: figureOrNull(f.PriceChange24h), NullReasons: map[string]string{}}
	out.Lo, out.Hi = bracketBounds(b.Bracket)
	why := func(name string, w serving.MissingReason) { out.NullReasons[name] = string(w) }
	noteUntraded(&out)
	if o.Model != nil {
		out.PModel = &o.Model[k]
	} else {
		why("p_model", o.NoModel)
	}
	switch _, last := q.Price(); {
	case o.Market.Probabilities != nil:
		out.PMarket, out.PMarketFrom = &o.Market.Probabilities[k], textOrNull(map[bool]string{true: "last", false: "mid"}[last])
	default:
		why("p_market", firstReason(noneQuoted(&o.Market), serving.NotAllPriced))
	}
	if edge, w := o.Edge(k); w == "" {
		out.Edge = &edge
	} else {
		why("edge", w)
	}
	if edge, w := o.EdgeMid(k); w == "" {
		out.EdgeMid = &edge
	} else {
		why("edge_mid", w)
	}
	if o.Dead != nil {
		out.Dead = &o.Dead[k]
	} else {
		why("dead", o.NoRunning)
	}
	return out
}

// noteUntraded notes the reasons why a bracket has no price, no quote or no price change.
func noteUntraded(b *wire.WeatherBracket) {
	note := func(missing bool, name, reason string) {
		if missing {
			b.NullReasons[name] = reason
		}
	}
	note(b.Price == nil, "price", notTraded)
	note(b.PriceChange24h == nil, "price_change_24h", noPriceBefore)
	note(b.PriceChange24h == nil && b.Price == nil, "price_change_24h", notTraded)
	note(b.BestBid == nil, "best_bid", noBid)
	note(b.BestAsk == nil, "best_ask", string(serving.NoAsk))
	note(b.QuotedAt == nil, "quoted_at", notSaid)
	note(b.BestBid == nil && b.BestAsk == nil, "quoted_at", string(serving.NoQuotes))
}

// figureOrNull returns a figure, nil for serving.NoValue.
func figureOrNull(v data.Micro) *data.Micro {
	if v == serving.NoValue {
		return nil
	}
	return &v
}

// quotedTS is when a source gave a market's bid and ask, unix µs; 0 if it gave none, or does not
// say when.
func quotedTS(m *serving.Market) int64 {
	if m.BestBid == nil && m.BestAsk == nil {
		return 0
	}
	return m.QuotedTS
}

// yesToken is the id of the token that pays for a market's first outcome; "" if none is known.
func yesToken(cat *serving.Catalog, market int32) string {
	for _, id := range cat.Tokens(market) {
		if t := cat.Token(id); t.Outcome == 0 {
			return t.ID
		}
	}
	return ""
}
