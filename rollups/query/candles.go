package query

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"pmx/data"
	"pmx/rollups/serving"
)

// Candles returns the n newest candles, newest first and then by outcome, of tokens that pay for
// outcomes, in intervals of so many hours; if after is given, those that follow it. It reads the
// current database, which may be a commit ahead of a batch.
func (r *Reader) Candles(ctx context.Context, tokens []serving.OutcomeToken, _, hours int64, after *serving.Candle, n int) ([]serving.Candle, error) {
	ids := make([]data.TokenID, len(tokens))
	for i, t := range tokens {
		ids[i] = t.Token
	}
	tally := serving.NewCandleTally(tokens, hours, after)
	err := r.AddCandles(ctx, tally, ids)
	return tally.Newest(n), err
}

// AddCandles adds the hours of some tokens to a tally, which groups and sorts them: the database would take longer for
// that than for reading them.
func (r *Reader) AddCandles(ctx context.Context, tally *serving.CandleTally, ids []data.TokenID) error {
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	var ranges []string
	for _, near := range neighbours(ids, mostRanges) {
		ranges = append(ranges, statements.Get("CandleRange", "@which", among("token", near)))
	}
	type candleRow struct {
		Token   data.TokenID `sql:"token"`
		Hour    int64        `sql:"hour"`
		Fills   int64        `sql:"fills"`
		USD     data.Micro   `sql:"usd"`
		Shares  data.Micro   `sql:"shares"`
		OpenTS  int64        `sql:"open_ts"`
		OpenAt  int64        `sql:"open_at"`
		High    data.Micro   `sql:"highest"`
		Low     data.Micro   `sql:"lowest"`
		CloseTS int64        `sql:"close_ts"`
		CloseAt int64        `sql:"close_at"`
	}
	return each(ctx, r, "Candles", func(row *candleRow) {
		tally.Add(&serving.PartialCandle{Token: row.Token, Hour: row.Hour, Fills: row.Fills, USD: row.USD, Shares: row.Shares,
			First: serving.CandlePlace{TS: row.OpenTS, At: row.OpenAt}, Last: serving.CandlePlace{TS: row.CloseTS, At: row.CloseAt}, High: row.High, Low: row.Low})
	}, "@candles", strings.Join(ranges, " UNION ALL "), "@which", among("token", ids), "@before", strconv.FormatInt(tally.Before(), 10))
}
