package api

import (
	"slices"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/wire"
)

// maxCompared is how many wallets can be compared at most, on any plan.
const maxCompared = 10

// comparedWallets is the parameter of GET /trader/compare.
var comparedWallets = &Param{Name: "address", Kind: WalletArg, Many: maxCompared, Required: true,
	Doc: "wallet address; repeat the parameter for each wallet"}

func compareRoute() Route {
	return Route{
		Method: fiber.MethodGet, Path: "/trader/compare", Section: wire.Trader, MaxRows: maxCompared,
		Summary: "Lifetime summaries of wallets side by side", serve: (*API).traderCompare, Reply: wire.Series[wire.TraderComparison]{},
		Params: []*Param{comparedWallets},
		Doc: "One row per wallet in the order given; a wallet given twice is one row. The plan determines how many are shown: free " +
			"1, explorer 2, trader 3, alpha 10. Further wallets are left out, and `truncated` is then true. A wallet that never " +
			"traded is a row with `found: false` and null figures.",
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
	mark, start := a.beginReply(call, v.asOf, e)
	call.buf = appendRows(append(call.buf, `,"data":`...), len(wallets), func(b []byte, i int) []byte {
		trader, known := v.snap.Trader(wallets[i])
		b = wallets[i].Append(append(b, `{"address":"`...))
		if !known {
			return append(append(b, `","found":false`...), unknownStats...)
		}
		return appendFigures(append(b, `","found":true`...), &trader)
	})
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// unknownStats is what appendFigures would write of a wallet that never traded.
const unknownStats = `,"username":null,"trades":null,"volume":null,"buy_volume_usd":null,"sell_volume_usd":null,` +
	`"maker_trades":null,"taker_trades":null,"active_days":null,"unique_markets":null,"first_trade_at":null,"last_trade_at":null,` +
	`"fees_usd":null,"realized_pnl":null,"real_pnl":null,"roi":null,"win_rate":null,"resolved_markets":null,"winning_markets":null,` +
	`"net_cash":null,"redemption_value":null,"unresolved_cash":null,"negative_legs":null,"unmapped_fills":null,` +
	`"pnl_method":"` + wire.PnLMethod + `","unrealized_pnl":null}`
