package follow

import (
	"maps"
	"slices"
	"time"
)

// MarketsStatus is the status of the markets lane.
type MarketsStatus struct {
	Tasks []MarketTask `json:"tasks"`

	Events int       `json:"open_events"` // of the last sweep
	Open   int       `json:"open_markets"`
	Swept  time.Time `json:"swept_at,omitzero"` // when the last whole sweep began; zero: there was none
	Few    bool      `json:"few,omitempty"`     // it had less than a fifth of the usual open markets
	Silent bool      `json:"silent,omitempty"`  // three times that a whole sweep is due have passed without one

	Read      int64 `json:"read"`                 // records of markets that came
	Unchanged int64 `json:"unchanged"`            // of which nothing had changed and nothing was written
	Written   int64 `json:"written"`              // that were handed to the importer
	New       int64 `json:"new"`                  // that it did not know
	Changed   int64 `json:"changed"`              // that it changed
	Rejected  int64 `json:"rejected"`             // that cannot be read
	Payouts   int64 `json:"payouts"`              // that the data API told
	Unseen    int   `json:"payouts_not_of_chain"` // of the last month, that the chain's logs did not tell, when they were last looked for
	Wanted    int   `json:"wanted"`               // unknown tokens and markets, when they were last looked for
	Missing   int   `json:"missing"`              // of them, that the venue does not know either
	Combos    int   `json:"combos"`               // tokens of several markets together, which are not asked for

	Foreign int64 `json:"foreign_pages"` // pages with what was not asked for
	Loops   int64 `json:"loops"`         // lists that did not end
	Odd     int64 `json:"odd_answers"`   // that are no pages
	Empty   int64 `json:"empty_answers"` // where there was something before

	Unknown map[string]int64 `json:"unknown,omitempty"` // odd records, by what is odd
}

// MarketTask is the status of one of the lane's tasks.
type MarketTask struct {
	Name     string    `json:"name"`
	Phase    Phase     `json:"state"`
	Last     time.Time `json:"last,omitzero"`      // when it was begun last; zero: never
	LastGood time.Time `json:"last_good,omitzero"` // the last one that did not fail
	Next     time.Time `json:"next,omitzero"`
	Seconds  float64   `json:"seconds"` // that the last one took
	Passes   int64     `json:"runs"`
	Failures int64     `json:"failures"`
	Error    string    `json:"error,omitempty"` // of the last one
}

// Status reports how the lane stands.
func (m *Markets) Status() MarketsStatus {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.state
	s.Tasks, s.Unknown = slices.Clone(s.Tasks), maps.Clone(s.Unknown)
	last := m.began
	if s.Swept.After(last) {
		last = s.Swept
	}
	s.Silent = m.o.Now().Sub(last) > silentSweeps*m.every("open")
	return s
}

// silentSweeps is how many sweeps may be missing until the lane is called silent.
const silentSweeps = 3

// usualOpen notes how many open markets a sweep had, and reports whether that is less than a fifth
// of what is usual. What stays so becomes usual after some days.
func (m *Markets) usualOpen(open int) (few bool) {
	few = float64(5*open) < m.usual
	m.usual = max(float64(open), m.usual*0.998)
	return few
}

func (m *Markets) tell(i int, f func(*MarketTask)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(&m.state.Tasks[i])
}

func (m *Markets) count(f func(*MarketsStatus)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(&m.state)
}

// patience is how long something that is not there is not asked for again.
type patience struct {
	until int64 // unix seconds
	tries int
}

// mostAsked is how many things that are not there are remembered. With more, the lane
// forgets all of them and asks again.
const mostAsked = 1_000_000

// longestPause is the longest of afterMissing and afterOpen.
const longestPause = 7 * 24 * time.Hour

// ready reports whether something that was asked for before, and was not there, may be asked for
// again.
func (m *Markets) ready(key uint64, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return reached(m.asked[key].until, now, longestPause)
}

// absent notes that something was asked for and is not there; it is asked for again after
// one of the pauses, the last of which comes again.
func (m *Markets) absent(key uint64, now time.Time, pauses []time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.asked) >= mostAsked {
		clear(m.asked)
	}
	p := m.asked[key]
	p.until = now.Add(pauses[min(p.tries, len(pauses)-1)]).Unix()
	p.tries++
	m.asked[key] = p
}

// there notes that something is there after all.
func (m *Markets) there(key uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.asked, key)
}
