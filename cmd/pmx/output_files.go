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

// changed is called after each change to a folder that the user named. Tests kill the process there.
var changed = func() {}

// moveInto moves a finished file of the data directory to the name that was asked for.
// A device or a pipe of that name is written to, until ctx ends: nobody may ever read.
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

// within runs f until ctx ends: then f is left to end by itself.
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

// copyAside writes beside the target and renames, so that a half-written file
// never has its name.
func copyAside(target, from string) error {
	part, err := os.CreateTemp(filepath.Dir(target), ".pmx-*.part") // the target's own name may be as long as a name can be
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

// replaceFile writes a file that was asked for; a reader sees the old one or this, also after a loss of power.
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

// share gives a file that was asked for the rights that the user's files have: what
// pmx creates is its owner's alone otherwise.
func (s stdio) share(path string) error {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // such as /dev/null
		return err
	}
	return os.Chmod(path, 0o666&^s.mask)
}

// makeFolder makes a folder that was asked for, and those above it, with the rights
// that the user's folders have. One that is there stays as it is.
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

// visible is text with everything that moves a terminal's cursor, changes its colours
// or turns the direction of writing shown as an escape. Line ends stay, but not those of
// the file's name that the text may quote.
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
		case r == unicode.ReplacementChar && text[i] != "\uFFFD"[0]: // a byte that is no UTF-8
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

// isUnseen reports control characters and of format characters, which turn or hide text.
func isUnseen(r rune) bool {
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
}
