package keeper_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pmx/data/sample"
	"pmx/data/testfiles"
	"pmx/engine"
	"pmx/engine/backup"
	"pmx/engine/control"
	"pmx/engine/guard"
	"pmx/rollups/keeper"
)

// restoreCurrent restores the newest backup of a repository into a new data directory.
func restoreCurrent(t *testing.T, repo string) (string, *backup.Manifest) {
	t.Helper()
	r, err := backup.Open(repo)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	name, err := r.Current()
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range m.Files {
		to, err := os.Create(filepath.Join(dir, f.Name))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(r.Extract(context.Background(), f, to, func(int64) {}), to.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return dir, m
}

// Most of the database is read before it is locked: imports continue and are in the backup, and
// states can be published. While it is locked, a file is imported, everything is rebuilt, and
// figures are refreshed: none of it is in the backup, which can be verified, and the venue
// continues.
func TestABackupIsOneState(t *testing.T) {
	testfiles.InLong(t, "TestAReplicaTakesWholeBackupsOnly serves what was backed up")
	ctx, from, dir, repo := context.Background(), t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "repo")
	if _, err := sample.Write(ctx, sample.Config{Fills: 6_000, Days: sampleDays(), FileRows: 2_000}, from, nil); err != nil {
		t.Fatal(err)
	}
	withoutWeather(t, from)
	k := open(t, dir)
	files, err := filepath.Glob(filepath.Join(from, "orderFilled*"))
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	mustImport(t, k, files[0], filepath.Join(from, sample.EventsName))
	keys, err := control.Open(ctx, engine.Dir(dir).Control(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = keys.Close() }()
	if _, err := keys.IssueKeyUntil(ctx, [32]byte{1}, "trader", "before", time.Time{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "venue_wallets.txt"), []byte("# none\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var ahead, held sync.Once
	var want int64
	out, err := k.Backup(ctx, keeper.BackupRequest{Dir: repo, Pmx: "test"}, func(share float64) {
		if share <= 0.9 {
			ahead.Do(func() {
				mustImport(t, k, files[1])
				want = k.Snapshot().Counts.Fills
				ctx, cancel := context.WithTimeout(ctx, time.Minute)
				defer cancel()
				if err := k.DB().Freeze(ctx, func(context.Context, engine.Frozen) error { return nil }); err != nil {
					t.Errorf("nothing is published during the backup: %v", err)
				}
			})
			return
		}
		held.Do(func() {
			mustImport(t, k, files[2:]...)
			if err := errors.Join(k.Rebuild(ctx, nil), k.Cycle(ctx)); err != nil {
				t.Error(err)
			}
		})
	})
	if err != nil || out.Number != 1 || out.Fills != want || want <= 2_000 || out.NewBlocks == 0 {
		t.Fatalf("%+v, want %d fills, %v", out, want, err)
	}
	alsoVerify(t, k)
	restored, m := restoreCurrent(t, repo)
	again := open(t, restored)
	if err := again.CheckRestored(ctx, m); err != nil {
		t.Error(err)
	}
	alsoVerify(t, again)
	if err := k.CheckRestored(ctx, m); err == nil || !strings.Contains(err.Error(), "6000 fills") {
		t.Errorf("verification of the venue after the backup: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(restored, "venue_wallets.txt")); err != nil || string(text) != "# none\n" {
		t.Errorf("venue_wallets.txt: text = %q, err = %v", text, err)
	}
	kept, err := control.Open(ctx, engine.Dir(restored).Control(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = kept.Close() }()
	if all, err := kept.ListKeys(ctx); err != nil || len(all) != 1 || all[0].Label != "before" {
		t.Errorf("keys: all = %+v, err = %v", all, err)
	}
	if err := kept.Check(ctx); err != nil {
		t.Error(err)
	}
}

func TestABackupThatIsCancelledLeavesTheLastOne(t *testing.T) {
	ctx, repo := context.Background(), filepath.Join(t.TempDir(), "repo")
	k := open(t, t.TempDir())
	if _, err := k.Backup(ctx, keeper.BackupRequest{Dir: repo}, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if _, err := k.Backup(ctx, keeper.BackupRequest{Dir: repo}, func(float64) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if _, m := restoreCurrent(t, repo); len(m.Files) == 0 {
		t.Errorf("m = %+v", m)
	}
	if out, err := k.Backup(context.Background(), keeper.BackupRequest{Dir: repo, Keep: 1}, nil); err != nil || out.Number != 2 || out.Removed != 1 {
		t.Errorf("out = %+v, err = %v", out, err)
	}
}

// The result of pmx backup does not change the state of scheduled backups, and a panic counts as a
// failure.
func TestScheduledBackupsAreDistinguished(t *testing.T) {
	ctx, repo := context.Background(), filepath.Join(t.TempDir(), "repo")
	k := open(t, t.TempDir())
	const daily = "15 3 * * *"
	k.ExpectBackups(repo, daily)
	first := k.Freshness()
	if !first.Scheduled.Made.IsZero() || first.BackupDue.IsZero() {
		t.Errorf("before the first backup: first = %+v", first)
	}
	asked, scheduled := keeper.BackupRequest{Dir: repo}, keeper.BackupRequest{Dir: repo, When: daily}
	if _, err := k.Backup(ctx, asked, nil); err != nil {
		t.Fatal(err)
	}
	if f := k.Freshness(); f.Asked.Made.IsZero() || f.Scheduled != first.Scheduled || f.BackupDue != first.BackupDue {
		t.Errorf("after pmx backup: f = %+v", f)
	}
	if _, err := k.Backup(ctx, scheduled, func(float64) { panic("no") }); !guard.IsPanic(err) {
		t.Errorf("the error is %v", err)
	}
	if f := k.Freshness(); !f.Scheduled.Failing || f.Scheduled.Problem == "" || f.Scheduled.Failed.IsZero() || f.Asked.Failing || f.BackupDue != first.BackupDue {
		t.Errorf("after a panic: f = %+v", f)
	}
	if _, err := k.Backup(ctx, asked, nil); err != nil || !k.Freshness().Scheduled.Failing {
		t.Errorf("pmx backup cleared the failure, or failed: %v", err)
	}
	if _, err := k.Backup(ctx, scheduled, nil); err != nil {
		t.Fatal(err)
	}
	f := k.Freshness()
	if f.Scheduled.Failing || f.Scheduled.Problem != "" || f.Scheduled.Made.IsZero() || !f.BackupDue.After(f.Scheduled.Made) || f.BackupDue.Hour() != 3 {
		t.Errorf("after a successful backup: f = %+v", f)
	}
	if err := os.RemoveAll(filepath.Join(repo, "blocks")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(repo, "blocks"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Backup(ctx, asked, nil); err == nil {
		t.Error("backup wrote to a folder that is not a backup folder")
	}
	if f := k.Freshness(); f.Scheduled.Failing || !f.Asked.Failing {
		t.Errorf("pmx backup failed: f = %+v", f)
	}
	k.ExpectBackups(repo, daily) // as the next process does
	if f := k.Freshness(); f.Scheduled.Made.IsZero() || !f.BackupDue.After(f.Scheduled.Made) {
		t.Errorf("after a start: f = %+v", f)
	}
}

func TestABackupFromTheFutureDoesNotPutTheNextOneOff(t *testing.T) {
	repo := filepath.Join(t.TempDir(), "repo")
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ahead := openAt(t, t.TempDir(), func() time.Time { return now.AddDate(4, 0, 0) })
	if _, err := ahead.Backup(context.Background(), keeper.BackupRequest{Dir: repo}, nil); err != nil {
		t.Fatal(err)
	}
	k := openAt(t, t.TempDir(), func() time.Time { return now })
	k.ExpectBackups(repo, "15 3 * * *")
	if due, want := k.Freshness().BackupDue, time.Date(2026, 3, 2, 3, 15, 0, 0, time.UTC); !due.Equal(want) {
		t.Errorf("due on %s, want %s", due, want)
	}
}

// spareBlocks lists the blocks of a repository that its newest backup does not need.
func spareBlocks(t *testing.T, repo string) (spare []string) {
	t.Helper()
	needed := map[string]bool{}
	if r, err := backup.Open(repo); err == nil {
		defer func() { _ = r.Close() }()
		if name, err := r.Current(); err == nil {
			m, err := r.Load(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range m.Files {
				for _, sum := range f.Blocks {
					needed[sum] = true
				}
			}
		}
	}
	all, err := filepath.Glob(filepath.Join(repo, "blocks", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		if !needed[filepath.Base(path)] {
			spare = append(spare, path)
		}
	}
	return spare
}

// A backup has the time at which the database was locked, not the time at which it began. One that
// is cancelled before that leaves nothing.
func TestABackupIsOfTheTimeOfItsState(t *testing.T) {
	repo, began := filepath.Join(t.TempDir(), "repo"), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var minutes atomic.Int64
	k := openAt(t, t.TempDir(), func() time.Time { return began.Add(time.Duration(minutes.Load()) * time.Minute) })
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, err := k.Backup(ctx, keeper.BackupRequest{Dir: repo}, func(share float64) {
		if share > 0.5 {
			cancel()
		}
	})
	if spare := spareBlocks(t, repo); !errors.Is(err, context.Canceled) || len(spare) > 0 {
		t.Errorf("%d blocks of a cancelled backup are left, err = %v", len(spare), err)
	}
	out, err := k.Backup(context.Background(), keeper.BackupRequest{Dir: repo}, func(share float64) {
		if share < 0.9 {
			minutes.Store(7)
		} else if share > 0.91 {
			minutes.Store(9)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	want := began.Add(7 * time.Minute)
	if _, m := restoreCurrent(t, repo); !m.At.Equal(want) || !out.At.Equal(want) {
		t.Errorf("the backup is of %s, its result says %s, want %s", m.At, out.At, want)
	}
	if at, known := backup.Newest(repo); !known || !at.Equal(want) {
		t.Errorf("the newest backup is of %s", at)
	}
}

// Blocks that a killed backup had read ahead are removed by the next one. If they cannot be
// removed, the backup succeeds nevertheless, the error names them, and old backups are removed.
func TestABackupSucceedsIfOldFilesCannotBeRemoved(t *testing.T) {
	ctx, repo := context.Background(), filepath.Join(t.TempDir(), "repo")
	k := open(t, t.TempDir())
	left := filepath.Join(repo, "blocks", "ab", strings.Repeat("ab", 32))
	for number := int64(1); number <= 2; number++ {
		if out, err := k.Backup(ctx, keeper.BackupRequest{Dir: repo}, nil); err != nil || out.Number != number {
			t.Fatal(out, err)
		}
		if spare := spareBlocks(t, repo); slices.Contains(spare, left) {
			t.Errorf("backup %d left %q", number, spare)
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(left), 0o700), os.WriteFile(left, []byte("torn"), 0o600),
			os.WriteFile(filepath.Join(repo, "tmp", "ahead"), []byte(filepath.Base(left)+"\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	var held sync.Once
	out, err := k.Backup(ctx, keeper.BackupRequest{Dir: repo, Keep: 2}, func(share float64) {
		if share <= 0.91 {
			return
		}
		held.Do(func() { // which cannot be removed like a file
			if err := errors.Join(os.Remove(left), os.MkdirAll(filepath.Join(left, "in"), 0o700)); err != nil {
				t.Error(err)
			}
		})
	})
	if err == nil || !strings.Contains(err.Error(), "backup 3 was made, but") || out.Number != 3 || out.Removed != 1 {
		t.Errorf("out = %+v, err = %v", out, err)
	}
	if s := k.Freshness().Asked; !s.Failing || s.Failed.IsZero() || s.Made.Before(s.Failed) {
		t.Errorf("s = %+v", s)
	}
}

// If the disk of the data directory is full, a backup fails before it reads anything.
func TestABackupOnAFullDiskReadsNothing(t *testing.T) {
	dir, repo := testfiles.Disk(t, "size=96m"), filepath.Join(t.TempDir(), "repo")
	k := open(t, dir)
	filler := filepath.Join(dir, "filler")
	testfiles.Fill(t, filler)
	_, err := k.Backup(context.Background(), keeper.BackupRequest{Dir: repo}, func(share float64) { t.Errorf("%v is read", share) })
	if spare := spareBlocks(t, repo); !errors.Is(err, engine.ErrDiskFull) || len(spare) > 0 {
		t.Errorf("%d blocks, %v", len(spare), err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Backup(context.Background(), keeper.BackupRequest{Dir: repo}, nil); err != nil {
		t.Error(err)
	}
}
