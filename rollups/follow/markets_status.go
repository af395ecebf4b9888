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
	Swept  time.Time `json:"swept_at,omitzero"` // when the last complete sweep began; zero: none
	Few    bool      `json:"few,omitempty"`     // it had less than a fifth of the usual number of open markets
	Silent bool      `json:"silent,omitempty"`  // three intervals have passed without a complete sweep

	Read      int64 `json:"read"`                 // records of markets received
	Unchanged int64 `json:"unchanged"`            // unchanged ones, which were not written
	Written   int64 `json:"written"`              // passed to the importer
	New       int64 `json:"new"`                  // new to the importer
	Changed   int64 `json:"changed"`              // changed by the importer
	Rejected  int64 `json:"rejected"`             // that cannot be parsed
	Payouts   int64 `json:"payouts"`              // from the data API
	Unseen    int   `json:"payouts_not_of_chain"` // of the last month, missing in the chain's logs when last checked
	Wanted    int   `json:"wanted"`               // unknown tokens and markets when last checked
	Missing   int   `json:"missing"`              // of these, unknown to the venue as well
	Combos    int   `json:"combos"`               // tokens of combinations of markets, which are not requested

	Foreign int64 `json:"foreign_pages"` // pages with records that were not requested
	Loops   int64 `json:"loops"`         // lists that did not end
	Odd     int64 `json:"odd_answers"`   // responses that are not pages
	Empty   int64 `json:"empty_answers"` // empty although they were not before

	Unknown map[string]int64 `json:"unknown,omitempty"` // unexpected records, by kind
}

// MarketTask is the status of one of the lane's tasks.
type MarketTask struct {
	Name     string    `json:"name"`
	Phase    Phase     `json:"state"`
	Last     time.Time `json:"last,omitzero"`      // when it last began; zero: never
	LastGood time.Time `json:"last_good,omitzero"` // of the last success
	Next     time.Time `json:"next,omitzero"`
	Seconds  float64   `json:"seconds"` // of the last run
	Passes   int64     `json:"runs"`
	Failures int64     `json:"failures"`
	Error    string    `json:"error,omitempty"` // error of the last run
}

// Status returns the lane's status.
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

// silentSweeps is the number of missing sweeps from which on the lane counts as silent.
const silentSweeps = 3

// usualOpen records the number of open markets of a sweep, and reports whether it is less than a
// fifth of the usual number. A new number becomes usual after some days.
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

// patience is when something that was not found is requested again.
type patience struct {
	until int64 // unix seconds
	tries int
}

// mostAsked is the maximum number of missing things that are remembered. Beyond that, the lane
// forgets all of them and requests them again.
const mostAsked = 1_000_000

// longestPause is the longest of afterMissing and afterOpen.
const longestPause = 7 * 24 * time.Hour

// ready reports whether something that was not found may be requested again.
func (m *Markets) ready(key uint64, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return reached(m.asked[key].until, now, longestPause)
}

// absent records that something was requested and not found. It is requested again after the next
// of the pauses, the last of which repeats.
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

// there records that something was found after all.
func (m *Markets) there(key uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.asked, key)
}
