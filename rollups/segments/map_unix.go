//go:build unix

package segments

import (
	"os"

	"golang.org/x/sys/unix"
)

// noWait keeps the opening of a pipe from waiting for its writer.
const noWait = unix.O_NONBLOCK

// mapFile maps the first size bytes of f for reading.
func mapFile(f *os.File, size int) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
}

func unmap(b []byte) error { return unix.Munmap(b) }

// adviseNeeded makes the system read the bytes from lo to hi of b, which begins at a page, before
// they are used.
func adviseNeeded(b []byte, lo, hi int) {
	if lo -= lo % PageSize; uint(lo) > uint(hi) || hi > len(b) {
		return
	}
	_ = unix.Madvise(b[lo:hi], unix.MADV_WILLNEED) // advice only
}

// adviseRandom keeps the system from reading ahead in b, which begins at a page.
func adviseRandom(b []byte) {
	if len(b) > 0 {
		_ = unix.Madvise(b, unix.MADV_RANDOM) // advice only
	}
}
