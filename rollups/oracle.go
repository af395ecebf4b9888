package rollups

import (
	"context"
	"database/sql"

	"pmx/data"
	"pmx/rollups/serving"
)

// oracleVertical is forecasting accuracy: what wallets hold of resolved markets,
// scored by what they paid for it. rollups/oracle is the definition.
func oracleVertical() vertical {
	return vertical{
		tables: []table{{name: "oracle_bin", delta: "DeltaOracleBin", rebuild: "RebuildOracleBin", revalued: true, keys: []string{"wallet", "bin"},
			sums: []string{"forecasts", "correct", "probability", "payout", "error", "baseline_error", "usd"}}},
		before:    func(m *merge) error { return m.forecasts("before", "(FROM n_fill LIMIT 0)") },
		after:     func(m *merge) error { return m.forecasts("after", "n_fill") },
		inputs:    allForecasts,
		temporary: []string{"o_all", "o_token"},
		section:   func() section { return &oracleSection{} },
	}
}

// forecasts scores the legs of touched tokens; token_total lacks the batch still
// when they are valued after it.
func (m *merge) forecasts(when, batch string) error {
	if m.touched == 0 {
		return nil
	}
	totals := statements.Get("TotalsOfTouched", "@which", m.touchedTokens, "@batch", batch)
	return m.exec("ForecastsKept", "@into", "o_"+when, "@forecasts", scored("leg_"+when, totals))
}

// allForecasts scores every wallet's legs.
func allForecasts(b *rebuilder) error {
	if err := b.exec(statements.Get("PayingTokens")); err != nil {
		return err
	}
	legs := statements.Get("PayingLegs", "@positions", "position"+b.suffix)
	return b.exec(statements.Get("BinsOfAll", "@forecasts", scored(legs, "token_total"+b.suffix)))
}

// scored selects the forecasts of legs, given volumes by token.
func scored(legs, totals string) string {
	prices := statements.Get("OutcomePrices", "@totals", totals, "@taker", price("taker_usd", "taker_shares"),
		"@maker", price("maker_usd", "maker_shares"))
	return statements.Get("Forecasts", "@legs", legs, "@prices", prices, "@probability", price("l.buy_usd", "l.buy_shares"))
}

// oracleSection keeps every wallet's score and every outcome's average price.
type oracleSection struct{ builder *serving.OracleBuilder }

// scoreRow is a row of LoadScores.
type scoreRow struct {
	Wallet        data.WalletID `sql:"wallet"`
	Forecasts     int32         `sql:"forecasts"`
	Correct       int32         `sql:"correct"`
	Edge          data.Micro    `sql:"edge"`
	Error         int64         `sql:"error"`
	BaselineError int64         `sql:"baseline_error"`
	BuyUSD        data.Micro    `sql:"usd"`
}

func (o *oracleSection) follow(ctx context.Context, conn *sql.Conn, l *Live, from func(table) string, whole bool) error {
	if whole {
		o.builder = serving.NewOracleBuilder(l.walletBuilder.Wallets())
	}
	query := statements.Get("LoadScores", "@bins", from(tableNamed("oracle_bin")))
	err := eachRow(query, func(row *scoreRow) {
		o.builder.Add(row.Wallet, serving.Score{Forecasts: row.Forecasts, Correct: row.Correct, Edge: row.Edge, Error: row.Error,
			BaselineError: row.BaselineError, BuyUSD: row.BuyUSD}, l.excluded[row.Wallet])
	})(ctx, conn)
	if err != nil {
		return err
	}
	for _, market := range l.catalog.Changed() {
		o.average(l, market)
	}
	for _, token := range l.freed {
		o.builder.SetBaseline(token, 0)
	}
	l.freed = l.freed[:0]
	return nil
}

// average notes what the tokens of each outcome of a market traded for on
// average.
func (o *oracleSection) average(l *Live, market int32) {
	tokens := l.catalog.Tokens(market) // by outcome
	for from := 0; from < len(tokens); {
		var sum legs
		to := from
		for ; to < len(tokens) && l.tokens[tokens[to]].outcome == l.tokens[tokens[from]].outcome; to++ {
			sum.plus(&l.tokens[tokens[to]].legs)
		}
		price, _ := serving.AveragePrice(sum.TakerUSD, sum.TakerShares)
		if sum.TakerShares == 0 {
			price, _ = serving.AveragePrice(sum.MakerUSD, sum.MakerShares)
		}
		for ; from < to; from++ {
			o.builder.SetBaseline(tokens[from], price)
		}
	}
}

func (o *oracleSection) publish(_ context.Context, _ *sql.Conn, _ *Live, snap *serving.Snapshot) error {
	snap.Oracle = o.builder.Seal()
	return nil
}
