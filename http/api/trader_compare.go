package api

import (
	"slices"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// maxCompared is the maximum number of wallets to compare, on any plan.
const maxCompared = 10

// The parameters of GET /trader/compare.
var (
	comparedWallets = &Param{Name: "address", Kind: WalletArg, Many: maxCompared, Required: true,
		Doc: "wallet address; repeat the parameter for each wallet"}
	comparedSeries = &Param{Name: "series", Kind: Choice, Choices: []string{"none", "daily"}, Default: "none",
		Doc: "daily: each row also has `days`"}
	comparedDays = &Param{Name: "days", Kind: Integer, Default: "90", Min: 1, Max: dailyRows,
		Doc: "number of UTC days in `days`, ending with the day of as_of; the plan's history limit may reduce it"}
)

func compareRoute() Route {
	return Route{
		Method: fiber.MethodGet, Path: "/trader/compare", Section: wire.Trader, MaxRows: maxCompared,
		Summary: "Lifetime summaries of wallets side by side", serve: (*API).traderCompare, Reply: wire.Series[wire.TraderComparison]{},
		Params: []*Param{comparedWallets, comparedSeries, comparedDays},
		Doc: "One row per wallet in the order given; a wallet given twice is one row. The plan determines how many are shown: free " +
			"1, explorer 2, trader 3, alpha 10. Further wallets are left out, and `truncated` is then true. A wallet that never " +
			"traded is a row with `found: false` and null figures. With `series=daily`, `days` has the profits of " +
			"`/trader/{address}/activity/daily`, oldest first, to plot several wallets together.",
	}
}

// traderCompare answers GET /trader/compare.
func (a *API) traderCompare(c *fiber.Ctx, call *Call) error {
	v, err := a.current()
	if err != nil {
		return err
	}
	var wallets []data.Address
	for given := range call.all(comparedWallets) {
		if wallet := given.wallet(); !slices.Contains(wallets, wallet) {
			wallets = append(wallets, wallet)
		}
	}
	e := envelope{tier: call.tier, maxRows: min(call.tier.Caps().Compare, maxCompared), hint: access.Nobody}
	if len(wallets) > e.maxRows {
		e.trimmed, e.hint = true, access.LowestWithCompare(len(wallets))
		wallets = wallets[:e.maxRows]
	}
	days := make([][]walletDay, len(wallets)) // nil: not requested, or not known
	for i := range wallets {
		if trader, known := v.snap.Trader(wallets[i]); known && call.value(comparedSeries).n == 1 {
			if days[i], err = a.comparedDays(call, v, &trader, &e); err != nil {
				return err
			}
		}
	}
	mark, start := a.beginReply(call, v.asOf, e)
	today := serving.DayOf(v.snap.AsOf.UnixMicro())
	call.buf = appendRows(append(call.buf, `,"data":`...), len(wallets), func(b []byte, i int) []byte {
		trader, known := v.snap.Trader(wallets[i])
		b = wallets[i].Append(append(b, `{"address":"`...))
		b = appendBool(append(b, `","found":`...), known)
		b = append(b, `,"days":`...)
		if days[i] == nil {
			b = append(b, "null"...)
		} else {
			b = appendRows(b, len(days[i]), func(b []byte, n int) []byte { return appendProfitDay(b, &days[i][n], today) })
		}
		if !known {
			return append(b, unknownStats...)
		}
		return appendFigures(b, &trader)
	})
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// comparedDays returns the days of a wallet that are requested and that the plan shows, oldest first; never
// nil.
func (a *API) comparedDays(call *Call, v *encodedSnapshot, t *serving.Trader, e *envelope) ([]walletDay, error) {
	w := a.scratch.get()
	defer a.scratch.put(w)
	all, err := a.profitByDay(v, w, t)
	if err != nil {
		return nil, err
	}
	first, shown := serving.DayOf(v.snap.AsOf.UnixMicro())-int32(call.number(comparedDays))+1, serving.DayOf(historyStart(call.tier, v.snap))
	days := []walletDay{}
	for i := range all {
		switch {
		case all[i].Day < first:
		case all[i].Day < shown: // the hint is the best plan that any of them needs
			e.trimHistory(v.snap, lastInstant(int64(all[i].Day+1)*microsPerDay))
		default:
			days = append(days, all[i])
		}
	}
	return days, nil
}

// appendProfitDay writes wire.ProfitDay.
func appendProfitDay(b []byte, d *walletDay, today int32) []byte {
	b = appendDate(append(b, `{"date":`...), d.Day)
	b = appendBool(append(b, `,"is_partial":`...), d.Day == today)
	b = (d.NetCash() + d.redemption).Append(append(b, `,"real_pnl":`...))
	return append(d.cumulative.Append(append(b, `,"cumulative_pnl":`...)), '}')
}

// unknownStats is what appendFigures would write for a wallet that never traded.
const unknownStats = `,"username":null,"trades":null,"volume":null,"buy_volume_usd":null,"sell_volume_usd":null,` +
	`"maker_trades":null,"taker_trades":null,"active_days":null,"unique_markets":null,"first_trade_at":null,"last_trade_at":null,` +
	`"fees_usd":null,"realized_pnl":null,"real_pnl":null,"roi":null,"win_rate":null,"resolved_markets":null,"winning_markets":null,` +
	`"net_cash":null,"redemption_value":null,"unresolved_cash":null,"negative_legs":null,"unmapped_fills":null,` +
	`"pnl_method":"` + wire.PnLMethod + `","unrealized_pnl":null}`
