// Package wire holds the shapes of the v3 REST API as they travel: the envelope,
// the problem document and the response types. What is put together for each request
// the server writes by hand, for speed, and what is encoded once per snapshot through
// encoding/json. A client decodes into them; tests hold the two together. It needs no
// C compiler.
package wire

import "time"

// Base is the path prefix of every v3 endpoint.
const Base = "/api/v3"

// KeyHeader is the request header that carries the API key.
const KeyHeader = "X-API-Key"

// Section is one of the 13 verticals of the API.
type Section string

// The sections, as they are listed in available_sections and locked_sections.
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

// Sections lists all sections in their fixed order.
func Sections() []Section {
	return []Section{
		Status, Trader, Leaderboard, Market, Event, Stats, Index,
		Oracle, Whales, Screener, Research, Export, Weather,
	}
}

// LockPlan is the lock_reason of everything a plan trims or locks.
const LockPlan = "plan_limit"

// Envelope is the tariff metadata at the top of every response, problems included.
type Envelope struct {
	Plan              *string   `json:"plan" enum:"free,explorer,trader,alpha"`         // null without a valid key
	Truncated         bool      `json:"truncated"`                                      // whether a cap of the plan trimmed the result
	LockReason        *string   `json:"lock_reason" enum:"plan_limit"`                  // why it is truncated; null where it is not
	UpgradeHint       *string   `json:"upgrade_hint" enum:"free,explorer,trader,alpha"` // lowest plan that gives what was asked, or null
	AvailableSections []Section `json:"available_sections"`                             // what the plan can see
	LockedSections    []Section `json:"locked_sections"`                                // what it cannot see
	MaxHistoryDays    *int      `json:"max_history_days"`                               // how far back rows reach; null: all history
	MaxRows           *int      `json:"max_rows"`                                       // cap of this call; null for single objects
}

// One is a response about one thing.
type One[T any] struct {
	Envelope
	AsOf *time.Time `json:"as_of"` // time up to which the data is complete; null on an empty database
	Data T          `json:"data"`  // the thing asked for
}

// Undated is a response about one thing that does not come from the venue's data.
type Undated[T any] struct {
	Envelope
	Data T `json:"data"` // the thing asked for
}

// Board is a ranked list over a rolling window.
type Board[T any] struct {
	Envelope
	AsOf        *time.Time `json:"as_of"`                   // time up to which the data is complete; null on an empty database
	Period      string     `json:"period" enum:"1d,7d,30d"` // length of the window
	WindowStart *time.Time `json:"window_start"`            // exclusive
	WindowEnd   *time.Time `json:"window_end"`              // inclusive; equals as_of
	Data        []T        `json:"data"`                    // in the order of rank
}

// ProblemType is the media type of a Problem.
const ProblemType = "application/problem+json"

// Problem is the body of every error: RFC 9457 with the envelope beside it.
type Problem struct {
	Type     string `json:"type"`            // relative URI under /docs/problems/
	Title    string `json:"title"`           // short name of the code
	Status   int    `json:"status"`          // the HTTP status
	Detail   string `json:"detail"`          // what to do about it
	Instance string `json:"instance"`        // the request id
	Code     string `json:"code"`            // stable; decide on this one
	Param    string `json:"param,omitempty"` // parameter or member at fault; missing where none is
	Envelope
}

// Error gives the code and the detail, so that a Problem can be returned as an error.
func (p *Problem) Error() string { return p.Code + ": " + p.Detail }
