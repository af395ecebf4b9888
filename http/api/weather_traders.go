package api

import (
	"strconv"
	"sync"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// deskTraderRows is the maximum number of rows of the weather desk's traders.
const deskTraderRows = 200

// The parameters of GET /weather/traders.
var deskTradersSort, deskTradersLimit = deskSortParam(), limitParam("50", deskTraderRows)

func deskSortParam() *Param {
	p := &Param{Name: "sort", Kind: Choice, Default: serving.ByRealPnL.String(), Doc: "figure to rank by, largest first"}
	for s := range serving.DeskSorts {
		p.Choices = append(p.Choices, s.String())
	}
	return p
}

func weatherTraderRoutes() []Route {
	return []Route{{
		Method: fiber.MethodGet, Path: "/weather/traders", Section: wire.Weather, MaxRows: deskTraderRows,
		Summary: "Top traders of the weather desk", serve: (*API).weatherTraders, Reply: wire.WeatherTraders{},
		Params: []*Param{deskTradersSort, deskTradersLimit},
		Doc: "Wallets ranked by their profit or volume in the weather desk's markets: the events on the highest or lowest " +
			"temperature of one city's local day. All figures are lifetime figures of these markets only; open positions have no " +
			"value in `real_pnl`, as everywhere in this API. Other weather markets do not count (see `scope`), so the figures " +
			"differ from Polymarket's own WEATHER leaderboard, which covers all of them. Ties are broken by the other of the two " +
			"figures, then by address. The venue's own wallets are left out.",
	}}
}

// weatherTraderBodies has the encoded responses from a snapshot's traders of the desk.
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
		o.encode(strconv.AppendInt(head, int64(all.Total), 10), len(rows), func(i int) any { return deskTraderRow(&rows[i]) })
	})
	return o
}

func deskTraderRow(r *serving.DeskTraderRow) wire.WeatherTraderRow {
	return wire.WeatherTraderRow{
		Rank: r.Rank, Address: r.Wallet.String(), Username: textOrNull(r.Name), RealPnL: r.RealPnL(), NetCash: r.NetCash(), RedemptionValue: r.Redemption,
		ROI: ratioOrNull(r.RealPnL(), r.BuyUSD), Volume: r.Volume(), BuyVolumeUSD: r.BuyUSD, SellVolumeUSD: r.SellUSD, FeesUSD: r.FeeUSD, Trades: r.Fills,
		UniqueMarkets: int(r.Markets), ResolvedMarkets: int(r.ResolvedMarkets), WinningMarkets: int(r.WinningMarkets),
		WinRate:      ratioOrNull(data.Micro(r.WinningMarkets), data.Micro(r.ResolvedMarkets)),
		FirstTradeAt: timeOfMicros(r.FirstTS), LastTradeAt: timeOfMicros(r.LastTS),
	}
}
