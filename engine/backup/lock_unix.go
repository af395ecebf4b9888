//go:build unix

package backup

import (
	"errors"
	"os"
	"syscall"

	"pmx/data"
)

// openLock opens the lock file of a repository and locks it, exclusively or shared by readers.
// Closing the file releases the lock. On a file system without locks nothing is locked.
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
