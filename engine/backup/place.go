package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Apart reports whether the backups in the folder repo are kept apart from the data directory:
// neither is in the other, symbolic links and second mounts of one folder included. Either may not
// exist yet. The error says which is where.
func Apart(dataDir, repo string) error {
	data, err := resolve(dataDir)
	if err != nil {
		return err
	}
	at, err := resolve(repo)
	if err != nil {
		return err
	}
	if within(at, data) {
		return fmt.Errorf("%s is in the data directory %s: choose a folder outside, best on another disk", repo, dataDir)
	}
	if within(data, at) {
		return fmt.Errorf("the data directory %s is in %s: choose a folder for backups alone, best on another disk", dataDir, repo)
	}
	return nil
}

// resolve is the absolute path of path without symbolic links. If path does not exist yet, it is
// where it would be created.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", asFolder(path, err)
	}
	if to, err := os.Readlink(path); err == nil {
		return "", fmt.Errorf("%s is a link to %s, which does not exist: make that folder, or name another", path, to)
	}
	parent, err := resolve(filepath.Dir(path))
	return filepath.Join(parent, filepath.Base(path)), err
}

// within reports whether the folder inner is outer, or below it. Both are resolved.
func within(inner, outer string) bool {
	of, err := os.Stat(outer)
	there := err == nil
	for {
		if inner == outer {
			return true
		}
		if there {
			if at, err := os.Stat(inner); err == nil && os.SameFile(at, of) {
				return true
			}
		}
		parent := filepath.Dir(inner)
		if parent == inner {
			return false
		}
		inner = parent
	}
}

// asFolder says that a file is in place of a folder if that caused err.
func asFolder(path string, err error) error {
	if !errors.Is(err, syscall.ENOTDIR) {
		return err
	}
	for at := path; ; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && !info.IsDir() {
			return fmt.Errorf("%s is a file: give a folder", at)
		}
		if at == filepath.Dir(at) {
			return err
		}
	}
}
