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

// SourceStates gives all of them.
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

// HostStates gives all of them.
func HostStates() []HostState {
	return []HostState{HostUnasked, HostAnswers, HostFails, HostThrottled, HostBlocked}
}

// SourceHost tells how it goes with a host.
type SourceHost struct {
	Name     string // without its address
	State    HostState
	Answered time.Time     // when it answered last; zero: never
	Requests map[int]int64 // since the start, by status; 0: not answered as a whole
}

// Source tells how a source that is followed stands. Zero times: never.
type Source struct {
	Name    string
	State   SourceState
	AsOf    time.Time        // up to which all that it gives is in
	Changed time.Time        // wall clock of the last commit that brought something new
	Bounds  [4]time.Duration // the lags behind AsOf up to which the grade is A, B, C and D
	Problem string           // what is wrong now, in a sentence; "" for nothing

	CatchingUp bool
	Progress   float64       // of the catch-up, 0 … 1
	Remaining  time.Duration // of it, about; 0: not known, or none

	// Quiet tells that much less comes in than is usual at this hour.
	Quiet bool

	// Since the start of the process.
	Rows      int64 // that are new
	Requests  int64
	Retries   int64
	Throttled time.Duration // spent waiting because the source asked for it
	Unknown   int64         // things that were not understood: kinds of events, members, statuses

	Hosts []SourceHost // that it is asked of

	// Shown tells that what it gives is shown and enters no figure: its grade is not part of the whole's.
	Shown bool

	// Incomplete tells that the source lacks some of what there is, by its nature: Problem says
	// what.
	Incomplete bool

	// Differences are what comparing with the source's own counts finds now, by what is
	// compared; nil where nothing is.
	Differences map[string]int64

	Missing int64 // of what is known to be there and is not in: blocks of a chain, else 0
}
