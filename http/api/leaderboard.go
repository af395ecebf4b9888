package api

import (
	"sync"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// leaderboardRows is the maximum number of rows of a leaderboard.
const leaderboardRows = 200

// The parameters of a leaderboard.
var leaderboardPeriod, leaderboardLimit = periodParam(), limitParam("50", leaderboardRows)

func leaderboardRoutes() []Route {
	return []Route{
		{
			Method: fiber.MethodGet, Path: "/leaderboard/traders", Section: wire.Leaderboard, MaxRows: leaderboardRows,
			Summary: "Top traders by real_pnl", serve: (*API).traderLeaderboard, Reply: wire.RankedList[wire.TraderRow]{}, needsTraders: true,
			Params: []*Param{leaderboardPeriod, leaderboardLimit, leaderboardCategory, leaderboardMinResolved, leaderboardSort, leaderboardOffset, leaderboardInc},
			Doc: "Ties are broken by `real_pnl`, then `volume`, then `address`. `category` restricts the figures of the period to markets of these " +
				"categories; all-time figures and `spark` always cover all markets. `previous_rank` is the wallet's rank in the preceding window of the " +
				"same length, by the same figure and filters, computed from what is known now. On a large venue, a leaderboard with any parameter other than " +
				"`period` and `limit` is prepared in the background, at most every 10 seconds: `as_of` and the window say when, and all-time figures may be newer.",
			Codes: []string{"fills_elsewhere"},
		},
		{
			Method: fiber.MethodGet, Path: "/leaderboard/markets", Section: wire.Leaderboard, MaxRows: leaderboardRows,
			Summary: "Top markets by volume", serve: (*API).marketLeaderboard, Reply: wire.RankedList[wire.MarketRow]{},
			Params: []*Param{leaderboardPeriod, leaderboardLimit},
		},
	}
}

// traderLeaderboard answers GET /leaderboard/traders.
func (a *API) traderLeaderboard(c *fiber.Ctx, call *Call) error {
	if call.value(leaderboardCategory).given || call.value(leaderboardMinResolved).n > 0 || call.value(leaderboardSort).n > 0 || call.number(leaderboardOffset) > 0 || call.value(leaderboardInc).given {
		return a.rankedTraders(c, call)
	}
	return a.sendLeaderboard(c, call, (*API).currentTraders, (*encodedSnapshot).traderBody)
}

// marketLeaderboard answers GET /leaderboard/markets.
func (a *API) marketLeaderboard(c *fiber.Ctx, call *Call) error {
	return a.sendLeaderboard(c, call, (*API).current, (*encodedSnapshot).marketBody)
}

func (a *API) sendLeaderboard(c *fiber.Ctx, call *Call, current func(*API) (*encodedSnapshot, error), bodyOf func(*encodedSnapshot, serving.Period) *rankedBody) error {
	v, err := current(a)
	if err != nil {
		return err
	}
	o := bodyOf(v, serving.Period(call.value(leaderboardPeriod).n))
	return a.sendEncoded(c, call, v, o.bodyFor(a.envelopes, v.asOf, call, call.number(leaderboardLimit)))
}

// leaderboardBodies is the leaderboards of one snapshot.
type leaderboardBodies struct {
	traders, markets         [serving.Periods]rankedBody
	tradersOnce, marketsOnce [serving.Periods]sync.Once
}

func (v *encodedSnapshot) traderBody(p serving.Period) *rankedBody {
	o := &v.leaderboards.traders[p]
	v.leaderboards.tradersOnce[p].Do(func() {
		rows := v.snap.Traders[p]
		o.encode(v.window(p), len(rows), func(i int) any { return traderRow(&rows[i]) })
	})
	return o
}

func (v *encodedSnapshot) marketBody(p serving.Period) *rankedBody {
	o := &v.leaderboards.markets[p]
	v.leaderboards.marketsOnce[p].Do(func() {
		rows := v.snap.Markets[p]
		o.encode(v.window(p), len(rows), func(i int) any { return marketRow(&rows[i]) })
	})
	return o
}

func traderRow(r *serving.TraderRow) wire.TraderRow {
	return wire.TraderRow{
		Rank: r.Rank, Address: r.Wallet.String(), Username: textOrNull(r.Name), RealPnL: r.RealPnL, RealPnLAllTime: r.RealPnLAllTime,
		NetCash: r.NetCash, RedemptionValue: r.Redemption, UndatedRedemption: r.Undated, UndatedMarkets: r.UndatedMarkets,
		Volume: r.Volume(), BuyVolumeUSD: r.BuyUSD, SellVolumeUSD: r.SellUSD, Trades: r.Fills, ROI: ratioOrNull(r.RealPnL, r.BuyUSD),
		WinRateAllTime:         ratioOrNull(data.Micro(r.WinningMarkets), data.Micro(r.ResolvedMarkets)),
		ResolvedMarketsAllTime: r.ResolvedMarkets, WinningMarketsAllTime: r.WinningMarkets, LastTradeAt: microsOrNull(r.LastTS),
	}
}

func marketRow(r *serving.MarketRow) wire.MarketRow {
	return wire.MarketRow{
		Rank: r.Rank, ConditionID: r.Condition.String(), Question: textOrNull(r.Question), Slug: textOrNull(r.Slug), EventID: textOrNull(r.EventID),
		EventSlug: textOrNull(r.EventSlug), Category: textOrNull(r.Category), Volume: r.VolumeUSD, VolumeShares: r.VolumeShares,
		VolumeBasis: textOrNull(string(r.Basis)), VolumeAllTime: r.VolumeAllTime, Trades: r.Trades, Traders: r.Traders, Outcomes: r.Outcomes,
		Status: string(serving.StatusOf(r.Resolved, r.Closed)), EndDate: microsOrNull(r.EndTS), LastTradeAt: microsOrNull(r.LastTS),
	}
}
