package spill_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"pmx/data/feeds/spill"
)

type pair struct{ key, value string }

// all reads all entries of a Sorter.
func all(t *rapid.T, s *spill.Sorter) (out []pair) {
	c, err := s.Sorted()
	for err == nil {
		var key, value []byte
		if key, value, err = c.Next(); err == nil {
			out = append(out, pair{string(key), string(value)})
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return out
}

// TestASorterIsAStableSort: however many entries fit into memory, they come in order of their keys,
// and equal ones in the order in which they were added; both times.
func TestASorterIsAStableSort(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s := spill.New(dir, rapid.SampledFrom([]int{1, 100, 1000, 0}).Draw(t, "budget"))
		var want []pair
		for i := range rapid.IntRange(0, 200).Draw(t, "entries") {
			p := pair{rapid.StringN(0, 2, 4).Draw(t, "key"), fmt.Sprint(i, rapid.StringN(0, 40, 80).Draw(t, "value"))}
			key, value := []byte(p.key), []byte(p.value)
			if err := s.Add(key, value); err != nil {
				t.Fatal(err)
			}
			clear(key)
			clear(value)
			want = append(want, p)
		}
		slices.SortStableFunc(want, func(a, b pair) int { return bytes.Compare([]byte(a.key), []byte(b.key)) })
		for range 2 {
			if got := all(t, s); !slices.Equal(got, want) {
				t.Fatalf("got %q, want %q", got, want)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Fatalf("left: %v", left)
		}
	})
}

// TestRowsAreASet: a set has its numbers however many fit into memory.
func TestRowsAreASet(t *testing.T) {
	for _, budget := range []int{1, 500, 0} {
		rows, rng := spill.NewRows(t.TempDir(), budget), rand.New(rand.NewPCG(1, 2))
		in := map[uint64]bool{}
		for range 300 {
			n := rng.Uint64N(600)
			if err := rows.Add(n); err != nil {
				t.Fatal(err)
			}
			in[n] = true
		}
		for n := range uint64(700) {
			if got, err := rows.Has(n); err != nil || got != in[n] {
				t.Fatalf("budget %d: %d is %t, %v", budget, n, got, err)
			}
		}
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTheMemoryOfASorterIsBounded: a Sorter with a budget of 1 MB sorts 200 MB of entries, and one
// entry of 20 MB, in little more memory.
func TestTheMemoryOfASorterIsBounded(t *testing.T) {
	s := spill.New(t.TempDir(), 1<<20)
	value, rng := make([]byte, 20_000), rand.New(rand.NewPCG(1, 2))
	peak := uint64(0)
	look := func() {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapAlloc)
	}
	look()
	start := peak
	for i := range 10_000 {
		if err := s.Add(binary.BigEndian.AppendUint64(nil, rng.Uint64()), value); err != nil {
			t.Fatal(err)
		}
		if i%500 == 0 {
			look()
		}
	}
	c, err := s.Sorted()
	for n := 0; err == nil; n++ {
		if _, _, err = c.Next(); n%500 == 0 {
			look()
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if grown := peak - start; grown > 6<<20 {
		t.Errorf("it took %d KB", grown>>10)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestADamagedFileIsNoPanic: a file that was changed meanwhile gives an error or different entries,
// and not more data than the file has.
func TestADamagedFileIsNoPanic(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		dir := t.TempDir()
		s := spill.New(dir, 300)
		for i := range 40 {
			if err := s.Add([]byte{byte(i % 7)}, bytes.Repeat([]byte{1}, i)); err != nil {
				t.Fatal(err)
			}
		}
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		if rng.IntN(4) == 0 {
			text = text[:rng.IntN(len(text))]
		} else {
			text[rng.IntN(len(text))] ^= 1 << rng.IntN(8)
		}
		if err := os.WriteFile(files[0], text, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := s.Sorted()
		for n := 0; err == nil; n++ {
			if _, _, err = c.Next(); n > 1000 {
				t.Fatal("more entries are read than were added")
			}
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, spill.ErrDamaged) {
			t.Errorf("%v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAFullDiskIsTold: after a failed write, every call returns an error that wraps the system's,
// and no file remains.
func TestAFullDiskIsTold(t *testing.T) {
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("mounting a full disk needs root on Linux")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("a file system cannot be mounted here:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	s := spill.New(dir, 10_000)
	var err error
	for n := 0; n < 1000 && err == nil; n++ {
		err = s.Add([]byte("key"), make([]byte, 1000))
	}
	if _, again := s.Sorted(); !errors.Is(err, syscall.ENOSPC) || !errors.Is(again, syscall.ENOSPC) {
		t.Errorf("%v, then %v", err, again)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
