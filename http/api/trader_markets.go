package api

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// The parameters of GET /trader/{address}/markets.
var (
	holdingsSort = &Param{Name: "sort", Kind: Choice, Default: "volume", Choices: holdingFigures(),
		Doc: "figure or time to sort by; abs_real_pnl is the absolute value of `real_pnl`"}
	holdingsOrder = &Param{Name: "order", Kind: Choice, Choices: []string{"desc", "asc"}, Default: "desc",
		Doc: "desc: largest first; asc: smallest first; unknown values come last in both"}
	holdingsStatus    = statusParam()
	holdingsCategory  = categoryParam()
	holdingsPositions = &Param{Name: "positions", Kind: Choice, Choices: yesNo(), Default: "true",
		Doc: "false: `positions` is null in every row, which makes the response much shorter"}
	holdingsLimit, holdingsCursor = limitParam("50", walletRows), cursorParam()
)

// holdingFigures are the names of the figures that holdings can be sorted by.
func holdingFigures() []string {
	names := [serving.HoldingFigures]string{serving.HoldingVolume: "volume", serving.HoldingRealPnL: "real_pnl",
		serving.HoldingAbsRealPnL: "abs_real_pnl", serving.HoldingLastTrade: "last_trade_at", serving.HoldingResolved: "resolved_at"}
	return names[:]
}

func holdingsRoute() Route {
	return Route{
		Method: fiber.MethodGet, Path: "/trader/{address}/markets", Section: wire.Trader, MaxRows: walletRows,
		Summary: "Markets of a wallet, with its position and profit in each", serve: (*API).traderMarkets, Reply: wire.WalletMarkets{},
		Params: []*Param{traderAddress, holdingsSort, holdingsOrder, holdingsStatus, holdingsCategory, holdingsPositions, holdingsLimit, holdingsCursor},
		Codes:  []string{"trader_not_found", "invalid_cursor"},
		Doc: "Lifetime figures of each market that the wallet traded. Ties are broken by `volume`, largest first, then by " +
			"`condition_id`. Fills whose market is unknown are one row with a null `condition_id`. `total` is the number of all rows " +
			"that match the filters and `totals` their sums; without a filter these equal the figures of `/trader/{address}/stats`. " +
			"Continue with `next_cursor`: all pages of a scan show the data of the first page, with the same `as_of`, so no row is " +
			"missed or repeated. The data is kept for 10 minutes after the last page was read, or less if memory is low, " +
			"and is lost at a restart. A scan that has expired fails with `invalid_cursor`.",
	}
}

// traderMarkets answers GET /trader/{address}/markets.
func (a *API) traderMarkets(c *fiber.Ctx, call *Call) error {
	v, trader, err := a.currentTrader(call)
	if err != nil {
		return err
	}
	position, bad := a.openCursor(call, call.value(holdingsCursor).text)
	if bad != nil {
		return bad
	}
	m, q := v.holdings, serving.HoldingQuery{Most: walletRows,
		Order: serving.HoldingOrder{By: serving.HoldingFigure(call.value(holdingsSort).n), Ascending: call.value(holdingsOrder).n == 1}}
	if position != nil {
		if m, q.After, bad = a.readHoldingPosition(position, v, call.Start); bad != nil {
			return bad
		}
	}
	keep, key, bad := call.holdingFilter(v.markets)
	if bad != nil {
		return bad
	}
	w := a.scratch.get()
	defer a.scratch.put(w)
	q.Keep = keep
	p, err := a.portfolioPage(m, w, &trader, q, fmt.Sprint(q.Order, " ", key, " ", string(position)))
	if err != nil {
		return err
	}
	e, n := call.listEnvelope(call.number(holdingsLimit), p.Left)
	mark, start := a.beginReply(call, m.asOf, e)
	call.buf = append(call.buf, `,"next_cursor":`...)
	if p.Left > n && n > 0 {
		place := q.Order.PlaceOf(&p.Rows[n-1])
		id := a.pinnedHoldings.pin(m, v.holdings, call.Start)
		call.buf = appendString(call.buf, a.sealCursor(call, appendHoldingPosition(a.pinnedHoldings.appendPin(nil, id), &place)))
	} else {
		call.buf = append(call.buf, "null"...)
	}
	b := strconv.AppendInt(append(call.buf, `,"total":`...), int64(p.Total), 10)
	b = appendWalletTotals(append(b, `,"totals":`...), &p.Totals)
	positions := call.value(holdingsPositions).n == 0
	call.buf = appendRows(append(b, `,"data":`...), n, func(b []byte, i int) []byte {
		return appendHolding(b, m.catalog, &p.Rows[i], positions)
	})
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// holdingFilter is the caller's condition on markets, given the categories in m; nil: none. key identifies the filter.
func (call *Call) holdingFilter(m *marketEpoch) (keep func(*serving.Holding) bool, key string, bad *problem) {
	categories, bad := call.categories(holdingsCategory, m)
	states := call.choices(holdingsStatus)
	if bad != nil || categories == nil && states == nil {
		return nil, "", bad
	}
	return func(h *serving.Holding) bool {
		category, status := categoryAndStatus(h)
		return (categories == nil || slices.Contains(categories, category)) && (states == nil || slices.Contains(states, string(status)))
	}, fmt.Sprintf("%q %q", categories, states), nil
}

// categoryAndStatus are those of a holding's market. An unknown market has no known payout, and no
// source said that it is closed.
func categoryAndStatus(h *serving.Holding) (string, serving.Status) {
	if h.Market == nil {
		return "", serving.Open
	}
	return h.Market.Category, h.Market.Status()
}

// holdingPositionSize is the size of a position among a wallet's markets, after the epoch.
const holdingPositionSize = 8 + 8 + 1 + 32

// appendHoldingPosition adds a place among the markets of a wallet.
func appendHoldingPosition(b []byte, p *serving.HoldingPlace) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(p.Key))
	b = binary.BigEndian.AppendUint64(b, uint64(p.Volume))
	unmapped := byte(0)
	if p.Unmapped {
		unmapped = 1
	}
	return append(append(b, unmapped), p.Condition[:]...)
}

// readHoldingPosition reads what appendHoldingPosition wrote after an epoch, and finds the epoch.
func (a *API) readHoldingPosition(b []byte, v *encodedSnapshot, now time.Time) (*marketEpoch, *serving.HoldingPlace, *problem) {
	m, b, bad := a.pinnedHoldings.readPin(b, holdingPositionSize, v.holdings, now)
	if bad != nil {
		return nil, nil, bad
	}
	p := &serving.HoldingPlace{Key: int64(binary.BigEndian.Uint64(b)), Volume: data.Micro(binary.BigEndian.Uint64(b[8:])), Unmapped: b[16] == 1}
	copy(p.Condition[:], b[17:])
	return m, p, nil
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

// appendHolding writes wire.WalletMarket, without its positions if they are not wanted.
func appendHolding(b []byte, c *serving.Catalog, h *serving.Holding, positions bool) []byte {
	b = appendMarketName(append(b, '{'), h.Market)
	category, status := categoryAndStatus(h)
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
	if h.Market == nil || !positions {
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
