// Package jonbecker reads the Parquet files of the prediction-market-analysis
// data set: OrderFilled logs, block times and markets
// (github.com/Jon-Becker/prediction-market-analysis).
package jonbecker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go"

	"pmx/data"
	"pmx/data/feeds/polymarket"
	"pmx/data/feeds/shape"
	"pmx/data/reference"
)

// Feeds returns the feeds of this package.
func Feeds() []data.Feed { return []data.Feed{trades(), blocks(), markets()} }

func trades() data.Feed {
	return data.Feed{
		Name:     "jonbecker-trades",
		About:    "prediction-market-analysis polymarket/trades Parquet: OrderFilled logs with log index and fee",
		Rule:     "a fill is one log of a transaction, identified by its log index",
		Kind:     data.KindFills,
		Identity: data.KeepRepeats,
		Formats:  []data.Format{data.Parquet},
		Match: func(h data.Head) bool {
			return shape.HasColumns(h, "block_number", "transaction_hash", "log_index", "maker", "taker",
				"maker_asset_id", "taker_asset_id", "maker_amount", "taker_amount")
		},
		Query:   queryTrades,
		Several: true,
	}
}

// columns makes expressions for the columns of a Parquet file by their types, which differ between
// versions of the data set.
type columns struct{ file *parquet.File }

// hex returns a BLOB of n bytes from text, or from bytes that are the value itself or its text.
func (c columns) hex(name string, n int) string {
	leaf, _, ok := shape.LeafOf(c.file, name)
	if !ok {
		return "NULL::BLOB"
	}
	col := shape.Ident(name)
	if !leaf.IsBinary() {
		return shape.Hex(col+"::VARCHAR", n)
	}
	return fmt.Sprintf("CASE WHEN octet_length(%[1]s::BLOB) = %[2]d THEN %[1]s::BLOB ELSE %[3]s END",
		col, n, shape.Hex("TRY(decode("+col+"::BLOB))", n))
}

func (c columns) text(name string) string {
	if _, _, ok := shape.LeafOf(c.file, name); !ok {
		return "NULL::VARCHAR"
	}
	return shape.Ident(name) + "::VARCHAR"
}

// whole returns a whole number from 0 to most. Integer columns need no parsing.
func (c columns) whole(name string, most int64) string {
	leaf, _, ok := shape.LeafOf(c.file, name)
	if ok && leaf.IsInteger() {
		return fmt.Sprintf("CASE WHEN %[1]s BETWEEN 0 AND %[2]d THEN %[1]s END", shape.Ident(name), most)
	}
	return shape.Whole(c.text(name), most)
}

// given is a column as it is, "" if the file does not have it.
func (c columns) given(name string) string {
	if _, _, ok := shape.LeafOf(c.file, name); !ok {
		return ""
	}
	return shape.Ident(name)
}

func queryTrades(src data.Source, _ data.Head) (q data.Query, err error) {
	file, closer, err := shape.Parquet(src, nil)
	if err != nil {
		return data.Query{}, err
	}
	defer func() { err = errors.Join(err, closer.Close()) }()
	c := columns{file}
	makerAsset, takerAsset := c.text("maker_asset_id"), c.text("taker_asset_id")
	makerAmount, takerAmount := c.text("maker_amount"), c.text("taker_amount")
	of := func(buy, sell string) string {
		return fmt.Sprintf("CASE WHEN %s = '0' THEN %s ELSE %s END", makerAsset, buy, sell)
	}
	fills := shape.FillSQL{
		Tx:       c.hex("transaction_hash", 32),
		LogIndex: c.whole("log_index", math.MaxInt32),
		Block:    c.whole("block_number", math.MaxInt64),
		TS:       shape.Time(c.text("timestamp")),
		Wallet:   c.hex("maker", 20),
		Role:     roleSQL(c.hex("taker", 20)),
		Token:    shape.Token(of(takerAsset, makerAsset)),
		Side:     fmt.Sprintf("CASE WHEN %s = '0' THEN 0 WHEN %s = '0' THEN 1 END", makerAsset, takerAsset),
		Shares:   shape.Units(of(takerAmount, makerAmount)),
		USD:      shape.Units(of(makerAmount, takerAmount)),
		Fee:      shape.Units(c.text("fee")),
		Given: shape.Given{Tx: c.given("transaction_hash"), LogIndex: c.given("log_index"), Block: c.given("block_number"),
			TS: c.given("timestamp"), Fee: c.given("fee")},
		Row:  shape.ParquetRow(src),
		From: shape.ParquetFiles(src),
	}
	return data.Query{Fills: fills.String()}, nil
}

// roleSQL returns 2 (taker) if the BLOB taker is an exchange of the venue, else 1 (maker).
func roleSQL(taker string) string {
	var list []string
	for _, a := range reference.Exchanges() {
		list = append(list, fmt.Sprintf("unhex('%x')", a[:]))
	}
	return fmt.Sprintf("CASE WHEN %s THEN 2 ELSE 1 END", shape.Among(taker, list...))
}

func blocks() data.Feed {
	return data.Feed{
		Name:    "jonbecker-blocks",
		About:   "prediction-market-analysis polymarket/blocks Parquet: the time of each block, for trades without one",
		Kind:    data.KindReference,
		Formats: []data.Format{data.Parquet},
		Match: func(h data.Head) bool {
			return shape.HasColumns(h, "block_number", "timestamp") && !shape.HasAny(h, "transaction_hash", "maker", "wallet")
		},
		Read: readBlocks,
	}
}

func readBlocks(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) (err error) {
	file, closer, err := shape.Parquet(src, r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closer.Close()) }()
	number, at, ok := shape.LeafOf(file, "block_number")
	ts, tsAt, ok2 := shape.LeafOf(file, "timestamp")
	if !ok || !ok2 {
		return errors.New("the columns block_number and timestamp are not flat")
	}
	return shape.EachRow(file, func(row int64, values parquet.Row) error {
		if row%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		n, t := text(number, at, values), text(ts, tsAt, values)
		b, err := block(n, t)
		if err == nil {
			err = sink.Block(row, b)
		}
		if err = shape.Reject(sink, row, []byte(n+","+t), err); err != nil {
			return err
		}
		return sink.Lines(data.LineRecord, 1)
	})
}

func text(leaf shape.Leaf, at int, row parquet.Row) string {
	for _, v := range row {
		if v.Column() == at {
			s, _ := leaf.Value(v).(string)
			return s
		}
	}
	return ""
}

func block(number, ts string) (data.Block, error) {
	n, err := data.ParseWhole(number)
	if err != nil {
		return data.Block{}, shape.Bad("bad_block", "the block number %q is not a whole number", number)
	}
	us, err := shape.FillTime(ts)
	return data.Block{Number: n, TS: us}, err
}

func markets() data.Feed {
	return data.Feed{
		Name:    "jonbecker-markets",
		About:   "prediction-market-analysis polymarket/markets Parquet: condition_id, outcomes, outcome_prices, clob_token_ids",
		Kind:    data.KindMarkets,
		Formats: []data.Format{data.Parquet, data.CSV, data.NDJSON, data.JSON},
		Match: func(h data.Head) bool {
			return shape.Has(h, "condition_id", "question", "outcome_prices", "clob_token_ids")
		},
		Read: readMarkets,
	}
}

func readMarkets(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	rd := shape.Reading{Sink: sink, LineEnds: true}
	return rd.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
		var m struct {
			ID            shape.Text   `json:"id"`
			ConditionID   shape.Text   `json:"condition_id"`
			Question      shape.Text   `json:"question"`
			Slug          shape.Text   `json:"slug"`
			Outcomes      shape.Labels `json:"outcomes"`
			OutcomePrices shape.List   `json:"outcome_prices"`
			ClobTokenIDs  shape.List   `json:"clob_token_ids"`
			Volume        shape.Text   `json:"volume"`
			Liquidity     shape.Text   `json:"liquidity"`
			Active        shape.Text   `json:"active"`
			Closed        shape.Text   `json:"closed"`
			EndDate       shape.Text   `json:"end_date"`
			CreatedAt     shape.Text   `json:"created_at"`
			FetchedAt     shape.Text   `json:"_fetched_at"`
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			return shape.Reject(sink, line, raw, shape.Undecoded(err))
		}
		return polymarket.Emit(sink, line, raw, &polymarket.Gamma{
			ID: m.ID, ConditionID: m.ConditionID, Question: m.Question, Slug: m.Slug, Outcomes: m.Outcomes,
			OutcomePrices: m.OutcomePrices, ClobTokenIDs: m.ClobTokenIDs, Volume: m.Volume, Liquidity: m.Liquidity,
			Active: m.Active, Closed: m.Closed, EndDate: m.EndDate, CreatedAt: m.CreatedAt, UpdatedAt: m.FetchedAt,
			Lacks: data.QuoteBidAsk | data.QuoteLast | polymarket.Lacks(src.Format, raw),
		})
	})
}
