package serving

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
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

// Sort keeps the first n rows, in order.
func (t *EventTraders) Sort(s *Snapshot, n int) {
	t.Rows = firstOf(t.Rows, n, func(x, y EventTrader) int {
		if c := cmp.Or(cmp.Compare(y.RealPnL(), x.RealPnL()), cmp.Compare(y.Volume(), x.Volume())); c != 0 {
			return c
		}
		a, b := s.WalletAt(x.Wallet), s.WalletAt(y.Wallet)
		return bytes.Compare(a[:], b[:])
	})
}

// firstOf returns copies of the first n of rows, in order, which do not keep the others in memory.
// Sorting all rows for a few takes several times as long.
func firstOf[T any](rows []T, n int, compare func(x, y T) int) []T {
	var kept []T
	var last T // the last of n that were found; only rows before it matter
	for i := range rows {
		if i >= 2*n && compare(rows[i], last) >= 0 {
			continue
		}
		if kept = append(kept, rows[i]); len(kept) == 2*n {
			slices.SortFunc(kept, compare)
			kept, last = kept[:n], kept[n-1]
		}
	}
	slices.SortFunc(kept, compare)
	return slices.Clone(kept[:min(n, len(kept))])
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
	return settle(sums, func(x, y WalletSum) int { return cmp.Compare(x.Wallet, y.Wallet) }, func(into, other *WalletSum) { into.Merge(&other.EventSum) })
}

// tallied is a trader with its sums in the current market.
type tallied struct {
	EventTrader
	market   int // its place
	all      EventSum
	value    redemption
	resolved bool
}

// walletPlaces has, for every wallet of a list, its place in the list plus one. If the list may have a fair share of
// all wallets they are in an array by wallet, which takes a fraction of the time of a map, else in a map.
type walletPlaces struct {
	array []int32 // 0 for wallets that are not in the list
	few   map[data.WalletID]int32
}

// fairShare is such that an array of all wallets is worth its memory for lists of at least 1/fairShare of them.
const fairShare = 32

var freePlaces = sync.Pool{New: func() any { return new(walletPlaces) }}

// borrowPlaces returns places for a list of at most n wallets, none of which is greater than last.
func borrowPlaces(n int, last data.WalletID) *walletPlaces {
	if n*fairShare < int(last) {
		return &walletPlaces{few: make(map[data.WalletID]int32, min(n, 1024))}
	}
	p := freePlaces.Get().(*walletPlaces)
	if missing := int(last) + 1 - len(p.array); missing > 0 {
		p.array = append(p.array, make([]int32, missing)...)
	}
	return p
}

func (p *walletPlaces) of(wallet data.WalletID) int32 {
	if p.few != nil {
		return p.few[wallet]
	}
	return p.array[wallet]
}

func (p *walletPlaces) set(wallet data.WalletID, place int32) {
	if p.few != nil {
		p.few[wallet] = place
	} else {
		p.array[wallet] = place
	}
}

// giveBack clears the wallets of a list and returns the array to the pool.
func (p *walletPlaces) giveBack(list []tallied) {
	if p.few != nil {
		return
	}
	for i := range list {
		p.array[list[i].Wallet] = 0
	}
	freePlaces.Put(p)
}

// Traders returns the wallets with a fill, in no order. It sums up one market after another, so
// that each sum takes one look-up and nothing has to be sorted. The tally cannot be used any more.
func (b *EventTally) Traders() EventTraders {
	defer b.giveBack()
	most, total, last := 0, 0, data.WalletID(0)
	for _, tokens := range b.markets {
		n := 0
		for _, s := range sumsOf(tokens) {
			n++
			last = max(last, s.Wallet)
		}
		most, total = max(most, n), total+n
	}
	places, all := borrowPlaces(total, last), make([]tallied, 0, most)
	defer func() { places.giveBack(all) }()
	for market, tokens := range b.markets {
		for token, s := range sumsOf(tokens) {
			place := places.of(s.Wallet)
			if place == 0 {
				all = append(all, tallied{EventTrader: EventTrader{Wallet: s.Wallet}, market: market})
				place = int32(len(all))
				places.set(s.Wallet, place)
			}
			t := &all[place-1]
			if t.market != market {
				t.leave()
				t.market = market
			}
			t.add(&s.EventSum, token.Payout)
		}
	}
	rows := make([]EventTrader, 0, len(all))
	for i := range all {
		if all[i].leave(); all[i].Fills != 0 {
			rows = append(rows, all[i].EventTrader)
		}
	}
	return EventTraders{Total: len(rows), Rows: rows}
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

// add adds what the wallet did with a token of the market that pays payout, which may be NoValue.
func (t *tallied) add(s *EventSum, payout data.Micro) {
	t.all.Fills += s.Fills
	t.all.BuyUSD += s.BuyUSD
	t.all.SellUSD += s.SellUSD
	t.all.FeeUSD += s.FeeUSD
	if payout != NoValue {
		t.resolved = true
		t.value.add(s.Net, payout)
	}
}

// leave values what the wallet did in the market, and clears it.
func (t *tallied) leave() {
	all, value, resolved := t.all, t.value, t.resolved
	t.all, t.value, t.resolved = EventSum{}, redemption{}, false
	if all.Fills == 0 {
		return // all of it was subtracted
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

// MarketTexts are the texts that a Market leaves out. Empty strings are unknown.
type MarketTexts struct {
	Description, ResolutionSource, GroupItemTitle string
	PayoutSource                                  data.ResolutionSource // 0: none
}
