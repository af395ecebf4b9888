package engine

import (
	"fmt"
	"os"
	"path/filepath"
)

// Dir is the data directory: everything the program keeps lives below it.
type Dir string

// Database is the DuckDB file with facts and rollups.
func (d Dir) Database() string { return filepath.Join(string(d), "pmx.duckdb") }

// Control is the SQLite file with keys and waitlist.
func (d Dir) Control() string { return filepath.Join(string(d), "control.db") }

// AdminSocket is where commands reach a running server.
func (d Dir) AdminSocket() string { return filepath.Join(string(d), "admin.sock") }

// Inbox is where files are dropped for a running server to import.
func (d Dir) Inbox() string { return filepath.Join(string(d), "inbox") }

// Rejected holds the rows that imports could not use.
func (d Dir) Rejected() string { return filepath.Join(string(d), "rejected") }

// Exports holds finished export files.
func (d Dir) Exports() string { return filepath.Join(string(d), "exports") }

// Runs holds the files in wallet order: derived, and made anew where they are gone.
func (d Dir) Runs() string { return filepath.Join(string(d), "runs") }

// Tmp holds what is under way; it is emptied when the database is opened.
func (d Dir) Tmp() string { return filepath.Join(string(d), "tmp") }

func (d Dir) spill() string { return filepath.Join(d.Tmp(), "spill") }

// Abs gives the directory as an absolute path, so that a later change of the
// working directory cannot move it.
func (d Dir) Abs() (Dir, error) {
	abs, err := filepath.Abs(string(d))
	return Dir(abs), err
}

// Create makes the directory and the folders in it where they are missing.
func (d Dir) Create() error {
	for _, path := range []string{string(d), d.Inbox(), d.Rejected(), d.Exports(), d.Runs(), d.Tmp(), d.spill()} {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return fmt.Errorf("data directory: %w (is --data-dir writable?)", err)
		}
	}
	return nil
}

// sweep empties what an earlier process left behind in the temporary folders.
// Only the owner of the database lock may call it.
func (d Dir) sweep() error {
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
