package segments

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
)

// Damage is the error of a file that was corrupted, or that cannot be read at some place.
type Damage struct {
	Path string // of the file; empty if only an address is known
	What string

	info os.FileInfo // of the file that was opened
	addr uintptr     // that could not be read; 0: none
}

// Error names the file and what is wrong with it.
func (d *Damage) Error() string {
	if d.Path == "" {
		return "damaged: " + d.What
	}
	return fmt.Sprintf("%s is damaged: %s", filepath.Base(d.Path), d.What)
}

// Is makes damage count as ErrFormat.
func (d *Damage) Is(target error) bool { return target == ErrFormat }

// Of reports whether the damage is of the file that f has open.
func (d *Damage) Of(f *File) bool {
	if d.addr != 0 && d.info == nil && f.holds(d.addr) {
		d.Path, d.info = f.path, f.info
	}
	return d.info != nil && os.SameFile(d.info, f.info)
}

// aside is the suffix of a damaged file that was set aside.
const aside = ".damaged"

// SetAside renames the damaged file, so that nothing reads it again and it can be examined; it
// replaces one that was set aside before. It does nothing if the path is another file by now.
func (d *Damage) SetAside() error {
	if d.info == nil {
		return nil
	}
	now, err := os.Stat(d.Path)
	if errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(now, d.info) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Rename(d.Path, d.Path+aside)
}

// RecoverDamage is deferred around reads of a file, with the result of debug.SetPanicOnFault(true).
// Reading corrupted data panics, and so does a page that cannot be read, because of a damaged disk
// or a file truncated by someone else. RecoverDamage then sets ok to false and calls lose, which
// drops the file.
func RecoverDamage(before bool, ok *bool, lose func(*Damage)) {
	debug.SetPanicOnFault(before)
	if d := damage(recover()); d != nil {
		*ok = false
		lose(d)
	}
}

// Try calls read, and returns its error or the damage that it panicked with.
func Try(read func() error) (err error) {
	defer func(before bool) {
		debug.SetPanicOnFault(before)
		if d := damage(recover()); d != nil {
			err = d
		}
	}(debug.SetPanicOnFault(true))
	return read()
}

// damage is the Damage in a recovered panic; nil if there was no panic. Any other panic continues.
func damage(r any) *Damage {
	switch r := r.(type) {
	case nil:
		return nil
	case *Damage:
		return r
	case interface{ Addr() uintptr }:
		return &Damage{What: "a page cannot be read", addr: r.Addr()}
	}
	panic(r)
}
