package serving

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"

	"pmx/data"
)

// blockWallets is how many wallets are added up at once: few enough for the processor's cache.
const blockWallets = 2048

// traderBlock has the sums of the wallets of a block.
type traderBlock struct {
	all   [blockWallets]tallied
	seen  [blockWallets / 64]uint64 // a bit for each that is not empty
	start data.WalletID
}

var freeTraderBlocks = sync.Pool{New: func() any { return new(traderBlock) }}

// RankTraders returns the first n wallets of an event by the sums of all tokens of its markets, those of one market next
// to each other; without some wallets, which ascend. It gives what a TraderTally gives. It adds up a block of wallets
// after another, so that beside tokens it takes little memory, except where few wallets traded many tokens.
func RankTraders(s *Snapshot, tokens []TokenSums, without []data.WalletID, n int) EventTraders {
	sums, last := 0, data.WalletID(0)
	for i := range tokens {
		if k := len(tokens[i].Sums); k > 0 {
			sums, last = sums+k, max(last, tokens[i].Sums[k-1].Wallet)
		}
	}
	if blocks := int(last)/blockWallets + 1; blocks*len(tokens) > sums {
		return tallyTraders(s, tokens, without, n)
	}
	b := freeTraderBlocks.Get().(*traderBlock)
	ranking := newTraderRanking(s, n)
	for b.take(tokens) {
		without = b.rank(ranking, without)
	}
	freeTraderBlocks.Put(b) // empty again, which it would not be after a panic
	return ranking.traders()
}

// tallyTraders is RankTraders by a TraderTally.
func tallyTraders(s *Snapshot, tokens []TokenSums, without []data.WalletID, n int) EventTraders {
	tally := NewTraderTally(without)
	for i := range tokens {
		if i == 0 || tokens[i].Market != tokens[i-1].Market {
			tally.NextMarket()
		}
		tally.Add(tokens[i].Payout, tokens[i].Sums)
	}
	return tally.First(s, n)
}

// take takes the sums of the next block from tokens; false if there are no more.
func (b *traderBlock) take(tokens []TokenSums) bool {
	first := data.WalletID(-1)
	for i := range tokens {
		if sums := tokens[i].Sums; len(sums) > 0 && (first < 0 || sums[0].Wallet < first) {
			first = sums[0].Wallet
		}
	}
	if first < 0 {
		return false
	}
	b.start = first - first%blockWallets
	market := int32(0)
	for i := range tokens {
		if i == 0 || tokens[i].Market != tokens[i-1].Market {
			market++
		}
		b.add(&tokens[i], market)
	}
	return true
}

// add takes the sums of a token, of the market of that number.
func (b *traderBlock) add(token *TokenSums, market int32) {
	sums, n := token.Sums, 0
	for ; n < len(sums) && sums[n].Wallet-b.start < blockWallets; n++ {
		at := uint(sums[n].Wallet-b.start) % blockWallets
		t := &b.all[at]
		if t.market != market {
			if t.market == 0 {
				t.Wallet = sums[n].Wallet
				b.seen[at/64] |= 1 << (at % 64)
			} else {
				t.leave()
			}
			t.market = market
		}
		t.add(&sums[n].EventSum, token.Payout)
	}
	token.Sums = sums[n:]
}

// rank ranks the wallets of the block, without some of those left, and clears it.
func (b *traderBlock) rank(ranking *traderRanking, without []data.WalletID) (left []data.WalletID) {
	for i, word := range b.seen {
		for ; word != 0; word &= word - 1 {
			t := &b.all[i*64+bits.TrailingZeros64(word)]
			for len(without) > 0 && without[0] < t.Wallet {
				without = without[1:]
			}
			if t.leave(); t.Fills != 0 && (len(without) == 0 || without[0] != t.Wallet) {
				ranking.add(&t.EventTrader)
			}
			*t = tallied{}
		}
		b.seen[i] = 0
	}
	return without
}

// traderRanking keeps the first n of the traders that are added, and counts all.
type traderRanking struct {
	total int
	rows  []EventTrader // those that were among the first when they were added
	first firstRows
}

func newTraderRanking(s *Snapshot, n int) *traderRanking {
	r := &traderRanking{}
	r.first = firstRows{n: n, tie: func(x, y int32) int { return compareAddresses(s, r.rows[x].Wallet, r.rows[y].Wallet) }}
	return r
}

func (r *traderRanking) add(t *EventTrader) {
	r.total++
	if r.first.below(t.RealPnL()) {
		return
	}
	r.rows = append(r.rows, *t)
	r.first.add(t.ranked(len(r.rows) - 1))
}

// traders returns the first ones in order.
func (r *traderRanking) traders() EventTraders {
	first := r.first.sorted()
	out := EventTraders{Total: r.total, Rows: make([]EventTrader, len(first))}
	for i := range first {
		out.Rows[i] = r.rows[first[i].row]
	}
	return out
}

// HalveTraders divides the sums of tokens, each in order of wallets, into those of wallets before one of them and those
// from it on, so that about as many are in both.
func HalveTraders(tokens []TokenSums) (before, from []TokenSums) {
	largest := 0
	for i := range tokens {
		if len(tokens[i].Sums) > len(tokens[largest].Sums) {
			largest = i
		}
	}
	if len(tokens) == 0 || len(tokens[largest].Sums) == 0 {
		return tokens, nil
	}
	sums := tokens[largest].Sums
	middle := sums[len(sums)/2].Wallet
	before, from = slices.Clone(tokens), slices.Clone(tokens)
	for i := range tokens {
		at, _ := slices.BinarySearchFunc(tokens[i].Sums, middle, func(s WalletSum, w data.WalletID) int { return cmp.Compare(s.Wallet, w) })
		before[i].Sums, from[i].Sums = tokens[i].Sums[:at], tokens[i].Sums[at:]
	}
	return before, from
}

// Join adds the first traders of other wallets, and keeps the first n of all.
func (t *EventTraders) Join(s *Snapshot, o EventTraders, n int) {
	t.Total += o.Total
	t.Rows = append(t.Rows, o.Rows...)
	t.Sort(s, n)
}
