package serving

import (
	"encoding/binary"
	"math"

	"pmx/data"
)

// Market is what is known of one market, without long texts. Empty strings, nil and zero times are
// unknown. It is never changed once it is in a Catalog.
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
	QuotedTS                                                   int64           // when BestBid and BestAsk were quoted
	ResolvedBy                                                 data.TimeSource // what ResolvedTS comes from
}

// EventKey identifies the market's event: by its slug, else its id; "" if the market belongs to
// none.
func (m *Market) EventKey() string {
	if m.EventSlug != "" {
		return m.EventSlug
	}
	return m.EventID
}

// Resolved reports whether the payouts are known.
func (m *Market) Resolved() bool { return m.Payouts != nil }

// Status says whether a market is traded.
type Status string

// All statuses of a market.
const (
	Open     Status = "open"     // no payout, and no source said that trading ended
	Closed   Status = "closed"   // trading ended, payouts are not known
	Resolved Status = "resolved" // payouts are known
)

// Statuses are all statuses, in the order in which they are listed.
var Statuses = []Status{Open, Closed, Resolved}

// StatusOf is resolved if there are payouts, else closed if a source said so, else open.
func StatusOf(resolved bool, closed *bool) Status {
	switch {
	case resolved:
		return Resolved
	case closed != nil && *closed:
		return Closed
	}
	return Open
}

// Status says whether the market is traded.
func (m *Market) Status() Status { return StatusOf(m.Resolved(), m.Closed) }

// OpenBetween returns when the market opened and when it ended, in unix µs: math.MaxInt64 while it is open. This is not
// known if no source says when it was listed or, for one that has ended, when it ended. Its end date is only a plan.
func (m *Market) OpenBetween() (from, to int64, known bool) {
	if from = m.StartTS; from == 0 {
		from = m.CreatedTS
	}
	switch {
	case m.Status() == Open:
		to = math.MaxInt64
	case m.ClosedTS != 0 && m.ResolvedTS != 0 && m.ResolvedBy > data.TimeOfEnd:
		to = min(m.ClosedTS, m.ResolvedTS)
	case m.ClosedTS != 0:
		to = m.ClosedTS
	case m.ResolvedBy > data.TimeOfEnd:
		to = m.ResolvedTS
	}
	return from, to, from != 0 && to != 0
}

// TokenRef says which outcome of which market a token pays for.
type TokenRef struct {
	Market  int32 // −1: not mapped yet
	Outcome int8
	ID      string // its public name: a uint256 in decimal
	Label   string // what trades call the outcome; "" if none says
}

// marketSlot is a market's place in a Catalog.
type marketSlot struct {
	market *Market        // nil: no such market
	tokens []data.TokenID // by outcome, then id
}

// tokenSlot is a token's place in a Catalog: the market's id + 1, so that zero is an unmapped
// token, and the last price in millionths + 1, so that zero is none. The price is kept for markets
// of more than two outcomes.
type tokenSlot struct {
	id, label     string
	market, price int32
	outcome       int8
}

// Catalog is every market, token and event of a snapshot, by the small ids of
// the database and by their public names. Successive Catalogs share what did not
// change between them.
type Catalog struct {
	conditions *idTable
	markets    shared[marketSlot]
	figures    shared[Figures]
	firsts     shared[eventFirsts]
	venueSets  [][]data.WalletID // sets of the venue's own wallets, ascending; the first is empty
	tokens     shared[tokenSlot]
	slugs, ids eventNames
	len        int
	changed    []int32
}

// Market returns the market of an id; nil if there is none.
func (c *Catalog) Market(id int32) *Market {
	if c == nil {
		return nil
	}
	l := c.markets.at(int(id))
	if l == nil {
		return nil
	}
	return l.market
}

// Figures returns the figures of a market; nil if there is no market of that id. They must not be
// changed.
func (c *Catalog) Figures(id int32) *Figures {
	if c.Market(id) == nil {
		return nil
	}
	return c.figures.at(int(id))
}

// Find returns the market of a condition id; nil if it was never seen.
func (c *Catalog) Find(condition data.Hash) *Market {
	if c == nil || c.conditions == nil {
		return nil
	}
	id, known := c.conditions.find(conditionHash(&condition), func(id int) bool {
		m := c.Market(int32(id))
		return m != nil && m.Condition == condition
	})
	if !known {
		return nil
	}
	return c.Market(int32(id))
}

// Token says what a token id pays for; Market −1 if that is not known.
func (c *Catalog) Token(id data.TokenID) TokenRef {
	if c != nil {
		if t := c.tokens.at(int(id)); t != nil {
			return TokenRef{Market: t.market - 1, Outcome: t.outcome, ID: t.id, Label: t.label}
		}
	}
	return TokenRef{Market: -1}
}

// OutcomeLabel is the label of a token's outcome: as its market lists it, else as trades call it;
// "" if neither is known.
func (c *Catalog) OutcomeLabel(t TokenRef) string {
	if m := c.Market(t.Market); m != nil && t.Outcome >= 0 && int(t.Outcome) < len(m.Outcomes) && m.Outcomes[t.Outcome] != "" {
		return m.Outcomes[t.Outcome]
	}
	return t.Label
}

// LabelOf is the label of an outcome of a market: as the market lists it, else the largest label in
// trades of its tokens; "" if neither is known.
func (c *Catalog) LabelOf(m *Market, outcome int8) string {
	if outcome >= 0 && int(outcome) < len(m.Outcomes) && m.Outcomes[outcome] != "" {
		return m.Outcomes[outcome]
	}
	label := ""
	for _, id := range c.Tokens(m.ID) {
		if t := c.tokens.at(int(id)); t.outcome == outcome {
			label = max(label, t.label)
		}
	}
	return label
}

// OutcomePrice is the price of an outcome's token: its payout from the resolution on, before that
// the last trade of the outcome. In a market of two outcomes the complement of a trade of the other
// one counts, too. NoValue: not known.
func (c *Catalog) OutcomePrice(market int32, outcome int8) data.Micro {
	m, f := c.Market(market), c.Figures(market)
	switch {
	case m == nil || outcome < 0:
		return NoValue
	case m.Resolved():
		if int(outcome) < len(m.Payouts) {
			return m.Payouts[outcome]
		}
		return NoValue
	case outcome == 0:
		return f.Price
	case f.Binary && f.Price != NoValue:
		return data.One - f.Price
	}
	for _, id := range c.Tokens(market) {
		if t := c.tokens.at(int(id)); t.outcome == outcome && t.price > 0 {
			return data.Micro(t.price - 1)
		}
	}
	return NoValue
}

// Tokens lists the tokens of a market by outcome, then id; the list must not be
// changed.
func (c *Catalog) Tokens(market int32) []data.TokenID {
	if c == nil {
		return nil
	}
	l := c.markets.at(int(market))
	if l == nil {
		return nil
	}
	return l.tokens
}

// Len is the largest market id plus one.
func (c *Catalog) Len() int {
	if c == nil {
		return 0
	}
	return c.len
}

// Changed lists the ids of markets whose description, tokens or figures were written since the
// previous Catalog, in no order; the list must not be changed. In the first Catalog it has all of
// them.
func (c *Catalog) Changed() []int32 {
	if c == nil {
		return nil
	}
	return c.changed
}

// UnsharedBytes is about how many bytes of c are not shared with o, without texts.
func (c *Catalog) UnsharedBytes(o *Catalog) int64 {
	if c == nil || o == nil {
		return 0
	}
	return c.markets.unsharedBytes(&o.markets) + c.figures.unsharedBytes(&o.figures) + c.firsts.unsharedBytes(&o.firsts) + c.tokens.unsharedBytes(&o.tokens)
}

// conditionHash spreads a condition id, which is a hash already except for made-up ones.
func conditionHash(h *data.Hash) (x uint64) {
	for at := 0; at < len(h); at += 8 {
		x = (x ^ binary.LittleEndian.Uint64(h[at:])) * 0x9e3779b97f4a7c15
		x ^= x >> 32
	}
	return x
}
