package job_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pmx/engine/export/job"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestJobFromQueuedToDone(t *testing.T) {
	d := newDriver(t, job.Limits{})
	d.start()
	j := d.create(ann, "markets")
	if j.Status != job.Queued || j.Progress != 0 || !j.Expires.IsZero() || !strings.HasPrefix(j.ID, "job_") || len(j.ID) != 26 {
		t.Errorf("created: %+v", j)
	}
	if r := <-d.works.began; r != research("markets") {
		t.Errorf("the work is %+v", r)
	}
	if now := d.job(j); now.Status != job.Running || now.Progress != 0.25 || now.Started.IsZero() {
		t.Errorf("under way: %+v", now)
	}
	d.works.end <- nil
	now := d.becomes(j, job.Done)
	if now.Progress != 1 || now.Rows != 3 || now.SHA256 != "abc" || !now.AsOf.Equal(noon.Add(-time.Minute)) || now.Expires.Sub(now.Finished) != 24*time.Hour {
		t.Errorf("done: %+v", now)
	}
	if text := d.text(now); text != "markets of v1" {
		t.Errorf("the file holds %q", text)
	}
}

// The same request on the same data is done at once and shares the file; after the data changes, it
// is written again.
func TestEqualRequestsShareAFile(t *testing.T) {
	d := newDriver(t, job.Limits{})
	d.start()
	first := d.create(ann, "markets")
	<-d.works.began
	waiting := d.create(bob, "markets") // requested while the first is running
	d.works.end <- nil
	first, waiting = d.becomes(first, job.Done), d.becomes(waiting, job.Done)
	third := d.create(bob, "markets")
	if third.Status != job.Done || third.File != first.File || waiting.File != first.File || third.ID == waiting.ID {
		t.Errorf("files %q, %q, %q; the third is %s", first.File, waiting.File, third.File, third.Status)
	}
	d.works.setVersion("v2")
	fourth := d.create(bob, "markets")
	<-d.works.began
	d.works.end <- nil
	if fourth = d.becomes(fourth, job.Done); fourth.File == first.File || d.text(fourth) != "markets of v2" {
		t.Errorf("new data gave the old file: %+v", fourth)
	}
	if n := len(d.files()); n != 2 {
		t.Errorf("got %d files", n)
	}
	// A file is removed with its last job.
	for i, j := range []job.Job{first, waiting, third} {
		if got, err := d.Cancel(t.Context(), j.Owner, job.Research, j.ID); err != nil || got.Status != job.Expired {
			t.Errorf("canceled: %+v %v", got, err)
		}
		if n, want := len(d.files()), 2-i/2; n != want {
			t.Errorf("after %d of 3 were canceled, there are %d files, want %d", i+1, n, want)
		}
	}
}

// The key that was served longest ago is next, however many jobs others have.
func TestQueueIsFairAcrossKeys(t *testing.T) {
	d := newDriver(t, job.Limits{})
	for _, name := range []string{"a1", "a2", "a3"} {
		d.create(ann, name)
	}
	d.create(bob, "b1")
	d.create(bob, "b2")
	d.start()
	var order []string
	for range 5 {
		order = append(order, (<-d.works.began).Dataset)
		d.works.end <- nil
	}
	if got := strings.Join(order, " "); got != "a1 b1 a2 b2 a3" {
		t.Errorf("served in the order %s", got)
	}
}

func TestKeysHaveALimit(t *testing.T) {
	d := newDriver(t, job.Limits{PerKey: 2})
	d.create(ann, "a1")
	second := d.create(ann, "a2")
	if _, err := d.Create(t.Context(), ann, research("a3"), ""); !errors.Is(err, job.ErrTooMany) {
		t.Errorf("the third: %v", err)
	}
	d.create(bob, "b1")
	if _, err := d.Cancel(t.Context(), ann, job.Research, second.ID); err != nil {
		t.Error(err)
	}
	d.create(ann, "a3")
}

func TestIdempotencyKeys(t *testing.T) {
	d := newDriver(t, job.Limits{PerKey: 1})
	first, err := d.Create(t.Context(), ann, research("a"), "once")
	if err != nil {
		t.Fatal(err)
	}
	again, err := d.Create(t.Context(), ann, research("a"), "once")
	if err != nil || again.ID != first.ID {
		t.Errorf("the repeat made %s, the first %s: %v", again.ID, first.ID, err)
	}
	if _, err := d.Create(t.Context(), ann, research("b"), "once"); !errors.Is(err, job.ErrReused) {
		t.Errorf("another request: %v", err)
	}
	other, err := d.Create(t.Context(), bob, research("a"), "once")
	if err != nil || other.ID == first.ID {
		t.Errorf("another key's: %+v %v", other, err)
	}
}

func TestJobsBelongToTheirKeyAndKind(t *testing.T) {
	d := newDriver(t, job.Limits{})
	j := d.create(ann, "a")
	for _, c := range []struct {
		owner string
		kind  job.Kind
		id    string
	}{{bob, job.Research, j.ID}, {ann, job.Trader, j.ID}, {ann, job.Research, "job_x"}, {ann, job.Research, ""}} {
		if _, err := d.Job(t.Context(), c.owner, c.kind, c.id); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("%+v gets: %v", c, err)
		}
		if _, err := d.Cancel(t.Context(), c.owner, c.kind, c.id); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("%+v cancels: %v", c, err)
		}
	}
	if now := d.job(j); now.Status != job.Queued {
		t.Errorf("job is %s", now.Status)
	}
}

func TestCanceledJobsLeaveNothing(t *testing.T) {
	d := newDriver(t, job.Limits{})
	waits := d.create(ann, "waits")
	if got, err := d.Cancel(t.Context(), ann, job.Research, waits.ID); err != nil || got.Status != job.Canceled || got.Finished.IsZero() {
		t.Errorf("waiting: %+v %v", got, err)
	}
	d.start()
	runs := d.create(ann, "runs")
	if r := <-d.works.began; r.Dataset != "runs" {
		t.Errorf("%s was begun", r.Dataset)
	}
	if got, err := d.Cancel(t.Context(), ann, job.Research, runs.ID); err != nil || got.Status != job.Canceled {
		t.Errorf("running: %+v %v", got, err)
	}
	next := d.create(ann, "next")
	<-d.works.began // the canceled one has ended
	if got := d.job(runs); got.Status != job.Canceled {
		t.Errorf("a canceled job became %s", got.Status)
	}
	d.works.end <- nil
	next = d.becomes(next, job.Done)
	if files := d.files(); len(files) != 1 || files[0] != next.File {
		t.Errorf("files: %v", files)
	}
	if got, err := d.Cancel(t.Context(), ann, job.Research, runs.ID); err != nil || got.Status != job.Canceled {
		t.Errorf("twice: %+v %v", got, err)
	}
}

// slowEnd is a store that returns some time after it has recorded the end of a job.
type slowEnd struct {
	job.Store
	recorded chan struct{}
}

func (s slowEnd) EndJob(ctx context.Context, j job.Job) (bool, error) {
	ok, err := s.Store.EndJob(ctx, j)
	close(s.recorded)
	time.Sleep(50 * time.Millisecond)
	return ok, err
}

// A job that is recorded as done is no longer running: at that moment its file can be opened and
// removed.
func TestADoneJobIsNotRunning(t *testing.T) {
	d := newDriver(t, job.Limits{})
	recorded := make(chan struct{})
	d.Store = slowEnd{d.Store, recorded}
	d.start()
	j := d.create(ann, "a")
	<-d.works.began
	d.works.end <- nil
	<-recorded
	if got, err := d.Cancel(t.Context(), ann, job.Research, j.ID); err != nil || got.Status != job.Expired {
		t.Errorf("got %+v, err = %v", got, err)
	}
	if files := d.files(); len(files) != 0 {
		t.Errorf("files: %v", files)
	}
	if _, err := d.Open(d.job(j)); !errors.Is(err, job.ErrGone) {
		t.Errorf("opened: %v", err)
	}
}

func TestFailuresAreReported(t *testing.T) {
	d := newDriver(t, job.Limits{})
	d.start()
	j := d.create(ann, "a")
	<-d.works.began
	d.works.end <- errors.New("no luck")
	now := d.becomes(j, job.Failed)
	if now.Code != "broken" || now.Detail != "It broke: no luck" || now.Finished.IsZero() || !now.Expires.IsZero() || len(d.files()) != 0 {
		t.Errorf("%+v, files %v", now, d.files())
	}
}

// Jobs that ran when the server ended run again, and files without a job are removed; a job that
// ends the server every time fails.
func TestRestart(t *testing.T) {
	d := newDriver(t, job.Limits{})
	d.start()
	j := d.create(ann, "a")
	<-d.works.began
	d.stop()
	if now := d.job(j); now.Status != job.Queued || now.Attempts != 0 {
		t.Errorf("after a clean stop: %+v", now)
	}
	for i := range 3 { // the process is killed: nothing is recorded
		if taken, err := d.store.NextJob(t.Context()); err != nil || taken.ID != j.ID || taken.Attempts != i+1 {
			t.Fatalf("attempt %d: taken = %+v, err = %v", i, taken, err)
		}
		if err := os.WriteFile(filepath.Join(d.dir, j.ID[4:]+".csv.part"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if i < 2 {
			if err := d.store.Requeue(t.Context(), 3, job.Failure{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	d.start()
	d.until("the sweep", func() bool { return len(d.files()) == 0 })
	now := d.job(j)
	if now.Status != job.Failed || now.Code != "interrupted" {
		t.Errorf("%+v, files %v", now, d.files())
	}
}

func TestFilesExpire(t *testing.T) {
	d := newDriver(t, job.Limits{})
	d.start()
	j := d.create(ann, "a")
	<-d.works.began
	d.works.end <- nil
	j = d.becomes(j, job.Done)
	f, err := d.Open(j) // running when the file is removed
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	d.later(24*time.Hour - time.Minute)
	if err := d.Sweep(t.Context()); err != nil || d.job(j).Status != job.Done {
		t.Errorf("too early: %v", err)
	}
	d.later(2 * time.Minute)
	if now := d.job(j); now.Status != job.Expired {
		t.Errorf("before the sweep it is %s", now.Status)
	}
	if err := d.Maintain(t.Context()); err != nil {
		t.Error(err)
	}
	now := d.job(j)
	if now.Status != job.Expired || now.SHA256 != "abc" || len(d.files()) > 0 {
		t.Errorf("%+v, files %v", now, d.files())
	}
	if _, err := d.Open(now); !errors.Is(err, job.ErrGone) {
		t.Errorf("opened: %v", err)
	}
	if text, err := io.ReadAll(f); err != nil || string(text) != "a of v1" {
		t.Errorf("the file that was open reads %q, %v", text, err)
	}
	d.later(8 * 24 * time.Hour)
	if err := d.Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := d.Job(t.Context(), ann, job.Research, j.ID); !errors.Is(err, job.ErrNotFound) {
		t.Errorf("after a week: %v", err)
	}
}

// The oldest files are removed; the newest stays, whatever its size.
func TestQuota(t *testing.T) {
	d := newDriver(t, job.Limits{Quota: 15}) // a file is 7 bytes
	d.start()
	var all []job.Job
	for _, name := range []string{"a", "b", "c"} {
		j := d.create(ann, name)
		<-d.works.began
		d.works.end <- nil
		all = append(all, d.becomes(j, job.Done))
	}
	d.until("room", func() bool { return len(d.files()) == 2 })
	for i, want := range []job.Status{job.Expired, job.Done, job.Done} {
		if got := d.job(all[i]).Status; got != want {
			t.Errorf("file %d is %s, want %s", i, got, want)
		}
	}
	huge := d.create(ann, strings.Repeat("x", 90))
	<-d.works.began
	d.works.end <- nil
	huge = d.becomes(huge, job.Done)
	d.until("room", func() bool { return len(d.files()) == 1 })
	if now := d.job(huge); now.Status != job.Done {
		t.Errorf("the newest is %s", now.Status)
	}
}

// A worker that panics fails its job, not the server.
func TestPanicsFailTheJob(t *testing.T) {
	d := newDriver(t, job.Limits{})
	d.Work = panics{d.works}
	d.start()
	now := d.becomes(d.create(ann, "a"), job.Failed)
	if now.Code != "broken" {
		t.Errorf("now = %+v", now)
	}
}

type panics struct{ *works }

func (panics) WriteJob(context.Context, job.Request, string, func(float64)) (job.Result, error) {
	panic("at once")
}
