package keeper_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pmx/data/testfiles"
	"pmx/engine"
)

// TestARebuildThatFillsTheDiskGivesItsRoomBack: the log has rows of tables that were dropped again, and does not wait for room to be written
// to the database file.
func TestARebuildThatFillsTheDiskGivesItsRoomBack(t *testing.T) {
	dir := testfiles.Disk(t, "size=256m")
	k := sampleIn(t, dir, 50_000)
	if err := k.DB().Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(dir, "filler")
	testfiles.Fill(t, filler)
	st, err := os.Stat(filler)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filler, st.Size()-18<<20); err != nil { // a rebuild keeps 16 MB of such a disk, and needs more than the rest
		t.Fatal(err)
	}
	for try := range 2 {
		if err := k.Rebuild(t.Context(), nil); !errors.Is(err, engine.ErrDiskFull) {
			t.Fatalf("try %d: err = %v", try, err)
		}
		if err := k.DB().CheckSpace(); err != nil {
			t.Errorf("try %d: the room did not come back: %v", try, err)
		}
		mustVerify(t, k)
	}
	if err := errors.Join(os.Remove(filler), k.Rebuild(t.Context(), nil)); err != nil {
		t.Error(err)
	}
	mustVerify(t, k)
}
