package api

import (
	"sync"
	"sync/atomic"

	"github.com/gofiber/fiber/v2"

	"pmx/http/wire"
	"pmx/rollups/serving"
)

// leaderboardRows is the most rows a leaderboard gives.
const leaderboardRows = 200

// encodedSnapshot is a published snapshot with the bodies that were encoded from it. A body
// is encoded when it is first asked for.
type encodedSnapshot struct {
	snap           *serving.Snapshot
	asOf           []byte // as JSON
	leaderboards   leaderboardBodies
	stats          statsBodies
	oracle         oracleBodies
	markets        *marketEpoch
	screener       screenerFirstPage
	index          indexBodies
	whales         whaleBodies
	weatherTraders weatherTraderBodies
	research       catalogueBody
	desk           weatherBodies
	bodyBytes      atomic.Int64 // of the encoded bodies that are kept
}

func newEncodedSnapshot(snap *serving.Snapshot) *encodedSnapshot {
	v := &encodedSnapshot{snap: snap, asOf: appendTime(nil, snap.AsOf)}
	v.markets = newMarketEpoch(snap, v.asOf)
	return v
}

// leaderboardBodies is the leaderboards of one snapshot.
type leaderboardBodies struct {
	traders, markets         [serving.Periods]rankedBody
	tradersOnce, marketsOnce [serving.Periods]sync.Once
}

// window is what stands before the rows of a ranking over period p.
func (v *encodedSnapshot) window(p serving.Period) []byte {
	b := append([]byte(`,"period":"`), p.String()...)
	b = append(b, `","window_start":`...)
	if v.snap.AsOf.IsZero() {
		return append(b, `null,"window_end":null`...)
	}
	b = appendTime(b, v.snap.AsOf.Add(-p.Length()))
	return appendTime(append(b, `,"window_end":`...), v.snap.AsOf)
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

// The parameters of a leaderboard.
var boardPeriod, boardLimit = periodParam(), limitParam("50", leaderboardRows)

func leaderboardRoutes() []Route {
	return []Route{
		{
			Method: fiber.MethodGet, Path: "/leaderboard/traders", Section: wire.Leaderboard, MaxRows: leaderboardRows,
			Summary: "Top traders by real_pnl", serve: (*API).traderLeaderboard, Reply: wire.Board[wire.TraderRow]{},
			Params: []*Param{boardPeriod, boardLimit},
		},
		{
			Method: fiber.MethodGet, Path: "/leaderboard/markets", Section: wire.Leaderboard, MaxRows: leaderboardRows,
			Summary: "Top markets by volume", serve: (*API).marketLeaderboard, Reply: wire.Board[wire.MarketRow]{},
			Params: []*Param{boardPeriod, boardLimit},
		},
	}
}

// traderLeaderboard answers GET /leaderboard/traders.
func (a *API) traderLeaderboard(c *fiber.Ctx, call *Call) error {
	return a.sendLeaderboard(c, call, (*encodedSnapshot).traderBody)
}

// marketLeaderboard answers GET /leaderboard/markets.
func (a *API) marketLeaderboard(c *fiber.Ctx, call *Call) error {
	return a.sendLeaderboard(c, call, (*encodedSnapshot).marketBody)
}

func (a *API) sendLeaderboard(c *fiber.Ctx, call *Call, sheetOf func(*encodedSnapshot, serving.Period) *rankedBody) error {
	v, err := a.current()
	if err != nil {
		return err
	}
	o := sheetOf(v, serving.Period(call.value(boardPeriod).n))
	return a.sendEncoded(c, call, v, o.bodyFor(a.envelopes, v.asOf, call, call.number(boardLimit)))
}
