package api

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"pmx/http/access"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// candleRows is the maximum number of candles in a response.
const candleRows = 1000

// The parameters of GET /market/{condition_id}/candles.
var (
	candleInterval = &Param{Name: "interval", Kind: Choice, Choices: indexInterval.Choices, Default: "1h", Doc: indexInterval.Doc}
	candleOutcome  = &Param{Name: "outcome", Kind: Integer, Min: 0, Max: 127, Doc: "`outcome_index` of the outcome to show; if omitted, all outcomes"}
	candleLimit    = limitParam("200", candleRows).about("maximum number of rows; the plan's history limit may reduce it")
	candleCursor   = cursorParam()
)

func candlesRoute() Route {
	return Route{
		Method: fiber.MethodGet, Path: "/market/{condition_id}/candles", Section: wire.Market, MaxRows: candleRows,
		Summary: "Prices and volume of a market over time, newest first", serve: (*API).candles, Reply: wire.Candles{},
		Params: []*Param{marketID, candleInterval, candleOutcome, candleLimit, candleCursor}, Codes: []string{"market_not_found", "invalid_cursor"},
		Doc: "One row per interval and outcome in which takers traded; other intervals are left out. Intervals are aligned to UTC and " +
			"include their start but not their end; the one that contains `as_of` is not over, and its `is_partial` is true. Rows are " +
			"sorted by time, newest first, then by outcome. Prices and volume are those of takers' fills, in order of time and log " +
			"index, so the volumes of all rows add up to the market's `volume` if its `volume_basis` is `taker_usd`. The plan's history " +
			"limit may end the scan early; `truncated` is true on the page where it does.",
	}
}

// candles answers GET /market/{condition_id}/candles.
func (a *API) candles(c *fiber.Ctx, call *Call) error {
	v, m, err := a.currentMarket(call)
	if err != nil {
		return err
	}
	position, bad := a.openCursor(call, call.value(candleCursor).text)
	if bad != nil {
		return bad
	}
	after, bad := readCandlePosition(position)
	if bad != nil {
		return bad
	}
	hours, n := hoursOf(call.value(candleInterval).n), call.number(candleLimit)
	rows, err := a.candleRead(v, m, call.candleTokens(v.snap.Catalog, m), hours, after, n+1)
	if err != nil {
		return err
	}
	e := envelope{tier: call.tier, maxRows: candleRows, hint: access.Nobody}
	shown, more := call.shownCandles(v.snap, rows, hours, n, &e)
	mark, start := a.beginReply(call, v.asOf, e)
	call.buf = append(call.buf, `,"next_cursor":`...)
	if more {
		call.buf = appendString(call.buf, a.sealCursor(call, appendCandlePosition(nil, &shown[len(shown)-1])))
	} else {
		call.buf = append(call.buf, "null"...)
	}
	b := append(append(append(call.buf, `,"interval":"`...), candleInterval.Choices[call.value(candleInterval).n]...), `","outcomes":`...)
	b = appendRows(b, outcomeCount(v.snap.Catalog, m), func(b []byte, i int) []byte {
		b = appendText(append(b, `{"outcome":`...), v.snap.Catalog.LabelOf(m, int8(i)))
		return append(strconv.AppendInt(append(b, `,"outcome_index":`...), int64(i), 10), '}')
	})
	b = appendMicros(append(b, `,"first_trade_at":`...), v.snap.Catalog.Figures(m.ID).FirstTS)
	call.buf = appendRows(append(b, `,"data":`...), len(shown), func(b []byte, i int) []byte {
		return appendCandle(b, &shown[i], (shown[i].Start+hours)*microsPerHour > v.snap.AsOf.UnixMicro())
	})
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// candleTokens are the tokens of the outcomes that call requests.
func (call *Call) candleTokens(c *serving.Catalog, m *serving.Market) (tokens []serving.OutcomeToken) {
	only := call.value(candleOutcome)
	for _, id := range c.Tokens(m.ID) {
		if outcome := c.Token(id).Outcome; !only.given || int64(outcome) == only.n {
			tokens = append(tokens, serving.OutcomeToken{Token: id, Outcome: outcome})
		}
	}
	return tokens
}

// candleRead reads candles, and keeps them for the epoch.
func (a *API) candleRead(v *encodedSnapshot, m *serving.Market, tokens []serving.OutcomeToken, hours int64, after *serving.Candle, n int) ([]serving.Candle, error) {
	if len(tokens) == 0 {
		return nil, nil
	}
	key := fmt.Sprint("candles ", m.ID, " ", len(tokens), " ", tokens[0].Outcome, " ", hours, " ", n)
	if after != nil {
		key += string(appendCandlePosition(nil, after))
	}
	return cachedRead(a, v, key, func(ctx context.Context) ([]serving.Candle, error) {
		return a.reader.Candles(ctx, tokens, v.snap.Batch, hours, after, n)
	})
}

// shownCandles takes a page of n rows from rows, which has one more if any follow, and drops those
// that are entirely outside the plan's history. more reports whether shown rows follow.
func (call *Call) shownCandles(snap *serving.Snapshot, rows []serving.Candle, hours int64, n int, e *envelope) (shown []serving.Candle, more bool) {
	oldest := historyStart(call.tier, snap)
	for i := range rows {
		if last := lastInstant((rows[i].Start + hours) * microsPerHour); last < oldest {
			e.trimHistory(snap, last)
			return rows[:i], false
		}
	}
	return rows[:min(n, len(rows))], len(rows) > n
}

// candlePositionSize is the size of a position among the candles of a market.
const candlePositionSize = 8 + 1

// appendCandlePosition adds the position of a candle.
func appendCandlePosition(b []byte, c *serving.Candle) []byte {
	return append(binary.BigEndian.AppendUint64(b, uint64(c.Start)), byte(c.Outcome))
}

// readCandlePosition reads what appendCandlePosition wrote; nil for none.
func readCandlePosition(b []byte) (*serving.Candle, *problem) {
	switch len(b) {
	case 0:
		return nil, nil
	case candlePositionSize:
		return &serving.Candle{Start: int64(binary.BigEndian.Uint64(b)), Outcome: int8(b[8])}, nil
	}
	return nil, badCursor()
}

// appendCandle writes wire.Candle.
func appendCandle(b []byte, c *serving.Candle, partial bool) []byte {
	b = appendMicros(append(b, `{"ts":`...), c.Start*microsPerHour)
	b = strconv.AppendInt(append(b, `,"outcome_index":`...), int64(c.Outcome), 10)
	b = appendFigure(append(b, `,"open":`...), c.Open)
	b = appendFigure(append(b, `,"high":`...), c.High)
	b = appendFigure(append(b, `,"low":`...), c.Low)
	b = appendFigure(append(b, `,"close":`...), c.Close)
	b = c.USD.Append(append(b, `,"volume":`...))
	b = c.Shares.Append(append(b, `,"volume_shares":`...))
	b = strconv.AppendInt(append(b, `,"trades":`...), c.Fills, 10)
	return append(appendBool(append(b, `,"is_partial":`...), partial), '}')
}
