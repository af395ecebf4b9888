package follow

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pmx/rollups/serving"
)

// AuditStatus is the status of the comparison with the venue's own counts. Its counts survive
// restarts.
type AuditStatus struct {
	Phase Phase     `json:"state"`
	Since time.Time `json:"since"`                   // start of the figures below
	Until time.Time `json:"compared_until,omitzero"` // the end of the last day whose trades were compared; zero: none was

	VenueBlock int64 `json:"venue_block"`  // the venue's newest; 0: not known
	Ahead      int64 `json:"blocks_ahead"` // of committed blocks; below 0: behind them
	Stale      int64 `json:"stale_blocks"` // Ahead, if it is too large and no node has more
	Unmapped   int64 `json:"unmapped_tokens"`
	StillOpen  int64 `json:"resolved_and_open"` // markets that the chain resolved a day ago and that are open in the catalogue

	Last     *AuditDay         `json:"last_day,omitempty"`
	List     []AuditDifference `json:"differences,omitempty"` // the first of them
	Waiting  int               `json:"waiting_transactions"`  // that the venue has and no node has returned yet
	Mended   int64             `json:"mended_transactions"`   // that were imported because of an audit
	Lost     int64             `json:"transactions_given_up"` // that no node has had for two weeks
	Fills    int64             `json:"mended_fills"`          // that were imported with them and around them
	Requests int               `json:"requests_today"`        // of the data API
	Unknown  map[string]int64  `json:"unknown,omitempty"`     // unexpected conditions, by kind
	Error    string            `json:"error,omitempty"`       // of the last run

	venueLag int64 // seconds that the venue says that it is behind; -1: not known
}

// AuditDay is the comparison of a day.
type AuditDay struct {
	Start        time.Time `json:"start"`
	End          time.Time `json:"end"`
	Events       int       `json:"events"`
	Conditions   int       `json:"conditions"`
	Differ       int       `json:"counts_differ"`        // conditions whose counts differ
	Scanned      int       `json:"conditions_compared"`  // trade by trade
	Unscanned    int       `json:"conditions_left"`      // whose counts differ, but for which no requests were left
	Cut          int       `json:"conditions_cut_short"` // only the newest of whose trades were compared
	Unexplained  int       `json:"unexplained"`          // conditions whose counts differ but whose trades do not
	Transactions int64     `json:"transactions"`         // that were compared
	VenueOnly    int64     `json:"venue_only"`           // that only the venue has
	OursOnly     int64     `json:"ours_only"`
	Others       int64     `json:"others"` // that both have, with different fills
}

// DifferenceKind is a kind of difference of a transaction.
type DifferenceKind string

// The kinds of differences.
const (
	VenueOnly DifferenceKind = "venue_only"
	OursOnly  DifferenceKind = "ours_only"
	Others    DifferenceKind = "others" // both have it, with different fills
)

// AuditDifference is a transaction that differs from the venue's.
type AuditDifference struct {
	Kind        DifferenceKind `json:"kind"`
	Tx          string         `json:"tx"`
	Condition   string         `json:"condition"`
	At          time.Time      `json:"at"`
	VenueFills  int64          `json:"venue_fills"`
	VenueShares string         `json:"venue_shares"`
	OurFills    int64          `json:"our_fills"`
	OurShares   string         `json:"our_shares"`
	Gone        bool           `json:"mended"` // it was imported since, or given up
}

func newAuditStatus() AuditStatus {
	return AuditStatus{Phase: Idle, Unknown: map[string]int64{}, venueLag: -1}
}

// Status returns the status of the audits.
func (a *Audits) Status() AuditStatus {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.status
	s.Waiting = len(a.memory.Wanted)
	s.Unknown, s.List = maps.Clone(s.Unknown), slices.Clone(s.List)
	if s.Phase == Idle && s.Waiting > 0 {
		s.Phase = Quarantine
	}
	return s
}

// StoredAudits returns the stored status of the audits of a venue that is not being followed; nil
// if there were none.
func StoredAudits(ctx context.Context, v Venue) (*AuditStatus, error) {
	m, err := readAuditMemory(ctx, v)
	if err != nil || m.Status.Since.IsZero() {
		return nil, err
	}
	m.Status.Phase = Stopped
	return &m.Status, nil
}

// differences returns the current differences by audit.
func (s *AuditStatus) differences() map[string]int64 {
	out := map[string]int64{"trades": int64(s.Waiting), "volume": 0, "blocks": s.Stale, "tokens": s.Unmapped, "resolutions": s.StillOpen}
	if s.Last != nil {
		out["volume"] = int64(s.Last.Unexplained + s.Last.Unscanned)
	}
	return out
}

// Problems describes the current differences.
func (s *AuditStatus) Problems() (out []string) {
	add := func(n int64, what string) {
		if n > 0 {
			out = append(out, fmt.Sprintf(what, n))
		}
	}
	d := s.differences()
	add(d["trades"], "%d transactions of the venue are missing, and are requested again")
	add(d["volume"], "%d markets have different volumes by the venue's count than by its trades, or were not compared trade by trade")
	add(d["blocks"], "the venue is %d blocks ahead of every node")
	add(d["tokens"], "%d tokens are not mapped to a market after an hour")
	add(d["resolutions"], "%d markets that the chain resolved a day ago are open in the catalogue")
	return out
}

// Tell returns the lane's status for pages and metrics. Until a first day was compared, the lane
// cannot be late.
func (s *AuditStatus) Tell() serving.Source {
	asOf := s.Until
	if asOf.Before(s.Since) {
		asOf = s.Since
	}
	out := serving.Source{
		Name: auditsSource, State: stateOf(s.Phase), AsOf: asOf, Changed: s.Until, Rows: s.Fills, Unknown: total(s.Unknown), Differences: s.differences(),
		Bounds: [4]time.Duration{30 * time.Hour, 54 * time.Hour, 4 * 24 * time.Hour, 7 * 24 * time.Hour},
	}
	switch list := s.Problems(); {
	case len(list) > 0:
		out.Problem = strings.Join(list, "; ") + ": pmx sync status lists them."
	case s.Error != "":
		out.Problem = "The facts could not be compared with the venue's counts; this is tried again: pmx sync status and the server's log say why."
	}
	return out
}
