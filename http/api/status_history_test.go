package api_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/engine/control/record"
	"pmx/http/api"
	"pmx/http/api/apitest"
	"pmx/rollups/serving"
)

// statusStore keeps samples in memory.
type statusStore struct {
	kept []record.Status
	days record.StatusChange
	err  error
}

func (s *statusStore) AddStatus(ctx context.Context, sample record.Status, change record.StatusChange, _ time.Duration) error {
	if s.err == nil {
		s.kept = append(s.kept, sample)
	}
	return s.AddStatusChange(ctx, change)
}

func (s *statusStore) AddStatusChange(_ context.Context, change record.StatusChange) error {
	if s.err != nil {
		return s.err
	}
	for _, d := range change.Days {
		s.days.Days = slices.DeleteFunc(s.days.Days, func(o record.StatusDay) bool { return o.Day == d.Day && o.Subsystem == d.Subsystem })
		s.days.Days = append(s.days.Days, d)
	}
	for _, e := range change.Events {
		s.days.Events = slices.DeleteFunc(s.days.Events, func(o record.StatusEvent) bool {
			return o.At.Equal(e.At) && o.Kind == e.Kind && o.Subsystem == e.Subsystem
		})
		s.days.Events = append(s.days.Events, e)
	}
	slices.SortStableFunc(s.days.Events, func(x, y record.StatusEvent) int { return x.At.Compare(y.At) })
	return nil
}

func (s *statusStore) StatusDays(_ context.Context, first time.Time, _ int) (record.StatusChange, error) {
	kept := record.StatusChange{Events: slices.Clone(s.days.Events)}
	for _, d := range s.days.Days {
		if d.Day >= first.Format(time.DateOnly) {
			kept.Days = append(kept.Days, d)
		}
	}
	return kept, s.err
}

func (s *statusStore) StatusSince(context.Context, time.Time) ([]record.Status, error) {
	return slices.Clone(s.kept), s.err
}

// The newest trade is of 15:09:26 and the clock stands at 15:10:12: 46 s.
func TestHistoryHasASampleAMinute(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 1, 1))
	v.source.SetFreshness(serving.Freshness{LastCycle: start.Add(-10 * time.Minute)})
	store := &statusStore{}
	for range 2 { // the second one is of the same minute
		if err := v.api.SampleStatus(t.Context(), store); err != nil {
			t.Fatal(err)
		}
		v.clock.Add(10 * time.Second)
	}
	v.clock.Set(start.Add(time.Minute))
	if err := v.api.SampleStatus(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	minute := start.Truncate(time.Minute)
	want := []record.Status{
		{At: minute, Grades: [3]byte{'C', 'A', 'F'}, Lags: [3]int64{610, 56, -1}},
		{At: minute.Add(time.Minute), Grades: [3]byte{'C', 'A', 'F'}, Lags: [3]int64{660, 106, -1}},
	}
	if got := v.api.StatusHistory(); !cmp.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	now := v.api.StatusNow()
	if now.Grade != "F" || now.ServingTables.Grade != "C" || *now.Trades.LagSeconds != 106 || now.Markets.AsOf != nil || now.Markets.Rule == "" {
		t.Errorf("now: %+v", now)
	}
}

func TestHistoryEndsAfterSevenDays(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 1, 1))
	for _, after := range []time.Duration{0, time.Minute, api.StatusKept} {
		v.clock.Set(start.Add(after))
		if err := v.api.SampleStatus(t.Context(), &statusStore{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := v.api.StatusHistory(); len(got) != 2 || !got[0].At.Equal(start.Truncate(time.Minute).Add(time.Minute)) {
		t.Errorf("got %v", got)
	}
}

func TestHistoryOutlivesTheProcess(t *testing.T) {
	store := &statusStore{}
	first := newVenue(t, apitest.Snapshot(1, 1, 1))
	if err := first.api.SampleStatus(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	second := newVenue(t, apitest.Snapshot(1, 1, 1))
	if err := second.api.LoadStatus(t.Context(), store); err != nil || !cmp.Equal(second.api.StatusHistory(), first.api.StatusHistory()) {
		t.Errorf("got %v, %v", second.api.StatusHistory(), err)
	}
	store.err = errors.New("disk is gone")
	second.clock.Add(time.Minute)
	if err := second.api.SampleStatus(t.Context(), store); err == nil || len(second.api.StatusHistory()) != 2 {
		t.Errorf("a failing store: %v, %v", second.api.StatusHistory(), err)
	}
}
