package serving

import "time"

// SourceState is what a source that is followed is doing.
type SourceState string

// The states of a source.
const (
	SourceIdle       SourceState = "idle"       // nothing is due
	SourceFetching   SourceState = "fetching"   // what is due is being asked for, checked or committed
	SourceWaiting    SourceState = "waiting"    // nobody answers, or not as they should: it is asked again after a pause
	SourceQuarantine SourceState = "quarantine" // something is held back because answers disagree
	SourceStalled    SourceState = "stalled"    // nothing came in for long, though there should be something
	SourcePaused     SourceState = "paused"     // the operator switched it off
)

// SourceStates returns all of them.
func SourceStates() []SourceState {
	return []SourceState{SourceIdle, SourceFetching, SourceWaiting, SourceQuarantine, SourceStalled, SourcePaused}
}

// HostState is how it goes with a host that a source is asked of.
type HostState string

// The states of a host.
const (
	HostUnasked   HostState = "unasked"   // it was not asked for anything yet
	HostAnswers   HostState = "answers"   // the last request was answered
	HostFails     HostState = "fails"     // the last was not, or not as it should be
	HostThrottled HostState = "throttled" // it said when to ask again
	HostBlocked   HostState = "blocked"   // something in front of it turns pmx away
)

// HostStates returns all of them.
func HostStates() []HostState {
	return []HostState{HostUnasked, HostAnswers, HostFails, HostThrottled, HostBlocked}
}

// SourceHost tells how it goes with a host.
type SourceHost struct {
	Name     string        `json:"name"` // without its address
	State    HostState     `json:"state"`
	Answered time.Time     `json:"answered"` // when it answered last; zero: never
	Requests map[int]int64 `json:"requests"` // since the start, by status; 0: not answered as a whole
}

// Source tells how a source that is followed stands. Zero times: never.
type Source struct {
	Name    string           `json:"name"`
	State   SourceState      `json:"state"`
	AsOf    time.Time        `json:"as_of"`   // up to which all that it gives is in
	Changed time.Time        `json:"changed"` // wall clock of the last commit that brought something new
	Bounds  [4]time.Duration `json:"bounds"`  // the lags behind AsOf up to which the grade is A, B, C and D
	Problem string           `json:"problem"` // what is wrong now, in a sentence; "" for nothing

	CatchingUp bool          `json:"catching_up"`
	Progress   float64       `json:"progress"`  // of the catch-up, 0 … 1
	Remaining  time.Duration `json:"remaining"` // of it, about; 0: not known, or none

	// Quiet tells that much less comes in than is usual at this hour.
	Quiet bool `json:"quiet"`

	// Since the start of the process.
	Rows      int64         `json:"rows"` // that are new
	Requests  int64         `json:"requests"`
	Retries   int64         `json:"retries"`
	Throttled time.Duration `json:"throttled"` // spent waiting because the source asked for it
	Unknown   int64         `json:"unknown"`   // things that were not understood: kinds of events, members, statuses

	Hosts []SourceHost `json:"hosts"` // that it is asked of

	// Shown tells that what it gives is shown and enters no figure: its grade is not part of the whole's.
	Shown bool `json:"shown"`

	// Incomplete tells that the source lacks some of what there is, by its nature: Problem says
	// what.
	Incomplete bool `json:"incomplete"`

	// Differences are what comparing with the source's own counts finds now, by what is compared;
	// nil if nothing is.
	Differences map[string]int64 `json:"differences"`

	Missing int64 `json:"missing"` // of what is known to be there and is not in: blocks of a chain, else 0
}
