package replica

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmx/engine"
	"pmx/engine/backup"
	"pmx/rollups/serving"
)

// TestADirectoryIsTakenBeforeTheFirstBackup: an import into it is refused while the server waits.
func TestADirectoryIsTakenBeforeTheFirstBackup(t *testing.T) {
	dir, repo := engine.Dir(t.TempDir()), filepath.Join(t.TempDir(), "none")
	if f, ok := Of(dir); ok {
		t.Fatalf("an empty directory follows %+v", f)
	}
	open := func(repo string) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		f, err := New(Config{Repo: repo, Dir: dir, Log: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Begin(ctx); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	open(repo)
	f, ok := Of(dir)
	if !ok || f != (Follows{Dir: repo}) {
		t.Fatalf("f = %+v, ok = %t", f, ok)
	}
	if err := f.Refuse("import"); err == nil || !strings.Contains(err.Error(), repo) {
		t.Error(err)
	}
	known := &Follower{cfg: Config{Dir: dir}}
	if err := known.note(Follows{Dir: repo, Writer: "box"}); err != nil {
		t.Fatal(err)
	}
	open(repo)
	if f, _ := Of(dir); f.Writer != "box" {
		t.Errorf("the writer is forgotten: %+v", f)
	}
	open(repo + "2")
	if f, _ := Of(dir); f != (Follows{Dir: repo + "2"}) {
		t.Errorf("another folder: %+v", f)
	}
}

type nobody struct{}

func (nobody) Take(context.Context, State, func(string)) error { return nil }
func (nobody) Followed(bool, string)                           {}

// TestWhatIsHereAlreadyIsNotCurrent until the folder was read.
func TestWhatIsHereAlreadyIsNotCurrent(t *testing.T) {
	made, now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	dir := engine.Dir(t.TempDir())
	if err := os.MkdirAll(dir.Replica(), 0o700); err != nil {
		t.Fatal(err)
	}
	f := &Follower{cfg: Config{Dir: dir, Now: func() time.Time { return now }}, server: nobody{}}
	at := &backup.Copy{Name: "00000003-00", Manifest: &backup.Manifest{At: made}}
	f.fails(errors.New("the folder is not there"))
	f.noted(at, now)
	if s := f.Sources()[0]; !s.AsOf.Equal(made) || s.State != serving.SourceWaiting || s.Problem == "" {
		t.Errorf("without its folder: %+v", s)
	}
	f.current()
	if s := f.Sources()[0]; !s.AsOf.Equal(now) || s.State != serving.SourceIdle || s.Problem != "" {
		t.Errorf("once it was read: %+v", s)
	}
	f.noted(at, now)
	if s := f.Sources()[0]; !s.AsOf.Equal(now) || s.State != serving.SourceIdle {
		t.Errorf("taken without a problem: %+v", s)
	}
}
