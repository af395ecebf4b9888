//go:build unix

package textrun

import (
	"os"
	"testing"

	"pmx/rollups/runfile"
)

// A file that is cut short under a running service faults when it is read: the
// store forgets it, nothing crashes, and the next build writes it anew.
func TestAFileThatCannotBeReadIsForgotten(t *testing.T) {
	s := made(t, 1000)
	defer func() { _ = s.Close() }()
	if err := os.Truncate(s.path, runfile.PageSize); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Texts(700, 0); ok || s.Has(1, 0) || s.Stats().Ready {
		t.Errorf("texts of a file that is gone: %+v", s.Stats())
	}
	rewrite(t, s, 1000)
	if got, ok := s.Texts(700, 0); !ok || got != *described(700) {
		t.Errorf("after the next build: %+v %v", got, ok)
	}
}
