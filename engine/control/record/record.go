// Package record holds what a server keeps in control.db and reads back, as package
// control stores it and packages of http use it, which know no database.
package record

import "time"

// Key is one API key as the server needs it.
type Key struct {
	Hash    [32]byte
	Tier    string
	Revoked bool
	Expires int64 // unix seconds from which it is no longer valid; 0: it stays so
	Rate    int64 // requests a minute; 0: those of its tier
}

// Use is what one key did at one endpoint since it was last saved.
type Use struct {
	Hash     [32]byte
	LastUsed time.Time // minute resolution; of the key
	From     string    // the address of a client that used the key about then; "" where it is not known
	Endpoint string    // method and path pattern, "" for what was no endpoint
	Requests int64
}

// Usage is how often a key was used at an endpoint on a day.
type Usage struct {
	Day      string // YYYY-MM-DD, UTC
	Endpoint string // as in Use
	Requests int64
}

// Account is what is kept of one key for its owner.
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

// StatusDay adds up the samples of one subsystem on a UTC day.
type StatusDay struct {
	Day       string   // YYYY-MM-DD
	Subsystem string   // serving_tables, trades, markets, or a source behind "source:"
	Minutes   [5]int64 // samples with the grades A, B, C, D and F
	LagMax    int64    // in seconds; -1: nothing there to lag
}

// StatusEvent is something that happened to the service.
type StatusEvent struct {
	At, Until time.Time // Until is zero for what goes on, and for what takes no time
	Kind      string    // grade, import, refresh, verify, start or stop
	Subsystem string    // as in StatusDay; "": all
	Grade     byte      // the worst of a grade; 0 for other kinds
	Text      string    // what happened, in words
}

// StatusChange is what changed of the history by days: rows as they are now.
type StatusChange struct {
	Days   []StatusDay
	Events []StatusEvent
}
