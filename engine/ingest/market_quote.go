package ingest

import (
	"cmp"
	"time"

	"pmx/data"
)

// quoteColumns are the columns of a market's quote, in the order in which quotes are
// compared.
var quoteColumns = []string{"best_bid", "best_ask", "last_price", "liquidity"}

// quoteOrder is what the quote of a name is compared by, as SQL.
func quoteOrder(name string) string { return statements.Get("QuoteOrder", "@q", name) }

// soundQuote leaves out of the quote of a record what cannot be so: prices beyond 0
// to 1, a negative liquidity, and both sides of a book whose bid is above its ask.
func soundQuote(m *data.Market) {
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

// takeQuote gives m the quote of the newer of two records, whole: what it leaves out
// is gone. Of equally new ones the larger quote stands, whichever came first. What a
// trade says of its market is no record with a quote.
func takeQuote(m *data.Market, a, b data.Market) {
	from := a
	switch {
	case a.Stub != b.Stub:
		if a.Stub {
			from = b
		}
	case quoted(&b).After(quoted(&a)), quoted(&b).Equal(quoted(&a)) && compareQuotes(&b, &a) > 0:
		from = b
	}
	m.Quoteless = from.Quoteless
	m.BestBid, m.BestAsk, m.LastPrice, m.Liquidity = from.BestBid, from.BestAsk, from.LastPrice, from.Liquidity
}

// quoted is the version of a record's quote: none where its page never has one.
func quoted(m *data.Market) time.Time {
	if m.Quoteless {
		return time.Time{}
	}
	return m.UpdatedAt
}

// compareQuotes orders quotes as MarketsNext does: side by side, one that is not there
// before any that is.
func compareQuotes(a, b *data.Market) int {
	side := func(a, b *data.Micro) int {
		switch {
		case a == nil || b == nil:
			return cmp.Compare(present(a), present(b))
		default:
			return cmp.Compare(*a, *b)
		}
	}
	return cmp.Or(side(a.BestBid, b.BestBid), side(a.BestAsk, b.BestAsk), side(a.LastPrice, b.LastPrice), side(a.Liquidity, b.Liquidity))
}

func present(m *data.Micro) int {
	if m == nil {
		return 0
	}
	return 1
}
