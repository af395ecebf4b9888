package segments

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// MaxFiles is the maximum number of files that a store is read from: further ones are not opened.
const MaxFiles = 16

// Files are the files that a store has at some time, each of which continues the one before it. They
// stay mapped until nobody reads them. A nil *Files has none.
type Files struct {
	list  []*File
	users atomic.Int64 // the store and every active reader; 0: let go of
}

// newFiles takes over one use of each file.
func newFiles(list []*File) *Files {
	f := &Files{list: list}
	f.users.Store(1)
	return f
}

// List returns the files, the first one first.
func (f *Files) List() []*File {
	if f == nil {
		return nil
	}
	return f.list
}

// Last is the file that continues all others; nil if there is none.
func (f *Files) Last() *File {
	if f == nil {
		return nil
	}
	return f.list[len(f.list)-1]
}

// begin reports whether the files begin with the ones of first.
func (f *Files) begin(first []*File) bool {
	list := f.List()
	return len(first) <= len(list) && slices.Equal(first, list[:len(first)])
}

// Acquire keeps the files mapped until Release; false if they are let go of already, or if there is none.
func (f *Files) Acquire() bool { return f != nil && acquire(&f.users) }

// Release ends a use. The last one releases every file.
func (f *Files) Release() (err error) {
	if f == nil || f.users.Add(-1) > 0 {
		return nil
	}
	for _, file := range f.list {
		err = errors.Join(err, file.Release())
	}
	return err
}

// Users is how many hold the files: the store and every active reader.
func (f *Files) Users() int64 { return f.users.Load() }

// LevelPath is the name of the file that continues others of the store at path, with the imports
// after one and up to another. The first file is at path itself.
func LevelPath(path string, after, upTo int64) string {
	return fmt.Sprintf("%s-%d-%d%s", stem(path), after, upTo, filepath.Ext(path))
}

// isLevel reports whether file is a name of LevelPath.
func isLevel(path, file string) bool {
	within, ok := strings.CutPrefix(file, stem(path)+"-")
	if !ok {
		return false
	}
	if within, ok = strings.CutSuffix(within, filepath.Ext(path)); !ok {
		return false
	}
	after, upTo, ok := strings.Cut(within, "-")
	return ok && isNumber(after) && isNumber(upTo)
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 63)
	return err == nil
}

// levels returns the paths of the files in the folder of path that may continue the one there.
func levels(path string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if file := filepath.Join(filepath.Dir(path), e.Name()); isLevel(path, file) {
			out = append(out, file)
		}
	}
	return out, nil
}

// RemoveOthers removes the files of former contents, which are not read any more after a restart:
// merged ones, and those that continue a file that was replaced.
func (s *Store[M]) RemoveOthers() error {
	found, err := levels(s.Path)
	if err != nil {
		return err
	}
	list := s.contents.Load().Files.List()
	for _, path := range found {
		if slices.ContainsFunc(list, func(f *File) bool { return f.path == path }) {
			continue
		}
		if e := os.Remove(path); !errors.Is(e, os.ErrNotExist) { // a damaged one may just have been set aside
			err = errors.Join(err, e)
		}
	}
	return err
}

// openChain returns the files to serve from, among those that exist: of all chains from the first
// file along files that continue each other, the one that covers most and fits; nil if there is
// none.
func (s *Store[M]) openChain(fits func(Coverage) (bool, error)) ([]*File, error) {
	found, unread := s.openAll()
	best, err := bestChain(chains(s.Path, found), fits)
	for _, f := range found {
		if err != nil || !slices.Contains(best, f) {
			err = errors.Join(err, f.Release())
		}
	}
	switch {
	case err != nil:
		return nil, err
	case best == nil:
		return nil, unread
	}
	return best, nil
}

// openAll maps the store's files. Damaged ones are reported and left out, those of other versions left out, and so are
// those that cannot be read, about which unread says why: what such a file has counts as missing.
func (s *Store[M]) openAll() (found []*File, unread error) {
	paths, err := levels(s.Path)
	if err != nil {
		return nil, err
	}
	for _, path := range append([]string{s.Path}, paths...) {
		f, err := s.open(path)
		var d *Damage
		switch {
		case err == nil:
			found = append(found, f)
		case errors.As(err, &d):
			s.report(d)
		case !errors.Is(err, os.ErrNotExist) && !errors.Is(err, ErrFormat):
			unread = errors.Join(unread, err)
		}
	}
	return found, unread
}

// chains returns, for each file that can be served with all that it continues, these and the file:
// those first that cover most, and of equal ones those of fewest files.
func chains(path string, found []*File) (out [][]*File) {
	byID := map[uint64]*File{}
	for _, f := range found {
		byID[f.ID] = f
	}
	for _, f := range found {
		chain := []*File{f}
		for f != nil && f.Follows != 0 && len(chain) < MaxFiles {
			before := byID[f.Follows]
			if before == nil || before.Coverage.Batch >= f.Coverage.Batch {
				break // what it continues is gone, or is not older
			}
			chain = append(chain, before)
			f = before
		}
		if f.Follows == 0 && f.path == path {
			slices.Reverse(chain)
			out = append(out, chain)
		}
	}
	slices.SortStableFunc(out, func(x, y []*File) int {
		return cmp.Or(cmp.Compare(y[len(y)-1].Coverage.Batch, x[len(x)-1].Coverage.Batch), cmp.Compare(len(x), len(y)))
	})
	return out
}

func bestChain(chains [][]*File, fits func(Coverage) (bool, error)) ([]*File, error) {
	for _, chain := range chains {
		ok, err := fits(chain[len(chain)-1].Coverage)
		if err != nil {
			return nil, err
		}
		if ok {
			return chain, nil
		}
	}
	return nil, nil
}
