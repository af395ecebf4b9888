//go:build unix

package engine

import (
	"fmt"
	"os"
	"syscall"
)

// lockFile takes the lock of a file that DuckDB takes too, until any descriptor of the file is closed. It
// returns false if another process has it. It must not be called while this process has the file
// open: closing f would give up the lock.
func lockFile(f *os.File) bool {
	return syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK}) == nil
}

// lockHolder returns the process that holds the lock of the file at path, and its program in
// brackets if known; 0 for none. It must not be called while this process has the file open:
// closing it would give up the lock.
func lockHolder(path string) (pid int, exe string) {
	f, err := os.Open(path)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = f.Close() }()
	lock := syscall.Flock_t{Type: syscall.F_RDLCK}
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &lock); err != nil || lock.Type == syscall.F_UNLCK {
		return 0, ""
	}
	if name, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", lock.Pid)); err == nil {
		exe = " (" + name + ")"
	}
	return int(lock.Pid), exe
}
