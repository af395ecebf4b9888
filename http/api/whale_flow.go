package api

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"pmx/http/wire"
	"pmx/rollups/serving"
)

// The parameters of GET /whales/flow.
var (
	flowMarket = &Param{Name: "market_id", Kind: ConditionArg, Doc: "condition id: only this market"}
	flowPeriod = periodParam()
	flowStep   = &Param{Name: "interval", Kind: Choice, Choices: []string{"1h", "6h", "1d"}, Doc: "length of the intervals of `series`; if omitted, `1h` for a period of 1d, `6h` for 7d, `1d` for 30d"}
	flowLimit  = limitParam("50", whaleRows)
)

// flowBuckets is how many intervals of equal length a series of a period has.
func flowBuckets(p serving.Period) int { return [serving.Periods]int{24, 28, 30}[p] }

// flowSteps is how many intervals a call requests; usual is true if it does not say.
func (call *Call) flowSteps(p serving.Period) (n int, usual bool) {
	step := call.value(flowStep)
	if !step.given {
		return flowBuckets(p), true
	}
	return int(p.Length() / ([]time.Duration{time.Hour, 6 * time.Hour, 24 * time.Hour}[step.n])), false
}

// whaleFlow answers GET /whales/flow.
func (a *API) whaleFlow(c *fiber.Ctx, call *Call) error {
	v, err := a.current()
	if err != nil {
		return err
	}
	p, limit := serving.Period(call.value(flowPeriod).n), call.number(flowLimit)
	asked := call.value(flowMarket)
	steps, usual := call.flowSteps(p)
	if !asked.given && usual {
		o := v.flowBody(p)
		return a.sendEncoded(c, call, v, o.bodyFor(a.envelopes, v.asOf, call, limit))
	}
	var m *serving.Market
	if asked.given {
		if m = v.snap.Catalog.Find(asked.hash); m == nil {
			return missing("market_not_found", "No market with this condition id is known. Check market_id.")
		}
		return a.sendFlow(c, call, v, p, serving.NewFlow(v.snap, p, steps, m), limit)
	}
	f, err := cachedRead(a, v, fmt.Sprint("flow ", p, " ", steps), func(context.Context) (serving.Flow, error) { return *serving.NewFlow(v.snap, p, steps, nil), nil })
	if err != nil {
		return err
	}
	return a.sendFlow(c, call, v, p, &f, limit)
}

// sendFlow answers with a flow that is not encoded yet.
func (a *API) sendFlow(c *fiber.Ctx, call *Call, v *encodedSnapshot, p serving.Period, f *serving.Flow, limit int) error {
	e, n := call.listEnvelope(limit, len(f.Markets))
	mark, start := a.beginReply(call, v.asOf, e)
	call.buf = v.appendFlowHead(append(call.buf, v.window(p)...), p, f)
	call.buf = appendList(append(call.buf, `,"data":`...), n, func(i int) wire.WhaleFlowMarket { return flowMarketOf(v.snap.Catalog, &f.Markets[i]) })
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// flowBody is the flow of all markets.
func (v *encodedSnapshot) flowBody(p serving.Period) *rankedBody {
	o := &v.whales.flows[p]
	v.whales.flowsOnce[p].Do(func() {
		f := serving.NewFlow(v.snap, p, flowBuckets(p), nil)
		o.encode(v.appendFlowHead(v.window(p), p, f), len(f.Markets), func(i int) any { return flowMarketOf(v.snap.Catalog, &f.Markets[i]) })
	})
	return o
}

// appendFlowHead adds the members between the window and the markets.
func (v *encodedSnapshot) appendFlowHead(b []byte, p serving.Period, f *serving.Flow) []byte {
	b = strconv.AppendInt(append(v.appendThreshold(b), `,"moves":`...), f.Total.Moves, 10)
	b = f.Total.BuyUSD.Append(append(b, `,"buy_usd":`...))
	b = f.Total.SellUSD.Append(append(b, `,"sell_usd":`...))
	b = f.Total.Net.Append(append(b, `,"net_flow":`...))
	b = f.UnmappedUSD.Append(append(b, `,"unmapped_usd":`...))
	b = strconv.AppendInt(append(b, `,"total":`...), int64(len(f.Markets)), 10)
	n := len(f.Series)
	if v.snap.AsOf.IsZero() {
		n = 0
	}
	step := p.Length() / time.Duration(len(f.Series))
	return appendList(append(b, `,"series":`...), n, func(i int) wire.WhaleFlowBucket {
		s, end := &f.Series[i], v.snap.AsOf.Add(-step*time.Duration(n-1-i))
		return wire.WhaleFlowBucket{Start: wholeSeconds(end.Add(-step)), End: wholeSeconds(end), Moves: s.Moves, BuyUSD: s.BuyUSD, SellUSD: s.SellUSD, NetFlow: s.Net}
	})
}

func flowMarketOf(c *serving.Catalog, f *serving.MarketFlow) wire.WhaleFlowMarket {
	m := f.Market
	row := wire.WhaleFlowMarket{
		Rank: f.Rank, ConditionID: m.Condition.String(), Question: textOrNull(m.Question), Slug: textOrNull(m.Slug), EventID: textOrNull(m.EventID),
		EventSlug: textOrNull(m.EventSlug), Category: textOrNull(m.Category), Moves: f.Moves, Whales: f.Wallets,
		BuyUSD: f.BuyUSD, SellUSD: f.SellUSD, NetFlow: f.Net, Outcomes: []wire.WhaleFlowOutcome{},
	}
	for _, o := range f.Outcomes {
		row.Outcomes = append(row.Outcomes, wire.WhaleFlowOutcome{Outcome: textOrNull(c.LabelOf(m, o.Outcome)), OutcomeIndex: o.Outcome, Moves: o.Moves,
			BuyUSD: o.BuyUSD, SellUSD: o.SellUSD, NetFlow: o.BuyUSD - o.SellUSD})
	}
	return row
}
