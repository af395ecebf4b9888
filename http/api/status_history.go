package api

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"pmx/engine/control/record"
	"pmx/http/wire"
)

const (
	// StatusKept is how far back the history of grades reaches.
	StatusKept  = 7 * 24 * time.Hour
	sampleEvery = time.Minute
)

// StatusStore keeps samples across restarts.
type StatusStore interface {
	// AddStatus stores s and its changes to the daily history, and deletes samples that are older than
	// it by more than keep.
	AddStatus(ctx context.Context, s record.Status, change record.StatusChange, keep time.Duration) error
	// AddStatusChange stores changes of the daily history.
	AddStatusChange(ctx context.Context, change record.StatusChange) error
	// StatusDays returns the history from a day on, with so many of the newest events, and deletes the
	// rest.
	StatusDays(ctx context.Context, first time.Time, events int) (record.StatusChange, error)
	// StatusSince returns the samples after since, oldest first.
	StatusSince(ctx context.Context, since time.Time) ([]record.Status, error)
}

// statusHistory is the samples of the last StatusKept, oldest first.
type statusHistory struct {
	mu      sync.Mutex
	samples []record.Status
}

// add appends s, replacing samples of the same minute or later, which it returns, and drops what is too
// old. Lists returned before are not changed.
func (h *statusHistory) add(s record.Status) (replaced []record.Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	old := 0
	for old < len(h.samples) && !h.samples[old].At.After(s.At.Add(-StatusKept)) {
		old++
	}
	end := len(h.samples)
	for end > old && !h.samples[end-1].At.Before(s.At) {
		end--
	}
	replaced = h.samples[end:]
	h.samples = append(h.samples[old:end:end], s)
	return replaced
}

// StatusHistory returns the samples of the last seven days, oldest first. They are shared and must
// not be changed.
func (a *API) StatusHistory() []record.Status {
	a.history.mu.Lock()
	defer a.history.mu.Unlock()
	return a.history.samples
}

// StatusNow is the current payload of GET /status/public.
func (a *API) StatusNow() wire.PublicStatus { return a.statusAt(a.now()) }

// statusAt is the payload of GET /status/public.
func (a *API) statusAt(now time.Time) wire.PublicStatus {
	subsystems := a.grade(now)
	grade, detail := worstGrade(subsystems[:])
	s := wire.PublicStatus{Grade: grade, Detail: textOrNull(detail), CheckedAt: wholeSeconds(now), Historical: a.historical, Sources: []wire.FollowedSource{}}
	for i, to := range []*wire.Subsystem{&s.ServingTables, &s.Trades, &s.Markets} {
		*to = subsystems[i].wire()
	}
	worst := s.Grade[0]
	for _, g := range a.gradeSources(now) {
		s.Sources = append(s.Sources, g.wire())
		if !g.Shown && grades[g.grade] > worst { // letters order like grades
			worst, s.Detail = grades[g.grade], textOrNull(g.detail())
		}
	}
	s.Grade = string(rune(worst))
	return s
}

// grade grades every subsystem at now.
func (a *API) grade(now time.Time) [3]subsystem {
	var newest time.Time
	if v := a.published.Load(); v != nil {
		newest = v.snap.AsOf
	}
	fresh := a.source.Freshness()
	subsystems := gradeAll(fresh, failureText(fresh, a.watch), newest, now, a.historical)
	for i := range subsystems {
		subsystems[i].copied = a.copies
	}
	for _, s := range a.Sources() {
		for i := range subsystems {
			subsystems[i].followed = subsystems[i].followed || slices.Contains(subsystems[i].rule.sources, s.Name)
		}
	}
	return subsystems
}

// SampleStatus takes the sample of this minute and stores it, with what happened since the previous
// one. It counts in memory even if storing fails.
func (a *API) SampleStatus(ctx context.Context, store StatusStore) error {
	now := a.now()
	s := record.Status{At: now.UTC().Truncate(sampleEvery)}
	subsystems, sources := a.grade(now), a.gradeSources(now)
	for i, sub := range subsystems {
		s.Grades[i], s.Lags[i] = grades[sub.grade], sub.lag
		if sub.asOf.IsZero() {
			s.Lags[i] = -1
		}
	}
	s.Sources = sourceSamples(sources)
	replaced := a.history.add(s)
	if a.copies || !a.days.isLoaded() {
		if err := a.loadDays(ctx, store); err != nil {
			return err
		}
	}
	if a.copies {
		return store.AddStatus(ctx, s, record.StatusChange{}, StatusKept)
	}
	a.days.mu.Lock()
	a.days.add(&s, replaced)
	a.note(&a.days, wholeSeconds(now), subsystems[:], sources)
	a.days.mu.Unlock()
	change := a.days.change()
	if err := store.AddStatus(ctx, s, change, StatusKept); err != nil {
		return err
	}
	a.days.stored(change)
	return a.forgetDays(ctx, store, s.At)
}

// forgetDays makes the store delete, once a day, what is too old.
func (a *API) forgetDays(ctx context.Context, store StatusStore, at time.Time) error {
	if a.forgot == dayText(at) {
		return nil
	}
	_, err := store.StatusDays(ctx, at.AddDate(0, 0, 1-StatusDays), StatusEvents)
	if err == nil {
		a.forgot = dayText(at)
	}
	return err
}

// loadDays loads the daily history from store.
func (a *API) loadDays(ctx context.Context, store StatusStore) error {
	kept, err := store.StatusDays(ctx, a.now().AddDate(0, 0, 1-StatusDays), StatusEvents)
	if err != nil {
		return fmt.Errorf("load status history: %w", err)
	}
	a.days.load(kept)
	return nil
}

// LoadStatus loads the stored samples into the history.
func (a *API) LoadStatus(ctx context.Context, store StatusStore) error {
	kept, err := store.StatusSince(ctx, a.now().Add(-StatusKept))
	if err != nil {
		return fmt.Errorf("load status history: %w", err)
	}
	a.history.mu.Lock()
	a.history.samples = kept
	a.history.mu.Unlock()
	return a.loadDays(ctx, store)
}

// stopTime bounds how long a stopping server waits for its history to be written.
const stopTime = 2 * time.Second

// RecordStatus takes a sample now and every minute until ctx ends. A failing store is logged once
// and retried.
func (a *API) RecordStatus(ctx context.Context, store StatusStore, log zerolog.Logger) error {
	if err := a.LoadStatus(ctx, store); err != nil && ctx.Err() == nil {
		log.Error().Err(err).Msg("status_history_unreadable")
	}
	if !a.copies {
		a.days.noteStart(a.started, a.version)
	}
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	failing := false
	for {
		err := a.SampleStatus(ctx, store)
		if err != nil && !failing && ctx.Err() == nil {
			log.Error().Err(err).Msg("status_history_not_kept")
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			a.recordStop(ctx, store, log)
			return nil
		case <-tick.C:
		}
	}
}

// recordStop records in the history that the server was stopped.
func (a *API) recordStop(ctx context.Context, store StatusStore, log zerolog.Logger) {
	if a.copies {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	a.days.noteStop(a.now())
	if err := store.AddStatusChange(ctx, a.days.change()); err != nil {
		log.Error().Err(err).Msg("status_history_not_kept")
	}
}
