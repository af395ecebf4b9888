package api

import (
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// dailyRows is the maximum number of days in a response.
const dailyRows = 365

var dailyLimit = limitParam("90", dailyRows).about("number of newest days; the plan's history limit may reduce it")

func dailyRoute() Route {
	return Route{
		Method: fiber.MethodGet, Path: "/trader/{address}/activity/daily", Section: wire.Trader, MaxRows: dailyRows,
		Summary: "A wallet's figures by day, newest first", serve: (*API).traderDaily, Reply: wire.Series[wire.WalletDay]{},
		Params: []*Param{traderAddress, dailyLimit},
		Codes:  []string{"trader_not_found"},
		Doc: "One row per UTC day on which the wallet traded or a market that it holds was resolved; other days are left out. A " +
			"resolution counts on its own day, no matter when the market was traded; it does not count yet if it is later than " +
			"`as_of`. A resolution whose time is unknown is not part of any `real_pnl`: what it pays is the `undated_redemption` " +
			"of the day of the wallet's last trade in the market. `cumulative_pnl` adds up all days from the first one; together with " +
			"every `undated_redemption` it equals the lifetime `real_pnl`.",
	}
}

// walletDay is what a wallet did on one day, and its profit over all days up to it.
type walletDay struct {
	serving.DaySum
	redemption, cumulative data.Micro
	undated                data.Micro // of markets resolved at an unknown time, last traded on the day
	undatedMarkets         int64
}

// traderDaily answers GET /trader/{address}/activity/daily.
func (a *API) traderDaily(c *fiber.Ctx, call *Call) error {
	v, trader, err := a.currentTrader(call)
	if err != nil {
		return err
	}
	w := a.scratch.get()
	defer a.scratch.put(w)
	all, err := a.profitByDay(v, w, &trader)
	if err != nil {
		return err
	}
	rows, e := shownDays(call, v.snap, all)
	mark, start := a.beginReply(call, v.asOf, e)
	today := serving.DayOf(v.snap.AsOf.UnixMicro())
	call.buf = appendRows(append(call.buf, `,"data":`...), len(rows), func(b []byte, i int) []byte {
		return appendWalletDay(b, &rows[len(rows)-1-i], today)
	})
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// profitByDay returns what a wallet did day by day, oldest first, in the memory of w.
func (a *API) profitByDay(v *encodedSnapshot, w *scratch, t *serving.Trader) ([]walletDay, error) {
	redeemed, err := a.walletPaid(v, w, t)
	if err != nil {
		return nil, err
	}
	days, err := a.walletDays(v, w, t)
	if err != nil {
		return nil, err
	}
	w.rows = mergeDays(w.rows[:0], days, redeemed)
	return w.rows, nil
}

// mergeDays adds the days with fills or redemptions to rows, oldest first as
// both lists are.
func mergeDays(rows []walletDay, days []serving.DaySum, redeemed []serving.DayPaid) []walletDay {
	cumulative := data.Micro(0)
	for len(days) > 0 || len(redeemed) > 0 {
		var row walletDay
		if len(redeemed) == 0 || len(days) > 0 && days[0].Day <= redeemed[0].Day {
			row.DaySum, days = days[0], days[1:]
		} else {
			row.Day = redeemed[0].Day
		}
		if len(redeemed) > 0 && redeemed[0].Day == row.Day {
			row.redemption, row.undated, row.undatedMarkets = redeemed[0].USD, redeemed[0].Undated, redeemed[0].UndatedMarkets
			redeemed = redeemed[1:]
		}
		cumulative += row.NetCash() + row.redemption
		row.cumulative = cumulative
		rows = append(rows, row)
	}
	return rows
}

// shownDays takes the newest requested rows among those that the plan shows: days of which any part
// is within its history.
func shownDays(call *Call, snap *serving.Snapshot, rows []walletDay) ([]walletDay, envelope) {
	asked := rows[max(0, len(rows)-call.number(dailyLimit)):]
	e := envelope{tier: call.tier, maxRows: dailyRows, hint: access.Nobody}
	first := serving.DayOf(historyStart(call.tier, snap))
	shown := asked
	for len(shown) > 0 && shown[0].Day < first {
		shown = shown[1:]
	}
	if len(shown) < len(asked) {
		e.trimHistory(snap, lastInstant(int64(asked[0].Day+1)*microsPerDay))
	}
	return shown, e
}

// appendWalletDay writes wire.WalletDay.
func appendWalletDay(b []byte, d *walletDay, today int32) []byte {
	b = appendDate(append(b, `{"date":`...), d.Day)
	b = appendBool(append(b, `,"is_partial":`...), d.Day == today)
	b = strconv.AppendInt(append(b, `,"trades":`...), d.Fills, 10)
	b = (d.BuyUSD + d.SellUSD).Append(append(b, `,"volume":`...))
	b = d.BuyUSD.Append(append(b, `,"buy_volume_usd":`...))
	b = d.SellUSD.Append(append(b, `,"sell_volume_usd":`...))
	b = d.FeeUSD.Append(append(b, `,"fees_usd":`...))
	b = d.NetCash().Append(append(b, `,"net_cash":`...))
	b = d.redemption.Append(append(b, `,"redemption_value":`...))
	b = appendUndated(b, d.undated, d.undatedMarkets)
	b = (d.NetCash() + d.redemption).Append(append(b, `,"real_pnl":`...))
	b = d.cumulative.Append(append(b, `,"cumulative_pnl":`...))
	return append(b, '}')
}

// appendUndated adds the redemptions of markets that were resolved at an unknown time.
func appendUndated(b []byte, usd data.Micro, markets int64) []byte {
	b = usd.Append(append(b, `,"undated_redemption":`...))
	return strconv.AppendInt(append(b, `,"undated_markets":`...), markets, 10)
}

// appendDate adds a UTC day, counted from 1970, as YYYY-MM-DD.
func appendDate(b []byte, day int32) []byte {
	b = time.Unix(int64(day)*86_400, 0).UTC().AppendFormat(append(b, '"'), time.DateOnly)
	return append(b, '"')
}
