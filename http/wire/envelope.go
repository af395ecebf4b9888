// Package wire has the types of the v3 REST API as they are encoded: the envelope, the problem
// document and the responses. Responses that are put together per request are written by hand in
// the server, for speed; those that are encoded once per snapshot go through encoding/json. Clients
// decode into these types, and tests check that both encodings agree. It needs no C compiler.
package wire

import "time"

// Base is the path prefix of every v3 endpoint.
const Base = "/api/v3"

// KeyHeader is the request header that carries the API key.
const KeyHeader = "X-API-Key"

// Section is one of the 13 verticals of the API.
type Section string

// The sections, as listed in available_sections and locked_sections.
const (
	Status      Section = "status"
	Trader      Section = "trader"
	Leaderboard Section = "leaderboard"
	Market      Section = "market"
	Event       Section = "event"
	Stats       Section = "stats"
	Index       Section = "index"
	Oracle      Section = "oracle"
	Whales      Section = "whales"
	Screener    Section = "screener"
	Research    Section = "research"
	Export      Section = "export"
	Weather     Section = "weather"
)

// Sections returns all sections in their fixed order.
func Sections() []Section {
	return []Section{
		Status, Trader, Leaderboard, Market, Event, Stats, Index,
		Oracle, Whales, Screener, Research, Export, Weather,
	}
}

// LockPlan is the lock_reason of everything that a plan cuts or locks.
const LockPlan = "plan_limit"

// Envelope is the plan metadata at the top of every response, including problems.
type Envelope struct {
	Plan              *string   `json:"plan" enum:"free,explorer,trader,alpha"`         // plan of the key; null without a valid key
	Truncated         bool      `json:"truncated"`                                      // whether a limit of the plan cut the result short
	LockReason        *string   `json:"lock_reason" enum:"plan_limit"`                  // why the result is truncated; null if it is not
	UpgradeHint       *string   `json:"upgrade_hint" enum:"free,explorer,trader,alpha"` // lowest plan that returns what was requested; null if there is none or the result is not truncated
	AvailableSections []Section `json:"available_sections"`                             // sections that the plan includes
	LockedSections    []Section `json:"locked_sections"`                                // sections that the plan does not include
	MaxHistoryDays    *int      `json:"max_history_days"`                               // how many days before as_of rows may go back; null if there is no limit
	MaxRows           *int      `json:"max_rows"`                                       // row limit of this call; null for single objects
}

// One is a response about one thing.
type One[T any] struct {
	Envelope
	AsOf *time.Time `json:"as_of"` // time up to which the data is complete; null if the database is empty
	Data T          `json:"data"`  // the requested object
}

// Undated is a response about one thing that does not come from the venue's data.
type Undated[T any] struct {
	Envelope
	Data T `json:"data"` // the requested object
}

// RankedList is a ranked list over a rolling window.
type RankedList[T any] struct {
	Envelope
	AsOf        *time.Time `json:"as_of"`                   // time up to which the data is complete; null if the database is empty
	Period      string     `json:"period" enum:"1d,7d,30d"` // length of the rolling window, which ends at as_of
	WindowStart *time.Time `json:"window_start"`            // start of the window, exclusive
	WindowEnd   *time.Time `json:"window_end"`              // end of the window, inclusive; equals as_of
	Data        []T        `json:"data"`                    // rows by rank
}

// ProblemType is the media type of a Problem.
const ProblemType = "application/problem+json"

// Problem is the body of every error: the members of RFC 9457 plus the envelope.
type Problem struct {
	Type     string `json:"type"`            // relative URI below /docs/problems/
	Title    string `json:"title"`           // short name of the code
	Status   int    `json:"status"`          // HTTP status
	Detail   string `json:"detail"`          // what went wrong and what to do about it
	Instance string `json:"instance"`        // request id
	Code     string `json:"code"`            // stable code, for programs to test
	Param    string `json:"param,omitempty"` // the invalid parameter or body member; omitted if there is none
	Envelope
}

// Error returns the code and the detail, so that a Problem can be used as an error.
func (p *Problem) Error() string { return p.Code + ": " + p.Detail }
