package serving

import (
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
	Total    int              // number of rows that were asked for; Rows has the first ones
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

// HolderQuery says which holders are listed: the first N of those who hold an outcome, or with Short, of those who are
// short of it; a negative outcome means every outcome. They are ordered by shares, most first, then address, then
// outcome.
type HolderQuery struct {
	Outcome int
	Short   bool
	N       int
}

// List sums up all holders, and returns those that q asks for.
func (all Holders) List(s *Snapshot, q HolderQuery) HolderList {
	b := newHolderLister(s, q)
	for i := range all {
		b.add(&all[i])
	}
	return b.list()
}

// holderLister makes a HolderList of holders that are added in any order, and keeps few of them.
type holderLister struct {
	HolderQuery
	sums  [128]OutcomeHolders
	rows  []Holder // those that were among the first when they were added
	first firstRows
	total int
}

func newHolderLister(s *Snapshot, q HolderQuery) *holderLister {
	b := &holderLister{HolderQuery: q}
	b.first = firstRows{n: q.N, tie: func(x, y int32) int {
		h, o := &b.rows[x], &b.rows[y]
		return cmp.Or(compareAddresses(s, h.Wallet, o.Wallet), cmp.Compare(h.Outcome, o.Outcome))
	}}
	return b
}

// add adds a holder. It returns the copy that is kept, until the next call; nil: there are enough before it.
func (b *holderLister) add(h *Holder) *Holder {
	sum := &b.sums[uint8(h.Outcome)&127]
	sum.Outcome = h.Outcome
	if h.Net > 0 {
		sum.Holders++
		sum.LongShares += h.Net
	} else {
		sum.Shorts++
		sum.ShortShares -= h.Net
	}
	if (h.Net < 0) != b.Short || b.Outcome >= 0 && int(h.Outcome) != b.Outcome {
		return nil
	}
	b.total++
	shares := max(h.Net, -h.Net)
	if b.first.below(shares) {
		return nil
	}
	b.rows = append(b.rows, *h)
	b.first.add(rankedRow{first: shares, row: int32(len(b.rows) - 1)})
	return &b.rows[len(b.rows)-1]
}

func (b *holderLister) list() HolderList {
	list := HolderList{Total: b.total}
	for _, sum := range b.sums {
		if sum.Holders+sum.Shorts > 0 {
			list.Outcomes = append(list.Outcomes, sum)
		}
	}
	first := b.first.sorted()
	list.Rows = make([]Holder, len(first)) // a copy, which does not keep other rows in memory
	for i := range first {
		list.Rows[i] = b.rows[first[i].row]
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
