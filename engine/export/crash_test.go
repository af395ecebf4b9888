package export_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/engine"
	"pmx/engine/control"
	"pmx/engine/export"
	"pmx/engine/export/job"
)

// TestMain lets the test binary be the process that is killed, and closes the sample's venue.
func TestMain(m *testing.M) {
	if dir := os.Getenv("PMX_TEST_EXPORT_IN"); dir != "" {
		os.Exit(exportUntilKilled(engine.Dir(dir)))
	}
	code := m.Run()
	if err := closeSample(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// dying is an Exporter that kills its process when half of a file is written.
type dying struct{ *export.Exporter }

func (d dying) WriteJob(ctx context.Context, r job.Request, path string, progress func(float64)) (job.Result, error) {
	return d.Exporter.WriteJob(ctx, r, path, func(share float64) {
		progress(share)
		if share > 0.6 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	})
}

func exportUntilKilled(dir engine.Dir) int {
	ctx := context.Background()
	db, err := engine.Open(ctx, engine.Options{Dir: dir, Threads: 2, MemoryLimit: "1GB"})
	if err != nil {
		return 1
	}
	store, err := control.Open(ctx, dir.Control(), time.Now)
	if err != nil {
		return 2
	}
	_ = job.NewPool(job.Config{Store: store, Work: dying{&export.Exporter{DB: db}}, Dir: dir.Exports(), Now: time.Now, Log: zerolog.Nop()}).Run(ctx)
	return 3
}

// A job whose process was killed in the middle is started again by the next process and writes the
// file that it should have written; nothing of the first attempt remains.
func TestAKilledExportIsMadeByTheNextProcess(t *testing.T) {
	k := open(t, several)
	rows := testfiles.Cases(130_000, 400_000) // several row groups
	crowd(t, k, strconv.Itoa(rows))
	dir := k.DB().Dir()
	wanted, err := k.Exporter().Write(t.Context(), "wallet_pnl", data.Parquet, filepath.Join(dir.Tmp(), "wanted.parquet"), nil)
	if err != nil {
		t.Fatal(err)
	}
	store, err := control.Open(t.Context(), dir.Control(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	key, err := store.IssueKey(t.Context(), [32]byte{1}, "trader", "ann")
	if err != nil {
		t.Fatal(err)
	}
	asked := job.Request{Kind: job.Research, Dataset: "wallet_pnl", Format: "parquet", Period: "all"}
	j, err := job.NewPool(job.Config{Store: store, Work: k.Exporter(), Dir: dir.Exports(), Now: time.Now}).Create(t.Context(), key.ID, asked, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "PMX_TEST_EXPORT_IN="+string(dir))
	_ = child.Run() // it is killed
	if status, ok := child.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the process was not killed: %s", child.ProcessState)
	}
	if left, err := filepath.Glob(filepath.Join(dir.Exports(), "*.part")); err != nil || len(left) != 1 {
		t.Fatalf("a half file should have been left: left = %v, err = %v", left, err)
	}
	if now, err := store.Job(t.Context(), key.ID, j.ID); err != nil || now.Status != job.Running {
		t.Fatalf("the job was left %+v %v", now, err)
	}
	finishJobs(t, dir, store)
	now, err := store.Job(t.Context(), key.ID, j.ID)
	if err != nil || now.Status != job.Done || now.Attempts != 2 || now.SHA256 != wanted.SHA256 || now.Rows != int64(rows) {
		t.Errorf("the job is %+v, want the file %s: %v", now, wanted.SHA256, err)
	}
	files, err := os.ReadDir(dir.Exports())
	if err != nil || len(files) != 1 || files[0].Name() != now.File {
		t.Errorf("files: files = %v, err = %v", files, err)
	}
}

// finishJobs runs the jobs that wait, in a process that is not killed.
func finishJobs(t *testing.T, dir engine.Dir, store *control.DB) {
	t.Helper()
	db, err := engine.Open(t.Context(), engine.Options{Dir: dir, Threads: 2, MemoryLimit: "1GB"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	idle := &untilIdle{DB: store, idle: cancel}
	if err := job.NewPool(job.Config{Store: idle, Work: &export.Exporter{DB: db}, Dir: dir.Exports(), Now: time.Now, Log: zerolog.Nop()}).Run(ctx); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// untilIdle is a store that signals when no job waits any more.
type untilIdle struct {
	*control.DB
	idle func()
}

func (u *untilIdle) NextJob(ctx context.Context) (job.Job, error) {
	j, err := u.DB.NextJob(ctx)
	if err != nil {
		u.idle()
	}
	return j, err
}
