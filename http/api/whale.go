package api

import (
	"context"
	"sync"

	"github.com/gofiber/fiber/v2"

	"pmx/http/wire"
	"pmx/rollups/serving"
)

// whaleRows is the maximum number of rows of a whale list.
const whaleRows = 200

const whaleDoc = "A whale move is an order of at least `threshold_usd`: the sum of the taker fills of one wallet, token and side in " +
	"one transaction (or at the same time, if the source has no transactions). The venue's own wallets are left out. "

// whaleReader is what the whale endpoints read from the database.
type whaleReader interface {
	// WhaleMoves returns the n newest moves up to end, unix µs, older than a move (nil: all) that
	// pass the filter, newest first.
	WhaleMoves(ctx context.Context, f serving.MoveFilter, end int64, before *serving.Move, n int) ([]serving.Move, error)
}

func whaleRoutes() []Route {
	return []Route{
		{
			Method: fiber.MethodGet, Path: "/whales", Section: wire.Whales, MaxRows: whaleRows,
			Summary: "Top wallets by large orders", serve: (*API).whaleLeaderboard, Reply: wire.WhaleLeaderboard{},
			Params: []*Param{leaderboardPeriod, leaderboardLimit},
			Doc: whaleDoc + "Wallets are ranked by the USD of their whale moves in the window, then by their volume in it, then by " +
				"address. `real_pnl` is the lifetime figure, `real_pnl_period` that of the window.",
		},
		{
			Method: fiber.MethodGet, Path: "/whales/moves", Section: wire.Whales, MaxRows: whaleRows,
			Summary: "Recent large orders", serve: (*API).whaleMoves, Reply: wire.WhaleMoves{},
			Codes:  []string{"market_not_found", "trader_not_found", "invalid_cursor"},
			Params: []*Param{movesLimit, movesCursor, movesMinUSD, movesSide, movesMarket, movesWallet, movesCategory},
			Doc: whaleDoc + "Newest first; moves of the same time are sorted by transaction hash, address, token id and side, all " +
				"descending. Continue with `next_cursor`: moves that arrive in the meantime neither shift nor repeat a page. The " +
				"plan's history limit may end the scan early; `truncated` is true on the page where it does.",
		},
		{
			Method: fiber.MethodGet, Path: "/whales/flow", Section: wire.Whales, MaxRows: whaleRows,
			Summary: "Net flow of large orders, by market", serve: (*API).whaleFlow, Reply: wire.WhaleFlow{}, Codes: []string{"market_not_found"},
			Params: []*Param{flowMarket, flowPeriod, flowStep, flowLimit},
			Doc: whaleDoc + "An outcome's `net_flow` is what whales bought of it minus what they sold of it. A market's `net_flow` " +
				"is in terms of its first outcome: buys of it and sells of the others, minus sells of it and buys of the others. " +
				"Markets are ranked by the absolute value of that, then by the USD of their moves, then by condition id. Sums and " +
				"`series` cover all markets, or only the requested one. The series has 24 rows of one hour for `1d`, 28 rows of six " +
				"hours for `7d` and 30 rows of one day for `30d`, unless `interval` says otherwise. They are counted back from `as_of`, so all of them are complete.",
		},
	}
}

// whaleBodies has the encoded responses from a snapshot's whales.
type whaleBodies struct {
	leaderboards     [serving.Periods]rankedBody
	leaderboardsOnce [serving.Periods]sync.Once
	flows            [serving.Periods]rankedBody
	flowsOnce        [serving.Periods]sync.Once
	firstPage        movesFirstPage
}

// whalesOf is the snapshot's whales, empty if it has none.
func (v *encodedSnapshot) whalesOf() *serving.Whales {
	if v.snap.Whales == nil {
		return &serving.Whales{}
	}
	return v.snap.Whales
}

func (v *encodedSnapshot) appendThreshold(b []byte) []byte {
	return v.whalesOf().MinUSD.Append(append(b, `,"threshold_usd":`...))
}

// whaleLeaderboard answers GET /whales.
func (a *API) whaleLeaderboard(c *fiber.Ctx, call *Call) error {
	return a.sendLeaderboard(c, call, (*API).current, (*encodedSnapshot).whaleBody)
}

func (v *encodedSnapshot) whaleBody(p serving.Period) *rankedBody {
	o := &v.whales.leaderboards[p]
	v.whales.leaderboardsOnce[p].Do(func() {
		rows := v.whalesOf().Leaderboards[p]
		o.encode(v.appendThreshold(v.window(p)), len(rows), func(i int) any { return whaleRow(&rows[i]) })
	})
	return o
}

func whaleRow(r *serving.WhaleRow) wire.WhaleRow {
	return wire.WhaleRow{
		Rank: r.Rank, Address: r.Wallet.String(), Username: textOrNull(r.Name), WhaleVolume: r.WhaleUSD, Moves: r.Moves,
		BuyUSD: r.BuyUSD, SellUSD: r.SellUSD, NetFlow: r.BuyUSD - r.SellUSD, LargestMove: r.LargestUSD, LastMoveAt: timeOfMicros(r.LastTS),
		Volume: r.Volume, RealPnL: r.RealPnL, RealPnLPeriod: r.RealPnLPeriod, UndatedRedemption: r.Undated, UndatedMarkets: r.UndatedMarkets,
	}
}
