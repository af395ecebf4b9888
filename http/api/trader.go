package api

import (
	"strconv"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// traderAddress is the wallet in the path. Routes list it first.
var traderAddress = &Param{Name: "address", InPath: true, Kind: WalletArg, Doc: "wallet address, case-insensitive"}

func traderRoutes() []Route {
	return []Route{
		{
			Method: fiber.MethodGet, Path: "/trader/{address}/stats", Section: wire.Trader,
			Summary: "Lifetime summary of a wallet", serve: (*API).traderStats, needsTraders: true,
			Params: []*Param{traderAddress}, Reply: wire.One[wire.TraderStats]{}, Codes: []string{"trader_not_found"},
		},
		dailyRoute(), holdingsRoute(), categoriesRoute(), tradesRoute(), compareRoute(),
	}
}

// trader returns the lifetime figures of a wallet, or the problem that it was never seen.
func (v *encodedSnapshot) trader(wallet data.Address) (serving.Trader, error) {
	trader, known := v.snap.Trader(wallet)
	if !known {
		return trader, missing("trader_not_found", "No trade of this wallet is known. Check the address.")
	}
	return trader, nil
}

// currentTrader returns the published snapshot, and in it the figures of the wallet that the path
// names.
func (a *API) currentTrader(call *Call) (*encodedSnapshot, serving.Trader, error) {
	return a.traderIn((*API).current, call)
}

// traderIn is currentTrader with the snapshot that current returns.
func (a *API) traderIn(current func(*API) (*encodedSnapshot, error), call *Call) (*encodedSnapshot, serving.Trader, error) {
	v, err := current(a)
	if err != nil {
		return nil, serving.Trader{}, err
	}
	trader, err := v.trader(call.value(traderAddress).wallet())
	return v, trader, err
}

// traderStats answers GET /trader/{address}/stats from the snapshot's totals.
func (a *API) traderStats(c *fiber.Ctx, call *Call) error {
	v, trader, err := a.traderIn((*API).currentTraders, call)
	if err != nil {
		return err
	}
	mark, start := a.beginObject(call, v.asOf)
	call.buf = appendStats(call.buf, &trader)
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// appendStats writes wire.TraderStats.
func appendStats(b []byte, trader *serving.Trader) []byte {
	b = trader.Wallet.Append(append(b, `{"address":"`...))
	return appendFigures(append(b, '"'), trader)
}

// appendFigures writes all members after those that identify the wallet, and the closing brace.
func appendFigures(b []byte, trader *serving.Trader) []byte {
	t := trader.Totals
	pnl := t.RealPnL()
	b = appendText(append(b, `,"username":`...), trader.Name)
	b = strconv.AppendInt(append(b, `,"trades":`...), t.Fills, 10)
	b = t.Volume().Append(append(b, `,"volume":`...))
	b = t.BuyUSD.Append(append(b, `,"buy_volume_usd":`...))
	b = t.SellUSD.Append(append(b, `,"sell_volume_usd":`...))
	b = strconv.AppendInt(append(b, `,"maker_trades":`...), t.MakerFills, 10)
	b = strconv.AppendInt(append(b, `,"taker_trades":`...), t.TakerFills, 10)
	b = strconv.AppendInt(append(b, `,"active_days":`...), t.ActiveDays, 10)
	b = strconv.AppendInt(append(b, `,"unique_markets":`...), t.Markets, 10)
	b = appendMicros(append(b, `,"first_trade_at":`...), t.FirstTS)
	b = appendMicros(append(b, `,"last_trade_at":`...), t.LastTS)
	b = t.FeeUSD.Append(append(b, `,"fees_usd":`...))
	b = pnl.Append(append(b, `,"realized_pnl":`...))
	b = pnl.Append(append(b, `,"real_pnl":`...))
	b = appendRatio(append(b, `,"roi":`...), pnl, t.BuyUSD)
	b = appendRatio(append(b, `,"win_rate":`...), data.Micro(t.WinningMarkets), data.Micro(t.ResolvedMarkets))
	b = strconv.AppendInt(append(b, `,"resolved_markets":`...), t.ResolvedMarkets, 10)
	b = strconv.AppendInt(append(b, `,"winning_markets":`...), t.WinningMarkets, 10)
	b = t.NetCash.Append(append(b, `,"net_cash":`...))
	b = t.Redemption.Append(append(b, `,"redemption_value":`...))
	b = t.UnresolvedCash.Append(append(b, `,"unresolved_cash":`...))
	b = strconv.AppendInt(append(b, `,"negative_legs":`...), t.NegativeLegs, 10)
	b = strconv.AppendInt(append(b, `,"unmapped_fills":`...), t.UnmappedFills, 10)
	return append(b, `,"pnl_method":"`+wire.PnLMethod+`","unrealized_pnl":null}`...)
}
