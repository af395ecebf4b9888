// Package record holds the types that package control stores in control.db and that the packages
// below http use, which know no database.
package record

import "time"

// Key is one API key as the server needs it.
type Key struct {
	Hash    [32]byte
	Tier    string
	Revoked bool
	Expires int64 // unix seconds when it expires; 0: never
	Rate    int64 // requests a minute; 0: those of its tier
}

// Use counts the requests of one key to one endpoint since it was last saved.
type Use struct {
	Hash     [32]byte
	LastUsed time.Time // of the key, to the minute
	From     string    // the address of a client that used the key around that time; "" if it is not known
	Endpoint string    // method and path pattern, "" for requests to no endpoint
	Requests int64
}

// Usage is how often a key was used at an endpoint on a day.
type Usage struct {
	Day      string // YYYY-MM-DD, UTC
	Endpoint string // as in Use
	Requests int64
}

// Account is what the owner of a key can see about it.
type Account struct {
	Label     string
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	Usage     []Usage   // in any order
}

// Status is how fresh the service was at one minute.
type Status struct {
	At     time.Time
	Grades [3]byte  // of serving tables, trades and markets
	Lags   [3]int64 // in seconds; -1: nothing there to lag
	// Sources are those that are followed, by name; nil: none is.
	Sources map[string]SourceStatus
}

// SourceStatus is how fresh a source was.
type SourceStatus struct {
	Grade byte
	Lag   int64 // in seconds; -1: nothing there to lag
}

// StatusDay sums up the samples of one subsystem on a UTC day.
type StatusDay struct {
	Day       string   // YYYY-MM-DD
	Subsystem string   // serving_tables, trades, markets, or a source after "source:"
	Minutes   [5]int64 // samples with the grades A, B, C, D and F
	LagMax    int64    // in seconds; -1: nothing there to lag
}

// StatusEvent is something that happened to the service.
type StatusEvent struct {
	At, Until time.Time // Until is zero for ongoing events, and for those without a duration
	Kind      string    // grade, import, refresh, verify, start or stop
	Subsystem string    // as in StatusDay; "": all
	Grade     byte      // the worst grade; 0 for other kinds
	Text      string    // what happened, in words
}

// StatusChange has the changed rows of the daily history as they are now.
type StatusChange struct {
	Days   []StatusDay
	Events []StatusEvent
}
