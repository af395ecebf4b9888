package canonical

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"

	"pmx/data"
	"pmx/data/feeds/polymarket"
	"pmx/data/feeds/shape"
)

func markets() data.Feed {
	return data.Feed{
		Name:    "pmx-markets",
		About:   "pmx's own markets: condition_id, question, outcomes, token_ids and more (see docs/import.md)",
		Kind:    data.KindMarkets,
		Formats: []data.Format{data.CSV, data.NDJSON, data.JSON, data.Parquet},
		Match: func(h data.Head) bool {
			return shape.Has(h, "condition_id", "question", "outcomes", "token_ids") || shape.Has(h, "condition", "question", "outcomes", "tokens")
		},
		Read: readMarkets,
	}
}

// market is a canonical row; lists are JSON arrays, in CSV as text. The last three are
// names of earlier versions.
type market struct {
	Condition          shape.Text      `json:"condition_id"`
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
	CategorySource     givenText       `json:"category_source"`
	Tags               polymarket.Tags `json:"tags"`
	Outcomes           shape.Labels    `json:"outcomes"`
	Tokens             shape.List      `json:"token_ids"`
	Mapped             givenList       `json:"mapped_tokens"`
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
	EndAt              shape.Text      `json:"end_date"`
	ClosedAt           shape.Text      `json:"closed_at"`
	GameStartAt        shape.Text      `json:"game_start_at"`
	UpdatedAt          shape.Text      `json:"updated_at"`
	FieldVersions      shape.Text      `json:"field_versions"`
	HiddenQuote        shape.Text      `json:"hidden_quote"`

	OldCondition shape.Text `json:"condition"`
	OldTokens    shape.List `json:"tokens"`
	OldEndAt     shape.Text `json:"end_at"`
}

// named moves values from the names of earlier versions to the current ones, and in CSV of this
// version undoes escapes of formulas.
func (r *market) named(format data.Format) {
	if r.Condition.Trim() == "" {
		r.Condition, r.Tokens, r.EndAt = r.OldCondition, r.OldTokens, r.OldEndAt
		return
	}
	if format == data.CSV {
		for _, t := range []*shape.Text{&r.GammaID, &r.QuestionID, &r.Question, &r.Slug, &r.Description, &r.ResolutionSource, &r.GroupItemTitle,
			&r.GroupItemThreshold, &r.Icon, &r.EventID, &r.EventSlug, &r.EventTitle, &r.SeriesSlug, &r.NegRiskMarketID, &r.Category, &r.CategorySource.Text} {
			*t = t.Unescaped()
		}
	}
}

var marketMembers = shape.MembersOf[market]()

func readMarkets(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	rd := shape.Reading{Sink: sink, LineEnds: true}
	return rd.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
		var row market
		if err := marketMembers.Unmarshal(raw, &row); err != nil {
			return shape.Reject(sink, line, raw, shape.Undecoded(err))
		}
		row.named(src.Format)
		m, err := row.market()
		if err != nil {
			return shape.Reject(sink, line, raw, err)
		}
		m.Lacks = shape.LacksQuote(src.Format, raw, []string{"best_bid", "best_ask"}, []string{"last_price"}, []string{"liquidity"})
		return sink.Market(line, m)
	})
}

func (r *market) market() (data.Market, error) {
	condition, err := data.ParseCondition(r.Condition.Trim())
	if err != nil || condition.IsZero() {
		return data.Market{}, shape.Known("bad_condition")
	}
	labels := r.Outcomes
	if r.Mapped.given {
		labels = nil // what pmx wrote may have lists of different lengths
	}
	if err := polymarket.CheckLists(labels, r.Tokens, r.Prices); err != nil {
		return data.Market{}, err
	}
	mapped, ok := r.mapped(condition)
	if !ok {
		return data.Market{}, shape.Known("bad_token")
	}
	l := r.lists()
	var f shape.Fields
	m := data.Market{
		Condition: condition, GammaID: r.GammaID.Trim(), QuestionID: r.QuestionID.Trim(), Question: r.Question.Trim(),
		Slug: r.Slug.Trim(), Description: string(r.Description), ResolutionSource: r.ResolutionSource.Trim(),
		GroupItemTitle: r.GroupItemTitle.Trim(), GroupItemThreshold: r.GroupItemThreshold.Trim(), Icon: r.Icon.Trim(),
		EventID: r.EventID.Trim(), EventSlug: r.EventSlug.Trim(), EventTitle: r.EventTitle.Trim(),
		SeriesSlug: r.SeriesSlug.Trim(), NegRisk: f.Flag("neg_risk", r.NegRisk), NegRiskMarketID: r.NegRiskMarketID.Trim(),
		Tags: r.Tags, Outcomes: l.outcomes, TokenIDs: l.tokens, Mapped: mapped, Prices: l.prices, BestBid: f.Amount("best_bid", r.BestBid), BestAsk: f.Amount("best_ask", r.BestAsk),
		LastPrice: f.Amount("last_price", r.LastPrice), Active: f.Flag("active", r.Active), Closed: f.Flag("closed", r.Closed),
		AcceptingOrders: f.Flag("accepting_orders", r.AcceptingOrders), Liquidity: f.Amount("liquidity", r.Liquidity),
		ReportedVolume: f.Amount("reported_volume", r.ReportedVolume),
		CreatedAt:      f.Time("created_at", r.CreatedAt), StartAt: f.Time("start_at", r.StartAt), EndAt: f.Time("end_date", r.EndAt),
		ClosedAt: f.Time("closed_at", r.ClosedAt), GameStartAt: f.Time("game_start_at", r.GameStartAt), UpdatedAt: f.Version("updated_at", r.UpdatedAt),
	}
	if f.Err != nil {
		return data.Market{}, f.Err
	}
	if m.Closed == nil && !m.ClosedAt.IsZero() {
		closed := true // a market with a closing time is closed
		m.Closed = &closed
	}
	m.Untaken = untaken(&m, r.Prices)
	if err := r.versions(&m); err != nil {
		return data.Market{}, err
	}
	if m.Category = r.Category.Trim(); m.Category != "" {
		m.CategorySource = cmp.Or(r.CategorySource.Trim(), "field")
	} else if !r.CategorySource.given {
		m.Category, m.CategorySource = polymarket.Category(m.Tags, "", m.EventSlug, m.Slug)
	}
	return m, nil
}

// untaken returns why prices that look final are not taken as payouts: files of this feed have no
// such prices.
func untaken(m *data.Market, prices []string) data.Untaken {
	switch decided := polymarket.Decided(m.Prices); {
	case polymarket.Misfit(m, prices, false):
		return data.UntakenMisfit
	case m.Closed != nil && *m.Closed && polymarket.Payouts(m.Prices, false) != nil, m.Closed == nil && decided:
		return data.UntakenNoPayouts
	case decided:
		return data.UntakenOpen
	}
	return ""
}

// givenText is the text of a column, and whether the record has the column.
type givenText struct {
	shape.Text
	given bool
}

// UnmarshalJSON is called for null, but not for a missing member.
func (g *givenText) UnmarshalJSON(b []byte) error {
	g.given = true
	return g.Text.UnmarshalJSON(b)
}

// givenList is a list, and whether the record has it: null is none.
type givenList struct {
	shape.List
	given bool
}

// UnmarshalJSON accepts null and what a List does.
func (g *givenList) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*g = givenList{}
		return nil
	}
	g.given = true
	return g.List.UnmarshalJSON(b)
}

// lists are the lists of a market by outcome.
type lists struct {
	outcomes, tokens []string
	prices           []data.Micro
}

// lists returns the lists whose lengths match. Records written by pmx, which have mapped_tokens,
// are used as stored, because sources may have given lists of different lengths.
func (r *market) lists() (l lists) {
	outcomes, n := polymarket.Labels(r.Outcomes, r.Tokens)
	tokens, prices := n, n
	if r.Mapped.given {
		tokens, prices = len(r.Tokens), len(r.Prices)
	} else if n == 0 {
		prices = len(r.Prices) // nothing to contradict
	}
	return lists{outcomes, polymarket.Tokens(r.Tokens, tokens), polymarket.Prices(r.Prices, prices)}
}

// mapped parses mapped_tokens; false if one cannot be parsed, or is given for two outcomes.
func (r *market) mapped(condition data.Hash) (refs []data.TokenRef, ok bool) {
	if !r.Mapped.given {
		return nil, true
	}
	for _, text := range r.Mapped.List {
		index, rest, _ := strings.Cut(text, ":")
		id, inPassing := strings.CutSuffix(rest, ":trade")
		outcome, err := strconv.ParseInt(index, 10, 8)
		token, good := shape.TokenID(id)
		twice := slices.ContainsFunc(refs, func(ref data.TokenRef) bool { return ref.TokenID == token && ref.Outcome != int(outcome) })
		if err != nil || outcome < 0 || !good || twice {
			return nil, false
		}
		refs = append(refs, data.TokenRef{TokenID: token, Condition: condition, Outcome: int(outcome), Stub: inPassing})
	}
	return refs, true
}
