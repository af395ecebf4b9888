// Package canonical reads pmx's own files: fills, markets, resolutions and the
// weather as CSV, NDJSON or Parquet with the columns that README.md in this folder
// lists.
package canonical

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"pmx/data"
	"pmx/data/feeds/polymarket"
	"pmx/data/feeds/shape"
)

// Feeds gives the feeds of this package.
func Feeds() []data.Feed { return append([]data.Feed{fills(), markets(), resolutions()}, weather()...) }

// FillNames are the columns of a canonical file of fills. wallet, token, side,
// shares, usd and one of ts and block must be there, any other may be missing or
// empty.
var FillNames = []string{
	"tx", "log_index", "block", "ts", "wallet", "role", "token", "condition", "outcome", "side", "shares", "usd", "fee", "name",
}

func fills() data.Feed {
	return data.Feed{
		Name:  "pmx-fills",
		About: "pmx's own fills: ts, wallet, token, side, shares, usd and what else is known (see the feed's README)",
		Rule: "a log index tells a fill from every other; without one, equal rows within the file are separate fills " +
			"and across files the larger count stands",
		Kind:     data.KindFills,
		Identity: data.KeepRepeats,
		Formats:  []data.Format{data.CSV, data.NDJSON, data.Parquet},
		Match: func(h data.Head) bool {
			return shape.Has(h, "wallet", "token", "side", "shares", "usd") && shape.HasAny(h, "ts", "block")
		},
		Query: queryFills,
	}
}

func queryFills(src data.Source, h data.Head) (data.Query, error) {
	t, row := shape.CSVTable(src, h), ""
	switch src.Format {
	case data.NDJSON:
		t = shape.NDJSONTable(src, FillNames...)
	case data.Parquet:
		t, row = shape.ParquetTable(src, h), "file_row_number + 1"
	}
	condition := shape.Condition(t.Col("condition"))
	q := shape.FillSQL{
		Tx:        shape.Hex(t.Col("tx"), 32),
		LogIndex:  fmt.Sprintf("TRY_CAST(%s AS INTEGER)", t.Col("log_index")),
		Block:     fmt.Sprintf("TRY_CAST(%s AS BIGINT)", t.Col("block")),
		TS:        t.Micros("ts"),
		Wallet:    shape.Hex(t.Col("wallet"), 20),
		Role:      fmt.Sprintf("CASE lower(%s) WHEN 'maker' THEN 1 WHEN 'taker' THEN 2 ELSE 0 END", t.Col("role")),
		Token:     shape.Token(t.Col("token")),
		Condition: condition,
		Outcome: fmt.Sprintf("CASE WHEN %[1]s IS NOT NULL AND TRY_CAST(%[2]s AS BIGINT) BETWEEN 0 AND 127 "+
			"THEN TRY_CAST(%[2]s AS BIGINT) END", condition, t.Col("outcome")),
		Side:   shape.Side(t.Col("side")),
		Shares: t.Amount("shares"),
		USD:    t.Amount("usd"),
		Fee:    fmt.Sprintf("coalesce(%s, 0)", t.Amount("fee")),
		Name:   t.Col("name"),
		Row:    row,
		Bad:    t.Bad(),
		From:   t.From(),
	}
	return data.Query{Fills: q.String()}, nil
}

func markets() data.Feed {
	return data.Feed{
		Name:    "pmx-markets",
		About:   "pmx's own markets: condition, question, outcomes, tokens and what else is known (see the feed's README)",
		Kind:    data.KindMarkets,
		Formats: []data.Format{data.CSV, data.NDJSON, data.JSON, data.Parquet},
		Match:   func(h data.Head) bool { return shape.Has(h, "condition", "question", "outcomes", "tokens") },
		Read:    readMarkets,
	}
}

// market is a canonical row; lists are JSON arrays, in CSV and Parquet as text.
type market struct {
	Condition          shape.Text      `json:"condition"`
	GammaID            shape.Text      `json:"gamma_id"`
	QuestionID         shape.Text      `json:"question_id"`
	Question           shape.Text      `json:"question"`
	Slug               shape.Text      `json:"slug"`
	Description        shape.Text      `json:"description"`
	ResolutionSource   shape.Text      `json:"resolution_source"`
	GroupItemTitle     shape.Text      `json:"group_item_title"`
	GroupItemThreshold shape.Text      `json:"group_item_threshold"`
	Icon               shape.Text      `json:"icon"`
	EventID            shape.Text      `json:"event_id"`
	EventSlug          shape.Text      `json:"event_slug"`
	EventTitle         shape.Text      `json:"event_title"`
	SeriesSlug         shape.Text      `json:"series_slug"`
	NegRisk            shape.Text      `json:"neg_risk"`
	NegRiskMarketID    shape.Text      `json:"neg_risk_market_id"`
	Category           shape.Text      `json:"category"`
	CategorySource     shape.Text      `json:"category_source"`
	Tags               polymarket.Tags `json:"tags"`
	Outcomes           shape.List      `json:"outcomes"`
	Tokens             shape.List      `json:"tokens"`
	Prices             shape.List      `json:"prices"`
	BestBid            shape.Text      `json:"best_bid"`
	BestAsk            shape.Text      `json:"best_ask"`
	LastPrice          shape.Text      `json:"last_price"`
	Active             shape.Text      `json:"active"`
	Closed             shape.Text      `json:"closed"`
	AcceptingOrders    shape.Text      `json:"accepting_orders"`
	Liquidity          shape.Text      `json:"liquidity"`
	ReportedVolume     shape.Text      `json:"reported_volume"`
	CreatedAt          shape.Text      `json:"created_at"`
	StartAt            shape.Text      `json:"start_at"`
	EndAt              shape.Text      `json:"end_at"`
	ClosedAt           shape.Text      `json:"closed_at"`
	GameStartAt        shape.Text      `json:"game_start_at"`
	UpdatedAt          shape.Text      `json:"updated_at"`
}

func readMarkets(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	rd := shape.Reading{Sink: sink}
	return rd.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
		var row market
		if json.Unmarshal(raw, &row) != nil {
			return shape.Reject(sink, line, raw, shape.Known("bad_json"))
		}
		m, err := row.market()
		if err != nil {
			return shape.Reject(sink, line, raw, err)
		}
		return sink.Market(line, m)
	})
}

func (r *market) market() (data.Market, error) {
	condition, err := data.ParseCondition(r.Condition.Trim())
	if err != nil || condition.IsZero() {
		return data.Market{}, shape.Known("bad_condition")
	}
	outcomes, n := polymarket.Labels(r.Outcomes, r.Tokens)
	m := data.Market{
		Condition: condition, GammaID: r.GammaID.Trim(), QuestionID: r.QuestionID.Trim(), Question: r.Question.Trim(),
		Slug: r.Slug.Trim(), Description: string(r.Description), ResolutionSource: r.ResolutionSource.Trim(),
		GroupItemTitle: r.GroupItemTitle.Trim(), GroupItemThreshold: r.GroupItemThreshold.Trim(), Icon: r.Icon.Trim(),
		EventID: r.EventID.Trim(), EventSlug: r.EventSlug.Trim(), EventTitle: r.EventTitle.Trim(),
		SeriesSlug: r.SeriesSlug.Trim(), NegRisk: r.NegRisk.Bool(), NegRiskMarketID: r.NegRiskMarketID.Trim(),
		Tags: r.Tags, Outcomes: outcomes, TokenIDs: polymarket.Tokens(r.Tokens, n),
		Prices: polymarket.Prices(r.Prices, n), BestBid: r.BestBid.MicroPtr(), BestAsk: r.BestAsk.MicroPtr(),
		LastPrice: r.LastPrice.MicroPtr(), Active: r.Active.Bool(), Closed: r.Closed.Bool(),
		AcceptingOrders: r.AcceptingOrders.Bool(), Liquidity: r.Liquidity.MicroPtr(),
		ReportedVolume: r.ReportedVolume.MicroPtr(),
		CreatedAt:      shape.MaybeTime(r.CreatedAt.Trim()), StartAt: shape.MaybeTime(r.StartAt.Trim()),
		EndAt: shape.MaybeTime(r.EndAt.Trim()), ClosedAt: shape.MaybeTime(r.ClosedAt.Trim()),
		GameStartAt: shape.MaybeTime(r.GameStartAt.Trim()), UpdatedAt: shape.MaybeTime(r.UpdatedAt.Trim()),
	}
	if m.Category = r.Category.Trim(); m.Category != "" {
		m.CategorySource = cmp.Or(r.CategorySource.Trim(), "field")
	} else {
		m.Category, m.CategorySource = polymarket.Category(m.Tags, "", m.EventSlug, m.Slug)
	}
	return m, nil
}

// sources names where a resolution was read.
var sources = map[string]data.ResolutionSource{
	"": data.ResolvedByMap, "map": data.ResolvedByMap, "prices": data.ResolvedByPrices, "winner": data.ResolvedByWinner,
	"api": data.ResolvedByAPI, "chain": data.ResolvedOnChain,
}

func resolutions() data.Feed {
	return data.Feed{
		Name:    "pmx-resolutions",
		About:   "pmx's own resolutions: condition, payouts, resolved_at, source (see the feed's README)",
		Kind:    data.KindResolutions,
		Formats: []data.Format{data.CSV, data.NDJSON, data.JSON, data.Parquet},
		Match:   func(h data.Head) bool { return shape.Has(h, "condition", "payouts") },
		Read:    readResolutions,
	}
}

func readResolutions(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	rd := shape.Reading{Sink: sink}
	return rd.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
		var row struct {
			Condition  shape.Text `json:"condition"`
			Payouts    shape.List `json:"payouts"`
			ResolvedAt shape.Text `json:"resolved_at"`
			Source     shape.Text `json:"source"`
			Version    shape.Text `json:"version"`
		}
		if json.Unmarshal(raw, &row) != nil {
			return shape.Reject(sink, line, raw, shape.Known("bad_json"))
		}
		condition, err := data.ParseCondition(row.Condition.Trim())
		if err != nil || condition.IsZero() {
			return shape.Reject(sink, line, raw, shape.Known("bad_condition"))
		}
		source, ok := sources[strings.ToLower(row.Source.Trim())]
		if !ok {
			return shape.Reject(sink, line, raw, shape.Bad("bad_source", "the source %q is none of map, prices, winner, api and chain", row.Source))
		}
		payouts := payouts(row.Payouts)
		if payouts == nil {
			return shape.Reject(sink, line, raw, shape.Known("bad_payout"))
		}
		return sink.Resolution(line, data.Resolution{Condition: condition, Payouts: payouts, Source: source,
			ResolvedAt: shape.MaybeTime(row.ResolvedAt.Trim()), Version: shape.MaybeTime(row.Version.Trim())})
	})
}

// payouts reads at least two decimals between 0 and 1 that add up to 1, else nil.
func payouts(texts []string) []data.Micro {
	out, sum := make([]data.Micro, len(texts)), data.Micro(0)
	for i, s := range texts {
		p, err := data.ParseMicro(s)
		if err != nil || p < 0 || p > data.One {
			return nil
		}
		out[i] = p
		sum += p
	}
	if len(out) < 2 || sum != data.One {
		return nil
	}
	return out
}
