package data

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// SyncFolder makes created, renamed and removed names in a folder durable: after syncing a file,
// POSIX guarantees its contents, but not that its name survives a power failure. File systems
// without such a sync are assumed not to need one.
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

// MakeFolder is os.MkdirAll for a folder that must survive a power failure: it syncs the names of
// the folders that it created.
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
