package api

import (
	"context"
	"sync"

	"github.com/gofiber/fiber/v2"

	"pmx/http/wire"
	"pmx/rollups/serving"
)

// whaleRows is the most rows of a whale list.
const whaleRows = 200

const whaleDoc = "A whale move is an order of at least `threshold_usd`: the taker fills of one wallet, token and side in one " +
	"transaction (at one moment where the source has no transactions), added up. The venue's own wallets are left out. "

// whaleReader is what the whale endpoints read from the database.
type whaleReader interface {
	// WhaleMoves gives the n newest moves up to end, unix µs, that stand before a move
	// (nil: all) and pass the filter, newest first.
	WhaleMoves(ctx context.Context, f serving.MoveFilter, end int64, before *serving.Move, n int) ([]serving.Move, error)
}

func whaleRoutes() []Route {
	return []Route{
		{
			Method: fiber.MethodGet, Path: "/whales", Section: wire.Whales, MaxRows: whaleRows,
			Summary: "Top wallets by large orders", serve: (*API).whaleLeaderboard, Reply: wire.WhaleBoard{},
			Params: []*Param{boardPeriod, boardLimit},
			Doc: whaleDoc + "Wallets are ranked by the dollars of their moves in the window, then by their volume in it, then by address. " +
				"`real_pnl` is lifetime, `real_pnl_period` the window's.",
		},
		{
			Method: fiber.MethodGet, Path: "/whales/moves", Section: wire.Whales, MaxRows: whaleRows,
			Summary: "Recent large orders", serve: (*API).whaleMoves, Reply: wire.WhaleMoves{},
			Codes:  []string{"market_not_found", "trader_not_found", "invalid_cursor"},
			Params: []*Param{movesLimit, movesCursor, movesMinUSD, movesSide, movesMarket, movesWallet, movesCategory},
			Doc: whaleDoc + "Newest first; of one moment by transaction hash, address, token id and side, all descending. Walk on with " +
				"`next_cursor`: moves that come in meanwhile neither shift nor repeat a page. The history cap of the plan ends the walk " +
				"early; the page where it does says `truncated`.",
		},
		{
			Method: fiber.MethodGet, Path: "/whales/flow", Section: wire.Whales, MaxRows: whaleRows,
			Summary: "Where large orders move the money", serve: (*API).whaleFlow, Reply: wire.WhaleFlow{}, Codes: []string{"market_not_found"},
			Params: []*Param{flowMarket, flowPeriod, flowLimit},
			Doc: whaleDoc + "An outcome's `net_flow` is what whales bought of it less what they sold of it. A market's is in terms of its " +
				"first outcome: buys of it and sells of the others, less sells of it and buys of the others. Markets are ranked by the " +
				"size of that, then by the dollars of their moves, then by condition id. Sums and `series` are over all markets, or over the " +
				"one asked for. The series has 24 rows of an hour for `1d`, 28 of six hours for `7d`, 30 of a day for `30d`, counted back " +
				"from `as_of`, so all are complete.",
		},
	}
}

// whaleBodies is what is encoded of a snapshot's whales.
type whaleBodies struct {
	leaderboards     [serving.Periods]rankedBody
	leaderboardsOnce [serving.Periods]sync.Once
	flows            [serving.Periods]rankedBody
	flowsOnce        [serving.Periods]sync.Once
	firstPage        movesFirstPage
}

// whalesOf is the snapshot's whales, empty where it has none.
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
	return a.sendLeaderboard(c, call, (*encodedSnapshot).whaleBody)
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
