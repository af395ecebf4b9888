package testfiles

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Disk returns a folder that is a small disk of its own, with the given options of a tmpfs such as
// size=16m, and skips the test if it is not run by root.
func Disk(t testing.TB, options string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("a disk that is full needs root, to mount one")
	}
	dir := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skip("no file system can be mounted here:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// Fill writes a file that takes all room there is.
func Fill(t testing.TB, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
