package api

import (
	"strconv"
	"sync"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// deskTraderRows is the most rows of the weather desk's traders.
const deskTraderRows = 200

// The parameters of GET /weather/traders.
var deskTradersSort, deskTradersLimit = deskSortParam(), limitParam("50", deskTraderRows)

func deskSortParam() *Param {
	p := &Param{Name: "sort", Kind: Choice, Default: serving.ByRealPnL.String(), Doc: "figure that ranks, the greatest first"}
	for s := range serving.DeskSorts {
		p.Choices = append(p.Choices, s.String())
	}
	return p
}

func weatherTraderRoutes() []Route {
	return []Route{{
		Method: fiber.MethodGet, Path: "/weather/traders", Section: wire.Weather, MaxRows: deskTraderRows,
		Summary: "Top weather-market traders", serve: (*API).weatherTraders, Reply: wire.WeatherTraders{},
		Params: []*Param{deskTradersSort, deskTradersLimit},
		Doc: "Wallets by what they made, or traded, of the weather desk's markets: events on the highest or lowest temperature of one " +
			"city's local day. Every figure is of these markets alone and lifetime; open positions have no value in `real_pnl`, as everywhere " +
			"in this API. Other weather markets do not count (`scope` says so), so the figures differ from Polymarket's own WEATHER " +
			"leaderboard, which covers them all. Ties rank by the other of the two figures, then by address. The venue's own wallets " +
			"are left out.",
	}}
}

// weatherTraderBodies is what is encoded of a snapshot's traders of the desk.
type weatherTraderBodies struct {
	leaderboards [serving.DeskSorts]rankedBody
	once         [serving.DeskSorts]sync.Once
}

// weatherTraders answers GET /weather/traders.
func (a *API) weatherTraders(c *fiber.Ctx, call *Call) error {
	v, err := a.current()
	if err != nil {
		return err
	}
	o := v.weatherTraderBody(serving.DeskSort(call.value(deskTradersSort).n))
	return a.sendEncoded(c, call, v, o.bodyFor(a.envelopes, v.asOf, call, call.number(deskTradersLimit)))
}

func (v *encodedSnapshot) weatherTraderBody(s serving.DeskSort) *rankedBody {
	o := &v.weatherTraders.leaderboards[s]
	v.weatherTraders.once[s].Do(func() {
		all := v.snap.DeskTraders
		if all == nil {
			all = &serving.DeskTraders{}
		}
		head := append(append([]byte(`,"scope":"desk","sort":"`), s.String()...), `","total":`...)
		rows := all.Leaderboards[s]
		o.encode(strconv.AppendInt(head, int64(all.Total), 10), len(rows), func(b []byte, i int) []byte { return appendDeskTraderRow(b, &rows[i]) })
	})
	return o
}

// appendDeskTraderRow writes wire.WeatherTraderRow.
func appendDeskTraderRow(b []byte, r *serving.DeskTraderRow) []byte {
	b = strconv.AppendInt(append(b, `{"rank":`...), int64(r.Rank), 10)
	b = r.Wallet.Append(append(b, `,"address":"`...))
	b = appendText(append(b, `","username":`...), r.Name)
	b = r.RealPnL().Append(append(b, `,"real_pnl":`...))
	b = r.NetCash().Append(append(b, `,"net_cash":`...))
	b = r.Redemption.Append(append(b, `,"redemption_value":`...))
	b = appendRatio(append(b, `,"roi":`...), r.RealPnL(), r.BuyUSD)
	b = r.Volume().Append(append(b, `,"volume":`...))
	b = r.BuyUSD.Append(append(b, `,"buy_volume_usd":`...))
	b = r.SellUSD.Append(append(b, `,"sell_volume_usd":`...))
	b = r.FeeUSD.Append(append(b, `,"fees_usd":`...))
	b = strconv.AppendInt(append(b, `,"trades":`...), r.Fills, 10)
	b = strconv.AppendInt(append(b, `,"unique_markets":`...), int64(r.Markets), 10)
	b = strconv.AppendInt(append(b, `,"resolved_markets":`...), int64(r.ResolvedMarkets), 10)
	b = strconv.AppendInt(append(b, `,"winning_markets":`...), int64(r.WinningMarkets), 10)
	b = appendRatio(append(b, `,"win_rate":`...), data.Micro(r.WinningMarkets), data.Micro(r.ResolvedMarkets))
	b = appendMicros(append(b, `,"first_trade_at":`...), r.FirstTS)
	b = appendMicros(append(b, `,"last_trade_at":`...), r.LastTS)
	return append(b, '}')
}
