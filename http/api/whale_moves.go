package api

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/access"
	"pmx/rollups/serving"
)

// The parameters of GET /whales/moves.
var (
	movesLimit    = limitParam("50", whaleRows)
	movesCursor   = cursorParam()
	movesMinUSD   = &Param{Name: "min_usd", Kind: Decimal, Max: 1_000_000_000_000_000, Doc: "only moves of at least this many USD; it must not be less than threshold_usd"}
	movesSide     = &Param{Name: "side", Kind: Choice, Choices: []string{"BUY", "SELL"}, Doc: "only buys or only sells"}
	movesMarket   = &Param{Name: "market_id", Kind: ConditionArg, Doc: "condition id: only moves in this market"}
	movesWallet   = &Param{Name: "address", Kind: WalletArg, Doc: "only moves of this wallet"}
	movesCategory = &Param{Name: "category", Kind: Text, Min: 1, Max: 100, Doc: "only moves in markets of this category" + categoryDoc}
)

// movePage is a page of whale moves.
type movePage struct {
	rows []serving.Move // newest first
	more bool           // moves follow that the plan shows
	cut  bool           // only moves follow that are too old for the plan
	next int64          // unix µs of the first of these
}

// movesFirstPage is the first page without filters, encoded once.
type movesFirstPage struct {
	once    sync.Once
	rows    []byte
	ends    []int // ends[n]: where the first n rows end
	last    []serving.Move
	replies [access.Nobody][whaleRows + 1]atomic.Pointer[encodedBody]
}

// whaleMoves answers GET /whales/moves.
func (a *API) whaleMoves(c *fiber.Ctx, call *Call) error {
	v, err := a.current()
	if err != nil {
		return err
	}
	limit := call.number(movesLimit)
	if call.givesNoneBut(movesLimit) && len(v.whalesOf().Moves) > call.pageRows(limit) {
		return a.sendEncoded(c, call, v, a.movesFirstPage(v, call, limit))
	}
	f, err := v.moveFilter(call)
	if err != nil {
		return err
	}
	before, err := a.readMovePosition(call)
	if err != nil {
		return err
	}
	p, err := a.movePage(v, call, f, before, call.pageRows(limit))
	if err != nil {
		return err
	}
	e := call.pageEnvelope(limit, p.more)
	if p.cut {
		e.trimHistory(v.snap, p.next)
	}
	mark, start := a.beginReply(call, v.asOf, e)
	call.buf = a.appendNextMove(v.appendThreshold(call.buf), call, &p)
	call.buf = appendRows(append(call.buf, `,"data":`...), len(p.rows), func(b []byte, i int) []byte {
		return appendMove(b, v.snap, &p.rows[i])
	})
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// movesFirstPage returns the first page of all moves, for when these are in memory and more than
// one page.
func (a *API) movesFirstPage(v *encodedSnapshot, call *Call, limit int) *encodedBody {
	f := &v.whales.firstPage
	slot := &f.replies[call.tier][limit]
	if r := slot.Load(); r != nil {
		return r
	}
	f.once.Do(func() {
		moves := v.whalesOf().Moves
		f.ends = []int{0}
		for i := range min(whaleRows, len(moves)) {
			if i > 0 {
				f.rows = append(f.rows, ',')
			}
			m := moves[len(moves)-1-i]
			f.rows, f.last = appendMove(f.rows, v.snap, &m), append(f.last, m)
			f.ends = append(f.ends, len(f.rows))
		}
	})
	p := movePage{rows: f.last[:call.pageRows(limit)], more: true}
	head := a.envelopes.append([]byte{'{'}, call.pageEnvelope(limit, true))
	middle := append(a.appendNextMove(v.appendThreshold(nil), call, &p), `,"data":[`...)
	rows := f.rows[:f.ends[len(p.rows)]]
	sum := chainSums(xxhash.Sum64(head), xxhash.Sum64(middle), xxhash.Sum64(rows))
	head = append(append(append(head, `,"as_of":`...), v.asOf...), middle...)
	r := &encodedBody{etag: etagOf(sum), prefix: head, rows: rows, suffix: "]}"}
	if !slot.CompareAndSwap(nil, r) {
		return slot.Load()
	}
	return r
}

// moveFilter is the filter that call requests.
func (v *encodedSnapshot) moveFilter(call *Call) (serving.MoveFilter, error) {
	w := v.whalesOf()
	f := serving.MoveFilter{Side: -1, Wallet: -1, MinUSD: w.MinUSD, Excluded: w.Excluded}
	categories, bad := call.categories(movesCategory, v.markets)
	if bad != nil {
		return f, bad
	}
	f.Categories = categories
	if p := call.value(movesMinUSD); p.given {
		if data.Micro(p.n) < w.MinUSD {
			return f, invalid("min_usd", fmt.Sprintf("min_usd must be at least %s: smaller orders are not whale moves.", w.MinUSD))
		}
		f.MinUSD = data.Micro(p.n)
	}
	if p := call.value(movesSide); p.given {
		f.Side = int8(p.n)
	}
	if p := call.value(movesMarket); p.given {
		m := v.snap.Catalog.Find(p.hash)
		if m == nil {
			return f, missing("market_not_found", "No market with this condition id is known. Check market_id.")
		}
		f.Tokens = append([]data.TokenID{}, v.snap.Catalog.Tokens(m.ID)...)
	}
	if p := call.value(movesWallet); p.given {
		t, known := v.snap.Trader(p.wallet())
		if !known {
			return f, missing("trader_not_found", "No trade of this wallet is known. Check address.")
		}
		f.Wallet = t.ID
	}
	return f, nil
}

// movePage reads n moves: the last 30 days from memory, older ones from the
// database.
func (a *API) movePage(v *encodedSnapshot, call *Call, f serving.MoveFilter, before *serving.Move, n int) (movePage, error) {
	w := v.whalesOf()
	var rows []serving.Move // one more than fits, if there is one
	held := w.Before(before)
	for i := len(held) - 1; i >= 0 && len(rows) <= n; i-- {
		if f.Matches(v.snap.Catalog, &held[i]) {
			rows = append(rows, held[i])
		}
	}
	if want := n + 1 - len(rows); want > 0 && v.snap.Whales != nil {
		key := fmt.Sprintf("whale moves %d %d %d %v %q %d %s", f.MinUSD, f.Side, f.Wallet, f.Tokens, f.Categories, want, appendMovePosition(nil, before))
		older, err := cachedRead(a, v, key, func(ctx context.Context) ([]serving.Move, error) {
			return a.reader.WhaleMoves(ctx, f, w.Since, before, want)
		})
		if err != nil {
			return movePage{}, err
		}
		rows = append(rows, older...)
	}
	return cutMoves(rows, n, historyStart(call.tier, v.snap)), nil
}

// cutMoves takes a page of n from rows, which has one more if any follow; moves before start are
// not shown.
func cutMoves(rows []serving.Move, n int, start int64) movePage {
	for i := range rows {
		if rows[i].TS < start {
			return movePage{rows: rows[:i], cut: true, next: rows[i].TS}
		}
	}
	return movePage{rows: rows[:min(n, len(rows))], more: len(rows) > n}
}

// appendNextMove adds next_cursor.
func (a *API) appendNextMove(b []byte, call *Call, p *movePage) []byte {
	b = append(b, `,"next_cursor":`...)
	if !p.more {
		return append(b, "null"...)
	}
	return appendString(b, a.sealCursor(call, appendMovePosition(nil, &p.rows[len(p.rows)-1])))
}

// appendMovePosition adds the position of m among all moves, nothing for nil.
func appendMovePosition(b []byte, m *serving.Move) []byte {
	if m == nil {
		return b
	}
	b = binary.BigEndian.AppendUint64(b, uint64(m.TS))
	b = append(append(append(b, m.Tx[:]...), m.Wallet[:]...), byte(m.Side))
	return append(b, m.TokenID...)
}

// readMovePosition reads what appendMovePosition wrote into the call's cursor; nil: the start.
func (a *API) readMovePosition(call *Call) (*serving.Move, error) {
	b, bad := a.openCursor(call, call.value(movesCursor).text)
	if bad != nil {
		return nil, bad
	}
	if b == nil {
		return nil, nil
	}
	if len(b) <= 61 {
		return nil, badCursor()
	}
	m := &serving.Move{TS: int64(binary.BigEndian.Uint64(b)), Side: data.Side(b[60]), TokenID: string(b[61:])}
	copy(m.Tx[:], b[8:])
	copy(m.Wallet[:], b[40:])
	return m, nil
}

// appendMove writes wire.WhaleMove.
func appendMove(b []byte, snap *serving.Snapshot, m *serving.Move) []byte {
	trader, known := snap.Trader(m.Wallet)
	pnl := data.Micro(0)
	if known {
		pnl = trader.Totals.RealPnL()
	}
	token := snap.Catalog.Token(m.Token)
	market := snap.Catalog.Market(token.Market)
	b = appendMicros(append(b, `{"ts":`...), m.TS)
	b = appendHash(append(b, `,"transaction_hash":`...), &m.Tx)
	b = m.Wallet.Append(append(b, `,"address":"`...))
	b = appendText(append(b, `","username":`...), trader.Name)
	b = pnl.Append(append(b, `,"real_pnl":`...))
	b = appendMarketName(append(b, ','), market)
	b = appendText(append(b, `,"category":`...), categoryOf(market))
	b = appendOutcome(b, snap.Catalog, token)
	b = append(append(append(b, `,"token_id":"`...), m.TokenID...), `","side":"`...)
	b = appendSide(b, m.Side)
	b = m.USD.Append(append(b, `","usd":`...))
	b = m.Shares.Append(append(b, `,"shares":`...))
	b = appendRatio(append(b, `,"price":`...), m.USD, m.Shares)
	return append(strconv.AppendInt(append(b, `,"fills":`...), m.Fills, 10), '}')
}

func categoryOf(m *serving.Market) string {
	if m == nil {
		return ""
	}
	return m.Category
}
