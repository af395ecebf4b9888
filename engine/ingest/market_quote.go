package ingest

import (
	"time"

	"pmx/data"
)

// quoteColumns are the columns of a market's quote. They follow from the column quote, which has
// the latest values of each group of fields.
var quoteColumns = []string{"best_bid", "best_ask", "last_price", "liquidity"}

// soundQuote removes invalid values from the quote of a record: prices outside 0 to 1, a negative
// liquidity, bid and ask if the bid is above the ask, and fields that its page does not have.
func soundQuote(m *data.Market) {
	if m.Lacks&data.QuoteBidAsk != 0 {
		m.BestBid, m.BestAsk = nil, nil
	}
	if m.Lacks&data.QuoteLast != 0 {
		m.LastPrice = nil
	}
	if m.Lacks&data.QuoteLiquidity != 0 {
		m.Liquidity = nil
	}
	for _, p := range []**data.Micro{&m.BestBid, &m.BestAsk, &m.LastPrice} {
		if *p != nil && (**p < 0 || **p > data.One) {
			*p = nil
		}
	}
	if m.Liquidity != nil && *m.Liquidity < 0 {
		m.Liquidity = nil
	}
	if m.BestBid != nil && m.BestAsk != nil && *m.BestBid > *m.BestAsk {
		m.BestBid, m.BestAsk = nil, nil
	}
}

// quoteRow returns the value of the column quote: each group of fields with its version, which is
// NULL if no record has the group; nil if no record has any.
func quoteRow(m *data.Market) any {
	first := len(ownFields)
	row, said := map[string]any{"bid": micro(m.BestBid), "ask": micro(m.BestAsk), "last": micro(m.LastPrice), "liquidity": micro(m.Liquidity)}, false
	for i, name := range []string{"at", "last_at", "liquidity_at"} {
		row[name] = nil
		if v := fieldVersion(m, first+i); v != data.Unsaid {
			row[name], said = v, true
		}
	}
	if !said {
		return nil
	}
	return row
}

// unquoted returns the newest version of a record of m without fields of the quote.
func unquoted(m *data.Market) time.Time {
	if m.Lacks == 0 {
		return m.Unquoted
	}
	return later(m.Unquoted, m.UpdatedAt)
}
