package data

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// SyncFolder makes what was made, named or removed in a folder last: POSIX promises of a file
// that was synced what is in it, and not that its name is there after a loss of power. File
// systems that know no such sync are taken to need none.
func SyncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

// MakeFolder is os.MkdirAll for a folder that is to be there after a loss of power: the names of
// those that it had to make are synced.
func MakeFolder(path string, mode os.FileMode) error {
	var missing []string
	for at := filepath.Clean(path); at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, os.ErrNotExist) {
			break
		}
		missing = append(missing, at)
	}
	if err := os.MkdirAll(path, mode); err != nil {
		return err
	}
	for _, made := range missing {
		if err := SyncFolder(filepath.Dir(made)); err != nil {
			return err
		}
	}
	return nil
}
