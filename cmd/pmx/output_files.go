package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"pmx/data"
	"pmx/engine/guard"
)

// changed is called after each change to a folder that the user named. Tests kill the process
// there.
var changed = func() {}

// moveInto moves a finished file from the data directory to the requested name. If that is a device
// or a pipe, the file is written to it until ctx ends, because a pipe may never be read.
func (s stdio) moveInto(ctx context.Context, target, from string) error {
	if info, err := os.Stat(target); err == nil && !info.Mode().IsRegular() {
		return within(ctx, func() error {
			f, err := os.OpenFile(target, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			return errors.Join(copyFile(f, from), f.Close())
		})
	}
	if os.Rename(from, target) != nil { // another file system
		if err := copyAside(target, from); err != nil {
			return err
		}
	}
	changed()
	return errors.Join(data.SyncFolder(filepath.Dir(target)), s.share(target))
}

// checkFolderOf returns an error if the folder of a requested file does not exist, which is known
// before the file is made.
func checkFolderOf(target string) error {
	switch info, err := os.Stat(filepath.Dir(target)); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: the folder %s does not exist: create it, or give another file", target, filepath.Dir(target))
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s: %s is not a folder: give another file", target, filepath.Dir(target))
	}
	return nil // what else is wrong is found when the file is written
}

// within runs f until ctx ends; f is then abandoned.
func within(ctx context.Context, f func() error) error {
	done := guard.Start(f)
	select {
	case err := <-done:
		return guard.Repanic(err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func copyFile(w io.Writer, path string) error {
	f, err := data.OpenRegular(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return errors.Join(err, f.Close())
}

// copyAside writes a temporary file next to the target and renames it, so that an incomplete file
// never has the target's name.
func copyAside(target, from string) error {
	part, err := os.CreateTemp(filepath.Dir(target), ".pmx-*.part") // not derived from the target's name, which may already have the maximum length
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%s: this user may not write into %s: give another file, or run pmx as the user that may", target, filepath.Dir(target))
	}
	if err != nil {
		return err
	}
	err = copyFile(part, from)
	if err := errors.Join(err, part.Sync(), part.Close()); err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	if err := os.Rename(part.Name(), target); err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return nil
}

// replaceFile writes a requested file; a reader sees the old one or the new one, also after a power
// failure.
func (s stdio) replaceFile(path string, text []byte) error {
	part, err := data.CreateRegular(path + ".part")
	if err != nil {
		return err
	}
	changed()
	_, err = part.Write(text)
	changed()
	if err := errors.Join(err, part.Sync(), part.Close()); err != nil {
		return err
	}
	err = os.Rename(part.Name(), path)
	changed()
	return errors.Join(err, data.SyncFolder(filepath.Dir(path)), s.share(path))
}

// share gives a requested file the user's usual permissions: other files that pmx creates are
// accessible only to their owner.
func (s stdio) share(path string) error {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // such as /dev/null
		return err
	}
	return os.Chmod(path, 0o666&^s.mask)
}

// makeFolder creates a requested folder, and its parents, with the user's usual permissions. An
// existing one is not changed.
func (s stdio) makeFolder(path string) error {
	err := os.Mkdir(path, 0o777)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(path) != path {
		if err := s.makeFolder(filepath.Dir(path)); err != nil {
			return err
		}
		err = os.Mkdir(path, 0o777)
	}
	if errors.Is(err, fs.ErrExist) {
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			return err
		}
	}
	if err != nil {
		return err
	}
	changed()
	return os.Chmod(path, 0o777&^s.mask)
}

// refuseOccupied refuses a folder with files of others, which an export into it might replace. Hidden
// files, and what an interrupted command wrote before it named its first file, are ignored.
func refuseOccupied(dir, what string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if name := e.Name(); name[0] != '.' && name != "lost+found" && !strings.HasSuffix(name, ".part") {
			return fmt.Errorf("%s has files of others, such as %s, and is not %s: choose a folder that is empty or does not exist", dir, name, what)
		}
	}
	return nil
}

// visible escapes everything in text that moves a terminal's cursor, changes its colours or turns
// the direction of writing. Line ends are kept, except those in name, a file name that the text may
// quote.
func visible(text, name string) string {
	if name != "" {
		text = strings.ReplaceAll(text, name, escaped(name, ""))
	}
	return escaped(text, "\n\t")
}

func escaped(text, but string) string {
	if !strings.ContainsFunc(text, isUnseen) && !strings.ContainsRune(text, unicode.ReplacementChar) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == unicode.ReplacementChar && text[i] != "\uFFFD"[0]: // a byte that is not UTF-8
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case !isUnseen(r) || strings.ContainsRune(but, r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// isUnseen reports whether r is a control character, or a format character that turns or hides
// text.
func isUnseen(r rune) bool {
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
}
