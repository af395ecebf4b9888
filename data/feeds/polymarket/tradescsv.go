package polymarket

import (
	"fmt"

	"pmx/data"
	"pmx/data/feeds/shape"
)

func tradesCSV() data.Feed {
	return data.Feed{
		Name:     "polymarket-trades-csv",
		About:    "data API /trades (v1) and /v2/trades saved as CSV; optional columns may be missing",
		Rule:     tradesRule,
		Kind:     data.KindFills,
		Identity: data.CollapseRepeats,
		Formats:  []data.Format{data.CSV},
		Match: func(h data.Head) bool {
			v1 := shape.HasColumns(h, "proxyWallet", "side", "asset", "size")
			v2 := shape.HasColumns(h, "proxy_wallet", "side", "token_id", "size")
			return (v1 || v2) && shape.HasAny(h, "timestamp", "datetime") && shape.HasAny(h, "price", "cost")
		},
		Query: queryTrades,
	}
}

// queryTrades reads rows like trade.fill. Transactions of several wallets are known from a first
// pass over the two columns.
func queryTrades(src data.Source, h data.Head) (data.Query, error) {
	t := shape.CSVTable(src, h)
	wallet, tx := t.Col("proxyWallet", "proxy_wallet"), t.Col("transactionHash", "transaction_hash")
	condition := shape.Condition(t.Col("conditionId", "condition_id"))
	outcome := fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN %s END", condition, shape.Whole(t.Col("outcomeIndex", "outcome_index"), maxOutcome))
	token := shape.Token(t.Col("asset", "token_id"))
	ts := t.Col("timestamp")
	size, price, cost := t.Col("size"), t.Col("price"), t.Col("cost")
	q := shape.FillSQL{
		Tx:     shape.Hex(tx, 32),
		TS:     fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN %s ELSE %s END", ts, shape.Time(ts), shape.Time(t.Col("datetime"))),
		Wallet: shape.Hex(wallet, 20),
		Role: fmt.Sprintf("CASE WHEN right(lower(%[2]s), 64) IN (SELECT right(lower(%[2]s), 64) FROM %[3]s WHERE %[2]s IS NOT NULL GROUP BY 1 "+
			"HAVING min(right(lower(%[1]s), 40)) <> max(right(lower(%[1]s), 40))) THEN 0 ELSE 2 END", wallet, tx, t.From()),
		Token:     token,
		Condition: condition,
		Outcome:   outcome,
		Side:      shape.Side(t.Col("side")),
		Shares:    shape.Decimal(size),
		USD:       fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN %s ELSE %s END", price, shape.Product(size, price), shape.Decimal(cost)),
		Name:      t.Col("name"),
		Given: shape.Given{Tx: tx, Condition: t.Col("conditionId", "condition_id"),
			Outcome: shape.OutOfRange(t.Col("outcomeIndex", "outcome_index"), noOutcome)},
		Bad:  t.Bad(),
		Row:  "n",
		From: fmt.Sprintf("(SELECT row_number() OVER () AS n, * FROM %s)", t.From()),
	}
	stubs := shape.StubSQL(map[string]string{
		"condition": condition, "token": token, "outcome": outcome, "label": shape.Label(t.Col("outcome"), condition, t.Col("conditionId", "condition_id")),
		"question": t.Col("title"), "slug": t.Col("slug"), "event_slug": t.Col("eventSlug", "event_slug"), "icon": t.Col("icon"),
	}, t.From())
	return data.Query{Fills: q.String(), Markets: stubs}, nil
}
