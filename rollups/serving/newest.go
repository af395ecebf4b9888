package serving

import (
	"slices"
	"sync"
	"time"

	"pmx/data"
)

// NewestTrade is a trade that a source reported before it was final. It is shown but is not a fact: it
// may never be on the chain.
type NewestTrade struct {
	Wallet    data.Address
	Condition data.Hash
	Token     string // decimal
	Side      data.Side
	Shares    data.Micro
	Price     data.Micro // USD per token
	Tx        data.Hash  // zero: not known
	At        int64      // unix seconds of its block
	Received  time.Time  // when it came here first
	Source    NewestSource
}

// NewestSource is a source of newest trades.
type NewestSource string

// The sources of newest trades.
const (
	NewestOfChannel NewestSource = "channel" // the websocket of activity
	NewestOfList    NewestSource = "list"    // the data API's list of trades
)

// NewestState says where newest trades come from.
type NewestState string

// The states of newest trades.
const (
	NewestOff    NewestState = "off"    // nobody follows them
	NewestLive   NewestState = "live"   // the channel delivers
	NewestPolled NewestState = "polled" // the channel is silent, the list is polled
	NewestSilent NewestState = "silent" // neither delivers: what is shown may lack trades
)

// NewestCoverage says which sources deliver newest trades, and since when none does.
type NewestCoverage struct {
	State NewestState
	Since time.Time // for NewestSilent: when one last delivered, zero if none ever did
}

// Bounds of what is kept.
const (
	mostNewest = 20_000
	keepNewest = 600 // seconds before the newest one
)

// NewestTrades keeps newest trades in memory: those of the ten minutes before the newest one, and no
// more than 20,000. It is safe for concurrent use.
type NewestTrades struct {
	mu       sync.RWMutex
	rows     []NewestTrade // by time, then as they came
	seen     map[NewestTrade]struct{}
	final    int64 // unix seconds up to which the facts have all trades
	coverage NewestCoverage
}

// identity is what two sources report equally about a trade. Two equal fills of one transaction count
// as one here.
func (t NewestTrade) identity() NewestTrade {
	t.Received, t.Source = time.Time{}, ""
	return t
}

// Add adds a trade; false if it was there already, or is too old.
func (n *NewestTrades) Add(t NewestTrade) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, had := n.seen[t.identity()]; had || t.At <= n.oldest() {
		return false
	}
	if n.seen == nil {
		n.seen = map[NewestTrade]struct{}{}
	}
	n.seen[t.identity()] = struct{}{}
	at := len(n.rows)
	for at > 0 && n.rows[at-1].At > t.At { // late ones are late by seconds
		at--
	}
	n.rows = slices.Insert(n.rows, at, t)
	if len(n.rows) > mostNewest {
		n.drop(mostNewest / 10) // several at once, because the others are moved
	}
	return true
}

// oldest is the time up to which trades are dropped, in unix seconds.
func (n *NewestTrades) oldest() int64 {
	if len(n.rows) == 0 {
		return n.final
	}
	return max(n.final, n.rows[len(n.rows)-1].At-keepNewest)
}

// drop removes the first k trades.
func (n *NewestTrades) drop(k int) {
	for _, t := range n.rows[:k] {
		delete(n.seen, t.identity())
	}
	n.rows = slices.Delete(n.rows, 0, k)
}

// Final removes trades up to a time, in unix seconds, which the facts have, and those that are too old.
func (n *NewestTrades) Final(at int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.final = at
	oldest := n.oldest()
	k := 0
	for k < len(n.rows) && n.rows[k].At <= oldest {
		k++
	}
	n.drop(k)
}

// SetCoverage sets which sources deliver trades.
func (n *NewestTrades) SetCoverage(c NewestCoverage) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.coverage = c
}

// Newest adds to dst the newest trades that are later than final, in unix seconds, up to a number, and
// returns the coverage; only of one market if condition is not zero. A nil NewestTrades has none and is
// off.
func (n *NewestTrades) Newest(dst []NewestTrade, final int64, condition data.Hash, most int) ([]NewestTrade, NewestCoverage) {
	if n == nil {
		return dst, NewestCoverage{State: NewestOff}
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	for i := len(n.rows) - 1; i >= 0 && len(dst) < most && n.rows[i].At > final; i-- {
		if condition.IsZero() || n.rows[i].Condition == condition {
			dst = append(dst, n.rows[i])
		}
	}
	return dst, n.coverage
}

// Len is how many trades are kept.
func (n *NewestTrades) Len() int {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return len(n.rows)
}
