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

// oracleRows is the maximum number of rows of a leaderboard of forecasters.
const oracleRows = 200

// The parameters of GET /oracle/leaderboard.
var (
	oracleMin = &Param{Name: "min_resolved", Kind: Integer, Default: strconv.Itoa(serving.RankedFrom), Min: 1, Max: 100_000,
		Doc: "minimum number of forecasts for a wallet to be ranked"}
	oracleLimit  = limitParam("50", oracleRows)
	oracleOffset = offsetParam()
)

func oracleRoutes() []Route {
	return []Route{
		{
			Method: fiber.MethodGet, Path: "/oracle/leaderboard", Section: wire.Oracle, MaxRows: oracleRows,
			Summary: "Top traders by forecasting accuracy", serve: (*API).oracleLeaderboard, Reply: wire.OracleLeaderboard{},
			Params: []*Param{oracleMin, oracleLimit, oracleOffset},
			Doc: "If a wallet holds tokens of an outcome when the market is resolved, because it bought more than it sold, that " +
				"counts as a forecast. Its probability p is the average price that the wallet paid for the outcome's tokens. " +
				"Wallets are ranked by Brier score, smallest first, ties by the number of forecasts, then address. A small Brier " +
				"score may only mean that a wallet bought what was nearly certain; `brier_skill` and `edge` show whether that is " +
				"the case. The venue's own wallets are not ranked.",
		},
		{
			Method: fiber.MethodGet, Path: "/oracle/trader/{address}", Section: wire.Oracle,
			Summary: "Forecasting accuracy of a wallet", serve: (*API).oracleTrader, Reply: wire.One[wire.OracleTrader]{},
			Params: []*Param{traderAddress}, Codes: []string{"trader_not_found"},
			Doc: "The score of all the wallet's forecasts, also in ten bins of probability and by category. `murphy` decomposes the " +
				"Brier score into `reliability` − `resolution` + `uncertainty` + `within_bins`.",
		},
	}
}

// oracleBodies has the encoded responses from a snapshot's Oracle: the leaderboard with default
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
			o.encode(oracleHead(nil, atLeast, r.Total), r.Total, func(i int) any { return oracleRow(v.snap, &r, i) })
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
	call.buf = appendList(append(oracleHead(call.buf, atLeast, r.Total), `,"data":`...), n, func(i int) wire.OracleRow { return oracleRow(v.snap, &r, offset+i) })
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// oracleHead adds the members before the rows of a leaderboard.
func oracleHead(b []byte, atLeast, total int) []byte {
	b = strconv.AppendInt(append(b, `,"min_resolved":`...), int64(atLeast), 10)
	return strconv.AppendInt(append(b, `,"total":`...), int64(total), 10)
}

// oracleTrader answers GET /oracle/trader/{address}.
func (a *API) oracleTrader(c *fiber.Ctx, call *Call) error {
	v, trader, err := a.currentTrader(call)
	if err != nil {
		return err
	}
	accuracy, err := a.accuracy(v, &trader)
	if err != nil {
		return err
	}
	mark, start := a.beginObject(call, v.asOf)
	call.buf = appendJSON(call.buf, oracleTraderOf(v.snap, &trader, &accuracy))
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// accuracy scores all of a wallet's holdings in resolved markets. It is kept for the epoch: the
// result is small, and the work grows with the wallet's markets.
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
		w.portfolio.Fill(v.snap.Catalog, tokens)
		return v.snap.Accuracy(&w.portfolio), nil
	})
}

// oracleRow is the i-th row of r, all of whose wallets have forecasts.
func oracleRow(snap *serving.Snapshot, r *serving.Ranking, i int) wire.OracleRow {
	id := r.Wallets[i]
	score, wallet := snap.Oracle.Score(id), snap.WalletAt(id)
	trader, _ := snap.Trader(wallet)
	row := wire.OracleRow{Rank: int(r.Ranks[i]), Address: wallet.String(), Username: textOrNull(trader.Name), ResolvedForecasts: int64(score.Forecasts),
		BrierSkill: microOrNull(score.Skill()), ForecastVolume: score.BuyUSD, Volume: trader.Totals.Volume(), RealPnL: trader.Totals.RealPnL()}
	row.Brier, _ = score.Brier()
	row.BrierBaseline, _ = score.Baseline()
	row.AccuracyPct, _ = score.AccuracyPct()
	row.AccuracyLowPct, row.AccuracyHighPct, _ = score.Wilson()
	row.Edge, _ = score.MeanEdge()
	return row
}

func scoreOf(s *serving.Score) wire.OracleScore {
	low, high, ok := s.Wilson()
	return wire.OracleScore{
		ResolvedForecasts: int64(s.Forecasts), Brier: microOrNull(s.Brier()), BrierBaseline: microOrNull(s.Baseline()), BrierSkill: microOrNull(s.Skill()),
		AccuracyPct: microOrNull(s.AccuracyPct()), AccuracyLowPct: microOrNull(low, ok), AccuracyHighPct: microOrNull(high, ok),
		Edge: microOrNull(s.MeanEdge()), ForecastVolume: s.BuyUSD,
	}
}

// oracleTraderOf is the payload of GET /oracle/trader/{address}.
func oracleTraderOf(snap *serving.Snapshot, t *serving.Trader, a *serving.Accuracy) wire.OracleTrader {
	out := wire.OracleTrader{Address: t.Wallet.String(), Username: textOrNull(t.Name), OracleScore: scoreOf(&a.Score), Volume: t.Totals.Volume(),
		RealPnL: t.Totals.RealPnL(), RankedTraders: snap.Oracle.Ranked(), MinResolved: serving.RankedFrom, Categories: []wire.OracleCategory{}}
	if rank, ok := snap.Oracle.Rank(t.ID); ok {
		out.Rank = &rank
	}
	const width = data.One / serving.BinCount
	for i := range a.Bins {
		bin, from := &a.Bins[i], data.Micro(i)*width
		n := data.Micro(bin.Forecasts) * data.One
		out.Calibration = append(out.Calibration, wire.OracleBin{From: from, To: from + width, Forecasts: bin.Forecasts,
			MeanProbability: ratioOrNull(bin.Probability, n), MeanPayout: ratioOrNull(bin.Payout, n)})
	}
	if m, ok := a.Murphy(); ok {
		out.Murphy = wire.OracleMurphy{Reliability: &m.Reliability, Resolution: &m.Resolution, Uncertainty: &m.Uncertainty, WithinBins: &m.WithinBins}
	}
	for i := range a.Categories {
		c := &a.Categories[i]
		out.Categories = append(out.Categories, wire.OracleCategory{Category: textOrNull(c.Category), OracleScore: scoreOf(&c.Score)})
	}
	return out
}
