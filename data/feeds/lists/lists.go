// Package lists reads lists of outcomes that third parties publish: which
// markets were resolved, and to what.
package lists

import (
	"context"
	"encoding/json"
	"io"
	"strings"

	"pmx/data"
	"pmx/data/feeds/fpmm"
	"pmx/data/feeds/polymarket"
	"pmx/data/feeds/shape"
)

// Feeds returns the feeds of this package.
func Feeds() []data.Feed { return []data.Feed{resolutionMap(), resolvedMarkets(), fpmmResolutions()} }

func resolutionMap() data.Feed {
	return data.Feed{
		Name:    "resolution-map",
		About:   "condition_id with payout_yes and payout_no, null where unresolved (also markets_dim_seed)",
		Kind:    data.KindResolutions,
		Formats: []data.Format{data.JSON, data.NDJSON, data.CSV},
		Match: func(h data.Head) bool {
			return shape.Has(h, "condition_id", "payout_yes", "payout_no") ||
				shape.HasKeys(h, "resolutions[].condition_id", "resolutions[].payout_yes", "resolutions[].payout_no")
		},
		Read: readMap,
	}
}

// readMap reads the market of a row as well as its payout. An unresolved row is not an error: it is
// passed on as a market.
func readMap(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	rd := shape.Reading{Lists: []string{"resolutions"}, Sink: sink, LineEnds: true}
	return rd.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
		var row mapRow
		if json.Unmarshal(raw, &row) != nil {
			return shape.Reject(sink, line, raw, shape.Known("bad_json"))
		}
		m, err := (&polymarket.Gamma{ID: row.MarketID, ConditionID: row.ConditionID, Question: row.Question, EventID: row.EventID}).Market()
		if err != nil {
			return shape.Reject(sink, line, raw, err)
		}
		payouts, err := row.payouts()
		if err != nil {
			return shape.Reject(sink, line, raw, err)
		}
		if payouts != nil {
			m.Resolution, m.Untaken = &data.Resolution{Condition: m.Condition, Payouts: payouts, Source: data.ResolvedByMap}, ""
		}
		return sink.Market(line, m)
	})
}

// mapRow is a row of a resolution map. Its resolved_at is ignored: in known files it is either the
// time when the list was fetched or the scheduled end of the market, and the row does not say
// which.
type mapRow struct {
	ConditionID shape.Text `json:"condition_id"`
	MarketID    shape.Text `json:"market_id"`
	EventID     shape.Text `json:"event_id"`
	Question    shape.Text `json:"question"`
	Yes         shape.Text `json:"payout_yes"`
	No          shape.Text `json:"payout_no"`
}

// payouts returns nil for an unresolved row. Some files write the losing side as null, so one
// payout alone stands for both.
func (r mapRow) payouts() ([]data.Micro, error) {
	if r.Yes.Trim() == "" && r.No.Trim() == "" {
		return nil, nil
	}
	yes, okYes := r.Yes.Micro()
	no, okNo := r.No.Micro()
	switch {
	case okYes && r.No.Trim() == "":
		no = data.One - yes
	case okNo && r.Yes.Trim() == "":
		yes = data.One - no
	case !okYes || !okNo:
		return nil, shape.Known("bad_payout")
	}
	if yes < 0 || no < 0 || yes+no != data.One {
		return nil, shape.Known("bad_payout")
	}
	return []data.Micro{yes, no}, nil
}

func resolvedMarkets() data.Feed {
	return data.Feed{
		Name:    "resolved-markets",
		About:   "resolved markets with outcomes and final_prices joined by |, winner and clob_token_ids",
		Kind:    data.KindMarkets,
		Formats: []data.Format{data.JSON, data.NDJSON, data.CSV},
		Match: func(h data.Head) bool {
			return shape.Has(h, "condition_id", "outcomes", "final_prices", "winner")
		},
		Read: readResolved,
	}
}

func readResolved(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	rd := shape.Reading{Sink: sink, LineEnds: true}
	return rd.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
		var row struct {
			ConditionID shape.Text   `json:"condition_id"`
			MarketID    shape.Text   `json:"market_id"`
			EventID     shape.Text   `json:"event_id"`
			EventSlug   shape.Text   `json:"event_slug"`
			EventTitle  shape.Text   `json:"event_title"`
			Question    shape.Text   `json:"question"`
			Description shape.Text   `json:"description"`
			Outcomes    shape.Labels `json:"outcomes"`
			FinalPrices shape.List   `json:"final_prices"`
			Winner      shape.Text   `json:"winner"`
			Closed      shape.Text   `json:"closed"`
			Volume      shape.Text   `json:"volume_usd"`
			Tokens      shape.List   `json:"clob_token_ids"`
		}
		if err := json.Unmarshal(raw, &row); err != nil {
			return shape.Reject(sink, line, raw, shape.Undecoded(err))
		}
		winner := row.Winner.Trim()
		if row.Closed.Trim() == "" && winner != "" {
			row.Closed = "true" // a market with a winner is over
		}
		m, err := (&polymarket.Gamma{ID: row.MarketID, ConditionID: row.ConditionID, Question: row.Question,
			Description: row.Description, EventID: row.EventID, EventSlug: row.EventSlug, EventTitle: row.EventTitle,
			Outcomes: row.Outcomes, OutcomePrices: row.FinalPrices, ClobTokenIDs: row.Tokens,
			Closed: row.Closed, Volume: row.Volume}).Market()
		if err != nil {
			return shape.Reject(sink, line, raw, err)
		}
		if m.Resolution != nil {
			m.Resolution.Source = data.ResolvedByMap
			if !agrees(m, winner) {
				m.Resolution, m.Untaken = nil, data.UntakenWinner
			}
		}
		if m.Resolution == nil && m.Untaken == "" && winner != "" {
			m.Untaken = data.UntakenUndecided
			if m.Closed != nil && !*m.Closed {
				m.Untaken = data.UntakenOpen
			}
		}
		return sink.Market(line, m)
	})
}

// agrees reports whether the named winner is the one that follows from the prices.
func agrees(m data.Market, winner string) bool {
	for i, p := range m.Resolution.Payouts {
		if p == data.One {
			return winner == "" || i < len(m.Outcomes) && strings.EqualFold(winner, m.Outcomes[i])
		}
	}
	return winner == ""
}

func fpmmResolutions() data.Feed {
	return data.Feed{
		Name:    "fpmm-resolutions",
		About:   "winners of AMM-era markets by market key: market_key, outcome_a, outcome_b, resolved, winner",
		Kind:    data.KindResolutions,
		Formats: []data.Format{data.CSV, data.JSON, data.NDJSON},
		Match: func(h data.Head) bool {
			return shape.Has(h, "market_key", "outcome_a", "outcome_b", "resolved", "winner")
		},
		Read: readFPMM,
	}
}

func readFPMM(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	rd := shape.Reading{Sink: sink}
	return rd.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
		var row struct {
			Key      shape.Text `json:"market_key"`
			A        shape.Text `json:"outcome_a"`
			B        shape.Text `json:"outcome_b"`
			Resolved shape.Text `json:"resolved"`
			Winner   shape.Text `json:"winner"`
		}
		if json.Unmarshal(raw, &row) != nil {
			return shape.Reject(sink, line, raw, shape.Known("bad_json"))
		}
		a, b := fpmm.Label(row.A.Trim()), fpmm.Label(row.B.Trim())
		if row.Key.Trim() == "" || a == "" || b == "" || a == b {
			return shape.Reject(sink, line, raw, shape.Bad("bad_market", "the row has no market, or not two outcomes"))
		}
		labels := fpmm.Outcomes([]string{a, b})
		m := fpmm.Market(row.Key.Trim(), labels)
		var f shape.Fields
		if f.Flag("resolved", row.Resolved); f.Err != nil {
			return shape.Reject(sink, line, raw, f.Err)
		}
		if !row.Resolved.True() {
			return sink.Market(line, m)
		}
		payouts := make([]data.Micro, len(labels))
		for i, l := range labels {
			if l == fpmm.Label(row.Winner.Trim()) {
				payouts[i] = data.One
			}
		}
		if payouts[0]+payouts[1] != data.One {
			return shape.Reject(sink, line, raw, shape.Bad("bad_payout", "the winner %q is not one of the outcomes", row.Winner.Trim()))
		}
		// The row has the time of the last trade, which is not that of the resolution.
		m.Resolution = &data.Resolution{Condition: m.Condition, Payouts: payouts, Source: data.ResolvedByMap}
		return sink.Market(line, m)
	})
}
