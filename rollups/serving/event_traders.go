package serving

import (
	"cmp"
	"iter"
	"sync"

	"pmx/data"
)

// TokenPayout is a token of an event, and what it pays.
type TokenPayout struct {
	Token   data.TokenID
	Market  int32
	Outcome int8
	Payout  data.Micro // NoValue: not resolved
}

// EventTrader has a wallet's lifetime figures over the markets of an event.
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

// EventSum is what a wallet did with one token; sums to subtract are negative.
type EventSum struct {
	Fills                   int64
	Net, BuyShares          data.Micro // signed tokens, and those that were bought
	BuyUSD, SellUSD, FeeUSD data.Micro
}

// EventTally adds up what wallets did with the tokens of an event, or of one market. Values follow
// the definition of rollups/sql/merge.sql, Holdings.
type EventTally struct {
	tokens  map[data.TokenID]*tallyToken
	without map[data.WalletID]bool
	markets [][]*tallyToken // the tokens of each
	last    *tallyToken     // that was added to last: the next one is mostly the same
}

// tallyToken is a token with what wallets did with it.
type tallyToken struct {
	TokenPayout
	blocks [][]WalletSum // in blocks, so that growing copies nothing; all but the first are borrowed
}

const (
	firstSums = 64   // in a token's first block, as most tokens have few wallets
	blockSums = 1024 // in each further one
)

var freeBlocks = sync.Pool{New: func() any { return new([blockSums]WalletSum) }}

// NewEventTally returns an empty tally of tokens, which leaves out some wallets.
func NewEventTally(tokens []TokenPayout, without []data.WalletID) *EventTally {
	b := &EventTally{tokens: make(map[data.TokenID]*tallyToken, len(tokens)), without: make(map[data.WalletID]bool, len(without))}
	places := map[int32]int{}
	for _, t := range tokens {
		place, known := places[t.Market]
		if !known {
			place = len(b.markets)
			places[t.Market] = place
			b.markets = append(b.markets, nil)
		}
		token := &tallyToken{TokenPayout: t}
		b.tokens[t.Token] = token
		b.markets[place] = append(b.markets[place], token)
	}
	for _, wallet := range without {
		b.without[wallet] = true
	}
	return b
}

// Add adds what a wallet did with a token of the event. There may be several sums of one wallet and
// token.
func (b *EventTally) Add(token data.TokenID, wallet data.WalletID, s EventSum) {
	t := b.last
	if t == nil || t.Token != token {
		if t = b.tokens[token]; t == nil {
			return
		}
		b.last = t
	}
	if !b.without[wallet] {
		t.add(WalletSum{wallet, s})
	}
}

func (t *tallyToken) add(s WalletSum) {
	last := len(t.blocks) - 1
	switch {
	case last < 0:
		t.blocks, last = append(t.blocks, make([]WalletSum, 0, firstSums)), 0
	case len(t.blocks[last]) == cap(t.blocks[last]):
		t.blocks, last = append(t.blocks, freeBlocks.Get().(*[blockSums]WalletSum)[:0]), last+1
	}
	t.blocks[last] = append(t.blocks[last], s)
}

// giveBack returns what was borrowed to the pool.
func (b *EventTally) giveBack() {
	for _, tokens := range b.markets {
		for _, t := range tokens {
			for _, block := range t.blocks[min(1, len(t.blocks)):] {
				freeBlocks.Put((*[blockSums]WalletSum)(block[:blockSums]))
			}
		}
	}
	*b = EventTally{}
}

// EventSumOf is the EventSum of one fill.
func EventSumOf(f *Fill) EventSum {
	var s TokenSum
	s.Add(f)
	return EventSum{Fills: 1, Net: s.Net(), BuyShares: s.BuyShares, BuyUSD: s.BuyUSD, SellUSD: s.SellUSD, FeeUSD: s.FeeUSD}
}

// Merge adds another sum of the same wallet and token.
func (s *EventSum) Merge(o *EventSum) {
	s.Fills += o.Fills
	s.Net += o.Net
	s.BuyShares += o.BuyShares
	s.BuyUSD += o.BuyUSD
	s.SellUSD += o.SellUSD
	s.FeeUSD += o.FeeUSD
}

// WalletSum is what a wallet did with a token.
type WalletSum struct {
	Wallet data.WalletID
	EventSum
}

// SettleWallets merges the sums of one token to one for each wallet, in order.
func SettleWallets(sums []WalletSum) []WalletSum {
	return settle(sums, func(x, y *WalletSum) int { return cmp.Compare(x.Wallet, y.Wallet) }, func(into, other *WalletSum) { into.Merge(&other.EventSum) })
}

// First returns the first n wallets with a fill. The tally cannot be used any more.
func (b *EventTally) First(s *Snapshot, n int) EventTraders {
	all := NewTraderTally(nil) // the sums are without those wallets already
	b.AddTo(all)
	return all.First(s, n)
}

// AddTo adds all sums to a tally of traders, which must not have a market of this one yet. This tally cannot be used any
// more.
func (b *EventTally) AddTo(all *TraderTally) {
	defer b.giveBack()
	for _, tokens := range b.markets {
		all.NextMarket()
		for _, t := range tokens {
			for _, block := range t.blocks {
				all.Add(t.Payout, block)
			}
		}
	}
}

// sumsOf goes over what wallets did with each of some tokens.
func sumsOf(tokens []*tallyToken) iter.Seq2[*tallyToken, *WalletSum] {
	return func(yield func(*tallyToken, *WalletSum) bool) {
		for _, t := range tokens {
			for _, block := range t.blocks {
				for i := range block {
					if !yield(t, &block[i]) {
						return
					}
				}
			}
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

// MarketTexts are the texts that a Market leaves out. Empty strings are unknown.
type MarketTexts struct {
	Description, ResolutionSource, GroupItemTitle string
	PayoutSource                                  data.ResolutionSource // 0: none
}
