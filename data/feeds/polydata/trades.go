package polydata

import (
	"fmt"

	"pmx/data"
	"pmx/data/feeds/shape"
)

func trades() data.Feed {
	return data.Feed{
		Name:  "polydata-trades",
		About: "poly_data processed/trades.csv: one row per OrderFilled event, amounts already in dollars and tokens",
		Rule: "made from a scan that keeps every event once: equal rows within the file are separate fills, " +
			"across files the larger count is used",
		Kind:     data.KindFills,
		Identity: data.KeepRepeats,
		Formats:  []data.Format{data.CSV},
		Match: func(h data.Head) bool {
			return shape.HasColumns(h, "timestamp", "market_id", "maker", "taker", "nonusdc_side", "maker_direction",
				"usd_amount", "token_amount")
		},
		Query: queryTrades,
	}
}

// queryTrades returns the fill of the row's maker, as queryOrderFilled does: the taker's columns
// repeat the taker's own row, wrongly in a mint or a merge. The token is identified by market and
// side; version 1 has the market's Gamma id, version 2 its condition id.
func queryTrades(src data.Source, h data.Head) (data.Query, error) {
	t := shape.CSVTable(src, h).Parallel()
	side := fmt.Sprintf("CASE %s WHEN 'token1' THEN '0' WHEN 'token2' THEN '1' END", t.Col("nonusdc_side"))
	market := t.Col("market_id")
	token := fmt.Sprintf("CASE WHEN regexp_full_match(%[1]s, '[0-9]{1,18}') THEN 'g:' || %[1]s || ':' || %[2]s "+
		"ELSE 'c:' || lower(hex(%[3]s)) || ':' || %[2]s END", market, side, shape.Condition(market))
	q := shape.FillSQL{
		Tx:     shape.Hex(t.Col("transactionHash"), 32),
		TS:     shape.Time(t.Col("timestamp")),
		Wallet: shape.Hex(t.Col("maker"), 20),
		Role:   roleSQL(t.Col("taker")),
		Token:  token,
		Side:   shape.Side(t.Col("maker_direction")),
		Shares: shape.Decimal(t.Col("token_amount")),
		USD:    shape.Decimal(t.Col("usd_amount")),
		Fee:    "0",
		Given:  shape.Given{Tx: t.Col("transactionHash"), Taker: t.Col("taker")},
		Bad:    t.Bad(),
		From:   t.From(),
	}
	return data.Query{Fills: q.String()}, nil
}
