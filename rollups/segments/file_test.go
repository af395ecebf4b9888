package segments_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"pmx/rollups/segments"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// letters is a kind of file with entries of eight bytes and of three.
var letters = &segments.Format{Magic: "pmx-test", Version: 7, Entries: []uint64{8, 3}, Names: []string{"words", "marks"}}

var covered = segments.Coverage{Batch: 12, ImportLogHash: 0xFEED, Facts: 1_001}

func noSync(*os.File) error { return nil }

// words returns n entries of the first extent.
func words(n int) []byte {
	var b []byte
	for i := range n {
		b = binary.LittleEndian.AppendUint64(b, uint64(i)*0x9E3779B97F4A7C15)
	}
	return b
}

// written writes a file of n words and two marks and returns its path.
func written(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.seg")
	w, err := segments.Create(path, letters)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{w.Add(0, words(n)), w.Pad(), w.Add(1, []byte("abcdef")), w.Finish(covered, noSync), w.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func opened(t *testing.T, path string) *segments.File {
	t.Helper()
	f, err := segments.Open(path, letters)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Release(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// TestAFileComesBackAsItWasWritten: header, extents and every byte, with extents that end at the
// end of a page, before it and after it, and one that is empty.
func TestAFileComesBackAsItWasWritten(t *testing.T) {
	for _, n := range []int{0, 1, segments.PageSize/8 - 1, segments.PageSize / 8, segments.PageSize/8 + 1, 3_000} {
		f := opened(t, written(t, n))
		if diff := cmp.Diff(covered, f.Coverage); diff != "" {
			t.Errorf("%d words: coverage (-want +got):\n%s", n, diff)
		}
		if diff := cmp.Diff([]uint64{uint64(n), 2}, f.Counts); diff != "" {
			t.Errorf("%d words: counts (-want +got):\n%s", n, diff)
		}
		if f.Len(0) != 8*n || !bytes.Equal(f.Bytes(0, 0, f.Len(0)), words(n)) || string(f.Bytes(1, 2, 5)) != "cde" {
			t.Errorf("%d words: the extents differ", n)
		}
		if from, to := f.Span(1); from%segments.PageSize != 0 || to-from != 6 {
			t.Errorf("%d words: the second extent is %d to %d", n, from, to)
		}
		if info, err := os.Stat(written(t, n)); err != nil || uint64(info.Size()) != f.Size() {
			t.Errorf("%d words: %v, want %d bytes", n, err, f.Size())
		}
		if err := f.VerifyPages(func() error { return nil }); err != nil {
			t.Errorf("%d words: %v", n, err)
		}
	}
}

// TestEveryFlippedByteIsFound when the file is opened or when its page is read: no byte can change
// without being noticed.
func TestEveryFlippedByteIsFound(t *testing.T) {
	path := written(t, 600)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(good); at += 37 {
		bad := bytes.Clone(good)
		bad[at] ^= 0x10
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		var damage *segments.Damage
		f, err := segments.Open(path, letters)
		if err == nil {
			err = f.VerifyPages(func() error { return nil })
			if released := f.Release(); released != nil {
				t.Fatal(released)
			}
		}
		version := at >= len(letters.Magic) && at < len(letters.Magic)+8
		if !errors.Is(err, segments.ErrFormat) || errors.As(err, &damage) == version {
			t.Fatalf("byte %d of %d flipped: %v", at, len(good), err)
		}
	}
}

// TestACutFileIsDamaged, and so is one with bytes after its end.
func TestACutFileIsDamaged(t *testing.T) {
	path := written(t, 600)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 1, segments.PageSize - 1, segments.PageSize, len(good) / 2, len(good) - 1, len(good) + 1} {
		content := append(bytes.Clone(good), 0)[:size]
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		var damage *segments.Damage
		if _, err := segments.Open(path, letters); !errors.As(err, &damage) || damage.Path != path {
			t.Errorf("%d of %d bytes: %v", size, len(good), err)
		}
	}
	if _, err := segments.Open(filepath.Join(t.TempDir(), "none.seg"), letters); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// TestReadsOutsideOfAnExtentAreCaught: with a bound from a damaged place, the read fails, but not
// the process.
func TestReadsOutsideOfAnExtentAreCaught(t *testing.T) {
	f := opened(t, written(t, 4))
	for _, span := range [][2]int{{0, 33}, {-1, 8}, {9, 8}, {1 << 62, 1<<62 + 1}} {
		err := segments.Try(func() error { f.Bytes(0, span[0], span[1]); return nil })
		var damage *segments.Damage
		if !errors.As(err, &damage) || !damage.Of(f) {
			t.Errorf("bytes %v: %v", span, err)
		}
	}
}

// TestAFileIsMappedWhileSomebodyReads: the last release unmaps it, and no read begins after that.
func TestAFileIsMappedWhileSomebodyReads(t *testing.T) {
	f, err := segments.Open(written(t, 4), letters)
	if err != nil {
		t.Fatal(err)
	}
	if !f.Acquire() || f.Users() != 2 {
		t.Fatalf("%d users", f.Users())
	}
	if err := f.Release(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(f.Bytes(0, 0, 32), words(4)) {
		t.Error("a file that is still in use cannot be read")
	}
	if err := f.Release(); err != nil || f.Users() != 0 || f.Acquire() {
		t.Errorf("after the last release: %v, %d users", err, f.Users())
	}
}

// TestADamagedFileIsSetAside, but not a good one that has replaced it.
func TestADamagedFileIsSetAside(t *testing.T) {
	path := written(t, 4)
	f := opened(t, path)
	damage := f.Damaged("%s", "a test")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(written(t, 5), path); err != nil {
		t.Fatal(err)
	}
	if err := damage.SetAside(); err != nil {
		t.Fatal(err)
	}
	next := opened(t, path)
	if err := next.Damaged("a test").SetAside(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the damaged file is still there: %v", err)
	}
}

func TestOnlyItsOwnTemporaryFilesGo(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "wallets.seg")
	for _, name := range []string{segments.TempPath(path, 1), segments.TempPath(path, 12), segments.TempPath(filepath.Join(dir, "tokens.seg"), 1), path} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := segments.RemoveTemp(path); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{segments.TempPath(filepath.Join(dir, "tokens.seg"), 1), path}, left); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
