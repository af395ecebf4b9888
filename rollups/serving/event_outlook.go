package serving

import (
	"slices"

	"pmx/data"
	"pmx/rollups/weather"
)

// Reasons why a part of an event's outlook is missing, in addition to those of a city's weather.
const (
	NotTiled      MissingReason = "ladder_incomplete" // the brackets leave a gap or overlap, for example because some are not imported
	NoQuotes      MissingReason = "no_quotes"         // no bid, no ask and no trade
	NotAllPriced  MissingReason = "unpriced_brackets" // a bracket of the event has no price
	NoAsk         MissingReason = "no_ask"            // nobody offers the bracket
	NoMid         MissingReason = "no_bid_or_ask"     // one side is missing
	NoProbability MissingReason = "no_probability"    // there is none to compare with
)

// Outlook is what weather and market say about an event's brackets, in their order.
type Outlook struct {
	Lead      int // days from the city's today to the event's
	Consensus *weather.Consensus
	Estimate  *weather.Estimate
	Skill     *weather.Skill // of the consensus at this lead
	Running   *WeatherActual // of the settling station, today alone
	SoFar     *weather.SoFar // that Running would settle as
	Normal    *WeatherNormal
	Model     []data.Micro // probabilities, exactly 1 in all; nil: unknown
	Dead      []bool       // nil: nothing is measured
	Quotes    []weather.Quote
	Market    weather.Market
	// The reasons for fields that are nil.
	NoConsensus, NoModel, NoRunning, NoNormal, NoSkill MissingReason
}

// Outlook works out what weather and market say about one of the city's events.
func (c *DeskCity) Outlook(cat *Catalog, e *DeskEvent) Outlook {
	o := Outlook{Lead: int(e.Day - c.Today)}
	x := c.Weather.Extreme(e.Day, e.Metric)
	ladder := e.Ladder()
	o.Consensus, o.NoConsensus = x.Consensus(c.Clock)
	o.Skill, o.NoSkill = c.Weather.Skill(weather.ConsensusSource, e.Metric, o.Lead)
	o.Normal = x.Normal(data.KindStation)
	if o.Normal == nil {
		o.NoNormal = NoNormal
	}
	switch {
	case o.Lead > 0:
		o.NoRunning = DayNotBegun
	default:
		if o.Running = x.Running(e.Rules.Station); o.Running == nil {
			o.NoRunning = NoObservations
		} else {
			o.SoFar = new(o.Running.SoFar(e.Rules))
		}
	}
	o.Dead = weather.Dead(ladder, e.Metric, o.SoFar)
	o.estimate(e, ladder)
	for _, b := range e.Brackets {
		o.Quotes = append(o.Quotes, cat.Quote(b.Market))
	}
	o.Market = weather.MarketOf(ladder, e.Rules.Rounding, o.Quotes)
	return o
}

// estimate fills in the fields that follow from the consensus.
func (o *Outlook) estimate(e *DeskEvent, ladder []weather.Bracket) {
	if o.Consensus == nil {
		o.NoModel = o.NoConsensus
		return
	}
	of := o.Skill
	if o.NoSkill != "" {
		of = nil // from too few days
	}
	est := weather.EstimateOf(o.Consensus.Mean, e.Rules.Unit, o.Lead, of)
	o.Estimate = &est
	if !e.Tiled {
		o.NoModel = NotTiled
		return
	}
	o.Model = est.Probabilities(ladder, e.Rules.Rounding, e.Metric, o.SoFar)
}

// Edge is the model's probability of the i-th bracket minus its ask with the fee; or the reason why
// it is not known.
func (o *Outlook) Edge(i int) (data.Micro, MissingReason) {
	switch {
	case o.Model == nil:
		return 0, NoProbability
	case o.Quotes[i].Ask == nil:
		return 0, NoAsk
	}
	return weather.Edge(o.Model[i], *o.Quotes[i].Ask), ""
}

// EdgeMid is the model's probability of the i-th bracket minus the middle of bid and ask; or the
// reason why it is not known.
func (o *Outlook) EdgeMid(i int) (data.Micro, MissingReason) {
	mid, last := o.Quotes[i].Price()
	switch {
	case o.Model == nil:
		return 0, NoProbability
	case mid == nil || last:
		return 0, NoMid
	}
	return o.Model[i] - *mid, ""
}

// Quote is the quote of a market's first outcome: the last bid and ask of a source, and the last
// trade, or if no trade is known, the last price of a source.
func (c *Catalog) Quote(market int32) weather.Quote {
	m, f := c.Market(market), c.Figures(market)
	if m == nil {
		return weather.Quote{}
	}
	q := weather.Quote{Bid: m.BestBid, Ask: m.BestAsk, Last: m.LastPrice}
	if f.Price != NoValue {
		q.Last = &f.Price
	}
	return q
}

// Canonical reports for every event of the list whether it is the one used for its city's
// day.
func Canonical(c *Catalog, events []*DeskEvent) []bool {
	out := make([]bool, len(events))
	for from := 0; from < len(events); {
		to := from + 1
		for to < len(events) && events[to].Day == events[from].Day && events[to].Metric == events[from].Metric {
			to++
		}
		claims := make([]weather.Claim, 0, to-from)
		for _, e := range events[from:to] {
			claims = append(claims, weather.Claim{Archived: e.Archived, Volume: e.Volume(c), ID: e.ID})
		}
		out[from+weather.Canonical(claims)] = true
		from = to
	}
	return slices.Clip(out)
}
