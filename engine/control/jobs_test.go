package control_test

import (
	"maps"
	"path/filepath"
	"testing"
	"time"

	"pmx/engine/control"
	"pmx/engine/export/job"
)

func TestJobsAreCountedByStatus(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	db, err := control.Open(t.Context(), filepath.Join(t.TempDir(), "control.db"), func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	expect := func(queued, running, canceled int, oldest time.Time) {
		t.Helper()
		want := map[job.Status]int{job.Queued: queued, job.Running: running, job.Canceled: canceled, job.Done: 0, job.Failed: 0, job.Expired: 0}
		got, at, err := db.JobCounts(t.Context())
		if err != nil || !maps.Equal(got, want) || !at.Equal(oldest) {
			t.Errorf("%v since %s, %v; want %v since %s", got, at, err, want, oldest)
		}
	}
	expect(0, 0, 0, time.Time{})
	key, err := db.IssueKey(t.Context(), [32]byte{1}, "trader", "test")
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range []string{"a", "b", "c"} {
		j := job.Job{ID: id, Owner: key.ID, Created: now.Add(time.Duration(i) * time.Minute), Request: job.Request{Kind: job.Research, Dataset: "markets", Format: "csv", Period: "all"}}
		if _, err := db.AddJob(t.Context(), j, "", "v1", 10); err != nil {
			t.Fatal(err)
		}
	}
	expect(3, 0, 0, now)
	if _, err := db.NextJob(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect(2, 1, 0, now.Add(time.Minute))
	if _, err := db.CancelJob(t.Context(), key.ID, "b"); err != nil {
		t.Fatal(err)
	}
	expect(1, 1, 1, now.Add(2*time.Minute))
}
