package serving

import (
	"cmp"
	"math"
	"slices"

	"pmx/data"
)

// TokenSums are what wallets did with a token, in order of wallet, one sum for each.
type TokenSums struct {
	TokenPayout
	Sums []WalletSum
}

// ListHolders lists holders of a market by the sums of all its tokens, without some wallets, which ascend. It gives what
// EventTally.Holders and Holders.List give, and takes a fraction of their time. It changes the order of tokens.
func ListHolders(s *Snapshot, tokens []TokenSums, without []data.WalletID, q HolderQuery) HolderList {
	// Sums of tokens that stand for the same outcome follow each other.
	slices.SortStableFunc(tokens, func(x, y TokenSums) int { return cmp.Compare(uint8(x.Outcome), uint8(y.Outcome)) })
	b := newHolderLister(s, q)
	var holders []Holder // of one wallet
	for {
		wallet := int64(math.MaxInt64)
		for i := range tokens {
			if sums := tokens[i].Sums; len(sums) > 0 {
				wallet = min(wallet, int64(sums[0].Wallet))
			}
		}
		if wallet == math.MaxInt64 {
			return b.list()
		}
		for len(without) > 0 && int64(without[0]) < wallet {
			without = without[1:]
		}
		holders = takeHolders(holders[:0], tokens, data.WalletID(wallet))
		if len(without) > 0 && int64(without[0]) == wallet {
			continue
		}
		b.addWallet(tokens, holders)
	}
}

// takeHolders takes the sums of a wallet from tokens, and adds one for each outcome to dst.
func takeHolders(dst []Holder, tokens []TokenSums, wallet data.WalletID) []Holder {
	for i := range tokens {
		t := &tokens[i]
		if len(t.Sums) == 0 || t.Sums[0].Wallet != wallet {
			continue
		}
		if n := len(dst); n == 0 || dst[n-1].Outcome != t.Outcome {
			dst = append(dst, Holder{Wallet: wallet, Outcome: t.Outcome})
		}
		dst[len(dst)-1].add(&t.Sums[0].EventSum)
		t.Sums = t.Sums[1:]
	}
	return dst
}

// addWallet adds what one wallet holds.
func (b *holderLister) addWallet(tokens []TokenSums, holders []Holder) {
	for i := range holders {
		if holders[i].Net == 0 {
			continue
		}
		if kept := b.add(&holders[i]); kept != nil {
			kept.RealPnL = realPnL(tokens, holders)
		}
	}
}

// realPnL is that of a wallet with these sums, in order of outcome.
func realPnL(tokens []TokenSums, holders []Holder) data.Micro {
	var cash data.Micro
	var value redemption
	at := 0
	for i := range holders {
		h := &holders[i]
		cash += h.NetCash
		for tokens[at].Outcome != h.Outcome {
			at++
		}
		if payout := tokens[at].Payout; payout != NoValue {
			value.add(h.Net, payout)
		}
	}
	return cash + value.total()
}
