package query

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pmx/data"
	"pmx/rollups/serving"
)

// Candles gives the n newest candles, newest first and then by outcome, of tokens that pay for
// outcomes, in intervals of so many hours; those behind after where that is given. It reads what
// the database has now, which may be a commit ahead of the snapshot.
func (r *Reader) Candles(ctx context.Context, tokens []serving.OutcomeToken, hours int64, after *serving.Candle, n int) ([]serving.Candle, error) {
	if len(tokens) == 0 {
		return nil, nil
	}
	ids := make([]data.TokenID, len(tokens))
	var outcomes strings.Builder
	for i, t := range tokens {
		ids[i] = t.Token
		fmt.Fprintf(&outcomes, "WHEN %d THEN %d ", t.Token, t.Outcome)
	}
	slices.Sort(ids)
	var ranges []string
	for _, near := range neighbours(ids, mostRanges) {
		ranges = append(ranges, statements.Get("CandleRange", "@which", among("token", near)))
	}
	start, behind := int64(1)<<30, 0 // a thousand centuries from now
	if after != nil {
		start, behind = after.Start, -int(after.Outcome)
	}
	type candleRow struct {
		Start   int64      `sql:"start"`
		Outcome int64      `sql:"outcome"`
		Fills   int64      `sql:"fills"`
		USD     data.Micro `sql:"usd"`
		Shares  data.Micro `sql:"shares"`
		Open    *int64     `sql:"opened"`
		High    *int64     `sql:"highest"`
		Low     *int64     `sql:"lowest"`
		Close   *int64     `sql:"closed"`
	}
	var list []serving.Candle
	err := each(ctx, r, "Candles", func(row *candleRow) {
		list = append(list, serving.Candle{Start: row.Start, Outcome: int8(row.Outcome), Fills: row.Fills, USD: row.USD, Shares: row.Shares,
			Open: priceOr(row.Open), High: priceOr(row.High), Low: priceOr(row.Low), Close: priceOr(row.Close)})
	}, "@hours", strconv.FormatInt(hours, 10), "@outcomes", outcomes.String(), "@candles", strings.Join(ranges, " UNION ALL "), "@which", among("token", ids),
		"@start", strconv.FormatInt(start, 10), "@behind", strconv.Itoa(behind), "@limit", strconv.Itoa(n))
	return list, err
}

// priceOr is a price, serving.NoValue where there is none.
func priceOr(p *int64) data.Micro {
	if p == nil {
		return serving.NoValue
	}
	return data.Micro(*p)
}
