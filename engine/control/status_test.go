package control_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/engine/control"
	"pmx/engine/control/record"
)

func TestStatusSamplesAreKeptForTheirTime(t *testing.T) {
	start := time.Date(2026, 3, 14, 15, 0, 0, 0, time.UTC)
	db, err := control.Open(t.Context(), filepath.Join(t.TempDir(), "control.db"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	sample := func(minute int, grades string) record.Status {
		s := record.Status{At: start.Add(time.Duration(minute) * time.Minute), Lags: [3]int64{int64(minute), -1, 90_000}}
		copy(s.Grades[:], grades)
		if minute == 2 {
			s.Sources = map[string]record.SourceStatus{"chain": {Grade: 'A', Lag: 12}, "markets": {Grade: 'F', Lag: -1}}
		}
		return s
	}
	for _, s := range []record.Status{sample(0, "AFA"), sample(1, "AFB"), sample(2, "AFC"), sample(2, "BFC")} {
		if err := db.AddStatus(t.Context(), s, record.StatusChange{}, 2*time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	all, err := db.StatusSince(t.Context(), start.Add(-time.Hour))
	if want := []record.Status{sample(1, "AFB"), sample(2, "BFC")}; err != nil || !cmp.Equal(all, want) {
		t.Errorf("%v\n%s", err, cmp.Diff(want, all))
	}
	if late, err := db.StatusSince(t.Context(), start.Add(time.Minute)); err != nil || len(late) != 1 {
		t.Errorf("after minute 1: late = %v, err = %v", late, err)
	}
}

func TestStatusDaysAndEventsAreKeptForTheirTime(t *testing.T) {
	now := time.Date(2026, 3, 14, 15, 0, 0, 0, time.UTC)
	db, err := control.Open(t.Context(), filepath.Join(t.TempDir(), "control.db"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	day := func(ago int, part string, a int64) record.StatusDay {
		return record.StatusDay{Day: now.AddDate(0, 0, -ago).Format(time.DateOnly), Subsystem: part, Minutes: [5]int64{a, 1, 2, 3, 4}, LagMax: a - 1}
	}
	event := func(ago int, kind string) record.StatusEvent {
		return record.StatusEvent{At: now.AddDate(0, 0, -ago), Kind: kind, Text: kind}
	}
	first := record.StatusChange{Days: []record.StatusDay{day(3, "trades", 1), day(2, "trades", 0)}, Events: []record.StatusEvent{event(3, "start"), event(1, "import"), event(0, "stop")}}
	if err := db.AddStatusChange(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	// The import is kept. Another day is added, and the same day once more with a sample.
	long := event(1, "import")
	long.Until = long.At.Add(time.Minute)
	late := record.StatusEvent{At: now.Add(time.Second), Kind: "grade", Subsystem: "source:chain", Grade: 'D', Text: "late"}
	change := record.StatusChange{Days: []record.StatusDay{day(2, "trades", 9), day(2, "source:chain", 5)}, Events: []record.StatusEvent{long, late}}
	if err := db.AddStatus(t.Context(), record.Status{At: now, Grades: [3]byte{'A', 'A', 'A'}}, change, time.Hour); err != nil {
		t.Fatal(err)
	}
	want := record.StatusChange{Days: []record.StatusDay{day(2, "source:chain", 5), day(2, "trades", 9)}, Events: []record.StatusEvent{long, event(0, "stop"), late}}
	got, err := db.StatusDays(t.Context(), now.AddDate(0, 0, -2), 10)
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
	if got, err := db.StatusDays(t.Context(), now.AddDate(0, 0, -2), 1); err != nil || !cmp.Equal(got.Events, []record.StatusEvent{late}) {
		t.Errorf("the newest event: got.Events = %v, err = %v", got.Events, err)
	}
}
