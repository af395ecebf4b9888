package serving

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	"pmx/data"
)

// Holder is what a wallet holds of one outcome of a market, by the market's fills.
type Holder struct {
	Wallet                     data.WalletID
	Outcome                    int8
	Net                        data.Micro // tokens bought minus those sold and paid as fees; never 0
	BuyShares, BuyUSD, SellUSD data.Micro // of the outcome
	NetCash                    data.Micro // of the outcome
	RealPnL                    data.Micro // of the whole market, as that of a Holding
}

// Holders are the wallets with a nonzero balance of an outcome, once for each such outcome, in no
// order.
type Holders []Holder

// OutcomeHolders adds up who holds one outcome, and who is short of it.
type OutcomeHolders struct {
	Outcome                 int8
	Holders, Shorts         int
	LongShares, ShortShares data.Micro // both positive
}

// HolderList is a part of Holders in order, with the sums of all.
type HolderList struct {
	Outcomes []OutcomeHolders // outcomes that anybody holds or is short of, ascending
	Total    int              // number of rows; Rows has the first ones
	Rows     []Holder
}

// marketSum is what a wallet did with a token of a market.
type marketSum struct {
	key uint64 // wallet, then outcome
	sum *WalletSum
}

// marketSums is a reusable buffer.
type marketSums struct{ list []marketSum }

var freeMarketSums = sync.Pool{New: func() any { return new(marketSums) }}

// Holders returns who holds what of a market. All tokens of the tally must belong to it. The tally
// cannot be used any more.
func (b *EventTally) Holders() Holders {
	defer b.giveBack()
	buffer := freeMarketSums.Get().(*marketSums)
	defer func() {
		clear(buffer.list) // it points to blocks that others will use
		freeMarketSums.Put(buffer)
	}()
	sums := buffer.list[:0]
	var payouts [1 << 8]data.Micro // by outcome
	for _, tokens := range b.markets {
		for t, s := range sumsOf(tokens) {
			payouts[uint8(t.Outcome)] = t.Payout
			sums = append(sums, marketSum{uint64(s.Wallet)<<8 | uint64(uint8(t.Outcome)), s})
		}
	}
	buffer.list = sums
	slices.SortFunc(sums, func(x, y marketSum) int { return cmp.Compare(x.key, y.key) })
	all := make(Holders, 0, len(sums))
	for from := 0; from < len(sums); {
		first, wallet := len(all), sums[from].sum.Wallet
		var cash data.Micro
		var value redemption
		for from < len(sums) && sums[from].sum.Wallet == wallet {
			key := sums[from].key
			h := Holder{Wallet: wallet, Outcome: int8(key)}
			for ; from < len(sums) && sums[from].key == key; from++ {
				h.add(&sums[from].sum.EventSum)
			}
			cash += h.NetCash
			if payout := payouts[uint8(key)]; payout != NoValue {
				value.add(h.Net, payout)
			}
			if h.Net != 0 {
				all = append(all, h)
			}
		}
		for i := range all[first:] {
			all[first+i].RealPnL = cash + value.total()
		}
	}
	return all
}

func (h *Holder) add(s *EventSum) {
	h.Net += s.Net
	h.BuyShares += s.BuyShares
	h.BuyUSD += s.BuyUSD
	h.SellUSD += s.SellUSD
	h.NetCash += s.SellUSD - s.BuyUSD - s.FeeUSD
}

// List sums up all holders, and returns the first n of those who hold an outcome, or with short,
// those who are short of it; a negative outcome means every outcome. They are ordered by shares,
// most first, then address, then outcome.
func (all Holders) List(s *Snapshot, outcome int, short bool, n int) HolderList {
	var list HolderList
	var sums [128]OutcomeHolders
	type place struct {
		shares data.Micro
		at     int
	}
	order := make([]place, 0, len(all))
	for i := range all {
		h := &all[i]
		sum := &sums[uint8(h.Outcome)&127]
		sum.Outcome = h.Outcome
		if h.Net > 0 {
			sum.Holders++
			sum.LongShares += h.Net
		} else {
			sum.Shorts++
			sum.ShortShares -= h.Net
		}
		if (h.Net < 0) == short && (outcome < 0 || int(h.Outcome) == outcome) {
			order = append(order, place{max(h.Net, -h.Net), i})
		}
	}
	for _, sum := range sums {
		if sum.Holders+sum.Shorts > 0 {
			list.Outcomes = append(list.Outcomes, sum)
		}
	}
	slices.SortFunc(order, func(x, y place) int {
		if c := cmp.Compare(y.shares, x.shares); c != 0 {
			return c
		}
		a, b := s.WalletAt(all[x.at].Wallet), s.WalletAt(all[y.at].Wallet)
		return cmp.Or(bytes.Compare(a[:], b[:]), cmp.Compare(all[x.at].Outcome, all[y.at].Outcome))
	})
	list.Total = len(order)
	list.Rows = make([]Holder, min(list.Total, n)) // a copy, which does not keep the other rows in memory
	for i := range list.Rows {
		list.Rows[i] = all[order[i].at]
	}
	return list
}

// Of returns the sums of one outcome.
func (l *HolderList) Of(outcome int8) OutcomeHolders {
	for _, sum := range l.Outcomes {
		if sum.Outcome == outcome {
			return sum
		}
	}
	return OutcomeHolders{Outcome: outcome}
}
