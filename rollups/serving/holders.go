package serving

import (
	"bytes"
	"cmp"
	"slices"

	"pmx/data"
)

// Holder is what a wallet has of one outcome of a market, as the market's fills have it.
type Holder struct {
	Wallet                     data.WalletID
	Outcome                    int8
	Net                        data.Micro // tokens bought less those sold and paid as fees; never 0
	BuyShares, BuyUSD, SellUSD data.Micro // of the outcome
	NetCash                    data.Micro // of the outcome
	RealPnL                    data.Micro // of the whole market, as that of a Holding
}

// Holders are the wallets whose tokens of some outcome do not come to zero, each once for each
// such outcome, in no order.
type Holders []Holder

// OutcomeHolders adds up who holds one outcome, and who is short of it.
type OutcomeHolders struct {
	Outcome                 int8
	Holders, Shorts         int
	LongShares, ShortShares data.Micro // both positive
}

// HolderList is a part of Holders in order, with the sums of all.
type HolderList struct {
	Outcomes []OutcomeHolders // of those that anybody holds or is short of, ascending
	Total    int              // rows, of which Rows has the first
	Rows     []Holder
}

// Holders gives who holds what of a market to which all tokens belong. The tally cannot be used any more.
func (b *EventTally) Holders() Holders {
	var sums []eventSum
	for _, blocks := range b.markets {
		sums = append(sums, slices.Concat(blocks...)...)
	}
	slices.SortFunc(sums, func(x, y eventSum) int {
		return cmp.Or(cmp.Compare(x.wallet, y.wallet), cmp.Compare(x.token.Outcome, y.token.Outcome))
	})
	var all Holders
	for from := 0; from < len(sums); {
		first, wallet := len(all), sums[from].wallet
		var cash data.Micro
		var value redemption
		for from < len(sums) && sums[from].wallet == wallet {
			token := sums[from].token
			h := Holder{Wallet: wallet, Outcome: token.Outcome}
			for ; from < len(sums) && sums[from].wallet == wallet && sums[from].token.Outcome == h.Outcome; from++ {
				h.add(&sums[from].EventSum)
			}
			cash += h.NetCash
			if token.Payout != NoValue {
				value.add(h.Net, token.Payout)
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

// List adds up all holders, and gives the first n of those who hold an outcome, or with short of
// those who are short of it; of every outcome where that is negative. The order is that of
// shares, most first, then address, then outcome.
func (all Holders) List(s *Snapshot, outcome int, short bool, n int) HolderList {
	var list HolderList
	var sums [128]OutcomeHolders
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
			list.Rows = append(list.Rows, *h)
		}
	}
	for _, sum := range sums {
		if sum.Holders+sum.Shorts > 0 {
			list.Outcomes = append(list.Outcomes, sum)
		}
	}
	slices.SortFunc(list.Rows, func(x, y Holder) int {
		if c := cmp.Compare(y.shares(), x.shares()); c != 0 {
			return c
		}
		a, b := s.WalletAt(x.Wallet), s.WalletAt(y.Wallet)
		return cmp.Or(bytes.Compare(a[:], b[:]), cmp.Compare(x.Outcome, y.Outcome))
	})
	list.Total = len(list.Rows)
	list.Rows = slices.Clone(list.Rows[:min(list.Total, n)]) // what is kept keeps nothing else
	return list
}

// shares is how many tokens are held or lacked.
func (h *Holder) shares() data.Micro { return max(h.Net, -h.Net) }

// Of gives the sums of one outcome.
func (l *HolderList) Of(outcome int8) OutcomeHolders {
	for _, sum := range l.Outcomes {
		if sum.Outcome == outcome {
			return sum
		}
	}
	return OutcomeHolders{Outcome: outcome}
}
