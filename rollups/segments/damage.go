package segments

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
)

// Damage is the error of a file that is not what was written, or that cannot be read
// at some place.
type Damage struct {
	Path string // of the file; empty where only an address is known
	What string

	info os.FileInfo // of what was opened
	addr uintptr     // that could not be read; 0: none
}

// Error names the file and what is wrong with it.
func (d *Damage) Error() string {
	if d.Path == "" {
		return "damaged: " + d.What
	}
	return fmt.Sprintf("%s is damaged: %s", filepath.Base(d.Path), d.What)
}

// Is makes a damaged file one that is not of this version.
func (d *Damage) Is(target error) bool { return target == ErrFormat }

// Of reports whether the damage is of the file that f has open.
func (d *Damage) Of(f *File) bool {
	if d.addr != 0 && d.info == nil && f.holds(d.addr) {
		d.Path, d.info = f.path, f.info
	}
	return d.info != nil && os.SameFile(d.info, f.info)
}

// aside is what the name of a damaged file ends with once it was set aside.
const aside = ".damaged"

// SetAside gives the damaged file another name, so that nothing reads it again and it can be looked
// at; one that was set aside before goes. It does nothing if the path is another file by now.
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

// RecoverDamage is deferred around what reads a file, with what debug.SetPanicOnFault(true)
// gave. What the file has that is not what was written is a panic there, and so is a
// page that cannot be read, of a damaged disk or of a file cut short by someone else.
// Then ok becomes false, and lose is called, which forgets the file.
func RecoverDamage(before bool, ok *bool, lose func(*Damage)) {
	debug.SetPanicOnFault(before)
	if d := damage(recover()); d != nil {
		*ok = false
		lose(d)
	}
}

// Try calls read, and gives its error or what Caught would have caught.
func Try(read func() error) (err error) {
	defer func(before bool) {
		debug.SetPanicOnFault(before)
		if d := damage(recover()); d != nil {
			err = d
		}
	}(debug.SetPanicOnFault(true))
	return read()
}

// damage is what a recovered panic says of a file; nil if there was none. Any other panic goes on.
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
