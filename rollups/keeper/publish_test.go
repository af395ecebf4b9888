package keeper

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmx/data/feeds"
	"pmx/engine/backup"
	"pmx/engine/control"
	"pmx/engine/enginetest"
)

// openPublisher opens a keeper, and a publisher of its states into a folder.
func openPublisher(t *testing.T) (p *publisher, dir string) {
	t.Helper()
	k, err := Open(t.Context(), Config{Engine: enginetest.Options(t, t.TempDir(), ""), Feeds: feeds.Catalog{}, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	keys, err := control.Open(t.Context(), k.DB().Dir().Control(), k.cfg.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = keys.Close() })
	dir = filepath.Join(t.TempDir(), "published")
	repo, err := backup.CreatePassing(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = repo.Close() })
	p = &publisher{k: k, repo: repo, keys: keys, at: contentVersion{revision: -1}, seen: backup.NewSeen()}
	if p.writer, err = repo.Begin(); err != nil {
		t.Fatal(err)
	}
	return p, dir
}

// A new snapshot may have no new state: an import that was committed while the previous state was
// published is already in that state.
func TestAnEqualStateIsNotPublishedAgain(t *testing.T) {
	p, dir := openPublisher(t)
	published := func(s contentVersion, want int) {
		t.Helper()
		if err := p.publish(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		states, err := os.ReadDir(filepath.Join(dir, "manifests"))
		if err != nil || len(states) != want || p.at != s {
			t.Errorf("%v: %d states, not %d; %+v is published, not %+v", err, len(states), want, p.at, s)
		}
	}
	published(contentVersion{epoch: 1, revision: 1}, 1)
	published(contentVersion{epoch: 2, revision: 1}, 1)
	if _, err := p.keys.IssueKey(t.Context(), [32]byte{1}, "alpha", "a"); err != nil {
		t.Fatal(err)
	}
	published(contentVersion{epoch: 2, revision: 2}, 2)
	if err := p.k.SetWhale(t.Context(), 5_000_000); err != nil {
		t.Fatal(err)
	}
	published(contentVersion{epoch: 3, revision: 2}, 3)
}

// TestAPublishedStateIsDatedByItsCheckpoint: a state that waited for a query has what was committed meanwhile.
func TestAPublishedStateIsDatedByItsCheckpoint(t *testing.T) {
	p, dir := openPublisher(t)
	made := make(chan error, 1)
	var ended time.Time
	err := p.k.db.Read(t.Context(), func(conn *sql.Conn) error {
		for _, text := range []string{"BEGIN", "SELECT count(*) FROM fills"} {
			if _, err := conn.ExecContext(t.Context(), text); err != nil {
				return err
			}
		}
		if err := p.k.SetWhale(t.Context(), 5_000_000); err != nil {
			return err
		}
		go func() { made <- p.publish(t.Context(), contentVersion{epoch: 1, revision: 1}) }()
		time.Sleep(1200 * time.Millisecond) // names of states have seconds
		ended = p.k.cfg.Now()
		_, err := conn.ExecContext(t.Context(), "COMMIT")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-made; err != nil {
		t.Fatal(err)
	}
	if at, known := backup.Newest(dir); !known || at.Before(ended.Truncate(time.Second)) {
		t.Errorf("the state is of %v, and the query ended at %v", at, ended)
	}
}

func TestAFolderThatTheUnitForbidsIsReported(t *testing.T) {
	forbidden := readOnly("/srv/backup", &os.PathError{Op: "open", Path: "/srv/backup/lock", Err: syscall.EROFS})
	if text := forbidden.Error(); !strings.Contains(text, "ReadWritePaths=/srv/backup") || !errors.Is(forbidden, syscall.EROFS) {
		t.Error(text)
	}
	if err := readOnly("/srv/backup", os.ErrPermission); !errors.Is(err, os.ErrPermission) || strings.Contains(err.Error(), "systemd") {
		t.Error(err)
	}
}
