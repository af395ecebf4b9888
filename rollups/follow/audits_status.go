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

// AuditStatus says how the facts compare with the venue's own counts. What it counts is remembered
// across restarts.
type AuditStatus struct {
	Phase Phase     `json:"state"`
	Since time.Time `json:"since"`                   // when the figures below begin
	Until time.Time `json:"compared_until,omitzero"` // the end of the last day whose trades were compared; zero: none was

	VenueBlock int64 `json:"venue_block"`  // the venue's newest; 0: it has not said
	Ahead      int64 `json:"blocks_ahead"` // of what is committed; below 0: behind it
	Stale      int64 `json:"stale_blocks"` // Ahead, where it is too many and no node has more
	Unmapped   int64 `json:"unmapped_tokens"`
	StillOpen  int64 `json:"resolved_and_open"` // markets that the chain resolved a day ago and the catalogue calls open

	Last     *AuditDay         `json:"last_day,omitempty"`
	List     []AuditDifference `json:"differences,omitempty"` // of it, the first of them
	Waiting  int               `json:"waiting_transactions"`  // that the venue has and no node has given yet
	Mended   int64             `json:"mended_transactions"`   // that came in because of an audit
	Lost     int64             `json:"transactions_given_up"` // that no node had for two weeks
	Fills    int64             `json:"mended_fills"`          // that came in with them, and around them
	Requests int               `json:"requests_today"`        // of the data API
	Unknown  map[string]int64  `json:"unknown,omitempty"`     // odd things, by what they are
	Error    string            `json:"error,omitempty"`       // of the last look

	venueLag int64 // seconds that the venue is behind by its own account; -1: not known
}

// AuditDay is the comparison of a day.
type AuditDay struct {
	Start        time.Time `json:"start"`
	End          time.Time `json:"end"`
	Events       int       `json:"events"`
	Conditions   int       `json:"conditions"`
	Differ       int       `json:"counts_differ"`        // conditions of which the venue counts other than we do
	Scanned      int       `json:"conditions_compared"`  // trade by trade
	Unscanned    int       `json:"conditions_left"`      // whose counts differ, for which no requests were left
	Cut          int       `json:"conditions_cut_short"` // of which only the newest trades were compared
	Unexplained  int       `json:"unexplained"`          // conditions whose counts differ and whose trades do not
	Transactions int64     `json:"transactions"`         // that were compared
	VenueOnly    int64     `json:"venue_only"`           // that only the venue has
	OursOnly     int64     `json:"ours_only"`
	Others       int64     `json:"others"` // that both have, with other fills
}

// DifferenceKind is how a transaction differs.
type DifferenceKind string

// The kinds of differences.
const (
	VenueOnly DifferenceKind = "venue_only"
	OursOnly  DifferenceKind = "ours_only"
	Others    DifferenceKind = "others" // both have it, with other fills
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
	Gone        bool           `json:"mended"` // it came in since, or was given up
}

func newAuditStatus() AuditStatus {
	return AuditStatus{Phase: Idle, Unknown: map[string]int64{}, venueLag: -1}
}

// Status reports how the audits stand.
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

// StoredAudits reports what the audits of a venue found that nobody follows now; nil if there were
// none.
func StoredAudits(ctx context.Context, v Venue) (*AuditStatus, error) {
	m, err := readAuditMemory(ctx, v)
	if err != nil || m.Status.Since.IsZero() {
		return nil, err
	}
	m.Status.Phase = Stopped
	return &m.Status, nil
}

// differences are what the audits find now, by audit.
func (s *AuditStatus) differences() map[string]int64 {
	out := map[string]int64{"trades": int64(s.Waiting), "volume": 0, "blocks": s.Stale, "tokens": s.Unmapped, "resolutions": s.StillOpen}
	if s.Last != nil {
		out["volume"] = int64(s.Last.Unexplained + s.Last.Unscanned)
	}
	return out
}

// Problems are what the audits find now, in words.
func (s *AuditStatus) Problems() (out []string) {
	add := func(n int64, what string) {
		if n > 0 {
			out = append(out, fmt.Sprintf(what, n))
		}
	}
	d := s.differences()
	add(d["trades"], "%d transactions that the venue has are not in, and are asked for again")
	add(d["volume"], "%d markets have other volumes by the venue's count than by its trades, or were not compared trade by trade")
	add(d["blocks"], "the venue is %d blocks ahead of every node")
	add(d["tokens"], "%d tokens are not mapped to a market after an hour")
	add(d["resolutions"], "%d markets that the chain resolved a day ago are open in the catalogue")
	return out
}

// Tell is the lane's status for pages and metrics. Until a first day was compared the lane cannot
// be late.
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
		out.Problem = "What is in could not be compared with the venue's counts, which is tried again: pmx sync status and the server's log say why."
	}
	return out
}
