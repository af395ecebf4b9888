//go:build unix

package backup

import (
	"errors"
	"os"
	"syscall"

	"pmx/data"
)

// openLock opens the lock of a repository and takes it, for one alone or for all who read.
// It is given up when the file is closed. A file system without locks has none.
func openLock(path string, alone bool) (*os.File, error) {
	how, open := syscall.LOCK_SH, data.OpenRegular
	if alone {
		how, open = syscall.LOCK_EX, data.CreateRegular
	}
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	switch err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, errors.Join(ErrBusy, f.Close())
	case err == nil, errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.ENOLCK):
		return f, nil
	}
	return nil, errors.Join(err, f.Close())
}
