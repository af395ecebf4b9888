package polymarket

import (
	"context"
	"encoding/json"
	"io"
	"strings"

	"pmx/data"
	"pmx/data/feeds/shape"
)

// CLOB is a market object of the CLOB's /markets, also as a CSV row whose nested fields are strings
// with JSON.
type CLOB struct {
	ID              shape.Text `json:"id"`
	ConditionID     shape.Text `json:"condition_id"`
	QuestionID      shape.Text `json:"question_id"`
	Question        shape.Text `json:"question"`
	Description     shape.Text `json:"description"`
	Slug            shape.Text `json:"market_slug"`
	Icon            shape.Text `json:"icon"`
	EndDate         shape.Text `json:"end_date_iso"`
	GameStart       shape.Text `json:"game_start_time"`
	Active          shape.Text `json:"active"`
	Closed          shape.Text `json:"closed"`
	AcceptingOrders shape.Text `json:"accepting_orders"`
	NegRisk         shape.Text `json:"neg_risk"`
	NegRiskMarketID shape.Text `json:"neg_risk_market_id"`
	Half            shape.Text `json:"is_50_50_outcome"`
	Tokens          CLOBTokens `json:"tokens"`
	TokenIDs        shape.List `json:"clobTokenIds"`
	Tags            Tags       `json:"tags"`
}

// CLOBTokens are the outcomes of a CLOB market, also as a string that holds JSON.
type CLOBTokens []struct {
	TokenID shape.Text `json:"token_id"`
	Outcome shape.Text `json:"outcome"`
	Price   shape.Text `json:"price"`
	Winner  shape.Text `json:"winner"`
}

// UnmarshalJSON returns a *shape.RowError for a value that is not a list of tokens.
func (t *CLOBTokens) UnmarshalJSON(b []byte) error {
	type list CLOBTokens
	var l list
	var text shape.Text
	*t = nil
	if json.Unmarshal(unquote(b), &l) == nil {
		*t = CLOBTokens(l)
	} else if text.UnmarshalJSON(b) != nil || text.Trim() != "" {
		return shape.Bad("bad_token", "the tokens are not a list of objects")
	}
	return nil
}

func clobMarkets() data.Feed {
	return data.Feed{
		Name:    "clob-markets",
		About:   "CLOB /markets, /sampling-markets and simplified pages: tokens with winner flags",
		Kind:    data.KindMarkets,
		Formats: []data.Format{data.JSON, data.NDJSON},
		Match: func(h data.Head) bool {
			return shape.HasKeys(h, "data[].condition_id", "data[].tokens") || shape.HasKeys(h, "condition_id", "tokens")
		},
		Read: ReadCLOB,
	}
}

// ReadCLOB reads CLOB markets from pages, arrays, lines and CSV rows.
func ReadCLOB(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	rd := shape.Reading{Lists: []string{"data"}, Sink: sink, LineEnds: true}
	return rd.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
		var c CLOB
		if err := json.Unmarshal(raw, &c); err != nil {
			return shape.Reject(sink, line, raw, shape.Undecoded(err))
		}
		m, err := c.Market()
		if err != nil {
			return shape.Reject(sink, line, raw, err)
		}
		return sink.Market(line, m)
	})
}

// Market returns the canonical market; a missing or broken condition id is a *shape.RowError.
func (c *CLOB) Market() (data.Market, error) {
	id := first(c.ConditionID, c.ID).Trim()
	if id == "" {
		return data.Market{}, shape.Known("no_condition")
	}
	condition, err := data.ParseCondition(id)
	if err != nil || condition.IsZero() {
		return data.Market{}, shape.Known("bad_condition")
	}
	var f shape.Fields
	m := data.Market{
		Condition: condition, QuestionID: strings.ToLower(c.QuestionID.Trim()), Question: c.Question.Trim(),
		Slug: c.Slug.Trim(), Description: string(c.Description), Icon: c.Icon.Trim(),
		NegRisk: f.Flag("neg_risk", c.NegRisk), NegRiskMarketID: strings.ToLower(c.NegRiskMarketID.Trim()),
		Tags: c.Tags, Active: f.Flag("active", c.Active), Closed: f.Flag("closed", c.Closed), AcceptingOrders: f.Flag("accepting_orders", c.AcceptingOrders),
		EndAt: f.Time("end_date_iso", c.EndDate), GameStartAt: f.Time("game_start_time", c.GameStart),
	}
	f.Flag("is_50_50_outcome", c.Half)
	for _, t := range c.Tokens {
		f.Flag("winner", t.Winner)
	}
	if f.Err != nil {
		return data.Market{}, f.Err
	}
	m.Category, m.CategorySource = Category(m.Tags, "", m.Slug)
	if err := c.outcomes(&m); err != nil {
		return data.Market{}, err
	}
	m.Resolution, m.Untaken = c.resolution(&m)
	return m, nil
}

func (c *CLOB) outcomes(m *data.Market) error {
	var ids, texts []string
	labelled := true
	for _, t := range c.Tokens {
		m.Outcomes = append(m.Outcomes, t.Outcome.Trim())
		labelled = labelled && t.Outcome.Trim() != ""
		ids, texts = append(ids, t.TokenID.Trim()), append(texts, t.Price.Trim())
	}
	if !labelled {
		m.Outcomes = nil
	}
	if ids == nil {
		ids = c.TokenIDs
	}
	if err := CheckLists(nil, ids, texts); err != nil {
		return err
	}
	m.TokenIDs, m.Prices = Tokens(ids, len(ids)), Prices(texts, len(ids))
	return nil
}

// resolution reads the winner flags of a market, unless the record says that it is open. A payout
// of halves has no winner but a flag of its own.
func (c *CLOB) resolution(m *data.Market) (*data.Resolution, data.Untaken) {
	if len(c.Tokens) < 2 {
		return nil, ""
	}
	payouts, winners := make([]data.Micro, len(c.Tokens)), 0
	for i, t := range c.Tokens {
		if t.Winner.True() {
			payouts[i] = data.One
			winners++
		}
	}
	if winners != 1 {
		switch {
		case winners > 1 && (!c.Half.True() || len(payouts) != 2):
			if m.Closed != nil && !*m.Closed {
				return nil, data.UntakenOpen
			}
			return nil, data.UntakenWinners
		case !c.Closed.True() && !Decided(m.Prices):
			return nil, ""
		case !c.Closed.True() && m.Closed == nil:
			return nil, data.UntakenNoClosing
		case !c.Closed.True():
			return nil, data.UntakenOpen
		case !c.Half.True() || len(payouts) != 2:
			return nil, data.UntakenNoWinner
		}
		payouts[0], payouts[1] = data.One/2, data.One/2
	}
	if m.Closed != nil && !*m.Closed {
		return nil, data.UntakenOpen
	}
	return &data.Resolution{Condition: m.Condition, Payouts: payouts, Source: data.ResolvedByWinner}, ""
}
