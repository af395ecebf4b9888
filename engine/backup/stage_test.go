package backup

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func stage(t *testing.T, target string) *Staging {
	t.Helper()
	s, err := Stage(target)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAFolderAppearsComplete(t *testing.T) {
	for _, exists := range []bool{false, true} {
		target := filepath.Join(t.TempDir(), "parent", "data")
		if exists {
			if err := os.MkdirAll(target, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		s := stage(t, target)
		if err := os.WriteFile(filepath.Join(s.Dir(), "a.db"), []byte("a"), 0o600); err != nil {
			t.Fatal(err)
		}
		s.step = func(name string) {
			entries, err := os.ReadDir(target)
			if whole := len(entries) == 1; whole != (name == "named") {
				t.Errorf("at %q the folder has %d entries, %v", name, len(entries), err)
			}
		}
		if err := s.Publish(); err != nil {
			t.Fatal(err)
		}
		if left := files(t, filepath.Dir(target)); len(left) != 1 || left[0] != filepath.Join(target, "a.db") {
			t.Errorf("there is %q", left)
		}
	}
}

// The target of the link is created, and the link remains.
func TestAFolderBehindALink(t *testing.T) {
	root := t.TempDir()
	real, target := folder(t, root, "disk", "data"), filepath.Join(root, "data")
	link(t, real, target)
	s := stage(t, target)
	if got := filepath.Dir(filepath.Dir(s.Dir())); got != filepath.Dir(real) {
		t.Errorf("it is created in %s, which may be another disk", got)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(s.Dir(), "a.db"), []byte("a"), 0o600), s.Publish()); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(target); err != nil || to != real {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	if left := files(t, root); len(left) != 2 || left[1] != filepath.Join(real, "a.db") { // and the link
		t.Errorf("there is %q", left)
	}
	link(t, filepath.Join(root, "gone"), filepath.Join(root, "dangling"))
	if _, err := Stage(filepath.Join(root, "dangling")); err == nil || !strings.Contains(err.Error(), "make that folder") {
		t.Errorf("a link that leads nowhere: %v", err)
	}
}

// Root may write everywhere.
func TestAFolderWhoseParentIsReadOnly(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	for _, exists := range []bool{false, true} {
		parent := folder(t, t.TempDir(), "parent")
		target := filepath.Join(parent, "data")
		if exists {
			folder(t, target)
		}
		if err := os.Chmod(parent, 0o500); err != nil {
			t.Fatal(err)
		}
		_, err := Stage(target)
		if err == nil || !strings.Contains(err.Error(), parent+" has to be writable") {
			t.Errorf("the error is %v", err)
		}
		if err := os.Chmod(parent, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// A process that was killed has released the lock and left its files.
func TestFilesOfAKilledRestoreAreReplaced(t *testing.T) {
	target := filepath.Join(t.TempDir(), "data")
	killed := stage(t, target)
	if err := os.WriteFile(filepath.Join(killed.Dir(), "half.db"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Stage(target); err == nil || !strings.Contains(err.Error(), "another pmx is restoring into "+target) {
		t.Errorf("a second one at once: %v", err)
	}
	if err := killed.lock.Close(); err != nil {
		t.Fatal(err)
	}
	s := stage(t, target)
	if got := files(t, s.Dir()); len(got) != 0 {
		t.Errorf("there is %q", got)
	}
	if err := s.Discard(); err != nil {
		t.Fatal(err)
	}
	if got := files(t, filepath.Dir(target)); len(got) != 0 {
		t.Errorf("after discarding, there is %q", got)
	}
}

func TestAFolderThatIsNotEmptyIsNotChanged(t *testing.T) {
	target := t.TempDir()
	other := filepath.Join(target, "other")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Stage(target); !errors.Is(err, ErrOccupied) {
		t.Errorf("the error is %v", err)
	}
	if _, err := Stage(other); err == nil {
		t.Error("a file was accepted as a folder")
	}
	free := filepath.Join(t.TempDir(), "data")
	mine := filepath.Join(free+stagingEnd, "mine")
	if err := errors.Join(os.MkdirAll(filepath.Dir(mine), 0o700), os.WriteFile(mine, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := Stage(free); err == nil || !strings.Contains(err.Error(), "contains mine, which pmx did not create") {
		t.Errorf("the error is %v", err)
	}
	late := filepath.Join(t.TempDir(), "data")
	s := stage(t, late)
	if err := os.MkdirAll(filepath.Join(late, "since"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.Publish(); !errors.Is(err, ErrOccupied) {
		t.Errorf("a folder that is no longer empty: %v", err)
	}
	if err := s.Discard(); err != nil {
		t.Fatal(err)
	}
}
