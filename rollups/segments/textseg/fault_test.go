//go:build unix

package textseg

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"pmx/rollups/segments"
)

// A file that is cut off under a running service causes a fault when it is read: the store forgets
// it, nothing crashes, and the next build writes it again.
func TestAFileThatCannotBeReadIsForgotten(t *testing.T) {
	s := made(t, 1000)
	defer func() { _ = s.Close() }()
	if err := os.Truncate(s.Path, segments.PageSize); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Texts(700, 0); ok || s.Has(1, 0) || s.Stats().Ready {
		t.Errorf("texts of a file that is gone: s.Stats() = %+v", s.Stats())
	}
	rewrite(t, s, 1000)
	if got, ok := s.Texts(700, 0); !ok || got != *described(700) {
		t.Errorf("after the next build: got %+v, ok = %v", got, ok)
	}
}

func pipe(path string) error { return unix.Mkfifo(path, 0o600) }

// If something other than a file is at the file's path, it is neither waited for nor read.
func TestWhatIsNoFileIsSetAside(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"folder": func(path string) error { return os.Mkdir(path, 0o700) }, "pipe": pipe,
	} {
		s := New(t.TempDir() + "/markets.seg")
		var told *segments.Damage
		s.OnDamage = func(d *segments.Damage) { told = d }
		if err := put(s.Path); err != nil {
			t.Fatal(err)
		}
		if ok, err := s.Open(nil); ok || err != nil || told == nil || told.SetAside() != nil {
			t.Errorf("%s: ok = %v, err = %v, told = %v", name, ok, err, told)
		}
		if err := s.Restart(0, false); err != nil {
			t.Fatal(err)
		}
		rewrite(t, s, 3)
		if _, ok := s.Texts(1, 0); !ok {
			t.Errorf("%s: the next file is missing", name)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
