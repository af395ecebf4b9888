package apitest

import (
	"context"
	"slices"

	"pmx/rollups/serving"
)

// Markets answers reads of markets and events from memory.
type Markets struct {
	Texts    map[int32]serving.MarketTexts // by market
	Filled   []serving.MarketFill          // newest first
	Holders  serving.EventTraders          // of every event, in any order
	Asked    int                           // reads of texts and holders
	Excluded []int32                       // wallets that the last read of holders was told to leave out
}

// MarketTexts gives the texts of a market.
func (m *Markets) MarketTexts(_ context.Context, market int32) (serving.MarketTexts, error) {
	m.Asked++
	return m.Texts[market], nil
}

// MarketFills gives the newest fills of tokens.
func (m *Markets) MarketFills(_ context.Context, tokens []int32, _ int64, _ *serving.Figures, n int) ([]serving.MarketFill, error) {
	var out []serving.MarketFill
	for _, f := range m.Filled {
		if len(out) < n && slices.Contains(tokens, f.Token) {
			out = append(out, f)
		}
	}
	return out, nil
}

// EventTraders gives Holders.
func (m *Markets) EventTraders(_ context.Context, _ []serving.Paying, _ int64, without []int32) (serving.EventTraders, error) {
	m.Asked++
	m.Excluded = without
	return serving.EventTraders{Total: m.Holders.Total, Rows: slices.Clone(m.Holders.Rows)}, nil
}
