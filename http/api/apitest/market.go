package apitest

import (
	"context"
	"slices"

	"pmx/data"
	"pmx/rollups/serving"
)

// Markets serves reads of markets and events from memory.
type Markets struct {
	Texts    map[int32]serving.MarketTexts // by market
	Filled   []serving.Fill                // newest first
	Traders  serving.EventTraders          // of every event, in any order
	Hours    []serving.Candle              // of every market, newest first and then by outcome
	Held     serving.Holders               // of every market, in any order
	InMemory bool                          // result of MarketInMemory
	Asked    int                           // reads of texts and holders
	Excluded []data.WalletID               // wallets that the last read of holders had to leave out
}

// MarketTexts returns the texts of a market.
func (m *Markets) MarketTexts(_ context.Context, market int32, _ int64) (serving.MarketTexts, error) {
	m.Asked++
	return m.Texts[market], nil
}

// MarketFills returns the newest fills of tokens, in order.
func (m *Markets) MarketFills(_ context.Context, dst []serving.Fill, tokens []data.TokenID, _ int64, _ *serving.Figures,
	after *serving.Fill, n int) ([]serving.Fill, error) {
	for _, f := range m.Filled {
		if after != nil && f.CompareInBlock(after, byNumber{}) >= 0 {
			continue
		}
		if n > 0 && slices.Contains(tokens, f.Token) {
			dst = append(dst, f)
			n--
		}
	}
	return dst, nil
}

// Candles returns those of Hours that belong to the tokens, one hour each.
func (m *Markets) Candles(_ context.Context, tokens []serving.OutcomeToken, _, hours int64, after *serving.Candle, n int) (list []serving.Candle, err error) {
	m.Asked++
	for _, c := range m.Hours {
		if hours != 1 || !slices.ContainsFunc(tokens, func(t serving.OutcomeToken) bool { return t.Outcome == c.Outcome }) ||
			after != nil && (c.Start > after.Start || c.Start == after.Start && c.Outcome <= after.Outcome) || len(list) == n {
			continue
		}
		list = append(list, c)
	}
	return list, nil
}

// Holders lists those of Held.
func (m *Markets) Holders(_ context.Context, s *serving.Snapshot, _ int32, q serving.HolderQuery) (serving.HolderList, error) {
	m.Asked++
	m.Excluded = s.Venue
	return m.Held.List(s, q), nil
}

// MarketInMemory returns InMemory.
func (m *Markets) MarketInMemory(int32, []data.TokenID, int64) bool { return m.InMemory }

// EventTraders returns the first n of Traders.
func (m *Markets) EventTraders(_ context.Context, s *serving.Snapshot, _ []int32, n int) (serving.EventTraders, error) {
	m.Asked++
	m.Excluded = s.Venue
	t := serving.EventTraders{Total: m.Traders.Total, Rows: slices.Clone(m.Traders.Rows)}
	t.Sort(s, n)
	return t, nil
}
