package api

import (
	"strconv"

	"github.com/gofiber/fiber/v2"

	"pmx/http/wire"
	"pmx/rollups/serving"
)

var holdingsLimit = limitParam("50", walletRows)

func holdingsRoute() Route {
	return Route{
		Method: fiber.MethodGet, Path: "/trader/{address}/markets", Section: wire.Trader, MaxRows: walletRows,
		Summary: "Markets of a wallet, by its volume in them", serve: (*API).traderMarkets, Reply: wire.WalletMarkets{},
		Params: []*Param{traderAddress, holdingsLimit},
		Codes:  []string{"trader_not_found"},
		Doc: "Lifetime figures of each market that the wallet traded, sorted by volume, ties by condition id. Fills whose market is " +
			"unknown are one row with a null `condition_id`. `total` is the number of all rows and `totals` their sums, which equal " +
			"the figures of `/trader/{address}/stats`.",
	}
}

// traderMarkets answers GET /trader/{address}/markets.
func (a *API) traderMarkets(c *fiber.Ctx, call *Call) error {
	v, trader, err := a.currentTrader(call)
	if err != nil {
		return err
	}
	w := a.scratch.get()
	defer a.scratch.put(w)
	l, err := a.bookSummary(v, w, &trader)
	if err != nil {
		return err
	}
	e, n := call.listEnvelope(call.number(holdingsLimit), l.total)
	mark, start := a.beginReply(call, v.asOf, e)
	b := strconv.AppendInt(append(call.buf, `,"total":`...), int64(l.total), 10)
	b = appendWalletTotals(append(b, `,"totals":`...), &l.totals)
	call.buf = appendRows(append(b, `,"data":`...), n, func(b []byte, i int) []byte {
		return appendHolding(b, v.snap.Catalog, &l.top[i])
	})
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// appendWalletTotals writes wire.WalletTotals.
func appendWalletTotals(b []byte, t *serving.Totals) []byte {
	b = strconv.AppendInt(append(b, `{"unique_markets":`...), t.Markets, 10)
	b = strconv.AppendInt(append(b, `,"resolved_markets":`...), t.ResolvedMarkets, 10)
	b = strconv.AppendInt(append(b, `,"winning_markets":`...), t.WinningMarkets, 10)
	b = strconv.AppendInt(append(b, `,"trades":`...), t.Fills, 10)
	b = t.Volume().Append(append(b, `,"volume":`...))
	b = t.BuyUSD.Append(append(b, `,"buy_volume_usd":`...))
	b = t.SellUSD.Append(append(b, `,"sell_volume_usd":`...))
	b = t.FeeUSD.Append(append(b, `,"fees_usd":`...))
	b = t.NetCash.Append(append(b, `,"net_cash":`...))
	b = t.Redemption.Append(append(b, `,"redemption_value":`...))
	b = t.RealPnL().Append(append(b, `,"real_pnl":`...))
	b = t.UnresolvedCash.Append(append(b, `,"unresolved_cash":`...))
	b = strconv.AppendInt(append(b, `,"negative_legs":`...), t.NegativeLegs, 10)
	b = strconv.AppendInt(append(b, `,"unmapped_fills":`...), t.UnmappedFills, 10)
	return append(b, '}')
}

// appendHolding writes wire.WalletMarket.
func appendHolding(b []byte, c *serving.Catalog, h *serving.Holding) []byte {
	b = appendMarketName(append(b, '{'), h.Market)
	category, status := "", serving.Open // no payout is known, and nobody said that it is closed
	if h.Market != nil {
		category, status = h.Market.Category, h.Market.Status()
	}
	b = appendText(append(b, `,"category":`...), category)
	b = append(append(append(b, `,"status":"`...), status...), '"')
	b = appendResolvedAt(b, h.ResolvedTS(), h.ResolvedBy())
	b = strconv.AppendInt(append(b, `,"trades":`...), h.Fills, 10)
	b = h.Volume().Append(append(b, `,"volume":`...))
	b = h.BuyUSD.Append(append(b, `,"buy_volume_usd":`...))
	b = h.SellUSD.Append(append(b, `,"sell_volume_usd":`...))
	b = h.FeeUSD.Append(append(b, `,"fees_usd":`...))
	b = h.NetCash().Append(append(b, `,"net_cash":`...))
	b = h.Redemption.Append(append(b, `,"redemption_value":`...))
	b = h.RealPnL().Append(append(b, `,"real_pnl":`...))
	b = appendRatio(append(b, `,"roi":`...), h.RealPnL(), h.BuyUSD)
	b = strconv.AppendInt(append(b, `,"negative_legs":`...), h.NegativeLegs, 10)
	b = appendMicros(append(b, `,"first_trade_at":`...), h.FirstTS)
	b = appendMicros(append(b, `,"last_trade_at":`...), h.LastTS)
	b = append(b, `,"positions":`...)
	if h.Market == nil {
		return append(b, "null}"...)
	}
	b = appendRows(b, len(h.Legs), func(b []byte, i int) []byte { return appendPosition(b, c, h.Market, &h.Legs[i]) })
	return append(b, '}')
}

// appendPosition writes wire.WalletPosition.
func appendPosition(b []byte, c *serving.Catalog, m *serving.Market, l *serving.Leg) []byte {
	b = appendText(append(b, `{"outcome":`...), c.LabelOf(m, l.Outcome))
	b = strconv.AppendInt(append(b, `,"outcome_index":`...), int64(l.Outcome), 10)
	b = append(append(append(b, `,"token_id":"`...), c.Token(l.Token).ID...), `","trades":`...)
	b = strconv.AppendInt(b, l.Fills, 10)
	b = l.BuyShares.Append(append(b, `,"buy_shares":`...))
	b = l.SellShares.Append(append(b, `,"sell_shares":`...))
	b = l.FeeShares.Append(append(b, `,"fee_shares":`...))
	b = l.Net().Append(append(b, `,"net_shares":`...))
	b = l.BuyUSD.Append(append(b, `,"buy_volume_usd":`...))
	b = l.SellUSD.Append(append(b, `,"sell_volume_usd":`...))
	b = appendRatio(append(b, `,"avg_buy_price":`...), l.BuyUSD, l.BuyShares)
	b = appendRatio(append(b, `,"avg_sell_price":`...), l.SellUSD, l.SellShares)
	return append(appendPayout(append(b, `,"payout":`...), m, l.Outcome), '}')
}
