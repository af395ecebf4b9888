package engine

import (
	"os"
	"syscall"
)

// diskSpace returns the bytes that are free for this user, and the size of the disk of path.
func diskSpace(path string) (free, total int64, ok bool) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err != nil || st.Blocks == 0 {
		return 0, 0, false
	}
	return int64(st.Bavail) * st.Bsize, int64(st.Blocks) * st.Bsize, true
}

// allocate reserves bytes for f.
func allocate(f *os.File, bytes int64) error { return syscall.Fallocate(int(f.Fd()), 0, 0, bytes) }
