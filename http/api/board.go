package api

import (
	"sync"
	"sync/atomic"

	"github.com/gofiber/fiber/v2"

	"pmx/http/wire"
	"pmx/rollups/serving"
)

// boardRows is the most rows a leaderboard gives.
const boardRows = 200

// view is one published snapshot with all that is encoded of it. What nobody
// asks for is never encoded.
type view struct {
	snap     *serving.Snapshot
	asOf     []byte // as JSON
	boards   boardView
	stats    statsView
	oracle   oracleView
	walk     *walk
	screen   screenFront
	index    indexView
	whales   whaleView
	ranked   deskTraderView
	research catalogueCard
	desk     deskView
	kept     atomic.Int64 // bytes of finished bodies
}

func newView(snap *serving.Snapshot) *view {
	v := &view{snap: snap, asOf: appendTime(nil, snap.AsOf)}
	v.walk = newWalk(snap, v.asOf)
	return v
}

// boardView is the leaderboards of one snapshot.
type boardView struct {
	traders, markets         [serving.Periods]sheet
	tradersOnce, marketsOnce [serving.Periods]sync.Once
}

// window is what stands before the rows of a ranking over period p.
func (v *view) window(p serving.Period) []byte {
	b := append([]byte(`,"period":"`), p.String()...)
	b = append(b, `","window_start":`...)
	if v.snap.AsOf.IsZero() {
		return append(b, `null,"window_end":null`...)
	}
	b = appendTime(b, v.snap.AsOf.Add(-p.Length()))
	return appendTime(append(b, `,"window_end":`...), v.snap.AsOf)
}

func (v *view) traderSheet(p serving.Period) *sheet {
	o := &v.boards.traders[p]
	v.boards.tradersOnce[p].Do(func() {
		rows := v.snap.Traders[p]
		o.encode(v.window(p), len(rows), func(b []byte, i int) []byte { return appendTraderRow(b, &rows[i]) })
	})
	return o
}

func (v *view) marketSheet(p serving.Period) *sheet {
	o := &v.boards.markets[p]
	v.boards.marketsOnce[p].Do(func() {
		rows := v.snap.Markets[p]
		o.encode(v.window(p), len(rows), func(b []byte, i int) []byte { return appendMarketRow(b, &rows[i]) })
	})
	return o
}

// boardParams are the places of a leaderboard's parameters.
const (
	boardPeriod = iota
	boardLimit
)

func leaderboardRoutes() []Route {
	return []Route{
		{
			Method: fiber.MethodGet, Path: "/leaderboard/traders", Section: wire.Leaderboard, MaxRows: boardRows,
			Summary: "Top traders by real_pnl", serve: (*API).traderBoard, Reply: wire.Board[wire.TraderRow]{},
			Params: []Param{boardPeriod: periodParam(), boardLimit: limitParam("50", boardRows)},
		},
		{
			Method: fiber.MethodGet, Path: "/leaderboard/markets", Section: wire.Leaderboard, MaxRows: boardRows,
			Summary: "Top markets by volume", serve: (*API).marketBoard, Reply: wire.Board[wire.MarketRow]{},
			Params: []Param{boardPeriod: periodParam(), boardLimit: limitParam("50", boardRows)},
		},
	}
}

// traderBoard answers GET /leaderboard/traders.
func (a *API) traderBoard(c *fiber.Ctx, call *Call) error {
	return a.sendBoard(c, call, (*view).traderSheet)
}

// marketBoard answers GET /leaderboard/markets.
func (a *API) marketBoard(c *fiber.Ctx, call *Call) error {
	return a.sendBoard(c, call, (*view).marketSheet)
}

func (a *API) sendBoard(c *fiber.Ctx, call *Call, sheetOf func(*view, serving.Period) *sheet) error {
	v, err := a.ready()
	if err != nil {
		return err
	}
	o := sheetOf(v, serving.Period(call.values[boardPeriod].n))
	return a.sendPrepared(c, call, v, o.reply(a.envelopes, v.asOf, call, int(call.values[boardLimit].n)))
}
