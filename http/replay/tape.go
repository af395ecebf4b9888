package replay

import (
	"sync"

	"pmx/data"
	"pmx/data/sample"
)

// tape has the prices and volumes of every market up to now, and its matches.
type tape struct {
	venue *sample.Venue
	mu    sync.Mutex
	next  int // the first match that is not in quotes yet
	at    int64
	quote []sample.Quote

	index      sync.Once // fills the rest
	matches    [][]int32 // by market, in the order of time
	conditions map[data.Hash]int
	tokens     map[data.Hash]int
}

func newTape(v *sample.Venue) *tape {
	return &tape{venue: v, quote: make([]sample.Quote, len(v.Markets))}
}

// setBack is how many seconds the clock must go back before the tape is rewound: of concurrent
// requests, a later one may have read the clock before an earlier one.
const setBack = 600

// quotes returns the quotes of markets at a time in Unix seconds, or slightly later if that was
// already requested. Rewinding costs more than going forward.
func (t *tape) quotes(at int64) func(market int) sample.Quote {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wind(at)
	return func(market int) sample.Quote {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.quote[market]
	}
}

func (t *tape) wind(at int64) {
	switch {
	case at < t.at-setBack:
		t.next = 0
		clear(t.quote)
	case at < t.at:
		return
	}
	t.at = at
	for ; t.next < len(t.venue.Matches) && t.venue.Matches[t.next].At <= at; t.next++ {
		m := &t.venue.Matches[t.next]
		t.venue.Follow(&t.quote[m.Market], m)
	}
}

// find builds the indexes.
func (t *tape) find() {
	t.index.Do(func() {
		v := t.venue
		t.matches = make([][]int32, len(v.Markets))
		for i := range v.Matches {
			m := v.Matches[i].Market
			t.matches[m] = append(t.matches[m], int32(i))
		}
		t.conditions, t.tokens = make(map[data.Hash]int, len(v.Markets)), make(map[data.Hash]int, 2*len(v.Markets))
		for i := range v.Markets {
			t.conditions[v.Markets[i].Condition] = i
			for _, token := range v.Markets[i].Tokens {
				t.tokens[token] = i
			}
		}
	})
}

// market returns the market of a condition id of 31 or 32 bytes.
func (t *tape) market(condition string) (int, bool) {
	t.find()
	h, err := data.ParseCondition(condition)
	i, ok := t.conditions[h]
	return i, err == nil && ok
}

// ofToken returns the market of a token's decimal id, and the index of its outcome.
func (t *tape) ofToken(id string) (market, outcome int, ok bool) {
	t.find()
	h, ok := tokenHash(id)
	if !ok {
		return 0, 0, false
	}
	market, ok = t.tokens[h]
	if ok && t.venue.Markets[market].Tokens[1] == h {
		outcome = 1
	}
	return market, outcome, ok
}
