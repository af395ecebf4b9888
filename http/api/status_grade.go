package api

import (
	"fmt"
	"strings"
	"time"

	"pmx/engine/guard"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// gradeRule grades one subsystem by its lag: the first grade whose bound the lag does not exceed; F
// beyond the last bound, or if there is no as_of.
type gradeRule struct {
	name   string
	asOf   string // what as_of stands for
	bounds [4]time.Duration
	cycle  bool   // pending and failed count, see the caps
	still  bool   // for a historical venue: the lag is measured from the venue's own as_of
	none   string // text if there is no as_of
	late   string // text if the lag costs the best grade; %s is as_of

	copiedNone, copiedLate string // texts instead of none and late on a server that serves copies of another's data

	sources []string // sources, any of which delivers what is graded if it is followed
	waiting string   // text instead of late if one of these is followed; %s is as_of
}

const grades = "ABCDF"

// The thresholds that both the grades and the published rules come from.
var (
	servingRule = gradeRule{
		name: "serving_tables", asOf: "the last finished refresh cycle", cycle: true,
		bounds: [4]time.Duration{2 * time.Minute, 10 * time.Minute, 30 * time.Minute, 2 * time.Hour},
		none:   "No refresh has finished yet: wait for the first one.",
		late:   "The last refresh finished at %s: check that the server's refresh schedule is enabled, and check its log.",

		copiedNone: "This replica has not found the newest backup since it started: its source \"backup\" tells why.",
		copiedLate: "This replica served the newest backup last at %s: its source \"backup\" tells why it does not now.",
	}
	tradesRule = gradeRule{
		name: "trades", asOf: "the newest trade",
		bounds:     [4]time.Duration{5 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour},
		none:       "There are no fills yet: import some, or wait for the sources that are followed.",
		late:       "The newest fill is from %s: import newer data; if the venue is historical on purpose, serve it with --historical.",
		sources:    []string{"chain", "trades"},
		copiedNone: "The backups that this replica serves have no fills yet: they have to be imported at the writer, the server that makes the backups.",
		copiedLate: "The newest fill is from %s: newer data has to come from the writer, the server whose backups this replica serves: look at its status; if the venue is historical on purpose, serve it with --historical.",
		waiting:    "The newest fill is from %s, and fills are followed: either there was none since, or their source is late, which its own grade tells.",
	}
	marketsRule = gradeRule{
		name: "markets", asOf: "the last import that added or changed markets",
		bounds:     [4]time.Duration{time.Hour, 6 * time.Hour, 24 * time.Hour, 72 * time.Hour},
		none:       "There are no descriptions of markets yet: import markets, or wait for the sources that are followed.",
		late:       "Markets were last imported at %s: import newer ones; if the venue is historical on purpose, serve it with --historical.",
		sources:    []string{"markets"},
		copiedNone: "The backups that this replica serves have no descriptions of markets yet: they have to be imported at the writer, the server that makes the backups.",
		copiedLate: "Markets were last imported at %s: newer ones have to come from the writer, the server whose backups this replica serves: look at its status; if the venue is historical on purpose, serve it with --historical.",
		waiting:    "Descriptions of markets changed last at %s, and markets are followed: either nothing changed since, or their source is late, which its own grade tells.",
	}
)

// historical is the rule for a venue that is historical on purpose, whose as_of counts as now.
func (r gradeRule) historical() *gradeRule {
	r.still = true
	for _, late := range []*string{&r.late, &r.copiedLate} {
		*late = strings.Replace(*late, "; if the venue is historical on purpose, serve it with --historical", "", 1)
	}
	return &r
}

// The rules of a historical venue. The one of the serving tables stays the same.
var historicalTrades, historicalMarkets = tradesRule.historical(), marketsRule.historical()

// Caps on the grade of the serving tables, as places in grades.
const (
	pendingCap = 1 // B: imported data waits
	failedCap  = 3 // D: the last cycle failed
)

// text is the rule in words, made from the same bounds.
func (r *gradeRule) text() string {
	var b strings.Builder
	present := "checked_at"
	if r.still {
		present = "the venue's as_of, which is historical on purpose,"
	}
	fmt.Fprintf(&b, "as_of is %s; lag_seconds is %s minus as_of; ", r.asOf, present)
	for i, bound := range r.bounds {
		fmt.Fprintf(&b, "%c up to %d s, ", grades[i], bound/time.Second)
	}
	b.WriteString("F beyond that or without as_of")
	if r.cycle {
		fmt.Fprintf(&b, "; at best %c while pending, at best %c while failed", grades[pendingCap], grades[failedCap])
	}
	return b.String()
}

// subsystem has the inputs of one grade, and the grade.
type subsystem struct {
	rule            *gradeRule
	asOf, updated   time.Time
	pending, failed bool
	followed        bool   // a source that delivers it is followed
	copied          bool   // the data is a copy of another server's
	trouble         string // the reason for failed, in words; "": the last cycle failed
	lag             int64  // seconds
	grade           int    // place in grades
}

// failureText says in words what is wrong besides a failed cycle, "" for nothing.
func failureText(f serving.Freshness, watch *guard.Watch) string {
	if f.DiskFull {
		return "The disk is full: imports are refused, and responses show the data stored before. Free some space on the disk of the data directory."
	}
	if f.LogLost {
		return "The database's log was damaged when the server started, and everything committed after the damage is missing: the " +
			"server's log says how much. Import the missing data again, then remove the copy of the database's log from the data " +
			"directory."
	}
	for _, work := range watch.Statuses() {
		if work.Failing {
			return fmt.Sprintf("Background work failed unexpectedly (%s, last at %s) and is being retried: the server's log says where it failed.",
				work.Name, work.Last.UTC().Format(time.RFC3339))
		}
	}
	return ""
}

// computeGrade computes lag and grade at now. A clock behind as_of counts as no lag.
func (s *subsystem) computeGrade(now time.Time) {
	s.grade = len(grades) - 1
	if s.asOf.IsZero() {
		return
	}
	s.lag = max(0, now.Unix()-s.asOf.Unix())
	for i, bound := range s.rule.bounds {
		if s.lag <= int64(bound/time.Second) {
			s.grade = i
			break
		}
	}
	if s.rule.cycle && s.pending {
		s.grade = max(s.grade, pendingCap)
	}
	if s.rule.cycle && s.failed {
		s.grade = max(s.grade, failedCap)
	}
}

// detail says in plain words what keeps the subsystem from the best grade and what to do about it,
// "" if it has it.
func (s *subsystem) detail() string {
	none, late := s.rule.none, s.rule.late
	if s.copied {
		none, late = s.rule.copiedNone, s.rule.copiedLate
	}
	switch {
	case s.grade == 0:
		return ""
	case s.rule.cycle && s.trouble != "":
		return s.trouble
	case s.asOf.IsZero():
		return none
	case s.rule.cycle && s.failed && s.copied:
		return "The newest backup cannot be served, and responses show an earlier one: the source \"backup\" tells why."
	case s.rule.cycle && s.failed:
		return "The last refresh failed, and responses show the data from before it: the server's log says why."
	case s.lag <= int64(s.rule.bounds[0]/time.Second):
		return "Imported data is waiting for the next refresh: no action is needed."
	}
	if s.followed {
		late = s.rule.waiting
	}
	return fmt.Sprintf(late, s.asOf.UTC().Format(time.RFC3339))
}

// worstGrade returns the lowest grade among subsystems and the detail of the first one that has it.
func worstGrade(subsystems []subsystem) (grade, detail string) {
	low := &subsystems[0]
	for i := range subsystems {
		if subsystems[i].grade > low.grade {
			low = &subsystems[i]
		}
	}
	return grades[low.grade : low.grade+1], low.detail()
}

// wire is the subsystem as a wire type.
func (s *subsystem) wire() wire.Subsystem {
	out := wire.Subsystem{Grade: grades[s.grade : s.grade+1], Pending: s.pending, Failed: s.failed, Rule: s.rule.text(), Detail: textOrNull(s.detail()),
		AsOf: timeOrNull(s.asOf), UpdatedAt: timeOrNull(s.updated)}
	if !s.asOf.IsZero() {
		out.LagSeconds = &s.lag
	}
	return out
}
