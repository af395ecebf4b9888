package main

import (
	"fmt"
	"strings"
	"time"

	"pmx/data/upstream/fetch"
	"pmx/rollups/follow"
	"pmx/rollups/serving"
)

// chainBounds are the lags up to which the grades of the chain are A, B, C and D: a block is
// final within half a minute, and asked for within some seconds.
var chainBounds = [4]time.Duration{time.Minute, 3 * time.Minute, 10 * time.Minute, time.Hour}

// sources gives what the status shows of the sources that are followed; nil where none is.
func (f *follower) sources() func() []serving.Source {
	if f == nil || f.chain == nil {
		return nil
	}
	return func() []serving.Source { return []serving.Source{f.chainSource(f.chain.State())} }
}

// chainSource is the chain as the status shows it.
func (f *follower) chainSource(c follow.ChainState) serving.Source {
	s := serving.Source{Name: chainLane, State: sourceState(c.Phase), AsOf: c.AsOf, Changed: c.LastCommit, Bounds: chainBounds, CatchingUp: c.CatchingUp,
		Progress: c.Progress, Remaining: time.Duration(c.Remaining * float64(time.Second)), Rows: c.Fills, Missing: c.GapBlocks}
	switch {
	case len(c.Held) > 0:
		s.Problem = fmt.Sprintf("%d ranges of blocks are held back, such as blocks %d–%d: %s", len(c.Held), c.Held[0].From, c.Held[0].To, c.Held[0].Why)
	case c.Phase == follow.BackOff || c.Phase == follow.Stalled:
		s.Problem = c.Error
	}
	for _, n := range c.Unknown {
		s.Unknown += n
	}
	for _, h := range f.hosts {
		if !strings.HasPrefix(h.Name(), nodeNames) {
			continue
		}
		addUse(&s, h.Stats())
	}
	return s
}

// addUse adds what a host was asked to the figures of its source.
func addUse(s *serving.Source, h fetch.Stats) {
	for _, n := range h.Requests {
		s.Requests += n
	}
	s.Retries += h.Retries
	s.Throttled += h.Throttled
}

// sourceState is a phase in the words of the status.
func sourceState(p follow.Phase) serving.SourceState {
	switch p {
	case follow.Fetch, follow.Validate, follow.Committing:
		return serving.SourceFetching
	case follow.BackOff:
		return serving.SourceWaiting
	case follow.Quarantine:
		return serving.SourceQuarantine
	case follow.Stalled:
		return serving.SourceStalled
	case follow.Stopped:
		return serving.SourcePaused
	}
	return serving.SourceIdle
}
