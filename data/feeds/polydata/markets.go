package polydata

import (
	"context"
	"encoding/json"
	"io"

	"pmx/data"
	"pmx/data/feeds/polymarket"
	"pmx/data/feeds/shape"
)

func markets() data.Feed {
	return data.Feed{
		Name:    "polydata-markets",
		About:   "poly_data version 1 markets.csv: token1, token2, answer1, answer2, condition_id",
		Kind:    data.KindMarkets,
		Formats: []data.Format{data.CSV},
		Match:   func(h data.Head) bool { return shape.HasColumns(h, "token1", "token2", "answer1", "condition_id") },
		Read:    readMarkets,
	}
}

func readMarkets(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	rd := shape.Reading{Sink: sink, LineEnds: true}
	return rd.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
		var row struct {
			CreatedAt   shape.Text `json:"createdAt"`
			ID          shape.Text `json:"id"`
			Question    shape.Text `json:"question"`
			Answer1     shape.Text `json:"answer1"`
			Answer2     shape.Text `json:"answer2"`
			NegRisk     shape.Text `json:"neg_risk"`
			Slug        shape.Text `json:"market_slug"`
			Token1      shape.Text `json:"token1"`
			Token2      shape.Text `json:"token2"`
			ConditionID shape.Text `json:"condition_id"`
			Volume      shape.Text `json:"volume"`
			Ticker      shape.Text `json:"ticker"`
			ClosedTime  shape.Text `json:"closedTime"`
		}
		if json.Unmarshal(raw, &row) != nil {
			return shape.Reject(sink, line, raw, shape.Known("bad_json"))
		}
		g := polymarket.Gamma{
			CreatedAt: row.CreatedAt, ID: row.ID, Question: row.Question, Slug: row.Slug, ConditionID: row.ConditionID,
			Volume: row.Volume, EventSlug: row.Ticker, ClosedTime: row.ClosedTime,
			Outcomes:     []string{row.Answer1.Trim(), row.Answer2.Trim()},
			ClobTokenIDs: []string{row.Token1.Trim(), row.Token2.Trim()},
		}
		var f shape.Fields
		if f.Flag("neg_risk", row.NegRisk); f.Err != nil {
			return shape.Reject(sink, line, raw, f.Err)
		}
		if row.NegRisk.True() {
			g.NegRisk = "true" // false is also written for plain NegRisk markets, so it says nothing
		}
		if row.ClosedTime.Trim() != "" {
			g.Closed = "true"
		}
		return polymarket.Emit(sink, line, raw, &g)
	})
}

func marketsV2() data.Feed {
	return data.Feed{
		Name:    "polydata-markets-v2",
		About:   "poly_data version 2 data/markets.csv: CLOB markets, nested fields as JSON text",
		Kind:    data.KindMarkets,
		Formats: []data.Format{data.CSV},
		Match:   func(h data.Head) bool { return shape.HasColumns(h, "id", "clobTokenIds", "tokens", "market_slug") },
		Read:    polymarket.ReadCLOB,
	}
}

func missingMarkets() data.Feed {
	return data.Feed{
		Name:    "polydata-missing-markets",
		About:   "poly_data version 2 data/missing_markets.csv: markets looked up by token",
		Kind:    data.KindMarkets,
		Formats: []data.Format{data.CSV},
		Match: func(h data.Head) bool {
			return shape.HasColumns(h, "id", "clobTokenIds", "conditionId", "question") &&
				!shape.HasAny(h, "outcomes", "outcomePrices", "tokens")
		},
		Read: readMissing,
	}
}

func readMissing(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	rd := shape.Reading{Sink: sink, LineEnds: true}
	return rd.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
		var g polymarket.Gamma
		if err := polymarket.UnmarshalGamma(raw, &g); err != nil {
			return shape.Reject(sink, line, raw, shape.Undecoded(err))
		}
		if g.ConditionID.Trim() == "" {
			g.ConditionID = g.ID // version 2 has the condition id there
		}
		g.Lacks = polymarket.Lacks(src.Format, raw)
		return polymarket.Emit(sink, line, raw, &g)
	})
}
