package serving

import (
	"bytes"
	"cmp"
	"slices"

	"pmx/data"
)

// TokenPayout is a token of an event, and what it pays.
type TokenPayout struct {
	Token   data.TokenID
	Market  int32
	Outcome int8
	Payout  data.Micro // NoValue: not resolved
}

// EventTrader is what a wallet comes to over the markets of an event, lifetime.
type EventTrader struct {
	Wallet                                   data.WalletID
	NetCash, Redemption                      data.Micro
	BuyUSD, SellUSD                          data.Micro
	Fills                                    int64
	Markets, ResolvedMarkets, WinningMarkets int64
}

// RealPnL is net cash plus redemption.
func (t *EventTrader) RealPnL() data.Micro { return t.NetCash + t.Redemption }

// Volume is buys plus sells.
func (t *EventTrader) Volume() data.Micro { return t.BuyUSD + t.SellUSD }

// EventTraders are the first traders of an event, by real_pnl, ties by volume,
// then address.
type EventTraders struct {
	Total int // wallets that traded the event, without the venue's own
	Rows  []EventTrader
}

// Sort brings the rows into their order and leaves the first n.
func (t *EventTraders) Sort(s *Snapshot, n int) {
	slices.SortFunc(t.Rows, func(x, y EventTrader) int {
		if c := cmp.Or(cmp.Compare(y.RealPnL(), x.RealPnL()), cmp.Compare(y.Volume(), x.Volume())); c != 0 {
			return c
		}
		a, b := s.WalletAt(x.Wallet), s.WalletAt(y.Wallet)
		return bytes.Compare(a[:], b[:])
	})
	if len(t.Rows) > n {
		t.Rows = slices.Clone(t.Rows[:n]) // what is kept keeps nothing else
	}
}

// EventSum is what a wallet did with one token; what is taken off is negative.
type EventSum struct {
	Fills                   int64
	Net, BuyShares          data.Micro // signed tokens, and those that were bought
	BuyUSD, SellUSD, FeeUSD data.Micro
}

// EventTally adds up what wallets did with the tokens of an event, or of one market. Values follow
// the definition of rollups/sql/merge.sql, Holdings.
type EventTally struct {
	tokens  map[data.TokenID]*TokenPayout
	without map[data.WalletID]bool
	sums    []eventSum
}

// eventSum is an EventSum of a wallet in a market.
type eventSum struct {
	EventSum
	wallet data.WalletID
	token  *TokenPayout
}

// NewEventTally gives an empty tally of tokens; some wallets are left out of it.
func NewEventTally(tokens []TokenPayout, without []data.WalletID) *EventTally {
	b := &EventTally{tokens: make(map[data.TokenID]*TokenPayout, len(tokens)), without: make(map[data.WalletID]bool, len(without))}
	for i := range tokens {
		b.tokens[tokens[i].Token] = &tokens[i]
	}
	for _, wallet := range without {
		b.without[wallet] = true
	}
	return b
}

// Add takes in what a wallet did with a token of the event. There may be several
// sums of one wallet and token.
func (b *EventTally) Add(token data.TokenID, wallet data.WalletID, s EventSum) {
	if p := b.tokens[token]; p != nil && !b.without[wallet] {
		b.sums = append(b.sums, eventSum{s, wallet, p})
	}
}

// Traders gives the wallets with a fill, in no order.
func (b *EventTally) Traders() EventTraders {
	slices.SortFunc(b.sums, func(x, y eventSum) int {
		return cmp.Or(cmp.Compare(x.wallet, y.wallet), cmp.Compare(x.token.Market, y.token.Market))
	})
	var rows []EventTrader
	for from := 0; from < len(b.sums); {
		to := from + 1
		for to < len(b.sums) && b.sums[to].wallet == b.sums[from].wallet && b.sums[to].token.Market == b.sums[from].token.Market {
			to++
		}
		if n := len(rows); n == 0 || rows[n-1].Wallet != b.sums[from].wallet {
			rows = append(rows, EventTrader{Wallet: b.sums[from].wallet})
		}
		rows[len(rows)-1].add(b.sums[from:to])
		from = to
		if next := to == len(b.sums) || b.sums[to].wallet != rows[len(rows)-1].Wallet; next && rows[len(rows)-1].Fills == 0 {
			rows = rows[:len(rows)-1]
		}
	}
	return EventTraders{Total: len(rows), Rows: rows}
}

// add values what a wallet did in one market.
func (t *EventTrader) add(sums []eventSum) {
	var all EventSum
	var value redemption
	resolved := false
	for i := range sums {
		s := &sums[i]
		all.Fills += s.Fills
		all.BuyUSD += s.BuyUSD
		all.SellUSD += s.SellUSD
		all.FeeUSD += s.FeeUSD
		if s.token.Payout != NoValue {
			resolved = true
			value.add(s.Net, s.token.Payout)
		}
	}
	if all.Fills == 0 {
		return // all of it was taken off
	}
	cash, redeemed := all.SellUSD-all.BuyUSD-all.FeeUSD, value.total()
	t.NetCash += cash
	t.Redemption += redeemed
	t.BuyUSD += all.BuyUSD
	t.SellUSD += all.SellUSD
	t.Fills += all.Fills
	t.Markets++
	if resolved {
		t.ResolvedMarkets++
		if cash+redeemed > 0 {
			t.WinningMarkets++
		}
	}
}

// TokenPayouts lists the tokens of markets with their payouts.
func (c *Catalog) TokenPayouts(markets []int32) []TokenPayout {
	var out []TokenPayout
	for _, id := range markets {
		m := c.Market(id)
		for _, token := range c.Tokens(id) {
			p := TokenPayout{Token: token, Market: id, Outcome: c.Token(token).Outcome, Payout: NoValue}
			if p.Outcome >= 0 && int(p.Outcome) < len(m.Payouts) {
				p.Payout = m.Payouts[p.Outcome]
			}
			out = append(out, p)
		}
	}
	return out
}

// MarketTexts is what a Market leaves out. Empty strings are unknown.
type MarketTexts struct {
	Description, ResolutionSource, GroupItemTitle string
	PayoutSource                                  data.ResolutionSource // 0: none
}
