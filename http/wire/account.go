package wire

import "time"

// Account is the payload of GET /me: what the API key of the request may do, and how it was used. Without a key, it is what
// the pages of an open server may do.
type Account struct {
	KeyID     *string       `json:"key_id"`                                 // public id of the key: the first 8 hexadecimal digits of its SHA-256; null without a key
	Label     *string       `json:"label"`                                  // who the key was issued to; null without a key
	Tier      string        `json:"tier" enum:"free,explorer,trader,alpha"` // plan of the key; free without one
	CreatedAt *time.Time    `json:"created_at"`                             // when the key was issued; null without a key
	ExpiresAt *time.Time    `json:"expires_at"`                             // when the key expires; null if it does not
	Limits    AccountLimits `json:"limits"`                                 // limits of the plan
	Window    AccountWindow `json:"window"`                                 // the minute that this request was counted in
	Usage     AccountUsage  `json:"usage"`                                  // requests of the last 30 UTC days, including this one
}

// AccountLimits are the limits of a plan.
type AccountLimits struct {
	RequestsPerMinute int  `json:"requests_per_minute"` // requests per minute; every response counts, including 304 and errors
	HistoryDays       *int `json:"history_days"`        // how many days before as_of rows may go back; null if there is no limit
	Rows              int  `json:"rows"`                // maximum number of rows in one response
	CompareWallets    int  `json:"compare_wallets"`     // maximum number of wallets in one comparison
	Export            bool `json:"export"`              // whether files can be exported
}

// AccountWindow is the usage of the key in the current fixed minute.
type AccountWindow struct {
	Used         int       `json:"used"`          // requests made so far in the minute
	Remaining    int       `json:"remaining"`     // requests left in the minute
	ResetAt      time.Time `json:"reset_at"`      // when the next minute begins
	ResetSeconds int       `json:"reset_seconds"` // seconds until reset_at
}

// AccountUsage is how often a key was used.
type AccountUsage struct {
	Since    string       `json:"since" format:"date"` // first day counted
	Requests int64        `json:"requests"`            // total requests since that day
	Days     []AccountDay `json:"days"`                // days with requests, newest first
}

// AccountDay is the use of a key on one day.
type AccountDay struct {
	Date      string            `json:"date" format:"date"`
	Requests  int64             `json:"requests"`  // requests on the day
	Endpoints []AccountEndpoint `json:"endpoints"` // endpoints by number of requests, largest first
}

// AccountEndpoint is the use of one endpoint on one day.
type AccountEndpoint struct {
	Endpoint *string `json:"endpoint"` // method and path as in the reference; null for requests to unknown endpoints, and for days whose details are no longer kept
	Requests int64   `json:"requests"` // requests to the endpoint on the day
}
