package api

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pmx/engine/control/record"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// The best grades of sources that are in trouble, as places in grades.
const (
	quarantineCap = 2 // C: something is held back
	incompleteCap = 1 // B: the source is incomplete by its nature
	quietCap      = 3 // D: much less comes in than usual
)

// sourceStatus is a source with its grade.
type sourceStatus struct {
	*serving.Source
	lag   int64 // seconds; -1 if there is no as_of
	grade int   // place in grades
}

// gradeSource grades a source at now. A clock behind as_of counts as no lag.
func gradeSource(s *serving.Source, now time.Time) sourceStatus {
	g := sourceStatus{Source: s, lag: -1, grade: len(grades) - 1}
	if s.AsOf.IsZero() || s.State == serving.SourcePaused {
		return g
	}
	g.lag = max(0, now.Unix()-s.AsOf.Unix())
	for i, bound := range s.Bounds {
		if g.lag <= int64(bound/time.Second) {
			g.grade = i
			break
		}
	}
	switch {
	case s.State == serving.SourceStalled:
		g.grade = len(grades) - 1
	case s.Quiet:
		g.grade = max(g.grade, quietCap)
	case s.State == serving.SourceQuarantine:
		g.grade = max(g.grade, quarantineCap)
	case s.Incomplete:
		g.grade = max(g.grade, incompleteCap)
	}
	return g
}

// rule says in words how the grade is computed, from the same bounds.
func (g *sourceStatus) rule() string {
	var b strings.Builder
	b.WriteString("as_of is the time up to which everything is stored; lag_seconds is checked_at minus as_of; ")
	for i, bound := range g.Bounds {
		fmt.Fprintf(&b, "%c up to %d s, ", grades[i], bound/time.Second)
	}
	fmt.Fprintf(&b, "F beyond that, without as_of, or while stalled or paused; at best %c in quarantine, at best %c while quiet, at best %c where incomplete", grades[quarantineCap],
		grades[quietCap], grades[incompleteCap])
	if g.Shown {
		b.WriteString("; what it gives is shown only, so its grade does not count for the whole")
	}
	return b.String()
}

// detail says why the grade is not the best and what to do about it, "" if it is.
func (g *sourceStatus) detail() string {
	switch {
	case g.grade == 0:
		return ""
	case g.State == serving.SourcePaused:
		return fmt.Sprintf("Source %q is paused.", g.Name)
	case g.Problem != "":
		return fmt.Sprintf("Source %q: %s", g.Name, g.Problem)
	case g.State == serving.SourceStalled:
		return fmt.Sprintf("Source %q is silent: check that its host is reachable, and the server's log.", g.Name)
	case g.CatchingUp:
		return fmt.Sprintf("Source %q is catching up: no action is needed.", g.Name)
	case g.AsOf.IsZero():
		return fmt.Sprintf("Source %q has given nothing yet: if this lasts, the server's log says why.", g.Name)
	case g.Quiet:
		return fmt.Sprintf("Source %q gives less than a fifth of what is usual at this hour: check the source.", g.Name)
	}
	return fmt.Sprintf("Source %q is complete up to %s only: if this lasts, the server's log says why.", g.Name, g.AsOf.UTC().Format(time.RFC3339))
}

// wire is the source as a wire type.
func (g *sourceStatus) wire() wire.FollowedSource {
	out := wire.FollowedSource{
		Name: g.Name, Grade: grades[g.grade : g.grade+1], State: string(g.State), AsOf: timeOrNull(g.AsOf), UpdatedAt: timeOrNull(g.Changed),
		Incomplete: g.Incomplete, Quiet: g.Quiet, CatchingUp: g.CatchingUp, Missing: g.Missing, Rows: g.Rows, Requests: g.Requests, Retries: g.Retries,
		ThrottledSeconds: g.Throttled.Round(time.Millisecond).Seconds(), Unknown: g.Unknown, Detail: textOrNull(g.detail()), Rule: g.rule(),
	}
	out.Hosts = make([]wire.SourceHost, len(g.Hosts))
	for i, h := range g.Hosts {
		out.Hosts[i] = wire.SourceHost{Name: h.Name, State: string(h.State), AnsweredAt: timeOrNull(h.Answered)}
		for _, n := range h.Requests {
			out.Hosts[i].Requests += n
		}
	}
	out.Differences = []wire.SourceDifference{}
	for _, audit := range slices.Sorted(maps.Keys(g.Differences)) {
		out.Differences = append(out.Differences, wire.SourceDifference{Audit: audit, Count: g.Differences[audit]})
	}
	if g.lag >= 0 {
		out.LagSeconds = &g.lag
	}
	if g.CatchingUp {
		out.Progress = &g.Progress
		if g.Remaining > 0 {
			out.RemainingSeconds = new(int64(g.Remaining / time.Second))
		}
	}
	return out
}

// Sources returns the sources that are followed, nil if none is.
func (a *API) Sources() []serving.Source {
	if a.sources == nil {
		return nil
	}
	return a.sources()
}

// gradeSources grades the sources that are followed, at now.
func (a *API) gradeSources(now time.Time) []sourceStatus {
	all := a.Sources()
	graded := make([]sourceStatus, len(all))
	for i := range all {
		graded[i] = gradeSource(&all[i], now)
	}
	return graded
}

// sourceSamples are the sources' part of a sample; nil if there are none.
func sourceSamples(all []sourceStatus) map[string]record.SourceStatus {
	if len(all) == 0 {
		return nil
	}
	samples := make(map[string]record.SourceStatus, len(all))
	for _, g := range all {
		samples[g.Name] = record.SourceStatus{Grade: grades[g.grade], Lag: g.lag}
	}
	return samples
}
