package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"pmx/data"
)

const (
	// stagingEnd is the suffix of the folder next to a target in which the target is prepared.
	stagingEnd  = ".restoring"
	stagedName  = "data"
	stageLocked = "restore.lock"
)

// ErrOccupied is returned for a target that is not empty.
var ErrOccupied = errors.New("is not empty: restore into a folder that does not exist, or move this one away first")

// Staging prepares a folder under a temporary name next to its final one.
type Staging struct {
	target, dir string
	lock        *os.File
	step        func(name string) // of tests
}

// Stage begins to prepare the folder target, which must not exist or be empty: ErrOccupied. A
// symbolic link to such a folder is kept. An empty folder is removed at once, so that one that
// cannot be replaced, such as a mount point, is noticed before anything is written. The files of an
// earlier Staging that was killed are removed.
func Stage(target string) (*Staging, error) {
	target, err := resolve(target)
	if err != nil {
		return nil, err
	}
	if err := checkFree(target); err != nil {
		return nil, err
	}
	if err := makeRoom(target); err != nil {
		return nil, err
	}
	s := &Staging{target: target, dir: target + stagingEnd, step: func(string) {}}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, refusedBeside(target, err)
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Name() != stagedName && e.Name() != stageLocked {
			return nil, fmt.Errorf("%s exists and contains %s, which pmx did not create: move it away", s.dir, e.Name())
		}
	}
	if s.lock, err = openLock(filepath.Join(s.dir, stageLocked), true); err != nil {
		if errors.Is(err, ErrBusy) {
			return nil, fmt.Errorf("another pmx is restoring into %s: wait until that is done", target)
		}
		return nil, err
	}
	if err := errors.Join(os.RemoveAll(s.Dir()), os.Mkdir(s.Dir(), 0o700)); err != nil {
		return nil, errors.Join(err, s.lock.Close())
	}
	return s, nil
}

// checkFree reports whether a folder can be made at path.
func checkFree(path string) error {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return asFolder(path, err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s %w", path, ErrOccupied)
	}
	return nil
}

// makeRoom removes the empty folder at path, if there is one.
func makeRoom(path string) error {
	err := os.Remove(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, syscall.EBUSY):
		return fmt.Errorf("%s is a mount point, which a rename cannot replace: name a folder in it, such as %s", path, filepath.Join(path, stagedName))
	}
	return refusedBeside(path, err)
}

// refusedBeside explains an error that is due to missing permissions on the folder that path is in.
func refusedBeside(path string, err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%w: a folder is created next to %s and then renamed, so %s has to be writable: restore as a user who may, or name a folder in %s", err, path, filepath.Dir(path), path)
	}
	return err
}

// Dir is the folder to put the files into.
func (s *Staging) Dir() string { return filepath.Join(s.dir, stagedName) }

// Publish renames the folder. Its files must be on the disk by then.
func (s *Staging) Publish() error {
	if err := data.SyncFolder(s.Dir()); err != nil {
		return err
	}
	if err := checkFree(s.target); err != nil {
		return err
	}
	s.step("synced")
	if err := makeRoom(s.target); err != nil { // somebody may have created it again
		return err
	}
	s.step("made room")
	if err := os.Rename(s.Dir(), s.target); err != nil {
		return err
	}
	s.step("named")
	return errors.Join(data.SyncFolder(filepath.Dir(s.target)), s.Discard())
}

// Discard removes the folder unless it was published.
func (s *Staging) Discard() error {
	return errors.Join(os.RemoveAll(s.dir), s.lock.Close())
}
