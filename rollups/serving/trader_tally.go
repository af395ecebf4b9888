package serving

import (
	"bytes"
	"math/bits"
	"slices"
	"sync"

	"pmx/data"
)

// TraderTally adds up what wallets did with the tokens of an event, one market after another, and ranks the wallets. Its
// memory is used again by the next one. Values follow the definition of rollups/sql/merge.sql, Holdings.
type TraderTally struct {
	places walletPlaces
	all    []tallied
	first  []rankedRow
	market int32 // counts them
}

// tallied is a trader with its sums in the market that it traded last.
type tallied struct {
	EventTrader
	market   int32
	resolved bool
	all      marketFlow
	value    redemption
}

// marketFlow is what a wallet did in a market.
type marketFlow struct {
	fills                   int64
	buyUSD, sellUSD, feeUSD data.Micro
}

var freeTallies = sync.Pool{New: func() any { return new(TraderTally) }}

// NewTraderTally returns an empty tally, which leaves out some wallets.
func NewTraderTally(without []data.WalletID) *TraderTally {
	t := freeTallies.Get().(*TraderTally)
	t.places.reset()
	t.all, t.market = t.all[:0], 0
	for _, wallet := range without {
		*t.places.of(wallet) = leftOut
	}
	return t
}

// NextMarket begins a market. A market that was added before must not be added again.
func (t *TraderTally) NextMarket() { t.market++ }

// Add adds what wallets did with a token of the market that pays payout, which may be NoValue. There may be several sums
// of one wallet and token, in any order.
func (t *TraderTally) Add(payout data.Micro, sums []WalletSum) {
	if len(t.all) == 0 {
		t.all = slices.Grow(t.all, len(sums))
	}
	for i := range sums {
		s := &sums[i]
		place := t.places.of(s.Wallet)
		switch *place {
		case leftOut:
			continue
		case 0:
			t.all = append(t.all, tallied{EventTrader: EventTrader{Wallet: s.Wallet}, market: t.market})
			*place = int32(len(t.all))
		}
		trader := &t.all[*place-1]
		if trader.market != t.market {
			trader.leave()
			trader.market = t.market
		}
		trader.add(&s.EventSum, payout)
	}
}

// First returns the first n wallets with a fill. The tally cannot be used any more.
func (t *TraderTally) First(s *Snapshot, n int) EventTraders {
	defer freeTallies.Put(t)
	var out EventTraders
	first := firstRows{n: n, kept: t.first[:0], tie: func(x, y int32) int { return compareAddresses(s, t.all[x].Wallet, t.all[y].Wallet) }}
	for i := range t.all {
		if t.all[i].leave(); t.all[i].Fills != 0 {
			out.Total++
			first.add(t.all[i].ranked(i))
		}
	}
	places := first.sorted()
	t.first = first.kept
	out.Rows = make([]EventTrader, len(places))
	for i := range places {
		out.Rows[i] = t.all[places[i].row].EventTrader
	}
	return out
}

// ranked is what the trader is ranked by.
func (t *EventTrader) ranked(row int) rankedRow {
	return rankedRow{t.RealPnL(), t.Volume(), int32(row)}
}

func compareAddresses(s *Snapshot, x, y data.WalletID) int {
	a, b := s.WalletAt(x), s.WalletAt(y)
	return bytes.Compare(a[:], b[:])
}

// add adds what the wallet did with a token of the market that pays payout, which may be NoValue.
func (t *tallied) add(s *EventSum, payout data.Micro) {
	t.all.fills += s.Fills
	t.all.buyUSD += s.BuyUSD
	t.all.sellUSD += s.SellUSD
	t.all.feeUSD += s.FeeUSD
	if payout != NoValue {
		t.resolved = true
		t.value.add(s.Net, payout)
	}
}

// leave values what the wallet did in the market, and clears it.
func (t *tallied) leave() {
	all, value, resolved := t.all, t.value, t.resolved
	t.all, t.value, t.resolved = marketFlow{}, redemption{}, false
	if all.fills == 0 {
		return // all of it was subtracted
	}
	cash, redeemed := all.sellUSD-all.buyUSD-all.feeUSD, value.total()
	t.NetCash += cash
	t.Redemption += redeemed
	t.BuyUSD += all.buyUSD
	t.SellUSD += all.sellUSD
	t.Fills += all.fills
	t.Markets++
	if resolved {
		t.ResolvedMarkets++
		if cash+redeemed > 0 {
			t.WinningMarkets++
		}
	}
}

// Sort keeps the first n rows, in order.
func (t *EventTraders) Sort(s *Snapshot, n int) {
	first := firstRows{n: n, tie: func(x, y int32) int { return compareAddresses(s, t.Rows[x].Wallet, t.Rows[y].Wallet) }}
	for i := range t.Rows {
		first.add(t.Rows[i].ranked(i))
	}
	places := first.sorted()
	rows := make([]EventTrader, len(places))
	for i := range places {
		rows[i] = t.Rows[places[i].row]
	}
	t.Rows = rows
}

// walletPlaces finds a number by wallet, which is 0 until it is set: a hash table that is used again and again.
type walletPlaces struct {
	slots []walletPlace // a power of two of them, at most half taken
	taken []uint32      // which ones are
	shift int
}

type walletPlace struct {
	wallet data.WalletID
	place  int32 // 0: the slot is free
}

// leftOut is the place of a wallet that is not in a list.
const leftOut = -1

const (
	fewestSlots = 1 << 8
	groupSlots  = 8 // neighbouring wallets are in one line of the processor's cache
)

// reset forgets all wallets.
func (p *walletPlaces) reset() {
	switch {
	case len(p.slots) == 0:
		p.resize(fewestSlots)
	case len(p.taken) < len(p.slots)/groupSlots: // few after a list of many
		for _, i := range p.taken {
			p.slots[i] = walletPlace{}
		}
	default:
		clear(p.slots)
	}
	p.taken = p.taken[:0]
}

func (p *walletPlaces) resize(n int) {
	p.slots, p.taken, p.shift = make([]walletPlace, n), p.taken[:0], 64-bits.TrailingZeros(uint(n/groupSlots))
}

// slot is where wallet is, or belongs.
func (p *walletPlaces) slot(wallet data.WalletID) uint32 {
	group := uint64(uint32(wallet)/groupSlots) * 0x9e3779b97f4a7c15 >> p.shift
	mask := uint32(len(p.slots) - 1)
	for i := (uint32(group)*groupSlots + uint32(wallet)%groupSlots) & mask; ; i = (i + 1) & mask {
		if s := &p.slots[i]; s.place == 0 || s.wallet == wallet {
			return i
		}
	}
}

// of returns the place of wallet, to be read, and to be set if it is 0; until the next call.
func (p *walletPlaces) of(wallet data.WalletID) *int32 {
	at := p.slot(wallet)
	if p.slots[at].place != 0 {
		return &p.slots[at].place
	}
	if 2*len(p.taken) >= len(p.slots) {
		p.grow()
		at = p.slot(wallet)
	}
	p.taken = append(p.taken, at)
	p.slots[at].wallet = wallet
	return &p.slots[at].place
}

// grow doubles the number of slots.
func (p *walletPlaces) grow() {
	old := p.slots
	p.resize(2 * len(old))
	for _, s := range old {
		if s.place != 0 {
			at := p.slot(s.wallet)
			p.slots[at] = s
			p.taken = append(p.taken, at)
		}
	}
}
