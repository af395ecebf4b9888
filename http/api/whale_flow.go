package api

import (
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/rollups/serving"
)

// The parameters of GET /whales/flow.
var (
	flowMarket = &Param{Name: "market_id", Kind: ConditionArg, Doc: "condition id: this market alone"}
	flowPeriod = periodParam()
	flowLimit  = limitParam("50", whaleRows)
)

// flowBuckets is how many stretches of equal length a series of a period has.
func flowBuckets(p serving.Period) int { return [serving.Periods]int{24, 28, 30}[p] }

// whaleFlow answers GET /whales/flow.
func (a *API) whaleFlow(c *fiber.Ctx, call *Call) error {
	v, err := a.current()
	if err != nil {
		return err
	}
	p, limit := serving.Period(call.value(flowPeriod).n), call.number(flowLimit)
	asked := call.value(flowMarket)
	if !asked.given {
		o := v.flowBody(p)
		return a.sendEncoded(c, call, v, o.bodyFor(a.envelopes, v.asOf, call, limit))
	}
	m := v.snap.Catalog.Find(asked.hash)
	if m == nil {
		return missing("market_not_found", "No market of this condition id is known. Check market_id.")
	}
	f := serving.NewFlow(v.snap, p, flowBuckets(p), m)
	e, n := call.listEnvelope(limit, len(f.Markets))
	mark, start := a.beginReply(call, v.asOf, e)
	call.buf = v.appendFlowHead(append(call.buf, v.window(p)...), p, f)
	call.buf = appendRows(append(call.buf, `,"data":`...), n, func(b []byte, i int) []byte { return appendFlowMarket(b, v.snap.Catalog, &f.Markets[i]) })
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// flowBody is the flow of all markets.
func (v *encodedSnapshot) flowBody(p serving.Period) *rankedBody {
	o := &v.whales.flows[p]
	v.whales.flowsOnce[p].Do(func() {
		f := serving.NewFlow(v.snap, p, flowBuckets(p), nil)
		o.encode(v.appendFlowHead(v.window(p), p, f), len(f.Markets), func(b []byte, i int) []byte { return appendFlowMarket(b, v.snap.Catalog, &f.Markets[i]) })
	})
	return o
}

// appendFlowHead adds what stands between the window and the markets.
func (v *encodedSnapshot) appendFlowHead(b []byte, p serving.Period, f *serving.Flow) []byte {
	b = appendFlowSum(append(v.appendThreshold(b), ','), &f.Total, f.Total.Net)
	b = f.UnmappedUSD.Append(append(b, `,"unmapped_usd":`...))
	b = strconv.AppendInt(append(b, `,"total":`...), int64(len(f.Markets)), 10)
	n := len(f.Series)
	if v.snap.AsOf.IsZero() {
		n = 0
	}
	step := p.Length() / time.Duration(flowBuckets(p))
	return appendRows(append(b, `,"series":`...), n, func(b []byte, i int) []byte {
		end := v.snap.AsOf.Add(-step * time.Duration(n-1-i))
		b = appendTime(append(b, `{"start":`...), end.Add(-step))
		b = appendTime(append(b, `,"end":`...), end)
		return append(appendFlowSum(append(b, ','), &f.Series[i], f.Series[i].Net), '}')
	})
}

// appendFlowSum adds moves, both sides and a net flow.
func appendFlowSum(b []byte, s *serving.FlowSum, net data.Micro) []byte {
	b = strconv.AppendInt(append(b, `"moves":`...), s.Moves, 10)
	b = s.BuyUSD.Append(append(b, `,"buy_usd":`...))
	b = s.SellUSD.Append(append(b, `,"sell_usd":`...))
	return net.Append(append(b, `,"net_flow":`...))
}

// appendFlowMarket writes wire.WhaleFlowMarket.
func appendFlowMarket(b []byte, c *serving.Catalog, f *serving.MarketFlow) []byte {
	b = strconv.AppendInt(append(b, `{"rank":`...), int64(f.Rank), 10)
	b = appendMarketName(append(b, ','), f.Market)
	b = appendText(append(b, `,"category":`...), f.Market.Category)
	b = strconv.AppendInt(append(b, `,"moves":`...), f.Moves, 10)
	b = strconv.AppendInt(append(b, `,"whales":`...), int64(f.Wallets), 10)
	b = f.BuyUSD.Append(append(b, `,"buy_usd":`...))
	b = f.SellUSD.Append(append(b, `,"sell_usd":`...))
	b = f.Net.Append(append(b, `,"net_flow":`...))
	b = appendRows(append(b, `,"outcomes":`...), len(f.Outcomes), func(b []byte, i int) []byte {
		o := &f.Outcomes[i]
		b = appendText(append(b, `{"outcome":`...), c.LabelOf(f.Market, o.Outcome))
		b = strconv.AppendInt(append(b, `,"outcome_index":`...), int64(o.Outcome), 10)
		return append(appendFlowSum(append(b, ','), &o.FlowSum, o.BuyUSD-o.SellUSD), '}')
	})
	return append(b, '}')
}
