// Package polydata reads the files that poly_data writes: OrderFilled events and matches with the
// fields that its scan keeps, and its market tables, in both versions
// (github.com/warproxxx/poly_data).
package polydata

import (
	"fmt"

	"pmx/data"
	"pmx/data/feeds/shape"
	"pmx/data/reference"
)

// Feeds returns the feeds of this package.
func Feeds() []data.Feed {
	return []data.Feed{orderFilled(), trades(), markets(), marketsV2(), missingMarkets()}
}

func orderFilled() data.Feed {
	return data.Feed{
		Name:  "polydata-order-filled",
		About: "poly_data goldsky/orderFilled.csv and data/orderFilled.csv: one row per OrderFilled event",
		Rule: "the scan keeps every event once and drops its log index: equal rows within the file are separate fills, " +
			"across files the larger count is used",
		Kind:     data.KindFills,
		Identity: data.KeepRepeats,
		Formats:  []data.Format{data.CSV},
		Match: func(h data.Head) bool {
			return shape.HasColumns(h, orderColumns[:]...)
		},
		Query: queryOrderFilled,
	}
}

// queryOrderFilled returns the fill of the row's maker. The row's taker has its own row, on which
// it is the maker and the exchange is the taker: in a mint or a merge it traded the other token, so
// this row says nothing about it (https://github.com/Polymarket/ctf-exchange, docs/Overview.md).
func queryOrderFilled(src data.Source, h data.Head) (data.Query, error) {
	t := shape.CSVTable(src, h).Parallel()
	makerAsset, takerAsset := t.Col("makerAssetId"), t.Col("takerAssetId")
	buys := makerAsset + " = '0'"
	of := func(buy, sell string) string {
		return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", buys, buy, sell)
	}
	makerAmount, takerAmount := t.Col("makerAmountFilled"), t.Col("takerAmountFilled")
	q := shape.FillSQL{
		Tx:     shape.Hex(t.Col("transactionHash"), 32),
		TS:     shape.Seconds(t.Col("timestamp")),
		Wallet: shape.Hex(t.Col("maker"), 20),
		Role:   roleSQL(t.Col("taker")),
		Token:  shape.Token(of(takerAsset, makerAsset)),
		Side:   fmt.Sprintf("CASE WHEN %s THEN 0 WHEN %s = '0' THEN 1 END", buys, takerAsset),
		Shares: shape.Units(of(takerAmount, makerAmount)),
		USD:    shape.Units(of(makerAmount, takerAmount)),
		Fee:    "0",
		Given:  shape.Given{Tx: t.Col("transactionHash"), Taker: t.Col("taker")},
		Bad:    t.Bad(),
		From:   t.From(),
	}
	return data.Query{Fills: q.String(), Plain: readPlainOrders(h.Columns)}, nil
}

// roleSQL returns 2 (taker) if the VARCHAR taker is an exchange of the venue, else 1 (maker).
func roleSQL(taker string) string {
	var list []string
	for _, a := range reference.Exchanges() {
		list = append(list, shape.Quote(a.String()))
	}
	return fmt.Sprintf("CASE WHEN %s THEN 2 ELSE 1 END", shape.Among("lower("+taker+")", list...))
}
