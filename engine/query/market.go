package query

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"

	"pmx/data"
	"pmx/engine"
	"pmx/rollups/serving"
)

const (
	hourLength = 3_600_000_000
	dayLength  = 24 * hourLength
)

// MarketTexts gives what the snapshot leaves out of a market.
func (r *Reader) MarketTexts(ctx context.Context, market int32) (t serving.MarketTexts, err error) {
	err = r.each(ctx, "MarketTexts", func(row []driver.Value) {
		t = serving.MarketTexts{Description: engine.Text(row[0]), ResolutionSource: engine.Text(row[1]),
			GroupItemTitle: engine.Text(row[2]), PayoutSource: data.ResolutionSource(engine.Int(row[3]))}
	}, "@market", strconv.Itoa(int(market)))
	return t, err
}

// MarketFills gives the n newest fills of some tokens, newest first, of imports up
// to batch; first and last are the times of the oldest and the newest of all. It
// looks at the last hour, then at the last day, and where these hold too few at the
// days on which the tokens were traded, never at history as a whole.
func (r *Reader) MarketFills(ctx context.Context, tokens []int32, batch, first, last int64, n int) ([]serving.MarketFill, error) {
	if len(tokens) == 0 || last == 0 {
		return nil, nil
	}
	q := fillQuery{r: r, tokens: list(tokens), batch: batch, n: n}
	for _, span := range []int64{hourLength, dayLength} {
		fills, err := q.read(ctx, q.between(last-span, last))
		if err != nil || len(fills) == n || first > last-span {
			return fills, err
		}
	}
	days, err := q.days(ctx, last)
	if err != nil {
		return nil, err
	}
	return q.read(ctx, days...)
}

// fillQuery asks for the n newest fills of tokens.
type fillQuery struct {
	r      *Reader
	tokens string
	batch  int64
	n      int
}

// between is the fills after lo, up to and at hi.
func (q *fillQuery) between(lo, hi int64) string {
	return statements.Get("FillRange", "@lo", strconv.FormatInt(lo, 10), "@hi", strconv.FormatInt(hi, 10),
		"@tokens", q.tokens, "@batch", strconv.FormatInt(q.batch, 10))
}

// days gives the last days, up to the one of last, that hold n fills together.
func (q *fillQuery) days(ctx context.Context, last int64) ([]string, error) {
	var days []string
	have := 0
	err := q.r.each(ctx, "TokenDays", func(row []driver.Value) {
		if have >= q.n {
			return
		}
		start := engine.Int(row[0]) * dayLength
		days = append(days, q.between(start-1, min(start+dayLength-1, last)))
		have += int(engine.Int(row[1]))
	}, "@tokens", q.tokens, "@day", strconv.FormatInt(last/dayLength, 10), "@limit", strconv.Itoa(q.n))
	return days, err
}

// read gives the fills of some ranges.
func (q *fillQuery) read(ctx context.Context, ranges ...string) ([]serving.MarketFill, error) {
	var fills []serving.MarketFill
	if len(ranges) == 0 {
		return nil, nil
	}
	err := q.r.each(ctx, "MarketFills", func(row []driver.Value) {
		fills = append(fills, serving.MarketFill{Wallet: int32(engine.Int(row[0])), Fill: fillOf(row[1:])})
	}, "@ranges", strings.Join(ranges, " UNION ALL "), "@limit", strconv.Itoa(q.n))
	return fills, err
}

// EventTraders gives the wallets of the first n places by real_pnl over some
// tokens, of imports up to batch, without some wallets; those that tie for the
// last place are all there, and the order among equals is left open.
func (r *Reader) EventTraders(ctx context.Context, tokens []serving.Paying, batch int64, without []int32, n int) (t serving.EventTraders, err error) {
	if len(tokens) == 0 {
		return t, nil
	}
	ids, rows := make([]int32, len(tokens)), make([]string, len(tokens))
	for i, p := range tokens {
		payout := "NULL::BIGINT"
		if p.Payout != serving.NoValue {
			payout = strconv.FormatInt(int64(p.Payout), 10)
		}
		ids[i], rows[i] = p.Token, fmt.Sprintf("(%d, %d, %d, %s)", p.Token, p.Market, p.Outcome, payout)
	}
	err = r.each(ctx, "EventTraders", func(row []driver.Value) {
		t.Total = int(engine.Int(row[9]))
		t.Rows = append(t.Rows, serving.EventTrader{Wallet: int32(engine.Int(row[0])), NetCash: data.Micro(engine.Int(row[1])),
			Redemption: data.Micro(engine.Int(row[2])), BuyUSD: data.Micro(engine.Int(row[3])), SellUSD: data.Micro(engine.Int(row[4])),
			Fills: engine.Int(row[5]), Markets: engine.Int(row[6]), ResolvedMarkets: engine.Int(row[7]), WinningMarkets: engine.Int(row[8])})
	}, "@paying", strings.Join(rows, ", "), "@tokens", list(ids), "@batch", strconv.FormatInt(batch, 10),
		"@without", list(append([]int32{-1}, without...)), "@limit", strconv.Itoa(n))
	return t, err
}

// list writes ids as a list of SQL.
func list(ids []int32) string {
	var b []byte
	for i, id := range ids {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendInt(b, int64(id), 10)
	}
	return string(b)
}
