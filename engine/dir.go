package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"pmx/data"
)

// Dir is the data directory: everything the program keeps lives below it.
type Dir string

const inboxName = "inbox"

// Database is the DuckDB file with facts and rollups.
func (d Dir) Database() string { return filepath.Join(string(d), "pmx.duckdb") }

// journal has the metadata blocks that a checkpoint may write in place.
func (d Dir) journal() string { return d.Database() + ".journal" }

// Control is the SQLite file with keys and waitlist.
func (d Dir) Control() string { return filepath.Join(string(d), "control.db") }

// AdminSocket is where commands reach a running server.
func (d Dir) AdminSocket() string { return filepath.Join(string(d), "admin.sock") }

// Inbox is where files are dropped for a running server to import.
func (d Dir) Inbox() string { return filepath.Join(string(d), inboxName) }

// Certificates holds the certificates that the server ordered, and the key of its account.
func (d Dir) Certificates() string { return filepath.Join(string(d), "certificates") }

// Rejected holds the rows that imports could not use.
func (d Dir) Rejected() string { return filepath.Join(string(d), "rejected") }

// Exports holds finished export files.
func (d Dir) Exports() string { return filepath.Join(string(d), "exports") }

// Segments holds the segments: derived from the database, and rebuilt if they are missing.
func (d Dir) Segments() string { return filepath.Join(string(d), "segments") }

// Image is the file with what a server had in memory when it stopped. The next start reads it and removes it.
func (d Dir) Image() string { return filepath.Join(string(d), "memory.image") }

// Replica holds the copies of another server's backups that a replica serves.
func (d Dir) Replica() string { return filepath.Join(string(d), "replica") }

// oldSegments is the former name of the folder of segments. It is removed: it can have a gigabyte
// of derived data that is not used.
const oldSegments = "runs"

// Tmp holds temporary files; it is emptied when the database is opened.
func (d Dir) Tmp() string { return filepath.Join(string(d), "tmp") }

func (d Dir) spill() string { return filepath.Join(d.Tmp(), "spill") }

// Abs returns the directory as an absolute path, so that a later change of the working directory
// cannot move it.
func (d Dir) Abs() (Dir, error) {
	abs, err := filepath.Abs(string(d))
	return Dir(abs), err
}

// folders are the data directory's own, parents first.
func (d Dir) folders() []string {
	return []string{d.Inbox(), d.Rejected(), d.Exports(), d.Segments(), d.Tmp(), d.spill()}
}

// Exists reports whether there is a data directory, in use or not.
func (d Dir) Exists() bool {
	info, err := os.Stat(string(d))
	return err == nil && info.IsDir()
}

// Create makes the directory and the folders in it if they are missing, and restricts what is there
// to its owner: others must not read keys, the requests of customers, or their exports.
func (d Dir) Create() error {
	if d.shared() {
		return fmt.Errorf("data directory: %s is shared with others: choose a folder of pmx's own", d)
	}
	for _, path := range append([]string{string(d)}, d.folders()...) {
		err := data.MakeFolder(path, 0o700)
		if data.IsNoSpace(err) {
			return fmt.Errorf("data directory: %w", err)
		}
		if err != nil {
			return fmt.Errorf("data directory: %w (is --data-dir writable?)", err)
		}
	}
	if err := d.restrict(); err != nil {
		return fmt.Errorf("data directory: %w (does it belong to the user that runs pmx?)", err)
	}
	return nil
}

// shared reports whether the directory is a folder of all users, such as /tmp, that others use:
// taking their rights away would stop them. The root of a separate volume may have such a mode,
// too.
func (d Dir) shared() bool {
	info, err := os.Stat(string(d))
	if err != nil || info.Mode()&os.ModeSticky == 0 {
		return false
	}
	entries, err := os.ReadDir(string(d))
	ours := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == filepath.Base(d.Database()) })
	return err == nil && len(entries) > 0 && !ours
}

// restrict takes the rights of others off the directory and off what pmx keeps in it.
// A symbolic link is not followed. Files that others put into the inbox may be theirs:
// they become pmx's when they are imported.
func (d Dir) restrict() error {
	if err := restrictToOwner(string(d)); err != nil {
		return err
	}
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(string(d), e.Name())
		if !e.IsDir() {
			err = restrictToOwner(path)
		} else if slices.Contains(d.folders(), path) {
			err = restrictTree(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func restrictTree(root string) error {
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return ignoreMissing(err)
		}
		err = restrictToOwner(path)
		if errors.Is(err, fs.ErrPermission) && filepath.Base(root) == inboxName && !e.IsDir() {
			return nil
		}
		return ignoreMissing(err)
	})
}

// ignoreMissing drops the error of a file that was removed meanwhile.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// restrictToOwner takes the rights of group and others off a file, folder or socket.
func restrictToOwner(path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&os.ModeSymlink != 0 || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	return os.Chmod(path, info.Mode().Perm()&0o700)
}

// sweep empties what an earlier process left behind in the temporary folders.
// Only the owner of the database lock may call it.
func (d Dir) sweep() error {
	if err := os.RemoveAll(filepath.Join(string(d), oldSegments)); err != nil {
		return err
	}
	for _, parent := range []string{d.spill(), d.Tmp()} {
		entries, err := os.ReadDir(parent)
		if err != nil {
			return err
		}
		for _, e := range entries {
			path := filepath.Join(parent, e.Name())
			if path == d.spill() {
				continue
			}
			if err := os.RemoveAll(path); err != nil {
				return fmt.Errorf("sweep temporary files: %w", err)
			}
		}
	}
	return nil
}
