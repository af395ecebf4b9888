package api

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/cespare/xxhash/v2"
	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// marketTradeRows is the maximum number of fills of a market in a response.
const marketTradeRows = 200

// The parameters of GET /market/{condition_id}/trades.
var marketTradesLimit, marketTradesCursor = limitParam("50", marketTradeRows), cursorParam()

func marketTradesRoute() Route {
	return Route{
		Method: fiber.MethodGet, Path: "/market/{condition_id}/trades", Section: wire.Market, MaxRows: marketTradeRows,
		Summary: "Fills of a market, newest first", serve: (*API).marketTrades, Reply: wire.Page[wire.MarketFill]{},
		Params: []*Param{marketID, marketTradesLimit, marketTradesCursor}, Codes: []string{"market_not_found", "invalid_cursor", "fills_elsewhere"},
		Doc: "One row per fill: each match has a row of its taker and one of each maker. Rows are sorted by time, log index and transaction " +
			"hash, all descending, then buys before sells, then by shares and USD, descending. The first rows are the `recent_fills` of the overview. " +
			"Continue with `next_cursor`: fills that arrive in the meantime neither shift nor repeat a page. `ts`, `transaction_hash`, " +
			"`log_index`, `address`, `side`, `shares`, `usd`, `token_id` and `ordinal` together identify a row permanently. The plan's " +
			"history limit may end the scan early; `truncated` is true on the page where it does.",
	}
}

// marketTrades answers GET /market/{condition_id}/trades.
func (a *API) marketTrades(c *fiber.Ctx, call *Call) error {
	v, m, err := a.currentMarket(call)
	if err != nil {
		return err
	}
	position, bad := a.openCursor(call, call.value(marketTradesCursor).text)
	if bad != nil {
		return bad
	}
	after, bad := readMarketFillPosition(position, v.snap)
	if bad != nil {
		return bad
	}
	limit := call.number(marketTradesLimit)
	w := a.scratch.get()
	defer a.scratch.put(w)
	fills, err := a.marketPage(v, w, m, after, call.pageRows(limit)+1)
	if err != nil {
		return err
	}
	return a.sendFills(c, call, v, fills, limit,
		func(b []byte, last *serving.Fill) []byte { return appendMarketFillPosition(b, v.snap, last) },
		func(b []byte, f *serving.Fill) []byte { return appendMarketFill(b, v.snap, f) })
}

// marketPage reads fills of a market into w, or, if reading takes long, keeps what was read for the epoch.
func (a *API) marketPage(v *encodedSnapshot, w *scratch, m *serving.Market, after *serving.Fill, n int) ([]serving.Fill, error) {
	tokens, figures := v.snap.Catalog.Tokens(m.ID), v.snap.Catalog.Figures(m.ID)
	if after == nil && n <= recentFills && a.reader.MarketInMemory(m.ID, tokens, v.snap.Batch) {
		fills, err := a.reader.MarketFills(context.Background(), w.filled[:0], tokens, v.snap.Batch, figures, nil, n)
		w.filled = fills
		return fills, err
	}
	key := fmt.Sprint("market fills ", m.ID, " ", n, " ")
	if after != nil {
		key += string(appendMarketFillPosition(nil, v.snap, after))
	}
	return cachedRead(a, v, key, func(ctx context.Context) ([]serving.Fill, error) {
		return a.reader.MarketFills(ctx, nil, tokens, v.snap.Batch, figures, after, n)
	})
}

// marketFillPositionSize is the size of a position among a market's fills.
const marketFillPositionSize = fillPositionSize + 4 + 8

// appendMarketFillPosition adds the position of f among the fills of its market: its position among
// the fills of its wallet, and the wallet, identified like tokens are.
func appendMarketFillPosition(b []byte, snap *serving.Snapshot, f *serving.Fill) []byte {
	b = appendFillPosition(b, snap.Catalog, f)
	address := snap.WalletAt(f.Wallet)
	b = binary.BigEndian.AppendUint32(b, uint32(f.Wallet))
	return binary.BigEndian.AppendUint64(b, xxhash.Sum64(address[:]))
}

// readMarketFillPosition reads what appendMarketFillPosition wrote; nil for none.
func readMarketFillPosition(b []byte, snap *serving.Snapshot) (*serving.Fill, *problem) {
	if b == nil {
		return nil, nil
	}
	if len(b) != marketFillPositionSize {
		return nil, badCursor()
	}
	f, bad := readFillPosition(b[:fillPositionSize], snap.Catalog)
	if bad != nil {
		return nil, bad
	}
	f.Wallet = data.WalletID(binary.BigEndian.Uint32(b[fillPositionSize:]))
	if f.Wallet < 0 || int(f.Wallet) >= snap.Wallets() {
		return nil, badCursor()
	}
	if address := snap.WalletAt(f.Wallet); xxhash.Sum64(address[:]) != binary.BigEndian.Uint64(b[fillPositionSize+4:]) {
		return nil, badCursor()
	}
	return f, nil
}
