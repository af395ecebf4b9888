package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"pmx/data"
	"pmx/engine"
)

// stdinFile is the file that holds standard input while it is imported, because the database reads
// files, perhaps in another process. It is locked while its command runs.
type stdinFile struct{ file *os.File }

const stdinPrefix = ".stdin-"

// sources makes the paths absolute, because a server may do the work, and stores standard input in
// a file; s is nil if none of the paths is -.
func (c *ImportCmd) sources(ctx context.Context, dir engine.Dir, in io.Reader) (paths []string, s *stdinFile, err error) {
	defer func() {
		if err != nil {
			s.remove()
		}
	}()
	for _, p := range c.Paths {
		switch {
		case p != "-":
			abs, err := filepath.Abs(p)
			if err != nil {
				return nil, s, err
			}
			paths = append(paths, abs)
		case s != nil:
			return nil, s, errors.New("standard input can be read only once: give - once")
		default:
			if s, err = newStdinFile(dir); err != nil {
				return nil, s, fmt.Errorf("keep standard input: %w", err)
			}
			if err := s.readAll(ctx, in); err != nil {
				return nil, s, fmt.Errorf("keep standard input: %w", err)
			}
			paths = append(paths, s.path())
		}
	}
	return paths, s, nil
}

// newStdinFile creates an empty file in the inbox, and removes those of killed commands.
func newStdinFile(dir engine.Dir) (*stdinFile, error) {
	if err := os.MkdirAll(dir.Inbox(), 0o700); err != nil {
		return nil, err
	}
	removeStaleStdin(dir)
	for {
		f, err := os.CreateTemp(dir.Inbox(), stdinPrefix+"*")
		if err != nil {
			return nil, err
		}
		_ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX) // if files cannot be locked, none are removed
		if _, err := os.Lstat(f.Name()); err == nil {
			return &stdinFile{f}, nil
		}
		_ = f.Close() // removed before it was locked
	}
}

// readAll reads all of in, until ctx ends.
func (s *stdinFile) readAll(ctx context.Context, in io.Reader) error {
	return within(ctx, func() error {
		_, err := io.Copy(s.file, in)
		return err
	})
}

// path returns the path of the file; "" if there is none.
func (s *stdinFile) path() string {
	if s == nil {
		return ""
	}
	return s.file.Name()
}

func (s *stdinFile) remove() {
	if s != nil {
		_ = os.Remove(s.file.Name()) // otherwise it is removed later
		_ = s.file.Close()
	}
}

// removeStaleStdin removes files of standard input that are not locked by a command.
func removeStaleStdin(dir engine.Dir) {
	entries, _ := os.ReadDir(dir.Inbox()) // on an error, the next command removes them
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), stdinPrefix) || !e.Type().IsRegular() {
			continue
		}
		f, err := data.OpenRegular(filepath.Join(dir.Inbox(), e.Name()))
		if err != nil {
			continue
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.Remove(f.Name())
		}
		_ = f.Close()
	}
}
