package serving

import "pmx/data"

// Market is what is known of one market, long texts left out. Empty strings, nil
// and zero times are unknown. It is never changed once it is in a Catalog.
type Market struct {
	ID         int32
	Condition  data.Hash
	Question   string
	Slug       string
	EventID    string // Gamma's decimal event id
	EventSlug  string
	EventTitle string
	SeriesSlug string
	Category   string
	Tags       []string     // slugs
	Outcomes   []string     // labels in payout order
	Prices     []data.Micro // last outcome prices that a source gave, in payout order
	Payouts    []data.Micro // millionths of a dollar per token; nil: not resolved
	// As a source gave them last.
	NegRisk, Active, Closed, AcceptingOrders               *bool
	BestBid, BestAsk, LastPrice, Liquidity, ReportedVolume *data.Micro
	// Unix µs.
	CreatedTS, StartTS, EndTS, ClosedTS, ResolvedTS, UpdatedTS int64
}

// EventKey is what an event is known by: its slug, else its id, "" where the
// market belongs to none.
func (m *Market) EventKey() string {
	if m.EventSlug != "" {
		return m.EventSlug
	}
	return m.EventID
}

// Resolved tells whether the payouts are known.
func (m *Market) Resolved() bool { return m.Payouts != nil }

// TokenRef says which outcome of which market a token pays for.
type TokenRef struct {
	Market  int32 // −1: not mapped yet
	Outcome int8
	ID      string // its public name: a uint256 in decimal
}

// Catalog is every market and token of a snapshot, by the small ids of the
// database and by their public names.
type Catalog struct {
	markets     []*Market // by id; nil: no such market
	byCondition map[data.Hash]int32
	tokens      []TokenRef
	tokensOf    [][]int32 // by market id
}

// NewCatalog makes a Catalog of markets by id and tokens by id, both of which it
// keeps.
func NewCatalog(markets []*Market, tokens []TokenRef) *Catalog {
	c := &Catalog{markets: markets, tokens: tokens, byCondition: make(map[data.Hash]int32, len(markets))}
	for id, m := range markets {
		if m != nil {
			c.byCondition[m.Condition] = int32(id)
		}
	}
	c.tokensOf = make([][]int32, len(markets))
	for id, t := range tokens {
		if t.Market >= 0 && int(t.Market) < len(markets) {
			c.tokensOf[t.Market] = append(c.tokensOf[t.Market], int32(id))
		}
	}
	return c
}

// Market gives the market of an id; nil where there is none.
func (c *Catalog) Market(id int32) *Market {
	if c == nil || id < 0 || int(id) >= len(c.markets) {
		return nil
	}
	return c.markets[id]
}

// Find gives the market of a condition id; nil where it was never seen.
func (c *Catalog) Find(condition data.Hash) *Market {
	if c == nil {
		return nil
	}
	id, ok := c.byCondition[condition]
	if !ok {
		return nil
	}
	return c.markets[id]
}

// Token says what a token id pays for; Market −1 where that is not known.
func (c *Catalog) Token(id int32) TokenRef {
	if c == nil || id < 0 || int(id) >= len(c.tokens) {
		return TokenRef{Market: -1}
	}
	return c.tokens[id]
}

// Tokens lists the tokens of a market, in no order; the list must not be changed.
func (c *Catalog) Tokens(market int32) []int32 {
	if c == nil || market < 0 || int(market) >= len(c.tokensOf) {
		return nil
	}
	return c.tokensOf[market]
}

// Len is one more than the largest market id.
func (c *Catalog) Len() int {
	if c == nil {
		return 0
	}
	return len(c.markets)
}
