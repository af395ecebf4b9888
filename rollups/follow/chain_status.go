package follow

import "time"

// Phase is what a source is doing.
type Phase string

// The phases of a source.
const (
	Idle       Phase = "IDLE"
	Fetch      Phase = "FETCH"
	Validate   Phase = "VALIDATE"
	Committing Phase = "COMMIT"
	BackOff    Phase = "BACKOFF"    // nobody answers, or the database does not take it
	Quarantine Phase = "QUARANTINE" // all is in but ranges that are held back
	Stalled    Phase = "STALLED"    // nothing came in for long, though there is something
)

// ChainStatus is the status of the chain lane.
type ChainStatus struct {
	Source     string    `json:"source"`
	Phase      Phase     `json:"state"`
	CatchingUp bool      `json:"catching_up"`
	Start      int64     `json:"start_block"`
	Finalized  int64     `json:"finalized_block"` // as the nodes say, the newest; 0: none has answered yet
	Committed  int64     `json:"committed_block"` // up to which nothing is missing; start − 1: nothing is there
	AsOf       time.Time `json:"as_of,omitzero"`  // of that block; zero: nothing is there
	LagSeconds float64   `json:"lag_seconds"`     // of AsOf behind the clock; 0 where it is not known
	GapBlocks  int64     `json:"gap_blocks"`      // that are final and not in
	Answered   int64     `json:"answered_blocks"` // of these, that were answered and wait to be committed
	Gaps       int       `json:"gaps"`
	Progress   float64   `json:"progress"`          // of the catch-up, 0 … 1
	Remaining  float64   `json:"remaining_seconds"` // of it, about; 0: not known, or none
	FillsASec  float64   `json:"fills_per_second"`  // of the catch-up

	Since        time.Time `json:"since,omitzero"` // when the figures below begin
	Fills        int64     `json:"fills"`          // that are new
	Logs         int64     `json:"logs"`
	Ranges       int64     `json:"ranges"`
	Commits      int64     `json:"commits"`
	LastCommit   time.Time `json:"last_commit,omitzero"`
	CommitTook   float64   `json:"commit_seconds"` // the last
	Rejected     int64     `json:"rejected"`       // logs that cannot be read, kept with the rejected rows
	Suspect      int64     `json:"suspect_ranges"`
	NotWhole     int64     `json:"invariant_failures"` // matches that were not whole when they came
	OddGroups    int64     `json:"odd_matches"`        // matches that are not whole, as two nodes say alike
	Disagreed    int64     `json:"disagreements"`      // ranges of which two nodes said different things
	Forks        int64     `json:"forks"`              // ranges that did not follow upon what is committed
	Audited      int64     `json:"audited_ranges"`
	AuditsDue    int       `json:"audits_waiting"`
	AuditDiffers int64     `json:"audit_differences"`
	Mended       int64     `json:"mended_fills"`     // that an audit, or a block asked for once more, found missing
	Rechecked    int64     `json:"rechecked_blocks"` // asked for once more because the venue tells of payouts that the logs did not

	Unknown map[string]int64 `json:"unknown,omitempty"` // odd things, by what they are
	Held    []HeldRange      `json:"held,omitempty"`    // ranges that are held back, the first of them
	Nodes   []NodeStatus     `json:"nodes"`
	Refused string           `json:"refused,omitempty"` // why the database did not take what was to be committed last
	Error   string           `json:"error,omitempty"`   // the last one, until something came in
}

// HeldRange is a range that is not committed because something speaks against its logs.
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
	Width     int64     `json:"most_blocks"` // that it is asked for at once
	Answers   int64     `json:"answers"`
	Errors    int64     `json:"errors"`
	Bytes     int64     `json:"bytes"`
	Lied      int64     `json:"lied"` // answers that lacked logs
	LastError string    `json:"last_error,omitempty"`
	LastGood  time.Time `json:"last_answer,omitzero"`
}
