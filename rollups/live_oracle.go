package rollups

import (
	"context"
	"database/sql"

	"pmx/data"
	"pmx/rollups/serving"
)

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
	err := eachAdded(l, (*batchSums).scores, query, func(row *scoreRow) {
		o.builder.Add(row.Wallet, serving.Score{Forecasts: row.Forecasts, Correct: row.Correct, Edge: row.Edge, Error: row.Error,
			BaselineError: row.BaselineError, BuyUSD: row.BuyUSD}, l.excluded[row.Wallet])
	})(ctx, conn)
	o.builder.Rank()
	return err
}

func (*oracleSection) needsOnlyWallets() {}

// average notes the average price of the tokens of each outcome of a market.
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

func (o *oracleSection) publish(_ context.Context, _ *sql.Conn, l *Live, snap *serving.Snapshot) error {
	for _, market := range snap.Catalog.Changed() {
		o.average(l, market)
	}
	for _, token := range l.freed {
		o.builder.SetBaseline(token, 0)
	}
	l.freed = l.freed[:0]
	snap.Oracle = o.builder.Seal()
	return nil
}
