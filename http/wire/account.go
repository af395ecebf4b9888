package wire

import "time"

// Account is the payload of GET /me: what the key of the request may do, and
// what it did.
type Account struct {
	KeyID     string        `json:"key_id"`                                 // public id of the key: the first 8 hex digits of its SHA-256
	Label     string        `json:"label"`                                  // who the key was issued for
	Tier      string        `json:"tier" enum:"free,explorer,trader,alpha"` // plan of the key
	CreatedAt time.Time     `json:"created_at"`                             // when the key was issued
	Limits    AccountLimits `json:"limits"`                                 // what the plan allows
	Window    AccountWindow `json:"window"`                                 // the minute that this request was counted in
	Usage     AccountUsage  `json:"usage"`                                  // requests of the last 30 UTC days, this one included
}

// AccountLimits are the limits of a plan.
type AccountLimits struct {
	RequestsPerMinute int  `json:"requests_per_minute"` // every answer counts, 304 and errors too
	HistoryDays       *int `json:"history_days"`        // how far back rows reach; null: all history
	Rows              int  `json:"rows"`                // most rows of one answer
	CompareWallets    int  `json:"compare_wallets"`     // most wallets of one comparison
	Export            bool `json:"export"`              // whether files can be exported
}

// AccountWindow is what is left of a fixed minute.
type AccountWindow struct {
	Used         int       `json:"used"`          // requests so far
	Remaining    int       `json:"remaining"`     // requests that are left
	ResetAt      time.Time `json:"reset_at"`      // when the next minute begins
	ResetSeconds int       `json:"reset_seconds"` // seconds until then
}

// AccountUsage is how often a key was used.
type AccountUsage struct {
	Since    string       `json:"since" format:"date"` // first day counted
	Requests int64        `json:"requests"`            // in all days
	Days     []AccountDay `json:"days"`                // days with requests, the newest first
}

// AccountDay is the use of a key on one day.
type AccountDay struct {
	Date      string            `json:"date" format:"date"`
	Requests  int64             `json:"requests"`  // of the day
	Endpoints []AccountEndpoint `json:"endpoints"` // the busiest first
}

// AccountEndpoint is the use of one endpoint on one day.
type AccountEndpoint struct {
	Endpoint *string `json:"endpoint"` // method and path as in the reference; null: no endpoint, or a day whose details are no longer kept
	Requests int64   `json:"requests"` // of the day there
}
