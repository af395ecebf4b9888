package job_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"

	"pmx/engine/export/job"
)

// fullStore has no room for the first Requeue.
type fullStore struct {
	job.Store
	full  error
	asked atomic.Int32
}

func (s *fullStore) Requeue(ctx context.Context, attempts int, why job.Failure) error {
	if s.asked.Add(1) == 1 {
		return fmt.Errorf("requeue: %w", s.full)
	}
	return s.Store.Requeue(ctx, attempts, why)
}

// Jobs that an earlier process left wait for space on a full disk, and do not end the process.
func TestQueuedJobsWaitForDiskSpace(t *testing.T) {
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		t.Run(full.Error(), func(t *testing.T) {
			t.Parallel()
			waitForRoom(t, full)
		})
	}
}

func waitForRoom(t *testing.T, full error) {
	d := newDriver(t, job.Limits{})
	left := d.create(ann, "a")
	if _, err := d.store.NextJob(t.Context()); err != nil { // and the process is killed
		t.Fatal(err)
	}
	store := &fullStore{Store: d.Store, full: full}
	d.Store = store
	d.start()
	<-d.works.began
	if now := d.job(left); store.asked.Load() != 2 || now.Status != job.Running || now.Attempts != 2 {
		t.Errorf("asked %d times, %+v", store.asked.Load(), now)
	}
	d.works.end <- nil
	d.until("the job", func() bool { return d.job(left).Status == job.Done })
}
