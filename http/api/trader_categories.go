package api

import (
	"strconv"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

func categoriesRoute() Route {
	return Route{
		Method: fiber.MethodGet, Path: "/trader/{address}/categories", Section: wire.Trader,
		Summary: "A wallet's figures by category of market", serve: (*API).traderCategories, Reply: wire.Series[wire.WalletCategory]{},
		Params: []*Param{traderAddress}, Codes: []string{"trader_not_found"},
		Doc: "Lifetime figures of the wallet in the markets of each category, sorted by volume, ties by category. Markets without a " +
			"category, and fills whose market is unknown, are one row with a null `category`. All rows are shown on every plan: each " +
			"column adds up to the figure of `/trader/{address}/stats` with the same name.",
	}
}

// traderCategories answers GET /trader/{address}/categories.
func (a *API) traderCategories(c *fiber.Ctx, call *Call) error {
	v, trader, err := a.currentTrader(call)
	if err != nil {
		return err
	}
	w := a.scratch.get()
	defer a.scratch.put(w)
	rows, err := wholePortfolio(a, v.markets, w, &trader, "categories", (*serving.Portfolio).ByCategory, func(*[]serving.CategoryTotals) {})
	if err != nil {
		return err
	}
	mark, start := a.beginObject(call, v.asOf)
	call.buf = appendRows(call.buf, len(rows), func(b []byte, i int) []byte { return appendCategory(b, &rows[i]) })
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// appendCategory writes wire.WalletCategory.
func appendCategory(b []byte, t *serving.CategoryTotals) []byte {
	b = appendText(append(b, `{"category":`...), t.Category)
	b = strconv.AppendInt(append(b, `,"trades":`...), t.Fills, 10)
	b = t.Volume().Append(append(b, `,"volume":`...))
	b = t.BuyUSD.Append(append(b, `,"buy_volume_usd":`...))
	b = t.SellUSD.Append(append(b, `,"sell_volume_usd":`...))
	b = t.FeeUSD.Append(append(b, `,"fees_usd":`...))
	b = strconv.AppendInt(append(b, `,"unique_markets":`...), t.Markets, 10)
	b = strconv.AppendInt(append(b, `,"resolved_markets":`...), t.ResolvedMarkets, 10)
	b = strconv.AppendInt(append(b, `,"winning_markets":`...), t.WinningMarkets, 10)
	b = appendRatio(append(b, `,"win_rate":`...), data.Micro(t.WinningMarkets), data.Micro(t.ResolvedMarkets))
	b = t.NetCash.Append(append(b, `,"net_cash":`...))
	b = t.Redemption.Append(append(b, `,"redemption_value":`...))
	b = t.RealPnL().Append(append(b, `,"real_pnl":`...))
	b = appendRatio(append(b, `,"roi":`...), t.RealPnL(), t.BuyUSD)
	b = t.UnresolvedCash.Append(append(b, `,"unresolved_cash":`...))
	b = strconv.AppendInt(append(b, `,"negative_legs":`...), t.NegativeLegs, 10)
	b = strconv.AppendInt(append(b, `,"unmapped_fills":`...), t.UnmappedFills, 10)
	return append(appendMicros(append(b, `,"last_trade_at":`...), t.LastTS), '}')
}
