package segments

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestUnreadRowsAreExpected: the pages that are not verified yet, and no others.
func TestUnreadRowsAreExpected(t *testing.T) {
	format := &Format{Magic: "pmx-test", Version: 7, Entries: []uint64{8, 8}, Names: []string{"words", "marks"}}
	path := filepath.Join(t.TempDir(), "a.seg")
	w, err := Create(path, format)
	if err != nil {
		t.Fatal(err)
	}
	words := make([]byte, 0, 5*PageSize)
	for i := range 5*PageSize/8 - 1 {
		words = binary.LittleEndian.AppendUint64(words, uint64(i))
	}
	for _, err := range []error{w.Add(0, words), w.Pad(), w.Add(1, words[:16]), w.Finish(Coverage{}, func(*os.File) error { return nil }), w.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	f, err := Open(path, format)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Release() }()
	unread := func(extent, lo, hi int, want ...[2]int) {
		t.Helper()
		var got [][2]int
		for from, to := range f.unread(extent, lo, hi) {
			got = append(got, [2]int{from, to})
		}
		if !slices.Equal(got, want) {
			t.Errorf("bytes %d to %d of extent %d: unread are %v, want %v", lo, hi, extent, got, want)
		}
	}
	all := len(words)
	unread(0, 0, all, [2]int{0, 5})
	unread(0, 10, 10+PageSize, [2]int{0, 2})
	unread(1, 0, 16, [2]int{5, 6})
	unread(0, 0, 0)
	f.Expect(0, 0, all)
	f.Expect(0, all, all+1) // outside of the extent: nothing is requested
	unread(0, 0, all, [2]int{0, 5})
	f.Bytes(0, 2*PageSize, 2*PageSize+8)
	unread(0, 0, all, [2]int{0, 2}, [2]int{3, 5})
	f.Bytes(0, 0, 8)
	f.Bytes(0, all-8, all)
	unread(0, 0, all, [2]int{1, 2}, [2]int{3, 4})
	if got := f.Bytes(0, 0, all); !slices.Equal(got, words) {
		t.Error("the bytes read are not those that were written")
	}
	unread(0, 0, all)
	unread(1, 0, 16, [2]int{5, 6})
}
