package serving

import (
	"cmp"
	"slices"
	"strings"

	"pmx/data"
)

// CatalogBuilder makes successive Catalogs at a cost proportional to what is new. It belongs to one
// goroutine.
type CatalogBuilder struct {
	conditions *idTable
	markets    paged[marketSlot]
	figures    paged[Figures]
	firsts     paged[eventFirsts]
	venueSets  walletSets
	tokens     paged[tokenSlot]
	slugs, ids eventIndex
	len        int
	known      int               // markets
	states     map[Status]int    // how many markets are in each state
	labels     map[string]string // every label, once
	changed    []int32
	noted      []bool // by market: it is in changed
}

// NewCatalogBuilder returns a builder of no markets.
func NewCatalogBuilder() *CatalogBuilder {
	return &CatalogBuilder{conditions: newIDTable(1024), slugs: newEventIndex(), ids: newEventIndex(),
		states: map[Status]int{}, labels: map[string]string{}}
}

// Restored completes a builder that was read from an image.
func (b *CatalogBuilder) Restored() {
	b.slugs.restored()
	b.ids.restored()
}

// NewCatalog makes a Catalog of markets and tokens by their ids; the figures are
// those of markets without a trade.
func NewCatalog(markets []*Market, tokens []TokenRef) *Catalog {
	b := NewCatalogBuilder()
	for _, m := range markets {
		if m != nil {
			b.Set(m)
		}
	}
	for id, ref := range tokens {
		b.Map(data.TokenID(id), ref)
	}
	return b.Seal()
}

// Set replaces the market with m's id by m. It shares m's event strings with those of other
// markets.
func (b *CatalogBuilder) Set(m *Market) {
	l := b.markets.edit(int(m.ID))
	old := l.market
	if old == nil {
		b.known++
		b.len = max(b.len, int(m.ID)+1)
		*b.figures.edit(int(m.ID)) = NewFigures(TakerUSD)
	} else {
		b.states[old.Status()]--
	}
	b.states[m.Status()]++
	b.file(old, m)
	l.market = m
	if old == nil {
		b.index(m)
	}
	b.note(m.ID)
}

// index makes m findable by its condition.
func (b *CatalogBuilder) index(m *Market) {
	if !b.conditions.full(b.known) {
		b.conditions.insert(conditionHash(&m.Condition), int(m.ID))
		return
	}
	bigger := newIDTable(uint64(len(b.conditions.slots)) * 2)
	for id := range b.len {
		if l := b.markets.at(id); l != nil && l.market != nil {
			bigger.insert(conditionHash(&l.market.Condition), id)
		}
	}
	b.conditions = bigger
}

// shared is one copy of a label for all tokens: most are "Yes" or "No".
func (b *CatalogBuilder) shared(label string) string {
	if label == "" {
		return ""
	}
	one, known := b.labels[label]
	if !known {
		one = strings.Clone(label)
		b.labels[one] = one
	}
	return one
}

// Label is what trades call the outcome of a token; "" if none said.
func (b *CatalogBuilder) Label(token data.TokenID) string {
	if t := b.tokens.at(int(token)); t != nil {
		return t.label
	}
	return ""
}

// Map sets what a token pays for, replacing an earlier mapping.
func (b *CatalogBuilder) Map(token data.TokenID, ref TokenRef) {
	t := b.tokens.edit(int(token))
	if before := t.market - 1; before >= 0 {
		l := b.markets.edit(int(before))
		l.tokens = slices.DeleteFunc(slices.Clone(l.tokens), func(other data.TokenID) bool { return other == token })
		b.note(before)
	}
	price := int32(0)
	if t.market == ref.Market+1 {
		price = t.price
	}
	*t = tokenSlot{market: ref.Market + 1, price: price, outcome: ref.Outcome, id: ref.ID, label: b.shared(ref.Label)}
	if ref.Market < 0 {
		return
	}
	l := b.markets.edit(int(ref.Market))
	at, _ := slices.BinarySearchFunc(l.tokens, token, b.compareTokens)
	l.tokens = slices.Insert(slices.Clip(l.tokens), at, token)
	b.note(ref.Market)
}

// compareTokens is the order of a market's tokens: by outcome, then token id.
func (b *CatalogBuilder) compareTokens(x, y data.TokenID) int {
	p, q := b.tokens.at(int(x)), b.tokens.at(int(y))
	return cmp.Or(cmp.Compare(p.outcome, q.outcome), strings.Compare(p.id, q.id), cmp.Compare(x, y))
}

// SetFigures sets the figures of market id.
func (b *CatalogBuilder) SetFigures(id int32, f Figures) {
	*b.figures.edit(int(id)) = f
	b.note(id)
}

// SetFirsts sets for how many wallets, including the venue's own, market id is the first of its
// event, by id, that they traded, and which of the venue's own traded it, ascending.
func (b *CatalogBuilder) SetFirsts(id, wallets int32, own []data.WalletID) {
	*b.firsts.edit(int(id)) = eventFirsts{wallets, b.venueSets.place(own)}
	b.note(id)
}

// SetPrice sets the last traded price of a token, in millionths.
func (b *CatalogBuilder) SetPrice(token data.TokenID, price int32) {
	b.tokens.edit(int(token)).price = price + 1
}

// note remembers that market id was written to.
func (b *CatalogBuilder) note(id int32) {
	for int(id) >= len(b.noted) {
		b.noted = append(b.noted, false)
	}
	if !b.noted[id] {
		b.noted[id] = true
		b.changed = append(b.changed, id)
	}
}

// Changed lists the markets that were written to since the last Seal.
func (b *CatalogBuilder) Changed() []int32 { return b.changed }

// Touch marks market id as changed.
func (b *CatalogBuilder) Touch(id int32) { b.note(id) }

// Market returns the market of an id; nil if there is none.
func (b *CatalogBuilder) Market(id int32) *Market {
	if l := b.markets.at(int(id)); l != nil {
		return l.market
	}
	return nil
}

// Tokens lists the tokens of a market by outcome, then id; the list must not be
// changed.
func (b *CatalogBuilder) Tokens(market int32) []data.TokenID {
	if l := b.markets.at(int(market)); l != nil {
		return l.tokens
	}
	return nil
}

// Count fills in how many markets there are in which state, and how many events
// they belong to.
func (b *CatalogBuilder) Count(c *Counts) {
	c.Markets, c.ResolvedMarkets = int64(b.known), int64(b.states[Resolved])
	c.OpenMarkets, c.ClosedMarkets = int64(b.states[Open]), int64(b.states[Closed])
	c.Events = int64(b.slugs.inUse + b.ids.inUse)
}

// Seal returns the Catalog as it is now and starts the next one.
func (b *CatalogBuilder) Seal() *Catalog {
	c := &Catalog{conditions: b.conditions, markets: b.markets.seal(), figures: b.figures.seal(), firsts: b.firsts.seal(),
		venueSets: b.venueSets.sets, tokens: b.tokens.seal(), slugs: b.slugs.seal(), ids: b.ids.seal(), len: b.len, changed: b.changed}
	for _, id := range b.changed {
		b.noted[id] = false
	}
	b.changed = nil
	return c
}
