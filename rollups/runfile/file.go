package runfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
)

// File is an open file. It is read by slice, without a call of the system, and
// unmapped once nobody reads it any more.
type File struct {
	Header
	Parts [][]byte // the sections
	bytes []byte
	users atomic.Int64 // the owner and every reader at work; 0: unmapped
}

// Open maps a finished file. The error is ErrFormat where it is none of format, and
// os.ErrNotExist where there is none.
func Open(path string, format *Format) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() < PageSize {
		return nil, fmt.Errorf("%s: %d bytes: %w", path, st.Size(), ErrFormat)
	}
	b, err := mapFile(f, int(st.Size()))
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	r := &File{bytes: b}
	if r.Header, err = format.decode(b); err == nil && r.Size() != uint64(len(b)) {
		err = fmt.Errorf("%d bytes, want %d: %w", len(b), r.Size(), ErrFormat)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), unmap(b))
	}
	for s := range r.Counts {
		from, to := r.Span(s)
		r.Parts = append(r.Parts, b[from:to:to])
	}
	r.users.Store(1)
	return r, nil
}

// Scattered tells the system that the file will be read here and there: what lies
// beside is asked for by others, and where the file is larger than memory, reading
// ahead would only push out what is used. A file that is read from front to back is
// opened without.
func (f *File) Scattered() { adviseRandom(f.bytes) }

// Ahead has the system read the bytes from lo to hi of a section before they are
// used, one after the other.
func (f *File) Ahead(section, lo, hi int) { adviseNeeded(f.Parts[section], lo, hi) }

// Take keeps the file mapped until Drop; false where it is unmapped already.
func (f *File) Take() bool {
	for {
		n := f.users.Load()
		if n == 0 {
			return false
		}
		if f.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Drop ends a use; the last one unmaps.
func (f *File) Drop() error {
	if f.users.Add(-1) > 0 {
		return nil
	}
	return unmap(f.bytes)
}

// Users is how many hold the file: its owner and every reader at work.
func (f *File) Users() int64 { return f.users.Load() }

// Caught is deferred around what reads a file, with what debug.SetPanicOnFault(true)
// gave: a page that cannot be read, of a damaged disk or of a file cut short by
// someone else, is a panic there. Then ok becomes false, and lose is called, which
// forgets the file.
func Caught(before bool, ok *bool, lose func()) {
	debug.SetPanicOnFault(before)
	r := recover()
	if r == nil {
		return
	}
	if _, fault := r.(interface{ Addr() uintptr }); !fault {
		panic(r)
	}
	*ok = false
	lose()
}

// Publish gives a finished file its name, for good once the folder is durable too.
func Publish(part, path string, sync func(*os.File) error) error {
	if err := os.Rename(part, path); err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(sync(d), d.Close())
}

// Part is the name of a file under way that belongs to the one at path.
func Part(path string, n int) string { return fmt.Sprintf("%s.part-%d", stem(path), n) }

func stem(path string) string { return path[:len(path)-len(filepath.Ext(path))] }

// Sweep removes the files under way that belong to the one at path.
func Sweep(path string) error {
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), filepath.Base(stem(path))+".part-") {
			continue
		}
		if err := os.Remove(filepath.Join(filepath.Dir(path), f.Name())); err != nil {
			return err
		}
	}
	return nil
}
