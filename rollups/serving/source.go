package serving

import "time"

// SourceState is what a followed source is doing.
type SourceState string

// The states of a source.
const (
	SourceIdle       SourceState = "idle"       // nothing is due
	SourceFetching   SourceState = "fetching"   // what is due is being fetched, checked or committed
	SourceWaiting    SourceState = "waiting"    // no valid answer: it is asked again after a pause
	SourceQuarantine SourceState = "quarantine" // something is held back because answers disagree
	SourceStalled    SourceState = "stalled"    // nothing came in for a long time, though something should have
	SourcePaused     SourceState = "paused"     // the operator switched it off
)

// SourceStates returns all of them.
func SourceStates() []SourceState {
	return []SourceState{SourceIdle, SourceFetching, SourceWaiting, SourceQuarantine, SourceStalled, SourcePaused}
}

// HostState is the state of a host that a source is fetched from.
type HostState string

// The states of a host.
const (
	HostUnasked   HostState = "unasked"   // no request was sent to it yet
	HostAnswers   HostState = "answers"   // the last request was answered
	HostFails     HostState = "fails"     // the last request was not answered, or not properly
	HostThrottled HostState = "throttled" // it said when to ask again
	HostBlocked   HostState = "blocked"   // something in front of it blocks pmx
)

// HostStates returns all of them.
func HostStates() []HostState {
	return []HostState{HostUnasked, HostAnswers, HostFails, HostThrottled, HostBlocked}
}

// SourceHost is the status of a host.
type SourceHost struct {
	Name     string        `json:"name"` // without its address
	State    HostState     `json:"state"`
	Answered time.Time     `json:"answered"` // when it answered last; zero: never
	Requests map[int]int64 `json:"requests"` // since the start, by HTTP status; 0: no complete answer
}

// Source is the status of a followed source. Zero times mean never.
type Source struct {
	Name    string           `json:"name"`
	State   SourceState      `json:"state"`
	AsOf    time.Time        `json:"as_of"`   // up to which everything from it is imported
	Changed time.Time        `json:"changed"` // wall clock of the last commit with something new
	Bounds  [4]time.Duration `json:"bounds"`  // the lags behind AsOf up to which the grade is A, B, C and D
	Problem string           `json:"problem"` // what is wrong now, in a sentence; "" for nothing

	CatchingUp bool          `json:"catching_up"`
	Progress   float64       `json:"progress"`  // of the catch-up, 0 … 1
	Remaining  time.Duration `json:"remaining"` // estimate for the catch-up; 0: not known, or none

	// Quiet says that much less comes in than usual at this hour.
	Quiet bool `json:"quiet"`

	// Counted since the start of the process.
	Rows      int64         `json:"rows"` // new rows
	Requests  int64         `json:"requests"`
	Retries   int64         `json:"retries"`
	Throttled time.Duration `json:"throttled"` // spent waiting because the source demanded it
	Unknown   int64         `json:"unknown"`   // things that were not understood: kinds of events, members, statuses

	Hosts []SourceHost `json:"hosts"` // hosts that it is fetched from

	// Shown says that its data are shown and are in no figure: its grade is not part of the overall
	// grade.
	Shown bool `json:"shown"`

	// Incomplete says that the source lacks some data by its nature: Problem says what.
	Incomplete bool `json:"incomplete"`

	// Differences are what a comparison with the source's own counts finds now, by what is
	// compared; nil if nothing is compared.
	Differences map[string]int64 `json:"differences"`

	Missing int64 `json:"missing"` // known to exist but not imported: blocks of a chain, else 0
}
