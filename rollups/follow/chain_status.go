package follow

import "time"

// Phase is the phase of a source.
type Phase string

// The phases of a source.
const (
	Idle       Phase = "IDLE"
	Fetch      Phase = "FETCH"
	Validate   Phase = "VALIDATE"
	Committing Phase = "COMMIT"
	BackOff    Phase = "BACKOFF"    // no node answers, or the database refuses commits
	Quarantine Phase = "QUARANTINE" // everything is committed except for ranges that are held back
	Stalled    Phase = "STALLED"    // nothing was committed for long although something is missing
)

// ChainStatus is the status of the chain lane.
type ChainStatus struct {
	Source     string    `json:"source"`
	Phase      Phase     `json:"state"`
	CatchingUp bool      `json:"catching_up"`
	Start      int64     `json:"start_block"`
	Finalized  int64     `json:"finalized_block"` // the newest final block according to the nodes; 0: none has answered yet
	Committed  int64     `json:"committed_block"` // up to which nothing is missing; start − 1: nothing is committed
	AsOf       time.Time `json:"as_of,omitzero"`  // of that block; zero: nothing is committed
	LagSeconds float64   `json:"lag_seconds"`     // of AsOf behind the clock; 0 if it is not known
	GapBlocks  int64     `json:"gap_blocks"`      // that are final but not committed
	Answered   int64     `json:"answered_blocks"` // of these, answered and waiting to be committed
	Gaps       int       `json:"gaps"`
	Progress   float64   `json:"progress"`          // of the catch-up, 0 … 1
	Remaining  float64   `json:"remaining_seconds"` // estimated rest of it; 0: not known, or none
	FillsASec  float64   `json:"fills_per_second"`  // of the catch-up

	Since        time.Time `json:"since,omitzero"` // start of the figures below
	Fills        int64     `json:"fills"`          // that are new
	Logs         int64     `json:"logs"`
	Ranges       int64     `json:"ranges"`
	Commits      int64     `json:"commits"`
	LastCommit   time.Time `json:"last_commit,omitzero"`
	CommitTook   float64   `json:"commit_seconds"` // the last
	Rejected     int64     `json:"rejected"`       // logs that cannot be parsed, stored with the rejected rows
	Suspect      int64     `json:"suspect_ranges"`
	NotWhole     int64     `json:"invariant_failures"` // matches that were incomplete at first
	OddGroups    int64     `json:"odd_matches"`        // matches that are incomplete at two nodes
	Disagreed    int64     `json:"disagreements"`      // ranges for which two nodes returned different logs
	Forks        int64     `json:"forks"`              // ranges that did not follow the committed ones
	Audited      int64     `json:"audited_ranges"`
	AuditsDue    int       `json:"audits_waiting"`
	AuditDiffers int64     `json:"audit_differences"`
	Mended       int64     `json:"mended_fills"`     // that were missing until an audit or a repeated request
	Rechecked    int64     `json:"rechecked_blocks"` // requested again because the venue has payouts that were not in the logs

	Unknown map[string]int64 `json:"unknown,omitempty"` // unexpected conditions, by kind
	Held    []HeldRange      `json:"held,omitempty"`    // the first of the ranges that are held back
	Nodes   []NodeStatus     `json:"nodes"`
	Refused string           `json:"refused,omitempty"` // why the last commit failed
	Error   string           `json:"error,omitempty"`   // the last one, until something is committed
}

// HeldRange is a range that is not committed because its logs are doubtful.
type HeldRange struct {
	From  int64     `json:"from_block"`
	To    int64     `json:"to_block"`
	Why   string    `json:"why"`
	Tries int       `json:"tries"`
	Next  time.Time `json:"next_try"`
}

// NodeStatus is the status of a node.
type NodeStatus struct {
	Name      string    `json:"name"`
	State     Phase     `json:"state"`
	Finalized int64     `json:"finalized_block"`
	Width     int64     `json:"most_blocks"` // number of blocks that are requested from it at once
	Answers   int64     `json:"answers"`
	Errors    int64     `json:"errors"`
	Bytes     int64     `json:"bytes"`
	Lied      int64     `json:"lied"` // responses that lacked logs
	LastError string    `json:"last_error,omitempty"`
	LastGood  time.Time `json:"last_answer,omitzero"`
}
