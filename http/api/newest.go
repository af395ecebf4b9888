package api

import (
	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// newestRows is the maximum number of newest trades in a response.
const newestRows = 200

// newestAge is how long a response may be cached, in seconds.
const newestAge = 1

// The parameters of GET /trades/newest.
var (
	newestLimit  = limitParam("50", newestRows)
	newestMarket = &Param{Name: "market_id", Kind: ConditionArg, Doc: "condition id: only trades in this market; it may be a market that is not known yet"}
)

// newestRoutes serve trades that are not final, which no import has.
func newestRoutes() []Route {
	return []Route{{
		Method: fiber.MethodGet, Path: "/trades/newest", Section: wire.Market, MaxRows: newestRows,
		Summary: "Trades of the last seconds, not final", serve: (*API).newestTrades, Reply: wire.NewestTrades{},
		Params: []*Param{newestLimit, newestMarket},
		Doc: "For display only. Rows come from the venue's websocket or its list of trades before the chain is final. They are not part of any other " +
			"response, figure or export. A row may never become final, and trades may be missing, so do not add rows up. Only trades later than " +
			"`as_of` are shown: up to then, the data is complete. Only if `reception` is `live` or `polled` does an empty list mean that there are no newer trades.",
	}}
}

// newestTrades answers GET /trades/newest.
func (a *API) newestTrades(c *fiber.Ctx, call *Call) error {
	v, err := a.current()
	if err != nil {
		return err
	}
	limit := call.number(newestLimit)
	n := call.pageRows(limit)
	w := a.scratch.get()
	defer a.scratch.put(w)
	final := int64(0)
	if !v.snap.AsOf.IsZero() {
		final = v.snap.AsOf.Unix()
	}
	rows, covered := a.newest.Newest(w.newest[:0], final, call.value(newestMarket).hash, n+1)
	w.newest = rows
	more := len(rows) > n
	rows = rows[:min(n, len(rows))]
	mark, start := a.beginReply(call, v.asOf, call.pageEnvelope(limit, more))
	call.buf = appendText(append(call.buf, `,"reception":`...), string(covered.State))
	call.buf = appendTime(append(call.buf, `,"silent_since":`...), covered.Since)
	call.buf = appendRows(append(call.buf, `,"data":`...), len(rows), func(b []byte, i int) []byte { return appendNewest(b, v.snap, &rows[i]) })
	return a.finishReply(c, call, mark, start, newestAge)
}

// appendNewest writes wire.NewestTrade.
func appendNewest(b []byte, snap *serving.Snapshot, t *serving.NewestTrade) []byte {
	c := snap.Catalog
	b = appendMicros(append(b, `{"ts":`...), t.At*1_000_000)
	b = appendTime(append(b, `,"received_at":`...), t.Received)
	b = appendText(append(b, `,"received_from":`...), string(t.Source))
	b = append(appendHash(append(b, `,"transaction_hash":`...), &t.Tx), ',')
	m := c.Find(t.Condition)
	if m == nil {
		m = &serving.Market{ID: -1, Condition: t.Condition}
	}
	b = appendMarketName(b, m)
	ref := serving.TokenRef{Market: -1}
	for _, token := range c.Tokens(m.ID) {
		if r := c.Token(token); r.ID == t.Token {
			ref = r
		}
	}
	b = appendOutcome(b, c, ref)
	b = append(append(append(b, `,"token_id":"`...), t.Token...), `",`...)
	trader, _ := snap.Trader(t.Wallet)
	b = t.Wallet.Append(append(b, `"address":"`...))
	b = appendText(append(b, `","username":`...), trader.Name)
	b = appendSide(append(b, `,"side":"`...), t.Side)
	b = t.Price.Append(append(b, `","price":`...))
	b = t.Shares.Append(append(b, `,"shares":`...))
	return append(data.MulDiv(t.Shares, t.Price, data.One).Append(append(b, `,"usd":`...)), '}')
}
