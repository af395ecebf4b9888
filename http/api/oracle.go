package api

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// oracleRows is the most rows that a leaderboard of forecasters shows.
const oracleRows = 200

// The parameters of GET /oracle/leaderboard.
var (
	oracleMin = &Param{Name: "min_resolved", Kind: Integer, Default: strconv.Itoa(serving.RankedFrom), Min: 1, Max: 100_000,
		Doc: "forecasts that a wallet needs to be ranked"}
	oracleLimit  = limitParam("50", oracleRows)
	oracleOffset = offsetParam()
)

func oracleRoutes() []Route {
	return []Route{
		{
			Method: fiber.MethodGet, Path: "/oracle/leaderboard", Section: wire.Oracle, MaxRows: oracleRows,
			Summary: "Top traders by forecasting accuracy", serve: (*API).oracleLeaderboard, Reply: wire.OracleBoard{},
			Params: []*Param{oracleMin, oracleLimit, oracleOffset},
			Doc: "A forecast is what a wallet held, when the market was resolved, of one of its outcomes: bought more than sold. Its " +
				"probability p is what the wallet paid for the outcome's tokens on average. Ranked by Brier score, the smallest " +
				"first, ties by the number of forecasts, then address. A small Brier score alone may mean that a wallet bought " +
				"what was nearly certain: `brier_skill` and `edge` tell it apart. The venue's own wallets are not ranked.",
		},
		{
			Method: fiber.MethodGet, Path: "/oracle/trader/{address}", Section: wire.Oracle,
			Summary: "Forecasting accuracy of a wallet", serve: (*API).oracleTrader, Reply: wire.One[wire.OracleTrader]{},
			Params: []*Param{traderAddress}, Codes: []string{"trader_not_found"},
			Doc: "The wallet's forecasts together, by tenth of probability and by category. `murphy` splits the Brier score: it is " +
				"`reliability` − `resolution` + `uncertainty` + `within_bins`.",
		},
	}
}

// oracleBodies is what is encoded of a snapshot's Oracle: the leaderboard of the default
// parameters.
type oracleBodies struct {
	leaderboard rankedBody
	once        sync.Once
}

// oracleLeaderboard answers GET /oracle/leaderboard.
func (a *API) oracleLeaderboard(c *fiber.Ctx, call *Call) error {
	v, err := a.current()
	if err != nil {
		return err
	}
	atLeast, limit, offset := call.number(oracleMin), call.number(oracleLimit), call.number(oracleOffset)
	if atLeast == serving.RankedFrom && offset == 0 {
		o := &v.oracle.leaderboard
		v.oracle.once.Do(func() {
			r := v.snap.Oracle.Ranking(atLeast, oracleRows)
			o.encode(oracleHead(nil, atLeast, r.Total), r.Total, func(b []byte, i int) []byte { return appendOracleRow(b, v.snap, &r, i) })
		})
		return a.sendEncoded(c, call, v, o.bodyFor(a.envelopes, v.asOf, call, limit))
	}
	r, err := cachedRead(a, v, fmt.Sprint("oracle from ", atLeast), func(context.Context) (serving.Ranking, error) {
		return v.snap.Oracle.Ranking(atLeast, maxOffset+oracleRows), nil
	})
	if err != nil {
		return err
	}
	e, n := call.listEnvelope(limit, max(r.Total-offset, 0))
	mark, start := a.beginReply(call, v.asOf, e)
	call.buf = appendRows(append(oracleHead(call.buf, atLeast, r.Total), `,"data":`...), n, func(b []byte, i int) []byte {
		return appendOracleRow(b, v.snap, &r, offset+i)
	})
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// oracleHead adds what stands before the rows of a leaderboard.
func oracleHead(b []byte, atLeast, total int) []byte {
	b = strconv.AppendInt(append(b, `,"min_resolved":`...), int64(atLeast), 10)
	return strconv.AppendInt(append(b, `,"total":`...), int64(total), 10)
}

// oracleTrader answers GET /oracle/trader/{address}.
func (a *API) oracleTrader(c *fiber.Ctx, call *Call) error {
	v, err := a.current()
	if err != nil {
		return err
	}
	trader, err := v.trader(call.value(traderAddress).wallet())
	if err != nil {
		return err
	}
	accuracy, err := a.accuracy(v, &trader)
	if err != nil {
		return err
	}
	mark, start := a.beginObject(call, v.asOf)
	call.buf = appendOracleTrader(call.buf, v.snap, &trader, &accuracy)
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// accuracy scores all that a wallet holds of resolved markets. It is kept for the
// epoch: the answer is small, and the work grows with the wallet's markets.
func (a *API) accuracy(v *encodedSnapshot, t *serving.Trader) (serving.Accuracy, error) {
	if v.snap.Oracle.Score(t.ID).Forecasts == 0 {
		return serving.Accuracy{}, nil
	}
	return cachedRead(a, v, fmt.Sprint("accuracy ", t.ID), func(ctx context.Context) (serving.Accuracy, error) {
		w := a.scratch.get()
		defer a.scratch.put(w)
		tokens, err := a.reader.WalletTokens(ctx, w.tokens[:0], t.ID, v.snap.Batch)
		if err != nil {
			return serving.Accuracy{}, err
		}
		w.tokens = tokens
		w.book.Fill(v.snap.Catalog, tokens)
		return v.snap.Accuracy(&w.book), nil
	})
}

// appendOracleRow writes wire.OracleRow of the i-th of r.
func appendOracleRow(b []byte, snap *serving.Snapshot, r *serving.Ranking, i int) []byte {
	id := r.Wallets[i]
	score := snap.Oracle.Score(id)
	trader, _ := snap.Trader(snap.WalletAt(id))
	b = strconv.AppendInt(append(b, `{"rank":`...), int64(r.Ranks[i]), 10)
	b = appendWallet(append(b, ','), snap, id)
	b = appendScore(append(b, ','), &score)
	b = trader.Totals.Volume().Append(append(b, `,"volume":`...))
	b = trader.Totals.RealPnL().Append(append(b, `,"real_pnl":`...))
	return append(b, '}')
}

// appendScore writes the members of wire.OracleScore, without braces.
func appendScore(b []byte, s *serving.Score) []byte {
	b = strconv.AppendInt(append(b, `"resolved_forecasts":`...), int64(s.Forecasts), 10)
	b = appendOptional(append(b, `,"brier":`...), s.Brier)
	b = appendOptional(append(b, `,"brier_baseline":`...), s.Baseline)
	b = appendOptional(append(b, `,"brier_skill":`...), s.Skill)
	b = appendOptional(append(b, `,"accuracy_pct":`...), s.AccuracyPct)
	low, high, ok := s.Wilson()
	b = appendOptional(append(b, `,"accuracy_low_pct":`...), func() (data.Micro, bool) { return low, ok })
	b = appendOptional(append(b, `,"accuracy_high_pct":`...), func() (data.Micro, bool) { return high, ok })
	b = appendOptional(append(b, `,"edge":`...), s.MeanEdge)
	return s.BuyUSD.Append(append(b, `,"forecast_volume":`...))
}

// appendOptional adds a figure, null where there is none.
func appendOptional(b []byte, figure func() (data.Micro, bool)) []byte {
	m, ok := figure()
	if !ok {
		return append(b, "null"...)
	}
	return m.Append(b)
}

// appendOracleTrader writes wire.OracleTrader.
func appendOracleTrader(b []byte, snap *serving.Snapshot, t *serving.Trader, a *serving.Accuracy) []byte {
	b = append(appendWallet(append(b, '{'), snap, t.ID), ',')
	b = appendScore(b, &a.Score)
	b = t.Totals.Volume().Append(append(b, `,"volume":`...))
	b = t.Totals.RealPnL().Append(append(b, `,"real_pnl":`...))
	b = append(b, `,"rank":`...)
	if rank, ok := snap.Oracle.Rank(t.ID); ok {
		b = strconv.AppendInt(b, int64(rank), 10)
	} else {
		b = append(b, "null"...)
	}
	b = strconv.AppendInt(append(b, `,"ranked_traders":`...), int64(snap.Oracle.Ranked()), 10)
	b = strconv.AppendInt(append(b, `,"min_resolved":`...), serving.RankedFrom, 10)
	b = appendRows(append(b, `,"calibration":`...), serving.BinCount, func(b []byte, i int) []byte { return appendBin(b, i, &a.Bins[i]) })
	b = appendMurphy(append(b, `,"murphy":`...), &a.Calibration)
	b = appendRows(append(b, `,"categories":`...), len(a.Categories), func(b []byte, i int) []byte {
		b = appendText(append(b, `{"category":`...), a.Categories[i].Category)
		return append(appendScore(append(b, ','), &a.Categories[i].Score), '}')
	})
	return append(b, '}')
}

// appendBin writes wire.OracleBin of the i-th tenth.
func appendBin(b []byte, i int, bin *serving.Bin) []byte {
	b = (data.Micro(i) * data.One / serving.BinCount).Append(append(b, `{"from":`...))
	b = (data.Micro(i+1) * data.One / serving.BinCount).Append(append(b, `,"to":`...))
	b = strconv.AppendInt(append(b, `,"forecasts":`...), bin.Forecasts, 10)
	b = appendRatio(append(b, `,"mean_probability":`...), bin.Probability, data.Micro(bin.Forecasts)*data.One)
	b = appendRatio(append(b, `,"mean_payout":`...), bin.Payout, data.Micro(bin.Forecasts)*data.One)
	return append(b, '}')
}

// appendMurphy writes wire.OracleMurphy.
func appendMurphy(b []byte, c *serving.Calibration) []byte {
	m, ok := c.Murphy()
	part := func(b []byte, v data.Micro) []byte {
		return appendOptional(b, func() (data.Micro, bool) { return v, ok })
	}
	b = part(append(b, `{"reliability":`...), m.Reliability)
	b = part(append(b, `,"resolution":`...), m.Resolution)
	b = part(append(b, `,"uncertainty":`...), m.Uncertainty)
	b = part(append(b, `,"within_bins":`...), m.WithinBins)
	return append(b, '}')
}
