package api

import (
	"encoding/binary"
	"strconv"

	"github.com/cespare/xxhash/v2"
	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

var tradesLimit, tradesCursor = limitParam("50", walletRows), cursorParam()

func tradesRoute() Route {
	return Route{
		Method: fiber.MethodGet, Path: "/trader/{address}/trades", Section: wire.Trader, MaxRows: walletRows,
		Summary: "Fills of a wallet, newest first", serve: (*API).traderTrades, Reply: wire.Page[wire.Trade]{},
		Params: []*Param{traderAddress, tradesLimit, tradesCursor},
		Codes:  []string{"trader_not_found", "invalid_cursor", "fills_elsewhere"},
		Doc: "One row per fill: the wallet's own side of the match. Rows are sorted by time, transaction hash, side, shares, USD " +
			"and token id, all descending. Continue with `next_cursor`: fills that arrive in the meantime neither shift nor repeat " +
			"a page. `ts`, `transaction_hash`, `log_index`, `side`, `shares`, `usd`, `token_id` and `ordinal` together identify a " +
			"row permanently, so you can keep a copy of the rows without duplicates. The plan's history limit may end the scan " +
			"early; `truncated` is true on the page where it does.",
	}
}

// traderTrades answers GET /trader/{address}/trades.
func (a *API) traderTrades(c *fiber.Ctx, call *Call) error {
	v, trader, err := a.currentTrader(call)
	if err != nil {
		return err
	}
	place, bad := a.openCursor(call, call.value(tradesCursor).text)
	if bad != nil {
		return bad
	}
	after, bad := readFillPosition(place, v.snap.Catalog)
	if bad != nil {
		return bad
	}
	w := a.scratch.get()
	defer a.scratch.put(w)
	limit := call.number(tradesLimit)
	fills, err := a.walletFills(v, w, &trader, after, call.pageRows(limit)+1)
	if err != nil {
		return err
	}
	return a.sendFills(c, call, v, fills, limit,
		func(b []byte, last *serving.Fill) []byte { return appendFillPosition(b, v.snap.Catalog, last) },
		func(b []byte, f *serving.Fill) []byte { return appendTrade(b, v.snap.Catalog, f) })
}

// sendFills sends a page of fills. position returns the place after the last row, and row writes one.
func (a *API) sendFills(c *fiber.Ctx, call *Call, v *encodedSnapshot, fills []serving.Fill, limit int, position, row func([]byte, *serving.Fill) []byte) error {
	p := cutPage(fills, call.pageRows(limit), historyStart(call.tier, v.snap))
	e := call.pageEnvelope(limit, p.more)
	if p.cut {
		e.trimHistory(v.snap, p.next)
	}
	mark, start := a.beginReply(call, v.asOf, e)
	call.buf = append(call.buf, `,"next_cursor":`...)
	if p.more {
		call.buf = appendString(call.buf, a.sealCursor(call, position(nil, &p.shown[len(p.shown)-1])))
	} else {
		call.buf = append(call.buf, "null"...)
	}
	call.buf = appendRows(append(call.buf, `,"data":`...), len(p.shown), func(b []byte, i int) []byte { return row(b, &p.shown[i]) })
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// fillPage is a page of fills.
type fillPage struct {
	shown []serving.Fill
	more  bool  // fills follow that the plan shows
	cut   bool  // only fills follow that are too old for the plan
	next  int64 // unix µs of the first of these
}

// cutPage takes a page of n from fills, which has one more if any follow; fills before start are
// not shown.
func cutPage(fills []serving.Fill, n int, start int64) fillPage {
	for i := range fills {
		if fills[i].TS < start {
			return fillPage{shown: fills[:i], cut: true, next: fills[i].TS}
		}
	}
	return fillPage{shown: fills[:min(n, len(fills))], more: len(fills) > n}
}

const (
	// fillPositionSize is the size of a position among a wallet's fills.
	fillPositionSize = 1 + 8 + 32 + 1 + 8 + 8 + 4 + 2 + 4 + 8
	// fillPositionVersion says which order a place belongs to. The first one ordered tokens by
	// their numbers, and a place began with a time, whose first byte is 0.
	fillPositionVersion = 2
)

// appendFillPosition adds the position of f among the fills of its wallet. A token is identified by
// its number, with a checksum of its id: in another database the number may be another token's.
func appendFillPosition(b []byte, c *serving.Catalog, f *serving.Fill) []byte {
	b = binary.BigEndian.AppendUint64(append(b, fillPositionVersion), uint64(f.TS))
	b = append(append(b, f.Tx[:]...), byte(f.Side))
	b = binary.BigEndian.AppendUint64(b, uint64(f.Shares))
	b = binary.BigEndian.AppendUint64(b, uint64(f.USD))
	b = binary.BigEndian.AppendUint32(b, uint32(f.Token))
	b = binary.BigEndian.AppendUint16(b, uint16(f.Repeat))
	b = binary.BigEndian.AppendUint32(b, uint32(f.LogIndex))
	return binary.BigEndian.AppendUint64(b, xxhash.Sum64String(c.Token(f.Token).ID))
}

// readFillPosition reads what appendFillPosition wrote; nil for none.
func readFillPosition(b []byte, c *serving.Catalog) (*serving.Fill, *problem) {
	if b == nil {
		return nil, nil
	}
	if len(b) != fillPositionSize || b[0] != fillPositionVersion {
		return nil, badCursor()
	}
	b = b[1:]
	f := &serving.Fill{TS: int64(binary.BigEndian.Uint64(b)), Side: data.Side(b[40]),
		Shares: data.Micro(binary.BigEndian.Uint64(b[41:])), USD: data.Micro(binary.BigEndian.Uint64(b[49:])),
		Token: data.TokenID(binary.BigEndian.Uint32(b[57:])), Repeat: int16(binary.BigEndian.Uint16(b[61:])),
		LogIndex: int32(binary.BigEndian.Uint32(b[63:]))}
	copy(f.Tx[:], b[8:])
	if xxhash.Sum64String(c.Token(f.Token).ID) != binary.BigEndian.Uint64(b[67:]) {
		return nil, badCursor()
	}
	return f, nil
}

// appendTrade writes wire.Trade.
func appendTrade(b []byte, c *serving.Catalog, f *serving.Fill) []byte {
	token := c.Token(f.Token)
	b = appendMicros(append(b, `{"ts":`...), f.TS)
	b = appendHash(append(b, `,"transaction_hash":`...), &f.Tx)
	b = appendLogIndex(append(b, `,"log_index":`...), f.LogIndex)
	b = append(strconv.AppendInt(append(b, `,"ordinal":`...), ordinal(f), 10), ',')
	m := c.Market(token.Market)
	b = appendMarketName(b, m)
	b = appendOutcome(b, c, token)
	b = append(append(append(b, `,"token_id":"`...), token.ID...), `","side":"`...)
	b = appendSide(b, f.Side)
	b = appendText(append(b, `","role":`...), roleName(f.Role))
	b = appendRatio(append(b, `,"price":`...), f.USD, f.Shares)
	b = f.Shares.Append(append(b, `,"shares":`...))
	b = f.USD.Append(append(b, `,"usd":`...))
	fee, asset := feeOf(f)
	b = fee.Append(append(b, `,"fee":`...))
	b = append(append(append(b, `,"fee_asset":"`...), asset...), `","resolved":`...)
	if m == nil {
		return append(b, `null,"payout":null}`...)
	}
	b = appendBool(b, m.Resolved())
	return append(appendPayout(append(b, `,"payout":`...), m, token.Outcome), '}')
}

// ordinal numbers the fills that are equal in everything that is shown. A fill with a log index
// needs no number, and its number might depend on the order of imports.
func ordinal(f *serving.Fill) int64 {
	if f.LogIndex != data.NoIndex {
		return 1
	}
	return int64(f.Repeat)
}

// appendLogIndex adds a log index, null if the source had none.
func appendLogIndex(b []byte, index int32) []byte {
	if index == data.NoIndex {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, int64(index), 10)
}

// appendMarketName adds the members that name a market, all null for nil.
func appendMarketName(b []byte, m *serving.Market) []byte {
	if m == nil {
		return append(b, `"condition_id":null,"question":null,"slug":null,"event_id":null,"event_slug":null`...)
	}
	b = m.Condition.Append(append(b, `"condition_id":"`...))
	b = appendText(append(b, `","question":`...), m.Question)
	b = appendText(append(b, `,"slug":`...), m.Slug)
	b = appendText(append(b, `,"event_id":`...), m.EventID)
	return appendText(append(b, `,"event_slug":`...), m.EventSlug)
}

// appendOutcome adds label and index of the outcome that a token pays for, null if they are not
// known.
func appendOutcome(b []byte, c *serving.Catalog, t serving.TokenRef) []byte {
	b = append(appendText(append(b, `,"outcome":`...), c.OutcomeLabel(t)), `,"outcome_index":`...)
	if c.Market(t.Market) == nil {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, int64(t.Outcome), 10)
}

// appendPayout adds what a token of an outcome pays, null until that is known.
func appendPayout(b []byte, m *serving.Market, outcome int8) []byte {
	if outcome < 0 || int(outcome) >= len(m.Payouts) {
		return append(b, "null"...)
	}
	return m.Payouts[outcome].Append(b)
}

func appendSide(b []byte, s data.Side) []byte {
	if s == data.Buy {
		return append(b, "BUY"...)
	}
	return append(b, "SELL"...)
}

// feeOf is the fee of a fill and its unit. For a buy without a fee the unit is shares, in which the
// older exchanges take it.
func feeOf(f *serving.Fill) (fee data.Micro, asset string) {
	if f.Side == data.Buy && f.Fee >= 0 {
		return data.FeeShares(f.Side, f.Fee), "shares"
	}
	return data.FeeUSD(f.Side, f.Fee), "usd"
}

// roleName is maker or taker, "" if the source did not say.
func roleName(r data.Role) string {
	switch r {
	case data.Maker:
		return "maker"
	case data.Taker:
		return "taker"
	}
	return ""
}

// appendHash adds h as a JSON string, null for the zero hash.
func appendHash(b []byte, h *data.Hash) []byte {
	if h.IsZero() {
		return append(b, "null"...)
	}
	return append(h.Append(append(b, '"')), '"')
}

// appendRows adds a list of n objects.
func appendRows(b []byte, n int, row func(b []byte, i int) []byte) []byte {
	b = append(b, '[')
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = row(b, i)
	}
	return append(b, ']')
}
