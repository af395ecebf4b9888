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
		if err := db.AddStatus(t.Context(), s, 2*time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	all, err := db.StatusSince(t.Context(), start.Add(-time.Hour))
	if want := []record.Status{sample(1, "AFB"), sample(2, "BFC")}; err != nil || !cmp.Equal(all, want) {
		t.Errorf("%v\n%s", err, cmp.Diff(want, all))
	}
	if late, err := db.StatusSince(t.Context(), start.Add(time.Minute)); err != nil || len(late) != 1 {
		t.Errorf("after minute 1: %v, %v", late, err)
	}
}
