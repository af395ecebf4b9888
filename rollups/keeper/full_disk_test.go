package keeper_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pmx/data/testfiles"
	"pmx/engine"
)

// TestTheDiskIsFullUntilThereIsRoom: also if work that writes nothing succeeds meanwhile.
func TestTheDiskIsFullUntilThereIsRoom(t *testing.T) {
	dir := testfiles.Disk(t, "size=64m")
	k, filler := open(t, dir), filepath.Join(dir, "filler")
	testfiles.Fill(t, filler)
	if err := k.Cycle(t.Context()); !errors.Is(err, engine.ErrDiskFull) {
		t.Errorf("a cycle: err = %v", err)
	}
	if err := k.Refresh(t.Context(), nil); err != nil || !k.Freshness().DiskFull {
		t.Errorf("a refresh with nothing to do: err = %v, and it says full: %v", err, k.Freshness().DiskFull)
	}
	if err := errors.Join(os.Remove(filler), k.Refresh(t.Context(), nil)); err != nil || k.Freshness().DiskFull {
		t.Errorf("with room: err = %v, and it says full: %v", err, k.Freshness().DiskFull)
	}
}
